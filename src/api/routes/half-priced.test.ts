import { afterAll, beforeAll, expect, test } from 'vitest';
import { askRoute } from '../../../test/ask-route.ts';
import { csv, fleetFolder } from '../../../test/fleet-folder.ts';
import type { FleetFolder } from '../../../test/fleet-folder.ts';
import { SMALL_FLEET } from '../../../test/small-fleet.ts';
import { findingsRoute } from './findings/list-findings.ts';
import type { FindingsReply } from './findings/list-findings.ts';
import { fleetGpuRoute } from './fleet/fleet-gpu.ts';
import type { GpuReply } from './fleet/fleet-gpu.ts';
import { fleetRoute } from './fleet/fleet.ts';
import type { FleetReply } from './fleet/fleet.ts';
import { jobRoute } from './jobs/job.ts';
import type { JobReply } from './jobs/job.ts';
import { jobsRoute } from './jobs/jobs.ts';
import type { JobsReply } from './jobs/jobs.ts';

const at = (hour: number, minute = 0): string =>
  `2026-03-02T${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}:00Z`;
const idleHour = (device: string, hour: number): string =>
  [0, 10, 20, 30, 40, 50].map((minute) => `${device}|${at(hour, minute)}|600|0`).join('\n');
const query = { window: '2026-03-02' };

/** Job 301 idles an hour on a GPU without a price; job 302 does so too, and an hour on one that costs $1.625. */
let fleet: FleetFolder;
beforeAll(async () => {
  fleet = await fleetFolder({
    ...SMALL_FLEET,
    'devices 2': csv(`
      device_id|node_id|model
      odd1-0|odd1|Zorg`),
    'allocations 2': csv(`
      source|allocation_id|node_id|device_id|held_from|held_until|gpu_count|cluster|account|user_name|workload_kind|workload_name
      slurm |301|odd1|odd1-0|${at(8)}|${at(9)}|1|c|odd|ann|Job|all unpriced
      slurm |302|odd1|odd1-0|${at(9)}|${at(10)}|1|c|odd|ann|Job|half priced
      slurm |302|a1|a1-0|${at(10)}|${at(11)}|1|a|odd|ann|Job|half priced`),
    'samples 2': csv(`
      device_id|ts|step_s|engine_permille
      ${idleHour('odd1-0', 8)}
      ${idleHour('odd1-0', 9)}
      ${idleHour('a1-0', 10)}`),
  });
});
afterAll(() => fleet.remove());

test('idle time without a price is no idle time for nothing, on a GPU, its machine and the fleet', async () => {
  const { total, groups } = await askRoute<FleetReply>(fleet.dataDir, fleetRoute, { query });
  const odd = groups.find(({ model }) => model === 'Zorg')?.nodes[0]?.devices[0];
  expect(odd).toMatchObject({ costUsdMicros: null, idleUsdMicros: null, idleUnpricedSeconds: 7200 });
  // A true zero stays one.
  expect(odd).toMatchObject({ unallocatedUsdMicros: '0', unallocatedUnpricedSeconds: 0 });
  expect(total).toMatchObject({ idleUsdMicros: '3250000', idleUnpricedSeconds: 7200, unpricedSeconds: 7200 });
});

test('one GPU tells of each part how much of it has no price', async () => {
  const gpu = await askRoute<GpuReply>(fleet.dataDir, fleetGpuRoute, { query, params: { gpu: 'odd1-0' } });
  expect(gpu).toMatchObject({ costUsdMicros: null, unpricedSeconds: 7200 });
  expect(gpu.categories).toMatchObject([{ category: 'idle', costUsdMicros: null, unpricedSeconds: 7200 }]);
  expect(gpu.holders.map(({ costUsdMicros, unpricedSeconds }) => [costUsdMicros, unpricedSeconds])).toEqual([
    [null, 3600],
    [null, 3600],
  ]);
});

test('what jobs wasted is not known where it has no price, and a lower bound where half of it has', async () => {
  const { rows, total } = await askRoute<JobsReply>(fleet.dataDir, jobsRoute, {
    query: { ...query, search: 'priced' },
  });
  expect(rows.map((row) => [row.allocationId, row.wasteUsdMicros, row.wasteUnpricedSeconds])).toEqual([
    ['302', '1625000', 3600],
    ['301', null, 3600],
  ]);
  expect(total).toMatchObject({ wasteUsdMicros: '1625000', wasteUnpricedSeconds: 7200, unpricedSeconds: 7200 });
  const alone = await askRoute<JobsReply>(fleet.dataDir, jobsRoute, { query: { ...query, search: 'all unpriced' } });
  expect(alone.total).toMatchObject({ costUsdMicros: null, wasteUsdMicros: null, computedUsdMicros: '0' });
});

test('the hours of a job say which of them have no price', async () => {
  const { hours } = await askRoute<JobReply>(fleet.dataDir, jobRoute, { query: {}, params: { job: '302' } });
  expect(hours.map((each) => [each.hour, each.category, each.costUsdMicros, each.unpricedSeconds])).toEqual([
    ['2026-03-02T09:00:00Z', 'idle', null, 3600],
    ['2026-03-02T10:00:00Z', 'idle', '1625000', 0],
  ]);
});

test('findings say of how much of the fleet nobody knows the price, and of how much of a team', async () => {
  const unpriced = async (team?: string): Promise<number> =>
    (await askRoute<FindingsReply>(fleet.dataDir, findingsRoute, { query: { ...query, ...(team && { team }) } }))
      .unpricedSeconds;
  expect(await Promise.all([unpriced(), unpriced('odd'), unpriced('nlp')])).toEqual([7200, 7200, 0]);
});
