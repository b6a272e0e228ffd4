import {
  counted,
  dollars,
  dollarsPerHour,
  duration,
  gpuCount,
  gpuSeconds,
  isoTime,
  minute,
  recently,
} from './figures.ts';
import { safeText } from './safe-text.ts';
import { shorten, textTable } from './table.ts';

/** One holder's GPUs that do nothing now; without a holder, one device. */
export interface IdleHolding {
  readonly source: string | null;
  readonly allocationId: string | null;
  readonly attempt: number | null;
  readonly job: string | null;
  readonly user: string | null;
  readonly team: string | null;
  readonly nodes: readonly string[];
  readonly devices: readonly string[];
  readonly models: readonly string[];
  /** What it holds of its devices, in 63,000ths of a GPU. */
  readonly shareUnits: bigint;
  readonly idleSince: Date;
  /** What an hour of what it holds costs; null where it has no price. */
  readonly usdMicrosPerHour: bigint | null;
  readonly usdMicrosSoFar: bigint | null;
}

export interface IdleNow {
  readonly asOf: Date;
  readonly asOfBy: 'asked' | 'newest fact' | 'clock';
  /** The newest fact; undefined while there is none. */
  readonly newestFact: Date | undefined;
  /** The dearest so far first. */
  readonly holdings: readonly IdleHolding[];
  /** GPUs held now of which nothing is known: never counted as idle. */
  readonly silentGpus: number;
  /** GPUs held now, idle or not. */
  readonly heldGpus: number;
}

/** The idle list in a few numbers. */
export interface IdleTotal {
  readonly shareUnits: bigint;
  readonly usdMicrosPerHour: bigint | null;
  readonly unpricedShareUnits: bigint;
  readonly owners: number;
  readonly ownerlessShareUnits: bigint;
}

const ROWS_SHOWN = 25;
const NAME_WIDTH_MAX = 36;

/** The list as `bursar idle --json` gives it. */
export function idleJson(idle: IdleNow): unknown {
  return {
    asOf: isoTime(idle.asOf),
    asOfBy: idle.asOfBy,
    rows: idle.holdings.map((holding) => ({
      allocationId: holding.allocationId,
      job: holding.job,
      user: holding.user,
      team: holding.team,
      node: holding.nodes[0] ?? null,
      devices: holding.devices,
      idleSince: isoTime(holding.idleSince),
      usdMicrosPerHour: holding.usdMicrosPerHour,
      usdMicrosSoFar: holding.usdMicrosSoFar,
      source: holding.source,
      attempt: holding.attempt,
      nodes: holding.nodes,
      models: holding.models,
      gpus: gpuSeconds(holding.shareUnits),
    })),
    heldGpus: idle.heldGpus,
    silentGpus: idle.silentGpus,
  };
}

export function idleTotal(holdings: readonly IdleHolding[]): IdleTotal {
  const units = (some: readonly IdleHolding[]): bigint => some.reduce((sum, { shareUnits }) => sum + shareUnits, 0n);
  const priced = holdings.filter(({ usdMicrosPerHour }) => usdMicrosPerHour !== null);
  const owned = holdings.filter(
    ({ allocationId, user, team }) => allocationId !== null || user !== null || team !== null,
  );
  const owners = new Set(
    owned.map(({ user, team, source, allocationId }) => user ?? team ?? `${source}/${allocationId}`),
  );
  return {
    shareUnits: units(holdings),
    usdMicrosPerHour:
      priced.length === 0 ? null : priced.reduce((sum, { usdMicrosPerHour }) => sum + (usdMicrosPerHour ?? 0n), 0n),
    unpricedShareUnits: units(holdings) - units(priced),
    owners: owners.size,
    ownerlessShareUnits: units(holdings) - units(owned),
  };
}

/** `31 GPUs, $94/h, 9 owners`, and what of it has no price or nobody. */
export function idleTotalWords(total: IdleTotal): readonly string[] {
  const gpus = (units: bigint): string => counted(gpuCount(units), 'GPU');
  return [
    total.usdMicrosPerHour === null
      ? total.shareUnits > 0n
        ? 'no price'
        : ''
      : dollarsPerHour(total.usdMicrosPerHour) +
        (total.unpricedShareUnits > 0n ? ` (${gpus(total.unpricedShareUnits)} without a price)` : ''),
    total.owners > 0 ? counted(total.owners, 'owner') : '',
    total.ownerlessShareUnits > 0n
      ? total.owners > 0
        ? `${gpus(total.ownerlessShareUnits)} of unknown holders`
        : 'holders unknown'
      : '',
  ].filter((word) => word !== '');
}

/** The list as people read it, so many rows of it. */
export function idleList(
  idle: IdleNow,
  { dataFlag = '', top = ROWS_SHOWN }: { dataFlag?: string; top?: number } = {},
): string[] {
  const at = `${minute(idle.asOf)} UTC${idle.asOfBy === 'newest fact' ? ', the newest fact' : ''}`;
  const silent =
    idle.silentGpus > 0
      ? [`${counted(idle.silentGpus, 'held GPU')} without telemetry now: unknown, never counted as idle`]
      : [];
  if (idle.holdings.length === 0) return [nothingIdle(idle, at), ...silent];
  const shown = idle.holdings.slice(0, top);
  const total = idleTotal(idle.holdings);
  const more = idle.holdings.length - shown.length;
  return [
    `${counted(gpuCount(total.shareUnits), 'GPU')} idle now, ${idleTotalWords(total).join(', ')}; as of ${at}`,
    ...textTable(
      COLUMNS,
      shown.map((holding) => row(holding, idle.asOf)),
    ),
    ...(more > 0 ? [`and ${counted(more, 'row')} more: bursar idle --all${dataFlag}`] : []),
    ...silent,
    'Idle: held, and every sample since then shows the engine (else SM, else utilisation) below 1 % and power at rest;',
    `a GPU without samples is unknown. "So far" is the idle money of the ledger since then. Why: ${why(shown[0], dataFlag)}`,
  ];
}

const COLUMNS = [
  { align: 'right', title: 'so far' },
  { align: 'right', title: 'per hour' },
  { align: 'left', title: 'GPUs' },
  { align: 'left', title: 'idle since (UTC)' },
  { align: 'left', title: 'team / user' },
  { align: 'left', title: 'job' },
  { align: 'left', title: 'where' },
] as const;

function row(holding: IdleHolding, asOf: Date): string[] {
  const { idleSince, models, nodes } = holding;
  const seconds = (asOf.getTime() - idleSince.getTime()) / 1000;
  const name = (text: string): string => shorten(safeText(text), NAME_WIDTH_MAX);
  return [
    dollars(holding.usdMicrosSoFar),
    dollarsPerHour(holding.usdMicrosPerHour),
    `${gpuCount(holding.shareUnits)}×${models.length === 0 ? 'GPU' : models.map(shortModel).join(', ')}`,
    `${recently(idleSince, asOf)}, ${duration(seconds)}`,
    holding.allocationId === null && holding.team === null && holding.user === null
      ? 'unknown'
      : name(`${holding.team ?? 'unattributed'} / ${holding.user ?? '–'}`),
    name([holding.job, holding.allocationId].filter((text) => text !== null).join(' · ')),
    nodes.length === 0
      ? name(holding.devices.join(', '))
      : `${name(nodes[0] ?? '')}${nodes.length > 1 ? ` and ${nodes.length - 1} more` : ''}`,
  ];
}

/** `H100` of `NVIDIA H100 80GB HBM3`: what people call it. */
export function shortModel(model: string): string {
  const text = safeText(model);
  return (
    /\b((?:[A-Z]{1,3}\d{1,3}[A-Z]{0,2}|MI\d{3}[A-Z]?))\b/.exec(text.replace(/^NVIDIA\s+/i, ''))?.[1] ??
    shorten(text, 16)
  );
}

/** The command that shows where the first row comes from. */
function why(holding: IdleHolding | undefined, dataFlag: string): string {
  const [option, id] =
    holding?.allocationId == null ? ['--device', holding?.devices[0] ?? ''] : ['--job', holding.allocationId];
  return `bursar ledger explain ${option} ${safeText(id)} --category idle${dataFlag}`;
}

function nothingIdle(idle: IdleNow, at: string): string {
  if (idle.newestFact === undefined)
    return 'No facts with a time yet, so nobody is known to hold anything: bursar import samples FILE';
  const isStale = idle.asOf.getTime() - idle.newestFact.getTime() > 3_600_000;
  if (isStale) return `Nothing is known of ${at}: the newest fact is of ${minute(idle.newestFact)} UTC`;
  if (idle.heldGpus === 0) return `No GPU is held as of ${at}`;
  return `No GPU is idle of ${counted(idle.heldGpus, 'GPU')} held, as of ${at}`;
}
