import { expect, test } from 'vitest';
import { claimsOn } from '../../test/claims-on.ts';
import { lostWork } from './lost-work.ts';

/** Attempts of one kind, each on four GPUs: how they ended, after how many hours, and how many of those were lost. */
interface Attempts {
  readonly count: number;
  readonly outcome: string | null;
  readonly hours: number;
  readonly lost?: number;
  readonly manner?: string;
  readonly attempt?: number;
  readonly stem?: string;
}

const GPUS = 4;

function fleet(kinds: readonly Attempts[], source = 'slurm'): Parameters<typeof claimsOn>[1] {
  const attempts = kinds.flatMap((kind, index) =>
    Array.from({ length: kind.count }, (_, n) => ({ ...kind, id: `${index}-${n}` })),
  );
  const subjectOf = ({ id, attempt = 0 }: (typeof attempts)[number]): string => `job ${source}/${id}/${attempt}`;
  return {
    stint_day: attempts.flatMap((each) =>
      Array.from({ length: GPUS }, (_, gpu) => ({
        day: '2026-03-02',
        subject: subjectOf(each),
        source,
        allocation_id: each.id,
        attempt: each.attempt ?? 0,
        node_id: 'n',
        device_id: `d${gpu}`,
        manner: each.manner ?? 'job',
        held_since: '2026-03-02 00:00:00',
        held_from: '2026-03-02 00:00:00',
        held_until: new Date(Date.UTC(2026, 2, 2) + each.hours * 3_600_000)
          .toISOString()
          .slice(0, 19)
          .replace('T', ' '),
        outcome: each.outcome,
        held_s: Math.round(each.hours * 3600),
        computing_s: Math.round(each.hours * 3600),
        idle_s: 0,
        unknown_s: 0,
        units: Math.round(each.hours * 3600) * 63_000,
      })),
    ),
    subject: attempts.map((each) => ({
      day: '2026-03-02',
      subject: subjectOf(each),
      what: 'job',
      account: 'nlp',
      workload_stem: each.stem ?? 'train-0',
    })),
    subject_day: attempts.flatMap((each) =>
      (each.lost ?? 0) === 0
        ? []
        : [
            {
              day: '2026-03-02',
              subject: subjectOf(each),
              allocation_id: each.id,
              category: 'lost',
              reason: each.outcome,
              gpu_units: (each.lost ?? 0) * 3600 * GPUS * 63_000,
            },
          ],
    ),
  };
}

const SILENT: Readonly<Record<string, readonly Attempts[]>> = {
  'work that comes to its end': [{ count: 20, outcome: 'completed', hours: 10 }],
  'work that people cancelled': [{ count: 20, outcome: 'cancelled', hours: 10 }],
  'one bad end among many': [
    { count: 1, outcome: 'failed', hours: 10, lost: 10 },
    { count: 20, outcome: 'completed', hours: 10 },
  ],
  'a percent of a large kind': [
    { count: 3, outcome: 'failed', hours: 2, lost: 2 },
    { count: 60, outcome: 'completed', hours: 20 },
  ],
  'failures that lost minutes': [{ count: 30, outcome: 'failed', hours: 0.05, lost: 0.05 }],
};

test.each(Object.entries(SILENT))('says nothing of %s', async (_, attempts) => {
  expect(await claimsOn(lostWork, fleet(attempts))).toEqual([]);
});

const CASES: Readonly<Record<string, { attempts: readonly Attempts[]; what: string; because?: string; fix?: string }>> =
  {
    'failures far into the run ask for checkpoints': {
      attempts: [
        { count: 5, outcome: 'failed', hours: 10, lost: 10 },
        { count: 5, outcome: 'completed', hours: 10 },
      ],
      what: 'train loses 50 % of its time to bad ends, 5 attempts of 10',
      because: '5 attempts failed (200 GPU-hours, the middle one after 10 h).',
      fix: 'torchrun --nproc-per-node=gpu --max-restarts=3 train.py   # restarts in place, with the GPUs it has',
    },
    'most die early: a smoke run': {
      attempts: [{ count: 30, outcome: 'failed', hours: 0.2, lost: 0.2 }],
      what: 'train loses 100 % of its time to bad ends, 30 attempts of 30',
      fix: 'srun --gpus=1 --time=00:10:00 python train.py --max-steps 20   # then the real run, by --dependency=afterok',
    },
    'preempted work saves when it is told to go': {
      attempts: [{ count: 5, outcome: 'preempted', hours: 10, lost: 3 }],
      what: 'train loses 30 % of its time to bad ends, 5 attempts of 5',
      fix: '# slurm.conf sends it at preemption only by SlurmctldParameters=preempt_send_user_signal; GraceTime is the time to save',
    },
    'tries after the first are counted': {
      attempts: [
        { count: 2, outcome: 'failed', hours: 10, lost: 5 },
        { count: 2, outcome: 'failed', hours: 10, lost: 5, attempt: 1 },
      ],
      what: 'train loses 50 % of its time to bad ends, 4 attempts of 4',
      because: '2 of them were second tries or later.',
    },
  };

test.each(Object.entries(CASES))('%s', async (_, { attempts, what, because, fix }) => {
  const claims = await claimsOn(lostWork, fleet(attempts));
  expect(claims.map((claim) => claim.what)).toEqual([what]);
  expect(claims[0]?.because).toEqual(expect.arrayContaining(because === undefined ? [] : [because]));
  expect(claims[0]?.fix).toEqual(expect.arrayContaining(fix === undefined ? [] : [fix]));
});

test('claims the lost money of the attempts that lost, and says whose it is by the largest', async () => {
  const [claim] = await claimsOn(
    lostWork,
    fleet([
      { count: 2, outcome: 'failed', hours: 10, lost: 5 },
      { count: 1, outcome: 'node-fail', hours: 20, lost: 20 },
    ]),
  );
  expect(claim?.ownerSubject).toBe('job slurm/1-0/0');
  expect(claim?.takes.map(({ subject, category, permille }) => [subject, category, permille])).toEqual([
    ['job slurm/1-0/0', 'lost', undefined],
    ['job slurm/0-0/0', 'lost', undefined],
    ['job slurm/0-1/0', 'lost', undefined],
  ]);
});

test('says when it was, and names one', async () => {
  const [claim] = await claimsOn(
    lostWork,
    fleet([
      { count: 1, outcome: 'failed', hours: 10, lost: 9 },
      { count: 2, outcome: 'preempted', hours: 30, lost: 5 },
      { count: 1, outcome: 'completed', hours: 10 },
    ]),
  );
  expect(claim?.because.at(-1)).toBe('They ended from 2026-03-02 to 2026-03-03; slurm/0-0 lost most, Mon 10:00.');
});

test('train and train-1, train-2 … are two kinds, told apart by the words a number hangs on', async () => {
  const bad = { count: 5, outcome: 'failed', hours: 10, lost: 10 };
  const good = { count: 1, outcome: 'completed', hours: 10 };
  const claims = await claimsOn(lostWork, fleet([bad, good, { ...bad, stem: 'train' }, { ...good, stem: 'train' }]));
  expect(claims.map(({ about }) => about).toSorted()).toEqual(['train in nlp', 'train-0 in nlp']);
});

const fates = (ids: readonly string[]) =>
  ids.map((id) => ({ day: '2026-03-02', subject: `job slurm/${id}/0`, resumed: true }));

const SAVED = { day: '2026-03-02', source: 'slurm', attempt: 0, basis: 'recorded' };

test.each([
  {
    name: 'of five attempts of ten hours all but half an hour each could be kept, if somebody had gone on',
    lost: 10,
    tables: {},
    want: { lowPermille: 0, highPermille: 975 },
    told: 'With a checkpoint every 60 min (assumed) 190 GPU-hours of it would have been kept, 0 GPU-hours of them',
  },
  {
    name: 'those somebody went on from are the lower end',
    lost: 10,
    tables: { fate: fates(['0-0', '0-1']) },
    // Five of ten hours, a quarter of an hour lost of each; and two, a whole one of each.
    want: { lowPermille: 360, highPermille: 975 },
    told: '76 GPU-hours of them in attempts that somebody went on from. Twice as often at most 195 GPU-hours, half as often at least 72 GPU-hours.',
  },
  {
    name: 'how often somebody will save is not known, even where everybody went on',
    lost: 10,
    tables: { fate: fates(['0-0', '0-1', '0-2', '0-3', '0-4']) },
    want: { lowPermille: 900, highPermille: 975 },
    told: '190 GPU-hours of it would have been kept, all of them',
  },
  {
    name: 'by the pace at which it saves where that is recorded',
    lost: 10,
    tables: {
      checkpoint: [
        // Saved for the last time an hour before its end.
        { ...SAVED, allocation_id: '1-0', checkpoints: 27, last_at: '2026-03-02 09:00:00' },
      ],
    },
    want: { lowPermille: 0, highPermille: 991 },
    told: 'With a checkpoint every 20 min (as it saves where that is recorded)',
  },
])('$name', async ({ lost, tables, want, told }) => {
  const rows = fleet([
    { count: 5, outcome: 'failed', hours: 10, lost },
    { count: 5, outcome: 'completed', hours: 10 },
  ]);
  const [claim] = await claimsOn(lostWork, { ...rows, ...tables });
  expect(claim?.reachable).toEqual(want);
  expect(claim?.because.join(' ')).toContain(told);
});

/** Ten jobs of three attempts, each of which dies after an hour and a half. */
const ALWAYS_FAILS = [0, 1, 2].map((attempt) => ({ count: 10, outcome: 'failed', hours: 1.5, lost: 1.5, attempt }));

test('of work that never comes to its end only later tries can be avoided, and the fix allows fewer of them', async () => {
  const [claim] = await claimsOn(lostWork, fleet(ALWAYS_FAILS, 'kubernetes'));
  expect(claim?.what).toBe('train loses 100 % of its time to bad ends, 30 attempts of 30');
  // Of 180 GPU-hours the second and third tries, and the third alone.
  expect(claim?.reachable).toEqual({ lowPermille: 333, highPermille: 666 });
  expect(claim?.because.slice(1, 3)).toEqual([
    'No attempt of it came to its end, so that a checkpoint would have kept nothing of use.',
    'Spared are at most the tries after the first, 120 GPU-hours, and at least those after the second, 60 GPU-hours.',
  ]);
  expect(claim?.fix).toEqual([
    '# no attempt of it has come to its end: find the mistake in one before it is handed in again',
    'spec: { backoffLimit: 1 }   # it had 3 tries, and each failed',
  ]);
});

test.each<{ name: string; more: Attempts; want: RegExp }>([
  {
    name: 'one that completed',
    more: { count: 1, outcome: 'completed', hours: 10 },
    want: /^With a checkpoint every 60 min/,
  },
  {
    name: 'one that is at work',
    more: { count: 1, outcome: null, hours: 10 },
    want: /^With a checkpoint every 60 min/,
  },
  {
    name: 'one whose machine failed',
    more: { count: 1, outcome: 'node-fail', hours: 10, lost: 9 },
    want: /^With a checkpoint every 60 min/,
  },
  {
    name: 'one more that failed',
    more: { count: 1, outcome: 'out-of-memory', hours: 1, lost: 1 },
    want: /^No attempt of it came to its end/,
  },
])('beside attempts that failed, $name', async ({ more, want }) => {
  const [claim] = await claimsOn(lostWork, fleet([...ALWAYS_FAILS, more], 'kubernetes'));
  expect(claim?.because[1]).toMatch(want);
});

test('of work that never comes to its end and is not tried again nothing is said to be spared', async () => {
  const [claim] = await claimsOn(lostWork, fleet([{ count: 30, outcome: 'failed', hours: 1.5, lost: 1.5 }]));
  expect(claim?.reachable).toEqual({ lowPermille: 0, highPermille: 0 });
  expect(claim?.fix).toEqual([
    '# no attempt of it has come to its end: find the mistake in one before it is handed in again',
  ]);
});

test('says nothing where each end lost less than half an hour', async () => {
  const minutes = { count: 40, outcome: 'preempted', hours: 4, lost: 0.4 };
  expect(await claimsOn(lostWork, fleet([minutes]))).toEqual([]);
});

test('a smoke run of what Kubernetes runs is no srun', async () => {
  const early = fleet([{ count: 30, outcome: 'failed', hours: 0.2, lost: 0.2 }]);
  const rows = (early['stint_day'] ?? []).map((row) => ({ ...row, source: 'kubernetes' }));
  const [claim] = await claimsOn(lostWork, { ...early, stint_day: rows });
  expect(claim?.fix.join(' ')).not.toContain('srun');
});

test('two figures that read alike are not told as a part of each other', async () => {
  const rows = fleet([
    { count: 30, outcome: 'failed', hours: 10, lost: 10 },
    { count: 1, outcome: 'failed', hours: 0.6, lost: 0.6 },
    { count: 5, outcome: 'completed', hours: 10 },
  ]);
  const resumed = Array.from({ length: 30 }, (_, n) => `0-${n}`);
  const [claim] = await claimsOn(lostWork, { ...rows, fate: fates(resumed) });
  expect(claim?.because[1]).toContain('1,140 GPU-hours of it would have been kept, nearly all of them in attempts');
});
