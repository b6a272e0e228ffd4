/** A DuckDB of the benchmark's own, which knows nothing of how Bursar reads the same files. */
import { DuckDBInstance } from '@duckdb/node-api';

/** @typedef {{ [column: string]: unknown }} Row */
/** @typedef {{ run: (sql: string) => Promise<void>, rows: (sql: string) => Promise<Row[]>, one: (sql: string) => Promise<Row> }} Duck */

/** @returns {Promise<Duck>} */
export async function openDuck() {
  const instance = await DuckDBInstance.create(':memory:', { threads: '2', memory_limit: '2GB' });
  const connection = await instance.connect();
  await connection.run(`SET TimeZone = 'UTC'`);
  const rows = async (/** @type {string} */ sql) => (await connection.runAndReadAll(sql)).getRowObjectsJson();
  return {
    rows,
    run: async (sql) => {
      await connection.run(sql);
    },
    one: async (sql) => {
      const [row] = await rows(sql);
      if (row === undefined) throw new Error(`no row: ${sql}`);
      return row;
    },
  };
}

/** Every cell as text; what is a number is said where it is used. @param {string} path */
export const csv = (path) => `read_csv('${path}', header = true, all_varchar = true)`;

/** The value below which `place` of them lie. @param {readonly number[]} sorted ascending @param {number} place 0 to 1 */
export function quantile(sorted, place) {
  const at = place * (sorted.length - 1);
  const [low, high] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]];
  return low === undefined || high === undefined ? Number.NaN : low + (high - low) * (at - Math.floor(at));
}

/** The greatest distance between two distribution functions (Kolmogorov and Smirnov). @param {readonly number[]} a sorted @param {readonly number[]} b sorted */
export function greatestDistance(a, b) {
  let [i, j, distance] = [0, 0, 0];
  while (i < a.length && j < b.length) {
    const value = Math.min(a[i] ?? Infinity, b[j] ?? Infinity);
    while (i < a.length && (a[i] ?? Infinity) <= value) i += 1;
    while (j < b.length && (b[j] ?? Infinity) <= value) j += 1;
    distance = Math.max(distance, Math.abs(i / a.length - j / b.length));
  }
  return distance;
}
