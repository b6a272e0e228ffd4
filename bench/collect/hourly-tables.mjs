/** The hourly average of each GPU over a day: what people would do instead, and what it gives. */
import { spawnSync } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { filledPrometheus, serverCpuSeconds, stopPrometheus } from './lab-prometheus.mjs';
import { deviceId, madeFleet } from './made-fleet.mjs';

const GPUS = 500;
const METRIC = 'DCGM_FI_PROF_GR_ENGINE_ACTIVE';
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const POD_MS = 40 * 60_000;
const STEP_MS = 30_000;
const FROM_MS = Date.parse('2026-03-02T00:00:00Z');

/** As people write it, and as it has to be written where a GPU is several series in an hour. */
const QUERIES = {
  'avg by (UUID) (avg_over_time(…[1h]))': `avg by (UUID) (avg_over_time(${METRIC}[1h]))`,
  'sum_over_time ÷ count_over_time': `sum by (UUID) (sum_over_time(${METRIC}[1h])) / sum by (UUID) (count_over_time(${METRIC}[1h]))`,
};

/** The fleet pod after pod, so that the server takes the samples in the order of their time. */
function* pods() {
  for (let pod = 0; pod * POD_MS < DAY_MS; pod += 1) {
    const fromMs = FROM_MS + pod * POD_MS;
    yield madeFleet({ gpus: GPUS, metrics: [METRIC], fromMs, untilMs: fromMs + POD_MS, stepMs: STEP_MS, pod });
  }
}

/** @typedef {Map<string, number>} Table by `GPU hour` */

/** @returns {Table} */
function truth() {
  /** @type {Map<string, { sum: number, count: number }>} */
  const cells = new Map();
  for (const part of pods()) {
    for (const { labels, timesMs, values } of part) {
      for (const [place, timeMs] of timesMs.entries()) {
        const key = `${labels['UUID']} ${Math.floor((timeMs - FROM_MS) / HOUR_MS)}`;
        const cell = cells.get(key) ?? { sum: 0, count: 0 };
        cells.set(key, { sum: cell.sum + (values[place] ?? 0), count: cell.count + 1 });
      }
    }
  }
  return new Map([...cells].map(([key, { sum, count }]) => [key, sum / count]));
}

/** @param {string} url @param {string} query @returns {Promise<Table>} */
async function byPromql(url, query) {
  const params = new URLSearchParams({
    query,
    // The hour before each full hour.
    start: String((FROM_MS + HOUR_MS) / 1000),
    end: String((FROM_MS + DAY_MS) / 1000),
    step: '3600',
  });
  const answer = await fetch(`${url}/api/v1/query_range`, { method: 'POST', body: params });
  /** @type {{ data: { result: { metric: Record<string, string>, values: [number, string][] }[] } }} */
  const { data } = JSON.parse(await answer.text());
  return new Map(
    data.result.flatMap(({ metric, values }) =>
      values.map(([second, value]) => [
        `${metric['UUID']} ${Math.round((second * 1000 - FROM_MS) / HOUR_MS) - 1}`,
        Number(value),
      ]),
    ),
  );
}

/** What Bursar collected, averaged. @param {string} dataDir @returns {Promise<Table>} */
async function byBursar(dataDir) {
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  const files = readdirSync(join(dataDir, 'gpu_sample'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.parquet'),
  );
  const list = files.map((name) => `'${join(dataDir, 'gpu_sample', name)}'`).join(', ');
  const found = await connection.runAndReadAll(`
    SELECT device_id, date_diff('hour', TIMESTAMP '${new Date(FROM_MS).toISOString().slice(0, 19)}', date_trunc('hour', ts)),
           avg(engine_permille) / 1000 FROM read_parquet([${list}]) GROUP BY 1, 2`);
  return new Map(found.getRows().map(([device, hour, value]) => [`${String(device)} ${String(hour)}`, Number(value)]));
}

/** @param {Table} table @param {Table} right */
function wrongness(table, right) {
  const errors = [...right].map(([key, value]) => Math.abs((table.get(key) ?? NaN) - value));
  const known = errors.filter((error) => !Number.isNaN(error));
  return {
    gpuHours: right.size,
    missing: errors.length - known.length,
    offByMoreThanOnePoint: known.filter((error) => error > 0.01).length,
    meanErrorPoints: Number(((known.reduce((sum, error) => sum + error, 0) / known.length) * 100).toFixed(2)),
    greatestErrorPoints: Number((Math.max(...known) * 100).toFixed(2)),
  };
}

/** @param {string} dir @param {string} product */
export async function hourlyTables(dir, product) {
  const url = await filledPrometheus(dir, pods());
  const data = `${dir}-data`;
  const right = truth();
  if (!right.has(`${deviceId(0)} 23`)) throw new Error('the fleet has no last hour');
  /** @type {Record<string, unknown>} */
  const figures = {};
  try {
    for (const [name, query] of Object.entries(QUERIES)) {
      const [server, begun, own] = [await serverCpuSeconds(url), performance.now(), process.cpuUsage()];
      const table = await byPromql(url, query);
      const { user, system } = process.cpuUsage(own);
      figures[name] = {
        wallSeconds: Number(((performance.now() - begun) / 1000).toFixed(2)),
        clientCpuSeconds: Number(((user + system) / 1e6).toFixed(2)),
        serverCpuSeconds: Number(((await serverCpuSeconds(url)) - server).toFixed(2)),
        ...wrongness(table, right),
      };
    }
    rmSync(data, { recursive: true, force: true });
    const server = await serverCpuSeconds(url);
    const args = [product, 'write', url, String(FROM_MS), String(FROM_MS + DAY_MS), data];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    if (status !== 0) throw new Error(`${stdout}${stderr}`);
    const { cpuSeconds, wallSeconds, peakRssMib, rows } = JSON.parse(stdout);
    const serverSeconds = (await serverCpuSeconds(url)) - server;
    figures['collected by Bursar, every sample kept'] = {
      wallSeconds: Number(wallSeconds.toFixed(2)),
      clientCpuSeconds: Number(cpuSeconds.toFixed(2)),
      serverCpuSeconds: Number(serverSeconds.toFixed(2)),
      peakRssMib,
      rows,
      ...wrongness(await byBursar(data), right),
    };
  } finally {
    stopPrometheus(dir);
  }
  return { gpus: GPUS, samples: GPUS * (DAY_MS / STEP_MS), podMinutes: POD_MS / 60_000, ...figures };
}
