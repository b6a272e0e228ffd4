import type { ProfileMoney } from './profile-money.ts';

/** So much of the money that a value is known by must say the same. */
const AGREEMENT_PERMILLE = 900n;

/** What may tell an owner, the surest first: of two candidates that catch the same, the earlier is taken. */
const ATTRIBUTES_OF: Readonly<Record<'team' | 'class', readonly string[]>> = {
  team: [
    'account',
    'namespace',
    'workload_stem',
    'user_name',
    'node_id',
    'resource_name',
    'cloud_account',
    'sub_account',
    'cluster',
  ],
  class: ['workload_stem', 'workload_kind', 'namespace'],
};
const WRITTEN: Readonly<Record<string, string>> = {
  user_name: 'user',
  workload_stem: 'name',
  workload_kind: 'kind',
  node_id: 'node',
};
/** Many may share these: they tell an owner only where all that is known agrees. */
const NEED_UNANIMITY = new Set(['cloud_account', 'sub_account', 'cluster']);

/** Values that say nothing about an owner. */
const SAYS_NOTHING = new Set(['default', 'root', 'none', 'unknown', 'job', 'node']);

/** One value of an attribute, as a pattern of a rule, and the profiles without owner that have it. */
interface CandidateValue {
  readonly pattern: string;
  readonly profiles: readonly ProfileMoney[];
}

/** A rule that might be written. */
export interface Candidate {
  readonly dimension: 'team' | 'class';
  readonly value: string;
  /** As a rule names it. */
  readonly attribute: string;
  readonly values: readonly CandidateValue[];
  readonly catches: ReadonlySet<ProfileMoney>;
  /** Whether profiles with an owner of another name must be kept out. */
  readonly guards: boolean;
  readonly evidence: string;
}

interface Told {
  readonly value: string;
  readonly evidence: string;
  /** Whether all money that has the value agrees: then no guard is needed. */
  readonly isUnanimous: boolean;
}

/** Every rule the evidence allows: an attribute, the owner it speaks for, and the values of it that do. */
export function candidatesFor(
  dimension: 'team' | 'class',
  profiles: readonly ProfileMoney[],
  unowned: readonly ProfileMoney[],
): Candidate[] {
  const known = new Set(profiles.flatMap((profile) => profile[dimension] ?? []));
  const columns = [
    ...new Set(unowned.flatMap(({ attributes }) => [...attributes.keys()].filter((key) => key.includes('.')))),
    ...ATTRIBUTES_OF[dimension],
  ];
  return columns.flatMap((column) => {
    const byOwner = new Map<string, { values: CandidateValue[]; told: Told[] }>();
    for (const [value, having] of groupedBy(column, unowned)) {
      const told = toldOwner({ dimension, column, value }, profiles, known);
      if (told === undefined) continue;
      const group = byOwner.get(told.value) ?? { values: [], told: [] };
      group.values.push({ pattern: patternOf(column, value), profiles: having });
      group.told.push(told);
      byOwner.set(told.value, group);
    }
    return [...byOwner].map(([value, { values, told }]) => ({
      dimension,
      value,
      attribute: WRITTEN[column] ?? column,
      values,
      catches: new Set(values.flatMap((each) => each.profiles)),
      guards: told.some(({ isUnanimous }) => !isUnanimous),
      evidence: told[0]?.evidence ?? '',
    }));
  });
}

function groupedBy(column: string, profiles: readonly ProfileMoney[]): Map<string, ProfileMoney[]> {
  const groups = new Map<string, ProfileMoney[]>();
  for (const profile of profiles) {
    const value = profile.attributes.get(column);
    if (value === undefined || SAYS_NOTHING.has(value.toLowerCase())) continue;
    groups.set(value, [...(groups.get(value) ?? []), profile]);
  }
  return groups;
}

/** Whom a value speaks for: the team it names, else the one that nearly all other money with it belongs to. */
function toldOwner(
  { dimension, column, value }: { dimension: 'team' | 'class'; column: string; value: string },
  profiles: readonly ProfileMoney[],
  known: ReadonlySet<string>,
): Told | undefined {
  const owned = new Map<string, bigint>();
  let total = 0n;
  for (const profile of profiles) {
    const owner = profile[dimension];
    if (owner === null || profile.pool !== null || profile.attributes.get(column) !== value) continue;
    owned.set(owner, (owned.get(owner) ?? 0n) + profile.usdMicros);
    total += profile.usdMicros;
  }
  const [owner, most] = [...owned]
    .filter(([name]) => canBeSaid(name))
    .toSorted(([, a], [, b]) => (a < b ? 1 : -1))[0] ?? [undefined, 0n];
  if (owner !== undefined && total > 0n && most * 1000n >= total * AGREEMENT_PERMILLE) {
    const isUnanimous = owned.size === 1;
    if (!isUnanimous && NEED_UNANIMITY.has(column)) return undefined;
    const share = Number((most * 100n) / total);
    return {
      value: owner,
      evidence: `${share} % of the other money with it is of ${owner}`,
      isUnanimous,
    };
  }
  const named = namedOwner(value, known);
  if (named === undefined || owned.size > 0 || dimension === 'class') return undefined;
  return { value: named, evidence: `it is the name of ${named}, or begins with it`, isUnanimous: true };
}

/** Whether a rule can set this name: `none` is nobody there, and braces put in what an attribute says. */
function canBeSaid(owner: string): boolean {
  return owner !== 'none' && !/\{[^{}]+\}/.test(owner);
}

function namedOwner(value: string, known: ReadonlySet<string>): string | undefined {
  const words = value.toLowerCase().split(/[^a-z0-9]+/);
  return [...known]
    .filter(canBeSaid)
    .find((owner) => owner.toLowerCase() === value.toLowerCase() || words[0] === owner.toLowerCase());
}

/** A pattern that is met by this value alone; of a name all its runs. */
function patternOf(column: string, value: string): string {
  if (column === 'workload_stem' && value.endsWith('-0') && !/[*?]|^[!/]/.test(value)) return `${value.slice(0, -1)}*`;
  if (!/[*?]|^[!/]/.test(value)) return value;
  return `/^${value.replaceAll(/[!-/:-@[-^`{-~]/g, '\\$&')}$/`;
}
