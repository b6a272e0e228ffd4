import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ImportFolder } from '../../test/import-folder.ts';
import { importFolder } from '../../test/import-folder.ts';

const DATA = fileURLToPath(new URL('../../../shared/data/', import.meta.url));

describe.skipIf(!existsSync(DATA))('real series (../shared/data; skipped where it is missing)', () => {
  let folder: ImportFolder;
  beforeEach(async () => {
    folder = await importFolder();
  });
  afterEach(() => folder.remove());

  it('duty and memory of a serving fleet, two files, one key', async () => {
    const file = (name: string): string => join(DATA, 'telemetry/gentd26', `pod_gpu_${name}_anon_dev.csv.gz`);
    const key = 'ts=timestamp_anon,device_id=container_ip';
    const duty = await folder.take('samples', [file('duty_cycle')], { map: [`${key},util_permille=value:percent`] });
    const memory = await folder.take('samples', [file('memory_used_bytes')], {
      map: [`${key},fb_used_mib=value:bytes`],
    });
    expect([duty, memory]).toMatchObject([
      { rowsTaken: 90_752, rowsSkipped: 0, notes: [] },
      { rowsTaken: 93_598, rowsSkipped: 0, notes: [] },
    ]);
    const steps = await folder.rows(
      'gpu_sample',
      'min(step_s) AS least, median(step_s) AS usual, count(DISTINCT device_id) AS pods',
    );
    expect(steps).toEqual([{ least: 57, usual: 57, pods: 80n }]);
    // The mean of the file is 7.6 percent.
    expect(await folder.rows('gpu_sample', 'CAST(round(avg(util_permille)) AS INTEGER) AS mean')).toEqual([
      { mean: 76 },
    ]);
  });

  it('jobs of Philly, by their length and without names', async () => {
    const report = await folder.take('allocations', [join(DATA, 'cluster/philly_jobs_to_2017-10.csv.gz')], {
      map: ['held_from=timestamp,held_until=+duration:s,allocation_id=#'],
      zone: 'America/Los_Angeles',
    });
    expect(report).toMatchObject({
      rowsTaken: 52_849,
      rowsSkipped: 0,
      ignoredColumns: ['gpu_time'],
      gpuHours: '642409.3144',
    });
  });
});
