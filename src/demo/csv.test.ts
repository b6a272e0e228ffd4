import { expect, it } from 'vitest';
import { amountText, csvLine, timeText } from './csv.ts';

it('cells are quoted where a reader would lose their borders', () => {
  expect(csvLine(['a', undefined, 0, 1.5, ''])).toBe('a,,0,1.5,\n');
  expect(csvLine(['a,b', 'say "it"', 'two\nlines', 'old\rmac', "it's"])).toBe(
    '"a,b","say ""it""","two\nlines","old\rmac",it\'s\n',
  );
  expect(csvLine([JSON.stringify({ team: 'nlp' })])).toBe('"{""team"":""nlp""}"\n');
});

it('times are whole seconds in UTC', () => {
  expect([0, 951_782_400, 1_793_232_001].map(timeText)).toEqual([
    '1970-01-01T00:00:00Z',
    '2000-02-29T00:00:00Z',
    '2026-10-29T00:00:01Z',
  ]);
});

it.each([
  [0, '0'],
  [-0, '0'],
  [1, '0.000001'],
  [-1, '-0.000001'],
  [1_250_000, '1.25'],
  [-1_250_000, '-1.25'],
  [3_000_000, '3'],
  [100_000_000, '100'],
  [9_007_199_254_740_991, '9007199254.740991'],
])('%s micros are %s', (micros, text) => expect(amountText(micros)).toBe(text));
