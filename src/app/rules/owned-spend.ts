import { SPEND_DAY_DIMENSIONS, SPEND_DAY_MEASURES } from '../../ledger/spend-day.ts';
import { HELD_CATEGORIES } from '../../ledger/waterfall.ts';
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
const IS_HELD = `component = 'gpu' AND category IN (${HELD_CATEGORIES})`;

/** Below this a product of a remainder and a piece of a weight is a whole number of 64 bits. */
const WEIGHT_MAX = 2n ** 46n;
const PIECE = 2n ** 16n;

const SUMS = SPEND_DAY_MEASURES.map((measure) => `CAST(sum(${measure}) AS BIGINT) AS ${measure}`).join(', ');

export interface OwnedSpendRequest {
  /** SQL with the columns of `spend_day`. */
  readonly spend: string;
  /** SQL with the columns of `known_profile`, of the same days. */
  readonly profile: string;
  /** The columns wanted besides the day and the sums; reading fewer is faster. */
  readonly columns: readonly string[];
  /** Whether nobody looks at the day: then there may be none in the answer, and it is faster. */
  readonly anyDay?: boolean;
}

/**
 * Question: what did each day cost, by owner, with shared money split over the teams it serves?
 *
 * What a pool cost on a day, in each combination of the other dimensions, is split by itself, `T·cum ÷ W − T·(cum − w) ÷ W` in
 * the order of team names, money and GPU time alike, so that the parts add up to it and are the same whatever one groups by. On a day on which nobody has a
 * part in the key the pool keeps its money, and no team has it.
 */
export function ownedSpendSql(book: RuleBook, request: OwnedSpendRequest): string {
  const { profiles, keep } = ownerPeriods(book);
  const owners = ownersSql(book, profiles(request.profile), keep);
  return book.shared.length === 0 ? unsharedSql(book, request, owners) : sharedSql(book, request, owners);
}

/** Without pools a row of sums has one owner. Where the day does not matter, days are added up before anyone asks whose it is. */
function unsharedSql(book: RuleBook, { spend, columns, anyDay }: OwnedSpendRequest, owners: string): string {
  const { keep, joinSql } = ownerPeriods(book);
  const dimensions = ['profile_no', ...columns.filter((column) => !OWNER_COLUMNS.includes(column))].join(', ');
  const isSummed = anyDay === true && !keep.includes('day');
  const rows = isSummed ? `SELECT ${dimensions}, ${SUMS} FROM (${spend}) r GROUP BY ${dimensions}` : spend;
  const selected = [...(isSummed ? [] : ['s.day']), ...columns.map(ofRowOrOwner)].join(', ');
  return `
    SELECT ${selected}, ${SPEND_DAY_MEASURES.map((measure) => `s.${measure}`).join(', ')}
    FROM (${rows}) s LEFT JOIN (${owners}) o ON ${joinSql('s', 'o')}`;
}

function sharedSql(book: RuleBook, { spend, columns }: OwnedSpendRequest, owners: string): string {
  const { joinSql } = ownerPeriods(book);
  const others = [...new Set(columns)].filter((column) => !['team', 'rule'].includes(column));
  const rule = columns.includes('rule') ? ['rule'] : [];
  const ofOwner = [...new Set(['team', ...rule, ...others.filter((column) => OWNER_COLUMNS.includes(column))])];
  const ofRow = others.filter((column) => !OWNER_COLUMNS.includes(column)).map((column) => `s.${column}`);
  const ofSplit = [...new Set(['day', 'pool', ...others])];
  const ofPool = POOLED_COLUMNS.map(ofRowOrOwner).join(', ');
  const measures = SPEND_DAY_MEASURES.join(', ');
  // Owners are numbered, so that millions of rows are added up by a number and not by names. What is split is added up by every
  // dimension there is first, whatever is asked for: the parts must not depend on the question.
  return `
    WITH owner AS MATERIALIZED (
      SELECT *, CAST(dense_rank() OVER (ORDER BY ${ofOwner.join(', ')}) AS INTEGER) AS owner_no FROM (${owners}) o
    ), own_number AS (
      SELECT s.day, o.owner_no, ${[...ofRow, SUMS].join(', ')}, sum(CASE WHEN ${IS_HELD} THEN gpu_units ELSE 0 END) AS held_units
      FROM (${spend}) s LEFT JOIN owner o ON ${joinSql('s', 'o')} WHERE o.pool IS NULL
      GROUP BY ${['s.day', 'o.owner_no', ...ofRow].join(', ')}
    ), own AS MATERIALIZED (
      SELECT s.* EXCLUDE (owner_no), ${ofOwner.map((column) => `o.${column}`).join(', ')}
      FROM own_number s LEFT JOIN (SELECT DISTINCT owner_no, ${ofOwner.join(', ')} FROM owner) o ON s.owner_no = o.owner_no
    ), pooled AS MATERIALIZED (
      SELECT s.day, ${ofPool}, ${SUMS}
      FROM (${spend}) s JOIN owner o ON ${joinSql('s', 'o')} WHERE o.pool IS NOT NULL GROUP BY s.day, ${ofPool}
    ), team_key AS (
      SELECT day, team, sum(held_units) AS gpu_hours, sum(usd_micros) AS cost, 1 AS even
      FROM own WHERE team IS NOT NULL GROUP BY day, team
    ), pool_weight AS (${book.shared.map(weightSql).join(' UNION ALL ')}
    ), pool_part AS (
      SELECT pool, day, team AS to_team, CAST(sum(weight) OVER (PARTITION BY pool, day ORDER BY team) AS BIGINT) AS upto,
             CAST(sum(weight) OVER (PARTITION BY pool, day) AS BIGINT) AS total
      FROM pool_weight WHERE weight > 0
    ), upto_part AS (
      SELECT ${ofSplit.map((column) => `o.${column}`).join(', ')}, p.to_team, p.upto,
             ${SPEND_DAY_MEASURES.map((measure) => `sum(${uptoSql(`o.${measure}`)}) AS ${measure}`).join(', ')}
      FROM pooled o LEFT JOIN pool_part p ON o.pool = p.pool AND o.day = p.day
      GROUP BY ${ofSplit.map((column) => `o.${column}`).join(', ')}, p.to_team, p.upto
    )
    SELECT ${['day', ...others, 'team', ...rule].join(', ')}, ${measures} FROM own
    UNION ALL
    SELECT ${['day', ...others].join(', ')}, to_team AS team${rule.length > 0 ? `, ${poolRuleSql(book.shared)} AS rule` : ''},
           ${SPEND_DAY_MEASURES.map((measure) => `CAST(${measure} - COALESCE(lag(${measure}) OVER below, 0) AS BIGINT) AS ${measure}`).join(', ')}
    FROM upto_part WINDOW below AS (PARTITION BY ${ofSplit.join(', ')} ORDER BY upto)`;
}

/** A column of a row `s` of `spend_day`, or of its owner `o`. */
function ofRowOrOwner(column: string): string {
  return `${OWNER_COLUMNS.includes(column) ? 'o' : 's'}.${column}`;
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

/**
 * What a team and those before it have of a measure: `T·cum ÷ W`, and all of it where nobody has a weight.
 *
 * The product does not fit 64 bits and dividing 128 takes a microsecond, of which a year of pools has millions. So the weight is
 * multiplied piece by piece, as on paper: each remainder goes to the next piece, and the result is the same to the last digit.
 */
function uptoSql(measure: string): string {
  const rest = `${measure} % p.total`;
  const high = `(${rest} * (p.upto // ${PIECE * PIECE}))`;
  const middle = `(${high} % p.total * ${PIECE} + ${rest} * (p.upto // ${PIECE} % ${PIECE}))`;
  const low = `(${middle} % p.total * ${PIECE} + ${rest} * (p.upto % ${PIECE}))`;
  const quotients = `${high} // p.total * ${PIECE * PIECE} + ${middle} // p.total * ${PIECE} + ${low} // p.total`;
  return `CASE WHEN p.total IS NULL OR ${measure} = 0 THEN ${measure}
               WHEN p.total < ${WEIGHT_MAX} THEN ${measure} // p.total * p.upto + ${quotients}
               ELSE CAST(${measure} AS HUGEINT) * p.upto // p.total END`;
}

function poolRuleSql(shared: readonly SharedPool[]): string {
  const cases = shared.map((pool) => `WHEN ${quote(pool.name)} THEN ${quote(sharedRuleText(pool))}`);
  return `CASE pool ${cases.join(' ')} END`;
}
