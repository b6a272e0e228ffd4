import { SPEND_DAY_DIMENSIONS, SPEND_DAY_MEASURES } from '../../ledger/spend-day.ts';
import { quote } from '../../lake/engine.ts';
import { ownerPeriods, ownersSql, sharedRuleText } from './owners-sql.ts';
import { OWNER_DIMENSIONS, ownerColumn } from './rule.ts';
import type { RuleBook, SharedPool } from './rule.ts';

/** What the rules add to a row of `spend_day`. */
export const OWNER_COLUMNS: readonly string[] = [...OWNER_DIMENSIONS.map(ownerColumn), 'rule', 'pool'];

/** All that a part of a pool keeps. */
const POOLED_COLUMNS = [
  ...OWNER_COLUMNS.filter((column) => !['team', 'rule'].includes(column)),
  ...SPEND_DAY_DIMENSIONS,
];

/** GPUs that somebody held, whatever they did. */
const IS_HELD = "component = 'gpu' AND category IN ('unknown', 'idle', 'computing')";

export interface OwnedSpendRequest {
  /** SQL with the columns of `spend_day`. */
  readonly spend: string;
  /** SQL with the columns of `known_profile`, of the same days. */
  readonly profile: string;
  /** The columns wanted besides the day and the sums; reading fewer is faster. */
  readonly columns: readonly string[];
}

/**
 * Question: what did each day cost, by owner, with shared money split over the teams it serves?
 *
 * What a pool cost on a day, in each combination of the other dimensions, is split by itself, `T·cum ÷ W − T·(cum − w) ÷ W` in
 * the order of team names, money and GPU time alike, so that the parts add up to it and are the same whatever one groups by. On a day on which nobody has a
 * part in the key the pool keeps its money, and no team has it.
 */
export function ownedSpendSql(book: RuleBook, request: OwnedSpendRequest): string {
  const { columns } = request;
  if (book.shared.length === 0) return rowsSql(book, request, columns, 'LEFT JOIN', 'TRUE');
  const others = columns.filter((column) => !['team', 'rule'].includes(column));
  const hasRule = columns.includes('rule');
  const list = (team: string, rule: string): string =>
    [...others.map((column) => `o.${column}`), `${team} AS team`, ...(hasRule ? [`${rule} AS rule`] : [])].join(', ');
  const grouped = [...new Set(['day', 'team', ...(hasRule ? ['rule'] : []), ...others])];
  const sums = SPEND_DAY_MEASURES.map((measure) => `CAST(sum(${measure}) AS BIGINT) AS ${measure}`);
  // What is split is added up by every dimension there is first, whatever is asked for: the parts must not depend on the question.
  return `
    WITH own AS MATERIALIZED (
      SELECT ${grouped.join(', ')}, ${sums.join(', ')}, sum(CASE WHEN ${IS_HELD} THEN gpu_units ELSE 0 END) AS held_units
      FROM (${rowsSql(book, request, [...grouped, 'component', 'category'], 'LEFT JOIN', 'o.pool IS NULL')}) r
      GROUP BY ${grouped.join(', ')}
    ), pooled AS MATERIALIZED (
      SELECT day, ${POOLED_COLUMNS.join(', ')}, ${sums.join(', ')}
      FROM (${rowsSql(book, request, POOLED_COLUMNS, 'JOIN', 'o.pool IS NOT NULL')}) r GROUP BY day, ${POOLED_COLUMNS.join(', ')}
    ), team_key AS (
      SELECT day, team, sum(held_units) AS gpu_hours, sum(usd_micros) AS cost, 1 AS even
      FROM own WHERE team IS NOT NULL GROUP BY day, team
    ), pool_weight AS (${book.shared.map(weightSql).join(' UNION ALL ')}
    ), pool_part AS (
      SELECT pool, day, team AS to_team, weight, sum(weight) OVER (PARTITION BY pool, day ORDER BY team) AS upto,
             sum(weight) OVER (PARTITION BY pool, day) AS total
      FROM pool_weight WHERE weight > 0
    )
    SELECT o.day, ${list('o.team', 'o.rule')}, ${SPEND_DAY_MEASURES.join(', ')} FROM own o
    UNION ALL
    SELECT o.day, ${list('p.to_team', poolRuleSql(book.shared))},
           ${SPEND_DAY_MEASURES.map((measure) => `${partSql(`o.${measure}`)} AS ${measure}`).join(', ')}
    FROM pooled o LEFT JOIN pool_part p ON o.pool = p.pool AND o.day = p.day`;
}

/** Rows of `spend_day` beside the owners of their profiles. */
function rowsSql(
  book: RuleBook,
  { spend, profile }: OwnedSpendRequest,
  columns: readonly string[],
  join: 'JOIN' | 'LEFT JOIN',
  where: string,
): string {
  const { profiles, keep, joinSql } = ownerPeriods(book);
  const selected = [...new Set(columns)]
    .filter((column) => column !== 'day')
    .map((column) => `${OWNER_COLUMNS.includes(column) ? 'o' : 's'}.${column}, `);
  return `
    SELECT s.day, ${selected.join('')}${SPEND_DAY_MEASURES.map((measure) => `s.${measure}`).join(', ')}
    FROM (${spend}) s ${join} (${ownersSql(book, profiles(profile), keep)}) o ON ${joinSql('s', 'o')} WHERE ${where}`;
}

/** What a team has of the key of a pool on a day; never below nothing. */
function weightSql({ name, split }: SharedPool): string {
  if (typeof split === 'string') {
    const weight = split === 'gpu-hours' ? 'gpu_hours' : split;
    return `SELECT ${quote(name)} AS pool, day, team, CAST(COALESCE(${weight}, 0) AS HUGEINT) AS weight FROM team_key`;
  }
  const stated = [...split].map(([team, weight]) => `(${quote(team)}, ${weight})`).join(', ');
  return `SELECT ${quote(name)} AS pool, d.day, v.team, CAST(v.weight AS HUGEINT) AS weight
      FROM (VALUES ${stated}) AS v(team, weight), (SELECT DISTINCT day FROM pooled WHERE pool = ${quote(name)}) d`;
}

function partSql(measure: string): string {
  const whole = `CAST(${measure} AS HUGEINT)`;
  return `CASE WHEN p.total IS NULL THEN ${measure}
             ELSE CAST(${whole} * p.upto // p.total - ${whole} * (p.upto - p.weight) // p.total AS BIGINT) END`;
}

function poolRuleSql(shared: readonly SharedPool[]): string {
  const cases = shared.map((pool) => `WHEN ${quote(pool.name)} THEN ${quote(sharedRuleText(pool))}`);
  return `CASE o.pool ${cases.join(' ')} END`;
}
