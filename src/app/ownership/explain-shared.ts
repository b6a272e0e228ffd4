import { HELD_CATEGORIES } from '../../ledger/waterfall.ts';
import type { SharedPart } from '../../report/rules-page.ts';
import { quote } from '../../lake/engine.ts';
import { ownedSpendSql } from '../rules/owned-spend.ts';
import { splitText } from '../rules/rule.ts';
import type { RuleBook } from '../rules/rule.ts';
import { windowSpend } from '../rules/window-spend.ts';
import type { LedgerWindow } from '../window.ts';
import type { ReadSpace } from '../workspace.ts';

interface PartRow {
  readonly pool: string;
  readonly day: string;
  readonly weight: bigint;
  readonly total: bigint;
  readonly poolMicros: bigint;
  readonly usdMicros: bigint;
}

/**
 * Question: why does a team have so much of each shared pool? By the day: what the pool cost, what the team has of its key, what
 * all teams have, and the part that comes of it.
 */
export async function explainShared(
  space: ReadSpace,
  window: LedgerWindow,
  team: string,
  book: RuleBook = space.rules,
): Promise<SharedPart[]> {
  if (book.shared.length === 0 || window.days.length === 0) return [];
  const { tables, params, sql } = windowSpend(window);
  const request = { spend: sql, profile: 'SELECT * FROM known_profile' };
  const rows = await space.ask<PartRow>({
    tables,
    params: { ...params, team },
    sql: `
      WITH split AS (${ownedSpendSql(book, { ...request, columns: ['team', 'pool', 'rule'] }).trim()}),
      part AS (
        SELECT pool, day, CAST(COALESCE(sum(usd_micros), 0) AS BIGINT) AS pool_micros,
               CAST(COALESCE(sum(usd_micros) FILTER (WHERE team = $team), 0) AS BIGINT) AS usd_micros
        FROM split WHERE pool IS NOT NULL GROUP BY pool, day
      ), key AS (${keySql(book, request)})
      SELECT p.pool, CAST(p.day AS VARCHAR) AS day, p.pool_micros AS "poolMicros", p.usd_micros AS "usdMicros",
             CAST(COALESCE(k.weight, 0) AS BIGINT) AS weight, CAST(COALESCE(k.total, 0) AS BIGINT) AS total
      FROM part p LEFT JOIN key k ON p.pool = k.pool AND p.day = k.day ORDER BY p.pool, p.day`,
  });
  return book.shared.map(({ name, split }) => {
    const days = rows.filter(({ pool }) => pool === name);
    return {
      pool: name,
      key: splitText(split),
      unit: split === 'gpu-hours' ? 'gpu-unit-seconds' : split === 'cost' ? 'usd-micros' : 'parts',
      poolUsdMicros: days.reduce((total, { poolMicros }) => total + poolMicros, 0n),
      usdMicros: days.reduce((total, { usdMicros }) => total + usdMicros, 0n),
      days: days.map(({ day, weight, total, poolMicros, usdMicros }) => ({
        day,
        weight,
        total,
        poolUsdMicros: poolMicros,
        usdMicros,
      })),
    };
  });
}

/** What the team and all teams together have of each pool's key, by day. */
function keySql(book: RuleBook, request: { spend: string; profile: string }): string {
  const own = ownedSpendSql(
    { ...book, shared: book.shared },
    { ...request, columns: ['team', 'pool', 'rule', 'component', 'category'] },
  );
  const perTeam = `
    SELECT day, team, sum(gpu_units) FILTER (WHERE component = 'gpu' AND category IN (${HELD_CATEGORIES})) AS gpu_hours,
           sum(usd_micros) AS cost, 1 AS even
    FROM (${own}) o WHERE pool IS NULL AND team IS NOT NULL GROUP BY day, team`;
  return book.shared
    .map(({ name, split }) => {
      const pool = `${quote(name)} AS pool`;
      if (typeof split !== 'string') {
        const total = [...split.values()].reduce((sum, weight) => sum + weight, 0);
        const mine = [...split].map(([each, weight]) => `WHEN ${quote(each)} THEN ${weight}`).join(' ');
        return `SELECT ${pool}, day, CASE $team ${mine} ELSE 0 END AS weight, ${total} AS total FROM (SELECT DISTINCT day FROM part) d`;
      }
      const weight = `COALESCE(CASE WHEN ${split === 'gpu-hours' ? 'gpu_hours' : split} > 0 THEN ${split === 'gpu-hours' ? 'gpu_hours' : split} END, 0)`;
      return `SELECT ${pool}, day, sum(${weight}) FILTER (WHERE team = $team) AS weight, sum(${weight}) AS total FROM (${perTeam}) t GROUP BY day`;
    })
    .join(' UNION ALL ');
}
