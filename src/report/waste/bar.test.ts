import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stackedBar, stretches, stretchText } from './bar.ts';

const amounts = fc.array(fc.bigInt({ min: -1_000_000n, max: 10n ** 15n }), { minLength: 1, maxLength: 12 });

describe('a bar', () => {
  it('is filled by its parts, one after the other, whatever they are', () => {
    fc.assert(
      fc.property(amounts, fc.integer({ min: 1, max: 200 }), (parts, width) => {
        const places = stretches(parts, width);
        const isEmpty = parts.every((part) => part <= 0n);
        expect(places.reduce((sum, each) => sum + each.width, 0)).toBe(isEmpty ? 0 : width);
        let at = 0;
        for (const place of places) {
          expect(place.at).toBe(at);
          expect(place.width).toBeGreaterThanOrEqual(0);
          at += place.width;
        }
        const stacked = stackedBar(
          parts.map((weight) => ({ weight, mark: 'x' })),
          width,
        );
        expect(stacked).toBe('x'.repeat(isEmpty ? 0 : width));
      }),
    );
  });

  const cases = {
    'halves share it': { parts: [5n, 5n], want: ['##', '  ##'] },
    'what is too small for a character is a dot where it would be': { parts: [999n, 1n], want: ['####', '   .'] },
    'what is owed back takes no place': { parts: [-3n, 8n], want: ['', '####'] },
    'nothing is nothing': { parts: [0n, 0n], want: ['', ''] },
  };
  for (const [name, { parts, want }] of Object.entries(cases)) {
    it(name, () => {
      const drawn = stretches(parts, 4).map((place, index) => stretchText(place, '#', 4, (parts[index] ?? 0n) > 0n));
      expect(drawn).toEqual(want);
    });
  }
});
