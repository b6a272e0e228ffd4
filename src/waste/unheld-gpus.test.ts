import { describe, expect, it } from 'vitest';
import { claimsOn } from '../../test/claims-on.ts';
import type { Row } from '../../test/stage-on.ts';
import { emptyNodes } from './empty-nodes.ts';
import { unheldGpus } from './unheld-gpus.ts';

const DAY = '2026-03-03';
const HOUR_UNITS = 3600 * 63_000;

/** GPU `a` of a rented box that a scheduler could hand out and nobody holds: a day of it for $48. */
const empty = (over: Row = {}): Row => ({
  day: DAY,
  subject: 'node box',
  node_id: 'box',
  device_id: 'a',
  cluster: 'office',
  model: 'H100',
  provider: 'AWS',
  purchase: 'on-demand',
  category: 'unallocated',
  reason: 'empty',
  usd_micros: 48_000_000,
  marginal_usd_micros: 48_000_000,
  gpu_units: 24 * HOUR_UNITS,
  ...over,
});
const hours = (count: number, over: Row = {}): Row[] =>
  Array.from({ length: count }, (_, hour) => ({
    day: DAY,
    hour_start: `${DAY} ${String(hour).padStart(2, '0')}:00:00`,
    node_id: 'box',
    device_id: 'a',
    root_device_id: 'a',
    computing_s: 3600,
    ...over,
  }));

describe('GPUs that compute and that no job holds', () => {
  it('are asked about, with what the ledger has of them, and claim nothing', async () => {
    const [claim, ...others] = await claimsOn(unheldGpus, { unheld_hour: hours(12), subject_day: [empty()] });
    expect(others).toEqual([]);
    expect(claim).toMatchObject({
      about: 'office',
      isQuestion: true,
      takes: [],
      what: '1 GPU of office computes and no job holds it: whose work is it?',
      because: [
        '12 GPU-hours of kernels on 2026-03-03, last in the hour of Tue 11:00 (engine, else SM, else utilisation), in hours that no holder is known for.',
        'On box: a.',
        'The ledger has $24.00 of them as unallocated until somebody says whose they are; no advice counts them as empty.',
      ],
    });
    expect(claim?.fix.slice(0, 2)).toEqual(['# none of it runs now; who was logged in then:', 'ssh box last -F']);
  });

  it('are looked for by their process where it runs', async () => {
    const [claim] = await claimsOn(unheldGpus, { unheld_hour: hours(24), subject_day: [empty()] });
    expect(claim?.fix[0]).toBe('ssh box nvidia-smi --query-compute-apps=gpu_uuid,pid,used_memory --format=csv');
  });

  it('are not asked about for a test after a repair', async () =>
    expect(await claimsOn(unheldGpus, { unheld_hour: hours(2), subject_day: [empty()] })).toEqual([]));

  it('are told without money where nothing has a price', async () => {
    const paid = [empty({ usd_micros: null, marginal_usd_micros: null })];
    const [claim] = await claimsOn(unheldGpus, { unheld_hour: hours(12), subject_day: paid });
    expect(claim?.because.at(-1)).toMatch(/^The ledger has them as unallocated/);
  });

  const presence = [
    { day: DAY, node_id: 'box', device_id: 'a', from_at: `${DAY} 00:00:00`, until_at: '2026-03-04 00:00:00' },
  ];
  it('keep their machine from being called empty', async () => {
    const tables = { subject_day: [empty()], presence };
    expect(await claimsOn(emptyNodes, tables, { options: { poolGpuHoursMin: 1 } })).toHaveLength(1);
    expect(
      await claimsOn(emptyNodes, { ...tables, unheld_hour: hours(24) }, { options: { poolGpuHoursMin: 1 } }),
    ).toEqual([]);
  });
});
