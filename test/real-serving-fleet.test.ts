import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { idleNow } from '../src/app/idle.ts';
import { look } from '../src/app/look.ts';
import { decideNow } from '../src/app/now.ts';
import { takeIn } from '../src/app/take-in.ts';
import { withReader } from '../src/app/workspace.ts';
import type { ReadSpace } from '../src/app/workspace.ts';

const SERIES = fileURLToPath(new URL('../../shared/data/telemetry/gentd26/', import.meta.url));
const DUTY = join(SERIES, 'pod_gpu_duty_cycle_anon_dev.csv.gz');
const MEMORY = join(SERIES, 'pod_gpu_memory_used_bytes_anon_dev.csv.gz');
const why = existsSync(DUTY) ? '' : ' (skipped: ../shared/data/telemetry/gentd26 is not here)';

/**
 * A real serving fleet: GPU duty and GPU memory of 80 pods, two files, one key, a rate of $2.50. The figures were worked out
 * from the raw rows by hand, not by the code: per pod, samples in order, each covering to the next if that is at most
 * 171 s away (three steps of 57 s), else 57 s; computing from 1 % duty on; present from the first row of either file to 57 s
 * after the last.
 */
describe.skipIf(why !== '')(`a real fleet of 80 pods, two files and a rate${why}`, () => {
  let dataDir = '';
  const reports: { rowsTaken: number; rowsSkipped: number }[] = [];
  const clock = new Date('2026-11-15T00:00:00Z');
  const ask = <T>(question: (space: ReadSpace) => Promise<T>): Promise<T> => withReader(dataDir, question);

  beforeAll(async () => {
    dataDir = join(await mkdtemp(join(tmpdir(), 'bursar-serving-')), 'data');
    const rates = join(dataDir, '..', 'rates.csv');
    await writeFile(rates, 'model,usd_per_gpu_hour\n*,2.50\n');
    const key = 'ts=timestamp_anon,device_id=container_ip';
    reports.push(
      await takeIn({ dataDir, table: 'samples', files: [DUTY], map: [`${key},util_permille=value:percent`] }),
    );
    reports.push(await takeIn({ dataDir, table: 'samples', files: [MEMORY], map: [`${key},fb_used_mib=value:bytes`] }));
    reports.push(await takeIn({ dataDir, table: 'rates', files: [rates] }));
  }, 120_000);
  afterAll(() => rm(join(dataDir, '..'), { recursive: true, force: true }));

  test('every row of both files is taken', () => {
    expect(reports.map(({ rowsTaken, rowsSkipped }) => [rowsTaken, rowsSkipped])).toEqual([
      [90_752, 0],
      [93_598, 0],
      [1, 0],
    ]);
  });

  test('what was paid, and what became of it', async () => {
    const answer = await ask((space) => look(space, { window: 'all', clock }));
    expect(answer.asOf).toEqual(new Date('2022-09-12T00:00:57Z'));
    expect(answer.paidUsdMicros).toBe(3_731_758_312n);
    expect(answer.categories.computing.gpuUnits / 63_000n).toBe(1_586_595n);
    expect(answer.categories.idle.gpuUnits / 63_000n).toBe(3_736_920n);
    expect(answer.categories.unknown.gpuUnits / 63_000n).toBe(50_217n);
    expect(answer.categories.unallocated.gpuUnits).toBe(0n); // Nobody said that these GPUs are free.
    expect(answer.computeShareHoursPermille).toBe(298); // 1,586,595 of 5,323,515 known seconds.
  });

  test('who is idle now, since when', async () => {
    const answer = await ask((space) => idleNow(space, decideNow(undefined, space.scope?.horizon, clock)));
    expect(answer.holdings).toHaveLength(66);
    const longest = answer.holdings.find((row) => row.devices.includes('41f81ea9810a29e8ba32801ef7d30271'));
    expect(longest?.idleSince).toEqual(new Date('2022-09-11T18:58:51Z'));
    expect(longest?.usdMicrosSoFar).toBe(12_587_499n); // 18,126 s at $2.50: 12,587,500, less the cut of each hour.
    expect(longest?.usdMicrosPerHour).toBe(2_500_000n);
  });
});
