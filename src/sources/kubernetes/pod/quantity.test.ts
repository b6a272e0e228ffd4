import { describe, expect, it } from 'vitest';
import { quantity, quantityNumber } from './quantity.ts';

const cases: Record<string, { given: unknown; perUnit?: bigint; want: bigint | undefined }> = {
  'a whole number': { given: '8', want: 8n },
  'a number that is not text, as custom kinds have it': { given: 8, want: 8n },
  'thousandths, in thousandths': { given: '1500m', perUnit: 1000n, want: 1500n },
  'a decimal': { given: '0.5', perUnit: 1000n, want: 500n },
  'less than one is rounded up, as the scheduler does': { given: '100m', want: 1n },
  'powers of 1024': { given: '64Gi', want: 68_719_476_736n },
  'powers of 1000': { given: '64G', want: 64_000_000_000n },
  'a decimal of a power': { given: '1.5Ki', want: 1536n },
  'k is small': { given: '2k', want: 2000n },
  'E is a power where nothing follows': { given: '1E', want: 10n ** 18n },
  'and an exponent where something does': { given: '1E3', want: 1000n },
  'a negative exponent': { given: '5e-1', perUnit: 10n, want: 5n },
  'nothing before the point': { given: '.5', perUnit: 2n, want: 1n },
  'nano units': { given: '1n', perUnit: 1_000_000_000n, want: 1n },
  'more than a number holds': { given: '8Ei', want: 8n * 1024n ** 6n },
  'less than nothing': { given: '-1', want: undefined },
  'no digits': { given: '.', want: undefined },
  'a unit nobody knows': { given: '1Q', want: undefined },
  'ki is none either': { given: '1ki', want: undefined },
  words: { given: 'eight', want: undefined },
  nothing: { given: undefined, want: undefined },
  'an object': { given: {}, want: undefined },
  'too long to be meant': { given: '9'.repeat(65), want: undefined },
};

describe('a quantity', () => {
  for (const [name, { given, perUnit, want }] of Object.entries(cases)) {
    it(name, () => expect(quantity(given, perUnit)).toBe(want));
  }

  it('as a number is only what a number holds exactly', () => {
    expect(quantityNumber('2Ti')).toBe(2 ** 41);
    expect(quantityNumber('8Ei')).toBeUndefined();
  });
});
