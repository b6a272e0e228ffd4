import { expect, test } from 'vitest';
import { claimsOn } from '../../test/claims-on.ts';
import { runawayJobs } from './runaway-jobs.ts';

/** Now is noon; jobs of a price of a dollar for each GPU-hour. A job without an end goes on. */
interface Job {
  readonly count?: number;
  readonly hours: number;
  readonly gpus?: number;
  readonly isLive?: boolean;
  readonly outcome?: string;
  readonly user?: string;
  readonly stem?: string | null;
  readonly manner?: string;
  readonly attempt?: number;
  readonly hasPrice?: boolean;
  /** Hours before now at which it was last heard of. */
  readonly heardAgo?: number;
}

const NOW = Date.UTC(2026, 2, 3, 12);
const text = (hoursAgo: number): string =>
  new Date(NOW - hoursAgo * 3_600_000).toISOString().slice(0, 19).replace('T', ' ');

async function whatOf(jobs: readonly Job[]): Promise<readonly string[]> {
  const all = jobs.flatMap((job, index) =>
    Array.from({ length: job.count ?? 1 }, (_, n) => ({ ...job, id: `${index}-${n}` })),
  );
  const day = '2026-03-03';
  const claims = await claimsOn(
    runawayJobs,
    {
      stint_day: all.flatMap(
        ({ id, hours, gpus = 1, isLive = false, outcome = 'completed', manner = 'job', attempt = 0, heardAgo = 0 }) => {
          const [began, ends] = isLive ? [hours, heardAgo] : [hours + 1, 1];
          return Array.from({ length: gpus }, (_, gpu) => ({
            day,
            subject: `job slurm/${id}/0`,
            source: 'slurm',
            allocation_id: id,
            attempt,
            node_id: 'n',
            device_id: `d${id}-${gpu}`,
            manner,
            workload_name: `train-${id}`,
            workload_kind: 'Job',
            held_since: text(began),
            ended_at: isLive ? null : text(ends),
            outcome: isLive ? null : outcome,
            held_from: text(began),
            held_until: text(ends),
            held_s: (began - ends) * 3600,
            computing_s: 0,
            idle_s: 0,
            unknown_s: (began - ends) * 3600,
            units: (began - ends) * 3600 * 63_000,
          }));
        },
      ),
      subject: all.map(({ id, user = 'ada', stem = 'train-0' }) => ({
        day,
        subject: `job slurm/${id}/0`,
        what: 'job',
        account: 'nlp',
        user_name: user,
        workload_stem: stem,
      })),
      subject_day: all.map(({ id, hours, gpus = 1, hasPrice = true }) => ({
        day,
        subject: `job slurm/${id}/0`,
        allocation_id: id,
        model: 'NVIDIA H100 80GB HBM3',
        category: 'computing',
        usd_micros: hasPrice ? hours * gpus * 1_000_000 : null,
        gpu_units: hours * gpus * 3600 * 63_000,
        unpriced_units: hasPrice ? 0 : hours * gpus * 3600 * 63_000,
      })),
    },
    { now: '2026-03-03 12:00:00', until: '2026-03-03 12:00:00' },
  );
  return claims.flatMap(({ what, because }) => [what, ...because.slice(0, -1)]);
}

const others = (count: number, more: Partial<Job> = {}): Job => ({ count, hours: 2, ...more });

const SILENT: Readonly<Record<string, readonly Job[]>> = {
  'a job as long as its kind': [others(20), { hours: 2, isLive: true, gpus: 1 }],
  'a kind of which nineteen have finished: the next is often the longest': [others(19), { hours: 60, isLive: true }],
  'a job near twice the longest of its kind: what goes on is longer than what has finished': [
    others(30),
    others(1, { hours: 31 }),
    { hours: 60, isLive: true },
  ],
  'a long job of two hundred of which one was as long': [
    others(200),
    others(1, { hours: 80 }),
    { hours: 60, isLive: true },
  ],
  'a long job of a kind that has long ones': [others(20), others(1, { hours: 80 }), { hours: 60, isLive: true }],
  'a job above the 99th of a hundred and near the middle': [others(20, { hours: 10 }), { hours: 25, isLive: true }],
  'failures in the first minute that make every run look long': [
    others(20, { hours: 0.02, outcome: 'failed' }),
    { hours: 30, isLive: true },
  ],
  'twice the GPUs that its kind has had': [
    others(20),
    others(1, { gpus: 4, hours: 60 }),
    { hours: 2, isLive: true, gpus: 8 },
  ],
  'three hours of one GPU': [others(20, { hours: 0.5 }), { hours: 3, isLive: true }],
  'a server, which never ends': [others(20, { manner: 'serving' }), { hours: 300, isLive: true, manner: 'serving' }],
  'a job nobody has heard of for two hours': [others(20), { hours: 60, isLive: true, heardAgo: 2 }],
  'a job that has ended': [others(20), { hours: 60 }],
  'a job without a name': [others(20, { stem: null }), { hours: 60, isLive: true, stem: null }],
};

test.each(Object.entries(SILENT))('says nothing of %s', async (_, jobs) => {
  expect(await whatOf(jobs)).toEqual([]);
});

const CASES: Readonly<Record<string, { jobs: readonly Job[]; want: readonly string[] }>> = {
  'runs far longer, and costs far more, than its kind': {
    jobs: [others(20), { hours: 60, isLive: true }],
    want: [
      'train-1-0 spends far above its kind: 1×H100 for 60 h',
      'Runs for 60 h; of 20 completed ones of its kind the middle one took 2 h, the longest 2 h.',
      'Has cost $60.00; of 20 completed ones of its kind the middle one $2.00, the dearest $2.00.',
    ],
  },
  'holds far more GPUs than its kind, from its first hour': {
    jobs: [others(20), { hours: 1, isLive: true, gpus: 8 }],
    want: [
      'train-1-0 spends far above its kind: 8×H100 for 60 min',
      'Has cost $8.00; of 20 completed ones of its kind the middle one $2.00, the dearest $2.00.',
      'Holds 8 GPUs; of 20 completed ones of its kind the middle one 1, the largest 1.',
    ],
  },
  'without a price hours still count': {
    jobs: [others(20, { hasPrice: false }), { hours: 60, isLive: true, hasPrice: false }],
    want: [
      'train-1-0 spends far above its kind: 1×H100 for 60 h',
      'Runs for 60 h; of 20 completed ones of its kind the middle one took 2 h, the longest 2 h.',
    ],
  },
  'one of a hundred is the longest of fewer': {
    jobs: [others(199, { hasPrice: false }), { hours: 50 }, { hours: 60, isLive: true, hasPrice: false }],
    want: [
      'train-2-0 spends far above its kind: 1×H100 for 60 h',
      'Runs for 60 h; of 200 completed ones of its kind the middle one took 2 h, the 99th of a hundred 2 h, the longest 50 h.',
    ],
  },
  'an attempt is called one, for its job has cost more': {
    jobs: [others(20), { hours: 60, isLive: true, attempt: 1 }],
    want: [
      'train-1-0 spends far above its kind: 1×H100 for 60 h',
      'This attempt, the 2nd of its job, runs for 60 h; of 20 completed ones of its kind the middle one took 2 h, the longest 2 h.',
      'It has cost $60.00; of 20 completed ones of its kind the middle one $2.00, the dearest $2.00.',
    ],
  },
  'its own user counts where there are enough, and others where not': {
    jobs: [
      others(20, { hours: 2 }),
      others(20, { hours: 70, user: 'bo' }),
      { hours: 60, isLive: true },
      { hours: 60, isLive: true, user: 'cy' },
    ],
    want: [
      'train-2-0 spends far above its kind: 1×H100 for 60 h',
      'Runs for 60 h; of 20 completed ones of its kind the middle one took 2 h, the longest 2 h.',
      'Has cost $60.00; of 20 completed ones of its kind the middle one $2.00, the dearest $2.00.',
    ],
  },
};

test.each(Object.entries(CASES))('%s', async (_, { jobs, want }) => {
  expect(await whatOf(jobs)).toEqual(want);
});
