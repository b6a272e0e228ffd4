import { PRICE_FLAGS, PRICE_PURCHASES } from '../../facts/price.ts';
import { providerKeySql } from '../../facts/provider-name.ts';
import type { OpenFile } from '../files/read-file.ts';
import { identifier, literal } from '../values/sql-text.ts';
import { parseTime } from '../values/time-sql.ts';
import type { PriceColumns, PriceRole } from './price-columns.ts';

/** What the person or the file's name says of every row, where no column does. */
export interface FeedConstants {
  /** Tells the files of one command apart. */
  readonly feed: number;
  readonly provider?: string;
  /** `2026-08-22 00:00:00`, in UTC. */
  readonly asOf: string;
  readonly priceSource: string;
}

/** The columns `feedRows` gives, as a table is made of them. */
export const FEED_ROW_COLUMNS = [
  'feed INTEGER',
  'feed_row BIGINT',
  ...['provider', 'region', 'zone', 'instance_type', 'accelerator'].map((name) => `${name} VARCHAR`),
  ...['accelerator_count', 'vcpu', 'memory_gib'].map((name) => `${name} DECIMAL(18,6)`),
  ...['purchase', 'covers'].map((name) => `${name} VARCHAR`),
  'as_of TIMESTAMP',
  'is_gone BOOLEAN',
  ...['price_source', 'flag'].map((name) => `${name} VARCHAR`),
  ...['price', 'spot', 'committed_1y', 'committed_3y'].map((name) => `${name} DECIMAL(18,9)`),
  'skip VARCHAR',
].join(', ');

/** Words for the ways to buy that price lists use; anything else is told, not guessed. */
const PURCHASE_WORDS: Readonly<Record<(typeof PRICE_PURCHASES)[number], readonly string[]>> = {
  'on-demand': ['on-demand', 'ondemand', 'on demand', 'on_demand', 'standard', 'regular', 'consumption'],
  spot: ['spot', 'preemptible', 'interruptible', 'low priority', 'dynamic'],
  'committed-1y': ['committed-1y', 'reserved-1y', 'reserved 1y', '1y', '1 year', 'committed-1-year'],
  'committed-3y': ['committed-3y', 'reserved-3y', 'reserved 3y', '3y', '3 years', 'committed-3-years'],
};

/** Counts and sizes need fewer decimals than prices. */
const COUNT_ROLES: ReadonlySet<PriceRole> = new Set(['accelerator_count', 'vcpu', 'memory_gib']);

const GONE_WORDS = ['gone', 'removed', 'deleted', 'delisted', 'withdrawn'];
const NULL_WORDS = ['', 'null', 'n/a', 'nan', 'none', '-'];

const inList = (ref: string, words: readonly string[]): string =>
  `${ref} IN (${words.map((word) => literal(word)).join(', ')})`;

/**
 * Question: what does each row of a price list say, each value read, and why is a row not one?
 *
 * Prices are read to nine decimals in 64 bits: the engine's way to a wide decimal takes a hundred times as long. One row for each
 * of the file: `feed_row`, the machine, up to four prices, `skip` with the reason where it is no price of anything.
 */
export function feedRows(file: OpenFile, { byRole }: PriceColumns, constants: FeedConstants): string {
  const column = (role: PriceRole): string => {
    const name = byRole.get(role);
    return name === undefined ? 'CAST(NULL AS VARCHAR)' : cleanText(identifier(name));
  };
  const roles = [
    'provider',
    'region',
    'zone',
    'instance_type',
    'accelerator',
    'covers',
    'event',
    'currency',
    'price_source',
    'flag',
    'purchase',
  ] as const;
  const numbers = ['accelerator_count', 'vcpu', 'memory_gib', 'price', 'spot', 'committed_1y', 'committed_3y'] as const;
  const time = parseTime({ ref: 't_as_of', type: 'VARCHAR' }, undefined, { utcByContract: true });
  const isDated = byRole.has('as_of');
  const texts = [...roles, ...numbers, 'as_of' as const].map((role) => `${column(role)} AS t_${role}`);
  let select = `SELECT ${file.rowNumber} AS feed_row, ${texts.join(', ')} FROM ${file.from}`;
  const layers = [
    ...(time.quick === undefined || !isDated ? [] : [[time.quick]]),
    isDated ? time.helpers : [],
    numbers.map(
      (role) => [`n_${role}`, byRole.has(role) ? number(role) : `CAST(NULL AS ${numberType(role)})`] as const,
    ),
  ];
  for (const layer of layers) {
    if (layer.length > 0)
      select = `SELECT *, ${layer.map(([name, sql]) => `${sql} AS ${name}`).join(', ')} FROM (${select})`;
  }
  const provider = constants.provider === undefined ? providerKeySql('t_provider') : literal(constants.provider);
  const purchase = `CASE ${Object.entries(PURCHASE_WORDS)
    .map(([word, others]) => `WHEN ${inList('lower(t_purchase)', others)} THEN ${literal(word)}`)
    .join(' ')} END`;
  const asOf = isDated
    ? `COALESCE(${time.value}, CASE WHEN t_as_of IS NULL THEN TIMESTAMP ${literal(constants.asOf)} END)`
    : `TIMESTAMP ${literal(constants.asOf)}`;
  return `
    SELECT ${constants.feed} AS feed, feed_row, ${provider} AS provider, COALESCE(t_region, '') AS region, COALESCE(t_zone, '') AS zone,
           COALESCE(t_instance_type, '') AS instance_type, COALESCE(t_accelerator, '') AS accelerator,
           n_accelerator_count AS accelerator_count, n_vcpu AS vcpu, n_memory_gib AS memory_gib,
           ${byRole.has('purchase') ? `COALESCE(${purchase}, 'on-demand')` : `'on-demand'`} AS purchase, lower(t_covers) AS covers,
           ${asOf} AS as_of,
           ${byRole.has('event') ? `COALESCE(${inList('lower(t_event)', GONE_WORDS)}, false)` : 'false'} AS is_gone,
           COALESCE(t_price_source, ${literal(constants.priceSource)}) AS price_source, lower(t_flag) AS flag,
           n_price AS price, n_spot AS spot, n_committed_1y AS committed_1y, n_committed_3y AS committed_3y,
           ${skipReason(byRole, purchase, asOf, provider)} AS skip
    FROM (${select})`;
}

/** Why a row is no price of anything; NULL where it is one. */
function skipReason(byRole: ReadonlyMap<PriceRole, string>, purchase: string, asOf: string, provider: string): string {
  const badNumber = (['price', 'spot', 'committed_1y', 'committed_3y', 'accelerator_count'] as const)
    .filter((role) => byRole.has(role))
    .map(
      (role) =>
        `WHEN t_${role} IS NOT NULL AND n_${role} IS NULL THEN ${literal(`${byRole.get(role) ?? role} is not a number`)}`,
    );
  const checks = [
    `WHEN t_instance_type IS NULL AND t_accelerator IS NULL THEN 'names neither a machine nor an accelerator'`,
    `WHEN ${provider} IS NULL THEN 'names no provider'`,
    ...badNumber,
    ...(byRole.has('accelerator_count')
      ? [`WHEN n_accelerator_count < 0 THEN 'has a negative number of accelerators'`]
      : []),
    ...(byRole.has('as_of') ? [`WHEN ${asOf} IS NULL THEN 'its time is not understood'`] : []),
    ...(byRole.has('purchase')
      ? [`WHEN t_purchase IS NOT NULL AND ${purchase} IS NULL THEN 'its way to buy is not understood'`]
      : []),
    ...(byRole.has('currency') ? [`WHEN upper(t_currency) <> 'USD' THEN 'is not in USD'`] : []),
    ...(byRole.has('covers')
      ? [
          `WHEN lower(t_covers) NOT IN ('instance', 'accelerator', 'host') THEN 'covers is not instance, accelerator or host'`,
        ]
      : []),
    ...(byRole.has('flag')
      ? [`WHEN NOT ${inList('lower(t_flag)', Object.keys(PRICE_FLAGS))} THEN 'its flag is not a known one'`]
      : []),
  ];
  return `CASE ${checks.join(' ')} END`;
}

function cleanText(ref: string): string {
  const trimmed = `trim(CAST(${ref} AS VARCHAR))`;
  return `CASE WHEN length(${trimmed}) > 4 THEN ${trimmed} WHEN NOT ${inList(`lower(${trimmed})`, NULL_WORDS)} THEN ${trimmed} END`;
}

/** `$1.29` is a dollar sign too many; `1_000` is no number, whatever the engine thinks. Only memory says its unit. */
function number(role: PriceRole): string {
  const ref = `t_${role}`;
  const bare = role === 'memory_gib' ? `regexp_replace(${ref}, '\\s*(GiB|GB)$', '')` : ref;
  return `CASE WHEN NOT contains(${ref}, '_') THEN TRY_CAST(ltrim(${bare}, '$') AS ${numberType(role)}) END`;
}

function numberType(role: PriceRole): string {
  return `DECIMAL(18,${COUNT_ROLES.has(role) ? 6 : 9})`;
}
