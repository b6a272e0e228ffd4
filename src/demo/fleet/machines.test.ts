import { describe, expect, it } from 'vitest';
import { PRESETS } from '../world/presets.ts';
import { poolOf } from '../schedule/small-world.ts';
import type { Pool } from '../world/world-schema.ts';
import { handedOut, machineOf, unitsPerNode } from './machines.ts';

const machine = (changes: Partial<Pool>, number = 3, seed = 1) =>
  machineOf(PRESETS.unmanaged, {
    seed,
    pool: poolOf({ name: 'train-h100', ...changes }),
    number,
    presentFrom: 0,
    presentUntil: 100,
    states: [{ from: 0, until: 100, state: 'up' }],
  });

describe('a machine', () => {
  it('has readable names, and ids as the cloud and the driver give them', () => {
    const node = machine({});
    expect(node.id).toBe('train-h100-0003');
    expect(node.resourceId).toMatch(/^i-0[0-9a-f]{16}$/);
    expect(node.devices).toHaveLength(8);
    for (const { id } of node.devices)
      expect(id).toMatch(/^GPU-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it('one owns has no id of a cloud', () => {
    expect(machine({ purchase: 'owned' }).resourceId).toBe('');
  });

  it('is cut into slices by memory slots, parents first', () => {
    const sharing = { sharing: 'mig', mig_profiles: ['3g.40gb', '2g.20gb', '1g.10gb'], gpus_per_node: 2 } as const;
    const node = machine({ ...sharing, mig_profiles: [...sharing.mig_profiles] });
    expect(node.devices.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(node.devices.filter(({ isCut }) => isCut)).toEqual([node.devices[0], node.devices[4]]);
    const units = [63_000, 31_500, 15_750, 7875];
    expect(node.devices.map(({ shareUnits }) => shareUnits)).toEqual([...units, ...units]);
    expect(node.devices[6]!.parent).toBe(node.devices[4]);
    expect(node.devices[6]!.id).toMatch(/^MIG-/);
    expect(handedOut(node)).toHaveLength(unitsPerNode(node.pool));
  });

  it('shares its GPUs with as many as there are time slices', () => {
    const node = machine({ sharing: 'time-slice', time_slices: 4, gpus_per_node: 2 });
    expect(handedOut(node)).toHaveLength(2);
    expect(unitsPerNode(node.pool)).toBe(8);
  });

  it('is nobody else', () => {
    const nodes = [1, 2].flatMap((seed) => Array.from({ length: 2000 }, (_, number) => machine({}, number, seed)));
    expect(new Set(nodes.map(({ resourceId }) => resourceId)).size).toBe(4000);
    expect(new Set(nodes.flatMap(({ devices }) => devices.map(({ id }) => id))).size).toBe(32_000);
  });
});
