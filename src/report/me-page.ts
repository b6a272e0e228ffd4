import {
  counted,
  dollars,
  dollarsOf,
  dollarsPerHour,
  duration,
  gpuCount,
  gpuHoursOf,
  gpuSeconds,
  isoTime,
  minute,
  percentOfPermille,
  recently,
} from './figures.ts';
import type { IdleHolding } from './idle-list.ts';
import { shortModel } from './idle-list.ts';
import type { WaitingWork } from './queue-page.ts';
import { askedFor, waitingWords } from './queue-page.ts';
import { safeText } from './safe-text.ts';
import { shorten, textTable } from './table.ts';
import type { AskedWindow } from './window-words.ts';
import { windowWords } from './window-words.ts';

/** Something a person holds now. */
export interface MyHolding {
  readonly source: string;
  readonly allocationId: string;
  readonly job: string | null;
  readonly team: string | null;
  readonly shareUnits: bigint;
  readonly models: readonly string[];
  readonly nodes: readonly string[];
  readonly heldFrom: Date;
  readonly usdMicrosPerHour: bigint | null;
  readonly usdMicrosSoFar: bigint | null;
  /** Of what is known of it; null where nothing is. */
  readonly computingPermille: number | null;
  readonly idle: IdleHolding | undefined;
}

export interface MySpend {
  readonly class: string | null;
  readonly usdMicros: bigint | null;
  readonly gpuUnits: bigint;
  readonly computingUnits: bigint;
  readonly unknownUnits: bigint;
}

/** A run that ended. */
export interface MyRun {
  readonly source: string;
  readonly allocationId: string;
  readonly attempt: number;
  readonly job: string | null;
  readonly outcome: string | null;
  /** What it held on average, in 63,000ths of a GPU. */
  readonly shareUnits: bigint;
  readonly model: string | null;
  readonly heldFrom: Date;
  readonly heldUntil: Date;
  readonly usdMicros: bigint | null;
  readonly gpuUnits: bigint;
  readonly computingUnits: bigint;
  readonly knownUnits: bigint;
}

export interface MeAnswer {
  readonly asOf: Date;
  readonly asOfBy: 'asked' | 'newest fact' | 'clock';
  readonly window: AskedWindow;
  readonly names: readonly string[];
  readonly holdings: readonly MyHolding[];
  readonly spent: readonly MySpend[];
  readonly runs: readonly MyRun[];
  /** Undefined where no scheduler says who waits. */
  readonly waiting: readonly WaitingWork[] | undefined;
}

const NAME_WIDTH_MAX = 36;
const WAITING_SHOWN = 5;

/** `88 % computed`, or that nothing is known. */
function computed(computingUnits: bigint, knownUnits: bigint): string {
  if (knownUnits === 0n) return 'activity unknown';
  return `${percentOfPermille(Number((computingUnits * 1000n) / knownUnits))} computed`;
}

function gpusOf(shareUnits: bigint, models: readonly string[]): string {
  return `${gpuCount(shareUnits)}×${models.length === 0 ? 'GPU' : models.map(shortModel).join(', ')}`;
}

/** What I hold, what it costs, what is idle; then what I spent and my last runs. */
export function mePage(me: MeAnswer, dataFlag = ''): string[] {
  return [
    firstLine(me),
    ...(me.holdings.length === 0
      ? []
      : textTable(
          HOLDING_COLUMNS,
          me.holdings.map((holding) => holdingRow(holding, me.asOf)),
        )),
    ...waitingLines(me.waiting ?? [], dataFlag),
    ...spentLines(me),
    ...runLines(me, dataFlag),
  ];
}

function firstLine({ holdings, names, asOf, asOfBy }: MeAnswer): string {
  const at = `${minute(asOf)} UTC${asOfBy === 'newest fact' ? ', the newest fact' : ''}`;
  const who = names.map(safeText).join(', ');
  const held = holdings.reduce((sum, { shareUnits }) => sum + shareUnits, 0n);
  if (held === 0n) return `${who} holds no GPU, as of ${at}`;
  const priced = holdings.flatMap(({ usdMicrosPerHour }) => usdMicrosPerHour ?? []);
  const perHour = priced.length === 0 ? null : priced.reduce((sum, micros) => sum + micros, 0n);
  const idle = holdings.reduce((sum, holding) => sum + (holding.idle?.shareUnits ?? 0n), 0n);
  const all = gpuCount(held) === '1' ? 'idle' : 'all idle';
  const some = idle === 0n ? 'none of it known to be idle' : `${gpuCount(idle)} of ${gpuCount(held)} idle`;
  const idleWords = idle >= held ? all : some;
  return `${who} holds ${counted(gpuCount(held), 'GPU')}, ${dollarsPerHour(perHour)}, ${idleWords}; as of ${at}`;
}

const HOLDING_COLUMNS = [
  { align: 'left', title: 'GPUs' },
  { align: 'right', title: 'per hour' },
  { align: 'right', title: 'so far' },
  { align: 'left', title: 'held since (UTC)' },
  { align: 'left', title: 'activity' },
  { align: 'left', title: 'job' },
  { align: 'left', title: 'where' },
] as const;

function holdingRow(holding: MyHolding, asOf: Date): string[] {
  const { heldFrom, nodes } = holding;
  const name = (text: string): string => shorten(safeText(text), NAME_WIDTH_MAX);
  return [
    gpusOf(holding.shareUnits, holding.models),
    dollarsPerHour(holding.usdMicrosPerHour),
    dollars(holding.usdMicrosSoFar),
    `${recently(heldFrom, asOf)}, ${duration((asOf.getTime() - heldFrom.getTime()) / 1000)}`,
    activityWords(holding, asOf),
    name([holding.job, holding.allocationId].filter((text) => text !== null).join(' · ')),
    `${name(nodes[0] ?? '')}${nodes.length > 1 ? ` and ${nodes.length - 1} more` : ''}`,
  ];
}

/** `idle since Fri 18:25 ($204)`, else how much of its time it computed. */
function activityWords({ idle, shareUnits, computingPermille }: MyHolding, asOf: Date): string {
  if (idle === undefined) {
    return computingPermille === null ? 'unknown' : `${percentOfPermille(computingPermille)} computed`;
  }
  const part = idle.shareUnits < shareUnits ? `${gpuCount(idle.shareUnits)} of ${gpuCount(shareUnits)} ` : '';
  return `${part}idle since ${recently(idle.idleSince, asOf)} (${dollars(idle.usdMicrosSoFar)})`;
}

function waitingLines(waiting: readonly WaitingWork[], dataFlag: string): string[] {
  const words = waitingWords(waiting);
  if (words === undefined) return [];
  const more = waiting.length - WAITING_SHOWN;
  return [
    '',
    `Waiting: ${words}  → bursar queue${dataFlag}`,
    ...textTable(
      [{ align: 'right' }, { align: 'left' }, { align: 'left' }, { align: 'left' }],
      waiting
        .slice(0, WAITING_SHOWN)
        .map((work) => [
          `  ${duration(work.waitedSeconds)}`,
          askedFor(work),
          shorten(safeText(work.name ?? work.allocationId), NAME_WIDTH_MAX),
          shorten(safeText(work.heldBackBy ?? ''), NAME_WIDTH_MAX),
        ]),
    ),
    ...(more > 0 ? [`  and ${more.toLocaleString('en-US')} more`] : []),
  ];
}

function spentLines(me: MeAnswer): string[] {
  const { spent } = me;
  if (spent.length === 0) return [];
  const money = dollarsOf(spent.map(({ usdMicros }) => usdMicros));
  const hours = gpuHoursOf(spent.map(({ gpuUnits }) => gpuUnits));
  const rows = spent.map(({ class: name, gpuUnits, computingUnits, unknownUnits }, index) => [
    `  ${safeText(name ?? 'unattributed')}`,
    money.parts[index] ?? '',
    `${hours.parts[index] ?? ''} GPU-hours`,
    computed(computingUnits, gpuUnits - unknownUnits),
  ]);
  return [
    '',
    ...textTable(
      [{ align: 'left' }, { align: 'right' }, { align: 'right' }, { align: 'left' }],
      [[`Spent, ${windowWords(me)}`, money.total, `${hours.total} GPU-hours`], ...rows],
    ),
  ];
}

/** `run 884213: 61 h, 8×H100, $1,562; 88 % computed`. */
export function receipt(run: MyRun): string {
  const name = run.job === null ? '' : ` ${shorten(safeText(run.job), NAME_WIDTH_MAX)}`;
  const attempt = run.attempt === 0 ? '' : `, attempt ${run.attempt}`;
  const seconds = (run.heldUntil.getTime() - run.heldFrom.getTime()) / 1000;
  const outcome = run.outcome === null || run.outcome === 'completed' ? '' : `, ${safeText(run.outcome)}`;
  return (
    `run ${safeText(run.allocationId)}${name}${attempt}: ${duration(seconds)}, ` +
    `${gpusOf(run.shareUnits, run.model === null ? [] : [run.model])}, ` +
    `${dollars(run.usdMicros)}${outcome}; ${computed(run.computingUnits, run.knownUnits)}`
  );
}

function runLines({ runs }: MeAnswer, dataFlag: string): string[] {
  if (runs.length === 0) return [];
  return [
    '',
    `Last runs  → bursar job ${safeText(runs[0]?.allocationId ?? '')}${dataFlag}`,
    ...runs.map((run) => `  ${receipt(run)}`),
  ];
}

export function meJson(me: MeAnswer): unknown {
  return {
    asOf: isoTime(me.asOf),
    asOfBy: me.asOfBy,
    window: { from: isoTime(me.window.from), until: isoTime(me.window.until) },
    names: me.names,
    holdings: me.holdings.map(({ heldFrom, shareUnits, idle, ...holding }) => ({
      ...holding,
      gpus: gpuSeconds(shareUnits),
      heldFrom: isoTime(heldFrom),
      idle:
        idle === undefined
          ? null
          : { gpus: gpuSeconds(idle.shareUnits), since: isoTime(idle.idleSince), usdMicrosSoFar: idle.usdMicrosSoFar },
    })),
    spent: me.spent.map(({ class: name, usdMicros, gpuUnits, computingUnits, unknownUnits }) => ({
      class: name,
      usdMicros,
      gpuSeconds: gpuSeconds(gpuUnits),
      computingSeconds: gpuSeconds(computingUnits),
      unknownSeconds: gpuSeconds(unknownUnits),
    })),
    runs: me.runs.map(({ heldFrom, heldUntil, shareUnits, gpuUnits, computingUnits, knownUnits, ...run }) => ({
      ...run,
      gpus: gpuSeconds(shareUnits),
      heldFrom: isoTime(heldFrom),
      heldUntil: isoTime(heldUntil),
      gpuSeconds: gpuSeconds(gpuUnits),
      computingSeconds: gpuSeconds(computingUnits),
      unknownSeconds: gpuSeconds(gpuUnits - knownUnits),
    })),
    waiting: me.waiting?.map(({ since, ...work }) => ({ ...work, since: isoTime(since) })) ?? null,
  };
}
