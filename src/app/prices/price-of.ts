import type { PricePurchase } from '../../facts/price.ts';
import type { ReadSpace } from '../workspace.ts';
import type { PriceOffer } from './price-list.ts';
import { priceList } from './price-list.ts';

/** A machine, or an accelerator wherever it is, in the words of a price list. */
export interface PricedThing {
  readonly provider: string;
  readonly region?: string;
  readonly instanceType?: string;
  readonly model?: string;
  readonly purchase: PricePurchase;
  readonly at: Date;
}

const OFFERS_MAX = 100_000;

/**
 * Question: what did this cost at that time?
 *
 * The newest price that was known then and is believed; of several of that time the lower middle. It comes with its date, its
 * source and its age, so that whoever uses it can say how old it is. Undefined where no list says.
 *
 * Reads: price.
 */
export async function priceOf(space: ReadSpace, thing: PricedThing): Promise<PriceOffer | undefined> {
  const { offers } = await priceList(space, { ...thing, limit: OFFERS_MAX });
  const newest = offers.map(({ asOf }) => asOf).reduce((a, b) => (a > b ? a : b), '');
  const price = (offer: PriceOffer): bigint => offer.usdNanosPerAcceleratorHour ?? offer.usdNanosPerHour;
  const latest = offers
    .filter(({ asOf }) => asOf === newest)
    .toSorted((a, b) => (price(a) < price(b) ? -1 : price(a) > price(b) ? 1 : 0));
  return latest[Math.floor((latest.length - 1) / 2)];
}
