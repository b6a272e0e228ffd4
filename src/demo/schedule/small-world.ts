import type { Course, CourseRequest } from '../organisation.ts';
import { NOTHING, spanOf } from '../timeline.ts';
import { PRESETS } from '../world/presets.ts';
import type { Habit } from '../world/habit-schema.ts';
import type { Pool, World } from '../world/world-schema.ts';
import type { Courses } from './organisation-life.ts';

/** Parts of small worlds for tests: what is not said is as in the unmanaged preset, without any mishaps. */
export function poolOf(changes: Partial<Pool>): Pool {
  return {
    ...PRESETS.unmanaged.pools[0]!,
    name: 'train',
    share_percent: 100,
    gpus_per_node: 8,
    purchase: 'on-demand',
    sharing: 'whole',
    placement: 'pack',
    days_between_failures: 0,
    drained_percent: 0,
    ...changes,
  };
}

/** A habit of the kind, with everything else as the preset has it. */
export function habitOf<Kind extends Habit['kind']>(
  kind: Kind,
  changes: Partial<Extract<Habit, { kind: Kind }>>,
): Extract<Habit, { kind: Kind }> {
  const like = PRESETS.unmanaged.habits.find((habit) => habit.kind === kind);
  if (like === undefined) throw new Error(`the preset has no ${kind}`);
  return { ...(like as Extract<Habit, { kind: Kind }>), team: 'nlp', pool: 'train', ...changes };
}

export function worldOf(pools: readonly Pool[], habits: readonly Habit[], changes: Partial<World> = {}): World {
  return {
    ...PRESETS.unmanaged,
    pools: [...pools],
    teams: [{ name: 'nlp', users: ['mchen', 'aortiz'], utc_offset_hours: 0 }],
    habits: [...habits],
    ...changes,
  };
}

/** Courses in which every job computes for the same time, and does all of it again if its machine is lost. */
export function plainCourses(hours: number): Courses {
  const courseOf = ({ from, devices, machineLost, progress }: CourseRequest): Course => {
    const until = Math.min(from + hours * 3600, machineLost.at);
    const isLost = until === machineLost.at;
    const spans = [spanOf(from, until, 'stepping', NOTHING)];
    return {
      until,
      outcome: isLost ? machineLost.by : 'completed',
      cpusPerGpu: 4,
      spansOfDevice: devices.map(() => spans),
      progress,
      ...(isLost ? { asksAgainAt: until + 60 } : {}),
    };
  };
  return {
    courseOf,
    asksFirstAt: (_world, scope) => scope.from,
    meanGpuHours: (_world, habit) => {
      if (habit.kind !== 'training') return hours;
      const sizes = Object.entries(habit.gpus);
      const weights = sizes.reduce((sum, [, weight]) => sum + weight, 0);
      return (hours * sizes.reduce((sum, [size, weight]) => sum + Number(size) * weight, 0)) / weights;
    },
  };
}
