import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  dollars,
  dollarsOf,
  dollarsPerHour,
  duration,
  gpuCount,
  gpuHours,
  gpuHoursOf,
  gpuSeconds,
  percentOfPermille,
  percentsOf,
  recently,
} from './figures.ts';

const HOUR = 63_000n * 3600n;
const shownNumber = (text: string): number => Number(text.replace('−', '-').replaceAll(/[$,<]/g, ''));

describe('figures', () => {
  const texts: Record<string, readonly [got: string, want: string]> = {
    'a missing price is never $0': [dollars(null), 'no price'],
    'nor by the hour': [dollarsPerHour(null), 'no price'],
    'a free hour is': [dollars(0n), '$0.00'],
    'small amounts have cents': [dollars(25_600_000n), '$25.60'],
    'large ones do not': [dollars(412_900_490_000n), '$412,900'],
    'what is there is not nothing': [dollars(1n), '<$0.01'],
    'a credit': [dollars(-150_000_000n), '−$150'],
    'a tenth of a GPU-hour': [gpuHours(HOUR / 10n), '0.1 GPU-hours'],
    'many GPU-hours': [gpuHours(9400n * HOUR), '9,400 GPU-hours'],
    'what is nearly all is not all': [percentOfPermille(996), '>99 %'],
    'nor is hardly anything nothing': [percentOfPermille(4), '<1 %'],
    'all of it is': [percentOfPermille(1000), '100 %'],
    'a third of a GPU': [gpuCount(21_000n), '0.3'],
    'eight GPUs': [gpuCount(8n * 63_000n), '8'],
    'a weekend': [duration(2 * 86_400 + 3 * 3600 + 59 * 60), '2 d 3 h'],
    'a morning': [duration(3 * 3600 + 600), '3 h 10 m'],
    'a moment': [duration(30), '30 s'],
    'a weekday': [recently(new Date('2026-03-06T18:42:00Z'), new Date('2026-03-09T09:00:00Z')), 'Fri 18:42'],
    'long ago': [recently(new Date('2026-02-06T18:42:00Z'), new Date('2026-03-09T09:00:00Z')), '2026-02-06 18:42'],
  };
  for (const [name, [got, want]] of Object.entries(texts)) it(name, () => expect(got).toBe(want));

  it('gives JSON seconds of a whole GPU, to the millisecond', () => {
    expect(gpuSeconds(63_000n * 7n)).toBe(7);
    expect(gpuSeconds(1n)).toBe(0);
    expect(gpuSeconds(21_000n)).toBe(0.333);
  });

  it('parts shown add up to the total shown', () => {
    fc.assert(
      fc.property(fc.array(fc.bigInt({ min: 0n, max: 10n ** 13n }), { minLength: 1, maxLength: 8 }), (parts) => {
        const money = dollarsOf(parts);
        const shown = money.parts.map((text) => (text.startsWith('<') ? 0 : shownNumber(text)));
        const total = money.total.startsWith('<') ? 0 : shownNumber(money.total);
        expect(shown.reduce((a, b) => a + b, 0)).toBeCloseTo(total, 6);
        const hours = gpuHoursOf(parts.map((part) => part * 1000n));
        const sum = hours.parts
          .map((text) => (text.startsWith('<') ? 0 : shownNumber(text)))
          .reduce((a, b) => a + b, 0);
        expect(sum).toBeCloseTo(hours.total.startsWith('<') ? 0 : shownNumber(hours.total), 6);
      }),
    );
  });

  it('percents add up to a hundred, and are left out of nothing', () => {
    expect(percentsOf([1n, 1n, 1n])).toEqual(['34 %', '33 %', '33 %']);
    expect(percentsOf([100_000n, 1n])).toEqual(['100 %', '<1 %']);
    expect(percentsOf([120n, -20n])).toEqual(['120 %', '−20 %']);
    expect(percentsOf([0n, 0n])).toEqual(['', '']);
  });

  it('a total of which nothing has a price has none', () => {
    expect(dollarsOf([null, null])).toEqual({ total: 'no price', parts: ['no price', 'no price'] });
    expect(dollarsOf([null, 5_000_000n])).toEqual({ total: '$5.00', parts: ['no price', '$5.00'] });
  });
});
