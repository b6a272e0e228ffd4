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
  readonly hours?: number;
  readonly engine?: number | null;
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
      const { gap = 0, pause = 0, exchange = 0, unknown = 0, hours = 20, cores = 8, manner = 'job' } = run;
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
        units: heldS * (run.share ?? 63_000),
        gap_s: part(gap),
        pause_s: part(pause),
        exchange_s: part(exchange),
        engine_permille: run.engine === undefined ? 1000 - gap : run.engine,
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
  'three short runs': [{ gap: 500, hours: 1 }],
  'an evaluation on the CPU that takes a twentieth of the time': [{ gap: 40, pause: 50 }],
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
  'gaps that do not depend on cores are the loader or storage': {
    runs: [
      { cores: 4, gap: 300 },
      { cores: 8, gap: 310 },
      { cores: 16, gap: 290 },
    ],
    what: ['train on A100-80GB waits for its loader or storage 30 % of its time, 9 runs'],
    because: 'Its gaps do not depend on cores: between 4 and 16 for each GPU it waits the same.',
  },
  'all runs ask for the same few cores: likely that': {
    runs: [{ cores: 4, gap: 300 }],
    what: ['train on A100-80GB waits for data, likely for CPU cores, 30 % of its time, 3 runs'],
    fix: '#SBATCH --cpus-per-gpu=8',
  },
  'all runs have all the cores of the machine: not cores': {
    runs: [{ cores: 16, gap: 300 }],
    what: ['train on A100-80GB waits for its loader or storage 30 % of its time, 3 runs'],
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
  'long pauses are evaluation': {
    runs: [{ pause: 250, pauseMinutes: 150 }],
    what: ['train on A100-80GB stands still 25 % of its time, evaluating on the CPU, 3 runs'],
    because:
      '100 % of it: long pauses, as evaluation on the CPU makes; 3 pauses in 3 runs, the middle one 2.5 h, one every 20 h.',
  },
  'short pauses are checkpoints': {
    runs: [{ pause: 250, pauseMinutes: 5 }],
    what: ['train on A100-80GB stands still 25 % of its time, writing checkpoints, 3 runs'],
    fix: '# checkpoints: torch.distributed.checkpoint.async_save, or write to local NVMe and copy in the background',
  },
  'a pause at the begin is start-up': {
    runs: [{ pause: 250, pauseMinutes: 110, pauseAfterMinutes: 0 }],
    what: ['train on A100-80GB stands still 25 % of its time, starting up, 3 runs'],
  },
  'exchange is a finding of its own beside gaps': {
    runs: [{ cores: 16, gap: 200, exchange: 200 }],
    what: [
      'train on A100-80GB waits for its loader or storage 20 % of its time, 3 runs',
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
