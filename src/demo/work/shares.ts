import assert from 'node:assert/strict';

/** Permille of each weight, adding up to exactly 1000: what is left over goes to the largest remainders, the first of equals. */
export function permilleShares(weights: readonly number[]): readonly number[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  assert(total > 0 && weights.every((weight) => weight >= 0), 'shares of nothing');
  const exact = weights.map((weight) => (weight * 1000) / total);
  const shares = exact.map((share) => Math.floor(share));
  const left = 1000 - shares.reduce((sum, share) => sum + share, 0);
  const byRemainder = exact
    .map((share, index) => ({ index, remainder: share - Math.floor(share) }))
    .sort((a, b) => b.remainder - a.remainder || a.index - b.index);
  for (const { index } of byRemainder.slice(0, left)) shares[index]! += 1;
  return shares;
}
