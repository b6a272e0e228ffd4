import { quote } from '../../lake/engine.ts';
import type { ReadSpace } from '../workspace.ts';
import type { JudgedSpan } from './ask-detectors.ts';

export interface Owner {
  readonly team: string | null;
  readonly user: string | null;
}

/** Question: whose are these subjects, by the rules in force, on the last day on which they are known? */
export async function subjectOwners(
  space: ReadSpace,
  subjects: ReadonlySet<string>,
  span: Pick<JudgedSpan, 'first' | 'last'>,
): Promise<ReadonlyMap<string, Owner>> {
  if (subjects.size === 0) return new Map();
  const rows = await space.ask<{ subject: string; team: string | null; user: string | null }>({
    tables: [{ table: 'ownership', first: span.first, last: span.last }],
    sql: `
      SELECT subject, team, user_name AS "user" FROM (
        SELECT o.*, row_number() OVER (PARTITION BY subject ORDER BY day DESC) AS recency FROM ownership o
        WHERE subject IN (${[...subjects].map(quote).join(', ')})
      ) ranked WHERE recency = 1`,
  });
  return new Map(rows.map(({ subject, team, user }) => [subject, { team, user }]));
}

/** How far the money of a claim is in one hand. */
export interface Hands {
  readonly isOneTeam: boolean;
  readonly isOnePerson: boolean;
}

/**
 * Question: is the money of each of these claims one team's, and one person's? What is several teams' is shown to none of them as its own, what
 * is several people's to none of them as theirs: rules may part what a detector put together by its name.
 *
 * Reads: ownership, and the claims as they were settled by this reader.
 */
export async function claimHands(
  space: ReadSpace,
  claimNos: readonly number[],
  span: JudgedSpan,
): Promise<ReadonlyMap<number, Hands>> {
  if (claimNos.length === 0) return new Map();
  const rows = await space.ask<Hands & { claimNo: number }>({
    tables: [{ table: 'ownership', first: span.first, last: span.last }],
    sql: `
      WITH named AS (
        SELECT DISTINCT t.claim_no, s.subject FROM claim_take t JOIN claim_subject s ON t.subject_no = s.subject_no
        WHERE t.claim_no IN (${claimNos.join(', ')})
      ), owner AS (
        SELECT subject, team, user_name FROM (
          SELECT o.subject, o.team, o.user_name, row_number() OVER (PARTITION BY o.subject ORDER BY o.day DESC) AS recency
          FROM ownership o JOIN (SELECT DISTINCT subject FROM named) n ON o.subject = n.subject
        ) ranked WHERE recency = 1
      )
      SELECT n.claim_no AS "claimNo",
             count(DISTINCT o.team) + max(CASE WHEN o.team IS NULL THEN 1 ELSE 0 END) = 1 AS "isOneTeam",
             count(DISTINCT o.user_name) + max(CASE WHEN o.user_name IS NULL THEN 1 ELSE 0 END) = 1 AS "isOnePerson"
      FROM named n LEFT JOIN owner o ON n.subject = o.subject GROUP BY n.claim_no`,
  });
  return new Map(rows.map(({ claimNo, ...hands }) => [claimNo, hands]));
}
