import { expect, it } from 'vitest';
import { stagesOn, type Row } from '../../test/stage-on.ts';
import { lifeDay } from './life-day.ts';

const stint = (device: string, over: Readonly<Record<string, string | number>> = {}) => ({
  day: '2026-03-02',
  subject: 'job slurm/7/0',
  source: 'slurm',
  allocation_id: '7',
  attempt: 0,
  node_id: 'n1',
  device_id: device,
  manner: 'job',
  held_since: '2026-03-02 08:00:00',
  held_from: '2026-03-02 08:00:00',
  held_until: '2026-03-02 10:00:00',
  held_s: 7200,
  computing_s: 0,
  idle_s: 7200,
  unknown_s: 0,
  ...over,
});

const livesOf = async (stints: readonly Row[], paid: readonly Row[] = []) =>
  stagesOn([lifeDay], { stint_day: stints, subject_day: paid });

it('adds the devices of a holder up, and keeps the first and the last of their times', async () => {
  const [life, ...others] = await livesOf([
    stint('a', {
      computing_s: 3600,
      idle_s: 3600,
      first_computing_at: '2026-03-02 08:30:00',
      last_computing_at: '2026-03-02 09:30:00',
      inner_idle_s: 600,
      idle_from: '2026-03-02 09:30:00',
    }),
    stint('b', {
      node_id: 'n2',
      computing_s: 1800,
      idle_s: 5400,
      first_computing_at: '2026-03-02 09:00:00',
      last_computing_at: '2026-03-02 09:30:00',
      idle_from: '2026-03-02 09:40:00',
    }),
  ]);
  expect(others).toEqual([]);
  expect(life).toMatchObject({
    subject: 'job slurm/7/0',
    node_id: 'n1',
    nodes: 2n,
    devices: 2n,
    held_s: 14_400n,
    computing_s: 5400n,
    idle_s: 9000n,
    first_computing_at: '2026-03-02 08:30:00',
    last_computing_at: '2026-03-02 09:30:00',
    idle_from: '2026-03-02 09:40:00',
    // All its devices stood still together for no time at all.
    inner_idle_s: 0n,
  });
});

it('takes a day on which a holder by count computed for use, and says no time of a kernel', async () => {
  const [life] = await livesOf([stint('a', { computing_s: 60, idle_s: 7140 })]);
  expect(life).toMatchObject({
    first_computing_at: null,
    used_from: '2026-03-02 08:00:00',
    used_until: '2026-03-02 10:00:00',
  });
});

it('knows of no use where nothing computed', async () => {
  const [life] = await livesOf([stint('a')]);
  expect(life).toMatchObject({ used_from: null, used_until: null, engine_activity: 0n, gap_rows: 0n });
});

it('weighs what engine and SMs did by seconds that carry both', async () => {
  const [life] = await livesOf([
    stint('a', { computing_s: 100, engine_permille: 900, sm_permille: 300 }),
    stint('b', { computing_s: 50, engine_permille: 800 }),
  ]);
  expect(life).toMatchObject({ engine_activity: 90_000n, sm_activity: 30_000n, gap_rows: 2n });
});

it.each([
  { name: 'ends with the last of its devices', ends: ['2026-03-02 09:00:00', '2026-03-02 10:00:00'] },
  { name: 'whichever comes first', ends: ['2026-03-02 10:00:00', '2026-03-02 09:00:00'] },
])('$name', async ({ ends }) => {
  const [life] = await livesOf(ends.map((ended_at, place) => stint(`gpu ${place}`, { ended_at })));
  expect(life).toMatchObject({ ended_at: '2026-03-02 10:00:00' });
});

it('has its money beside it: what is priced, what is not, and what was lost', async () => {
  const row = (category: string, gpu_units: number, usd_micros: number | null) => ({
    day: '2026-03-02',
    subject: 'job slurm/7/0',
    device_id: 'a',
    category,
    gpu_units,
    usd_micros,
    unpriced_units: usd_micros === null ? gpu_units : 0,
  });
  const rows = [row('idle', 63_000, 5), row('lost', 126_000, 7), row('computing', 63_000, null)];
  const [life] = await livesOf([stint('a')], rows);
  expect(life).toMatchObject({ usd_micros: 12n, unpriced_units: 63_000n, lost_units: 126_000n });
  // A credit gives money back, and no time.
  const [credited] = await livesOf([stint('a')], [...rows, row('lost', -1000, -2), row('lost', 0, -1)]);
  expect(credited).toMatchObject({ usd_micros: 9n, lost_units: 126_000n });
});
