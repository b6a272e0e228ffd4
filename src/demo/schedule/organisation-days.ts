import type { Attempt, Device, Holding, Node, OrganisationDay, Scope } from '../organisation.ts';
import type { Seconds } from '../timeline.ts';
import { asksFirstAt, courseOf, meanGpuHours } from '../work/course.ts';
import type { World } from '../world/world-schema.ts';
import { type Courses, OrganisationLife } from './organisation-life.ts';

const DAY_S = 86_400;

/**
 * What happened in the organisation, day by day (UTC)?
 *
 * A stream: each day is drawn when it is asked for, and what is over with it is forgotten, so that a year takes no more
 * memory than a month. The same world, seed, size and window give the same days on every machine.
 */
export function* organisationDays(
  world: World,
  scope: Scope,
  courses: Courses = { courseOf, asksFirstAt, meanGpuHours },
): Generator<OrganisationDay> {
  if (scope.from % DAY_S !== 0 || scope.until % DAY_S !== 0) throw new Error('a window is made of whole UTC days');
  const life = new OrganisationLife(world, scope, courses);
  let attempts: readonly Attempt[] = [];
  let nodes: readonly Node[] = [];
  life.liveUntil(scope.from);
  for (let from = scope.from; from < scope.until; from += DAY_S) {
    const until = from + DAY_S;
    life.liveUntil(until);
    const begun = [...life.takeBegun()].sort(byBegin);
    attempts = [...attempts.filter((attempt) => attempt.until > from), ...begun];
    nodes = [...nodes.filter(({ presentUntil }) => presentUntil > from), ...life.takeAppeared()].sort(byId);
    yield { world, scope, from, until, nodes, begun, onDevice: holdingsOf(attempts), waiting: life.waiting() };
  }
}

function byBegin(a: Attempt, b: Attempt): Seconds {
  if (a.from !== b.from) return a.from - b.from;
  if (a.job.id !== b.job.id) return a.job.id < b.job.id ? -1 : 1;
  return a.number - b.number;
}

function byId(a: Node, b: Node): number {
  return a.id < b.id ? -1 : 1;
}

/** Attempts come by begin, and so do those of each device. */
function holdingsOf(attempts: readonly Attempt[]): ReadonlyMap<Device, readonly Holding[]> {
  const onDevice = new Map<Device, Holding[]>();
  for (const attempt of attempts)
    for (const { devices, spans } of attempt.groups)
      for (const device of devices) {
        const holdings = onDevice.get(device);
        if (holdings === undefined) onDevice.set(device, [{ attempt, spans }]);
        else holdings.push({ attempt, spans });
      }
  return onDevice;
}
