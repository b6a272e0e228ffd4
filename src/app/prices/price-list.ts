import { acceleratorNamed, listedAccelerator } from '../../facts/accelerators.ts';
import { wordsOf } from '../../facts/accelerators/accelerator.ts';
import { LIST_PRICES, LIST_PRICES_AS_OF } from '../../facts/list-price.ts';
import { PRICE_USD_MAX } from '../../facts/price.ts';
import type { PricePurchase } from '../../facts/price.ts';
import { providerKey } from '../../facts/provider-name.ts';
import type { ReadSpace } from '../workspace.ts';

export interface PriceQuestion {
  /** An accelerator, as people or drivers name it. */
  readonly model?: string;
  readonly instanceType?: string;
  readonly provider?: string;
  readonly region?: string;
  readonly purchase?: PricePurchase;
  readonly at: Date;
  readonly limit: number;
}

/** A price that was in force, of one machine or bare accelerators in one region. */
export interface PriceOffer {
  readonly provider: string;
  readonly region: string;
  /** Zones in which it is the same; 0 where the list has none. */
  readonly zones: bigint;
  readonly instanceType: string;
  readonly accelerator: string;
  /** A decimal, since a machine may have an eighth of one. */
  readonly acceleratorCount: string;
  readonly purchase: PricePurchase;
  readonly covers: 'instance' | 'accelerator' | 'host';
  readonly usdNanosPerHour: bigint;
  /** Null for machines without accelerators, and hosts that are priced apart from theirs. */
  readonly usdNanosPerAcceleratorHour: bigint | null;
  readonly asOf: string;
  readonly source: string;
  readonly ageSeconds: bigint;
  /** Why it is not believed; null where it is. */
  readonly flag: string | null;
}

export interface PriceList {
  readonly at: Date;
  /** Cheapest first: by accelerator where there are any. At most as many as were asked for. */
  readonly offers: readonly PriceOffer[];
  readonly offersFound: number;
  /** Kept, and not used; at most a thousand of them. */
  readonly flagged: readonly PriceOffer[];
  readonly flaggedFound: number;
  /** What estimates use where no list and no rate speaks. */
  readonly builtIn: readonly {
    readonly model: string;
    readonly usdPerGpuHour: string;
    readonly source: string;
    readonly asOf: string;
  }[];
}

/**
 * Question: what does it cost, who offers it, since when, and which of the prices cannot be believed?
 *
 * Only what was known at the time counts. Beside the flags prices came with, they are compared with each other: a spot price with
 * the newest on demand, whatever list that is from, and an accelerator with what all providers ask for it.
 *
 * Reads: price.
 */
export async function priceList(space: ReadSpace, question: PriceQuestion): Promise<PriceList> {
  const names = await acceleratorsMeant(space, question);
  const rows = await space.ask<PriceOffer>({
    tables: [{ table: 'price' }],
    sql: offersSql(question, names),
    params: { at: question.at },
  });
  const offers = rows.filter(({ flag }) => flag === null);
  const flagged = rows.filter(({ flag }) => flag !== null);
  return {
    at: question.at,
    offers: offers.slice(0, question.limit),
    offersFound: offers.length,
    flagged: flagged.slice(0, FLAGGED_MAX),
    flaggedFound: flagged.length,
    builtIn: builtInPrices(question),
  };
}

/** The names under which lists have the accelerator; undefined where none was asked for. */
async function acceleratorsMeant(space: ReadSpace, { model }: PriceQuestion): Promise<string[] | undefined> {
  if (model === undefined) return undefined;
  const rows = await space.ask<{ name: string }>({
    tables: [{ table: 'price' }],
    sql: `SELECT DISTINCT accelerator AS name FROM price WHERE accelerator <> ''`,
  });
  const id = acceleratorNamed(model)?.id;
  const isExact = id?.toLowerCase() === model.trim().toLowerCase();
  return rows
    .map(({ name }) => name)
    .filter((name) => {
      const { id: listed, comparable } = listedAccelerator(name);
      const isMeant = id !== undefined && (listed === id || comparable === id);
      return isMeant || (!isExact && wordsOf(name).includes(wordsOf(model)));
    });
}

/** There may be thousands, and all that is wrong with a list shows in fewer. */
const FLAGGED_MAX = 1000;

const text = (value: string): string => `'${value.replaceAll("'", "''")}'`;

const KEY = 'provider, region, zone, instance_type, accelerator, accelerator_count, purchase, covers';

function offersSql(question: PriceQuestion, names: readonly string[] | undefined): string {
  const of = [
    ...(names === undefined ? [] : [`accelerator IN (${['', ...names].map(text).join(', ')}) AND accelerator <> ''`]),
    ...(question.instanceType === undefined ? [] : [`instance_type = ${text(question.instanceType)}`]),
    ...(names === undefined && question.instanceType === undefined ? [`accelerator <> ''`] : []),
  ].join(' AND ');
  const asked = [
    ...(question.provider === undefined ? [] : [`provider = ${text(providerKey(question.provider))}`]),
    ...(question.region === undefined ? [] : [`lower(region) = ${text(question.region.toLowerCase())}`]),
    ...(question.purchase === undefined ? [] : [`purchase = ${text(question.purchase)}`]),
  ];
  return `
    WITH known AS (
      SELECT ${KEY}, as_of, price_source, flag, CAST(round(usd_per_hour * 1000000000) AS BIGINT) AS nanos,
             CASE WHEN covers <> 'host' AND accelerator <> '' AND accelerator_count > 0
                  THEN CAST(round(usd_per_hour * 1000000000 / accelerator_count) AS BIGINT) END AS one,
             row_number() OVER (PARTITION BY ${KEY} ORDER BY as_of DESC) AS place,
             row_number() OVER (PARTITION BY ${KEY} ORDER BY flag IS NULL OR flag = 'vanished' DESC, as_of DESC) AS believed_place
      FROM price WHERE ${of} AND as_of <= $at AND COALESCE(flag, '') <> 'feed-lost' AND abs(usd_per_hour) <= ${PRICE_USD_MAX}
    ), newest AS (
      SELECT * FROM known WHERE (believed_place = 1 AND (flag IS NULL OR flag = 'vanished'))
        OR (place = 1 AND flag IS NOT NULL AND flag <> 'vanished')
    ), on_demand AS (
      SELECT provider, lower(region) AS region, instance_type, accelerator, accelerator_count, covers, max_by(nanos, as_of) AS nanos
      FROM newest WHERE purchase = 'on-demand' AND flag IS NULL AND nanos > 0 GROUP BY ALL
    ), usual AS (
      SELECT accelerator, quantile_disc(middle, 0.5) AS one FROM (
        SELECT accelerator, provider, quantile_disc(one, 0.5) AS middle FROM newest
        WHERE purchase = 'on-demand' AND flag IS NULL AND one > 0 GROUP BY accelerator, provider)
      GROUP BY accelerator HAVING count(*) >= 3
    ), judged AS (
      SELECT n.* REPLACE (CASE WHEN n.flag IS NOT NULL THEN n.flag
               WHEN n.purchase = 'spot' AND n.nanos * 2 > d.nanos * 3 THEN 'spot-too-high'
               WHEN n.purchase = 'spot' AND n.nanos * 1000 < d.nanos * 99 THEN 'spot-too-low'
               WHEN n.purchase <> 'spot' AND n.one * 5 < u.one THEN 'far-off-median'
               WHEN n.purchase <> 'spot' AND n.covers = 'accelerator' AND n.one > u.one * 5 THEN 'far-off-median' END AS flag)
      FROM newest n
      LEFT JOIN on_demand d ON n.provider = d.provider AND lower(n.region) = d.region AND n.instance_type = d.instance_type
        AND n.accelerator = d.accelerator AND n.accelerator_count = d.accelerator_count AND n.covers = d.covers
      LEFT JOIN usual u ON n.accelerator = u.accelerator
    )
    SELECT provider, region, count(DISTINCT nullif(zone, '')) AS zones, instance_type AS "instanceType", accelerator,
           rtrim(rtrim(CAST(accelerator_count AS VARCHAR), '0'), '.') AS "acceleratorCount", purchase, covers,
           nanos AS "usdNanosPerHour", one AS "usdNanosPerAcceleratorHour", CAST(max(as_of) AS VARCHAR) AS "asOf",
           max_by(price_source, as_of) AS source, date_diff('second', max(as_of), $at) AS "ageSeconds", flag
    FROM judged${asked.length === 0 ? '' : ` WHERE ${asked.join(' AND ')}`}
    GROUP BY provider, region, instance_type, accelerator, accelerator_count, purchase, covers, nanos, one, flag
    ORDER BY COALESCE(one, nanos), provider, region, instance_type, accelerator_count, purchase`;
}

function builtInPrices({ model }: PriceQuestion): PriceList['builtIn'] {
  const meant = model === undefined ? [] : LIST_PRICES.filter((price) => wordsOf(model).includes(wordsOf(price.model)));
  return meant
    .toSorted((a, b) => b.model.length - a.model.length)
    .slice(0, 1)
    .map(({ model: name, usdPerGpuHour, source }) => ({ model: name, usdPerGpuHour, source, asOf: LIST_PRICES_AS_OF }));
}
