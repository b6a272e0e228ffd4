import { pausedSeconds, type Span, type Seconds } from '../timeline.ts';
import { NO_PROGRESS, type Course, type CourseRequest, type Job } from '../organisation.ts';
import type { Box, Habit, Notebook, Serving, Sweep, Training } from '../world/habit-schema.ts';
import { REASONS, type Pool, type Quantiles, type Reason, type Team, type World } from '../world/world-schema.ts';
import { imaginedDevices } from './imagined-devices.ts';

/** A world for tests with one team, one pool and round numbers, and questions one asks about what happened in it. */

/** Monday, 5 January 2026, midnight UTC. */
export const MONDAY: Seconds = 1_767_571_200;
export const HOUR = 3600;
export const DAY = 86_400;

export const always = (value: number): Quantiles => ({
  p0: value,
  p10: value,
  p50: value,
  p90: value,
  p99: value,
  p100: value,
});

const whose = { team: 'nlp', pool: 'train', kernel: 'work', untagged_percent: 0 };

/** Ten hours of work on one GPU, nothing goes wrong. */
export const TRAINING: Training = {
  kind: 'training',
  name: 'run',
  ...whose,
  load_percent: 50,
  class: 'training',
  gpus: { '1': 1 },
  hours: always(10),
  startup_minutes: always(10),
  step_ms: 100,
  cpus_per_gpu: always(8),
  cpu_ms_per_step: 400,
  storage_ms_per_step: 20,
  all_reduce_ms: 0,
  checkpoint_minutes: 0,
  checkpoint_s: 0,
  validation_hours: 0,
  validation_minutes: always(6),
  fails_early_percent: 0,
  early_minutes: always(5),
  gpu_days_between_crashes: 0,
  retries: 3,
  cancelled_percent: 0,
  stays_percent: 0,
  stays_hours: always(8),
  touches_fewer_percent: 0,
};

/** Trials of three hours that all win. */
export const SWEEP: Sweep = {
  kind: 'sweep',
  name: 'sweep',
  ...whose,
  load_percent: 50,
  trials: always(8),
  gpus_per_trial: 1,
  hours: always(3),
  startup_minutes: always(5),
  step_ms: 100,
  load_ms: 50,
  winners_percent: 100,
  stopped_early_percent: 0,
};

/** Ten minutes of running, twenty of reading, for three days, left on at night and closed at the end. */
export const NOTEBOOK: Notebook = {
  kind: 'notebook',
  name: 'notebook',
  ...whose,
  load_percent: 50,
  gpus: 1,
  burst_minutes: always(10),
  pause_minutes: always(20),
  days_used: always(3),
  closed_at_night_percent: 0,
  forgotten_percent: 0,
  forgotten_days: always(9),
  stopped_idle_hours: 0,
};

/** Busy half of the time by day, with a quarter of the requests by night and half of them on weekends. */
export const SERVING: Serving = {
  kind: 'serving',
  name: 'api',
  ...whose,
  share_percent: 50,
  purpose: 'traffic',
  requests_by_hour: Array.from({ length: 24 }, (_, hour) => (hour >= 8 && hour < 20 ? 100 : 25)),
  weekend_percent: 50,
  request_s: 2,
  batch: 1,
  peak_load_percent: 50,
  burst: always(1),
  autoscaled: false,
  days_between_rollouts: 0,
};

export const BOX: Box = {
  kind: 'box',
  name: 'box',
  ...whose,
  share_percent: 100,
  burst_minutes: always(10),
  pause_minutes: always(20),
  used_days_percent: 100,
  forgotten_percent: 0,
};

const GPU = {
  model: 'A100',
  memory_mib: 81_920,
  rest_w: 60,
  held_w: 80,
  full_w: 400,
  pcie_mb_s: 64_000,
  nvlink_mb_s: 600_000,
};

const POOL: Pool = {
  name: 'train',
  cluster: 'atlas',
  scheduler: 'slurm',
  share_percent: 100,
  gpu: 'a100',
  gpus_per_node: 8,
  cpus_per_gpu: 12,
  instance_type: 'metal',
  region: 'berlin',
  purchase: 'owned',
  price_per_gpu_hour: 1,
  list_price_per_gpu_hour: 2,
  sharing: 'whole',
  placement: 'pack',
  days_between_failures: 100,
  hours_broken: always(5),
  drained_percent: 0,
  tags: {},
};

const TEAM: Team = { name: 'nlp', users: ['kim'], utc_offset_hours: 0 };

const KERNEL = {
  engine_permille: 900,
  sm_permille: 800,
  tensor_permille: 500,
  dram_permille: 400,
  util_permille: 1000,
  power_permille: 700,
  memory_permille: 600,
  pcie_permille: 100,
  nvlink_permille: 300,
};

/** People work from 9 to 18. */
export function smallWorld(habits: readonly Habit[], team: Partial<Team> = {}): World {
  const none = always(0);
  return {
    name: 'small',
    gpus: { a100: GPU },
    kernels: { work: KERNEL },
    providers: [],
    pools: [POOL],
    teams: [{ ...TEAM, ...team }],
    calendar: {
      day_begins_hour: 9,
      day_ends_hour: 18,
      weekend_submissions_percent: 10,
      submissions_by_hour: Array.from({ length: 24 }, () => 1),
    },
    habits: [...habits],
    sensors: {
      noise_permille: 0,
      missing_permille: 0,
      blank_percent: 0,
      blank_permille: 0,
      dead_exporter_percent: 0,
      dead_exporter: none,
      no_profiling_percent: 0,
      clock_off_percent: 0,
      clock_off_s: 0,
      two_exporters_percent: 0,
      profiler_sessions: 0,
      profiler_minutes: none,
      xid_per_gpu_year: 0,
      throttled_percent: 0,
    },
    reasons: Object.fromEntries(Object.keys(REASONS).map((reason) => [reason, 'arguable'])) as World['reasons'],
  };
}

export interface Asked extends Partial<Omit<CourseRequest, 'job' | 'world' | 'devices'>> {
  readonly gpus?: number;
  readonly serial?: number;
  readonly place?: Job['place'];
  readonly team?: Partial<Team>;
}

/** A job of the habit that begins on Monday at ten and may run for the weeks of a window of 30 days. */
export function requestFor(habit: Habit, asked: Asked = {}): CourseRequest {
  const { gpus = 1, serial = 1, place = { index: 0, of: 1 }, team, ...rest } = asked;
  const world = smallWorld([habit], team);
  const pool = world.pools[0]!;
  const from = rest.from ?? MONDAY + 10 * HOUR;
  const job: Job = {
    id: `${habit.name}-${serial}`,
    habit,
    team: world.teams[0]!,
    pool,
    user: 'kim',
    name: habit.name,
    gpus,
    submittedAt: from,
    tagged: true,
    place,
    key: [7, 'job', habit.name, serial],
  };
  return {
    world,
    job,
    number: 0,
    progress: NO_PROGRESS,
    from,
    devices: imaginedDevices(world, pool, gpus),
    scope: {
      seed: 7,
      gpus: 8,
      from: MONDAY,
      until: MONDAY + 30 * DAY,
      stepS: 300,
    },
    machineLost: {
      at: Infinity,
      by: 'node-fail',
    },
    ...rest,
  };
}

/** Seconds of each reason on one device, in thousandths rounded away. */
export function secondsByReason(spans: readonly Span[]): Partial<Record<Reason, number>> {
  const sums = new Map<Reason, number>();
  const add = (reason: Reason, seconds: number) => sums.set(reason, (sums.get(reason) ?? 0) + seconds);
  for (const span of spans) {
    const paused = pausedSeconds(span, span.from, span.until);
    if (span.pause !== undefined && paused > 0) add(span.pause.reason, paused);
    for (const { reason, permille } of span.parts) add(reason, ((span.until - span.from - paused) * permille) / 1000);
  }
  return Object.fromEntries([...sums].map(([reason, seconds]) => [reason, Math.round(seconds)]));
}

/** All lives of a job, one right after the other asked. */
export function livesOf(
  request: CourseRequest,
  courseOf: (request: CourseRequest) => Course,
  lossAt: (life: number, from: Seconds) => CourseRequest['machineLost'] = () => request.machineLost,
): readonly Course[] {
  const lives: Course[] = [];
  let next: CourseRequest | undefined = request;
  while (next !== undefined && lives.length < 50) {
    const course = courseOf({ ...next, machineLost: lossAt(lives.length, next.from) });
    lives.push(course);
    const { asksAgainAt: from, progress } = course;
    next = from === undefined ? undefined : { ...next, from, progress, number: next.number + 1 };
  }
  return lives;
}
