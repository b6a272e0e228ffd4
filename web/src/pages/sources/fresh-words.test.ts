import { describe, expect, it } from 'vitest';
import { filledHeight, knownShare, runsOf, worthOf } from './fresh-words.ts';

describe('hours that were measured', () => {
  it('the same share beside each other is one run; an hour nobody held is none', () => {
    expect(runsOf([1000, 1000, null, 1000, 0])).toEqual([
      { known: 1000, from: 0, length: 2 },
      { known: 1000, from: 3, length: 1 },
      { known: 0, from: 4, length: 1 },
    ]);
  });

  it('their mean leaves out what nobody held', () => {
    expect([knownShare([1000, null, 500]), knownShare([null])]).toEqual([750, null]);
  });
});

it.each([
  ['all of it', 1000, 14],
  ['but for a sample', 995, 14],
  ['a hole that has to be seen', 939, 10],
  ['half', 500, 7],
  ['nothing', 0, 0],
])('an hour is filled: %s', (_, known, want) => expect(filledHeight(known, 14)).toBe(want));

it('what was not measured is worth what it cost', () => {
  const cluster = { cluster: 'a', gpus: 1, hours: [], knownUntil: null };
  expect(
    worthOf([
      { ...cluster, unknownUsdMicros: '11375000' },
      { ...cluster, unknownUsdMicros: '1' },
    ]),
  ).toBe('11375001');
});
