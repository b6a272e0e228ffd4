import { describe, expect, it } from 'vitest';
import { refuseWrongTruth } from './make-demo.ts';

const totals = (truthUsdMicros: number) => ({
  billedUsdMicros: 1_000_000,
  rateUsdMicros: 500_000,
  truthUsdMicros,
  truthUsdMicrosByCategory: {},
});

describe('the truth of a demo', () => {
  it('adds up to what is billed and what rates say', () => {
    expect(() => refuseWrongTruth(totals(1_500_000))).not.toThrow();
  });

  it.each([
    [1_499_998, 'the truth of this demo differs from its bills and rates by -2 micro-dollars'],
    [1_500_001, 'the truth of this demo differs from its bills and rates by 1 micro-dollars'],
    [Number.NaN, 'the truth of this demo differs from its bills and rates by NaN micro-dollars'],
  ])('is not published as %d', (truth, message) => {
    expect(() => refuseWrongTruth(totals(truth))).toThrow(
      expect.objectContaining({
        code: 'truth-differs',
        message,
        hint: expect.stringContaining('this is a mistake in Bursar'),
      }),
    );
  });
});
