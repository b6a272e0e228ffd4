import { describe, expect, test } from 'vitest';
import { claimsOn } from '../../test/claims-on.ts';
import { starvedRuns } from './starved-runs.ts';

const HOUR = 3600;

/** So many runs of twenty hours on one GPU each: what they had, and how they spent their time, in permille of it. */
interface Runs {
  readonly runs?: number;
  readonly name?: string;
  readonly manner?: string;
  readonly cores?: number | null;
  readonly coresThere?: number | null;
  /** Of a GPU, in 63,000ths. */
  readonly share?: number;
  readonly nodes?: number;
  readonly gap?: number;
  readonly pause?: number;
  readonly exchange?: number;
  readonly unknown?: number;
  readonly shared?: number;
  readonly hours?: number;
  readonly engine?: number | null;
  readonly sm?: number | null;
  /** Minutes of each pause, and after how many minutes of the run it begins. */
  readonly pauseMinutes?: number;
  readonly pauseAfterMinutes?: number;
}

const time = (minutes: number): string =>
  new Date(Date.UTC(2026, 2, 2, 6) + minutes * 60_000).toISOString().slice(0, 19).replace('T', ' ');

function fleet(kinds: readonly Runs[]): Parameters<typeof claimsOn>[1] {
  const runs = kinds.flatMap((kind, index) =>
    Array.from({ length: kind.runs ?? 3 }, (_, n) => ({ ...kind, id: `${index}-${n}` })),
  );
  const nodesOf = ({ id, nodes = 1 }: (typeof runs)[number]): string[] =>
    Array.from({ length: nodes }, (_, n) => `n-${id}-${n}`);
  return {
    stint_day: runs.flatMap((run) => {
      const { gap = 0, pause = 0, exchange = 0, unknown = 0, shared = 0, hours = 20, cores = 8, manner = 'job' } = run;
      const heldS = hours * HOUR;
      const part = (permille: number): number => (heldS * permille) / 1000;
      return nodesOf(run).map((node) => ({
        day: '2026-03-02',
        subject: `job slurm/${run.id}/0`,
        source: 'slurm',
        allocation_id: run.id,
        attempt: 0,
        node_id: node,
        device_id: `d-${node}`,
        root_device_id: `d-${node}`,
        manner,
        workload_name: run.name ?? 'train-7',
        held_since: time(0),
        ended_at: time(hours * 60),
        outcome: 'completed',
        held_from: time(0),
        held_until: time(hours * 60),
        held_s: heldS,
        computing_s: heldS - part(pause) - part(unknown),
        idle_s: part(pause),
        unknown_s: part(unknown),
        shared_s: part(shared),
        units: heldS * (run.share ?? 63_000),
        gap_s: part(gap),
        pause_s: part(pause),
        exchange_s: part(exchange),
        engine_permille: run.engine === undefined ? 1000 - gap : run.engine,
        sm_permille: run.sm ?? null,
        cpu_millis: cores === null ? null : cores * 1000 * (run.nodes ?? 1),
      }));
    }),
    subject: runs.map(({ id, name = 'train-0' }) => ({
      day: '2026-03-02',
      subject: `job slurm/${id}/0`,
      what: 'job',
      account: 'vision',
      workload_stem: name,
    })),
    subject_day: runs.map(({ id }) => ({
      day: '2026-03-02',
      subject: `job slurm/${id}/0`,
      allocation_id: id,
      device_id: `d-n-${id}-0`,
      model: 'NVIDIA A100-SXM4-80GB',
      category: 'starved',
    })),
    node: runs.flatMap((run) =>
      nodesOf(run).map((node) => ({
        node_id: node,
        present_from: '1970-01-01 00:00:00',
        gpu_count: 1,
        vcpu: run.coresThere === undefined ? 16 : run.coresThere,
      })),
    ),
    pause: runs.flatMap((run) =>
      (run.pause ?? 0) === 0
        ? []
        : nodesOf(run).map((node) => {
            const after = run.pauseAfterMinutes ?? 60;
            return {
              day: '2026-03-02',
              device_id: `d-${node}`,
              source: 'slurm',
              allocation_id: run.id,
              attempt: 0,
              from_at: time(after),
              until_at: time(after + (run.pauseMinutes ?? 30)),
            };
          }),
    ),
  };
}

const SILENT: Readonly<Record<string, readonly Runs[]>> = {
  'work that is fed': [{ gap: 40 }],
  'batch decoding that keeps the engine busy at a low SM activity': [{ gap: 10, engine: 990 }],
  'a model that answers requests and waits for them': [{ gap: 700, manner: 'serving' }],
  'a notebook that is used in bursts': [{ gap: 500, pause: 300, manner: 'interactive' }],
  'runs whose sensors were away for a tenth of the time': [{ gap: 400, unknown: 100 }],
  'runs that shared their GPU for a tenth of the time: the gap may be a neighbour’s': [{ gap: 400, shared: 100 }],
  'three short runs': [{ gap: 500, hours: 1 }],
  'an evaluation on the CPU that takes a twentieth of the time': [{ gap: 40, pause: 50 }],
  'small kernels that leave a sixth of the engine between them': [
    { runs: 6, cores: 16, gap: 160, engine: 800, sm: 440 },
  ],
  'a gap of that size of which nobody knows the cause': [{ cores: 4, gap: 190 }],
};

test.each(Object.entries(SILENT))('says nothing of %s', async (_, kinds) => {
  expect(await claimsOn(starvedRuns, fleet(kinds))).toEqual([]);
});

const CASES: Readonly<
  Record<string, { runs: readonly Runs[]; what: readonly string[]; fix?: string; because?: string }>
> = {
  'runs with more cores wait less, until they have enough': {
    runs: [
      { cores: 4, gap: 600 },
      { cores: 8, gap: 250 },
      { cores: 12, gap: 40 },
      { cores: 16, gap: 40 },
    ],
    what: ['train on A100-80GB waits for CPU cores 23 % of its time, 12 runs'],
    fix: '#SBATCH --cpus-per-gpu=12',
    because:
      'Runs with 4 to 8 cores for each GPU wait 43 % (6 runs), those with 12 to 16 cores 4 % (6 runs): too few cores.',
  },
  'runs on slices are compared like runs on GPUs': {
    runs: [
      { cores: 2, gap: 600, share: 31_500 },
      { cores: 4, gap: 250, share: 31_500 },
      { cores: 6, gap: 40, share: 31_500 },
      { cores: 8, gap: 40, share: 31_500 },
    ],
    what: ['train on A100-80GB waits for CPU cores 23 % of its time, 12 runs'],
    fix: '#SBATCH --cpus-per-gpu=6',
  },
  'the best there was had the most cores, so nobody knows whether more help': {
    runs: [
      { cores: 4, gap: 600 },
      { cores: 8, gap: 250 },
    ],
    what: ['train on A100-80GB waits for CPU cores 43 % of its time, 6 runs'],
    fix: '#SBATCH --cpus-per-gpu=11',
    because: 'Nobody has tried more than 8 yet; at what a core feeds now, 11 would do.',
  },
  'each percentage beside the hours it is of: those at work, and those held': {
    runs: [{ cores: 16, gap: 300, pause: 250 }],
    what: [
      'train on A100-80GB waits for its loader, storage or other work of its host 30 % of its time, 3 runs',
      'train on A100-80GB stands still 25 % of its time, in long pauses, 3 runs',
    ],
    because:
      'No kernel ran in 18 of 45 GPU-hours at work, pauses left out (40 %); 60 GPU-hours were held (engine activity, else utilisation).',
  },
  'gaps that do not depend on cores are the loader or storage': {
    runs: [
      { cores: 4, gap: 300 },
      { cores: 8, gap: 310 },
      { cores: 16, gap: 290 },
    ],
    what: ['train on A100-80GB waits for its loader, storage or other work of its host 30 % of its time, 9 runs'],
    because: 'Its gaps do not depend on cores: between 4 and 16 for each GPU it waits the same.',
  },
  'all runs ask for the same few cores: likely that': {
    runs: [{ cores: 4, gap: 300 }],
    what: ['train on A100-80GB waits for data, likely for CPU cores, 30 % of its time, 3 runs'],
    fix: '#SBATCH --cpus-per-gpu=8',
  },
  'all runs have all the cores of the machine: not cores': {
    runs: [{ cores: 16, gap: 300 }],
    what: ['train on A100-80GB waits for its loader, storage or other work of its host 30 % of its time, 3 runs'],
  },
  'about the same few cores, and a few more feed as many times more: likely that': {
    runs: [
      { cores: 5, gap: 580 },
      { cores: 6, gap: 500 },
      { cores: 8, gap: 500, hours: 1, runs: 1 },
    ],
    what: ['train on A100-80GB waits for data, likely for CPU cores, 54 % of its time, 7 runs'],
    because: 'Its runs ask for 5 to 6 cores for each GPU, and the machine has 16: nobody has tried more.',
  },
  'about the same few cores, and more of them feed no more: not cores': {
    runs: [
      { cores: 5, gap: 500 },
      { cores: 6, gap: 500 },
    ],
    what: ['train on A100-80GB waits for its loader, storage or other work of its host 50 % of its time, 6 runs'],
    because: 'Its gaps do not depend on cores: between 5 and 6 for each GPU it waits the same.',
  },
  'the best wait for cores too: five and six are too near each other to show that more do not help': {
    runs: [
      { cores: 1, gap: 900, runs: 7 },
      { cores: 3, gap: 690, runs: 6 },
      { cores: 5, gap: 450, runs: 1 },
      { cores: 6, gap: 410 },
    ],
    what: ['train on A100-80GB waits for CPU cores 71 % of its time, 17 runs'],
    fix: '#SBATCH --cpus-per-gpu=10',
    because: 'Nobody has tried more than 6 yet; at what a core feeds now, 10 would do.',
  },
  'gaps beside small kernels may be between them: both are named': {
    runs: [{ cores: 16, gap: 300, engine: 670, sm: 350 }],
    what: ['train on A100-80GB waits for its input, or between small kernels, 30 % of its time, 3 runs'],
    fix: '# first a profile of a hundred steps (torch.profiler): does the host wait for a batch, or launch one short kernel after the other?',
    because:
      'While kernels run they keep 52 % of the SMs busy: small ones, and launching such leaves gaps too, which these sensors do not tell from waiting.',
  },
  'runs that differ show the cause, however small their kernels': {
    runs: [
      { cores: 4, gap: 600, engine: 380, sm: 150 },
      { cores: 12, gap: 40, engine: 930, sm: 400 },
    ],
    what: ['train on A100-80GB waits for CPU cores 32 % of its time, 6 runs'],
  },
  'nobody said how many cores': {
    runs: [{ cores: null, gap: 300 }],
    what: ['train on A100-80GB waits for its input 30 % of its time, 3 runs'],
    because: 'How many CPU cores its runs had is not known, so cores and storage cannot be told apart.',
  },
  'runs over several machines wait, those on one do not': {
    runs: [
      { cores: 8, gap: 30 },
      { cores: 8, gap: 350, nodes: 4 },
    ],
    what: ['train on A100-80GB waits for its other machines 29 % of its time, 6 runs'],
    fix: '#SBATCH --nodes=1',
  },
  'long pauses are called long, for nobody recorded what they were for': {
    runs: [{ pause: 250, pauseMinutes: 150 }],
    what: ['train on A100-80GB stands still 25 % of its time, in long pauses, 3 runs'],
    because:
      '100 % of it: long pauses, often evaluation on the CPU; 3 pauses in 3 runs, the middle one 2.5 h, one every 20 h.',
  },
  'short pauses are called short': {
    runs: [{ pause: 250, pauseMinutes: 5 }],
    what: ['train on A100-80GB stands still 25 % of its time, in short pauses, 3 runs'],
    fix: '# if these are checkpoints: torch.distributed.checkpoint.async_save, or write to local NVMe and copy in the background',
  },
  'a pause at the begin is start-up': {
    runs: [{ pause: 250, pauseMinutes: 110, pauseAfterMinutes: 0 }],
    what: ['train on A100-80GB stands still 25 % of its time, starting up, 3 runs'],
  },
  'exchange is a finding of its own beside gaps': {
    runs: [{ cores: 16, gap: 200, exchange: 200 }],
    what: [
      'train on A100-80GB waits for its loader, storage or other work of its host 20 % of its time, 3 runs',
      'train on A100-80GB exchanges data 20 % of its time, 3 runs',
    ],
  },
};

test.each(Object.entries(CASES))('%s', async (_, { runs, what, fix, because }) => {
  const claims = await claimsOn(starvedRuns, fleet(runs));
  expect(claims.map((claim) => claim.what)).toEqual(what);
  expect(claims[0]?.fix).toEqual(expect.arrayContaining(fix === undefined ? [] : [fix]));
  expect(claims[0]?.because).toEqual(expect.arrayContaining(because === undefined ? [] : [because]));
});

describe('what is claimed', () => {
  test('is the gap money of all its runs, and what is reachable is what the better ones do not lose', async () => {
    const [claim] = await claimsOn(
      starvedRuns,
      fleet([
        { cores: 4, gap: 600 },
        { cores: 16, gap: 100 },
      ]),
    );
    expect(claim?.takes).toHaveLength(6);
    expect(claim?.takes[0]).toEqual({
      subject: 'job slurm/0-0/0',
      firstDay: '2026-02-02',
      lastDay: '2026-03-03',
      category: 'starved',
      reason: 'gap',
    });
    expect(claim?.ownerSubject).toBe('job slurm/0-0/0');
    expect(claim?.spark?.filter((permille) => permille !== null)).toEqual([650]);
    expect(claim?.reachable).toEqual({ lowPermille: 571, highPermille: 714 });
  });

  test('of work with one name in two places are two things', async () => {
    const here = fleet([{ gap: 400 }]);
    const claims = await claimsOn(starvedRuns, {
      ...here,
      subject: (here['subject'] ?? []).map((row, n) => ({ ...row, account: n === 0 ? 'nlp' : 'vision' })),
    });
    expect(claims.map(({ about }) => about)).toEqual(['input of train-0 on A100-80GB in vision']);
  });

  const saved = (untilMinutes: number | null): Parameters<typeof claimsOn>[1][string] =>
    Array.from({ length: 3 }, (_, n) => ({
      source: 'trainer',
      work_id: `0-${n}`,
      unit: 'checkpoint',
      window_from: time(61),
      window_until: untilMinutes === null ? null : time(untilMinutes),
      quantity: 1,
      allocation_id: `0-${n}`,
    }));

  test.each([
    { name: 'a checkpoint that takes all of a long pause', pauseMinutes: 40, until: 99, doing: 'writing checkpoints' },
    {
      name: 'a checkpoint of unknown length in a short pause',
      pauseMinutes: 10,
      until: null,
      doing: 'writing checkpoints',
    },
    { name: 'one of four minutes in a pause of twenty', pauseMinutes: 20, until: 65, doing: 'in long pauses' },
    { name: 'one of unknown length in a pause of twenty', pauseMinutes: 20, until: null, doing: 'in long pauses' },
    { name: 'one that is written on while it computes', pauseMinutes: 5, until: 300, doing: 'writing checkpoints' },
  ])(
    'a checkpoint explains as much of a pause as it was recorded to take: $name',
    async ({ pauseMinutes, until, doing }) => {
      const here = fleet([{ pause: 250, pauseMinutes }]);
      const [claim] = await claimsOn(starvedRuns, { ...here, work: saved(until) });
      expect(claim?.what).toBe(`train on A100-80GB stands still 25 % of its time, ${doing}, 3 runs`);
    },
  );

  test('says what a pause has beyond its checkpoint as a pause of its own', async () => {
    const [claim] = await claimsOn(starvedRuns, { ...fleet([{ pause: 250, pauseMinutes: 20 }]), work: saved(65) });
    expect(claim?.because.slice(1)).toEqual([
      '80 % of it: long pauses, often evaluation on the CPU; 3 pauses in 3 runs, the middle one 16 min, one every 20 h; in all of them a checkpoint was recorded, and its time is taken off.',
      '20 % of it: checkpoints, as long as they are recorded; 3 pauses in 3 runs, the middle one 4 min, one every 20 h.',
      'Its runs were there on 2026-03-02.',
    ]);
    expect(claim?.fix.join()).not.toContain('async_save');
  });

  test('is safe by words of its own: neither pauses nor exchange are about workers', async () => {
    const claims = await claimsOn(starvedRuns, fleet([{ cores: 16, pause: 200, exchange: 200 }]));
    expect(claims.map(({ blast }) => blast)).toEqual([
      expect.stringContaining('evaluated aside'),
      expect.stringContaining('larger batch'),
    ]);
  });

  test('says how long a step takes where steps are counted', async () => {
    const here = fleet([{ gap: 400, runs: 10 }]);
    const work = Array.from({ length: 10 }, (_, n) => ({
      source: 'trainer',
      work_id: `0-${n}`,
      unit: 'step',
      window_from: time(0),
      window_until: time(600),
      quantity: n === 0 ? 72_000 : 36_000,
      allocation_id: `0-${n}`,
    }));
    const [claim] = await claimsOn(starvedRuns, { ...here, work });
    expect(claim?.because).toContain('A step takes 1.00 s in the middle of 10 runs and 0.50 s in the best tenth.');
  });
});
