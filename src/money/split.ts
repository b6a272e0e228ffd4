import { divideRounded } from './usd.ts';

/**
 * Rounds parts to a unit so that the parts shown add up to the rounded total shown above them.
 *
 * Every part is rounded down, and the units that are missing go to those that lost most; of equals, to the first. A
 * part that is a whole number of units is shown as it is. `target` is what they add up to where their total was itself
 * rounded as a part of a greater one: it lies less than a unit from their sum.
 */
export function roundLargestRemainder(
  parts: readonly bigint[],
  unit: bigint,
  target = divideRounded(sum(parts), unit) * unit,
): bigint[] {
  if (unit <= 0n) throw new RangeError('amounts are rounded to a unit above zero');
  const rounded = parts.map((part, index) => {
    const lost = ((part % unit) + unit) % unit;
    return { index, lost, shown: part - lost };
  });
  const missingUnits = Number((target - sum(rounded.map((part) => part.shown))) / unit);
  const byLoss = [...rounded].sort((a, b) => (a.lost === b.lost ? a.index - b.index : a.lost > b.lost ? -1 : 1));
  for (const part of byLoss.slice(0, missingUnits)) part.shown += unit;
  return rounded.map((part) => part.shown);
}

function sum(amounts: readonly bigint[]): bigint {
  return amounts.reduce((total, amount) => total + amount, 0n);
}
