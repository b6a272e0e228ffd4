import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Engine } from '../src/lake/engine.ts';
import { printed } from './demo/bursar-command.ts';
import { openFiles } from './demo/file-tables.ts';
import { FILES_OFFENCES } from './demo/offences.ts';

const THIRTY_DAYS = { from: Date.UTC(2026, 9, 2) / 1000, until: Date.UTC(2026, 10, 1) / 1000 };

/** Samples at a moment, and whether the machine was there and not down. */
const SAMPLED = `
  state AS (
    SELECT node_id, state, present_from AS from_s,
           COALESCE(lead(present_from) OVER (PARTITION BY node_id ORDER BY present_from), present_until, last_s) AS until_s
    FROM node_row, span),
  heard AS (
    SELECT node_id, epoch(CAST(ts AS TIMESTAMP)) AS at_s FROM sample JOIN device USING (device_id)),
  gap AS (
    SELECT node_id, at_s AS from_s, lead(at_s) OVER (PARTITION BY node_id ORDER BY at_s) AS until_s
    FROM (SELECT DISTINCT node_id, at_s FROM heard))`;

/** What newcomers are promised to meet: each of these has to find something. */
const WONDERS: Readonly<Record<string, string>> = {
  'MIG slices, held by pods and sampled by themselves': `
    SELECT * FROM device d JOIN allocation a USING (device_id) JOIN sample s USING (device_id)
    WHERE d.kind = 'mig' AND a.isolation = 'mig' AND s.engine_permille IS NOT NULL AND s.power_w IS NULL`,
  'a GPU that two pods share in time, with a sample for each of them': `
    SELECT device_id, ts FROM sample JOIN device USING (device_id) GROUP BY ALL HAVING count(*) > 1
      AND device_id IN (SELECT a.device_id FROM allocation a JOIN allocation b USING (device_id)
        WHERE a.isolation = 'time-slice' AND a.allocation_id < b.allocation_id
          AND a.held_from < b.held_until AND b.held_from < a.held_until)`,
  'spot machines that go, work that is taken away with them, and others in their place': `
    SELECT * FROM node_row n JOIN allocation a USING (node_id), span
    WHERE n.purchase = 'spot' AND n.present_until < last_s AND a.outcome = 'preempted' AND a.held_until = n.present_until
      AND EXISTS (SELECT * FROM node_row m WHERE m.pool = n.pool AND m.present_from > n.present_until)`,
  'a machine that breaks under a job, and one that is taken out of service': `
    SELECT * FROM node_row n JOIN allocation a USING (node_id)
    WHERE n.state = 'down' AND a.outcome = 'node-fail' AND a.held_until = n.present_from
      AND EXISTS (FROM node_row WHERE state = 'drained')`,
  'a blank of the driver, a number near 2^63': `FROM sample WHERE engine_permille = '9223372036854775794'`,
  'an exporter that is dead for hours on a machine that is up': `
    WITH ${SAMPLED}
    SELECT * FROM gap JOIN state USING (node_id) WHERE state.state = 'up' AND gap.until_s - gap.from_s > 3 * 3600
      AND state.from_s <= gap.from_s AND state.until_s >= gap.until_s`,
  'a second exporter, half a step later': `
    WITH ${SAMPLED}
    SELECT * FROM heard a JOIN heard b ON b.node_id = a.node_id AND b.at_s = a.at_s + 900`,
  'a machine without profiling fields': `
    SELECT node_id FROM sample JOIN device USING (device_id) WHERE kind = 'gpu' GROUP BY node_id
    HAVING count(engine_permille) = 0 AND count(util_permille) > 0`,
  'a clock that is off': `SELECT * FROM sample WHERE CAST(epoch(CAST(ts AS TIMESTAMP)) AS BIGINT) % 900 <> 0`,
  'a profiler that zeroes what others see': `
    SELECT * FROM sample WHERE CAST(util_permille AS BIGINT) > 500 AND engine_permille = '0' AND sm_permille = '0'`,
  'a first issue and the bill that replaces it': `
    SELECT * FROM (SELECT count(*) AS n FROM first_charge), (SELECT count(*) AS m FROM charge) WHERE n BETWEEN 1 AND m - 1`,
  'a bill in euros, by the day': `
    FROM charge WHERE BillingCurrency = 'EUR' AND ResourceId IS NOT NULL AND until_s - from_s = 86400`,
  'a correction': `FROM charge WHERE ChargeClass = 'Correction' AND effective < 0`,
  'a commitment that is used and unused': `
    FROM charge a JOIN charge b USING (CommitmentDiscountId)
    WHERE a.CommitmentDiscountStatus = 'Used' AND b.CommitmentDiscountStatus = 'Unused'`,
  'storage, data sent out, support, tax and a credit': `
    SELECT * FROM (SELECT count(DISTINCT reason) AS n FROM truth
                   WHERE reason IN ('storage', 'egress', 'support', 'tax', 'credit')) WHERE n = 5`,
  'hardware one owns, by a stated rate': `FROM node_row JOIN rate USING (node_id) WHERE purchase = 'owned'`,
  'H100, A100, L4 and T4': `
    SELECT * FROM (SELECT count(DISTINCT regexp_extract(model, 'H100|A100|L4|T4')) AS n FROM node_row) WHERE n = 4`,
  'Slurm, Kubernetes, and machines of which nobody keeps a list': `
    SELECT * FROM (SELECT count(DISTINCT source) AS n FROM allocation),
      (SELECT count(*) AS m FROM node_row WHERE cluster NOT IN (SELECT cluster FROM allocation)) WHERE n = 2 AND m > 0`,
  'a pod without a team': `FROM allocation WHERE source = 'kubernetes' AND namespace = 'default' AND labels IS NULL`,
  'a job that was tried again': `FROM allocation WHERE attempt <> '0' AND outcome = 'completed'`,
  'jobs of Slurm and pods of Kubernetes that wait when it ends': `
    SELECT * FROM (SELECT count(DISTINCT source) AS n FROM waiting) WHERE n = 2`,
  'a job that waits while GPUs of its machines stand empty': `
    SELECT * FROM allocation a JOIN node_row n ON n.node_id = a.node_id
    JOIN node_row o ON o.pool = n.pool JOIN truth t ON t.node_id = o.node_id AND t.reason = 'empty'
    WHERE epoch(CAST(a.submitted_at AS TIMESTAMP)) + 600 < a.held_from
      AND t."from" < a.held_from AND t."until" > epoch(CAST(a.submitted_at AS TIMESTAMP)) + 600`,
};

/** Reasons that need luck of the draw in thirty days are left out; everything else of the world file must come up. */
const RARE = new Set(['failed-for-good']);

describe('the demo as newcomers meet it, with a sample every half hour', () => {
  let folder = '';
  let engine: Engine;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'bursar-demo-size-'));
    await printed('demo', '--only-files', '--step', '30m', '--out', folder);
    engine = await openFiles(join(folder, 'files'), THIRTY_DAYS);
    const samples = `['${join(folder, 'files/samples-*.csv')}', '${join(folder, 'files/second-exporter.csv')}']`;
    await engine.run(`CREATE TABLE sample AS SELECT * FROM read_csv(${samples}, all_varchar = true, header = true)`);
  }, 120_000);
  afterAll(() => {
    engine.close();
    rmSync(folder, { recursive: true });
  });

  it.each(Object.entries(FILES_OFFENCES))('%s', async (_, { asks }) => expect(await engine.rows(asks)).toEqual([]));

  it.each(Object.entries(WONDERS))('has %s', async (_, sql) => {
    expect(await engine.rows(`SELECT 1 FROM (${sql}) LIMIT 1`)).toHaveLength(1);
  });

  it('has every reason of the world file', async () => {
    const missing = await engine.rows<{ reason: string }>(
      'SELECT reason FROM reason WHERE reason NOT IN (SELECT reason FROM truth) ORDER BY reason',
    );
    expect(missing.map(({ reason }) => reason).filter((reason) => !RARE.has(reason))).toEqual([]);
  });
});
