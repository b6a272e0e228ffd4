import { describe, expect, it } from 'vitest';
import type { Node } from '../organisation.ts';
import { SAMPLE_HEADER, sampleLines } from './samples.ts';
import { DAY_FROM, DAY_S, smallDay, type SmallDay } from './small-day.ts';

const XID = SAMPLE_HEADER.trimEnd().split(',').indexOf('xid');

describe('a GPU that falls off the bus', () => {
  const states = (from: number, state: 'down' | 'drained'): Node['states'] => [
    { from: DAY_FROM - DAY_S, until: DAY_FROM + from, state: 'up' },
    { from: DAY_FROM + from, until: DAY_FROM + 20 * 3600, state },
    { from: DAY_FROM + 20 * 3600, until: DAY_FROM + 3 * DAY_S, state: 'up' },
  ];
  /** Device, time and error of each line that reports one. */
  const errors = (different: SmallDay): string[] =>
    [...sampleLines(smallDay(different))]
      .join('')
      .trimEnd()
      .split('\n')
      .map((line) => line.split(','))
      .filter((cells) => !['', '0'].includes(cells[XID]!))
      .map((cells) => `${cells[0]} ${cells[1]!.slice(11, 16)} ${cells[XID]}`);
  const cases: Record<string, { day: SmallDay; want: readonly string[] }> = {
    'says so in the last sample before its machine breaks, as all of the machine': {
      day: { states: states(5400, 'down') },
      want: ['GPU-0-0 01:00 79', 'GPU-0-1 01:00 79'],
    },
    'on the dot: the sample before': {
      day: { states: states(7200, 'down') },
      want: ['GPU-0-0 01:00 79', 'GPU-0-1 01:00 79'],
    },
    'at midnight: in the last sample of the day before': {
      day: { dayNumber: 0, states: states(0, 'down') },
      want: ['GPU-0-0 23:00 79', 'GPU-0-1 23:00 79'],
    },
    'cut into slices says it as a whole': {
      day: { states: states(5400, 'down'), cutInto: [31_500, 15_750] },
      want: ['GPU-0-0 01:00 79', 'GPU-0-1 01:00 79'],
    },
    'is not what a drained machine has': { day: { states: states(5400, 'drained') }, want: [] },
  };
  it.each(Object.entries(cases))('%s', (_, { day: different, want }) => {
    expect(errors(different)).toEqual(want);
  });
});
