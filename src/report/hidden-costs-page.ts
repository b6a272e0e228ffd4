import { counted, dollars, dollarsOf, gpuHours, gpuSeconds, isoTime, percentsOf } from './figures.ts';
import { safeText } from './safe-text.ts';
import { textTable } from './table.ts';
import type { AskedWindow } from './window-words.ts';
import { windowWords } from './window-words.ts';

/** What money was paid for; the last four stand apart, for nobody chose to spend them on a job. */
export const COST_PARTS = [
  'gpu',
  'host',
  'storage',
  'transfer',
  'network',
  'other',
  'tax',
  'support',
  'credit',
  'rounding',
] as const;
export type CostPartName = (typeof COST_PARTS)[number];
const APART: readonly CostPartName[] = ['tax', 'support', 'credit', 'rounding'];

export interface CostPart {
  readonly part: CostPartName;
  /** Null where none of it has a price. */
  readonly usdMicros: bigint | null;
}

/** Waiting that idle GPUs could have served. */
export interface ServedWaiting {
  readonly servedUnits: bigint;
  /** What the idle GPUs cost in that time; null where none of it has a price. */
  readonly usdMicros: bigint | null;
  /** Of what could have been served, that of which the idle GPUs have no price. */
  readonly unpricedUnits: bigint;
  readonly idleUnits: bigint;
  readonly waitingUnits: bigint;
}

/** What stands beside the GPU for a job, a team or whatever was asked for. */
export interface HiddenCosts {
  readonly window: AskedWindow;
  readonly filter: string;
  /** Only parts there is money of, in the order of `COST_PARTS`. */
  readonly parts: readonly CostPart[];
  readonly usdMicros: bigint | null;
  readonly unpricedUnits: bigint;
  readonly usdMicrosByBasis: ReadonlyMap<string, bigint>;
  /** Undefined where nobody says who waited: not known, which is not none. */
  readonly waiting: ServedWaiting | undefined;
}

/** Storage, transfer and network that no tag, resource or job gives to anybody. */
export interface SharedBeside {
  readonly component: string;
  readonly usdMicros: bigint;
  readonly resources: number;
  /** The dearest first; null is what the bill names no resource for. */
  readonly dearest: readonly { readonly resourceId: string | null; readonly usdMicros: bigint }[];
}

const NAMES: Readonly<Record<CostPartName, string>> = {
  gpu: 'GPU',
  host: 'host',
  storage: 'storage',
  transfer: 'egress',
  network: 'network',
  other: 'other',
  tax: 'tax',
  support: 'support',
  credit: 'credit',
  rounding: 'rounding',
};
const BASIS_WORDS: Readonly<Record<string, string>> = {
  billed: 'billed',
  rate: 'by stated rates',
  estimated: 'estimated',
};

const isApart = ({ part }: CostPart): boolean => APART.includes(part);

/** `GPU $8,100, host $700, storage $1,150, egress $420`: only parts there are; the sums shown add up. */
export function partsText(parts: readonly CostPart[]): string {
  const shown = parts.filter((part) => !isApart(part));
  const money = dollarsOf(shown.map(({ usdMicros }) => usdMicros));
  return shown.map(({ part }, index) => `${NAMES[part]} ${money.parts[index] ?? ''}`).join(', ');
}

/** What waited while GPUs stood idle, in a sentence; whose they were is the caller's word. */
export function waitingText(waiting: ServedWaiting | undefined, whose = 'its'): string {
  if (waiting === undefined) return 'Waiting meanwhile: not known, no scheduler says who waited and since when.';
  const { servedUnits, usdMicros, unpricedUnits, idleUnits } = waiting;
  if (idleUnits === 0n) return `Waiting meanwhile: none of ${whose} GPUs is known to have been idle.`;
  if (servedUnits === 0n)
    return `Waiting meanwhile: nothing that ${whose} ${gpuHours(idleUnits)} of idle could have served.`;
  const unpriced = usdMicros === null || unpricedUnits === 0n ? '' : `, no price for ${gpuHours(unpricedUnits)} of it`;
  return (
    `Waiting meanwhile: ${gpuHours(servedUnits)} that ${whose} idle GPUs could have served ` +
    `(${dollars(usdMicros)}${unpriced}; ${gpuHours(idleUnits)} were idle).`
  );
}

/** The parts of a scope's money, what waited while it was idle, and what belongs to nobody. */
export function hiddenCostsPage(costs: HiddenCosts, shared: readonly SharedBeside[], dataFlag = ''): string[] {
  const scope = costs.filter === '' ? 'everything' : safeText(costs.filter);
  const basis = [...costs.usdMicrosByBasis.keys()].map((word) => BASIS_WORDS[word] ?? word);
  const where = [scope, windowWords(costs), ...basis].join(', ');
  if (costs.parts.length === 0) return [`Nothing was paid: ${where}.`];
  const inside = costs.parts.filter((part) => !isApart(part));
  const apart = costs.parts.filter(isApart);
  const money = dollarsOf(inside.map(({ usdMicros }) => usdMicros));
  const percents = percentsOf(inside.map(({ usdMicros }) => usdMicros ?? 0n));
  return [
    inside.length > 1
      ? `${partsText(costs.parts)}: ${money.total} (${where})`
      : `${partsText(costs.parts) || 'Nothing but what stands apart'} (${where})`,
    ...textTable(
      [{ align: 'left' }, { align: 'right' }, { align: 'right' }],
      (inside.length > 1 ? inside : []).map(({ part }, index) => [
        `  ${NAMES[part]}`,
        money.parts[index] ?? '',
        percents[index] ?? '',
      ]),
    ),
    ...(apart.length === 0
      ? []
      : [`Apart: ${apart.map(({ part, usdMicros }) => `${NAMES[part]} ${dollars(usdMicros)}`).join(', ')}.`]),
    ...(costs.unpricedUnits > 0n
      ? [`No price for ${gpuHours(costs.unpricedUnits)}: bursar import rates FILE${dataFlag}`]
      : []),
    ...(inside.some(({ part }) => part === 'host') || !inside.some(({ part }) => part === 'gpu')
      ? []
      : ['The host is in the GPU’s money: no node says its vCPUs and memory, or no component price is of its model.']),
    waitingText(costs.waiting, costs.filter === '' ? 'the' : 'its'),
    ...sharedLines(shared, dataFlag),
  ];
}

function sharedLines(shared: readonly SharedBeside[], dataFlag: string): string[] {
  if (shared.length === 0) return [];
  return [
    `Shared, nobody’s: ${shared.map(sharedWords).join('; ')}.`,
    `  bursar rules suggest${dataFlag} shows the rules that would give it to somebody.`,
  ];
}

function sharedWords({ component, usdMicros, resources, dearest }: SharedBeside): string {
  const name = NAMES[COST_PARTS.find((part) => part === component) ?? 'other'];
  const first = dearest.map(
    ({ resourceId, usdMicros: micros }) =>
      `${resourceId === null ? 'no resource named' : safeText(resourceId)} ${dollars(micros)}`,
  );
  const more = resources > dearest.length ? ', …' : '';
  return `${name} ${dollars(usdMicros)} in ${counted(resources, 'resource')} (${first.join(', ')}${more})`;
}

export function hiddenCostsJson(costs: HiddenCosts, shared: readonly SharedBeside[]): unknown {
  return {
    window: { asked: costs.window.asked, from: isoTime(costs.window.from), until: isoTime(costs.window.until) },
    filter: costs.filter,
    usdMicros: costs.usdMicros,
    basisUsdMicros: Object.fromEntries(costs.usdMicrosByBasis),
    unpricedSeconds: gpuSeconds(costs.unpricedUnits),
    parts: partsJson(costs.parts),
    waiting: waitingJson(costs.waiting),
    shared,
  };
}

/** Money by part; what there is none of is left out. */
export function partsJson(parts: readonly CostPart[]): Record<string, bigint | null> {
  return Object.fromEntries(parts.map(({ part, usdMicros }) => [part, usdMicros]));
}

export function waitingJson(waiting: ServedWaiting | undefined): unknown {
  if (waiting === undefined) return null;
  return {
    servedSeconds: gpuSeconds(waiting.servedUnits),
    servedUsdMicros: waiting.usdMicros,
    unpricedSeconds: gpuSeconds(waiting.unpricedUnits),
    idleSeconds: gpuSeconds(waiting.idleUnits),
    waitingSeconds: gpuSeconds(waiting.waitingUnits),
  };
}
