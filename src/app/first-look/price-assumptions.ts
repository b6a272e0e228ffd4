import { LIST_PRICES, LIST_PRICES_AS_OF } from '../../facts/list-price.ts';
import type { PriceAssumption } from '../../report/first-look-lines.ts';
import type { CatalogUse } from '../../report/look-screen.ts';
import { catalogsUsed } from '../prices/catalogs-used.ts';
import type { ReadSpace } from '../workspace.ts';

interface PricedTime {
  readonly model: string | null;
  readonly pricedBy: string | null;
  readonly nanos: bigint | null;
  readonly presentS: bigint;
}

/**
 * Question: which price stands for which model, and where is it from?
 *
 * The most time first. One model may have several: a rate of one node, list prices of two regions. Reads: estimate_hour, and what
 * `catalogsUsed` reads.
 */
export async function priceAssumptions(
  space: ReadSpace,
  window: { readonly from: Date; readonly until: Date },
): Promise<PriceAssumption[]> {
  const days = space.scope?.days ?? [];
  const [first, last] = [dayOf(window.from), dayOf(new Date(window.until.getTime() - 1))];
  if (!days.some((day) => day >= first && day <= last)) return [];
  const rows = await space.ask<PricedTime>({
    tables: [{ table: 'estimate_hour', first, last }],
    sql: `SELECT model, priced_by AS "pricedBy", usd_nanos_per_hour AS nanos, CAST(sum(present_s) AS BIGINT) AS "presentS"
          FROM estimate_hour GROUP BY model, priced_by, usd_nanos_per_hour
          ORDER BY "presentS" DESC, model, priced_by, nanos`,
  });
  const { catalogs } = await catalogsUsed(space, { first, last, billedToo: true });
  return rows.map(({ model, pricedBy, nanos, presentS }) => {
    const by = pricedBy === 'rate' || pricedBy === 'catalog' || pricedBy === 'list' ? pricedBy : null;
    const listed = by === 'list' && model !== null ? listPriceOf(model) : undefined;
    return {
      model,
      by,
      usdPerGpuHour: nanos === null ? null : usdText(nanos),
      ...(listed !== undefined && { source: listed.source, asOf: LIST_PRICES_AS_OF }),
      ...(by === 'catalog' && catalogOf(catalogs.filter((each) => each.model === model))),
      gpuHours: Math.round(Number(presentS) / 360) / 10,
    };
  });
}

/** The one list of a model, or the newest day of several. */
function catalogOf(catalogs: readonly CatalogUse[]): Pick<PriceAssumption, 'source' | 'asOf'> {
  const sources = new Set(catalogs.map(({ source }) => source));
  const [newest] = catalogs.map(({ asOf }) => asOf).toSorted((a, b) => (a < b ? 1 : -1));
  const [source] = [...sources];
  return {
    ...(sources.size === 1 && typeof source === 'string' && { source }),
    ...(newest !== undefined && { asOf: newest }),
  };
}

function dayOf(time: Date): string {
  return time.toISOString().slice(0, 10);
}

/** `6.88`, `1.0061`: at least cents, and no more digits than there are. */
function usdText(nanos: bigint): string {
  const fraction = String(nanos % 1_000_000_000n)
    .padStart(9, '0')
    .replace(/0+$/, '');
  return `${nanos / 1_000_000_000n}.${fraction.padEnd(2, '0')}`;
}

/** The listed price whose words are in the model's name, the longest first, as the ledger chooses it. */
function listPriceOf(model: string): { readonly source: string } | undefined {
  const words = (text: string): string => ` ${text.toLowerCase().replaceAll(/[-_/().,]/g, ' ')} `;
  return LIST_PRICES.filter((price) => words(model).includes(words(price.model))).toSorted(
    (a, b) => b.model.length - a.model.length || (a.model < b.model ? -1 : 1),
  )[0];
}
