import type { Device, Node } from '../organisation.ts';
import type { Pool, World } from '../world/world-schema.ts';

/** GPUs of a pool as a job of that size would get them, on as few machines as hold them, which never break. */
export function imaginedDevices(world: World, pool: Pool, count: number): readonly Device[] {
  const gpu = world.gpus[pool.gpu]!;
  const all: Device[] = [];
  for (let machine = 0; all.length < count; machine += 1) {
    const devices: Device[] = [];
    const node: Node = {
      id: `${pool.name}-${machine}`,
      resourceId: '',
      pool,
      presentFrom: 0,
      presentUntil: Infinity,
      devices,
      states: [{ from: 0, until: Infinity, state: 'up' }],
    };
    for (let index = 0; index < pool.gpus_per_node; index += 1) {
      devices.push({ id: `${node.id}-${index}`, node, index, shareUnits: 63_000, isCut: false, gpu });
    }
    all.push(...devices);
  }
  return all.slice(0, count);
}
