import type { FindingRecord } from '../facts/finding-record.ts';
import type { Finding } from '../facts/finding.ts';
import { FORGOTTEN_DAYS } from '../facts/forgotten-after.ts';
import { dayOf, startOf } from '../lake/calendar.ts';
import { sumOf } from '../report/finding-answer.ts';
import type { AuditAnswer, AuditItem, AuditWhy } from '../report/audit-page.ts';
import { findFindings } from './findings/find-findings.ts';
import type { Now } from './now.ts';
import type { LedgerWindow } from './window.ts';
import type { ReadSpace } from './workspace.ts';

export interface AuditRequest {
  readonly window: LedgerWindow;
  readonly now: Now;
  /** Only what is this team's. */
  readonly team?: string;
}

/** Detectors of what is forgotten rather than done badly. */
const FORGOTTEN: readonly string[] = [
  'forgotten-resources',
  'idle-sessions',
  'finished-holders',
  'empty-nodes',
  'unavailable-nodes',
  'unlisted-machines',
  'untagged-spend',
  'stranded-commitments',
];

/** It asks, and is on the list all the same: money of nobody, since the window's first day. */
const OF_NOBODY = 'untagged-spend';

/** Of these only what is still there: a run that is over and a habit of the night are findings, and nothing that lies about. */
const ONLY_LIVE: readonly string[] = ['idle-sessions', 'finished-holders'];

const DAY_MS = 86_400_000;

/**
 * Question: what has been forgotten, by whom, and since when?
 *
 * Of all findings of the window those that somebody left behind; and whatever is exempt though its date has passed, or though nobody
 * is left who could answer for it. Numbers are read, none are given: a look at a quarter must not call what a month no longer shows fixed.
 * Reads: what `findFindings` reads.
 */
export async function audit(space: ReadSpace, { window, now, team }: AuditRequest): Promise<AuditAnswer> {
  const found = await findFindings(space, {
    window,
    now: now.at,
    nowBy: now.by,
    keepsNumbers: false,
    ...(team !== undefined && { team }),
  });
  const today = dayOf(now.at);
  const records = new Map(space.findings.records().map((record) => [record.key, record]));
  const all = [...found.findings, ...found.hiddenPrice, ...found.setAside];
  const audited = all.flatMap((finding): AuditItem[] => {
    const why = whyAudited(finding, records.get(finding.key), today, space);
    return why === undefined
      ? []
      : [
          {
            finding,
            why,
            since: finding.detector === OF_NOBODY ? firstKnown(window, space.scope?.days[0]) : sinceOf(finding),
          },
        ];
  });
  // What is younger is somebody's week, and on the list of findings.
  const isOld = ({ why, since }: AuditItem): boolean =>
    why !== 'forgotten' || now.at.getTime() - since.getTime() >= FORGOTTEN_DAYS * DAY_MS;
  const items = audited.filter(isOld);
  return {
    asOf: found.asOf,
    asOfBy: now.by,
    window: found.window,
    team,
    items: items.toSorted((a, b) => a.since.getTime() - b.since.getTime() || (a.finding.key < b.finding.key ? -1 : 1)),
    younger: audited.length - items.length,
    forgottenDays: FORGOTTEN_DAYS,
    sum: sumOf(items.map(({ finding }) => finding)),
    usdMicrosByBasis: found.usdMicrosByBasis,
    unpricedUnits: found.unpricedUnits,
    knownUnits: found.knownUnits,
    heldUnits: found.heldUnits,
  };
}

function whyAudited(
  finding: Finding,
  record: FindingRecord | undefined,
  today: string,
  space: ReadSpace,
): AuditWhy | undefined {
  if (record !== undefined && record.state === 'exempt' && record.until !== null && record.until < today) {
    return 'exemption-ended';
  }
  const last = record === undefined ? undefined : space.findings.history(record.number).at(-1);
  if (last?.change === 'exemption over') return 'exemption-ended';
  const { ownerSubject, team, user, assignedTo } = finding;
  // What is nobody's thing is the platform's by design.
  const hasOwner = ownerSubject === null || (team ?? user ?? assignedTo) !== null;
  if (finding.state === 'exempt') return hasOwner ? undefined : 'exemption-without-owner';
  return finding.state !== 'dismissed' && isLeftBehind(finding) ? 'forgotten' : undefined;
}

/** Question: is a finding about something that somebody left behind, and that is there? */
export function isLeftBehind({ detector, kind, liveSince }: Pick<Finding, 'detector' | 'kind' | 'liveSince'>): boolean {
  if (kind === 'question' && detector !== OF_NOBODY) return false;
  return FORGOTTEN.includes(detector) && (liveSince !== null || !ONLY_LIVE.includes(detector));
}

/** The window may begin before there is any fact: of that time nothing is said. */
export function firstKnown({ from }: Pick<LedgerWindow, 'from'>, firstDay: string | undefined): Date {
  const known = firstDay === undefined ? from : startOf(firstDay);
  return known > from ? known : from;
}

/** Since when it goes on, or the first day whose money it is about. */
function sinceOf({ liveSince, firstDay, firstSeenAt }: Finding): Date {
  return [liveSince, firstDay === null ? null : startOf(firstDay), firstSeenAt]
    .filter((time) => time !== null)
    .reduce((first, time) => (time < first ? time : first));
}
