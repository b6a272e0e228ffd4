import { divideRounded } from '../money/usd.ts';
import { NO_PRICE } from './figures.ts';
import type { OutcomeMoney } from './outcomes-answer.ts';
import { unitUsdMicros } from './outcomes-answer.ts';
import { safeText } from './safe-text.ts';

const MILLIONTHS = 1_000_000n;
const NOUNS: Readonly<Record<string, string>> = {
  token: 'tokens',
  prompt_token: 'prompt tokens',
  generation_token: 'generation tokens',
  request: 'requests',
  inference: 'inferences',
  step: 'steps',
  sample: 'samples',
  epoch: 'epochs',
  run: 'runs',
};

/** `million tokens`, `thousand requests`, `step`: what a price is of. */
export function unitWords(unit: string, per: bigint): string {
  const noun = NOUNS[unit] ?? safeText(unit);
  if (per === 1_000_000n) return `million ${noun}`;
  return per === 1000n ? `thousand ${noun}` : noun;
}

/** `million tokens`, `step`: what a price is per. */
export function perWords(unit: string, per: bigint): string {
  return per === 1n ? safeText(unit).replaceAll('_', ' ') : unitWords(unit, per);
}

/** `$2.63`, `$0.0123`, `$1,490`: a derived price in three digits, because more would be made up. */
export function unitPrice(micros: bigint | null): string {
  if (micros === null) return NO_PRICE;
  if (micros === 0n) return '$0';
  return `$${threeDigits(micros)}`;
}

/** Money of the seconds that computed; null where nothing measured any of them, because that is not the same as 0. */
export function knownActiveUsdMicros({ activeUsdMicros, gpuUnits, unknownUnits }: OutcomeMoney): bigint | null {
  return gpuUnits > 0n && unknownUnits >= gpuUnits ? null : activeUsdMicros;
}

/** The price on the active basis: `unknown` where nothing was measured. */
export function activePrice(paid: OutcomeMoney, quantityMillionths: bigint, per: bigint): string {
  const known = knownActiveUsdMicros(paid);
  if (known === null && paid.activeUsdMicros !== null) return 'unknown';
  return unitPrice(unitUsdMicros(known, quantityMillionths, per));
}

/** So many times `per` units, in three digits below a thousand and whole above: `12,345`, `61.2`. */
export function volume(quantityMillionths: bigint, per: bigint): string {
  const scaled = divideRounded(quantityMillionths, per);
  const isWhole = quantityMillionths % (per * MILLIONTHS) === 0n;
  return isWhole || scaled >= 1000n * MILLIONTHS ? grouped(divideRounded(scaled, MILLIONTHS)) : threeDigits(scaled);
}

/** `+41 %`, `−3 %`; '' where one of them is not known. */
export function change(now: bigint | null, before: bigint | null): string {
  if (now === null || before === null || before <= 0n) return '';
  const percent = divideRounded((now - before) * 100n, before);
  if (percent === 0n) return '±0 %';
  return percent > 0n ? `+${grouped(percent)} %` : `−${grouped(-percent)} %`;
}

const BARS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const;

/** `▂▃█·`: values against the greatest of them, · where one is not known; '' for fewer than two. */
export function sparkline(values: readonly (bigint | null)[]): string {
  const most = values.reduce<bigint>((a, b) => (b !== null && b > a ? b : a), 0n);
  if (values.filter((value) => value !== null).length < 2 || most === 0n) return '';
  const top = BigInt(BARS.length - 1);
  return values.map((value) => (value === null ? '·' : BARS[Number(divideRounded(value * top, most))])).join('');
}

/** `1200.5` of millionths, for programs. */
export function quantityText(millionths: bigint): string {
  const fraction = String(millionths % MILLIONTHS)
    .padStart(6, '0')
    .replace(/0+$/, '');
  return `${millionths / MILLIONTHS}${fraction === '' ? '' : `.${fraction}`}`;
}

/** Three significant digits of so many millionths. */
function threeDigits(millionths: bigint): string {
  const digits = String(millionths).length;
  const unit = digits > 3 ? 10n ** BigInt(digits - 3) : 1n;
  const rounded = divideRounded(millionths, unit) * unit;
  const whole = rounded / MILLIONTHS;
  const decimals = Math.max(0, Math.min(6, 9 - String(rounded).length));
  const fraction = String(rounded % MILLIONTHS)
    .padStart(6, '0')
    .slice(0, decimals);
  return fraction === '' ? grouped(whole) : `${grouped(whole)}.${fraction}`;
}

function grouped(whole: bigint): string {
  return String(whole).replace(/\B(?=(\d{3})+$)/g, ',');
}
