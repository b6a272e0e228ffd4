/**
 * A year of 10,000 GPUs as `bursar spend` sees it, made up: 365 days of `profile`, `subject` and `spend_day`, listed in a real
 * manifest. The facts below them are two samples, so that the ledger has its days; nothing else of the ledger is there.
 *
 * A day: 600 people in 40 teams with 4 kinds of jobs each, a fifth of them without a label or account; 600 machines with empty hours;
 * 60 resources and bills. On a day a seventh of the profiles are ones that were not there for a week, and are listed. Each kind of job has cost in 3 categories, half of them on two models of GPUs.
 */
import { createHash } from 'node:crypto';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { importFiles } from '../../src/app/import.ts';
import { deriveLedger, withWriter } from '../../src/app/workspace.ts';
import type { WriteSpace } from '../../src/app/workspace.ts';
import type { DerivedUnit } from '../../src/facts/manifest.ts';
import { quote } from '../../src/lake/engine.ts';
import { profile } from '../../src/ledger/profile.ts';
import { spendDay } from '../../src/ledger/spend-day.ts';

const [dataDir = '', dayCount = '365'] = process.argv.slice(2);
const FIRST = Date.UTC(2025, 10, 1);
const DAY_MS = 86_400_000;
const days = Array.from({ length: Number(dayCount) }, (_, index) =>
  new Date(FIRST + index * DAY_MS).toISOString().slice(0, 10),
);

const NONE = 'CAST(NULL AS VARCHAR)';

/** Profiles of any day, before the day's number is put in. */
const PROFILES = `
  SELECT 'job' AS what, 'kubernetes' AS source, 'c' || u % 5 AS cluster,
         CASE WHEN u % 2 = 0 THEN CASE WHEN k % 5 = 4 THEN 'default' ELSE 'team-' || u % 40 END END AS namespace,
         CASE WHEN u % 2 = 1 AND k % 5 <> 4 THEN 'team-' || u % 40 END AS account, 'user-' || u AS user_name,
         ['Job', 'PyTorchJob', 'Notebook', 'Deployment'][1 + k % 4] AS workload_kind, 'kind-' || k % 4 || '-of-' || u % 40 || '-0' AS workload_stem,
         ${NONE} AS provider, ${NONE} AS cloud_account, ${NONE} AS sub_account, ${NONE} AS service, ${NONE} AS region,
         ${NONE} AS resource_id, ${NONE} AS resource_name, ${NONE} AS node_id, ${NONE} AS state,
         CASE WHEN u % 4 = 0 AND k % 5 <> 4 THEN map(['app', 'team', 'version'], ['app-' || k, 'team-' || u % 40, 'v' || u % 3])
              WHEN u % 4 = 1 THEN map(['app', 'class'], ['app-' || k, 'training']) END AS labels,
         CAST(NULL AS MAP(VARCHAR, VARCHAR)) AS tags
  FROM (SELECT range AS u FROM range(600)) users, (SELECT range AS k FROM range(4)) kinds
  UNION ALL
  SELECT 'node', NULL, 'c' || n % 5, NULL, NULL, NULL, NULL, NULL, 'AWS', '123456789012', NULL, 'Compute', 'us-east-1', 'i-' || n, NULL,
         'gpu-' || n, CASE WHEN n % 50 = 0 THEN 'spare' ELSE 'up' END, NULL, map(['team', 'environment'], ['team-' || n % 40, 'prod'])
  FROM (SELECT range AS n FROM range(600)) nodes
  UNION ALL
  SELECT CASE WHEN r < 2 THEN 'bill' ELSE 'resource' END, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'AWS', '123456789012', NULL,
         CASE WHEN r >= 2 THEN 'Block Storage' END, NULL, CASE WHEN r >= 2 THEN 'vol-' || r END, NULL, NULL, NULL, NULL, NULL
  FROM (SELECT range AS r FROM range(60)) resources`;

const SPEND = `
  SELECT p.profile_no, p.cluster, 'model-' || (p.place + m) % 6 AS model, 'on-demand' AS purchase, 'AWS' AS provider,
         '123456789012' AS account, 'us-east-1' AS region,
         CASE WHEN p.what = 'job' THEN ['unknown', 'idle', 'computing'][1 + c] WHEN p.what = 'node' THEN 'unallocated' ELSE 'beside' END AS category,
         CASE WHEN p.what IN ('job', 'node') THEN 'gpu' ELSE 'storage' END AS component, 'billed' AS basis, 'AWS|123456789012|month' AS bill_id,
         CAST((p.place * 7919 + c * 104729 + m * 1299709) % 90000000 AS BIGINT) AS usd_micros,
         CAST((p.place * 7919 + c * 104729 + m * 1299709) % 90000000 AS BIGINT) AS marginal_usd_micros,
         CAST(CASE WHEN p.what IN ('job', 'node') THEN (p.place * 31 + c) * 63000 * 7 ELSE 0 END AS BIGINT) AS gpu_units,
         CAST(0 AS BIGINT) AS unpriced_units
  FROM made_profile p, (SELECT range AS c FROM range(3)) c, (SELECT range AS m FROM range(2)) m
  WHERE (p.what = 'job' OR c = 0) AND (m = 0 OR (p.what = 'job' AND p.place % 2 = 0))`;

await withWriter(dataDir, 'bench', async (space) => {
  const at = (time: number): string => new Date(time).toISOString().replace('.000', '');
  const end = FIRST + days.length * DAY_MS;
  const file = join(dataDir, 'two-samples.csv');
  await writeFile(file, `device_id,ts,step_s,util_permille\ng1,${at(FIRST)},60,0\ng1,${at(end - 60_000)},60,0\n`);
  await importFiles({ ...space, table: 'samples', files: [file] });
  await deriveLedger(space);
  await space.engine.run(`CREATE TEMP TABLE made_profile AS
    SELECT row_number() OVER () AS place, CAST(hash(row_number() OVER ()) >> 1 AS BIGINT) AS profile_no, 'job kubernetes/example/0' AS example, *
    FROM (${PROFILES}) p`);
  await space.engine.run(`CREATE TEMP TABLE made_spend AS ${SPEND}`);
  const known = new Map(space.manifest.snapshot().derived.map((unit) => [`${unit.table} ${unit.unit}`, unit]));
  const setDerived: DerivedUnit[] = [];
  for (const day of days) {
    for (const [stage, table] of [
      [profile, 'made_profile'],
      [spendDay, 'made_spend'],
    ] as const) {
      const unit = known.get(`${stage.name} ${day}`);
      if (unit === undefined) throw new Error(`${stage.name} has no ${day}`);
      setDerived.push({ ...unit, file: await written(space, stage, table, day) });
    }
  }
  space.manifest.commit({ setDerived, dropDerived: [] });
});

/** Of profiles those that are new, and all on the first of a month. */
function listedSql(day: string): string {
  return day.endsWith('-01') || day === days[0] ? '' : ` WHERE place % 7 = ${Number(day.slice(8)) % 7}`;
}

async function written(
  space: WriteSpace,
  stage: typeof profile,
  table: string,
  day: string,
): Promise<DerivedUnit['file']> {
  const path = `${stage.name}/day=${day}/made.parquet`;
  const full = join(dataDir, path);
  await mkdir(dirname(full), { recursive: true });
  const where = stage === profile ? listedSql(day) : '';
  const columns = stage.writes.map(([name, type]) =>
    name === 'day' ? `DATE '${day}' AS day` : `CAST(${name} AS ${type}) AS ${name}`,
  );
  const [copied] = await space.engine.rows<{ Count: bigint }>(
    `COPY (SELECT ${columns.join(', ')} FROM ${table}${where} ORDER BY ${stage.orderBy}) TO ${quote(full)} (FORMAT parquet, COMPRESSION zstd, PARQUET_VERSION V2)`,
  );
  const contentHash = createHash('sha256')
    .update(await readFile(full))
    .digest('hex');
  return {
    path,
    table: stage.name,
    partition: day,
    rows: Number(copied?.Count ?? 0n),
    bytes: (await stat(full)).size,
    contentHash,
  };
}
