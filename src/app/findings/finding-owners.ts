import { quote } from '../../lake/engine.ts';
import { lastSaid } from '../rules/last-said.ts';
import type { ReadSpace } from '../workspace.ts';
import type { JudgedSpan } from './ask-detectors.ts';

export interface Owner {
  readonly team: string | null;
  readonly user: string | null;
}

const [LAST_TEAM, LAST_USER] = [lastSaid('team', 'day'), lastSaid('user_name', 'day')];

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
      SELECT subject, ${LAST_TEAM} AS team, ${LAST_USER} AS "user" FROM ownership
      WHERE subject IN (${[...subjects].map(quote).join(', ')}) GROUP BY subject`,
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
        SELECT DISTINCT claim_no, subject_no FROM claim_take WHERE claim_no IN (${claimNos.join(', ')})
      ), asked AS (
        SELECT subject_no, subject FROM claim_subject WHERE subject_no IN (SELECT subject_no FROM named)
      ), owner AS (
        SELECT a.subject_no, ${LAST_TEAM} AS team, ${LAST_USER} AS user_name
        FROM ownership o JOIN asked a ON o.subject = a.subject GROUP BY a.subject_no
      )
      SELECT n.claim_no AS "claimNo",
             count(DISTINCT o.team) + max(CASE WHEN o.team IS NULL THEN 1 ELSE 0 END) = 1 AS "isOneTeam",
             count(DISTINCT o.user_name) + max(CASE WHEN o.user_name IS NULL THEN 1 ELSE 0 END) = 1 AS "isOnePerson"
      FROM named n LEFT JOIN owner o ON n.subject_no = o.subject_no GROUP BY n.claim_no`,
  });
  return new Map(rows.map(({ claimNo, ...hands }) => [claimNo, hands]));
}
