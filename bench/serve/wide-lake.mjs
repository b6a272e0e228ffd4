/**
 * A ledger of many GPUs and days, made of a small one: to derive 10,000 GPUs × 90 days takes hours, to copy rows under other names
 * minutes. Every copy is machines and jobs of its own; earlier months are the same machines with other jobs.
 *
 * What is not copied: samples and bills, which no page reads. Sums against the bills are therefore off in such a folder.
 */
import { cpSync, existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { DatabaseSync } from '@photostructure/sqlite';
import { BENCH_DATA, bursar } from '../demo/run.mjs';

const BASE_GPUS = 250;
const BASE_DAYS = 30;
const DAY_MS = 86_400_000;
/** Read for windows of months; of the others the newest month is enough. */
const LONG = new Set([
  'spend_day',
  'profile',
  'subject',
  'subject_day',
  'stint_day',
  'life_day',
  'node_day',
  'bare_time',
  'waterfall',
  'service_day',
  'service_hour',
  'holding',
]);
/** Read of the newest days only, by questions about now; older days stay as they are. */
const NEWEST = new Set([
  'run',
  'held',
  'ledger_entry',
  'estimate_hour',
  'presence',
  'pause',
  'fate',
  'begun',
  'seen',
  'checkpoint',
]);
const NEWEST_DAYS = 3;
const LEFT_AS_THEY_ARE = new Set(['charge', 'gpu_sample', 'fx_rate', 'rate', 'price']);
const MACHINE = new Set(['node_id', 'device_id', 'root_device_id', 'parent_device_id', 'resource_id']);

/**
 * @typedef {InstanceType<typeof DatabaseSync>} State
 * @typedef {{ path: string, table: string, partition: string, rows: number, bytes: number, contentHash: string }} LakeFile
 * @typedef {{ table: string, unit: string, file: LakeFile | null }} DerivedUnit
 */

/** @param {number} gpus @param {number} days @param {string | undefined} base @returns {Promise<string>} the folder; made once and kept */
export async function wideLake(gpus, days, base) {
  const out = join(BENCH_DATA, `serve-${gpus}x${days}`);
  if (existsSync(out)) return out;
  const from = base ?? (await baseLake());
  const making = `${out}.making`;
  rmSync(making, { recursive: true, force: true });
  mkdirSync(making, { recursive: true });
  for (const ending of ['', '-wal']) {
    if (existsSync(join(from, `state.sqlite${ending}`)))
      cpSync(join(from, `state.sqlite${ending}`), join(making, `state.sqlite${ending}`));
  }
  const state = new DatabaseSync(join(making, 'state.sqlite'));
  const copies = Math.ceil(gpus / BASE_GPUS);
  const months = Math.ceil(days / BASE_DAYS);
  const instance = await DuckDBInstance.create(':memory:', { threads: '2', memory_limit: '2GB' });
  const engine = await instance.connect();
  const widen = widenerOf(engine, from, making, copies);
  await widenDerived(state, from, making, widen, months);
  await widenFacts(state, from, making, widen, months);
  engine.closeSync();
  state.close();
  renameSync(making, out);
  return out;
}

/** @returns {Promise<string>} */
async function baseLake() {
  const out = join(BENCH_DATA, 'serve-base');
  if (existsSync(join(out, 'state.sqlite'))) return out;
  console.error(`deriving ${BASE_GPUS} GPUs × ${BASE_DAYS} days, which the rest is copied from`);
  await bursar([
    'demo',
    '--out',
    out,
    '--gpus',
    String(BASE_GPUS),
    '--days',
    String(BASE_DAYS),
    '--until',
    '2026-11-01',
    '--seed',
    '11',
  ]);
  return out;
}

/**
 * @param {import('@duckdb/node-api').DuckDBConnection} engine @param {string} from @param {string} to @param {number} copies
 * @returns {(source: string, target: string, month: number) => Promise<{ rows: number, bytes: number }>}
 */
function widenerOf(engine, from, to, copies) {
  const list = Array.from({ length: copies }, (_, copy) => `(${copy})`).join(', ');
  return async (source, target, month) => {
    const path = join(to, target);
    mkdirSync(dirname(path), { recursive: true });
    const relation = `read_parquet('${join(from, source)}', hive_partitioning = false)`;
    const columns = (await engine.runAndReadAll(`DESCRIBE SELECT * FROM ${relation}`)).getRowObjects();
    const names = columns.map(
      ({ column_name: name, column_type: type }) =>
        `${expression(String(name), String(type), month)} AS "${String(name)}"`,
    );
    const sorted = ['subject', 'device_id', 'profile_no'].find((name) =>
      columns.some((column) => column['column_name'] === name),
    );
    const result = await engine.runAndReadAll(
      `COPY (SELECT ${names.join(', ')} FROM ${relation} b CROSS JOIN (VALUES ${list}) c(copy)${sorted === undefined ? '' : ` ORDER BY "${sorted}"`})
       TO '${path}' (FORMAT parquet, COMPRESSION zstd)`,
    );
    return { rows: Number(result.getRows()[0]?.[0] ?? 0), bytes: statSync(path).size };
  };
}

/** @param {string} name @param {string} type @param {number} month @returns {string} the column in a copy */
function expression(name, type, month) {
  const machine = `CASE WHEN copy = 0 THEN '' ELSE 'c' || copy || '-' END`;
  const job = `CASE WHEN copy = 0 AND ${month} = 0 THEN '' ELSE 'c' || copy || 'm${month}-' END`;
  if (MACHINE.has(name)) return `${machine} || b."${name}"`;
  if (name === 'allocation_id' || name === 'work_id') return `${job} || b.${name}`;
  // As `text_digest` has it: a copy's holders are others, and so are their numbers.
  if (name === 'subject_key')
    return `CAST(CAST('0x' || substr(md5(${expression('subject', 'VARCHAR', month)}), 1, 16) AS UBIGINT) // 2 AS BIGINT)`;
  if (name === 'profile_no') return `xor(b.profile_no, copy::BIGINT)`;
  if (name === 'subject') {
    return `CASE WHEN b.subject LIKE 'job %' THEN regexp_replace(b.subject, '^(job [^/]+/)', '\\1' || ${job})
                 WHEN b.subject LIKE 'bill %' THEN b.subject ELSE regexp_replace(b.subject, '^(\\w+ )', '\\1' || ${machine}) END`;
  }
  if (type === 'DATE' || type.startsWith('TIMESTAMP'))
    return `CAST(b."${name}" - INTERVAL ${month * BASE_DAYS} DAY AS ${type})`;
  return `b."${name}"`;
}

/**
 * @param {State} state @param {string} from @param {string} to @param {ReturnType<typeof widenerOf>} widen @param {number} months
 */
async function widenDerived(state, from, to, widen, months) {
  const units = state
    .prepare('SELECT value_json FROM derived')
    .all()
    .map((row) => /** @type {DerivedUnit} */ (JSON.parse(String(row['value_json']))));
  const newest =
    units
      .flatMap(({ table, unit }) => (table === 'waterfall' ? [unit] : []))
      .toSorted()
      .at(-1) ?? '';
  const put = state.prepare('INSERT OR REPLACE INTO derived VALUES (?, ?, ?)');
  const list = state.prepare("INSERT OR REPLACE INTO file VALUES (?, 'derived', ?, ?)");
  for (const unit of units) {
    const { table, file } = unit;
    if (file === null) continue;
    const isOld = NEWEST.has(table) && unit.unit <= shifted(newest, NEWEST_DAYS / BASE_DAYS);
    const isDay = !isOld && /^\d{4}-\d\d-\d\d$/.test(unit.unit);
    for (let month = 0; month < (isDay && LONG.has(table) ? months : 1); month++) {
      const day = isDay ? shifted(unit.unit, month) : unit.unit;
      const path = isDay ? `${table}/day=${day}/wide.parquet` : file.path;
      if (isOld) {
        cpSync(join(from, path), join(to, path), { recursive: true });
        continue;
      }
      const { rows, bytes } = await widen(file.path, path, month);
      put.run(
        table,
        day,
        JSON.stringify({
          ...unit,
          unit: day,
          file: { ...file, path, partition: isDay ? day : file.partition, rows, bytes },
        }),
      );
      list.run(path, table, day);
      if (path !== file.path)
        state.prepare("DELETE FROM file WHERE path = ? AND owner_kind = 'derived'").run(file.path);
    }
    if (unit.unit.endsWith('-15')) console.error(`${table} ${unit.unit}`);
  }
}

/**
 * The lists of machines and jobs, under the paths and hashes they had: what the ledger is of does not change by it.
 * @param {State} state @param {string} from @param {string} to @param {ReturnType<typeof widenerOf>} widen @param {number} months
 */
async function widenFacts(state, from, to, widen, months) {
  const put = state.prepare('UPDATE batch SET value_json = ? WHERE table_name = ? AND name = ?');
  for (const row of state.prepare('SELECT table_name, name, value_json FROM batch').all()) {
    const batch = JSON.parse(String(row['value_json']));
    const table = String(row['table_name']);
    for (const { path } of /** @type {LakeFile[]} */ (batch.files)) {
      if (!LEFT_AS_THEY_ARE.has(table)) await widen(path, path, 0);
      else cpSync(join(from, path), join(to, path), { recursive: true });
    }
    const back = (months - 1) * BASE_DAYS;
    const firstAt =
      typeof batch.firstAt === 'string'
        ? `${shifted(batch.firstAt.slice(0, 10), back / BASE_DAYS)}${batch.firstAt.slice(10)}`
        : batch.firstAt;
    put.run(JSON.stringify({ ...batch, firstAt }), table, String(row['name']));
  }
}

/** @param {string} day @param {number} month @returns {string} */
function shifted(day, month) {
  return new Date(Date.parse(day) - month * BASE_DAYS * DAY_MS).toISOString().slice(0, 10);
}
