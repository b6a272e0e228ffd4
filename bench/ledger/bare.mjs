/**
 * The yardstick of the ledger benchmark: runs bare.sql for one day of a fleet and says what each step cost.
 *
 *   node bench/ledger/bare.mjs [--dir bench-data] [--day 2026-10-01] [--out bench-data/bare] [--check]
 *
 * Prints one JSON object: wall and CPU seconds of the whole process and of each step, and the greatest resident memory.
 * `--check` then asks, outside of what is measured, whether the entries add up to the bill and the present seconds.
 */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { DuckDBInstance } from '@duckdb/node-api';

const { values: options } = parseArgs({
  options: {
    dir: { type: 'string', default: 'bench-data' },
    day: { type: 'string' },
    out: { type: 'string' },
    check: { type: 'boolean', default: false },
  },
});
const fleet = JSON.parse(readFileSync(join(options.dir, 'fleet.json'), 'utf8'));
const day = options.day ?? fleet.start;
const out = options.out ?? join(options.dir, 'bare');
mkdirSync(out, { recursive: true });

/** @param {string} text */
const quoted = (text) => `'${text.replaceAll("'", "''")}'`;
/** @param {string} path */
const inDir = (path) => join(options.dir, path);
/** @param {number} offset @returns {string} the day so many days from the one asked for */
const dayAt = (offset) => new Date(Date.parse(`${day}T00:00:00Z`) + offset * 86_400_000).toISOString().slice(0, 10);
/** @param {string} name @param {number[]} offsets @returns {string[]} those of the neighbours' files that exist */
const neighbours = (name, offsets) =>
  offsets.map((offset) => inDir(`${name}-${dayAt(offset)}.parquet`)).filter((path) => existsSync(path));
/** @param {string[]} paths */
const list = (paths) => `[${paths.map(quoted).join(', ')}]`;

const store = join(out, `samples-${day}.parquet`);
const entries = join(out, `entries-${day}.parquet`);
/** @type {Record<string, string>} what stands between braces in the SQL */
const names = {
  day: `DATE '${day}'`,
  from: `TIMESTAMP '${day} 00:00:00'`,
  until: `TIMESTAMP '${dayAt(1)} 00:00:00'`,
  nodes: quoted(inDir('nodes.parquet')),
  devices: quoted(inDir('devices.parquet')),
  rates: quoted(inDir('rates.csv')),
  samples: quoted(inDir(`samples-${day}.parquet`)),
  allocations: list(neighbours('allocations', [0, 1])),
  charges: quoted(inDir(`charges-${day}.parquet`)),
  samples_for_level: list([store, ...neighbours('samples', [-1, -2, 1])]),
  samples_around: list([store, ...neighbours('samples', [-1, 1])]),
  store: quoted(store),
  entries: quoted(entries),
};

/** @param {string} file @returns {{ name: string, sql: string }[]} */
function stepsOf(file) {
  const text = readFileSync(new URL(file, import.meta.url), 'utf8');
  return text
    .split(/^-- step: /m)
    .slice(1)
    .map((step) => ({
      name: step.slice(0, step.indexOf('\n')),
      sql: step.slice(step.indexOf('\n')).replace(/\{([a-z_]+)\}/g, (_, /** @type {string} */ name) => {
        const value = names[name];
        if (value === undefined) throw new Error(`${file} asks for {${name}}, which nothing gives`);
        return value;
      }),
    }));
}

/** @param {NodeJS.CpuUsage} usage */
const seconds = (usage) => Number(((usage.user + usage.system) / 1e6).toFixed(3));

const instance = await DuckDBInstance.create(':memory:', {
  threads: '2',
  memory_limit: '1400MB',
  temp_directory: join(out, 'tmp'),
});
const connection = await instance.connect();
/** @type {Record<string, number>} */
const cpuSecondsByStep = {};
for (const step of stepsOf('bare.sql')) {
  const before = process.cpuUsage();
  await connection.run(step.sql);
  cpuSecondsByStep[step.name] = seconds(process.cpuUsage(before));
}
const measured = {
  day,
  gpus: fleet.gpus,
  wallSeconds: Number(process.uptime().toFixed(3)),
  cpuSeconds: seconds(process.cpuUsage()),
  peakRssMib: Math.round(process.resourceUsage().maxRSS / 1024),
  cpuSecondsByStep,
};
console.log(JSON.stringify(measured, null, 2));

if (options.check) {
  for (const step of stepsOf('bare-check.sql')) {
    const wrong = (await connection.runAndReadAll(step.sql)).getRowObjectsJson();
    console.error(wrong.length === 0 ? `ok: ${step.name}` : `WRONG: ${step.name} ${JSON.stringify(wrong.slice(0, 3))}`);
    if (wrong.length > 0) process.exitCode = 1;
  }
}
connection.closeSync();
