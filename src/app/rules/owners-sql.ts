import { INTERACTIVE_KINDS, SERVING_KINDS } from '../../facts/workload-manner.ts';
import { quote } from '../../lake/engine.ts';
import { aliasedSql } from './aliases.ts';
import { conditionSql } from './pattern.ts';
import { ownerColumn, OWNER_DIMENSIONS, splitText } from './rule.ts';
import type { Attribute, Condition, OwnerDimension, RuleBook, RuleValue, SharedPool } from './rule.ts';

/** What is said of a profile, in the order of the columns `ownersSql` gives. */
const OWNER_COLUMNS = OWNER_DIMENSIONS.map(ownerColumn);

/** The first of some expressions that says something: a label or tag that is there and empty names nobody. */
const firstSaid = (...values: readonly string[]): string =>
  `COALESCE(${values.map((value) => `NULLIF(${value}, '')`).join(', ')})`;

/** Where no rule speaks: labels first, then tags, then the scheduler's account, then the namespace. `default` is everybody's. */
const DEFAULTS: Readonly<Record<OwnerDimension, string>> = {
  team: firstSaid("labels['team']", "tags['team']", 'account', "NULLIF(namespace, 'default')"),
  project: firstSaid("labels['project']", "tags['project']"),
  user: firstSaid('user_name', "tags['user']"),
  environment: firstSaid("labels['environment']", "tags['environment']"),
  class: `COALESCE(${firstSaid("labels['class']", "tags['class']")},
            CASE WHEN workload_kind IN (${INTERACTIVE_KINDS.map(quote).join(', ')}) THEN 'experimentation'
                 WHEN workload_kind IN (${SERVING_KINDS.map(quote).join(', ')}) THEN 'inference'
                 WHEN workload_kind IN ('PyTorchJob', 'MPIJob', 'TFJob', 'RayJob') THEN 'training'
                 WHEN workload_kind = 'CronJob' THEN 'batch' END)`,
};

const DEFAULT_RULE = `CASE WHEN labels['team'] <> '' THEN 'label team' WHEN tags['team'] <> '' THEN what || ' tag team'
            WHEN account <> '' THEN 'account' WHEN namespace NOT IN ('', 'default') THEN 'namespace' ELSE 'none' END`;

/**
 * Question: whose is each profile, by which rule, and does it serve several?
 *
 * `profiles` is SQL with the columns of `profile` (or of a relation that has the attributes and `day`). Gives `keep` and team,
 * project, user_name, environment, class, rule, pool. First match wins, for each dimension by itself; aliases are read last.
 */
export function ownersSql(book: RuleBook, profiles: string, keep: readonly string[]): string {
  const matched = [
    ...book.rules.map((rule, place) => `${whenSql(rule)} AS rule_${place}`),
    ...book.shared.map((pool, place) => `${whenSql(pool)} AS pool_${place}`),
  ];
  const owners = OWNER_DIMENSIONS.map((dimension) => `${chosenSql(book, dimension)} AS own_${dimension}`);
  const named = OWNER_DIMENSIONS.map(
    (dimension) => `${aliasedSql(book.aliases.get(dimension) ?? [], `own_${dimension}`)} AS ${ownerColumn(dimension)}`,
  );
  const kept = keep.map((column) => `${column}, `).join('');
  // Each step is a query of its own, so that a condition is asked once and not once for each thing it decides.
  return `
    SELECT ${kept}${named.join(', ')}, team_rule AS rule, pool FROM (
      SELECT ${[...new Set([...keep, 'day'])].join(', ')}, ${owners.join(', ')},
             ${teamRuleSql(book)} AS team_rule, ${poolSql(book.shared)} AS pool
      FROM (SELECT *${matched.map((each) => `, ${each}`).join('')} FROM (${profiles}) asked) matched
    ) owned`;
}

/** The same, with shared money as everybody sees it who looks at single entries: with its pool, and nobody's. */
export function ownersUnsplitSql(book: RuleBook, profiles: string, keep: readonly string[]): string {
  const kept = keep.map((column) => `${column}, `).join('');
  const others = OWNER_COLUMNS.filter((column) => column !== 'team').join(', ');
  if (book.shared.length === 0) {
    return `SELECT ${kept}team, ${others}, rule FROM (${ownersSql(book, profiles, keep)}) named`;
  }
  return `
    SELECT ${kept}CASE WHEN pool IS NULL THEN team END AS team, ${others},
           COALESCE('shared ' || pool || ', split by day', rule) AS rule
    FROM (${ownersSql(book, profiles, keep)}) named`;
}

/** How owners of profiles are asked for once, and not once a day: between days on which a rule begins or ends nothing changes. */
export interface OwnerPeriods {
  /** SQL of profiles, each once for every period. */
  readonly profiles: (profile: string) => string;
  readonly keep: readonly string[];
  /** The condition that joins rows with a day and a profile to their owners. */
  readonly joinSql: (rows: string, owners: string) => string;
}

export function ownerPeriods(book: RuleBook): OwnerPeriods {
  const parts = [...book.rules, ...book.shared].flatMap(({ from, until }) => [from, until]);
  const aliases = [...book.aliases.values()].flat().map(({ since }) => since);
  const starts = [...new Set([...parts, ...aliases].flatMap((day) => day ?? []))].toSorted();
  const isOne = starts.length === 0;
  const periods = ['0001-01-01', ...starts].map(
    (day, place) => `(DATE ${quote(day)}, DATE ${quote(starts[place] ?? '9999-12-31')})`,
  );
  return {
    profiles: (profile) => `
      SELECT p.* EXCLUDE (day), d.day, d.until_day
      FROM (${profile}) p, (VALUES ${periods.join(', ')}) AS d(day, until_day)`,
    keep: ['profile_no', ...(isOne ? [] : ['day', 'until_day'])],
    joinSql: (rows, owners) =>
      `${rows}.profile_no = ${owners}.profile_no${isOne ? '' : ` AND ${rows}.day >= ${owners}.day AND ${rows}.day < ${owners}.until_day`}`,
  };
}

/** The expression for what an attribute holds. */
function attributeSql({ column, key }: Attribute): string {
  return key === undefined ? column : `${column}[${quote(key)}]`;
}

export function whenSql(part: { when: readonly Condition[]; from?: string; until?: string }): string {
  const conditions = part.when.map((condition) => conditionSql(condition, attributeSql(condition.attribute)));
  if (part.from !== undefined) conditions.push(`day >= DATE ${quote(part.from)}`);
  if (part.until !== undefined) conditions.push(`day < DATE ${quote(part.until)}`);
  return conditions.length === 0 ? 'TRUE' : `(${conditions.join(' AND ')})`;
}

/**
 * Question: what does each rule reach, and what of it is left to it by the rules before?
 *
 * Gives `keep`, and for rule i `rule_i` (it matches) and `decides_i` (it is the first to say something).
 */
export function reachSql({ rules }: RuleBook, profiles: string, keep: readonly string[]): string {
  const matched = rules.map((rule, place) => `, ${whenSql(rule)} AS rule_${place}`);
  const decides = rules.map((rule, place) => {
    const first = [...rule.set].map(([dimension, value]) => {
      const before = rules.slice(0, place).flatMap((other, index) => {
        const taken = other.set.get(dimension);
        return taken === undefined ? [] : [setsSql(taken, index)];
      });
      return `(${[setsSql(value, place), ...before.map((each) => `NOT (${each})`)].join(' AND ')})`;
    });
    return `, rule_${place}, (${first.join(' OR ')}) AS decides_${place}`;
  });
  return `SELECT ${keep.join(', ')}${decides.join('')} FROM (SELECT *${matched.join('')} FROM (${profiles}) asked) matched`;
}

function chosenSql({ rules }: RuleBook, dimension: OwnerDimension): string {
  const cases = rules.flatMap((rule, place) => {
    const value = rule.set.get(dimension);
    return value === undefined ? [] : [`WHEN ${setsSql(value, place)} THEN ${valueSql(value)}`];
  });
  const fallback = DEFAULTS[dimension];
  return cases.length === 0 ? fallback : `CASE ${cases.join(' ')} ELSE ${fallback} END`;
}

function teamRuleSql({ rules }: RuleBook): string {
  const cases = rules.flatMap((rule, place) => {
    const value = rule.set.get('team');
    return value === undefined ? [] : [`WHEN ${setsSql(value, place)} THEN ${quote(rule.title)}`];
  });
  return cases.length === 0 ? DEFAULT_RULE : `CASE ${cases.join(' ')} ELSE ${DEFAULT_RULE} END`;
}

function poolSql(shared: readonly SharedPool[]): string {
  const cases = shared.map(({ name }, place) => `WHEN pool_${place} THEN ${quote(name)}`);
  return cases.length === 0 ? 'CAST(NULL AS VARCHAR)' : `CASE ${cases.join(' ')} END`;
}

/** A rule whose value names something the profile does not have says nothing: later ones are asked. */
function setsSql(value: RuleValue, place: number): string {
  const isWhole = value === null || value.every((part) => 'literal' in part);
  return isWhole ? `rule_${place}` : `rule_${place} AND ${valueSql(value)} IS NOT NULL`;
}

function valueSql(value: RuleValue): string {
  if (value === null) return 'CAST(NULL AS VARCHAR)';
  const parts = value.map((part) => {
    if ('literal' in part) return quote(part.literal);
    if ('attribute' in part) return `NULLIF(${attributeSql(part.attribute)}, '')`;
    return `NULLIF(regexp_extract(${attributeSql(part.of)}, ${quote(part.regex)}, ${part.group}), '')`;
  });
  return `(${parts.join(' || ')})`;
}

/** `shared control plane, by gpu-hours`. */
export function sharedRuleText({ name, split }: SharedPool): string {
  return `shared ${name}, by ${splitText(split)}`;
}
