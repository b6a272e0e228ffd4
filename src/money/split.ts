import { divideRounded } from './usd.ts';

/**
 * Splits a total by weights so that the parts add up to it, to the last micro.
 *
 * Part i is `T·cumᵢ ÷ W − T·(cumᵢ − wᵢ) ÷ W`, each division truncating toward zero: the same parts as the ledger's
 * SQL, which is why the order of the weights matters. If all weights are zero every one counts as 1.
 */
export function splitExact(total: bigint, weights: readonly bigint[]): bigint[] {
  if (weights.length === 0 && total !== 0n) throw new RangeError('an amount was split over nobody');
  if (weights.some((weight) => weight < 0n)) throw new RangeError('an amount was split by a negative weight');
  const given = sum(weights);
  const counted = given === 0n ? weights.map(() => 1n) : weights;
  const whole = given === 0n ? BigInt(weights.length) : given;
  let before = 0n;
  return counted.map((weight) => {
    const until = before + weight;
    const part = (total * until) / whole - (total * before) / whole;
    before = until;
    return part;
  });
}

/**
 * Rounds parts to a unit so that the parts shown add up to the rounded total shown above them.
 *
 * Every part is rounded down, and the units that are missing go to those that lost most; of equals, to the first. A
 * part that is a whole number of units is shown as it is.
 */
export function roundLargestRemainder(parts: readonly bigint[], unit: bigint): bigint[] {
  if (unit <= 0n) throw new RangeError('amounts are rounded to a unit above zero');
  const rounded = parts.map((part, index) => {
    const lost = ((part % unit) + unit) % unit;
    return { index, lost, shown: part - lost };
  });
  const target = divideRounded(sum(parts), unit) * unit;
  const missingUnits = Number((target - sum(rounded.map((part) => part.shown))) / unit);
  const byLoss = [...rounded].sort((a, b) => (a.lost === b.lost ? a.index - b.index : a.lost > b.lost ? -1 : 1));
  for (const part of byLoss.slice(0, missingUnits)) part.shown += unit;
  return rounded.map((part) => part.shown);
}

function sum(amounts: readonly bigint[]): bigint {
  return amounts.reduce((total, amount) => total + amount, 0n);
}
