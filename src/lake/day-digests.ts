import { createHash } from 'node:crypto';
import { factTableByName } from '../facts/fact-table.ts';
import { storedColumns } from '../facts/incoming.ts';
import type { Engine } from './engine.ts';
import type { DerivedState } from './derived-state.ts';
import type { DayDigests } from './input-hash.ts';
import { addDays } from './calendar.ts';
import { digestPrices } from './needed-prices.ts';

/** Tables of intervals: few rows, each in force from one column to another, read whole by every day. */
const INTERVAL_TABLES: Readonly<Record<string, { from: string; until: string; text: string }>> = {
  node: { from: 'present_from', until: 'present_until', text: textOf('node', 'present_until') },
  device: { from: 'present_from', until: 'present_until', text: textOf('device', 'present_until') },
  rate: { from: 'valid_from', until: 'valid_until', text: textOf('rate', 'valid_until') },
};

/** Every column of a table as text, but those that may change without changing a day: its end, and when it was seen. */
function textOf(table: string, until: string): string {
  return storedColumns(factTableByName(table))
    .filter(({ name }) => name !== until && name !== 'observed_at')
    .map(({ name }) => `CAST(${name} AS VARCHAR)`)
    .join(', ');
}

/**
 * Hashes, per day, what is in force on it, so that a new row of inventory changes the days it speaks about and no other.
 * Kept with the derived units: only new days are hashed while a table stays as it is.
 *
 * Reads: node, device, rate, price (resolved tables of the engine), inferred, handed.
 */
export async function digestDays(engine: Engine, state: DerivedState, days: readonly string[]): Promise<DayDigests> {
  const byTable = new Map<string, Readonly<Record<string, string>>>();
  for (const [table, shape] of Object.entries(INTERVAL_TABLES)) {
    const content = createHash('sha256')
      .update(
        state
          .allFacts(table)
          .map(({ batch, file }) => `${file.contentHash} ${batch.priority} ${batch.observedAt} ${batch.name}`)
          .toSorted()
          .join('\n'),
      )
      .digest('hex');
    const kept = state.unit(`${table}_digest`, 'all');
    const known = kept?.inputHash === content ? (kept.dayHashes ?? {}) : {};
    const missing = days.filter((day) => known[day] === undefined);
    if (missing.length > 0) {
      const fresh = await digest(engine, table, shape, missing);
      const dayHashes = Object.fromEntries(days.map((day) => [day, known[day] ?? fresh.get(day) ?? '']));
      state.set({ table: `${table}_digest`, unit: 'all', inputHash: content, file: null, dayHashes });
    }
    byTable.set(table, state.unit(`${table}_digest`, 'all')?.dayHashes ?? {});
  }
  byTable.set('price', await digestPrices(engine, state, days));
  const inferred = await inferredDays(engine, state);
  const handed = await handedDays(engine, state);
  const owned = await ownedNodes(engine);
  return {
    of: (table, day) => {
      if (table === 'inferred') return inferred(day);
      if (table === 'handed') return handed(day);
      return `${byTable.get(table)?.[day] ?? ''}${table === 'rate' ? owned : ''}`;
    },
  };
}

async function digest(
  engine: Engine,
  table: string,
  shape: { from: string; until: string; text: string },
  days: readonly string[],
): Promise<Map<string, string>> {
  const list = days.map((day) => `(DATE '${day}', TIMESTAMP '${addDays(day, 1)} 00:00:00')`).join(', ');
  const rows = await engine.rows<{ day: string; digest: string }>(`
    SELECT CAST(d.day AS VARCHAR) AS day, CAST(bit_xor(hash(${shape.text},
             CASE WHEN ${shape.until} < d.day_end THEN CAST(${shape.until} AS VARCHAR) END)) AS VARCHAR) || ' ' ||
             CAST(count(*) AS VARCHAR) AS digest
    FROM (VALUES ${list}) AS d(day, day_end) JOIN ${table} ON ${shape.from} < d.day_end GROUP BY d.day`);
  return new Map(rows.map((row) => [row.day, row.digest]));
}

/**
 * Devices nobody lists reach from their first to their last day; a day sees its own part of that. Which nodes and devices
 * are listed at all, and where the inferred ones sit, counts for every day.
 */
async function inferredDays(engine: Engine, state: DerivedState): Promise<(day: string) => string> {
  const [listed] = await engine.rows<{ digest: string | null }>(`
    SELECT CAST(bit_xor(hash(d.node_id, n.node_id IS NULL)) AS VARCHAR) AS digest
    FROM (SELECT DISTINCT node_id FROM device) d LEFT JOIN (SELECT DISTINCT node_id FROM node) n ON d.node_id = n.node_id`);
  if (state.unit('inferred', 'all')?.file == null) return () => listed?.digest ?? '';
  const rows = await engine.rows<{ what: string; from_at: string; until_at: string }>(
    `SELECT COALESCE(device_id, '') || ' ' || COALESCE(node_id, '') || ' ' || COALESCE(CAST(counted_gpus AS VARCHAR), '')
       AS what, CAST(from_at AS VARCHAR) AS from_at, CAST(until_at AS VARCHAR) AS until_at
     FROM inferred ORDER BY 1, 2`,
  );
  const [placed] = await engine.rows<{ digest: string | null }>(`
    SELECT CAST(bit_xor(hash(i.device_id, i.node_id, n.first_row)) AS VARCHAR) AS digest
    FROM inferred i LEFT JOIN (${FIRST_ROW_OF_NODE}) n ON i.node_id = n.node_id
    WHERE i.device_id IS NOT NULL AND i.node_id IS NOT NULL`);
  return (day) => {
    const [start, end] = [`${day} 00:00:00`, `${addDays(day, 1)} 00:00:00`];
    const hash = createHash('sha256').update(`${listed?.digest ?? ''} ${placed?.digest ?? ''}\n`);
    for (const row of rows) {
      if (row.from_at >= end || row.until_at <= start) continue;
      hash.update(`${row.what} ${row.from_at > start ? row.from_at : ''} ${row.until_at < end ? row.until_at : ''}\n`);
    }
    return hash.digest('hex');
  };
}

/** Machines that were handed out, on the days on which they may be there: the first job on a new one changes no day before it came. */
async function handedDays(engine: Engine, state: DerivedState): Promise<(day: string) => string> {
  if (state.unit('handed', 'all')?.file == null) return () => '';
  const rows = await engine.rows<{ what: string; from_at: string; until_at: string }>(
    `SELECT COALESCE(node_id, '') || ' ' || COALESCE(device_id, '') AS what, CAST(from_at AS VARCHAR) AS from_at,
       CAST(until_at AS VARCHAR) AS until_at
     FROM handed ORDER BY 1`,
  );
  return (day) => {
    const [start, end] = [`${day} 00:00:00`, `${addDays(day, 1)} 00:00:00`];
    const hash = createHash('sha256');
    for (const row of rows) if (row.from_at < end && row.until_at > start) hash.update(`${row.what}\n`);
    return hash.digest('hex');
  };
}

/** A node's first row as one hash; stages take dimensions from it. */
const FIRST_ROW_OF_NODE = `
  SELECT node_id, row_hash AS first_row FROM (
    SELECT node_id, hash(${textOf('node', 'present_until')}) AS row_hash,
           row_number() OVER (PARTITION BY node_id ORDER BY present_from) AS place FROM node
  ) ranked WHERE place = 1`;

/** A rate of a node can strand hours before the node's first row, so what later rows say of it counts for every day. */
async function ownedNodes(engine: Engine): Promise<string> {
  const [row] = await engine.rows<{ digest: string | null }>(`
    SELECT CAST(bit_xor(hash(o.node_id, o.gpus, o.is_kept, f.first_row)) AS VARCHAR) AS digest FROM (
      SELECT node_id, max(gpu_count) AS gpus, bool_or(purchase IN ('owned', 'committed')) AS is_kept
      FROM node WHERE node_id IN (SELECT node_id FROM rate) GROUP BY node_id) o
    JOIN (${FIRST_ROW_OF_NODE}) f ON o.node_id = f.node_id`);
  return ` ${row?.digest ?? ''}`;
}
