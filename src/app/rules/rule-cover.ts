import { meets } from './pattern.ts';
import type { Condition, Pattern, Rule, SharedPool } from './rule.ts';

type Part = Pick<Rule, 'when' | 'from' | 'until'>;

/**
 * Question: which earlier rules together leave a rule nothing to say? Empty where it may still speak.
 *
 * Only what is certain from the texts: an earlier rule that is as wide or wider, holds on all its days and always has a value.
 */
export function coveringRules(rule: Rule, earlier: readonly Rule[]): readonly string[] {
  const takers = [...rule.set.keys()].map((dimension) =>
    earlier.find((other) => {
      const value = other.set.get(dimension);
      const alwaysSets = value === null || value?.every((part) => 'literal' in part);
      return alwaysSets === true && covers(other, rule);
    }),
  );
  return takers.every((taker) => taker !== undefined) ? [...new Set(takers.map(({ title }) => title))] : [];
}

/** The earlier pool that takes all of a pool's money. */
export function coveringPool(pool: SharedPool, earlier: readonly SharedPool[]): SharedPool | undefined {
  return earlier.find((other) => covers(other, pool));
}

/** Whether all that meets `narrow` meets `wide`, as far as their texts tell. */
function covers(wide: Part, narrow: Part): boolean {
  const startsInTime = wide.from === undefined || (narrow.from !== undefined && narrow.from >= wide.from);
  const endsInTime = wide.until === undefined || (narrow.until !== undefined && narrow.until <= wide.until);
  return startsInTime && endsInTime && wide.when.every((condition) => isImplied(condition, narrow.when));
}

function isImplied(wide: Condition, narrow: readonly Condition[]): boolean {
  const asked = narrow.find(({ attribute }) => attribute.name === wide.attribute.name);
  if (asked === undefined) return false;
  const plain = asked.patterns.filter(({ isNegated }) => !isNegated);
  const widePlain = wide.patterns.filter(({ isNegated }) => !isNegated);
  const wideNegated = wide.patterns.filter(({ isNegated }) => isNegated);
  const isExcluded = (no: Pattern): boolean =>
    asked.patterns.some((other) => other.isNegated && sameText(other, no)) ||
    (plain.length > 0 && plain.every((each) => each.kind === 'exact' && !meets(no, each.text)));
  const isIncluded =
    widePlain.length === 0 ||
    (plain.length > 0 && plain.every((each) => widePlain.some((pattern) => includes(pattern, each))));
  return isIncluded && wideNegated.every(isExcluded);
}

function includes(wide: Pattern, narrow: Pattern): boolean {
  if (sameText(wide, narrow)) return true;
  if (narrow.kind === 'exact') return narrow.text !== '' && meets(wide, narrow.text);
  const prefix = /^([^*?]*)\*$/.exec(wide.text)?.[1];
  return wide.kind === 'glob' && narrow.kind === 'glob' && prefix !== undefined && startsWith(narrow.text, prefix);
}

/** Whether every text a glob stands for begins so. An empty beginning still asks for a text. */
function startsWith(glob: string, prefix: string): boolean {
  const fixed = /^[^*?]*/.exec(glob)?.[0] ?? '';
  return fixed.startsWith(prefix) && (prefix !== '' || fixed !== '' || glob.includes('?') || /^\*+$/.test(glob));
}

function sameText(a: Pattern, b: Pattern): boolean {
  return a.kind === b.kind && a.text === b.text;
}
