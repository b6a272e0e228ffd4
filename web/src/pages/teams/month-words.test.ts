import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { centsParts, monthDays, monthName, monthShort, usdOfCents, waitWords } from './month-words.ts';
import { workCents, workRows } from './statement-tables.tsx';

const centsOf = (text: string): bigint => BigInt(text.replaceAll(/[$,.]/g, '').replace('−', '-'));

describe('months', () => {
  it('have their names', () => {
    expect([monthName('2026-10'), monthShort('2026-01')]).toEqual(['October 2026', 'Jan']);
  });

  it.each([
    ['a whole one', '2026-11-01T00:00:00Z', '1–31 October 2026'],
    ['one that has begun', '2026-10-14T00:00:00Z', '1–13 October 2026'],
    ['its first day', '2026-10-01T09:00:00Z', '1 October 2026'],
  ])('%s', (_, until, want) => expect(monthDays({ from: '2026-10-01T00:00:00Z', until })).toBe(want));
});

describe('cents', () => {
  it('of a statement', () => expect(usdOfCents('14937821')).toBe('$149,378.21'));

  it('of parts add up to the amount over them, whatever they are', () => {
    fc.assert(
      fc.property(fc.array(fc.bigInt({ min: 0n, max: 10n ** 13n }), { minLength: 1 }), (parts) => {
        const sum = parts.reduce((a, b) => a + b, 0n);
        const cents = (sum + 5000n) / 10_000n;
        const shown = centsParts(parts.map(String), String(cents));
        expect(shown.reduce((total, each) => total + centsOf(each), 0n)).toBe(cents);
      }),
    );
  });

  it('of what has no price are no cents', () => expect(centsParts([null], '0')).toEqual(['no price']));
});

describe('what a statement was spent on', () => {
  const line = (klass: string, project: string | null, usdMicros: string) => ({
    class: klass,
    project,
    component: 'gpu',
    category: 'idle',
    basis: 'billed',
    usdMicros,
    gpuSeconds: 3600,
  });
  const part = (name: string, usdMicros: string) => ({
    name,
    usdMicros,
    gpuSeconds: 3600,
    unpricedSeconds: 0,
    beforeUsdMicros: null,
    computeSharePermille: 500,
  });
  const reply = {
    classes: [part('training', '2000003'), part('inference', '999998')],
    lines: [line('training', 'a', '500001'), line('training', 'b', '1500002'), line('inference', null, '999998')],
  };

  it('has projects under their class, the dearest first, and none where nobody said any', () => {
    expect(workRows(reply).map(({ name, isClass }) => [name, isClass])).toEqual([
      ['training', true],
      ['b', false],
      ['a', false],
      ['inference', true],
    ]);
  });

  it('adds up on both levels', () => {
    expect(workCents(workRows(reply), '300')).toEqual(['$2.00', '$1.50', '$0.50', '$1.00']);
  });
});

describe('waits', () => {
  it.each([
    [0, '0 s'],
    [45, '45 s'],
    [720, '12 min'],
    [11_400, '3 h 10 min'],
    [113_294, '1 d 7 h'],
  ])('%i seconds', (seconds, want) => expect(waitWords(seconds)).toBe(want));
});
