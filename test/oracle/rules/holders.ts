import type { Organisation } from '../organisation.ts';
import { split } from '../decimal.ts';
import { orderOf } from './holding.ts';
import type { Holding } from './holding.ts';
import { compareKeys, covers, overlap, secondsOf } from '../order.ts';
import { U, nodeRowAt } from './presence.ts';
import type { Presence, Spell } from './presence.ts';

const OVERLAP_S_MAX = 120;

/** A part of a device at a moment, and who has it. */
export interface Part {
  readonly device: Spell;
  readonly disposition: 'held' | 'unallocated';
  readonly reason: string | null;
  /** Null for a part that nobody holds, or whose holder is unknown. */
  readonly holding: Holding | null;
  readonly share: bigint;
  readonly conflict: boolean;
  /** The devices whose activity speaks for this part: itself, or the pool it was drawn from. */
  readonly judgedBy: readonly string[];
  /** Whether the holder has this very device: not drawn from a pool, and not nobody. */
  readonly byName: boolean;
}

interface Claim {
  readonly holding: Holding;
  readonly demand: number;
}

/** All claims on a device, and the base their shares are of. */
interface Claims {
  readonly claims: readonly Claim[];
  readonly base: number;
  readonly conflict: boolean;
  /** Null where each device speaks for itself. */
  readonly pool: readonly string[] | null;
}

const isExclusive = (holding: Holding): boolean => holding.row.isolation === 'whole' || holding.row.isolation === 'mig';

/** Whether `one` leaves its overlap with `other`: both exclusive, the overlap short, the other later. */
function yieldsTo(one: Holding, other: Holding): boolean {
  if (one === other || !isExclusive(one) || !isExclusive(other)) return false;
  if (secondsOf(overlap(one, other)) > OVERLAP_S_MAX) return false;
  return compareKeys([one.from, ...orderOf(one.row)], [other.from, ...orderOf(other.row)]) < 0;
}

/** Step 1 and 2: who names the device, and how much of it each asks for. */
function claimsByName(active: readonly Holding[], device_id: string): Claims {
  const named = active.filter((holding) => holding.device_id === device_id);
  const left = named.filter((holding) => !named.some((other) => yieldsTo(holding, other)));
  const fractions = left.filter((holding) => holding.row.isolation === 'fraction');
  const slices = left.filter((holding) => holding.row.isolation === 'time-slice');
  const fractionUnits = fractions.reduce((sum, holding) => sum + holding.row.share_units, 0);
  if (!left.some(isExclusive) && fractionUnits <= U) {
    const n = Math.max(1, slices.length);
    const claims = left.map((holding) => ({
      holding,
      demand: holding.row.isolation === 'fraction' ? holding.row.share_units * n : U - fractionUnits,
    }));
    return { claims, base: U * n, conflict: false, pool: null };
  }
  const claims = left.map((holding) => ({
    holding,
    demand: holding.row.isolation === 'fraction' ? holding.row.share_units : U,
  }));
  const demand = claims.reduce((sum, claim) => sum + claim.demand, 0);
  return { claims, base: Math.max(U, demand), conflict: demand > U, pool: null };
}

/** Step 4: what holdings by count ask of each of the node's free devices. */
function claimsByCount(active: readonly Holding[], node_id: string, free: readonly string[]): Claims {
  const holdings = active.filter((holding) => holding.device_id === null && holding.row.node_id === node_id);
  const claims = holdings.map((holding) => ({ holding, demand: holding.row.gpu_count * holding.row.share_units }));
  const demand = claims.reduce((sum, claim) => sum + claim.demand, 0);
  const whole = free.length * U;
  const byName = claims.length === 1 && demand === whole;
  return { claims, base: Math.max(whole, demand), conflict: demand > whole, pool: byName ? null : free };
}

/** Whether some allocation source would have told us who is on a device: by its cluster, else by the jobs its machine has had. */
function isSpokenFor(org: Organisation, { device_id, node_id }: Spell, cluster: string | null): boolean {
  if (cluster !== null) return org.allocations.some((row) => row.cluster === cluster || row.cluster === null);
  if (node_id === null)
    return device_id.startsWith('held:') || org.allocations.some((row) => row.device_id === device_id);
  const devices = new Set(org.devices.filter((row) => row.node_id === node_id).map((row) => row.device_id));
  return org.allocations.some((row) => row.node_id === node_id || devices.has(row.device_id ?? ''));
}

/** Step 5: what the rest of a device is called. */
function restOf(
  org: Organisation,
  device: Spell,
  hasSlices: boolean,
  time: number,
): Pick<Part, 'disposition' | 'reason'> {
  const node = nodeRowAt(org, device.node_id, time);
  if (!isSpokenFor(org, device, node?.cluster ?? null)) return { disposition: 'held', reason: null };
  const state = node?.state ?? 'up';
  if (state !== 'up') return { disposition: 'unallocated', reason: state };
  return { disposition: 'unallocated', reason: hasSlices ? 'mig-rest' : 'empty' };
}

/** Who has what of every device present at a moment. */
export function partsAt(org: Organisation, presence: Presence, holdings: readonly Holding[], time: number): Part[] {
  const devices = presence.devices.filter((spell) => covers(spell, time));
  const active = holdings.filter((holding) => covers(holding, time));
  const slicesOf = (device: Spell): Spell[] => devices.filter((other) => other.parent_device_id === device.device_id);
  const isFree = (device: Spell): boolean =>
    device.parent_device_id === null &&
    slicesOf(device).length === 0 &&
    claimsByName(active, device.device_id).claims.length === 0;

  return devices.flatMap((device) => {
    const slices = slicesOf(device);
    const cut = slices.reduce((sum, slice) => sum + slice.share_units, 0);
    const capacity = device.parent_device_id === null ? Math.max(0, U - cut) : device.share_units;
    const free = devices.filter((other) => other.node_id === device.node_id && isFree(other));
    const { claims, base, conflict, pool } =
      device.node_id !== null && isFree(device)
        ? claimsByCount(
            active,
            device.node_id,
            free.map((each) => each.device_id),
          )
        : claimsByName(active, device.device_id);

    const claimed = claims.reduce((sum, claim) => sum + claim.demand, 0);
    const shares = split(BigInt(capacity), [...claims.map((claim) => BigInt(claim.demand)), BigInt(base - claimed)]);
    const own = [device.device_id];
    const held = claims.map((claim, index) => ({
      device,
      disposition: 'held' as const,
      reason: null,
      holding: claim.holding,
      share: shares[index]?.part ?? 0n,
      conflict,
      judgedBy: pool ?? own,
      byName: pool === null,
    }));
    const rest = shares[claims.length]?.part ?? 0n;
    if (rest === 0n && held.length > 0) return held;
    const unclaimed = restOf(org, device, slices.length > 0, time);
    return [...held, { device, ...unclaimed, holding: null, share: rest, conflict, judgedBy: own, byName: false }];
  });
}
