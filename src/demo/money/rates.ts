import { csvLine, timeText } from '../csv.ts';
import type { OrganisationDay, Scope } from '../organisation.ts';
import type { Pool, World } from '../world/world-schema.ts';
import { currencyOf } from './currency.ts';
import { scaled } from './whole-number.ts';

const HOUR_S = 3600;

/** What a GPU-hour of an owned machine costs, in billionths of a dollar, as finely as a rate may be stated. */
export function nanosPerGpuHour({ price_per_gpu_hour: price }: Pool): number {
  return Math.round(price * 1_000_000_000);
}

/** What an owned GPU cost in so many seconds of an hour: (nanos · seconds + 1,800,000) ÷ 3,600,000, as in the ledger. */
export function ownedMicros(nanos: number, seconds: number): number {
  return scaled(nanos, seconds, 3_600_000);
}

export const RATE_HEADER = csvLine(['node_id', 'valid_from', 'usd_per_gpu_hour', 'rate_source']);

/** The rates file: a line for each owned machine that appears on this day. */
export function rateLines({ nodes, from }: OrganisationDay): string[] {
  return nodes
    .filter(({ pool, presentFrom }) => pool.provider === undefined && presentFrom >= from)
    .map(({ id, pool, presentFrom }) => {
      // An hour goes by the rate in force when it begins.
      const validFrom = timeText(presentFrom - (presentFrom % HOUR_S));
      return csvLine([id, validFrom, decimalText(nanosPerGpuHour(pool), 9), 'stated by finance']);
    });
}

export const FX_HEADER = csvLine(['currency', 'as_of', 'usd_per_unit']);

/** The exchange rates file: a line for each currency bills come in, for all of the window. */
export function fxLines(world: World, scope: Scope): string[] {
  const currencies = world.providers.map((provider) => currencyOf(world, provider));
  return currencies
    .filter(({ code }, index) => code !== 'USD' && currencies.findIndex((other) => other.code === code) === index)
    .map(({ code, usdTenThousandths }) => csvLine([code, timeText(scope.from), decimalText(usdTenThousandths, 4)]));
}

/** A whole number of so many decimals, without a float on the way. */
function decimalText(scaledUp: number, decimals: number): string {
  const digits = String(scaledUp).padStart(decimals + 1, '0');
  const fraction = digits.slice(-decimals).replace(/0+$/, '');
  return `${digits.slice(0, -decimals)}${fraction === '' ? '' : `.${fraction}`}`;
}
