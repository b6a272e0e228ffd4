import { expect, test } from 'vitest';
import { claimsOn } from '../../test/claims-on.ts';
import { rareCheckpoints } from './rare-checkpoints.ts';

/** Twenty runs of twenty hours on eight GPUs: how often they save and for how long, how many end badly, how much each of those loses. */
interface Habit {
  readonly checkpointsEach?: number;
  readonly writeS?: number | null;
  readonly badEnds?: number;
  readonly isResumed?: boolean;
  readonly lostHours?: number;
  readonly pausePermille?: number;
  /** So many more runs of twenty hours that fail before they have saved, and that nobody goes on from. */
  readonly diedUnsaved?: number;
  /** Hours after its start at which a run saved for the last time. */
  readonly lastSavedHour?: number;
  /** The run was there before the window, and what it saved on its first day in it: so many, the last at this hour. */
  readonly sinceBefore?: { readonly checkpoints: number; readonly lastHour: number };
}

const [RUNS, HOURS, GPUS] = [20, 20, 8];

function fleet({
  checkpointsEach = 4,
  writeS = 60,
  badEnds = 10,
  isResumed = true,
  lostHours = 2.5,
  pausePermille = 0,
  diedUnsaved = 0,
  lastSavedHour = 20,
  sinceBefore,
}: Habit): Parameters<typeof claimsOn>[1] {
  const runs = Array.from({ length: RUNS + diedUnsaved }, (_, n) => ({
    id: `${n}`,
    subject: `job slurm/${n}/0`,
    isBad: n < badEnds || n >= RUNS,
    hasSaved: n < RUNS,
  }));
  const day = '2026-03-02';
  const hour = (hours: number): string =>
    new Date(Date.UTC(2026, 2, 2) + hours * 3_600_000).toISOString().slice(0, 19).replace('T', ' ');
  return {
    stint_day: runs.flatMap(({ id, subject, isBad }) =>
      Array.from({ length: GPUS }, (_, gpu) => ({
        day,
        subject,
        source: 'slurm',
        allocation_id: id,
        attempt: 0,
        node_id: 'n',
        held_from: `${day} 00:00:00`,
        held_until: `${day} 20:00:00`,
        device_id: `d${gpu}`,
        manner: 'job',
        held_since: sinceBefore === undefined ? `${day} 00:00:00` : '2026-01-20 00:00:00',
        outcome: isBad ? 'failed' : 'completed',
        held_s: HOURS * 3600,
        computing_s: HOURS * 3600,
        idle_s: 0,
        unknown_s: 0,
        pause_s: (HOURS * 3600 * pausePermille) / 1000,
        units: HOURS * 3600 * 63_000,
      })),
    ),
    subject: runs.map(({ subject }) => ({ day, subject, what: 'job', account: 'nlp', workload_stem: 'train-0' })),
    subject_day: runs.flatMap(({ id, subject, isBad }) => [
      {
        day,
        subject,
        allocation_id: id,
        device_id: 'd0',
        model: 'NVIDIA H100 80GB HBM3',
        category: 'computing',
        gpu_units: 1,
      },
      ...(isBad
        ? [
            {
              day,
              subject,
              allocation_id: id,
              device_id: 'd0',
              model: 'NVIDIA H100 80GB HBM3',
              category: 'lost',
              gpu_units: lostHours * GPUS * 3600 * 63_000,
            },
          ]
        : []),
    ]),
    checkpoint: runs
      .filter(({ hasSaved }) => hasSaved && checkpointsEach > 0)
      .flatMap(({ id }) => {
        const saved = { source: 'slurm', allocation_id: id, attempt: 0, basis: 'recorded' };
        const last = { ...saved, day, checkpoints: checkpointsEach, last_at: hour(lastSavedHour) };
        if (sinceBefore === undefined) return [last];
        const first = { checkpoints: sinceBefore.checkpoints, last_at: hour(sinceBefore.lastHour) };
        return [{ ...saved, day: '2026-03-01', ...first }, last];
      }),
    fate: runs
      .filter(({ isBad }) => isBad)
      .map(({ id, subject }) => ({
        day,
        subject,
        source: 'slurm',
        allocation_id: id,
        attempt: 0,
        outcome: 'failed',
        resumed: isResumed && Number(id) < RUNS,
      })),
    work: runs.slice(0, RUNS).map(({ id }) => ({
      source: 'trainer',
      work_id: id,
      unit: 'checkpoint',
      window_from: `${day} 01:00:00`,
      window_until:
        writeS === null
          ? null
          : new Date(Date.UTC(2026, 2, 2, 1) + writeS * 1000).toISOString().slice(0, 19).replace('T', ' '),
      quantity: 1,
      allocation_id: id,
    })),
  };
}

const SILENT: Readonly<Record<string, Habit>> = {
  'work of which fewer than five runs ended badly': { badEnds: 4 },
  'work that saves about as often as it should': { checkpointsEach: 20 },
  'work that records no checkpoint': { checkpointsEach: 0 },
  'checkpoints of which nobody knows how long they take': { writeS: null },
  'ends that nobody went on from: no checkpoint would have kept them': { isResumed: false },
  'ends that lost minutes': { lostHours: 0.05 },
  'ends that lost less than writing more often would take': { lostHours: 0.6 },
};

test.each(Object.entries(SILENT))('says nothing of %s', async (_, habit) => {
  expect(await claimsOn(rareCheckpoints, fleet(habit))).toEqual([]);
});

test('a checkpoint every five hours, where one every hour and ten minutes would do better', async () => {
  const [claim, ...others] = await claimsOn(rareCheckpoints, fleet({}));
  expect(others).toEqual([]);
  // An end every 40 hours, a minute to write: √(2 × 60 × 144,000) = 4,157 s.
  expect(claim?.what).toBe('train on H100 saves about every 5 h; every 75 min would lose less');
  expect(claim?.because[1]).toBe(
    '10 runs of its kind ended badly and were gone on from, one every 40 h of running: √(2 × 60 s × 40 h) is about 69 min.',
  );
  expect(claim?.takes).toHaveLength(10);
  // Of what is lost at an end, 5 h − 1.25 h of 5 h.
  expect(claim?.takes[0]).toMatchObject({ subject: 'job slurm/0/0', category: 'lost', permille: 750 });
  const { lowPermille, highPermille } = claim?.reachable ?? { lowPermille: 0, highPermille: 0 };
  expect(lowPermille).toBeLessThan(highPermille);
  expect(highPermille).toBeLessThanOrEqual(1000);
});

test('a checkpoint every ten minutes that takes two is too often', async () => {
  const [claim] = await claimsOn(rareCheckpoints, fleet({ checkpointsEach: 120, writeS: 120, pausePermille: 200 }));
  expect(claim?.what).toBe('train on H100 saves about every 10 min; every 1 h 45 min is enough');
  expect(claim?.takes[0]).toMatchObject({ category: 'starved', reason: 'pause' });
  // A fifth of the time is written, nine tenths of that can be spared.
  expect(claim?.takes[0]?.permille).toBe(904);
});

test.each<{ name: string; habit: Habit; saves: string }>([
  { name: 'what ran on after the last save', habit: { lastSavedHour: 16 }, saves: '4 h' },
  { name: 'runs that ended before their first', habit: { diedUnsaved: 20 }, saves: '5 h' },
  {
    name: 'the days before the window, of which nothing is read',
    habit: { checkpointsEach: 4, sinceBefore: { checkpoints: 30, lastHour: -4 } },
    saves: '6 h',
  },
])('how often it saves is seen from save to save, without $name', async ({ habit, saves }) => {
  const [claim] = await claimsOn(rareCheckpoints, fleet(habit));
  expect(claim?.what).toContain(`train on H100 saves about every ${saves};`);
});

test('ends that nobody went on from are no ends that a checkpoint helps', async () => {
  expect(await claimsOn(rareCheckpoints, fleet({ badEnds: 4, diedUnsaved: 20 }))).toEqual([]);
});

test('no more is kept than was lost, and what writing more often takes is said', async () => {
  // The model says that 5 h lose 3,200 GPU-hours × 5 ÷ 80, which is 200; 80 were lost. Of those three quarters, 60.
  const [claim] = await claimsOn(rareCheckpoints, fleet({ lostHours: 1 }));
  expect(claim?.because[2]).toBe(
    '80 GPU-hours were lost so: 60 GPU-hours of them would have been kept, less 32 GPU-hours for writing more often (modelled: ends come at any time alike).',
  );
  expect(claim?.reachable).toEqual({ lowPermille: 233, highPermille: 466 });
});
