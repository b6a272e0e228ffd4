import type { Finding } from '../facts/finding.ts';
import { divideRounded, MICROS_PER_USD } from '../money/usd.ts';
import { dollars, dollarsPerHour, gpuHours, NO_PRICE, percentsOf } from './figures.ts';
import type { FindingsAnswer, FindingSum } from './finding-answer.ts';
import { safeText } from './safe-text.ts';

const BASIS_WORDS: Readonly<Record<string, string>> = {
  billed: 'billed',
  rate: 'by stated rates',
  estimated: 'estimated, not billed',
};
const SPARKS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/** `F-12`, `F-–` where nothing could be numbered. */
export function findingNumber({ number }: Pick<Finding, 'number'>): string {
  return number === null ? 'F-–' : `F-${number}`;
}

/** `$367 so far, $25.60/h` of what goes on, `$2,266 / 30 d` of what the window has; a modelled one as a range. */
export function moneyWords(finding: Finding, windowDays: number): string {
  if (finding.kind === 'question') return 'a question';
  const amount = amountWords(finding);
  if (finding.liveSince === null) return `${amount} / ${windowDays} d`;
  const rate = finding.usdMicrosPerHour === null ? '' : `, ${dollarsPerHour(finding.usdMicrosPerHour)}`;
  return `${amount} so far${rate}`;
}

function amountWords(finding: Finding): string {
  if (finding.usdMicros === null) return `${gpuHours(finding.gpuUnits)}, ${NO_PRICE}`;
  const range = modelledRange(finding);
  return range === undefined ? dollars(finding.usdMicros) : rangeWords(range);
}

/** What can be reached of a modelled finding; undefined where all of it can. */
function modelledRange({ basis, kind, usdMicros, capacityUnits, cashUsdMicros, gpuUnits }: Finding) {
  if (basis === 'measured' || usdMicros === null) return undefined;
  if (kind === 'cash') return cashUsdMicros;
  if (gpuUnits === 0n) return undefined;
  const of = (units: bigint): bigint => (usdMicros * units) / gpuUnits;
  return { low: of(capacityUnits.low), high: of(capacityUnits.high) };
}

/** `$16.8k–18.7k`; one figure where both ends read the same. */
export function rangeWords({ low, high }: { readonly low: bigint; readonly high: bigint }): string {
  const [from, to] = [shortDollars(low), shortDollars(high)];
  return from === to ? to : `${from}–${to.slice(1)}`;
}

/** Three digits: `$940`, `$1,650`, `$16.8k`, `$187k`, `$1.25M`. */
export function shortDollars(micros: bigint): string {
  const whole = divideRounded(micros, MICROS_PER_USD);
  if (whole < 1000n) return `$${whole}`;
  if (whole < 9995n) return `$${(divideRounded(whole, 10n) * 10n).toLocaleString('en-US')}`;
  const [unit, suffix] = whole < 999_500n ? [1000n, 'k'] : [1_000_000n, 'M'];
  const decimals = whole < 10n * unit ? 2 : whole < 100n * unit ? 1 : 0;
  const scaled = String(divideRounded(whole * 10n ** BigInt(decimals), unit)).padStart(decimals + 1, '0');
  const fraction = decimals === 0 ? '' : `.${scaled.slice(-decimals)}`.replace(/\.?0+$/, '');
  return `$${decimals === 0 ? scaled : scaled.slice(0, -decimals)}${fraction}${suffix}`;
}

/** `nlp / mchen`; what nobody owns is the platform's, and it says so. */
export function ownerWords({ team, user, ownerSubject }: Finding): string {
  if (team === null && user === null) return ownerSubject === null ? 'platform' : 'platform (no owner)';
  return `${team ?? 'no team'} / ${user ?? '–'}`;
}

export function kindWords({ kind }: Finding): string {
  return kind === 'price-avoided' ? 'price avoided' : kind === 'question' ? '–' : kind;
}

/** `cash $16.8k–18.7k, capacity 2,400 GPU-hours; unknown $16.6k`. */
export function sumWords({ cashUsdMicros, capacityUnits, unknownUsdMicros }: FindingSum): string {
  const { low, high } = capacityUnits;
  const hours = low === high ? gpuHours(high) : `${gpuHours(low).replace(' GPU-hours', '')}–${gpuHours(high)}`;
  const reached = [
    ...(cashUsdMicros.high > 0n ? [`cash ${rangeWords(cashUsdMicros)}`] : []),
    ...(high > 0n ? [`capacity ${hours}`] : []),
  ];
  const known = reached.length === 0 ? 'nothing that can be reached' : reached.join(', ');
  return unknownUsdMicros > 0n ? `${known}; unknown ${shortDollars(unknownUsdMicros)}` : known;
}

/** `billed`, or each with its money; '' where nothing has a price. */
export function basisWords({ usdMicrosByBasis }: Pick<FindingsAnswer, 'usdMicrosByBasis'>): string {
  const bases = [...usdMicrosByBasis].filter(([, micros]) => micros !== 0n).toSorted((a, b) => (a[1] > b[1] ? -1 : 1));
  if (bases.length === 1) return BASIS_WORDS[bases[0]?.[0] ?? ''] ?? '';
  return bases.map(([basis, micros]) => `${shortDollars(micros)} ${BASIS_WORDS[basis] ?? basis}`).join(', ');
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
