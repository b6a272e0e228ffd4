import type { Finding } from '../../facts/finding.ts';
import type { ReadSpace } from '../workspace.ts';
import type { DetectorClaim, JudgedSpan } from './ask-detectors.ts';
import { subjectOwners } from './finding-owners.ts';
import { moneyOf } from './price-finding.ts';
import { narrowClaims } from './settle-claims.ts';
import type { Settled } from './settle-claims.ts';

export interface ClaimedFinding {
  readonly finding: Finding;
  readonly settled: Settled<DetectorClaim>;
}

/** True of a team's part of a finding: what people said of all of it, and who they are, is not told with it. */
export function isPart({ subjectsOfOthers }: Finding): boolean {
  return subjectsOfOthers !== undefined;
}

/** True of what the platform mends on machines: they may be bought for a team, by their tags. */
function isOfMachines({ ownerSubject, isOfSeveralTeams, subjects }: Finding): boolean {
  const isOfNobody = ownerSubject === null && !isOfSeveralTeams && subjects.length > 0;
  return isOfNobody && subjects.every((subject) => subject.startsWith('node '));
}

/** The same money, in words that name nobody else. */
const ofMachines = (finding: Finding, team: string): Finding => ({
  ...finding,
  subjectsOfOthers: 0,
  what: `${finding.key} (the part of ${team})`,
  because: [`The platform mends it: all of the money and the time is of machines of ${team}.`],
  fix: [],
  spark: [],
});

/**
 * Question: what of all findings is a team's own?
 *
 * A finding may be about subjects of several teams: one script that two of them run, one account that a label divides. It is the platform's, and whoever looks for one team gets the sums of its own
 * rows, and none of the words that speak of all of them together. Most findings are of one team, and stay as they are; only where one is not the claims
 * are settled (`settle`) and cut. What the platform mends on machines is told to a team that has all of these machines: that costs no settling.
 */
export async function teamShare(
  space: ReadSpace,
  { team, span }: { readonly team: string; readonly span: JudgedSpan },
  findings: readonly Finding[],
  settle: () => Promise<readonly ClaimedFinding[]>,
): Promise<readonly Finding[]> {
  const near = findings.filter((finding) => finding.team === team || finding.isOfSeveralTeams || isOfMachines(finding));
  const owners = await subjectOwners(space, new Set(near.flatMap(({ subjects }) => subjects)), span);
  const isOwn = (subject: string): boolean => owners.get(subject)?.team === team;
  const isNamed = (finding: Finding): boolean =>
    isOfMachines(finding) ? finding.subjects.every(isOwn) : finding.team === team || finding.subjects.some(isOwn);
  const named = near.filter(isNamed).map((finding) => (isOfMachines(finding) ? ofMachines(finding, team) : finding));
  if (named.every(({ subjects }) => subjects.every(isOwn))) return named;
  const settledOf = new Map((await settle()).map(({ finding, settled }) => [finding.key, settled]));
  const own = [...new Set(named.flatMap(({ subjects }) => subjects.filter(isOwn)))];
  const sumOf = await narrowClaims(space, own, span);
  return named.map((finding) => {
    const settled = settledOf.get(finding.key);
    const subjects = finding.subjects.filter(isOwn);
    if (settled === undefined || subjects.length === finding.subjects.length) return finding;
    return {
      ...finding,
      ...moneyOf({ ...settled, sum: sumOf(settled.claimNo) }),
      subjects,
      subjectsOfOthers: finding.subjects.length - subjects.length,
      what: `${finding.key} (the part of ${team})`,
      because: [`It is about others’ too: the money and the time are of ${team} alone.`],
      fix: [],
      spark: [],
    };
  });
}
