import { describe, expect, it } from 'vitest';
import type { Course } from '../organisation.ts';
import type { Training } from '../world/habit-schema.ts';
import type { Reason } from '../world/world-schema.ts';
import { kernelOf } from './activity.ts';
import { courseOf } from './course.ts';
import { always, DAY, HOUR, livesOf, MONDAY, requestFor, secondsByReason, TRAINING, type Asked } from './small-work.ts';

const START = MONDAY + 10 * HOUR;
/** After ten minutes of starting up. */
const FIRST_STEP = START + 600;

const live = (habit: Partial<Training>, asked: Asked = {}): Course =>
  courseOf(requestFor({ ...TRAINING, ...habit }, asked));
const reasons = (course: Course, device = 0) => secondsByReason(course.spansOfDevice[device]!);

interface Case {
  readonly habit?: Partial<Training>;
  readonly asked?: Asked;
  readonly outcome?: Course['outcome'];
  readonly want: Partial<Record<Reason, number>>;
}

const lost = (at: number, by: 'preempted' | 'node-fail') => ({ machineLost: { at: FIRST_STEP + at, by } });

const cases: Record<string, Case> = {
  'a run that lacks nothing steps for its ten hours': {
    want: { 'starting-up': 600, stepping: 10 * HOUR },
  },
  'with two cores instead of eight its loader needs twice the step': {
    habit: { cpus_per_gpu: always(2) },
    want: { 'starting-up': 600, stepping: 10 * HOUR, 'waiting-for-data': 10 * HOUR },
  },
  'slow storage starves it, however many cores it has': {
    habit: { storage_ms_per_step: 400 },
    want: { 'starting-up': 600, stepping: 10 * HOUR, 'waiting-for-data': 30 * HOUR },
  },
  'gradients within a machine are part of the ten hours': {
    habit: { all_reduce_ms: 25 },
    asked: { gpus: 8 },
    want: { 'starting-up': 600, stepping: 8 * HOUR, 'all-reduce': 2 * HOUR },
  },
  'between machines they take four times as long': {
    habit: { all_reduce_ms: 25 },
    asked: { gpus: 16 },
    want: { 'starting-up': 600, stepping: 5 * HOUR, 'all-reduce': 5 * HOUR },
  },
  'one GPU has nobody to exchange them with': {
    habit: { all_reduce_ms: 25 },
    want: { 'starting-up': 600, stepping: 10 * HOUR },
  },
  'a checkpoint an hour, but none right at the end': {
    habit: { checkpoint_minutes: 60, checkpoint_s: 90 },
    want: { 'starting-up': 600, stepping: 10 * HOUR, checkpointing: 9 * 90 },
  },
  'four validations in ten hours, each with a checkpoint before it': {
    habit: { validation_hours: 2, checkpoint_minutes: 90, checkpoint_s: 60 },
    want: { 'starting-up': 600, stepping: 10 * HOUR, checkpointing: (4 + 5) * 60, 'validating-on-cpu': 4 * 360 },
  },
  'its pods stay for eight hours': {
    habit: { stays_percent: 100 },
    want: { 'starting-up': 600, stepping: 10 * HOUR, 'finished-still-holding': 8 * HOUR },
  },
  'it dies within minutes of its first step; what it waited for meanwhile is a wait': {
    habit: { fails_early_percent: 100, storage_ms_per_step: 200 },
    outcome: 'failed',
    want: { 'starting-up': 600, 'failed-early': 150, 'waiting-for-data': 150 },
  },
  'it dies early although its work would have been shorter still': {
    habit: { fails_early_percent: 100, hours: always(0.01) },
    outcome: 'failed',
    want: { 'starting-up': 600, 'failed-early': 36 },
  },
  'a spot machine is taken away before the first checkpoint': {
    habit: { checkpoint_minutes: 60, checkpoint_s: 60 },
    asked: lost(1800, 'preempted'),
    outcome: 'preempted',
    want: { 'starting-up': 600, preempted: 1800 },
  },
  'a machine breaks half an hour after the second checkpoint': {
    habit: { checkpoint_minutes: 60, checkpoint_s: 60 },
    asked: lost(2 * 3660 + 1800, 'node-fail'),
    outcome: 'node-fail',
    want: { 'starting-up': 600, stepping: 7200, checkpointing: 120, 'lost-since-checkpoint': 1800 },
  },
  'a starved run loses steps; its waits were waits': {
    habit: { checkpoint_minutes: 60, checkpoint_s: 60, cpus_per_gpu: always(2) },
    asked: lost(3660 + 1800, 'preempted'),
    outcome: 'preempted',
    want: { 'starting-up': 600, stepping: 1800, checkpointing: 60, preempted: 900, 'waiting-for-data': 2700 },
  },
  'a checkpoint half written is none': {
    habit: { checkpoint_minutes: 60, checkpoint_s: 60 },
    asked: lost(3659, 'preempted'),
    outcome: 'preempted',
    want: { 'starting-up': 600, preempted: 3600, checkpointing: 59 },
  },
  'one written in no time counts': {
    habit: { checkpoint_minutes: 60 },
    asked: lost(3601, 'preempted'),
    outcome: 'preempted',
    want: { 'starting-up': 600, stepping: 3600, preempted: 1 },
  },
  'what was validated is kept by the checkpoint before it': {
    habit: { checkpoint_minutes: 600, checkpoint_s: 60, validation_hours: 2 },
    asked: lost(2 * HOUR + 60 + 100, 'node-fail'),
    outcome: 'node-fail',
    want: { 'starting-up': 600, stepping: 2 * HOUR, checkpointing: 60, 'validating-on-cpu': 100 },
  },
  'without checkpoints everything is lost': {
    asked: lost(9 * HOUR, 'node-fail'),
    outcome: 'node-fail',
    want: { 'starting-up': 600, 'lost-since-checkpoint': 9 * HOUR },
  },
  'a machine lost while it starts up costs that': {
    asked: lost(-100, 'node-fail'),
    outcome: 'node-fail',
    want: { 'starting-up': 500 },
  },
  'a machine lost in the second in which it is done costs nothing': {
    asked: lost(10 * HOUR, 'node-fail'),
    want: { 'starting-up': 600, stepping: 10 * HOUR },
  },
  'a machine lost while its pods stay ends only that': {
    habit: { stays_percent: 100 },
    asked: lost(11 * HOUR, 'node-fail'),
    outcome: 'node-fail',
    want: { 'starting-up': 600, stepping: 10 * HOUR, 'finished-still-holding': HOUR },
  },
};

describe('a training run', () => {
  it.each(Object.entries(cases))('%s', (_, { habit = {}, asked = {}, outcome = 'completed', want }) => {
    const course = live(habit, asked);
    expect(reasons(course)).toEqual(want);
    expect(course.outcome).toBe(outcome);
  });

  it('stopped by somebody: its steps were for nothing, its waits were waits, and it does not come back', () => {
    const course = live({ cancelled_percent: 100, cpus_per_gpu: always(2) });
    const { 'cancelled-work': cancelled = 0, 'waiting-for-data': waited = 0, ...others } = reasons(course);
    expect(course).toMatchObject({ outcome: 'cancelled', until: FIRST_STEP + cancelled + waited });
    expect(course.asksAgainAt).toBeUndefined();
    expect(others).toEqual({ 'starting-up': 600 });
    expect(cancelled).toBe(waited);
    expect(cancelled / HOUR).toBeGreaterThan(0.9);
    expect(cancelled / HOUR).toBeLessThan(9.1);
  });

  it('that uses a quarter of eight GPUs leaves six alone for all of its life', () => {
    const course = live({ touches_fewer_percent: 100 }, { gpus: 8 });
    const stepping = { 'starting-up': 600, stepping: 10 * HOUR };
    const untouched = { 'never-touched': 600 + 10 * HOUR };
    expect(course.spansOfDevice.map((_, device) => reasons(course, device))).toEqual([
      stepping,
      stepping,
      untouched,
      untouched,
      untouched,
      untouched,
      untouched,
      untouched,
    ]);
    expect(course.spansOfDevice[7]![0]!.levels.memory).toBe(0);
    expect(live({ touches_fewer_percent: 100 }, { gpus: 3 }).spansOfDevice[2]).toHaveLength(2);
  });

  it('asks for no more cores than its machine has', () => {
    expect(live({ cpus_per_gpu: always(40) }, { gpus: 8 }).cpusPerGpu).toBe(12);
    expect(live({ cpus_per_gpu: always(40) }, { gpus: 1 }).cpusPerGpu).toBe(40);
    expect(live({ cpus_per_gpu: always(0) }).cpusPerGpu).toBe(1);
  });

  it('holds no memory while it starts up, and all of it from then on', () => {
    const habit = { checkpoint_minutes: 60, checkpoint_s: 60, stays_percent: 100 };
    const course = live(habit);
    const { engine_permille: engine, memory_permille: memory } = kernelOf(requestFor({ ...TRAINING, ...habit }));
    expect(course.spansOfDevice[0]!.map(({ levels }) => [levels.engine, levels.memory])).toEqual([
      [0, 0],
      [engine, memory],
      [0, memory],
    ]);
    expect(course.spansOfDevice[0]![1]!.pause).toMatchObject({ everyS: 3660, forS: 60, levels: { engine: 0 } });
  });

  it('of a year is cut a day past the window, and is still running', () => {
    const course = live({ hours: always(9000), validation_hours: 1 });
    expect(course).toMatchObject({ outcome: 'running', until: MONDAY + 31 * DAY });
    expect(course.asksAgainAt).toBeUndefined();
  });
});

describe('the lives of a run', () => {
  const checkpoints = { checkpoint_minutes: 60, checkpoint_s: 60 };
  const total = (lives: readonly Course[], reason: Reason) =>
    lives.reduce((sum, course) => sum + (reasons(course)[reason] ?? 0), 0);

  it('taken away three times, it does what it lost again and its ten hours once', () => {
    const request = requestFor({ ...TRAINING, ...checkpoints });
    const lives = livesOf(request, courseOf, (life, from) => ({
      at: life < 3 ? from + 600 + 3660 + 1000 : Infinity,
      by: 'preempted',
    }));
    expect(lives.map(({ outcome }) => outcome)).toEqual(['preempted', 'preempted', 'preempted', 'completed']);
    expect(lives[0]!.asksAgainAt).toBe(lives[0]!.until + 60);
    expect(total(lives, 'stepping')).toBe(10 * HOUR);
    expect(total(lives, 'preempted')).toBe(3000);
    expect(lives.map(({ progress }) => progress)).toEqual([
      { done: HOUR, crashes: 0 },
      { done: 2 * HOUR, crashes: 0 },
      { done: 3 * HOUR, crashes: 0 },
      { done: 10 * HOUR, crashes: 0 },
    ]);
  });

  it('crashing more often than it is retried, it is given up, and its last life was for nothing', () => {
    // Once in seven minutes on average, so that no life reaches its end.
    const habit = { ...TRAINING, gpu_days_between_crashes: 0.005, retries: 2 };
    const lives = livesOf(requestFor(habit), courseOf);
    expect(lives).toHaveLength(3);
    expect(lives.map((course) => Object.keys(reasons(course)).at(-1))).toEqual([
      'lost-since-checkpoint',
      'lost-since-checkpoint',
      'failed-for-good',
    ]);
    expect(lives.at(-1)!.progress).toEqual({ done: 0, crashes: 3 });
  });

  it('on eight GPUs crashes come eight times as often', () => {
    const habit = { ...TRAINING, gpu_days_between_crashes: 10, hours: always(2000), retries: 0 };
    const scope = { seed: 7, gpus: 8, from: MONDAY, until: MONDAY + 400 * DAY, stepS: 300 };
    const days = (gpus: number, serial: number) =>
      (courseOf(requestFor(habit, { gpus, serial, scope })).until - FIRST_STEP) / DAY;
    for (let serial = 0; serial < 20; serial += 1) expect(days(1, serial) / days(8, serial)).toBeCloseTo(8, 1);
    const mean = Array.from({ length: 300 }, (_, serial) => days(1, serial)).reduce((sum, each) => sum + each, 0) / 300;
    expect(mean).toBeGreaterThan(8.5);
    expect(mean).toBeLessThan(11.5);
  });

  it('a fifth of crashes are out of memory', () => {
    const habit = { ...TRAINING, gpu_days_between_crashes: 0.001, retries: 0 };
    const outcomes = Array.from({ length: 400 }, (_, serial) => courseOf(requestFor(habit, { serial })).outcome);
    const outOfMemory = outcomes.filter((outcome) => outcome === 'out-of-memory').length;
    expect(new Set(outcomes)).toEqual(new Set(['failed', 'out-of-memory']));
    expect(outOfMemory).toBeGreaterThan(55);
    expect(outOfMemory).toBeLessThan(105);
  });

  it('dead of a mistake, most are not started again; those that are, have it mended', () => {
    const habit = { ...TRAINING, fails_early_percent: 100 };
    const all = Array.from({ length: 200 }, (_, serial) => livesOf(requestFor(habit, { serial }), courseOf));
    expect(all.every(([first]) => first!.outcome === 'failed')).toBe(true);
    const again = all.filter(({ length }) => length > 1);
    expect(again.length).toBeGreaterThan(10);
    expect(again.length).toBeLessThan(50);
    expect(again.every((lives) => lives.length === 2 && lives[1]!.outcome === 'completed')).toBe(true);
  });

  it('has the same cores and length in each of its lives', () => {
    const spread = { p0: 1, p10: 2, p50: 6, p90: 12, p99: 16, p100: 16 };
    const request = requestFor({ ...TRAINING, ...checkpoints, cpus_per_gpu: spread, hours: spread });
    const lives = livesOf(request, courseOf, (life, from) => ({
      at: life < 3 ? from + 2 * HOUR : Infinity,
      by: 'preempted',
    }));
    expect(new Set(lives.map(({ cpusPerGpu }) => cpusPerGpu)).size).toBe(1);
    const whole = courseOf(request);
    expect(Math.abs(total(lives, 'stepping') - reasons(whole).stepping!)).toBeLessThanOrEqual(lives.length);
  });
});
