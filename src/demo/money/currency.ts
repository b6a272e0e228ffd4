import type { Provider, World } from '../world/world-schema.ts';
import { scaled } from './whole-number.ts';

const CENT_MICROS = 10_000;

/** How amounts of a bill are rounded, and what they are in dollars, to the micro. */
export interface Currency {
  readonly code: string;
  /** Every amount on a bill is a multiple of this many micros of the currency. */
  readonly stepMicros: number;
  /** Ten-thousandths of a dollar for one unit. */
  readonly usdTenThousandths: number;
}

/**
 * The currency of a provider's bills. Where it is not the dollar, rows are whole cents: times a rate of four decimals
 * that is a whole number of micro-dollars, so that nothing is left to round.
 */
export function currencyOf(world: World, { currency: code }: Provider): Currency {
  if (code === 'USD') return { code, stepMicros: 1, usdTenThousandths: CENT_MICROS };
  // One currency has one rate, whoever bills in it.
  const first = world.providers.find(({ currency }) => currency === code);
  return { code, stepMicros: CENT_MICROS, usdTenThousandths: Math.round((first?.usd_per_unit ?? 1) * 10_000) };
}

export function usdMicrosOf({ stepMicros, usdTenThousandths }: Currency, amountMicros: number): number {
  return stepMicros === 1 ? amountMicros : (amountMicros / stepMicros) * usdTenThousandths;
}

/** What so many GPUs cost for so long, as it stands on a row. */
export function gpuTimeMicros({ stepMicros }: Currency, gpus: number, priceMicros: number, seconds: number): number {
  return scaled(gpus * priceMicros, seconds, 3600 * stepMicros) * stepMicros;
}

/** So many in a hundred of an amount, as it stands on a row; four decimals of the percentage count. */
export function percentMicros({ stepMicros }: Currency, amountMicros: number, percent: number): number {
  return scaled(amountMicros, Math.round(percent * 10_000), 1_000_000 * stepMicros) * stepMicros;
}
