import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { divideRounded, formatUsdCents, formatUsdMicros, formatWholeUsd, MICROS_PER_USD, parseDecimal } from './usd.ts';

describe('parsing an amount', () => {
  const cases: Record<string, { text: string; digits: number; want: bigint | undefined }> = {
    'dollars and cents become micros': { text: '98.32', digits: 6, want: 98_320_000n },
    'a whole number needs no point': { text: '2', digits: 6, want: 2_000_000n },
    'blanks around it do not matter': { text: ' 1.95 ', digits: 6, want: 1_950_000n },
    'a point may lead': { text: '.5', digits: 6, want: 500_000n },
    'a point may end it': { text: '5.', digits: 6, want: 5_000_000n },
    'a sign is kept': { text: '-0.000001', digits: 6, want: -1n },
    'half a micro goes away from zero': { text: '0.0000005', digits: 6, want: 1n },
    'half a micro goes away from zero below it too': { text: '-0.0000005', digits: 6, want: -1n },
    'less than half a micro goes to zero': { text: '0.00000049999', digits: 6, want: 0n },
    'eighteen decimals stay exact': { text: '0.100000000000000001', digits: 18, want: 100_000_000_000_000_001n },
    'the shortest text of a small float': { text: '1e-7', digits: 9, want: 100n },
    'the shortest text of a large float': { text: '1.5E+21', digits: 6, want: 15n * 10n ** 26n },
    'nothing is not zero': { text: '', digits: 6, want: undefined },
    'a lone point is no amount': { text: '.', digits: 6, want: undefined },
    'a group separator is refused, for it may be a decimal comma': { text: '1,950', digits: 6, want: undefined },
    'a currency sign is refused': { text: '$5', digits: 6, want: undefined },
    'NaN is refused': { text: 'NaN', digits: 6, want: undefined },
    'an exponent beyond any float is refused': { text: '1e9999', digits: 6, want: undefined },
  };
  it.each(Object.entries(cases))('%s', (_, { text, digits, want }) => {
    expect(parseDecimal(text, digits)).toBe(want);
  });

  it('reads back every micro it writes', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n }), (micros) => {
        const text = formatUsdMicros(micros).replace('\u2212', '-').replace(/[$,]/g, '');
        expect(parseDecimal(text, 6)).toBe(micros);
      }),
    );
  });
});

describe('dividing', () => {
  const cases: Record<string, { numerator: bigint; denominator: bigint; want: bigint }> = {
    'half goes up': { numerator: 5n, denominator: 2n, want: 3n },
    'half below zero goes down': { numerator: -5n, denominator: 2n, want: -3n },
    'the sign of the divisor counts': { numerator: 5n, denominator: -2n, want: -3n },
    'two signs cancel': { numerator: -5n, denominator: -2n, want: 3n },
    'a third goes to zero': { numerator: 1n, denominator: 3n, want: 0n },
    'two thirds go to one': { numerator: 2n, denominator: 3n, want: 1n },
  };
  it.each(Object.entries(cases))('%s', (_, { numerator, denominator, want }) => {
    expect(divideRounded(numerator, denominator)).toBe(want);
  });

  it('refuses to divide by zero', () => {
    expect(() => divideRounded(1n, 0n)).toThrow(RangeError);
  });

  it('is never off by more than half', () => {
    fc.assert(
      fc.property(fc.bigInt(), fc.bigInt({ min: 1n }), (numerator, denominator) => {
        const off = numerator - divideRounded(numerator, denominator) * denominator;
        expect((off < 0n ? -off : off) * 2n <= denominator).toBe(true);
      }),
    );
  });
});

describe('showing an amount', () => {
  const cases: Record<string, { shown: string; want: string }> = {
    'whole dollars with separators': { shown: formatWholeUsd(412_900_000_000n), want: '$412,900' },
    'no separator below a thousand': { shown: formatWholeUsd(999_400_000n), want: '$999' },
    'rounding may add a digit': { shown: formatWholeUsd(999_500_000n), want: '$1,000' },
    'zero is zero': { shown: formatWholeUsd(0n), want: '$0' },
    'a few cents are not nothing': { shown: formatWholeUsd(499_999n), want: '<$1' },
    'one micro is not nothing': { shown: formatWholeUsd(1n), want: '<$1' },
    'half a dollar is a dollar': { shown: formatWholeUsd(500_000n), want: '$1' },
    'a few cents of credit are not nothing': { shown: formatWholeUsd(-1n), want: '\u2212<$1' },
    'credit has a real minus': { shown: formatWholeUsd(-1_234_567_000_000n), want: '\u2212$1,234,567' },
    'what largest remainder says is shown': { shown: formatWholeUsd(400_000n, MICROS_PER_USD), want: '$1' },
    'what largest remainder took away is not nothing': { shown: formatWholeUsd(700_000n, 0n), want: '<$1' },
    'cents for a rate': { shown: formatUsdCents(25_600_000n), want: '$25.60' },
    'cents round half away from zero': { shown: formatUsdCents(-1_005_000n), want: '\u2212$1.01' },
    'less than a cent is not nothing': { shown: formatUsdCents(4_999n), want: '<$0.01' },
    'cents of thousands have separators': { shown: formatUsdCents(1_562_340_000n), want: '$1,562.34' },
    'every micro': { shown: formatUsdMicros(-98_320_001n), want: '\u2212$98.320001' },
    'every micro of thousands': { shown: formatUsdMicros(1_234_000_000n), want: '$1,234.000000' },
  };
  it.each(Object.entries(cases))('%s', (_, { shown, want }) => {
    expect(shown).toBe(want);
  });
});
