import type { Column } from '../../facts/column.ts';
import { chargeTable } from '../../facts/charge.ts';

/** What follows from a row of a bill: which bill it is of, where it stood, what it meets nodes by, and its hash. */
export function chargeColumns(part: number): readonly (readonly [name: string, sql: string])[] {
  const day = `CAST(CAST(billing_period_start AS DATE) AS VARCHAR)`;
  // A whole month goes by its name; a bill of a day, a week or a year by its first day, even if that is the 1st.
  const isMonth = `day(billing_period_start) = 1 AND billing_period_end = billing_period_start + INTERVAL 1 MONTH`;
  const period = `CASE WHEN ${isMonth} THEN left(${day}, 7) ELSE ${day} END`;
  return [
    // A bar in a name is spelled out, or two bills could have one id.
    ['bill_id', `replace(provider, '|', '%7C') || '|' || replace(billing_account, '|', '%7C') || '|' || ${period}`],
    ['part', `CAST(${part} AS INTEGER)`],
    ['ordinal', 'CAST(row_in_file AS BIGINT)'],
    ['resource_key', `nullif(regexp_extract(lower(resource_id), '([^/:]*)$', 1), '')`],
    ['row_hash', rowHashSql()],
  ];
}

/** What all rows of a bill share, and words that no entry depends on. */
const NOT_HASHED = new Set([
  'provider',
  'billing_account',
  'billing_period_start',
  'billing_period_end',
  'currency',
  'charge_frequency',
  'sku_price_id',
  'resource_name',
  'consumed_unit',
  'pricing_unit',
  'invoice_id',
]);

/**
 * A hash of what the row is for, whatever file, part or order it came in: the posting breaks ties of equal amounts with it, so that
 * the same bill gives the same entries. Rows that differ only in what is left out stand on the same entries. Amounts are left out,
 * because turning them into text cost as much as reading the rest of the bill.
 */
function rowHashSql(): string {
  const hashed = chargeTable.columns.filter(({ name, kind }) => kind !== 'decimal' && !NOT_HASHED.has(name));
  return `md5(concat_ws(chr(31), ${hashed.map(hashedText).join(', ')}))`;
}

function hashedText({ name, kind }: Column): string {
  if (kind !== 'map') return `COALESCE(CAST(${name} AS VARCHAR), '')`;
  const pairs = `list_transform(map_entries(${name}), lambda entry: entry.key || '=' || COALESCE(entry.value, ''))`;
  return `COALESCE(array_to_string(${pairs}, chr(30)), '')`;
}
