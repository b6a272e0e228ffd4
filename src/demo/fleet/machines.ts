import { hashOf } from '../chance.ts';
import type { Device, Node } from '../organisation.ts';
import type { Seconds } from '../timeline.ts';
import type { Gpu, Pool, World } from '../world/world-schema.ts';

/** The whole of a GPU; exact for eighths, which is what memory slots of MIG are. */
const WHOLE_UNITS = 63_000;
const MIG_SLOTS = 8;

/** Memory slots of a profile by its compute slices: a 3g profile takes half of the memory. */
const SLOTS_BY_COMPUTE: Readonly<Record<string, number>> = { '1g': 1, '2g': 2, '3g': 4 };

export interface Appearance {
  readonly seed: number;
  readonly pool: Pool;
  /** Counted from 1 in each pool; a replacement has a number of its own. */
  readonly number: number;
  readonly presentFrom: Seconds;
  readonly presentUntil: Seconds;
  readonly states: Node['states'];
}

/** A machine with its devices and ids, which depend on nothing but the seed, its pool and its number. */
export function machineOf(world: World, { seed, pool, number, presentFrom, presentUntil, states }: Appearance): Node {
  const id = `${pool.name}-${String(number).padStart(4, '0')}`;
  const devices: Device[] = [];
  const node: Node = {
    id,
    resourceId: pool.purchase === 'owned' ? '' : `i-0${hexDigits([seed, 'machine', id], 16)}`,
    pool,
    presentFrom,
    presentUntil,
    states,
    devices,
  };
  const gpu = world.gpus[pool.gpu];
  if (gpu === undefined) throw new Error(`pool ${pool.name} has GPUs ${pool.gpu}, which the world does not know`);
  for (let place = 0; place < pool.gpus_per_node; place += 1) addGpu(node, devices, gpu, [seed, 'gpu', id, place]);
  return node;
}

/** Devices of a machine that can be handed out: GPUs that are not cut, and slices. */
export function handedOut(node: Node): readonly Device[] {
  return node.devices.filter(({ isCut }) => !isCut);
}

/** How many jobs can hold something on a machine of the pool at once. */
export function unitsPerNode(pool: Pool): number {
  return pool.gpus_per_node * devicesPerGpu(pool) * holdersPerDevice(pool);
}

/** Devices of one GPU that can be handed out. */
export function devicesPerGpu(pool: Pool): number {
  return Math.max(1, profilesOf(pool).length);
}

/** Jobs that may share one device. */
export function holdersPerDevice(pool: Pool): number {
  return pool.sharing === 'time-slice' ? (pool.time_slices ?? 1) : 1;
}

function profilesOf(pool: Pool): readonly string[] {
  return pool.sharing === 'mig' ? (pool.mig_profiles ?? []) : [];
}

function addGpu(node: Node, devices: Device[], gpu: Gpu, names: readonly (string | number)[]): void {
  const profiles = profilesOf(node.pool);
  const parent: Device = {
    id: `GPU-${uuidOf(names)}`,
    node,
    index: devices.length,
    shareUnits: WHOLE_UNITS,
    isCut: profiles.length > 0,
    gpu,
  };
  devices.push(parent);
  for (const [slice, profile] of profiles.entries()) {
    const slots = SLOTS_BY_COMPUTE[profile.slice(0, 2)];
    if (slots === undefined) throw new Error(`nobody knows how much of a GPU the MIG profile ${profile} is`);
    devices.push({
      id: `MIG-${uuidOf([...names, 'slice', slice])}`,
      node,
      index: devices.length,
      parent,
      migProfile: profile,
      shareUnits: (WHOLE_UNITS * slots) / MIG_SLOTS,
      isCut: false,
      gpu,
    });
  }
}

/** A version 4 UUID that looks drawn and is not. */
export function uuidOf(names: readonly (string | number)[]): string {
  const digits = hexDigits(names, 32);
  const part = (from: number, until: number): string => digits.slice(from, until);
  return `${part(0, 8)}-${part(8, 12)}-4${part(13, 16)}-8${part(17, 20)}-${part(20, 32)}`;
}

function hexDigits(names: readonly (string | number)[], length: number): string {
  let digits = '';
  for (let salt = 1; digits.length < length; salt += 1)
    digits += hashOf(names, Math.imul(salt, 0x9e3779b9)).toString(16).padStart(8, '0');
  return digits.slice(0, length);
}
