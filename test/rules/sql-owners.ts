import { ownersSql } from '../../src/app/rules/owners-sql.ts';
import type { RuleBook } from '../../src/app/rules/rule.ts';
import { openEngine, quote } from '../../src/lake/engine.ts';
import type { Engine } from '../../src/lake/engine.ts';
import { PROFILE_ATTRIBUTES } from '../../src/ledger/subject.ts';
import type { Owners, PlainProfile } from './slow-owners.ts';

/** An engine as a reader has it. */
export function ruleEngine(): Promise<Engine> {
  return openEngine({ threads: 1, memoryLimitMb: 300 });
}

/** Whose profiles are, as `bursar` works it out. */
export async function sqlOwners(
  engine: Engine,
  book: RuleBook,
  profiles: readonly PlainProfile[],
): Promise<(Owners & { rule: string })[]> {
  const rows = profiles.map((profile, place) => `SELECT ${place} AS place, ${profileRow(profile)}`).join(' UNION ALL ');
  return engine.rows(
    `SELECT team, project, user_name AS "user", environment, class, pool, rule FROM (${ownersSql(book, rows, ['place'])}) o
     ORDER BY place`,
  );
}

function profileRow({ day, columns, labels, tags }: PlainProfile): string {
  const cells = PROFILE_ATTRIBUTES.map(([name, type]) => {
    if (name === 'labels') return `${mapOf(labels)} AS labels`;
    if (name === 'tags') return `${mapOf(tags)} AS tags`;
    const value = columns[name];
    return `CAST(${value === undefined ? 'NULL' : quote(value)} AS ${type}) AS ${name}`;
  });
  return `DATE '${day}' AS day, ${cells.join(', ')}`;
}

function mapOf(map: Readonly<Record<string, string>>): string {
  const keys = Object.keys(map);
  if (keys.length === 0) return 'CAST(NULL AS MAP(VARCHAR, VARCHAR))';
  return `map([${keys.map(quote).join(', ')}], [${Object.values(map).map(quote).join(', ')}])`;
}
