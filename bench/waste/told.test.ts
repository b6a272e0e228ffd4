import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDuck } from '../demo/duck.mjs';
import { scoresOf } from './score.mjs';
import { openTold } from './told.mjs';

const HEADER = 'device_id,ts,step_s,engine_permille,sm_permille,util_permille\n';
/** One holder, one hour, one dollar, all of it idle. */
const TRUTH = `from,until,source,allocation_id,attempt,node_id,device_id,share_units,reason,category,seconds,usd
2026-10-31T00:00:00Z,2026-10-31T01:00:00Z,slurm,1,0,n1,d1,63000,never-touched,idle,3600,1.000000
`;

let data = '';
beforeAll(async () => {
  data = mkdtempSync(join(tmpdir(), 'bursar-bench-told-'));
  mkdirSync(join(data, 'files'));
  mkdirSync(join(data, 'tables/waterfall'), { recursive: true });
  writeFileSync(join(data, 'files/truth.csv'), TRUTH);
  writeFileSync(join(data, 'files/devices.csv'), 'device_id,node_id,share_units\nd1,n1,63000\n');
  writeFileSync(join(data, 'files/second-exporter.csv'), HEADER);
  const duck = await openDuck();
  await duck.run(`COPY (SELECT 'd1' AS device_id, '1' AS allocation_id, 'slurm' AS source, 0 AS attempt,
      TIMESTAMP '2026-10-31' AS hour_start, 'idle' AS category, NULL::VARCHAR AS reason, 'job slurm/1/0' AS subject,
      1000000 AS usd_micros, 'held' AS disposition) TO '${join(data, 'tables/waterfall/one.parquet')}'`);
});
afterAll(() => rmSync(data, { recursive: true }));

describe('the naive rule', () => {
  it.each([
    { name: 'goes by GPU_UTIL', util: '10', engine: '900', want: 1 },
    { name: 'goes by the engine where there is no GPU_UTIL, as on a slice', util: '', engine: '10', want: 1 },
    { name: 'calls a slice that works not idle', util: '', engine: '900', want: 0 },
    { name: 'says nothing of what sends neither', util: '', engine: '', want: 0 },
  ])('$name', async ({ util, engine, want }) => {
    writeFileSync(
      join(data, 'files/samples-2026-10-31.csv'),
      `${HEADER}d1,2026-10-31T00:00:00Z,300,${engine},,${util}\n`,
    );
    expect((await scoresOf(await openTold(data))).idleReasons).toEqual([
      { reason: 'never-touched', usd: 1, found: 1, naive: want },
    ]);
  });
});
