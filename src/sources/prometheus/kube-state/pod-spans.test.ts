import { expect, it } from 'vitest';
import { podSpans, type Interval } from './pod-spans.ts';

/** Whom a series of the one device names ('' for nobody) on which machine, and its runs of samples. */
type Given = readonly [pod: string, node: string, ...times: Interval[]];

/** A window of ten thousand seconds, a sample each 30 s; spans as [pod, first, last, ended or held on]. */
const cases: Record<
  string,
  { series: readonly Given[]; want: readonly (readonly [string, number, number, 'ended' | 'held'])[] }
> = {
  'there to the end: held': { series: [['a', 'n', [0, 9990]]], want: [['a', 0, 9990, 'held']] },
  'seen without it afterwards: ended': {
    series: [
      ['a', 'n', [0, 4980]],
      ['', 'n', [5010, 9990]],
    ],
    want: [['a', 0, 4980, 'ended']],
  },
  'the exporter died: nobody saw it leave': { series: [['a', 'n', [0, 4980]]], want: [['a', 0, 4980, 'held']] },
  'one sample without it, then the exporter died: it had left': {
    series: [
      ['a', 'n', [0, 4980]],
      ['', 'n', [5010, 5010]],
    ],
    want: [['a', 0, 4980, 'ended']],
  },
  'the exporter was away for a while: held all the time': {
    series: [['a', 'n', [0, 3000], [6000, 9990]]],
    want: [['a', 0, 9990, 'held']],
  },
  'its name came back on the same GPU after nobody had it: two spans': {
    series: [
      ['a', 'n', [0, 3000], [6000, 9990]],
      ['', 'n', [3030, 5970]],
    ],
    want: [
      ['a', 0, 3000, 'ended'],
      ['a', 6000, 9990, 'held'],
    ],
  },
  'and after another had it': {
    series: [
      ['a', 'n', [0, 3000], [6000, 9990]],
      ['b', 'n', [3030, 5970]],
    ],
    want: [
      ['a', 0, 3000, 'ended'],
      ['a', 6000, 9990, 'held'],
      ['b', 3030, 5970, 'ended'],
    ],
  },
  'without its name for less than the edge: one span': {
    series: [
      ['a', 'n', [0, 3000], [3150, 9990]],
      ['', 'n', [3030, 3120]],
    ],
    want: [['a', 0, 9990, 'held']],
  },
  'two share it, one leaves': {
    series: [
      ['a', 'n', [0, 3000]],
      ['b', 'n', [0, 9990]],
    ],
    want: [
      ['a', 0, 3000, 'ended'],
      ['b', 0, 9990, 'held'],
    ],
  },
  'two share it, the exporter dies': {
    series: [
      ['a', 'n', [0, 3000]],
      ['b', 'n', [0, 3000]],
    ],
    want: [
      ['a', 0, 3000, 'held'],
      ['b', 0, 3000, 'held'],
    ],
  },
  'two series of one pod are one holding': {
    series: [
      ['a', 'n', [0, 5000]],
      ['a', 'n', [5030, 9990]],
    ],
    want: [['a', 0, 9990, 'held']],
  },
  'the GPU is in another machine afterwards': {
    series: [
      ['a', 'n', [0, 3000]],
      ['', 'm', [6000, 9990]],
    ],
    want: [['a', 0, 3000, 'ended']],
  },
};

it.each(Object.entries(cases))('%s', (_, { series, want }) => {
  const spans = podSpans(
    series.map(([pod, nodeId, ...times]) => ({
      deviceId: 'g',
      nodeId,
      isSlice: false,
      ...(pod !== '' && { pod: { namespace: 'nlp', name: pod } }),
      times,
    })),
    { untilS: 10_000, stepS: 30, edgeS: 120 },
  );
  expect(spans.map(({ name, firstS, lastS, hasEnded }) => [name, firstS, lastS, hasEnded ? 'ended' : 'held'])).toEqual(
    want,
  );
});
