import { RE2JS } from 're2js';
import { meets } from '../../src/app/rules/pattern.ts';
import { OWNER_DIMENSIONS } from '../../src/app/rules/rule.ts';
import type { Attribute, Condition, OwnerDimension, RuleBook, RuleValue } from '../../src/app/rules/rule.ts';

/** A profile as people would write it down: attributes by column, labels and tags as maps. */
export interface PlainProfile {
  readonly day: string;
  readonly columns: Readonly<Record<string, string | undefined>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly tags: Readonly<Record<string, string>>;
}

export type Owners = Readonly<Record<OwnerDimension, string | null>> & { readonly pool: string | null };

/** Whose a profile is, worked out one rule after the other without SQL: the yardstick for the fast way. */
export function slowOwners(book: RuleBook, profile: PlainProfile): Owners {
  const said = Object.fromEntries(
    OWNER_DIMENSIONS.map((dimension) => [
      dimension,
      renamed(book, dimension, slowOwner(book, dimension, profile), profile.day),
    ]),
  ) as Record<OwnerDimension, string | null>;
  return { ...said, pool: book.shared.find((pool) => isMet(pool, profile))?.name ?? null };
}

function slowOwner(book: RuleBook, dimension: OwnerDimension, profile: PlainProfile): string | null {
  for (const rule of book.rules) {
    const value = rule.set.get(dimension);
    if (value === undefined || !isMet(rule, profile)) continue;
    if (value === null) return null;
    const text = filledIn(value, profile);
    if (text !== undefined) return text;
  }
  return byDefault(dimension, profile);
}

function isMet(part: { when: readonly Condition[]; from?: string; until?: string }, profile: PlainProfile): boolean {
  const inTime = (part.from ?? '') <= profile.day && (part.until === undefined || profile.day < part.until);
  return inTime && part.when.every((condition) => isConditionMet(condition, valueOf(condition.attribute, profile)));
}

function isConditionMet({ patterns }: Condition, value: string | undefined): boolean {
  const plain = patterns.filter(({ isNegated }) => !isNegated);
  const isOne = (pattern: (typeof patterns)[number]): boolean =>
    value === undefined ? pattern.kind === 'exact' && pattern.text === '' : meets(pattern, value);
  return (plain.length === 0 || plain.some(isOne)) && !patterns.some((pattern) => pattern.isNegated && isOne(pattern));
}

function filledIn(value: NonNullable<RuleValue>, profile: PlainProfile): string | undefined {
  let text = '';
  for (const part of value) {
    const piece =
      'literal' in part
        ? part.literal
        : 'attribute' in part
          ? valueOf(part.attribute, profile)
          : grouped(part, profile);
    if (piece === undefined || (piece === '' && !('literal' in part))) return undefined;
    text += piece;
  }
  return text;
}

function grouped(part: { of: Attribute; regex: string; group: number }, profile: PlainProfile): string | undefined {
  const matcher = RE2JS.compile(part.regex).matcher(valueOf(part.of, profile) ?? '');
  return matcher.find() ? (matcher.group(part.group) ?? undefined) : undefined;
}

function valueOf({ column, key }: Attribute, { columns, labels, tags }: PlainProfile): string | undefined {
  if (key === undefined) return columns[column];
  const map = column === 'labels' ? labels : tags;
  return Object.hasOwn(map, key) ? map[key] : undefined;
}

function byDefault(dimension: OwnerDimension, { columns, labels, tags }: PlainProfile): string | null {
  switch (dimension) {
    case 'team':
      return firstSaid(
        labels['team'],
        tags['team'],
        columns['account'],
        columns['namespace'] === 'default' ? undefined : columns['namespace'],
      );
    case 'user':
      return firstSaid(columns['user_name'], tags['user']);
    case 'class':
      return (
        firstSaid(labels['class'], tags['class']) ??
        (columns['workload_kind'] === 'Notebook' ? 'experimentation' : null)
      );
    default:
      return firstSaid(labels[dimension], tags[dimension]);
  }
}

/** An empty text names nobody. */
function firstSaid(...values: readonly (string | undefined)[]): string | null {
  return values.find((value) => value !== undefined && value !== '') ?? null;
}

function renamed(book: RuleBook, dimension: OwnerDimension, name: string | null, day: string): string | null {
  let current = name;
  for (let steps = 0; steps < 100; steps += 1) {
    const next = book.aliases
      .get(dimension)
      ?.find(({ from, since }) => from === current && (since === undefined || since <= day));
    if (next === undefined) return current;
    current = next.to;
  }
  return current;
}
