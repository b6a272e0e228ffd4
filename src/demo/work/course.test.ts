import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Course, CourseRequest } from '../organisation.ts';
import { pausedSeconds } from '../timeline.ts';
import type { Habit } from '../world/habit-schema.ts';
import type { Quantiles } from '../world/world-schema.ts';
import { asksFirstAt, courseOf, meanGpuHours } from './course.ts';
import * as small from './small-work.ts';

const { always, BOX, DAY, HOUR, MONDAY, NOTEBOOK, requestFor, SERVING, smallWorld, SWEEP, TRAINING } = small;

const percent = fc.constantFrom(0, 10, 50, 90, 100);
const upTo = (most: number): fc.Arbitrary<Quantiles> =>
  fc
    .array(fc.double({ min: 0, max: most, noNaN: true }), { minLength: 6, maxLength: 6 })
    .map((values) => values.sort((a, b) => a - b) as [number, number, number, number, number, number])
    .map(([p0, p10, p50, p90, p99, p100]) => ({ p0, p10, p50, p90, p99, p100 }));

const trainings = fc.record({
  hours: upTo(900),
  startup_minutes: upTo(90),
  step_ms: fc.nat(999).map((ms) => ms + 1),
  cpus_per_gpu: upTo(30),
  cpu_ms_per_step: fc.nat(9000),
  storage_ms_per_step: fc.nat(900),
  all_reduce_ms: fc.nat(200),
  checkpoint_minutes: fc.nat(300),
  checkpoint_s: fc.nat(400),
  validation_hours: fc.constantFrom(0, 0.01, 3),
  validation_minutes: upTo(60),
  fails_early_percent: percent,
  early_minutes: upTo(60),
  retries: fc.nat(3),
  gpu_days_between_crashes: fc.constantFrom(0, 0.01, 3),
  cancelled_percent: percent,
  stays_percent: percent,
  stays_hours: upTo(90),
  touches_fewer_percent: percent,
});
const sweeps = fc.record({
  hours: upTo(90),
  startup_minutes: upTo(9),
  step_ms: fc.nat(999).map((ms) => ms + 1),
  load_ms: fc.nat(9000),
  winners_percent: percent,
  stopped_early_percent: percent,
});
const tempo = { burst_minutes: upTo(60), pause_minutes: upTo(200) };
const notebooks = fc.record({
  ...tempo,
  days_used: upTo(20),
  closed_at_night_percent: percent,
  forgotten_percent: percent,
  forgotten_days: upTo(30),
  stopped_idle_hours: fc.constantFrom(0, 0.1, 2),
});
const servings = fc.record({
  purpose: fc.constantFrom('traffic' as const, 'standby' as const, 'abandoned' as const),
  requests_by_hour: fc.array(fc.nat(100), {
    minLength: 24,
    maxLength: 24,
  }),
  weekend_percent: percent,
  request_s: fc.constantFrom(0, 0.2, 9),
  batch: fc.nat(31).map((size) => size + 1),
  peak_load_percent: percent,
  autoscaled: fc.boolean(),
  days_between_rollouts: fc.constantFrom(0, 0.001, 6.5),
});
const boxes = fc.record({ ...tempo, used_days_percent: percent, forgotten_percent: percent });

const habits: fc.Arbitrary<Habit> = fc.oneof(
  trainings.map((fields) => ({ ...TRAINING, ...fields })),
  sweeps.map((fields) => ({ ...SWEEP, ...fields })),
  notebooks.map((fields) => ({ ...NOTEBOOK, ...fields })),
  servings.map((fields) => ({ ...SERVING, ...fields })),
  boxes.map((fields) => ({ ...BOX, ...fields })),
);

const requests: fc.Arbitrary<CourseRequest> = fc
  .record({
    habit: habits,
    serial: fc.nat(1000),
    gpus: fc.constantFrom(1, 4, 8, 20),
    offset: fc.integer({
      min: -12,
      max: 14,
    }),
    begin: fc.integer({
      min: -4 * DAY,
      max: 10 * DAY,
    }),
    lostAfter: fc.option(fc.nat(20 * DAY)),
    of: fc.nat(11),
    index: fc.nat(11),
    by: fc.constantFrom('preempted' as const, 'node-fail' as const),
  })
  .map(({ habit, serial, gpus, offset, begin, lostAfter, of, index, by }) =>
    requestFor(habit, {
      serial,
      gpus,
      team: { utc_offset_hours: offset },
      from: MONDAY + begin,
      place: {
        index: Math.min(index, of),
        of: of + 1,
      },
      scope: {
        seed: 1,
        gpus: 250,
        from: MONDAY,
        until: MONDAY + 10 * DAY,
        stepS: 300,
      },
      machineLost: {
        at: lostAfter === null ? Infinity : MONDAY + begin + 1 + lostAfter,
        by,
      },
    }),
  );

/** What is wrong with a course, in words. */
function faultsOf({ from, scope, devices, machineLost, progress }: CourseRequest, course: Course): readonly string[] {
  const { until, outcome, asksAgainAt } = course;
  const faults: string[] = [];
  const claim = (holds: boolean, fault: string) => holds || faults.push(fault);
  claim(Number.isInteger(until) && until > from, 'it has no second');
  claim(until <= machineLost.at, 'it outlives its machine');
  claim(until <= scope.until + DAY, 'it is told for too long');
  claim(outcome !== 'running' || until === scope.until + DAY, 'it runs on and ends');
  claim(
    (outcome === 'preempted' || outcome === 'node-fail') === (outcome === machineLost.by && until === machineLost.at),
    'a loss is told wrong',
  );
  claim(asksAgainAt === undefined || (Number.isInteger(asksAgainAt) && asksAgainAt >= until), 'it asks before its end');
  claim(course.progress.done >= progress.done && course.progress.crashes >= progress.crashes, 'it goes back');
  claim(Number.isInteger(course.cpusPerGpu) && course.cpusPerGpu > 0, 'it has no cores');
  claim(course.spansOfDevice.length === devices.length, 'a device is missing');
  for (const spans of new Set(course.spansOfDevice)) {
    let at = from;
    for (const span of spans) {
      claim(span.from === at && span.until > span.from && Number.isInteger(span.until), `a gap at ${at - from}`);
      claim(span.parts.reduce((sum, { permille }) => sum + permille, 0) === 1000, 'parts do not add up');
      claim(
        span.parts.every(({ permille }) => Number.isInteger(permille) && permille > 0),
        'a part of nothing',
      );
      const levels = [span.levels, ...(span.pause ? [span.pause.levels] : [])].flatMap((each) => Object.values(each));
      claim(
        levels.every((level: number) => Number.isInteger(level) && level >= 0 && level <= 1000),
        'levels off the scale',
      );
      claim(span.pause === undefined || span.pause.forS < span.pause.everyS, 'a pause without end');
      claim(pausedSeconds(span, span.from, span.until) < span.until - span.from, 'nothing but pauses');
      claim(span.traffic === undefined || (Number.isFinite(span.traffic.perHour) && span.traffic.busyS > 0), 'traffic');
      at = span.until;
    }
    claim(at === until, 'spans end elsewhere');
  }
  return faults;
}

describe('a course', () => {
  it(
    'has no gaps, adds up and stays within its machines and the window, whatever the habit',
    { timeout: 120_000 },
    () => {
      const outcomes = new Set<string>();
      fc.assert(
        fc.property(requests, (request) => {
          const course = courseOf(request);
          outcomes.add(`${request.job.habit.kind} ${course.outcome}`);
          expect(faultsOf(request, course)).toEqual([]);
        }),
        { numRuns: 600, seed: 4 },
      );
      // Not for want of trying: every kind was cut off, and every way to end was met.
      expect(outcomes.size).toBeGreaterThan(14);
    },
  );

  it('is the same for whoever asks again, in all lives of a job', () => {
    fc.assert(
      fc.property(requests, (request) => {
        const { at, by } = request.machineLost;
        const lives = () =>
          small.livesOf(request, courseOf, (_, from) => ({ at: from + at - request.from, by })).slice(0, 4);
        expect(lives()).toEqual(lives());
      }),
      { numRuns: 40, seed: 5 },
    );
  });

  it('of a run is not followed by more than its retries allow, and one for a mended mistake', () => {
    fc.assert(
      fc.property(trainings, fc.nat(1000), (fields, serial) => {
        const lives = small.livesOf(requestFor({ ...TRAINING, ...fields }, { serial }), courseOf);
        expect(lives.length).toBeLessThanOrEqual(fields.retries + 2);
        expect(lives.at(-1)!.progress.crashes).toBeLessThanOrEqual(fields.retries + 1);
      }),
      { numRuns: 100, seed: 6 },
    );
  });

  it('of one job does not move with another’s number', () => {
    const runs = { ...TRAINING, hours: { p0: 1, p10: 2, p50: 5, p90: 9, p99: 20, p100: 30 } };
    const lengths = Array.from({ length: 50 }, (_, serial) => courseOf(requestFor(runs, { serial })).until);
    expect(new Set(lengths).size).toBeGreaterThan(45);
  });

  it('on no device, or on a machine that is gone, is a mistake', () => {
    const request = requestFor(TRAINING);
    expect(() => courseOf({ ...request, devices: [] })).toThrow('without a device');
    expect(() => courseOf({ ...request, machineLost: { at: request.from, by: 'preempted' } })).toThrow('that is gone');
  });
});

describe('when a job first asks', () => {
  it.each([TRAINING, SWEEP, NOTEBOOK])('a $kind when it is submitted', (habit) => {
    const { world, scope, job } = requestFor(habit, { from: MONDAY + 3 * DAY });
    expect(asksFirstAt(world, scope, job)).toBe(MONDAY + 3 * DAY);
  });
});

describe('GPU-hours a job holds on average', () => {
  const mean = (habit: Habit) => meanGpuHours(smallWorld([habit]), habit);

  it.each([
    ['a run that lacks nothing: its start and its work', TRAINING, 10 + 1 / 6],
    ['a starved one takes longer', { ...TRAINING, storage_ms_per_step: 200 }, 20 + 1 / 6],
    ['on eight GPUs eight times that', { ...TRAINING, gpus: { '8': 1 } }, 8 * (10 + 1 / 6)],
    ['with pods that stay', { ...TRAINING, stays_percent: 100 }, 18 + 1 / 6],
    ['a trial', SWEEP, 3 + 1 / 12],
    ['losers that are stopped', { ...SWEEP, winners_percent: 0, stopped_early_percent: 100 }, 1 + 1 / 12],
  ])('%s', (_, habit, want) => {
    expect(mean(habit)).toBeCloseTo(want, 6);
  });

  it('a session holds its nights and weekends', () => {
    const open = mean(NOTEBOOK);
    const closed = mean({ ...NOTEBOOK, closed_at_night_percent: 100 });
    expect(closed).toBeGreaterThan(2 * 7);
    expect(closed).toBeLessThan(3 * 9);
    expect(open).toBeGreaterThan(closed + 2 * 14);
    expect(mean({ ...NOTEBOOK, forgotten_percent: 100 })).toBeCloseTo(open + 9 * 24, 6);
  });

  it('crashes are paid for by what is done again', () => {
    const crashing = { ...TRAINING, gpu_days_between_crashes: 0.5, retries: 50 };
    const saved = mean({ ...crashing, checkpoint_minutes: 30 });
    expect(saved).toBeGreaterThan(10 + 1 / 6);
    expect(mean(crashing)).toBeGreaterThan(saved * 1.2);
  });

  it('long tails are met, although few of them are drawn', () => {
    const hours = { p0: 0.003, p10: 0.018, p50: 0.41, p90: 5, p99: 40, p100: 400 };
    // The middle of each line between two quantiles, times its share; and ten minutes to start.
    const exact = 0.1 * 0.0105 + 0.4 * 0.214 + 0.4 * 2.705 + 0.09 * 22.5 + 0.01 * 220;
    expect(Math.abs(mean({ ...TRAINING, hours, startup_minutes: always(0) }) / exact - 1)).toBeLessThan(0.01);
  });

  it('is asked of jobs that come and go only', () => {
    expect(() => mean(SERVING)).toThrow('there all the time');
    expect(() => mean(BOX)).toThrow('there all the time');
  });

  it('no life is followed for longer than forty days', () => {
    expect(mean({ ...TRAINING, hours: always(100_000) })).toBe((40 * DAY) / HOUR);
  });
});
