import type { Attempt, Device, Holding, Job, Node, OrganisationDay } from '../organisation.ts';
import type { Levels, Seconds, Span } from '../timeline.ts';
import type { Habit } from '../world/habit-schema.ts';
import type { Gpu, Pool, Quantiles, Reason, World } from '../world/world-schema.ts';
import { REASONS } from '../world/world-schema.ts';

/** 2026-10-02T00:00:00Z, the second day of a window of three. */
export const DAY_FROM: Seconds = 1_790_899_200;
export const DAY_S = 86_400;
/** A step of an hour: a day of a device is 24 lines that can be counted by hand. */
export const STEP_S = 3600;

/** Always the same value. */
export const just = (value: number): Quantiles => ({
  p0: value,
  p10: value,
  p50: value,
  p90: value,
  p99: value,
  p100: value,
});

/** Instruments that get nothing wrong. */
export const FLAWLESS: World['sensors'] = {
  noise_permille: 0,
  missing_permille: 0,
  blank_percent: 100,
  blank_permille: 0,
  dead_exporter_percent: 0,
  dead_exporter: just(6),
  no_profiling_percent: 0,
  clock_off_percent: 0,
  clock_off_s: 90,
  two_exporters_percent: 0,
  profiler_sessions: 0,
  profiler_minutes: just(120),
  xid_per_gpu_year: 0,
  throttled_percent: 0,
};

/** Round figures, so that what a level comes to is seen at a glance. */
export const GPU: Gpu = {
  model: 'Test GPU',
  memory_mib: 80_000,
  rest_w: 100,
  held_w: 100,
  full_w: 600,
  pcie_mb_s: 100_000,
  nvlink_mb_s: 400_000,
};

export const WORK: Levels = {
  engine: 900,
  sm: 600,
  tensor: 300,
  dram: 400,
  util: 990,
  power: 800,
  memory: 500,
  pcie: 10,
  nvlink: 250,
};

const POOL: Pool = {
  name: 'pool',
  cluster: 'cluster',
  scheduler: 'kubernetes',
  share_percent: 100,
  gpu: 'test',
  gpus_per_node: 2,
  cpus_per_gpu: 8,
  instance_type: 'machine',
  region: 'here',
  purchase: 'owned',
  price_per_gpu_hour: 1,
  list_price_per_gpu_hour: 1,
  sharing: 'whole',
  placement: 'pack',
  days_between_failures: 1000,
  hours_broken: just(1),
  drained_percent: 0,
  tags: {},
};

const TEAM = { name: 'team', users: ['somebody'], utc_offset_hours: 0 };

const HABIT: Habit = {
  kind: 'serving',
  name: 'service',
  team: 'team',
  pool: 'pool',
  kernel: 'kernel',
  untagged_percent: 0,
  share_percent: 100,
  purpose: 'traffic',
  requests_by_hour: Array.from({ length: 24 }, () => 1),
  weekend_percent: 100,
  request_s: 1,
  batch: 1,
  peak_load_percent: 50,
  burst: just(1),
  autoscaled: false,
  days_between_rollouts: 0,
};

/** What is different from one machine with two GPUs on which nothing runs. */
export interface SmallDay {
  readonly sensors?: Partial<World['sensors']>;
  readonly gpu?: Partial<Gpu>;
  readonly pool?: Partial<Pool>;
  readonly nodes?: number;
  /** Cuts the first GPU into slices of these shares. */
  readonly cutInto?: readonly number[];
  readonly present?: readonly [from: Seconds, until: Seconds];
  readonly states?: Node['states'];
  readonly seed?: number;
  readonly stepS?: number;
  /** Counted from the day of the window: 1 is `DAY_FROM`. */
  readonly dayNumber?: number;
  /** Lists of spans that lie on the device of this place of the first machine, each an attempt of its own. */
  readonly onDevice?: Readonly<Record<number, readonly (readonly Span[])[]>>;
}

/** An organisation's day small enough to be worked out by hand. */
export function smallDay(different: SmallDay = {}): OrganisationDay {
  const pool: Pool = { ...POOL, ...different.pool };
  const window = { from: DAY_FROM - DAY_S, until: DAY_FROM + 2 * DAY_S };
  const nodes = Array.from({ length: different.nodes ?? 1 }, (_, number) => nodeOf(number, pool, window, different));
  const from = window.from + (different.dayNumber ?? 1) * DAY_S;
  return {
    world: worldOf(pool, different),
    scope: { seed: different.seed ?? 1, gpus: 2 * nodes.length, ...window, stepS: different.stepS ?? STEP_S },
    from,
    until: from + DAY_S,
    nodes,
    begun: [],
    waiting: [],
    onDevice: new Map(
      Object.entries(different.onDevice ?? {}).map(([place, lives]) => {
        const device = nodes[0]!.devices[Number(place)]!;
        return [device, lives.map((spans, number) => holdingOf(device, spans, pool, number))];
      }),
    ),
  };
}

function worldOf(pool: Pool, { sensors, gpu }: SmallDay): World {
  const hourly = Array.from({ length: 24 }, () => 1);
  return {
    name: 'small',
    gpus: { test: { ...GPU, ...gpu } },
    kernels: {},
    providers: [],
    pools: [pool],
    teams: [TEAM],
    calendar: {
      day_begins_hour: 9,
      day_ends_hour: 18,
      submissions_by_hour: hourly,
      weekend_submissions_percent: 0,
    },
    habits: [HABIT],
    sensors: { ...FLAWLESS, ...sensors },
    reasons: Object.fromEntries(Object.keys(REASONS).map((reason) => [reason, 'arguable'])) as World['reasons'],
  };
}

function nodeOf(
  number: number,
  pool: Pool,
  window: { readonly from: Seconds; readonly until: Seconds },
  { gpu, cutInto = [], present = [window.from, window.until + DAY_S], states }: SmallDay,
): Node {
  const [presentFrom, presentUntil] = present;
  const devices: Device[] = [];
  const node: Node = {
    id: `node-${number}`,
    resourceId: '',
    pool,
    presentFrom,
    presentUntil,
    states: states ?? [{ from: presentFrom, until: presentUntil, state: 'up' }],
    devices,
  };
  const add = (id: string, shareUnits: number, isCut: boolean, parent?: Device): Device => {
    const device = { id, node, index: devices.length, shareUnits, isCut, gpu: { ...GPU, ...gpu } };
    const whole: Device = parent === undefined ? device : { ...device, parent };
    devices.push(whole);
    return whole;
  };
  const first = add(`GPU-${number}-0`, 63_000, cutInto.length > 0);
  for (const [place, units] of cutInto.entries()) add(`MIG-${number}-0-${place}`, units, false, first);
  add(`GPU-${number}-1`, 63_000, false);
  return node;
}

export function holdingOf(device: Device, spans: readonly Span[], pool: Pool, number = 0): Holding {
  const job: Job = {
    id: `job-${number}`,
    habit: HABIT,
    team: TEAM,
    pool,
    user: 'somebody',
    name: 'job',
    gpus: 1,
    submittedAt: spans[0]!.from,
    tagged: true,
    place: { index: 0, of: 1 },
    key: [1, 'job', 'service', number],
  };
  const attempt: Attempt = {
    job,
    number: 0,
    from: spans[0]!.from,
    until: spans.at(-1)!.until,
    outcome: 'completed',
    cpusPerGpu: 8,
    groups: [{ devices: [device], spans }],
  };
  return { attempt, spans };
}

/** A span of the day, from one hour of it to another. */
export function hours(from: number, until: number, levels: Levels, more: Partial<Span> = {}): Span {
  const reason: Reason = 'stepping';
  return {
    from: DAY_FROM + from * 3600,
    until: DAY_FROM + until * 3600,
    parts: [{ reason, permille: 1000 }],
    levels,
    ...more,
  };
}
