import type { AllocationRow } from '../organisation.ts';
import { HOUR_S } from '../organisation.ts';
import { allocation, work } from '../rows.ts';
import { someTime } from './draft.ts';
import type { Draft } from './draft.ts';

const BAD_ENDS = ['failed', 'out-of-memory', 'node-fail', 'preempted', 'timeout'] as const;
const KINDS = ['Job', 'PyTorchJob', 'CronJob', 'Notebook', 'Deployment', null] as const;

/** One run in several lives on a device: each ends somehow, the next comes at once, in hours, in days, or never. */
function livesOnDevice(draft: Draft, where: Partial<AllocationRow>, id: string): void {
  const { dice, start, end } = draft;
  const source = dice.pick(['slurm', 'kubernetes']);
  const isPods = dice.chance(40);
  const names = {
    namespace: dice.pick(['nlp', 'nlp', 'asr', null]),
    workload_kind: dice.chance(80) ? 'Job' : dice.pick(KINDS),
    workload_name: dice.pick(['train', 'tune-1', null]),
    account: dice.pick(['nlp', null]),
    user_name: dice.pick(['ada', 'ada', 'kim', null]),
  };
  let from = someTime(draft, start, start + 20 * HOUR_S);
  for (let life = 0; life < dice.int(1, 5) && from < end - HOUR_S; life += 1) {
    const until = Math.min(end, from + dice.pick([600, 5 * HOUR_S, 20 * HOUR_S, 40 * HOUR_S]) + dice.int(0, 3600));
    const outcome = dice.chance(80) ? dice.pick(BAD_ENDS) : dice.pick(['completed', 'cancelled', 'running', null]);
    const own = isPods ? { allocation_id: `${id}-${life}` } : { allocation_id: id, attempt: life };
    const workload_name = names.workload_name === 'tune-1' && dice.chance(50) ? `tune-${life}` : names.workload_name;
    const row = allocation({
      source,
      ...where,
      ...own,
      ...names,
      cluster: 'a',
      workload_name,
      submitted_at: dice.pick([null, from, from - 600, from - 100 * HOUR_S]),
      outcome,
      held_from: from,
      held_until: until,
    });
    draft.allocations.push(row);
    if (dice.chance(75)) saveWork(draft, row, until);
    if (dice.chance(20)) {
      const { allocation_id, cluster } = row;
      const submitted_at = Math.min(end - 1, until + dice.pick([-HOUR_S, 0, 700, 30 * HOUR_S]));
      const waited_until = dice.chance(30) ? submitted_at + 600 : null;
      draft.waiting.push({ source, allocation_id, submitted_at, waited_until, cluster, ...names });
    }
    from = until + dice.pick([-120, -60, 0, 30, 600, 5 * HOUR_S, 26 * HOUR_S]);
  }
}

/** Checkpoints of a life, and what looks like some and is none: of another unit, of none, before it, after it, somewhere else. */
function saveWork(
  draft: Draft,
  { source, allocation_id, workload_name, held_from }: AllocationRow,
  until: number,
): void {
  const { dice } = draft;
  for (let left = dice.int(1, 4); left > 0; left -= 1) {
    const window_from = dice.chance(85) ? someTime(draft, held_from, until) : until + dice.pick([0, 1, 3600]);
    const window_until = dice.pick([null, window_from + 30, window_from + 30, Math.max(window_from + 1, until)]);
    const named = dice.pick(['job', 'job', 'full', 'run', 'nobody'] as const);
    draft.work.push(
      work({
        work_id: `w${draft.work.length}`,
        unit: dice.chance(85) ? 'checkpoint' : 'step',
        quantity: dice.pick(['1', '1', '3', '0']),
        window_from,
        window_until,
        allocation_id: named === 'job' ? allocation_id : named === 'full' ? `${source}/${allocation_id}` : null,
        run: named === 'nobody' ? null : workload_name,
        cluster: dice.pick([null, 'a', 'a', 'b']),
        namespace: dice.pick([null, null, 'nlp']),
      }),
    );
  }
}

/** Rows that hold something anyway end somehow, too: rows of one attempt not always in the same way. */
function giveEnds(draft: Draft): void {
  const { dice } = draft;
  const ended = draft.allocations.map((row) => ({
    ...row,
    outcome: dice.chance(50) ? dice.pick(BAD_ENDS) : null,
    workload_kind: dice.chance(30) ? dice.pick(KINDS) : null,
    workload_name: dice.pick(['train', null]),
  }));
  draft.allocations.splice(0, draft.allocations.length, ...ended);
}

export function addLives(draft: Draft): void {
  if (!draft.has('bad-ends')) return;
  giveEnds(draft);
  // Rows of a file that has `observed_at` all have one: lives that have ended do not care.
  const observed = draft.allocations.some((row) => row.observed_at !== null) ? { observed_at: draft.end } : {};
  for (const [index, device] of draft.devices.entries()) {
    const isSlice = device.parent_device_id !== null;
    const where = { node_id: device.node_id, device_id: device.device_id, ...observed };
    if (draft.dice.chance(60)) {
      livesOnDevice(
        draft,
        isSlice ? { ...where, isolation: 'mig' } : where,
        `life${draft.dice.chance(20) ? 0 : index}`,
      );
    }
  }
}
