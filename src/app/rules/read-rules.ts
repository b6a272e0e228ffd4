import { attributeNamed } from './attribute.ts';
import { parsePattern, patternText } from './pattern.ts';
import { OWNER_DIMENSIONS } from './rule.ts';
import type { Alias, Condition, OwnerDimension, Rule, RuleBook, RuleValue, SharedPool, ValuePart } from './rule.ts';
import type { RulesText, RuleText, SharedText, WhenText } from './rules-schema.ts';

/** How a value says that something is nobody's. */
const NOBODY = 'none';

/** What bursar.yaml says about owners, as values. What is wrong with it `checkRules` tells before. */
export function readRules({ rules = [], aliases = {}, shared = [] }: RulesText): RuleBook {
  return {
    rules: rules.map(ruleOf),
    aliases: new Map(OWNER_DIMENSIONS.map((dimension) => [dimension, aliasesOf(aliases[dimension] ?? {})])),
    shared: shared.map(poolOf),
  };
}

export function ruleOf(rule: RuleText, place: number): Rule {
  const when = conditionsOf(rule.when);
  const set = new Map<OwnerDimension, RuleValue>();
  for (const dimension of OWNER_DIMENSIONS) {
    const value = rule.set[dimension];
    if (value !== undefined) set.set(dimension, valueOf(value, when));
  }
  return { title: `rule ${place + 1}: ${rule.name ?? whenText(when)}`, when, set, ...daysOf(rule) };
}

export function poolOf(pool: SharedText): SharedPool {
  const { name, split } = pool;
  return {
    name,
    when: conditionsOf(pool.when),
    split: typeof split === 'string' ? split : new Map(Object.entries(split)),
    ...daysOf(pool),
  };
}

export function aliasesOf(renamed: NonNullable<NonNullable<RulesText['aliases']>['team']>): readonly Alias[] {
  return Object.entries(renamed).map(([from, to]) =>
    typeof to === 'string' ? { from, to } : { from, to: to.to, ...(to.from !== undefined && { since: to.from }) },
  );
}

function daysOf({ from, until }: { from?: string | undefined; until?: string | undefined }): {
  from?: string;
  until?: string;
} {
  return { ...(from !== undefined && { from }), ...(until !== undefined && { until }) };
}

function conditionsOf(when: WhenText): readonly Condition[] {
  return Object.entries(when).flatMap(([name, texts]) => {
    const attribute = attributeNamed(name);
    return attribute === undefined ? [] : [{ attribute, patterns: [texts].flat().map(parsePattern) }];
  });
}

/** `namespace nlp-*, user svc|bot`. */
export function whenText(when: readonly Condition[]): string {
  const parts = when.map(
    ({ attribute, patterns }) => `${attribute.name} ${patterns.map(patternText).join('|') || "''"}`,
  );
  return parts.length === 0 ? 'everything' : parts.join(', ');
}

/** The pieces of `{label.app}-{1}`; names that are none stay what they are, and are told by the check. */
export function valueParts(text: string): readonly (string | { readonly name: string })[] {
  return text
    .split(/(\{[^{}]+\})/)
    .filter((part) => part !== '')
    .map((part) => (/^\{[^{}]+\}$/.test(part) ? { name: part.slice(1, -1) } : part));
}

function valueOf(text: string | null, when: readonly Condition[]): RuleValue {
  if (text === null || text === NOBODY) return null;
  const first = firstRegex(when);
  return valueParts(text).map((part): ValuePart => {
    if (typeof part === 'string') return { literal: part };
    if (/^\d+$/.test(part.name) && first !== undefined) return { group: Number(part.name), ...first };
    const attribute = attributeNamed(part.name);
    return attribute === undefined ? { literal: `{${part.name}}` } : { attribute };
  });
}

/** The regex whose groups `{1}` means. */
export function firstRegex(when: readonly Condition[]): { of: Condition['attribute']; regex: string } | undefined {
  for (const { attribute, patterns } of when) {
    const regex = patterns.find(({ kind, isNegated }) => kind === 'regex' && !isNegated);
    if (regex !== undefined) return { of: attribute, regex: regex.text };
  }
  return undefined;
}
