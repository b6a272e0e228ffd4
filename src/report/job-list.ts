import { counted, dollars, gpuHoursOf, gpuSeconds } from './figures.ts';
import { safeText } from './safe-text.ts';
import { shorten, textTable } from './table.ts';

/** One job of a list, with what came of it. */
export interface ListedJob {
  readonly source: string;
  readonly allocationId: string;
  readonly name: string | null;
  readonly team: string | null;
  readonly user: string | null;
  readonly cluster: string | null;
  readonly model: string | null;
  readonly nodes: bigint;
  readonly node: string | null;
  readonly gpus: bigint | null;
  readonly heldFrom: string | null;
  readonly heldUntil: string | null;
  readonly outcome: string | null;
  readonly usdMicros: bigint | null;
  /** Null where it wasted time and none of that has a price. */
  readonly wasteUsdMicros: bigint | null;
  readonly wasteUnpricedUnits: bigint;
  readonly gpuUnits: bigint;
  readonly computingUnits: bigint;
  readonly unknownUnits: bigint;
  readonly unpricedUnits: bigint;
}

const NAME_WIDTH_MAX = 32;

/** `≥ $12` where GPU time beside it has no price. */
function atLeast(micros: bigint | null, unpricedUnits: bigint): string {
  return micros !== null && unpricedUnits > 0n ? `≥ ${dollars(micros)}` : dollars(micros);
}

/** Of its GPU time that is known, in thousandths; null where nothing is. */
function computedPermille({ gpuUnits, unknownUnits, computingUnits }: ListedJob): number | null {
  const known = gpuUnits - unknownUnits;
  return known <= 0n ? null : Number((computingUnits * 1000n) / known);
}

/** Jobs as people read them. */
export function jobListText(rows: readonly ListedJob[], jobs: bigint, scope: string): string[] {
  if (rows.length === 0) return [`No job ${scope} held a GPU.`];
  const head = `${counted(Number(jobs), 'job')} ${scope}${rows.length < Number(jobs) ? `; the first ${rows.length}, --top for more` : ''}`;
  const held = gpuHoursOf(rows.map(({ gpuUnits }) => gpuUnits));
  const lines = rows.map((row, place) => {
    const computed = computedPermille(row);
    return [
      shorten(safeText(row.name ?? row.allocationId), NAME_WIDTH_MAX),
      safeText(`${row.source}/${row.allocationId}`),
      atLeast(row.usdMicros, row.unpricedUnits),
      atLeast(row.wasteUsdMicros, row.wasteUnpricedUnits),
      computed === null ? 'unknown' : `${Math.round(computed / 10)} %`,
      held.parts[place] ?? '',
      row.heldUntil === null ? 'running' : safeText(row.outcome ?? 'not said'),
      safeText(row.team ?? 'unattributed'),
      safeText(row.user ?? '–'),
    ];
  });
  return [head, '', ...textTable(COLUMNS, lines)];
}

const COLUMNS = [
  { title: 'job', align: 'left' },
  { title: 'id', align: 'left' },
  { title: 'paid', align: 'right' },
  { title: 'wasted', align: 'right' },
  { title: 'computed', align: 'right' },
  { title: 'GPU-hours', align: 'right' },
  { title: 'outcome', align: 'left' },
  { title: 'team', align: 'left' },
  { title: 'user', align: 'left' },
] as const;

/** A line of the list for programs. */
export function listedJobJson(row: ListedJob) {
  const isoOf = (time: string): string => `${time.replace(' ', 'T')}Z`;
  return {
    source: row.source,
    allocationId: row.allocationId,
    job: row.name,
    team: row.team,
    user: row.user,
    cluster: row.cluster,
    model: row.model,
    gpus: row.gpus === null ? null : Number(row.gpus),
    nodes: Number(row.nodes),
    node: row.node,
    heldFrom: row.heldFrom === null ? null : isoOf(row.heldFrom),
    heldUntil: row.heldUntil === null ? null : isoOf(row.heldUntil),
    outcome: row.outcome,
    costUsdMicros: row.usdMicros === null ? null : String(row.usdMicros),
    wasteUsdMicros: row.wasteUsdMicros === null ? null : String(row.wasteUsdMicros),
    wasteUnpricedSeconds: gpuSeconds(row.wasteUnpricedUnits),
    gpuSeconds: gpuSeconds(row.gpuUnits),
    unpricedSeconds: gpuSeconds(row.unpricedUnits),
    computedPermille: computedPermille(row),
  };
}
