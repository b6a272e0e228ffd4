import { createHash } from 'node:crypto';
import { factTableByName } from '../facts/fact-table.ts';
import { PRICE_SERIES } from '../facts/price-series.ts';
import { addDays } from './calendar.ts';
import type { DerivedState } from './derived-state.ts';
import type { Engine } from './engine.ts';
import { quote } from './engine.ts';
import { factRelation } from './relation.ts';

/** Under which the hashes of days are kept between runs. */
const DIGEST = 'price_digest';

/**
 * Makes the view `price` of what the nodes of the inventory can be priced by: catalogs list hundreds of thousands of prices, of
 * which a fleet needs a few. The machine types are spelled out, so that files are read only where they hold one of them, and only
 * when a day has to be priced.
 *
 * Reads: node (a table of the engine).
 */
export async function showPrices(engine: Engine, dataDir: string, state: DerivedState): Promise<void> {
  const table = factTableByName('price');
  const members = state.allFacts('price');
  const types = members.length === 0 ? [] : await machineTypes(engine);
  const needed = `instance_type IN ('', ${types.map(quote).join(', ')})`;
  const relation =
    types.length === 0 ? factRelation(dataDir, table, []) : factRelation(dataDir, table, members, needed);
  await engine.run(`CREATE OR REPLACE TEMP VIEW price AS ${relation}`);
}

async function machineTypes(engine: Engine): Promise<string[]> {
  const rows = await engine.rows<{ type: string }>(
    `SELECT DISTINCT instance_type AS type FROM node WHERE instance_type IS NOT NULL ORDER BY type`,
  );
  return rows.map(({ type }) => type);
}

/**
 * Hashes, per day, the prices in force on it, so that a price that changes today leaves yesterday alone. Days that are known
 * are not hashed again while neither the files nor the machine types have changed.
 *
 * Reads: price, node (of the engine).
 */
export async function digestPrices(
  engine: Engine,
  state: DerivedState,
  days: readonly string[],
): Promise<Readonly<Record<string, string>>> {
  const members = state.allFacts('price');
  if (members.length === 0) return {};
  const content = createHash('sha256')
    .update(
      [
        ...members.map(({ batch, file }) => `${file.contentHash} ${batch.priority} ${batch.observedAt} ${batch.name}`),
        ...(await machineTypes(engine)),
      ]
        .toSorted()
        .join('\n'),
    )
    .digest('hex');
  const kept = state.unit(DIGEST, 'all');
  const known = kept?.inputHash === content ? (kept.dayHashes ?? {}) : {};
  const missing = days.filter((day) => known[day] === undefined);
  if (missing.length === 0) return known;
  const fresh = await digest(engine, missing);
  const dayHashes = Object.fromEntries(days.map((day) => [day, known[day] ?? fresh.get(day) ?? '']));
  state.set({ table: DIGEST, unit: 'all', inputHash: content, file: null, dayHashes });
  return dayHashes;
}

async function digest(engine: Engine, days: readonly string[]): Promise<Map<string, string>> {
  const list = days
    .map((day) => `(DATE '${day}', TIMESTAMP '${day} 00:00:00', TIMESTAMP '${addDays(day, 1)} 00:00:00')`)
    .join(', ');
  const rows = await engine.rows<{ day: string; digest: string }>(`
    SELECT CAST(d.day AS VARCHAR) AS day, CAST(bit_xor(hash(s.provider, s.region, s.zone, s.instance_type, s.accelerator, s.purchase,
             s.covers, s.nanos, s.as_of, CASE WHEN s.from_at < d.day_start THEN NULL ELSE s.from_at END,
             CASE WHEN s.ends_at >= d.day_end THEN NULL ELSE s.ends_at END)) AS VARCHAR) || ' ' || CAST(count(*) AS VARCHAR) AS digest
    FROM (VALUES ${list}) AS d(day, day_start, day_end)
    JOIN (${PRICE_SERIES}) s ON s.from_at < d.day_end AND s.ends_at > d.day_start GROUP BY d.day`);
  return new Map(rows.map((row) => [row.day, row.digest]));
}
