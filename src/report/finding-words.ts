import type { Finding } from '../facts/finding.ts';
import { dollars, dollarsPerHour, gpuHours, NO_PRICE, percentsOf, rangeWords, shortDollars } from './figures.ts';
import type { FindingsAnswer, FindingSum } from './finding-answer.ts';
import { safeText } from './safe-text.ts';

const BASIS_WORDS: Readonly<Record<string, string>> = {
  billed: 'billed',
  rate: 'by stated rates',
  estimated: 'estimated, not billed',
};
const SPARKS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/** `F-12`; `new` where it has no number yet. */
export function findingNumber({ number }: Pick<Finding, 'number'>): string {
  return number === null ? 'new' : `F-${number}`;
}

/** `$367 so far, $25.60/h` of what goes on, `$2,266 / 30 d` of what the window has; as a range where less than all of it can be reached. */
export function moneyWords(finding: Finding, windowDays: number): string {
  if (finding.kind === 'question') return 'a question';
  const amount = amountWords(finding);
  if (finding.liveSince === null) return `${amount} / ${windowDays} d`;
  const rate = finding.usdMicrosPerHour === null ? '' : `, ${dollarsPerHour(finding.usdMicrosPerHour)}`;
  return `${amount} so far${rate}`;
}

/** Cash is what the bill falls by, at least and at most, however exactly the time behind it is known. */
function amountWords(finding: Finding): string {
  const { kind, usdMicros, cashUsdMicros } = finding;
  if (usdMicros === null) return `${gpuHours(finding.gpuUnits)}, ${NO_PRICE}`;
  if (kind === 'cash') return cashWords(cashUsdMicros);
  const range = reachedRange(finding);
  return range === undefined ? dollars(usdMicros) : rangeWords(range);
}

function cashWords(range: Finding['cashUsdMicros']): string {
  return range.low === range.high ? dollars(range.high) : rangeWords(range);
}

/** What can be reached of a finding, cash and the money of time together; undefined where all of it can, and of what is spent either way. */
function reachedRange({ basis, kind, usdMicros, capacityUnits, cashUsdMicros, gpuUnits }: Finding) {
  if (kind !== 'capacity' || usdMicros === null || gpuUnits === 0n || capacityUnits.high === 0n) return undefined;
  if (basis === 'measured' && capacityUnits.low === gpuUnits) return undefined;
  // Time has one rate here, and cash may be of dearer machines: together they are never more than what was paid.
  const of = (units: bigint, cash: bigint): bigint => lesser((usdMicros * units) / gpuUnits + cash, usdMicros);
  return { low: of(capacityUnits.low, cashUsdMicros.low), high: of(capacityUnits.high, cashUsdMicros.high) };
}

function lesser(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

/** `cash $0–40, capacity 120 GPU-hours` of a finding that has both; undefined where its kind says all. */
export function partsWords({ kind, cashUsdMicros, capacityUnits }: Finding): string | undefined {
  if (cashUsdMicros.high === 0n) return undefined;
  if (capacityUnits.high === 0n) return kind === 'capacity' ? `cash ${cashWords(cashUsdMicros)} elsewhere` : undefined;
  const [cash, capacity] = [`cash ${cashWords(cashUsdMicros)}`, `capacity ${unitsWords(capacityUnits)}`];
  return kind === 'cash' ? `${cash}, ${capacity}` : `${capacity}, ${cash}`;
}

/** `74.6 GPU-hours`, `4,013–6,155 GPU-hours`. */
export function unitsWords({ low, high }: Finding['capacityUnits']): string {
  return low === high
    ? gpuHours(high)
    : `${low === 0n ? '0' : gpuHours(low).replace(' GPU-hours', '')}–${gpuHours(high)}`;
}

/** `nlp / mchen`, or `nlp` where it is several people's; what nobody owns is the platform's, and it says so. */
export function ownerWords({ team, user, ownerSubject }: Finding): string {
  if (team === null && user === null) return ownerSubject === null ? 'platform' : 'platform (no owner)';
  return `${team ?? 'no team'}${user === null ? '' : ` / ${user}`}`;
}

export function kindWords({ kind, usdMicros, cashIfRentedUsdMicros }: Finding): string {
  if (kind === 'capacity' && usdMicros !== null && isMost(cashIfRentedUsdMicros, usdMicros)) return 'cash if rented';
  return kind === 'price-avoided' ? 'price avoided' : kind === 'question' ? '–' : kind;
}

/** At least half of what a finding is about: what its headline says of it. */
function isMost(part: bigint, whole: bigint): boolean {
  return part > 0n && part * 2n >= whole;
}

/** A line of a fix, to be pasted here: our own commands ask the folder that was asked. */
export function pasteLine(line: string, dataFlag: string): string {
  if (!line.startsWith('bursar ')) return safeText(line);
  // What is quoted is part of the command, whatever is in it.
  const [before = line] = /^(?:'[^']*'|"[^"]*"|(?! +[>#|])[^'"])*/.exec(line) ?? [line];
  const command = /^ +[>#|]/.test(line.slice(before.length)) ? before : line;
  return `${safeText(command)}${dataFlag}${safeText(line.slice(command.length))}`;
}

/** `cash $16.8k–18.7k, capacity 2,400 GPU-hours ($3,100 of it cash if rented); unknown $16.6k`. */
export function sumWords(
  { cashUsdMicros, capacityUnits, cashIfRentedUsdMicros, unknownUsdMicros }: FindingSum,
  within?: string,
): string {
  const reached = [
    ...(cashUsdMicros.high > 0n ? [`cash ${rangeWords(cashUsdMicros)}`] : []),
    ...(capacityUnits.high > 0n
      ? [
          `capacity ${unitsWords(capacityUnits)}${cashIfRentedUsdMicros > 0n ? ` (${shortDollars(cashIfRentedUsdMicros)} of it cash if rented)` : ''}`,
        ]
      : []),
  ];
  const [first = 'nothing that can be reached', ...others] = reached;
  const known = within === undefined ? [first, ...others].join(', ') : [`${first} ${within}`, ...others].join('; ');
  return unknownUsdMicros > 0n ? `${known}; unknown ${shortDollars(unknownUsdMicros)}` : known;
}

/** `billed`, or each with its money; '' where nothing has a price. */
export function basisWords({ usdMicrosByBasis }: Pick<FindingsAnswer, 'usdMicrosByBasis'>): string {
  const bases = [...usdMicrosByBasis].filter(([, micros]) => micros !== 0n).toSorted((a, b) => (a[1] > b[1] ? -1 : 1));
  if (bases.length === 1) return BASIS_WORDS[bases[0]?.[0] ?? ''] ?? '';
  return bases.map(([basis, micros]) => `${shortDollars(micros)} ${BASIS_WORDS[basis] ?? basis}`).join(', ');
}

/** `$412,900 paid, billed`, and beside it what is in no sum for want of a price: nobody is to take the part for the whole. */
export function paidWords(
  answer: Pick<FindingsAnswer, 'paidUsdMicros' | 'usdMicrosByBasis' | 'unpricedUnits' | 'window'>,
): string[] {
  const { paidUsdMicros, window } = answer;
  if (paidUsdMicros === null || window.ledgerDays === 0) return [NO_PRICE];
  const basis = basisWords(answer);
  return [`${dollars(paidUsdMicros)} paid${basis === '' ? '' : `, ${basis}`}`, ...unpricedWords(answer)];
}

/** `960 GPU-hours without a price`; nothing where all has one. */
export function unpricedWords({ unpricedUnits }: Pick<FindingsAnswer, 'unpricedUnits'>): string[] {
  return unpricedUnits === 0n ? [] : [`${gpuHours(unpricedUnits)} without a price`];
}

/** `96 % of held GPU time known`. */
export function knownWords({ knownUnits, heldUnits }: Pick<FindingsAnswer, 'knownUnits' | 'heldUnits'>): string {
  if (heldUnits === 0n) return 'no GPU was held';
  const [share = ''] = percentsOf([knownUnits, heldUnits - knownUnits]);
  return `${share} of held GPU time known`;
}

/** A small line of permilles, a dot where nothing is known. */
export function sparkline(permilles: readonly (number | null)[]): string {
  return permilles
    .map((permille) => {
      if (permille === null) return '·';
      const place = Math.min(SPARKS.length - 1, Math.floor((Math.max(0, permille) * SPARKS.length) / 1000));
      return SPARKS[place] ?? '';
    })
    .join('');
}

/** What people or the data have said of it; undefined of one that is open. */
export function stateWords(finding: Finding): string | undefined {
  const reason = finding.stateReason === null ? '' : `: ${safeText(finding.stateReason)}`;
  const assigned = finding.assignedTo === null ? '' : `assigned to ${safeText(finding.assignedTo)}`;
  const state =
    finding.state === 'open'
      ? ''
      : finding.state === 'exempt'
        ? `exempt until ${finding.exemptUntil ?? '?'}${reason}`
        : finding.state === 'back'
          ? 'back again'
          : `${finding.state}${reason}`;
  const words = [state, assigned].filter((word) => word !== '');
  return words.length === 0 ? undefined : words.join('; ');
}
