import { LIST_PRICES, LIST_PRICES_AS_OF } from '../../facts/list-price.ts';
import { parseDecimal } from '../../money/usd.ts';

/** A price somebody stated, for a model or a machine. */
export interface StatedRate {
  readonly model?: string;
  readonly node?: string;
  readonly usdPerGpuHour: string;
}

/** What an hour of a GPU costs, and who says so. */
export interface GpuPrice {
  readonly usdMicrosPerHour: bigint;
  readonly by: 'rate' | 'list';
  /** The words of the model's name the price goes by: what to say with --rate. */
  readonly model: string;
  /** For people: `list price of 2026-08-22 (AWS p5.48xlarge ÷ 8)`. */
  readonly source: string;
}

/**
 * What does an hour of this GPU cost? A rate of its machine, of its model, of any model, else the built-in list price of the
 * model, in the order of the ledger; undefined, never 0, where there is none.
 */
export function priceOfGpu(
  model: string | undefined,
  node: string,
  rates: readonly StatedRate[],
): GpuPrice | undefined {
  const ofNode = rates.find((rate) => rate.node === node);
  const ofModel =
    model === undefined
      ? undefined
      : longest(
          model,
          rates.filter(({ model: named }) => named !== '*'),
        );
  const stated = ofNode ?? ofModel ?? rates.find((rate) => rate.model === '*' && rate.node === undefined);
  if (stated !== undefined) return priceOf(stated.usdPerGpuHour, 'rate', stated.model ?? '*', 'stated rate');
  const listed = model === undefined ? undefined : longest(model, LIST_PRICES);
  return listed === undefined
    ? undefined
    : priceOf(listed.usdPerGpuHour, 'list', listed.model, `list price of ${LIST_PRICES_AS_OF} (${listed.source})`);
}

/** The rate whose model is in the name as whole words, the longest first, then the first in the alphabet. */
function longest<Rate extends { readonly model?: string }>(model: string, rates: readonly Rate[]): Rate | undefined {
  const words = (text: string): string => ` ${text.toLowerCase().replaceAll(/[-_/().,]/g, ' ')} `;
  return rates
    .filter((rate) => rate.model !== undefined && words(model).includes(words(rate.model)))
    .toSorted(
      (a, b) => (b.model?.length ?? 0) - (a.model?.length ?? 0) || ((a.model ?? '') < (b.model ?? '') ? -1 : 1),
    )[0];
}

function priceOf(usd: string, by: GpuPrice['by'], model: string, source: string): GpuPrice | undefined {
  const usdMicrosPerHour = parseDecimal(usd, 6);
  return usdMicrosPerHour === undefined ? undefined : { usdMicrosPerHour, by, model, source };
}
