import { hours, usd, usdRange } from '../../figures.ts';
import type { FindingsReply } from '../../../../src/api/routes/findings/list-findings.ts';

export type FindingRow = FindingsReply['findings'][number];
type MicrosRange = FindingRow['cashUsdMicros'];
type SecondsRange = FindingRow['capacityGpuSeconds'];

/** What can be reached, each kind by itself: they are never added. */
export interface Reach {
  readonly cash: MicrosRange;
  readonly capacity: SecondsRange;
  readonly unknownMicros: string;
}

/** `6,303 GPU-hours`, `39,995–52,136 GPU-hours`. */
export function hoursRange({ low, high }: SecondsRange): string {
  const [from, to] = [hours(low), hours(high)];
  if (from === to) return `${to} GPU-hours`;
  return low === 0 ? `up to ${to} GPU-hours` : `${from}–${to} GPU-hours`;
}

/** `94 findings and 146 small ones`: the list, and the navigation beside it, count the first. */
export function countWords(listed: number, small: number): string {
  const some = (count: number, one: string, more: string): string =>
    `${count.toLocaleString('en-US')} ${count === 1 ? one : more}`;
  if (listed === 0) return some(small, 'small finding', 'small findings');
  const first = some(listed, 'finding', 'findings');
  return small === 0 ? first : `${first} and ${some(small, 'small one', 'small ones')}`;
}

/** Things that wait for somebody: what is exempt, dismissed or fixed does not. */
export function isToDo({ state }: Pick<FindingRow, 'state'>): boolean {
  return state === 'open' || state === 'accepted' || state === 'back';
}

/** What the findings come to; a question claims nothing. */
export function reachOf(findings: readonly FindingRow[]): Reach {
  const micros = (amounts: readonly string[]): string => String(amounts.reduce((sum, each) => sum + BigInt(each), 0n));
  const seconds = (amounts: readonly number[]): number => amounts.reduce((sum, each) => sum + each, 0);
  return {
    cash: {
      low: micros(findings.map(({ cashUsdMicros }) => cashUsdMicros.low)),
      high: micros(findings.map(({ cashUsdMicros }) => cashUsdMicros.high)),
    },
    capacity: {
      low: seconds(findings.map(({ capacityGpuSeconds }) => capacityGpuSeconds.low)),
      high: seconds(findings.map(({ capacityGpuSeconds }) => capacityGpuSeconds.high)),
    },
    unknownMicros: micros(findings.flatMap(({ kind, usdMicros }) => (kind === 'unknown' ? (usdMicros ?? []) : []))),
  };
}

/** With what was left out of a list and told together. */
export function reachWith(reach: Reach, small: FindingsReply['small']): Reach {
  const add = (a: string, b: string): string => String(BigInt(a) + BigInt(b));
  return {
    cash: {
      low: add(reach.cash.low, small.cashUsdMicros.low),
      high: add(reach.cash.high, small.cashUsdMicros.high),
    },
    capacity: {
      low: reach.capacity.low + small.capacityGpuSeconds.low,
      high: reach.capacity.high + small.capacityGpuSeconds.high,
    },
    unknownMicros: add(reach.unknownMicros, small.unknownUsdMicros),
  };
}

export const hasCash = ({ cash }: Reach): boolean => BigInt(cash.high) > 0n;
export const hasCapacity = ({ capacity }: Reach): boolean => capacity.high > 0;

/** What one finding saves: money off the bill, time for others, or both, what is most of it first; else the words why neither. */
export function savingWords({
  kind,
  cashUsdMicros,
  capacityGpuSeconds,
}: Pick<FindingRow, 'cashUsdMicros' | 'capacityGpuSeconds'> & { readonly kind: string }): string {
  if (kind === 'question') return 'a question';
  if (kind === 'unknown') return 'not known';
  const parts = [
    ...(BigInt(cashUsdMicros.high) > 0n ? [usdRange(cashUsdMicros)] : []),
    ...(capacityGpuSeconds.high > 0 ? [hoursRange(capacityGpuSeconds)] : []),
  ];
  if (parts.length === 0) return '–';
  return (kind === 'capacity' ? parts.toReversed() : parts).join(' and ');
}

/** Who is to act: the one it was given to, else whose it is, else the platform. */
export function ownerWords({ team, user, subject, assignedTo }: FindingRow): string {
  if (assignedTo !== null) return assignedTo;
  if (team === null && user === null) return subject === null ? 'platform' : 'platform (no owner)';
  return `${team ?? 'no team'} / ${user ?? '–'}`;
}

/** `open`, `exempt until 1 Dec: warm standby`. */
export function stateWords({ state, exemptUntil, stateReason }: FindingRow): string {
  const why = stateReason === null ? '' : `: ${stateReason}`;
  if (state === 'exempt') return `exempt until ${exemptUntil ?? '?'}${why}`;
  return state === 'back' ? 'back again' : `${state}${why}`;
}

/** What happens to whom if the finding is wrong, in a word. */
export const BLAST_WORDS: readonly string[] = [
  'nothing changes',
  'nobody notices',
  'somebody notices, nothing is lost',
  'slower or later for a while',
  'a service or deadline may suffer',
  'work can be lost',
];

/** One step from what a finding cost to what is saved. */
export interface SavingStep {
  readonly words: string;
  /** Dollars, or GPU-hours where no bill falls. */
  readonly figure: string;
  readonly isSum?: boolean;
}

/**
 * From what it cost to what is saved, step by step, each with its figure; the last line is what can be reached.
 *
 * Of machines that are committed or owned no bill falls; of those that others use too it falls only if they go as well.
 */
export function savingSteps(finding: FindingRow, marginalMicros: string | null): readonly SavingStep[] {
  const { kind, usdMicros, cashUsdMicros, capacityGpuSeconds, cashIfRentedUsdMicros, gpuSeconds } = finding;
  const cost: SavingStep = { words: 'What it cost in the window', figure: usd(usdMicros) };
  if (kind === 'question') return [{ words: 'It asks, and claims nothing', figure: '–' }];
  if (kind === 'unknown') return [cost, { words: 'Nobody can say what of it is waste', figure: '–', isSum: true }];
  const less = (from: bigint, to: bigint): string => `−${usd(String(from - to))}`;
  if (finding.category === 'stranded' && BigInt(cashUsdMicros.high) > 0n) {
    return [
      cost,
      { words: 'Off the bill of the commitment: it is spent either way', figure: '$0' },
      { words: 'What others pay meanwhile and could move in', figure: usdRange(cashUsdMicros), isSum: true },
    ];
  }
  if (BigInt(cashUsdMicros.high) > 0n && usdMicros !== null) {
    const [paid, billed] = [BigInt(usdMicros), BigInt(marginalMicros ?? usdMicros)];
    const [high, low] = [BigInt(cashUsdMicros.high), BigInt(cashUsdMicros.low)];
    return [
      cost,
      ...(billed < paid ? [{ words: 'On machines whose bill does not fall', figure: less(paid, billed) }] : []),
      ...(high < billed ? [{ words: 'Not all of it can be reached', figure: less(billed, high) }] : []),
      { words: 'At most, if every machine it frees goes', figure: usd(cashUsdMicros.high), isSum: true },
      ...(low < high ? [{ words: 'On machines that others use too', figure: less(high, low) }] : []),
      ...(low < high ? [{ words: 'At least', figure: usd(cashUsdMicros.low), isSum: true }] : []),
      ...(capacityGpuSeconds.high > 0
        ? [{ words: 'Time that others can use besides', figure: hoursRange(capacityGpuSeconds), isSum: true }]
        : []),
    ];
  }
  return [
    cost,
    BigInt(cashIfRentedUsdMicros) > 0n
      ? {
          words: 'Off the bill, if the machines are rented: nobody says so',
          figure: `up to ${usd(cashIfRentedUsdMicros)}`,
        }
      : { words: 'Off the bill: the machines are paid for either way', figure: '$0' },
    { words: 'Time it is about', figure: `${hours(gpuSeconds)} GPU-hours` },
    { words: 'Time that others can use', figure: hoursRange(capacityGpuSeconds), isSum: true },
  ];
}
