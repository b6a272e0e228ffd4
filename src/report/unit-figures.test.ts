import { describe, expect, it } from 'vitest';
import {
  activePrice,
  change,
  perWords,
  quantityText,
  sparkline,
  unitPrice,
  unitWords,
  volume,
} from './unit-figures.ts';

const USD = 1_000_000n;

describe('derived prices', () => {
  it.each([
    [2_634_567n, '$2.63'],
    [12_345n, '$0.0123'],
    [1_489_600_000n, '$1,490'],
    [999_999n, '$1.00'],
    [99_950_000n, '$100'],
    [7n, '$0.000007'],
    [0n, '$0'],
    [null, 'no price'],
  ])('%s micros are %s', (micros, want) => expect(unitPrice(micros)).toBe(want));
});

describe('the price of an active run', () => {
  const paid = { usdMicros: 4n * USD, unknownUsdMicros: 0n, gpuUnits: 10n, computingUnits: 0n, unpricedUnits: 0n };
  it.each([
    ['is unknown, not $0, where nothing was measured', 0n, 10n, 'unknown'],
    ['is $0 where all was measured and nothing computed', 0n, 0n, '$0'],
    ['counts what is known where a part was measured', 2n * USD, 5n, '$2.00'],
    ['is no price where there is none', null, 10n, 'no price'],
  ])('%s', (_, activeUsdMicros, unknownUnits, want) =>
    expect(activePrice({ ...paid, activeUsdMicros, unknownUnits }, USD, 1n)).toBe(want),
  );
});

describe('volumes', () => {
  it.each([
    [61_200n * USD, 1n, '61,200'],
    [12_345_678n * USD, 1000n, '12,346'],
    [42n * USD, 1n, '42'],
    [50_412_000n * USD, 1_000_000n, '50.4'],
    [1_234n * USD, 1_000_000n, '0.00123'],
    [0n, 1n, '0'],
  ])('%s millionths per %s are %s', (quantity, per, want) => expect(volume(quantity, per)).toBe(want));

  it.each([
    [1200n * USD, '1200'],
    [2_500_000n, '2.5'],
    [1n, '0.000001'],
  ])('%s millionths for programs are %s', (quantity, want) => expect(quantityText(quantity)).toBe(want));
});

describe('change', () => {
  it.each([
    [141n, 100n, '+41 %'],
    [97n, 100n, '−3 %'],
    [100n, 100n, '±0 %'],
    [5n, 0n, ''],
    [null, 100n, ''],
  ])('from %2$s to %1$s is %3$s', (now, before, want) => expect(change(now, before)).toBe(want));
});

describe('words of units', () => {
  it.each([
    ['token', 1_000_000n, 'million tokens', 'million tokens'],
    ['request', 1000n, 'thousand requests', 'thousand requests'],
    ['step', 1n, 'steps', 'step'],
    ['\u001b[31mpage', 1n, 'page', 'page'],
  ])('%s', (unit, per, words, perOne) => {
    expect([unitWords(unit, per), perWords(unit, per)]).toEqual([words, perOne]);
  });
});

describe('a line of weeks', () => {
  it.each([
    [[1n, 4n, null, 8n], '▂▅·█'],
    [[5n], ''],
    [[null, 5n], ''],
    [[0n, 0n], ''],
  ])('%s', (values, want) => expect(sparkline(values)).toBe(want));
});
