import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { World } from '../../src/demo/world/world-schema.ts';
import { openEngine, quote } from '../../src/lake/engine.ts';
import type { Engine } from '../../src/lake/engine.ts';

/** The window of a demo, in whole seconds. */
export interface Window {
  readonly from: number;
  readonly until: number;
}

/**
 * The files of a demo as tables of a real engine, read with nothing of ours: times as whole seconds, money as whole
 * micros. `pool` is what the world file says; the rest is what an outsider would have.
 */
export async function openFiles(folder: string, { from, until }: Window): Promise<Engine> {
  const engine = await openEngine({ threads: 2, memoryLimitMb: 800 });
  const csv = (name: string): string =>
    `read_csv(${quote(join(folder, name))}, all_varchar = true, header = true, union_by_name = true)`;
  const seconds = (column: string): string => `CAST(epoch(CAST(${column} AS TIMESTAMP)) AS BIGINT)`;
  const micros = (column: string): string => `CAST(CAST(${column} AS DECIMAL(38,6)) * 1000000 AS BIGINT)`;
  await engine.run(
    `CREATE TABLE span AS SELECT CAST(${from} AS BIGINT) AS first_s, CAST(${until} AS BIGINT) AS last_s`,
  );
  await engine.run(`
    CREATE TABLE node_row AS
    SELECT * REPLACE (${seconds('present_from')} AS present_from, ${seconds('present_until')} AS present_until,
                      CAST(gpu_count AS BIGINT) AS gpu_count),
           regexp_replace(node_id, '-[0-9]+$', '') AS pool
    FROM ${csv('nodes.csv')}`);
  // A machine that stays has no end, and only the last of its states has one.
  await engine.run(`
    CREATE TABLE node AS
    SELECT node_id, any_value(pool) AS pool, any_value(resource_id) AS resource_id, any_value(gpu_count) AS gpus,
           min(present_from) AS came_s, COALESCE(max(present_until), ${until}) AS went_s
    FROM node_row GROUP BY node_id`);
  await engine.run(`
    CREATE TABLE device AS
    SELECT * REPLACE (${seconds('present_from')} AS present_from,
                      COALESCE(${seconds('present_until')}, ${until}) AS present_until,
                      CAST(share_units AS BIGINT) AS share_units)
    FROM ${csv('devices.csv')}`);
  await engine.run(`
    CREATE TABLE allocation AS
    SELECT * REPLACE (${seconds('held_from')} AS held_from, COALESCE(${seconds('held_until')}, ${until}) AS held_until)
    FROM ${csv('allocations.csv')}`);
  await engine.run(`
    CREATE TABLE waiting AS
    SELECT * REPLACE (${seconds('submitted_at')} AS submitted_at) FROM ${csv('waiting.csv')}`);
  await engine.run(`
    CREATE TABLE truth AS
    SELECT * EXCLUDE (seconds, usd)
             REPLACE (${seconds('"from"')} AS "from", ${seconds('"until"')} AS "until",
                      CAST(share_units AS BIGINT) AS share_units),
           CAST(CAST(seconds AS DECIMAL(18,3)) * 1000 AS BIGINT) AS millis, ${micros('usd')} AS usd_micros
    FROM ${csv('truth.csv')}`);
  await engine.run(`CREATE TABLE rate AS SELECT * FROM ${csv('rates.csv')}`);
  await engine.run(`CREATE TABLE fx AS SELECT * FROM ${csv('fx.csv')}`);
  for (const [table, wants] of [
    ['charge', 'NOT'],
    ['first_charge', ''],
  ] as const) {
    await engine.run(`
      CREATE TABLE ${table} AS
      SELECT * EXCLUDE (filename), ${seconds('ChargePeriodStart')} AS from_s, ${seconds('ChargePeriodEnd')} AS until_s,
             ${micros('BilledCost')} AS billed, ${micros('EffectiveCost')} AS effective, ${micros('ListCost')} AS list
      FROM read_csv(${quote(join(folder, 'bill-*.csv'))}, all_varchar = true, header = true, filename = true)
      WHERE ${wants} filename LIKE '%-first-issue.csv'`);
  }
  await addWorld(engine, parse(readFileSync(join(folder, 'world.yaml'), 'utf8')) as World);
  return engine;
}

/** Prices of the world as whole numbers; bills in other currencies than the dollar are in whole cents. */
async function addWorld(engine: Engine, { pools, providers, reasons }: World): Promise<void> {
  const rows = pools.map((pool) => {
    const provider = providers.find(({ name }) => name === pool.provider);
    const [price, list] = [pool.price_per_gpu_hour, pool.list_price_per_gpu_hour].map((usd) =>
      Math.round(usd * 1_000_000),
    );
    const stepMicros = provider === undefined || provider.currency === 'USD' ? 1 : 10_000;
    const periodS = provider?.bills_by === 'day' ? 86_400 : 3600;
    const used = pool.commitment_used_percent ?? 100;
    const names = [pool.name, pool.purchase].map(quote).join(', ');
    return `(${names}, ${provider !== undefined}, ${price}, ${list}, ${stepMicros}, ${periodS}, ${used})`;
  });
  await engine.run(`
    CREATE TABLE pool AS
    SELECT * FROM (VALUES ${rows.join(', ')})
      AS p(pool, purchase, is_billed, price, list_price, step, period_s, used_percent)`);
  const opinions = Object.entries(reasons).map((pair) => `(${pair.map(quote).join(', ')})`);
  await engine.run(`CREATE TABLE reason AS SELECT * FROM (VALUES ${opinions.join(', ')}) AS r(reason, category)`);
}
