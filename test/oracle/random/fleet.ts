import type { DeviceRow, NodeRow } from '../organisation.ts';
import { HOUR_S } from '../organisation.ts';
import { device, node } from '../rows.ts';
import { someTime } from './draft.ts';
import type { Draft } from './draft.ts';

export const MODELS = ['NVIDIA H100 80GB HBM3', 'NVIDIA A100-SXM4-40GB', 'NVIDIA L4', 'Tesla V100-SXM2-16GB', null];

const DEVICES_MAX = 8;
const MEMORY_SLOT_UNITS = 7875;

/** The rows of a node: one, or several that change its state or leave a gap. */
function rowsOfNode(draft: Draft, always: NodeRow): NodeRow[] {
  const { dice, start, end } = draft;
  if (always.provider === 'Own') {
    // Away for a while in the middle: paid for all the same.
    const gone = someTime(draft, start + HOUR_S, start + 8 * HOUR_S);
    const back = someTime(draft, gone + 60, end - HOUR_S);
    return [
      { ...always, present_until: gone },
      { ...always, present_from: back },
    ];
  }
  if (!draft.has('states')) return [always];
  const rows: NodeRow[] = [];
  let from = dice.chance(50)
    ? always.present_from
    : someTime(draft, start, Math.min(end - HOUR_S, start + dice.pick([12, 60]) * HOUR_S));
  for (let i = dice.int(1, 4); i > 0 && from < end; i -= 1) {
    const until = someTime(draft, Math.max(from, start) + 1, end);
    const state = dice.pick(['up', 'up', 'down', 'drained', 'spare', null] as const);
    rows.push({ ...always, present_from: from, present_until: dice.chance(40) ? until : null, state });
    // The next row follows at once, after a gap, or before this one's stated end.
    const earliest = Math.max(from, start) + 1;
    from = dice.pick([until, someTime(draft, until, end) + 1, someTime(draft, earliest, until)]);
  }
  return rows.length === 0 ? [always] : rows;
}

function purchaseOf(draft: Draft, index: number): Pick<NodeRow, 'purchase' | 'provider' | 'billing_account'> {
  const { dice } = draft;
  if (draft.has('owned') && index === 0) {
    return { purchase: dice.pick(['owned', 'committed'] as const), provider: 'Own', billing_account: null };
  }
  return {
    purchase: dice.pick(['on-demand', 'spot', 'committed', null] as const),
    provider:
      draft.has('no-provider') && dice.chance(50) ? null : dice.pick(['AWS', 'AWS', 'aws', 'Amazon Web Services']),
    billing_account: dice.chance(80) ? '111' : null,
  };
}

/** What price lists call the machine, where the organisation has any. */
function machineOf({ dice, has }: Draft): Pick<NodeRow, 'region' | 'zone' | 'instance_type'> {
  const region = dice.pick(['r1', 'r1', 'r2', null]);
  if (!has('catalog')) return { region, zone: null, instance_type: null };
  const instance_type = dice.pick(['m8', 'm8', 'm8', 'm1', null]);
  return { region: dice.chance(60) ? 'r1' : region, zone: dice.pick(['z1', 'z2', null]), instance_type };
}

/** Hosts of all sizes: some so small that they cost nothing, some of which half is unknown. */
function hostOf({ dice, has }: Draft): Pick<NodeRow, 'vcpu' | 'memory_bytes'> {
  if (!has('machine-parts') && dice.chance(60)) return { vcpu: null, memory_bytes: null };
  return {
    vcpu: dice.pick([192, 96, 7, 1, 0, null]),
    memory_bytes: dice.pick([2 ** 41, 2 ** 41 + 12_345, 1_000_000_007, 2 ** 20 - 1, null]),
  };
}

/** Devices of a node; some come later or leave earlier, some are away for a while, one moves to another node. */
function listedDevices(draft: Draft, always: NodeRow, count: number): DeviceRow[] {
  const { dice, start, end } = draft;
  const model = dice.pick(MODELS);
  return Array.from({ length: count }, (_, i) => i).flatMap((i) => {
    const row = device({ device_id: `GPU-${always.node_id}-${i}`, node_id: always.node_id, model });
    if (!draft.has('states') || dice.chance(60)) return [row];
    const present_from = someTime(draft, start, end - 6 * HOUR_S);
    const present_until = dice.chance(50) ? someTime(draft, present_from + HOUR_S, end - HOUR_S) : null;
    const first = { ...row, present_from, present_until };
    if (i === 0) return [first];
    const node_id = dice.pick([always.node_id, always.node_id, 'n1']);
    return [first, { ...first, node_id, present_from: end - HOUR_S, present_until: null }];
  });
}

/** Slices of a GPU: some from the first, some for a while, up to all its memory. */
function addSlices(draft: Draft, parent: DeviceRow): void {
  const { dice, start, end } = draft;
  const slots = dice.pick([[1, 1, 2], [4, 4], [2, 2, 4], [1], [3, 4]]);
  for (const [i, slot] of slots.entries()) {
    const latest = parent.present_until ?? end;
    const earliest = Math.max(parent.present_from, start);
    const from = dice.chance(75) ? earliest : someTime(draft, earliest, latest - HOUR_S);
    const until = dice.chance(75) ? parent.present_until : someTime(draft, from + 60, latest);
    draft.devices.push({
      ...parent,
      device_id: `MIG-${parent.device_id}-${i}`,
      parent_device_id: parent.device_id,
      share_units: slot * MEMORY_SLOT_UNITS,
      present_from: from,
      present_until: until,
    });
  }
}

export function addFleet(draft: Draft): void {
  const { dice, start, end } = draft;
  const clusters = draft.has('silent-clusters') ? ['a', 'b', 'b', null] : ['a', 'a', null];
  const count = dice.int(1, 3);
  for (let index = 0; index < count; index += 1) {
    const gpus = Math.min(dice.int(1, 3), DEVICES_MAX - draft.devices.length);
    if (gpus < 1) break;
    const counted = draft.has('counted-nodes') && dice.chance(60);
    const always = node({
      node_id: `n${index + 1}`,
      present_from: draft.has('months') || draft.has('currencies') || dice.chance(80) ? start : 0,
      resource_id: dice.chance(60) ? `i-00${index + 1}` : null,
      ...purchaseOf(draft, index),
      ...machineOf(draft),
      cluster: dice.pick(clusters),
      gpu_count: counted || draft.has('owned') || dice.chance(50) ? gpus : null,
      model: counted ? dice.pick(MODELS) : null,
      ...hostOf(draft),
    });
    draft.nodes.push(...rowsOfNode(draft, always));
    if (!counted) draft.devices.push(...listedDevices(draft, always, gpus));
  }
  const first = draft.devices[0];
  if (draft.has('mig') && first !== undefined && draft.devices.length + 3 <= DEVICES_MAX) addSlices(draft, first);
  if (draft.has('inferred') && dice.chance(50)) {
    draft.devices.push(
      device({ device_id: 'GPU-unlisted-node', node_id: 'nowhere', model: dice.pick(MODELS), present_from: start }),
    );
  }
  // A host that is there to the last hour, so that no rate ends in the middle of one.
  if (draft.has('owned') || dice.chance(30)) {
    const provider = { provider: 'AWS', billing_account: '111' };
    draft.nodes.push(node({ node_id: 'cpu-1', ...provider, present_from: start, present_until: end, gpu_count: 0 }));
  }
}
