import { nameStem, PROFILE_ATTRIBUTES } from '../../ledger/subject.ts';
import { ownersUnsplitSql } from './owners-sql.ts';
import type { RuleBook } from './rule.ts';

/** What rows of holdings and of waiting work say of a job. */
const TOLD = new Set(['source', 'cluster', 'namespace', 'account', 'user_name', 'workload_kind', 'labels']);

/**
 * Question: whose are these jobs, by the rules in force? For work the ledger has no money of yet, such as what waits.
 *
 * `jobs` is SQL with the columns of a holding, `day` an expression over it, for rules with dates. Gives `keep` and the columns of
 * `ownership`.
 */
export function jobOwnersSql(book: RuleBook, jobs: string, day: string, keep: readonly string[]): string {
  const attributes = PROFILE_ATTRIBUTES.flatMap(([name, type]) => {
    if (name === 'what') return "'job' AS what";
    if (name === 'workload_stem') return `${nameStem('workload_name')} AS workload_stem`;
    if (TOLD.has(name)) return keep.includes(name) ? [] : name;
    return `CAST(NULL AS ${type}) AS ${name}`;
  });
  return ownersUnsplitSql(book, `SELECT ${day} AS day, ${[...keep, ...attributes].join(', ')} FROM ${jobs}`, keep);
}
