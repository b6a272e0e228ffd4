import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { SlurmJob } from '../parse/slurm-job.ts';
import { parseTres } from '../parse/tres.ts';
import type { HoldingContext } from './holding-rows.ts';
import { holdingRows, shares } from './holding-rows.ts';

const START = Date.parse('2026-11-16T10:00:00Z') / 1000;
const job = (tres: string, nodes: readonly string[], more: Partial<SlurmJob> = {}): SlurmJob => {
  const allocated = parseTres(tres);
  return {
    jobId: '7',
    state: 'COMPLETED',
    start: START,
    end: START + 60,
    nodes,
    ...(allocated && { allocated }),
    ...more,
  };
};
const spread = (made: SlurmJob, context: Partial<HoldingContext> = {}) => {
  const { rows, hints } = holdingRows(made, { attempt: 0, ...context });
  return rows.map((row, index) => [row['node_id'], row['gpu_count'], hints[index]?.gpuIndices]);
};

describe('GPUs of a job on its machines', () => {
  const cases: Record<string, { job: SlurmJob; context?: Partial<HoldingContext>; want: readonly unknown[] }> = {
    'one machine has them all': { job: job('gres/gpu=4', ['a']), want: [['a', 4, undefined]] },
    'two machines have half each': {
      job: job('gres/gpu=4', ['a', 'b']),
      want: [
        ['a', 2, undefined],
        ['b', 2, undefined],
      ],
    },
    'what is left over goes by order': {
      job: job('gres/gpu=5', ['a', 'b']),
      want: [
        ['a', 3, undefined],
        ['b', 2, undefined],
      ],
    },
    'a machine without GPUs gets none': {
      job: job('gres/gpu=4', ['cpu1', 'a']),
      context: { gpusOn: (node) => (node === 'a' ? 8 : 0) },
      want: [
        ['cpu1', 0, undefined],
        ['a', 4, undefined],
      ],
    },
    'seen while it ran, they are where they were': {
      job: job('gres/gpu=4', ['a', 'b']),
      context: {
        perNode: [
          { node: 'a', items: [{ count: 1, indices: [7] }] },
          { node: 'b', items: [{ count: 3, indices: [0, 1, 2] }] },
        ],
      },
      want: [
        ['a', 1, [7]],
        ['b', 3, [0, 1, 2]],
      ],
    },
    'seen wrongly, they are spread': {
      job: job('gres/gpu=4', ['a', 'b']),
      context: { perNode: [{ node: 'a', items: [{ count: 1, indices: [7] }] }] },
      want: [
        ['a', 2, undefined],
        ['b', 2, undefined],
      ],
    },
    'work on CPUs only holds none': { job: job('cpu=8', ['a']), want: [['a', 0, undefined]] },
    'nobody says where': { job: job('gres/gpu=4', []), want: [[undefined, 4, undefined]] },
  };
  it.each(Object.entries(cases))('%s', (_, { job: made, context, want }) =>
    expect(spread(made, context)).toEqual(want),
  );
});

it('says where it had to assume how GPUs were spread', () => {
  const labels = (made: SlurmJob) => holdingRows(made, { attempt: 0 }).rows[0]?.['labels'];
  expect(labels(job('gres/gpu=5', ['a', 'b']))).toMatchObject({ gpu_spread: 'even' });
  expect(labels(job('gres/gpu=4', ['a', 'b']))).toBeUndefined();
});

it('CPUs and memory of all machines add up to what was given', () => {
  const { rows } = holdingRows(job('cpu=7,mem=10M', ['a', 'b', 'c']), { attempt: 0 });
  const sum = (column: string) => rows.reduce((total, row) => total + Number(row[column]), 0);
  expect(sum('cpu_millis')).toBe(7000);
  expect(sum('memory_bytes')).toBe(10 * 1024 ** 2);
  expect(shares(undefined, 2)).toEqual([undefined, undefined]);
});

it('a slice is a share of a GPU, and its place is none of a GPU', () => {
  const made = job('gres/gpu=3', ['a'], {
    perNode: [
      {
        node: 'a',
        items: [
          { type: 'h100', count: 1, indices: [2] },
          { type: '1g.10gb', count: 2, indices: [0, 1] },
        ],
      },
    ],
  });
  const { rows, hints } = holdingRows(made, { attempt: 0 });
  expect(
    rows.map(({ gpu_count, share_units, isolation, slot }) => ({ gpu_count, share_units, isolation, slot })),
  ).toEqual([
    { gpu_count: 1, share_units: undefined, isolation: undefined, slot: undefined },
    { gpu_count: 2, share_units: 63_000 / 8, isolation: 'mig', slot: 1000 },
  ]);
  expect(hints).toEqual([{ gpuIndices: [2] }, undefined]);
});

it('a shard is a share where the node tells how many make a GPU, and nothing is claimed where it does not', () => {
  const made = job('gres/shard=2', ['a']);
  expect(holdingRows(made, { attempt: 0, shardsPerGpuOn: () => 4 }).rows[0]).toMatchObject({
    gpu_count: 1,
    share_units: 31_500,
    isolation: 'fraction',
  });
  expect(holdingRows(made, { attempt: 0 }).rows[0]).toMatchObject({ gpu_count: 0 });
});

it('jobstats names the GPUs of a job that ended, and its averages are labels', () => {
  const summary = { nodes: { a: { gpu_utilization: { '4': 90, '6': 10 }, gpu_used_memory: { '4': 2 ** 30 } } } };
  const adminComment = `JS1:${gzipSync(JSON.stringify(summary)).toString('base64')}`;
  const { rows, hints } = holdingRows(job('gres/gpu=2', ['a'], { adminComment }), { attempt: 0 });
  expect(hints).toEqual([{ gpuIndices: [4, 6] }]);
  expect(rows[0]?.['labels']).toEqual({
    jobstats_gpu_util_percent: '50',
    jobstats_gpu_util_percent_each: 'a:4=90 a:6=10',
    jobstats_gpu_memory_mib_each: 'a:4=1024',
  });
});

it('labels of a comment never overwrite what Slurm says', () => {
  const labels = (comment: string) =>
    holdingRows(job('gres/gpu=1', ['a'], { comment, partition: 'h100', state: 'REQUEUED' }), { attempt: 1 }).rows[0]?.[
      'labels'
    ];
  expect(labels('team=nlp;partition=mine')).toEqual({ team: 'nlp', partition: 'h100', slurm_state: 'REQUEUED' });
  expect(labels('please do not kill')).toMatchObject({ comment: 'please do not kill' });
});

it('a life is from its start to its end, and an open one has none', () => {
  expect(holdingRows(job('gres/gpu=1', ['a']), { attempt: 2 }).rows[0]).toMatchObject({
    source: 'slurm',
    allocation_id: '7',
    attempt: 2,
    held_from: new Date('2026-11-16T10:00:00Z'),
    held_until: new Date('2026-11-16T10:01:00Z'),
    outcome: 'completed',
  });
  const { end: _end, ...open } = job('gres/gpu=1', ['a'], { state: 'SUSPENDED' });
  expect(holdingRows(open, { attempt: 0 }).rows[0]).toMatchObject({ outcome: 'running' });
  expect(holdingRows(open, { attempt: 0 }).rows[0]).not.toHaveProperty('held_until');
});

describe('a job that somebody sits in front of', () => {
  const cases: Record<string, { line: string | undefined; want: string | undefined }> = {
    salloc: { line: 'salloc -p gpu --gres=gpu:1 -t 2:00:00', want: 'salloc' },
    'srun with a terminal': { line: '/usr/bin/srun --gres=gpu:1 --pty python', want: 'srun' },
    'srun without one runs to its end': { line: 'srun --gres=gpu:1 python train.py', want: undefined },
    sbatch: { line: 'sbatch --pty-like-name train.sh', want: undefined },
    'an old Slurm does not say': { line: undefined, want: undefined },
  };
  it.each(Object.entries(cases))('%s', (_, { line, want }) => {
    const made = job('gres/gpu=1', ['a'], { partition: 'gpu', ...(line !== undefined && { submitLine: line }) });
    const [row] = holdingRows(made, { attempt: 0 }).rows;
    expect(row?.['labels']).toEqual({ partition: 'gpu', ...(want !== undefined && { 'bursar.io/session': want }) });
  });
});
