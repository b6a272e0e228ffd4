import { describe, expect, it } from 'vitest';
import type { World } from '../world/world-schema.ts';
import { faultsOf, sampleFaultsOf, throttleAt, type NodeFaults } from './faults.ts';
import { GAUGES } from './reading.ts';
import { DAY_FROM, DAY_S, just, smallDay } from './small-day.ts';

const drawn = (sensors: Partial<World['sensors']>, seed = 1): readonly NodeFaults[] => {
  const { world, scope, nodes } = smallDay({ nodes: 400, sensors, seed });
  return nodes.map((node) => faultsOf(world, scope, node));
};
const FAULTS: Record<string, { percent: keyof World['sensors']; has: (faults: NodeFaults) => boolean }> = {
  'an exporter dies': { percent: 'dead_exporter_percent', has: ({ dead }) => dead !== undefined },
  'profiling fields are absent': { percent: 'no_profiling_percent', has: ({ hasProfiling }) => !hasProfiling },
  'a clock is off': { percent: 'clock_off_percent', has: ({ clockOffS }) => clockOffS === 90 },
  'there is a second exporter': { percent: 'two_exporters_percent', has: (faults) => faults.hasSecondExporter },
  'a machine runs hot': { percent: 'throttled_percent', has: ({ runsHot }) => runsHot },
};

describe('faults of machines', () => {
  describe.each(Object.entries(FAULTS))('%s', (_, { percent, has }) => {
    it.each([
      [0, 0, 0],
      [25, 70, 130],
      [100, 400, 400],
    ])('on %d of 100 machines', (share, least, most) => {
      const count = drawn({ [percent]: share }).filter(has).length;
      expect(count).toBeGreaterThanOrEqual(least);
      expect(count).toBeLessThanOrEqual(most);
    });

    it('on others with another seed, on the same with the same', () => {
      const which = (seed: number): boolean[] => drawn({ [percent]: 25 }, seed).map(has);
      expect(which(1)).toEqual(which(1));
      expect(which(1)).not.toEqual(which(2));
    });

    it('wherever the other faults are', () => {
      const others = Object.fromEntries(Object.values(FAULTS).map((fault) => [fault.percent, 60]));
      expect(drawn({ ...others, [percent]: 25 }).map(has)).toEqual(drawn({ [percent]: 25 }).map(has));
    });
  });

  it('an exporter dies while its machine is there, for as many hours as the world says', () => {
    const present = [DAY_FROM, DAY_FROM + 7200] as const;
    const { world, scope, nodes } = smallDay({ nodes: 50, present, sensors: { dead_exporter_percent: 100 } });
    for (const { dead } of nodes.map((node) => faultsOf(world, scope, node))) {
      expect(dead!.from).toBeGreaterThanOrEqual(present[0]);
      expect(dead!.from).toBeLessThan(present[1]);
      expect(dead!.until - dead!.from).toBe(6 * 3600);
    }
  });

  it('profilers run as often as the world says, each for its minutes, one after the other', () => {
    // A window of three days is a tenth of the thirty the number is for.
    const all = drawn({ profiler_sessions: 20 }).map(({ profiled }) => profiled);
    const count = all.flat().length / all.length;
    expect(count).toBeGreaterThan(1.6);
    expect(count).toBeLessThan(2.2);
    for (const sessions of all) {
      for (const [place, { from, until }] of sessions.entries()) {
        expect(until - from).toBe(7200);
        expect(from).toBeGreaterThanOrEqual(sessions[place - 1]?.until ?? DAY_FROM - DAY_S);
      }
    }
    expect(drawn({ profiler_sessions: 0 }).flatMap(({ profiled }) => profiled)).toEqual([]);
    expect(drawn({ profiler_sessions: 30, profiler_minutes: just(0) }).length).toBe(400);
  });
});

describe('faults of samples', () => {
  const of = (sensors: Partial<World['sensors']>) => {
    return sampleFaultsOf(smallDay({ sensors }).world);
  };
  const moments = Array.from({ length: 20_000 }, (_, place) => DAY_FROM + place * 60);

  it.each([0, 100, 1000])('%d of 1000 samples are lost', (permille) => {
    const faults = of({ missing_permille: permille });
    const lost = moments.filter((moment) => faults.isLost(3, moment)).length / moments.length;
    expect(Math.abs(lost * 1000 - permille)).toBeLessThanOrEqual(permille % 1000 === 0 ? 0 : 10);
  });

  it.each([0, 20, 300, 1000])('%d of 1000 values of each gauge are blank', (permille) => {
    const faults = of({ blank_permille: permille });
    const bits = moments.map((moment) => faults.blanksAt(3, moment));
    for (let gauge = 0; gauge < GAUGES; gauge += 1) {
      const blank = bits.filter((bit) => (bit & (1 << gauge)) !== 0).length / moments.length;
      expect(Math.abs(blank * 1000 - permille), `gauge ${gauge}`).toBeLessThanOrEqual(permille % 1000 === 0 ? 0 : 15);
    }
  });

  it('errors come as often as the world says, by their numbers, and whatever the stretch', () => {
    const faults = of({ xid_per_gpu_year: 365 * 24 * 0.1 });
    const year = { from: DAY_FROM, until: DAY_FROM + 365 * DAY_S };
    const met = faults.xidsIn(3, year);
    expect(Math.abs(met.length / (365 * 24) - 0.1)).toBeLessThan(0.01);
    expect([...new Set(met.map(({ xid }) => xid))].sort((a, b) => a - b)).toEqual([13, 31, 43, 63, 94]);
    const middle = { from: DAY_FROM + 5000, until: DAY_FROM + 90 * DAY_S + 777 };
    expect(faults.xidsIn(3, middle)).toEqual(met.filter(({ at }) => at >= middle.from && at < middle.until));
    expect(of({ xid_per_gpu_year: 0 }).xidsIn(3, year)).toEqual([]);
  });

  it('heat slows a GPU for minutes on end, for one reason at a time', () => {
    expect([...new Set(moments.map((moment) => throttleAt(3, moment)))].sort((a, b) => a - b)).toEqual([0, 8, 32]);
    expect(throttleAt(3, DAY_FROM)).toBe(throttleAt(3, DAY_FROM + 599));
  });
});
