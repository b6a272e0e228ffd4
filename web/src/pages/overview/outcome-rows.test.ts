import { expect, it } from 'vitest';
import { outcomeLines, pricedUnit, volumeWords } from './outcome-rows.ts';

it.each([
  ['step', '1000', '2557363', 'Thousand steps', '2,557 k steps'],
  ['token', '1000000', '2601000000', 'Million tokens', '2,601 M tokens'],
  ['generation_token', '1000000', '391', 'Million generated tokens', '391 generated tokens'],
  ['step', '1', '12', 'steps', '12 steps'],
])('%s per %s, %s of them: %s, %s', (unit, per, quantity, priced, done) => {
  expect([pricedUnit({ unit, per }), volumeWords({ unit, quantity })]).toEqual([priced, done]);
});

it('one run is one run', () => {
  const run = { name: 'nlp', finished: 1, costUsdMicros: '5000000', before: null };
  const reply = { rows: [], runs: [run] } as unknown as Parameters<typeof outcomeLines>[0];
  expect(outcomeLines(reply).map(({ volume }) => volume)).toEqual(['1 run']);
});
