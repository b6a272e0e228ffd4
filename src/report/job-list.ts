import { divideRounded } from '../money/usd.ts';
import { counted, dollars, gpuHoursOf, gpuSeconds, percentOfPermille } from './figures.ts';
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

/** Of every job that was found, shown or not. */
export interface JobTotals {
  readonly jobs: bigint;
  readonly allUsdMicros: bigint | null;
  readonly allWasteUsdMicros: bigint | null;
  readonly allWasteUnpricedUnits: bigint;
  readonly allComputingUsdMicros: bigint | null;
  readonly allUnits: bigint;
  readonly allUnpricedUnits: bigint;
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
export function jobListText(rows: readonly ListedJob[], totals: JobTotals, scope: string): string[] {
  if (rows.length === 0) return [`No job ${scope} held a GPU.`];
  const jobs = Number(totals.jobs);
  const head = `${counted(jobs, 'job')} ${scope} ${totalWords(totals)}${rows.length < jobs ? `; ${rows.length} of them, --top for more` : ''}`;
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

/** What they cost together and what came of it. */
function totalWords(totals: JobTotals): string {
  const { allUsdMicros, allComputingUsdMicros, allUnpricedUnits, allWasteUnpricedUnits } = totals;
  if (allUsdMicros === null) return 'held GPUs that have no price';
  const share =
    allUsdMicros <= 0n || allComputingUsdMicros === null
      ? ''
      : ` ${percentOfPermille(Number(divideRounded(allComputingUsdMicros * 1000n, allUsdMicros)))} of it computed,`;
  const waste = wasteMicros(totals);
  const wasted = waste === null ? 'time without a price' : atLeast(waste, allWasteUnpricedUnits);
  return `cost ${atLeast(allUsdMicros, allUnpricedUnits)};${share} ${wasted} wasted`;
}

/** Nothing of it is 0; something of it without any price is not known. */
function wasteMicros({ allWasteUsdMicros, allWasteUnpricedUnits }: JobTotals): bigint | null {
  return allWasteUsdMicros === 0n && allWasteUnpricedUnits > 0n ? null : allWasteUsdMicros;
}

/** Sums for programs. */
export function jobTotalJson(totals: JobTotals) {
  const text = (micros: bigint | null): string | null => (micros === null ? null : String(micros));
  return {
    jobs: Number(totals.jobs),
    costUsdMicros: text(totals.allUsdMicros),
    computedUsdMicros: text(totals.allComputingUsdMicros),
    wasteUsdMicros: text(wasteMicros(totals)),
    wasteUnpricedSeconds: gpuSeconds(totals.allWasteUnpricedUnits),
    gpuSeconds: gpuSeconds(totals.allUnits),
    unpricedSeconds: gpuSeconds(totals.allUnpricedUnits),
  };
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
