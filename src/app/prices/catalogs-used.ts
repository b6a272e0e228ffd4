import { PRICE_SERIES } from '../../facts/price-series.ts';
import { providerKeySql } from '../../facts/provider-name.ts';
import type { CatalogUse } from '../../report/look-screen.ts';
import type { ReadSpace } from '../workspace.ts';

/** The prices of one list that stand for the GPUs of a model. */
export interface ModelCatalog extends CatalogUse {
  readonly model: string | null;
}

/**
 * Question: which imported price lists, of which day, do estimates of these days rest on, and does the built-in one serve too?
 *
 * A ledger without imported prices is not asked: its estimates are hours of the whole fleet. Hours that a bill charges count only where
 * they are asked for, since their estimate is a comparison. Reads: estimate_hour, charge_hour, node, price.
 */
export async function catalogsUsed(
  space: ReadSpace,
  { first, last, billedToo }: { readonly first: string; readonly last: string; readonly billedToo: boolean },
): Promise<{ readonly list: boolean; readonly catalogs: readonly ModelCatalog[] }> {
  if (!space.snapshot.batches.some(({ table }) => table === 'price')) return { list: true, catalogs: [] };
  const charged = billedToo
    ? ''
    : `LEFT JOIN (SELECT DISTINCT node_id, hour_start FROM charge_hour WHERE kind = 'node') c
         ON e.node_id = c.node_id AND e.hour_start = c.hour_start WHERE c.node_id IS NULL`;
  const rows = await space.ask<ModelCatalog & { readonly pricedBy: string }>({
    tables: [
      { table: 'estimate_hour', first, last },
      ...(billedToo ? [] : [{ table: 'charge_hour', first, last }]),
      { table: 'node' },
      { table: 'price' },
    ],
    sql: `
      WITH priced AS (
        SELECT e.priced_by, e.model, e.node_id, ${providerKeySql('e.provider')} AS provider,
               COALESCE(lower(e.region), '') AS region, min(e.hour_start) AS first_at, max(e.hour_start) AS last_at
        FROM estimate_hour e ${charged}
        GROUP BY e.priced_by, e.model, e.node_id, ${providerKeySql('e.provider')}, COALESCE(lower(e.region), '')
      ), price_row AS (${PRICE_SERIES}
      ), machine AS (
        SELECT p.model, p.provider, p.region, n.instance_type, min(p.first_at) AS first_at, max(p.last_at) AS last_at
        FROM priced p JOIN (SELECT DISTINCT node_id, instance_type FROM node) n ON p.node_id = n.node_id
        WHERE p.priced_by = 'catalog' GROUP BY p.model, p.provider, p.region, n.instance_type
      )
      SELECT 'catalog' AS "pricedBy", m.model, r.price_source AS source, strftime(max(r.as_of), '%Y-%m-%d') AS "asOf"
      FROM machine m JOIN price_row r ON m.instance_type = r.instance_type AND m.provider = r.provider
        AND (r.region = m.region OR r.region = '') AND r.from_at <= m.last_at AND r.ends_at > m.first_at
      GROUP BY m.model, r.price_source
      UNION ALL
      SELECT DISTINCT 'list', NULL, NULL, NULL FROM priced WHERE priced_by = 'list'
      ORDER BY 1, 4 DESC, 3, 2`,
  });
  return {
    list: rows.some(({ pricedBy }) => pricedBy === 'list'),
    catalogs: rows
      .filter(({ pricedBy }) => pricedBy === 'catalog')
      .map(({ model, source, asOf }) => ({ model, source, asOf })),
  };
}
