import { expect, it } from 'vitest';
import { againstWords } from './against.ts';

const sum = {
  usdMicros: '1050000000',
  beforeUsdMicros: '1000000000',
  gpuSeconds: 3600,
  unpricedSeconds: 0,
  computedPermille: null,
  computedBeforePermille: null,
  categories: {},
  steps: { usdMicros: [], gpuSeconds: [] },
};

it.each([
  ['2026-10-18T00:00:00Z', true, '+5.0% against $1,000 in the 7 days before'],
  ['2026-10-24T00:00:00Z', true, '+5.0% against $1,000 in the 1 day before'],
  [
    '2026-10-18T00:00:00Z',
    false,
    'nothing before to compare with: the facts do not reach back to 18 Oct – 24 Oct 2026',
  ],
  ['2026-10-24T18:00:00Z', true, 'nothing before to compare with'],
  ['2026-10-24T23:59:59Z', false, 'nothing before to compare with'],
])('before is from %s, known: %s', (from, isKnown, want) => {
  expect(againstWords({ total: sum, before: { from, until: '2026-10-25T00:00:00Z', isKnown } })).toBe(want);
});
