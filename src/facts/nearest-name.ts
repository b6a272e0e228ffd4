/** Names are compared without case, spaces and punctuation: `Charge Period Start` is `charge_period_start`. */
export function plainName(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}

/** Below this share of pairs two names only share chance. */
const ALIKE_MIN = 0.3;

/** The known name that shares most pairs of letters with `name`; undefined if none is alike. */
export function nearestName(name: string, known: readonly string[], alikeMin = ALIKE_MIN): string | undefined {
  const wanted = pairs(plainName(name));
  let best: string | undefined;
  let bestScore = alikeMin;
  for (const candidate of known) {
    const score = likeness(wanted, pairs(plainName(candidate)));
    if (score > bestScore) [best, bestScore] = [candidate, score];
  }
  return best;
}

function pairs(text: string): string[] {
  if (text.length < 2) return [text];
  return Array.from({ length: text.length - 1 }, (_, index) => text.slice(index, index + 2));
}

/** Dice's coefficient: twice the pairs in common over all pairs. */
function likeness(left: readonly string[], right: readonly string[]): number {
  const rest = [...right];
  let common = 0;
  for (const pair of left) {
    const index = rest.indexOf(pair);
    if (index === -1) continue;
    rest.splice(index, 1);
    common += 1;
  }
  return (2 * common) / (left.length + right.length);
}
