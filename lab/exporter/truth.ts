import { migDeviceId } from '../../src/facts/source.ts';
import type { Device, Node } from '../../src/demo/organisation.ts';
import { faultsOf, type Stretch } from '../../src/demo/sensors/faults.ts';
import { ENGINE, probeOf } from '../../src/demo/sensors/reading.ts';
import type { Seconds } from '../../src/demo/timeline.ts';
import { gpuInstanceOf, type Play } from './play.ts';
import type { Pod } from './pod.ts';

/** A device that a pod truly held, as far as it lies in the period that was asked for. */
export interface HeldTruth {
  readonly pod: Pod;
  /** As Bursar names it: a slice goes by its parent and its GPU instance. */
  readonly deviceId: string;
  readonly device: Device;
  readonly from: Seconds;
  readonly until: Seconds;
  readonly heldS: number;
  /** Seconds of it in which the engine of the device was active, by whomever. */
  readonly activeS: number;
}

/** How often the truth looks at a device. Much oftener than any scrape, and at other moments. */
const LOOK_S = 10;
/** Below this the ledger calls an engine idle. */
const ACTIVE_PERMILLE_MIN = 10;

/** Question: which pod held which device from when to when, and for how long was that device truly active? */
export function heldTruth(played: Play, from: Seconds, until: Seconds): readonly HeldTruth[] {
  const devices = new Map<Device, { readonly pod: Pod; readonly from: Seconds; readonly until: Seconds }[]>();
  for (const pod of played.pods) {
    const held = { pod, from: Math.max(from, pod.from), until: Math.min(until, pod.until) };
    if (held.from >= held.until) continue;
    for (const device of pod.devices) {
      const known = devices.get(device);
      if (known === undefined) devices.set(device, [held]);
      else known.push(held);
    }
  }
  return [...devices].flatMap(([device, holdings]) => {
    const active = activeMoments(played, device, from, until);
    return holdings.map((held) => ({
      ...held,
      device,
      deviceId: deviceIdOf(device),
      heldS: held.until - held.from,
      activeS: active.filter((moment) => moment >= held.from && moment < held.until).length * LOOK_S,
    }));
  });
}

/** What a device truly did, whoever had it. */
export interface DeviceTruth {
  readonly deviceId: string;
  readonly device: Device;
  /** Seconds in which somebody held it, and what of them its engine was active. */
  readonly heldS: number;
  readonly activeS: number;
}

/** Question: for how long was each device held by anybody, and for how long of that active? */
export function deviceTruth(played: Play, from: Seconds, until: Seconds): readonly DeviceTruth[] {
  const held = new Map<Device, HeldTruth[]>();
  for (const each of heldTruth(played, from, until)) {
    const known = held.get(each.device);
    if (known === undefined) held.set(each.device, [each]);
    else known.push(each);
  }
  return [...held].map(([device, holdings]) => ({
    device,
    deviceId: deviceIdOf(device),
    heldS: unionS(holdings),
    // Nothing runs on what nobody holds.
    activeS: activeMoments(played, device, from, until).length * LOOK_S,
  }));
}

function unionS(periods: readonly { readonly from: Seconds; readonly until: Seconds }[]): number {
  let [sum, reached] = [0, -Infinity];
  for (const { from, until } of periods.toSorted((a, b) => a.from - b.from)) {
    sum += Math.max(0, until - Math.max(from, reached));
    reached = Math.max(reached, until);
  }
  return sum;
}

export function deviceIdOf(device: Device): string {
  const instance = gpuInstanceOf(device);
  return device.parent === undefined || instance === undefined ? device.id : migDeviceId(device.parent.id, instance);
}

function activeMoments(played: Play, device: Device, from: Seconds, until: Seconds): readonly Seconds[] {
  const probe = probeOf(played.holdingsOf(device), played.scope.seed);
  const moments: Seconds[] = [];
  for (let moment = from + LOOK_S / 2; moment < until; moment += LOOK_S) {
    probe.read(moment);
    if (probe.levels[ENGINE]! >= ACTIVE_PERMILLE_MIN) moments.push(moment);
  }
  return moments;
}

/** When the exporter of a machine was dead, as far as it was: nobody can know what its GPUs did then. */
export function silenceOf({ world, scope }: Play, node: Node): Stretch | undefined {
  return faultsOf(world, scope, node).dead;
}
