import { hashOf } from '../../src/demo/chance.ts';
import type { Attempt, Device, Holding, Node, OrganisationDay, Scope } from '../../src/demo/organisation.ts';
import { organisationDays } from '../../src/demo/schedule/organisation-days.ts';
import type { Seconds } from '../../src/demo/timeline.ts';
import type { World } from '../../src/demo/world/world-schema.ts';
import { podsOf, type Pod } from './pod.ts';

/** A made-up organisation with everything that happens in it, ready to be shown to whoever scrapes it. */
export interface Play {
  readonly world: World;
  readonly scope: Scope;
  readonly days: readonly OrganisationDay[];
  readonly nodes: readonly Node[];
  /** Of the pools Kubernetes hands out, by begin. */
  readonly pods: readonly Pod[];
  /** The pod an attempt has on a machine. */
  podOf(attempt: Attempt, node: Node): Pod | undefined;
  /** Everything that ever holds the device, by begin. */
  holdingsOf(device: Device): readonly Holding[];
}

/**
 * Plays a world from the first to the last day of a scope.
 *
 * All days are kept, since a pod that waits today may be known only from the day it starts: good for hundreds of GPUs and
 * weeks, not for a hundred thousand and a year.
 */
export function play(world: World, scope: Scope): Play {
  const days = [...organisationDays(world, scope)];
  const attempts = days.flatMap(({ begun }) => begun);
  const ofAttempt = new Map(attempts.map((attempt) => [attempt, podsOf(attempt, scope)]));
  const holdings = new Map<Device, Holding[]>();
  for (const attempt of attempts)
    for (const { devices, spans } of attempt.groups)
      for (const device of devices) {
        const known = holdings.get(device);
        if (known === undefined) holdings.set(device, [{ attempt, spans }]);
        else known.push({ attempt, spans });
      }
  return {
    world,
    scope,
    days,
    nodes: [...new Set(days.flatMap(({ nodes }) => nodes))],
    pods: [...ofAttempt.values()].flat(),
    podOf: (attempt, node) => ofAttempt.get(attempt)?.find((pod) => pod.node === node),
    holdingsOf: (device) => holdings.get(device) ?? [],
  };
}

/** Numbers of the GPUs of a machine as its driver counts them: slices do not count. */
export function gpuIndexOf(device: Device): number {
  const whole = device.parent ?? device;
  return whole.node.devices.filter(({ parent }) => parent === undefined).indexOf(whole);
}

/** The GPU instance of a slice; NVIDIA numbers the smallest from 7 on, and none of them is 0. */
export function gpuInstanceOf(device: Device): number | undefined {
  if (device.parent === undefined) return undefined;
  return 7 + device.node.devices.filter(({ parent }) => parent === device.parent).indexOf(device);
}

/** A private address for a name, for labels such as `instance`. */
export function addressOf(name: string): string {
  const hash = hashOf(['address', name]);
  return `10.${hash & 127}.${(hash >>> 8) & 255}.${1 + ((hash >>> 16) % 254)}`;
}

/** The day of the play a moment lies in; undefined outside of it. */
export function dayAt({ days }: Play, moment: Seconds): OrganisationDay | undefined {
  return days.find(({ from, until }) => moment >= from && moment < until);
}
