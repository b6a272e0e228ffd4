import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chanceOf, hashOf, meanOf, noiseAt, valueAt } from './chance.ts';

const SKEWED = { p0: 0, p10: 1, p50: 4, p90: 30, p99: 200, p100: 1000 };
const MANY = 100_000;

/** Means of so many draws wander by less than this, in parts of the deviation. */
const CLOSE = 4 / Math.sqrt(MANY);
const meanOfDraws = (draw: () => number): number => {
  let sum = 0;
  for (let index = 0; index < MANY; index += 1) sum += draw();
  return sum / MANY;
};

describe('draws', () => {
  it('are these, on every machine', () => {
    const chance = chanceOf(1, 'golden');
    expect([chance.fraction(), chance.fraction(), chance.fraction()]).toEqual([
      0.061078737024217844, 0.23148861317895353, 0.5925861992873251,
    ]);
    expect(chance.whole(1000)).toBe(557);
    expect(chance.happens(50)).toBe(true);
    expect(chance.from(SKEWED)).toBe(18.291226671775803);
    expect(chance.wait(60)).toBe(39.949840507875685);
    expect(
      chance.pick([
        ['a', 1],
        ['b', 2],
        ['c', 7],
      ]),
    ).toBe('c');
    expect([hashOf(['a']), hashOf([1, 'a']), hashOf(['é', 7], 3)]).toEqual([3750139367, 3625577719, 287684144]);
    expect([noiseAt(1, 2, 3), noiseAt(hashOf(['GPU']), 1_793_232_000, 5)]).toEqual([3244723358, 615894907]);
  });

  it('of one name do not move those of another, and are the same again', () => {
    const [alone, beside] = [chanceOf(1, 'job', 7), chanceOf(1, 'job', 7)];
    const other = chanceOf(1, 'job', 8);
    for (let round = 0; round < 100; round += 1) {
      other.whole(10);
      expect(beside.fraction()).toBe(alone.fraction());
    }
    expect(chanceOf('job', 71).fraction()).not.toBe(chanceOf('job7', 1).fraction());
  });

  it('are spread evenly, also the first of each of many streams', () => {
    const one = chanceOf('even');
    const streams: Record<string, (index: number) => number> = {
      'one stream': () => one.fraction(),
      'first draws': (index) => chanceOf(1, 'first', index).fraction(),
      'noise of moments': (index) => noiseAt(hashOf(['GPU-1']), index * 300, 2) / 4_294_967_296,
      'noise of fields': (index) => noiseAt(hashOf(['GPU-1']), 300, index) / 4_294_967_296,
    };
    for (const [name, draw] of Object.entries(streams)) {
      const tenths = Array.from({ length: 10 }, () => 0);
      for (let index = 0; index < MANY; index += 1) tenths[Math.floor(draw(index) * 10)]! += 1;
      // Chi squared of nine degrees of freedom: above 33.7 once in ten thousand times.
      const chiSquared = tenths.reduce((sum, count) => sum + (count - MANY / 10) ** 2 / (MANY / 10), 0);
      expect(chiSquared, name).toBeLessThan(33.7);
    }
  });

  it('of neighbours have nothing to do with each other', () => {
    const pairs = Array.from({ length: MANY }, (_, index) =>
      [index, index + 1].map((at) => noiseAt(77, at * 300, 0) / 4_294_967_296 - 0.5),
    );
    const together = pairs.reduce((sum, [a = 0, b = 0]) => sum + a * b, 0) / MANY;
    expect(Math.abs(together) * 12).toBeLessThan(CLOSE);
  });

  it('happen as often as was said', () => {
    const chance = chanceOf('happens');
    for (const percent of [0, 0.5, 30, 100]) {
      const share = meanOfDraws(() => Number(chance.happens(percent))) * 100;
      expect(Math.abs(share - percent)).toBeLessThanOrEqual(CLOSE * Math.sqrt(percent * (100 - percent)));
    }
  });

  it('of waits come once in their mean, a third of them later than it', () => {
    const chance = chanceOf('wait');
    // Straight lines between points of a curve lie a little above it.
    expect(Math.abs(meanOfDraws(() => chance.wait(60)) / 60 - 1.007)).toBeLessThan(CLOSE);
    expect(meanOfDraws(() => Number(chance.wait(60) > 60))).toBeCloseTo(0.368, 2);
    expect(meanOfDraws(() => Number(chance.wait(60) > 5 * 60))).toBeCloseTo(0.0067, 2);
  });

  it('pick by weight, and never what has none', () => {
    const chance = chanceOf('pick');
    const weights = [
      ['none', 0],
      ['some', 1],
      ['most', 3],
    ] as const;
    const drawn = { none: 0, some: 0, most: 0 };
    for (let index = 0; index < MANY; index += 1) drawn[chance.pick(weights)] += 1;
    expect(drawn.none).toBe(0);
    expect(drawn.some / MANY).toBeCloseTo(0.25, 2);
  });

  it('of whole numbers stay below their end', () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer({ min: 1, max: 2 ** 31 }), (seed, below) => {
        const drawn = chanceOf(seed).whole(below);
        expect(Number.isInteger(drawn) && drawn >= 0 && drawn < below).toBe(true);
      }),
    );
  });
});

describe('quantiles', () => {
  it('have the values they state, and straight lines between', () => {
    const places = [0, 0.05, 0.1, 0.3, 0.5, 0.9, 0.99, 0.995, 1];
    expect(places.map((place) => valueAt(SKEWED, place))).toEqual([0, 0.5, 1, 2.5, 4, 30, 200, 600, 1000]);
  });

  it('have the mean of their lines, which draws come to', () => {
    expect(meanOf({ p0: 7, p10: 7, p50: 7, p90: 7, p99: 7, p100: 7 })).toBeCloseTo(7, 12);
    expect(meanOf({ p0: 0, p10: 10, p50: 50, p90: 90, p99: 99, p100: 100 })).toBeCloseTo(50, 12);
    expect(meanOf(SKEWED)).toBeCloseTo(0.05 + 1 + 6.8 + 10.35 + 6, 12);
    const chance = chanceOf('mean');
    const deviation = 70;
    expect(Math.abs(meanOfDraws(() => chance.from(SKEWED)) - meanOf(SKEWED))).toBeLessThan(CLOSE * deviation);
  });

  it('are never left, and never fall', () => {
    const six = fc.array(fc.double({ min: 0, max: 1e6, noNaN: true }), { minLength: 6, maxLength: 6 });
    fc.assert(
      fc.property(
        six,
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (all, a, b) => {
          const [p0 = 0, p10 = 0, p50 = 0, p90 = 0, p99 = 0, p100 = 0] = all.toSorted((x, y) => x - y);
          const quantiles = { p0, p10, p50, p90, p99, p100 };
          const [low, high] = [valueAt(quantiles, Math.min(a, b)), valueAt(quantiles, Math.max(a, b))];
          const slack = p100 * 1e-12;
          expect(low >= p0 - slack && low <= high + slack && high <= p100 + slack).toBe(true);
        },
      ),
    );
  });
});
