import { expect, it } from 'vitest';
import { silences } from './silence.ts';

/** Seconds of ten minutes with a sample, and the holes as seconds. */
const cases: Record<string, { marks: number[]; want: [number, number][] }> = {
  'a sample each 30 s leaves no hole': { marks: Array.from({ length: 20 }, (_, at) => at * 30), want: [] },
  'a scrape that was missed is no hole': { marks: [0, 30, 60, 150, 180, 240, 300, 360, 420, 480, 540, 590], want: [] },
  'an outage begins a step after the last sample': {
    marks: [0, 30, 400, 430, 460, 490, 520, 550, 580],
    want: [[60, 400]],
  },
  'at the end': { marks: [0, 30, 60, 90], want: [[120, 600]] },
  'at the beginning': { marks: [500, 530, 560, 590], want: [[0, 500]] },
  'nothing at all': { marks: [], want: [[0, 600]] },
};

it.each(Object.entries(cases))('%s', (_, { marks, want }) => {
  const seconds = new Uint8Array(600);
  for (const second of marks) seconds[second] = 1;
  const found = silences(seconds, 1_000_000, 30).map(({ from, until }) => [
    (from.getTime() - 1_000_000) / 1000,
    (until.getTime() - 1_000_000) / 1000,
  ]);
  expect(found).toEqual(want);
});
