import type { AllocationRow } from '../organisation.ts';
import { HOUR_S } from '../organisation.ts';
import { allocation } from '../rows.ts';
import { someTime } from './draft.ts';
import type { Draft } from './draft.ts';

const FRACTIONS = [0, 1, 6300, 10_000, 21_000, 31_500, 50_000, 63_000];

type Where = Partial<AllocationRow>;

/** Adds a holding of a job of its own; rows of one job are added by giving its id. */
function hold(draft: Draft, where: Where, held_from: number, held_until: number): void {
  const { dice } = draft;
  const id = where.allocation_id ?? `job${draft.allocations.length + 1}`;
  const isOpen = draft.has('open') && dice.chance(25);
  draft.allocations.push(
    allocation({
      source: dice.pick(['slurm', 'kubernetes']),
      allocation_id: id,
      attempt: dice.chance(10) ? dice.int(1, 11) : 0,
      cluster: draft.has('silent-clusters') ? 'a' : dice.pick(['a', null]),
      workload_kind: dice.pick(['Job', 'Job', 'PyTorchJob', 'Notebook', 'Deployment', 'Pod', null]),
      workload_name: dice.pick([null, 'train', 'bash', 'ssh-ada', 'code-server', 'jupyter', 'sys/dashboard/sys/x']),
      labels: {
        ...(dice.chance(15) && { class: dice.pick(['training', 'inference', 'experimentation', 'other']) }),
        ...(dice.chance(15) && { partition: dice.pick(['gpu', 'gpu-interactive', 'debug']) }),
        ...(dice.chance(5) && { 'bursar.io/session': 'sleep' }),
      },
      ...where,
      held_from,
      held_until: isOpen ? null : held_until,
    }),
  );
}

function oneAfterTheOther(draft: Draft, where: Where): void {
  const { dice, start, end } = draft;
  let from = someTime(draft, start, start + 8 * HOUR_S);
  for (let i = dice.int(0, 4); i > 0 && from < end - 60; i -= 1) {
    const until = someTime(draft, from + 1, Math.min(end, from + 16 * HOUR_S));
    hold(draft, where, from, Math.max(until, from + 1));
    from = Math.max(until, from + 1) + dice.pick([0, 0, 1, 600, HOUR_S]);
  }
}

/** Handovers that overlap for up to two minutes, and some for longer; three at once now and then. */
function overlapping(draft: Draft, where: Where): void {
  const { dice, start, end } = draft;
  let from = someTime(draft, start, start + 4 * HOUR_S);
  for (let i = dice.int(2, 6); i > 0 && from < end - HOUR_S; i -= 1) {
    const until = Math.min(end, from + dice.pick([60, 119, 240, 3000, 5 * HOUR_S]));
    hold(draft, { ...where, isolation: dice.pick(['whole', 'whole', 'mig']) }, from, until);
    from = Math.max(from, until - dice.pick([0, 1, 60, 119, 120, 121, 500, 4000]));
  }
}

/** Fractions and time-slices on one device, up to eleven at once, now and then someone who wants it whole. */
function sharing(draft: Draft, where: Where): void {
  const { dice, start, end } = draft;
  const from = someTime(draft, start, start + 6 * HOUR_S);
  for (let i = dice.int(1, 11); i > 0; i -= 1) {
    const begin = someTime(draft, from, from + 3 * HOUR_S);
    const isolation = dice.pick([
      'fraction',
      'time-slice',
      'time-slice',
      dice.chance(20) ? 'whole' : 'fraction',
    ] as const);
    const share_units = isolation === 'fraction' ? dice.pick(FRACTIONS) : 63_000;
    hold(draft, { ...where, isolation, share_units }, begin, Math.min(end, begin + dice.int(60, 6 * HOUR_S)));
  }
}

/** Holdings that know a node and a number: all of it, less, more than it has, several at once. */
function byCount(draft: Draft, node_id: string): void {
  const { dice, start, end } = draft;
  for (let i = dice.int(1, 4); i > 0; i -= 1) {
    const from = someTime(draft, start, end - HOUR_S);
    const share_units = dice.chance(80) ? 63_000 : dice.pick(FRACTIONS);
    const isolation = share_units < 63_000 ? 'fraction' : 'whole';
    const where = { node_id, gpu_count: dice.int(1, 4), share_units, isolation } as const;
    hold(draft, where, from, Math.min(end, from + dice.int(60, 20 * HOUR_S)));
  }
}

/** Devices that no inventory lists, on nodes it knows, does not know, or on none. */
function unlisted(draft: Draft): void {
  const { dice, start, end } = draft;
  for (let i = dice.int(1, 3); i > 0; i -= 1) {
    const node_id = dice.pick([...draft.nodes.map((row) => row.node_id), 'nobody-knows', null]);
    const from = someTime(draft, start, end - HOUR_S);
    hold(
      draft,
      { node_id, device_id: `GPU-heard-of-${dice.int(1, 3)}` },
      from,
      Math.max(from + 1, someTime(draft, from + 1, end)),
    );
  }
}

/** Jobs that hold GPUs of nowhere in particular: several slots, several lives. */
function ownDevices(draft: Draft): void {
  const { dice, start, end } = draft;
  for (let slot = dice.int(0, 2); slot >= 0; slot -= 1) {
    for (
      let from = someTime(draft, start, start + 3 * HOUR_S);
      from < end - HOUR_S && dice.chance(70);
      from += 9 * HOUR_S
    ) {
      const where = {
        source: 'slurm',
        allocation_id: 'adrift',
        attempt: dice.int(0, 1),
        slot,
        gpu_count: dice.int(0, 3),
      };
      hold(draft, where, from, Math.min(end, from + dice.int(60, 8 * HOUR_S)));
    }
  }
}

/** Every row of a file that has `observed_at` was observed, so that the file says one thing of all of them. */
function observe(draft: Draft): void {
  const { dice, end } = draft;
  const observed = draft.allocations.map((row) => ({
    ...row,
    observed_at: someTime(draft, Math.min(row.held_from, end), end),
    poll_s: dice.pick([30, 60, 600]),
  }));
  draft.allocations.splice(0, draft.allocations.length, ...observed);
}

export function addHolders(draft: Draft): void {
  const { dice, start, end } = draft;
  if (draft.has('silent-clusters') && dice.chance(30)) return;
  for (const row of draft.devices) {
    const where = { node_id: dice.chance(90) ? row.node_id : null, device_id: row.device_id };
    const isSlice = row.parent_device_id !== null;
    // Slices are few: most are held, and by jobs, which alone can pause.
    const asJob = dice.chance(70) ? { workload_kind: 'Job', workload_name: 'train', labels: {} } : {};
    if (dice.chance(isSlice ? 95 : 50))
      oneAfterTheOther(draft, isSlice ? { ...where, ...asJob, isolation: 'mig' } : where);
    if (draft.has('overlaps') && dice.chance(60)) overlapping(draft, where);
    if (draft.has('sharing') && dice.chance(60)) sharing(draft, where);
  }
  if (draft.has('counts') || draft.has('counted-nodes')) {
    for (const node_id of new Set(draft.nodes.map((row) => row.node_id))) if (dice.chance(60)) byCount(draft, node_id);
  }
  if (draft.has('inferred')) {
    unlisted(draft);
    if (dice.chance(60)) byCount(draft, 'unheard-of');
    if (dice.chance(50)) byCount(draft, 'nowhere');
  }
  if (draft.has('own-devices')) ownDevices(draft);
  if (dice.chance(30)) hold(draft, { node_id: 'n1', gpu_count: 0 }, start, end - HOUR_S);
  if (draft.has('open') && dice.chance(60)) observe(draft);
}
