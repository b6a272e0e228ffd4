import { describe, expect, it } from 'vitest';
import type { Levels } from '../timeline.ts';
import { atFullPace, atPace, holdingMemory, kernelOf } from './activity.ts';
import { courseOf } from './course.ts';
import {
  BOX,
  HOUR,
  livesOf,
  NOTEBOOK,
  requestFor,
  SERVING,
  smallWorld,
  SWEEP,
  TRAINING,
  type Asked,
} from './small-work.ts';

const kernel = smallWorld([]).kernels['work']!;

describe('what instruments show', () => {
  it('at full pace is what the kernel says', () => {
    expect(atFullPace(kernel)).toEqual({
      engine: 900,
      sm: 800,
      tensor: 500,
      dram: 400,
      util: 1000,
      power: 700,
      memory: 600,
      pcie: 100,
      nvlink: 300,
    });
  });

  it('of a run that waits three quarters of the time: engines a quarter, utilisation more, memory all', () => {
    expect(atPace(kernel, { stepping: 250, allReduce: 0, waiting: 750 })).toEqual({
      engine: 225,
      sm: 200,
      tensor: 125,
      dram: 100,
      util: 313,
      power: 175,
      memory: 600,
      pcie: 25,
      nvlink: 0,
    });
  });

  it('gradients are exchanged by a kernel: the engine runs on, few SMs work, NVLink is busy', () => {
    expect(atPace(kernel, { stepping: 600, allReduce: 200, waiting: 200 })).toEqual({
      engine: 720,
      sm: 504,
      tensor: 300,
      dram: 252,
      util: 1000,
      power: 497,
      memory: 600,
      pcie: 60,
      nvlink: 60,
    });
  });

  it('where nobody waits for data, the engine never rests, however long the exchange takes', () => {
    expect(atPace(kernel, { stepping: 100, allReduce: 900, waiting: 0 })).toMatchObject({ engine: 900, util: 1000 });
  });

  it('of a process that does nothing is its memory', () => {
    const { memory, ...others } = holdingMemory(kernel);
    expect(memory).toBe(600);
    expect(Object.values(others).every((level) => level === 0)).toBe(true);
  });
});

describe('levels of a job', () => {
  const kinds = [TRAINING, SWEEP, NOTEBOOK, BOX, SERVING];
  /** What it shows while it works, which is what the most busy of its spans shows. */
  const busy = (habit: (typeof kinds)[number], asked: Asked = {}): Levels =>
    courseOf(requestFor(habit, asked))
      .spansOfDevice[0]!.map(({ levels }) => levels)
      .sort((a, b) => b.engine - a.engine)[0]!;
  const serials = Array.from({ length: 200 }, (_, serial) => serial);

  it.each([TRAINING, SWEEP, NOTEBOOK, BOX])('are its own: a $kind is not like the next', (habit) => {
    const all = serials.slice(0, 50).map((serial) => busy(habit, { serial }));
    expect(new Set(all.map(({ engine }) => engine)).size).toBeGreaterThan(20);
    expect(new Set(all.map(({ memory }) => memory)).size).toBeGreaterThan(20);
  });

  it('lie around those of its kernel', () => {
    const drawn = serials.map((serial) => kernelOf(requestFor(TRAINING, { serial })));
    const bounds = { memory: [360, 660], engine: [765, 990], sm: [680, 880], tensor: [425, 550], dram: [340, 440] };
    const limits = { ...bounds, power: [595, 770], util: [850, 1000], pcie: [100, 100], nvlink: [300, 300] };
    for (const [gauge, [least, most]] of Object.entries(limits)) {
      const levels = drawn.map((each) => each[`${gauge}_permille` as keyof typeof each]);
      expect(levels.every(Number.isInteger), gauge).toBe(true);
      expect(Math.min(...levels), gauge).toBeGreaterThanOrEqual(least!);
      expect(Math.max(...levels), gauge).toBeLessThanOrEqual(most!);
      expect(Math.max(...levels) - Math.min(...levels), gauge).toBeGreaterThanOrEqual((most! - least!) * 0.9);
    }
  });

  it('never show more SMs at work than engines, or more tensor pipes than SMs', () => {
    const request = requestFor(TRAINING);
    const close = { ...kernel, sm_permille: 900, tensor_permille: 900 };
    const world = { ...request.world, kernels: { work: close } };
    const drawn = serials.map((serial) => kernelOf({ ...requestFor(TRAINING, { serial }), world }));
    expect(drawn.filter((each) => each.sm_permille > each.engine_permille)).toEqual([]);
    expect(drawn.filter((each) => each.tensor_permille > each.sm_permille)).toEqual([]);
  });

  it('are the same in all its lives', () => {
    const lives = livesOf(requestFor(TRAINING), courseOf, (life, from) => ({
      at: life < 3 ? from + HOUR : Infinity,
      by: 'preempted',
    }));
    expect(lives).toHaveLength(4);
    expect(new Set(lives.map(({ spansOfDevice }) => spansOfDevice[0]!.at(-1)!.levels.engine)).size).toBe(1);
  });

  it('are those of the service for all its replicas, and others with another seed', () => {
    const request = requestFor(SERVING);
    const other = { ...request.scope, seed: 8 };
    expect(busy(SERVING, { serial: 1 })).toEqual(busy(SERVING, { serial: 2, place: { index: 1, of: 2 } }));
    expect(busy(SERVING, { serial: 1 })).not.toEqual(busy({ ...SERVING, name: 'other' }, { serial: 1 }));
    expect(busy(SERVING, { serial: 1 })).not.toEqual(busy(SERVING, { serial: 1, scope: other }));
  });
});
