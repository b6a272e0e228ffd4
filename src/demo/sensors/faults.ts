import { chanceOf, noiseAt, type Chance } from '../chance.ts';
import type { Node, Scope } from '../organisation.ts';
import type { Seconds } from '../timeline.ts';
import type { World } from '../world/world-schema.ts';
import { GAUGES } from './reading.ts';

export interface Stretch {
  readonly from: Seconds;
  readonly until: Seconds;
}

/** What the instruments of one machine get wrong all the time, or for a stretch of it. */
export interface NodeFaults {
  /** No rows of the machine at all, while its exporter is dead. */
  readonly dead: Stretch | undefined;
  readonly hasProfiling: boolean;
  readonly sendsBlanks: boolean;
  /** Seconds its clock is ahead. */
  readonly clockOffS: number;
  readonly hasSecondExporter: boolean;
  /** Whether it slows down when it has much to do. */
  readonly runsHot: boolean;
  /** When somebody has a profiler open, and the profiling fields read 0. */
  readonly profiled: readonly Stretch[];
}

const HOUR_S = 3600;
const MONTH_S = 30 * 24 * HOUR_S;
const YEAR_S = 365 * 24 * HOUR_S;

/** Each fault is drawn by itself, so that a world with one fault more keeps the others where they were. */
export function faultsOf({ sensors }: World, scope: Scope, node: Node): NodeFaults {
  const drawn = (fault: string): Chance => chanceOf(scope.seed, 'sensor', node.id, fault);
  const there = {
    from: Math.max(scope.from, node.presentFrom),
    until: Math.min(scope.until, node.presentUntil),
  };
  return {
    dead: deadStretch(sensors, there, drawn('dead-exporter')),
    hasProfiling: !drawn('no-profiling').happens(sensors.no_profiling_percent),
    sendsBlanks: drawn('blanks').happens(sensors.blank_percent),
    clockOffS: drawn('clock').happens(sensors.clock_off_percent) ? sensors.clock_off_s : 0,
    hasSecondExporter: drawn('second-exporter').happens(sensors.two_exporters_percent),
    runsHot: drawn('heat').happens(sensors.throttled_percent),
    profiled: profilerSessions(sensors, there, drawn('profiler')),
  };
}

function deadStretch(sensors: World['sensors'], there: Stretch, chance: Chance): Stretch | undefined {
  if (!chance.happens(sensors.dead_exporter_percent)) return undefined;
  const from = there.from + chance.whole(Math.max(1, there.until - there.from));
  return { from, until: from + Math.round(chance.from(sensors.dead_exporter) * HOUR_S) };
}

function profilerSessions(sensors: World['sensors'], there: Stretch, chance: Chance): readonly Stretch[] {
  const sessions: Stretch[] = [];
  if (sensors.profiler_sessions === 0) return sessions;
  let until = there.from;
  for (;;) {
    const from = until + Math.ceil(chance.wait(MONTH_S / sensors.profiler_sessions));
    if (from >= there.until) return sessions;
    until = from + Math.max(1, Math.round(chance.from(sensors.profiler_minutes) * 60));
    sessions.push({ from, until });
  }
}

export function isIn(stretch: Stretch, moment: Seconds): boolean {
  return moment >= stretch.from && moment < stretch.until;
}

/** Numbers of the draws of a device at a moment; 0 to 8 are the noise of its gauges. */
const [LOST, BLANK, BLANK_PLACE, XID, THROTTLE, XID_SECOND] = [10, 11, 12, 13, 14, 15] as const;
/** The draw that moves the power a GPU takes at rest. */
export const REST_DRAW = 9;
const DRAWS = 4_294_967_296;

/** Errors of programs and of single memory cells; those that take the machine down are its fate, not its sensors'. */
const XIDS = [13, 31, 43, 63, 94] as const;
/** What a GPU says last before its machine goes down: it has fallen off the bus. */
export const XID_OFF_THE_BUS = 79;

/** What goes wrong with single samples. `key` stands for the device as one exporter sees it. */
export interface SampleFaults {
  isLost(key: number, moment: Seconds): boolean;
  /** The gauges whose value is a blank, one bit each. */
  blanksAt(key: number, moment: Seconds): number;
  /** The errors a GPU meets in a stretch of time, in order. */
  xidsIn(key: number, stretch: Stretch): readonly { readonly at: Seconds; readonly xid: number }[];
}

export function sampleFaultsOf({ sensors }: World): SampleFaults {
  const lostBelow = (sensors.missing_permille / 1000) * DRAWS;
  const blanksPerSample = (sensors.blank_permille / 1000) * GAUGES;
  const xidBelow = ((sensors.xid_per_gpu_year * HOUR_S) / YEAR_S) * DRAWS;
  return {
    isLost: (key, moment) => noiseAt(key, moment, LOST) < lostBelow,
    blanksAt: (key, moment) => {
      if (blanksPerSample === 0) return 0;
      const draw = noiseAt(key, moment, BLANK);
      const count = Math.floor(blanksPerSample + draw / DRAWS);
      return count === 0 ? 0 : neighbours(noiseAt(key, moment, BLANK_PLACE) % GAUGES, count);
    },
    xidsIn: (key, { from, until }) => {
      const met: { at: Seconds; xid: number }[] = [];
      if (xidBelow === 0) return met;
      // One draw for each hour of the clock, so that any stretch meets the same errors.
      for (let hour = Math.floor(from / HOUR_S); hour * HOUR_S < until; hour += 1) {
        const draw = noiseAt(key, hour, XID);
        const at = hour * HOUR_S + (noiseAt(key, hour, XID_SECOND) % HOUR_S);
        if (draw < xidBelow && at >= from && at < until) met.push({ at, xid: XIDS[draw % XIDS.length]! });
      }
      return met;
    },
  };
}

/** So many bits from `first` on, around the end: each gauge is met equally often, with one draw for all of them. */
function neighbours(first: number, count: number): number {
  let bits = 0;
  for (let step = 0; step < count; step += 1) bits |= 1 << ((first + step) % GAUGES);
  return bits;
}

/** Bits of NVML's clock throttle reasons. */
const HARDWARE_SLOWDOWN = 8;
const THERMAL_SLOWDOWN = 32;
/** Heat builds up and goes within minutes, not from one sample to the next. */
const HEAT_S = 600;
export const HOT_POWER_PERMILLE_MIN = 500;

/** Why a busy GPU of a hot machine is slowed down at the moment; 0: it is not. */
export function throttleAt(key: number, moment: Seconds): number {
  const draw = noiseAt(key, Math.floor(moment / HEAT_S), THROTTLE) / DRAWS;
  if (draw < 0.5) return THERMAL_SLOWDOWN;
  return draw < 0.65 ? HARDWARE_SLOWDOWN : 0;
}
