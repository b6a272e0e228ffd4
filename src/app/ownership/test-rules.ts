import type { RuleCatch, RulesTest, UnownedGroup } from '../../report/rules-page.ts';
import { ownedSpendSql } from '../rules/owned-spend.ts';
import { ownerPeriods, ownersSql, reachSql } from '../rules/owners-sql.ts';
import { splitText } from '../rules/rule.ts';
import type { RuleBook } from '../rules/rule.ts';
import { windowSpend } from '../rules/window-spend.ts';
import { daysOf } from '../window.ts';
import type { LedgerWindow } from '../window.ts';
import type { ReadSpace } from '../workspace.ts';
import { explainShared } from './explain-shared.ts';

const PROFILES = 'SELECT * FROM known_profile';
const GROUPS_MAX = 10;

/**
 * Question: what does each rule catch, what does none catch, and what would other rules change?
 *
 * `book` are the rules to try; where they are not those in force, what moves between teams is told. For a team, why it has what it
 * has of each shared pool.
 *
 * Reads: what `windowSpend` reads, and subject.
 */
export async function testRules(
  space: ReadSpace,
  window: LedgerWindow,
  { book, team }: { book: RuleBook; team?: string | undefined },
): Promise<RulesTest> {
  const owners = window.days.length === 0 ? [] : await ownerSums(space, window, book);
  const sum = (rows: readonly OwnerSum[]): bigint => rows.reduce((total, { usd }) => total + (usd ?? 0n), 0n);
  const byRule = new Map<string, bigint>();
  for (const { rule, usd } of owners) byRule.set(rule ?? 'none', (byRule.get(rule ?? 'none') ?? 0n) + (usd ?? 0n));
  const isEmpty = window.days.length === 0;
  return {
    window,
    totalUsdMicros: sum(owners),
    ownedUsdMicros: sum(owners.filter((row) => row.team !== null)),
    rules: isEmpty ? [] : await catches(space, window, book),
    byDefault: [...byRule]
      .filter(([rule]) => !rule.startsWith('rule ') && !rule.startsWith('shared ') && rule !== 'none')
      .map(([rule, usdMicros]) => ({ rule, usdMicros }))
      .toSorted((a, b) => (a.usdMicros < b.usdMicros ? 1 : -1)),
    pools: book.shared.map(({ name, split }) => {
      const rows = owners.filter(({ pool }) => pool === name);
      return {
        name,
        split: splitText(split),
        usdMicros: sum(rows),
        teams: rows
          .flatMap((row) => (row.team === null ? [] : [{ team: row.team, usdMicros: row.usd ?? 0n }]))
          .toSorted((a, b) => (a.usdMicros < b.usdMicros ? 1 : -1)),
      };
    }),
    unowned: isEmpty ? [] : await unownedGroups(space, window, book),
    moves: isEmpty || book === space.rules ? [] : await moves(space, window, book),
    shared: team === undefined ? [] : await explainShared(space, window, team, book),
  };
}

interface OwnerSum {
  readonly team: string | null;
  readonly rule: string | null;
  readonly pool: string | null;
  readonly usd: bigint | null;
}

async function ownerSums(space: ReadSpace, window: LedgerWindow, book: RuleBook): Promise<OwnerSum[]> {
  const { tables, params, sql } = windowSpend(window);
  const owned = ownedSpendSql(book, { spend: sql, profile: PROFILES, columns: ['team', 'rule', 'pool'] });
  return space.ask<OwnerSum>({
    tables,
    params,
    sql: `SELECT team, rule, pool, CAST(sum(usd_micros) AS BIGINT) AS usd FROM (${owned}) o
          GROUP BY team, rule, pool ORDER BY team, rule, pool`,
  });
}

async function catches(space: ReadSpace, window: LedgerWindow, book: RuleBook): Promise<RuleCatch[]> {
  if (book.rules.length === 0) return [];
  const { profiles, keep, joinSql } = ownerPeriods(book);
  const reach = reachSql(book, profiles(PROFILES), keep);
  const { tables, params, sql } = windowSpend(window);
  const sums = book.rules.map(
    (_, place) => `
      CAST(COALESCE(sum(s.usd_micros) FILTER (WHERE decides_${place}), 0) AS BIGINT) AS u${place},
      CAST(COALESCE(sum(s.gpu_units) FILTER (WHERE decides_${place}), 0) AS BIGINT) AS g${place},
      CAST(COALESCE(sum(s.usd_micros) FILTER (WHERE rule_${place} AND NOT decides_${place}), 0) AS BIGINT) AS t${place}`,
  );
  const counts = book.rules.map((_, place) => `count(DISTINCT s.subject) FILTER (WHERE decides_${place}) AS n${place}`);
  const [money] = await space.ask<Record<string, bigint>>({
    tables,
    params,
    sql: `SELECT ${sums.join(', ')} FROM (${sql}) s JOIN (${reach}) r ON ${joinSql('s', 'r')}`,
  });
  const [subjects] = await space.ask<Record<string, bigint>>({
    tables: ['known_profile', 'subject'].map((table) => ({ table, ...daysOf(window) })),
    sql: `SELECT ${counts.join(', ')} FROM subject s JOIN (${reach}) r ON ${joinSql('s', 'r')}`,
  });
  return book.rules.map((rule, place) => ({
    title: rule.title,
    usdMicros: money?.[`u${place}`] ?? 0n,
    gpuUnits: money?.[`g${place}`] ?? 0n,
    takenUsdMicros: money?.[`t${place}`] ?? 0n,
    subjects: Number(subjects?.[`n${place}`] ?? 0n),
  }));
}

/** What nobody owns, by what one would write a rule about. */
async function unownedGroups(space: ReadSpace, window: LedgerWindow, book: RuleBook): Promise<UnownedGroup[]> {
  const { profiles, keep, joinSql } = ownerPeriods(book);
  const { tables, params, sql } = windowSpend(window);
  const attributes = ['what', 'provider', 'service', 'cluster', 'namespace', 'user_name'];
  const rows = await space.ask<Record<string, string | null> & { usd: bigint; units: bigint; example: string }>({
    tables,
    params,
    sql: `
      SELECT ${attributes.map((name) => `p.${name}`).join(', ')}, min(p.example) AS example,
             CAST(COALESCE(sum(s.usd_micros), 0) AS BIGINT) AS usd, CAST(sum(s.gpu_units) AS BIGINT) AS units
      FROM (${sql}) s JOIN (${ownersSql(book, profiles(PROFILES), keep)}) o ON ${joinSql('s', 'o')}
      JOIN known_profile p ON s.profile_no = p.profile_no
      WHERE o.team IS NULL AND o.pool IS NULL GROUP BY ${attributes.map((name) => `p.${name}`).join(', ')}
      HAVING COALESCE(sum(s.usd_micros), 0) <> 0 ORDER BY usd DESC, example LIMIT ${GROUPS_MAX}`,
  });
  return rows.map(({ usd, units, example, what, ...told }) => ({
    text: [
      what ?? '',
      ...attributes.flatMap((name) =>
        typeof told[name] === 'string' ? [`${ATTRIBUTE_WORDS[name] ?? name} ${told[name]}`] : [],
      ),
    ].join(', '),
    usdMicros: usd,
    gpuUnits: units,
    example,
  }));
}

const ATTRIBUTE_WORDS: Readonly<Record<string, string>> = { user_name: 'user' };

interface Move {
  readonly from: string | null;
  readonly to: string | null;
  readonly usdMicros: bigint;
}

async function moves(space: ReadSpace, window: LedgerWindow, book: RuleBook): Promise<Move[]> {
  const { tables, params, sql } = windowSpend(window);
  const [before, after] = [space.rules, book].map((each) => {
    const { profiles, keep, joinSql } = ownerPeriods(each);
    return { owners: ownersSql(each, profiles(PROFILES), keep), joinSql };
  });
  if (before === undefined || after === undefined) return [];
  return space.ask<Move>({
    tables,
    params,
    sql: `
      SELECT COALESCE('shared ' || b.pool, b.team) AS "from", COALESCE('shared ' || a.pool, a.team) AS "to",
             CAST(COALESCE(sum(s.usd_micros), 0) AS BIGINT) AS "usdMicros"
      FROM (${sql}) s LEFT JOIN (${before.owners}) b ON ${before.joinSql('s', 'b')}
      LEFT JOIN (${after.owners}) a ON ${after.joinSql('s', 'a')}
      WHERE COALESCE('shared ' || b.pool, b.team) IS DISTINCT FROM COALESCE('shared ' || a.pool, a.team)
      GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2`,
  });
}
