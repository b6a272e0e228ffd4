import { meanOf } from '../../chance.ts';
import type { Habit } from '../habit-schema.ts';
import { unknownName } from './check-pool.ts';
import type { Path } from '../../../facts/yaml/schema-walk.ts';
import type { FileProblem } from '../../../facts/yaml/file-problem.ts';
import type { Quantiles, World } from '../world-schema.ts';

/** Below these a day holds more jobs or spans than anybody could look at, at 0 without end. */
const JOB_HOURS_MIN = 0.02;
const BURST_MINUTES_MIN = 0.1;
const VALIDATION_HOURS_MIN = 0.1;
const GPU_DAYS_BETWEEN_CRASHES_MIN = 0.001;
/** A little more than a minute: what rounds to no seconds would mean never. */
const STOPPED_IDLE_HOURS_MIN = 0.02;
const TRIALS_MAX = 10_000;

export function checkHabit(world: World, habit: Habit, index: number): FileProblem[] {
  const at = (field: string): Path => ['habits', index, field];
  const names = (members: readonly { readonly name: string }[]) => members.map(({ name }) => name);
  return [
    ...unknownName('team', habit.team, names(world.teams), at('team')),
    ...unknownName('pool', habit.pool, names(world.pools), at('pool')),
    ...unknownName('kernel', habit.kernel, Object.keys(world.kernels), at('kernel')),
    ...checkPlace(world, habit, at('pool')),
    ...checkSpreads(habit, at),
    ...checkKind(habit, at),
  ];
}

function checkPlace(world: World, habit: Habit, path: Path): FileProblem[] {
  const pool = world.pools.find(({ name }) => name === habit.pool);
  if (pool === undefined || (habit.kind === 'box') === (pool.scheduler === 'none')) return [];
  const what =
    habit.kind === 'box'
      ? `a box is a plain machine, but ${pool.name} has the scheduler ${pool.scheduler}`
      : `${pool.name} has no scheduler, so that only boxes can be there, but this is ${habit.kind}`;
  return [{ path, what }];
}

/** Times that are drawn again and again must take time. */
function checkSpreads(habit: Habit, at: (field: string) => Path): FileProblem[] {
  const tooShort = (field: string, spread: Quantiles, least: number): FileProblem[] =>
    spread.p50 >= least
      ? []
      : [{ path: [...at(field), 'p50'], what: `must be at least ${least}, but is ${spread.p50}` }];
  const tooMany = (field: string, spread: Quantiles, most: number): FileProblem[] =>
    spread.p100 <= most
      ? []
      : [{ path: [...at(field), 'p100'], what: `must be at most ${most}, but is ${spread.p100}` }];
  const tooShortOnAverage = (field: string, spread: Quantiles): FileProblem[] => {
    const mean = meanOf(spread);
    return mean >= JOB_HOURS_MIN
      ? []
      : [
          {
            path: at(field),
            what: `must be at least ${JOB_HOURS_MIN} on average, but is ${Math.round(mean * 10_000) / 10_000}`,
          },
        ];
  };
  if (habit.kind === 'training') return tooShortOnAverage('hours', habit.hours);
  if (habit.kind === 'sweep') {
    return [
      ...tooShortOnAverage('hours', habit.hours),
      ...tooShort('trials', habit.trials, 1),
      ...tooMany('trials', habit.trials, TRIALS_MAX),
    ];
  }
  if (habit.kind === 'serving') return tooShort('burst', habit.burst, 0.01);
  return [
    ...tooShort('burst_minutes', habit.burst_minutes, BURST_MINUTES_MIN),
    ...tooShort('pause_minutes', habit.pause_minutes, BURST_MINUTES_MIN),
    ...(habit.kind === 'notebook' ? tooShort('days_used', habit.days_used, 0.1) : []),
  ];
}

function checkKind(habit: Habit, at: (field: string) => Path): FileProblem[] {
  const tooSmall = (field: string, value: number, least: number): FileProblem[] =>
    value === 0 || value >= least ? [] : [{ path: at(field), what: `must be 0 or at least ${least}, but is ${value}` }];
  if (habit.kind === 'training') {
    const noSize = Object.values(habit.gpus).every((weight) => weight === 0);
    return [
      ...(noSize ? [{ path: at('gpus'), what: 'must have a size with a weight above 0' }] : []),
      ...tooSmall('validation_hours', habit.validation_hours, VALIDATION_HOURS_MIN),
      ...tooSmall('gpu_days_between_crashes', habit.gpu_days_between_crashes, GPU_DAYS_BETWEEN_CRASHES_MIN),
    ];
  }
  if (habit.kind === 'notebook') {
    return tooSmall('stopped_idle_hours', habit.stopped_idle_hours, STOPPED_IDLE_HOURS_MIN);
  }
  if (habit.kind !== 'serving' || habit.purpose !== 'traffic') return [];
  const silent = habit.requests_by_hour.every((weight) => weight === 0);
  return [
    ...(silent ? [{ path: at('requests_by_hour'), what: 'must have an hour with requests, or nobody calls it' }] : []),
    ...(habit.request_s > 0 ? [] : [{ path: at('request_s'), what: 'must be more than 0, but is 0' }]),
  ];
}
