import { expect, it } from 'vitest';
import type { SlurmJob } from '../parse/slurm-job.ts';
import { parseTres } from '../parse/tres.ts';
import { TASKS_LISTED_MAX, waitingRows } from './waiting-rows.ts';

const waiting = (more: Partial<SlurmJob>, tres = 'gres/gpu=2,gres/gpu:h100=2'): SlurmJob => {
  const requested = parseTres(tres);
  return { jobId: '9', state: 'PENDING', submit: 1_794_804_961, nodes: [], ...(requested && { requested }), ...more };
};
const now = new Date('2026-11-16T10:00:00Z');

it('lists who waits, for what and why', () => {
  expect(waitingRows([waiting({ reason: 'Resources', user: 'kim' })], now, 'train').rows).toEqual([
    expect.objectContaining({
      allocation_id: '9',
      gpu_count: 2,
      model: 'h100',
      held_back_by: 'Resources',
      user_name: 'kim',
      cluster: 'train',
      submitted_at: new Date('2026-11-16T04:56:01Z'),
    }),
  ]);
});
it('every task of an array waits, up to a number that is said', () => {
  expect(waitingRows([waiting({ pendingTasks: '5-9%2' })], now).rows.map((row) => row['allocation_id'])).toEqual([
    '9_5',
    '9_6',
    '9_7',
    '9_8',
    '9_9',
  ]);
  const { rows, skipped } = waitingRows([waiting({ pendingTasks: '0-99999' })], now);
  expect(rows).toHaveLength(TASKS_LISTED_MAX);
  expect(skipped).toEqual([expect.objectContaining({ count: 100_000 - TASKS_LISTED_MAX })]);
});
it('who waits for CPUs is counted, and who runs does not wait', () => {
  const { rows, skipped } = waitingRows([waiting({}, 'cpu=4'), waiting({ state: 'RUNNING' })], now);
  expect(rows).toEqual([]);
  expect(skipped).toEqual([expect.objectContaining({ count: 1, reason: expect.stringContaining('no GPU') })]);
});
