import assert from 'node:assert/strict';
import { userInfo } from 'node:os';
import type { Finding } from '../../facts/finding.ts';
import type { FindingChange, FindingRecord, FindingWish } from '../../facts/finding-record.ts';
import { OperationError } from '../../facts/operation-error.ts';
import { parseTime } from '../../money/period.ts';
import { openFindingWriter } from '../../state/finding-store.ts';
import { ownerWords } from '../../report/finding-words.ts';
import type { ExplainedFinding, FindingEvidence, FindingPart } from '../../report/finding-explanation.ts';
import type { FindingsAnswer } from '../../report/finding-answer.ts';
import type { ReadSpace } from '../workspace.ts';
import { DETECTORS } from '../../waste/detectors.ts';
import { evidenceOf, judgedSpan } from './ask-detectors.ts';
import type { JudgedSpan } from './ask-detectors.ts';
import { findFindings, lookForFindings, overWholeDays } from './find-findings.ts';
import type { FindingsRequest } from './find-findings.ts';
import { keptBeside, programOf } from './kept-look.ts';
import { partsOf, savedParts, saveParts } from './settle-claims.ts';
import { isPart } from './team-share.ts';
import type { ClaimedFinding } from './team-share.ts';

/** A finding by its number: as it is claimed now, and what is kept of it. */
export interface OneFinding {
  readonly answer: FindingsAnswer;
  /** Undefined where nothing of it is in the window any more. */
  readonly now: Finding | undefined;
  readonly record: FindingRecord;
  readonly history: readonly FindingChange[];
}

/** 12 of `F-12`, `f12` or `12`. */
export function parseFindingNumber(text: string): number {
  const digits = /^(?:f-?)?([1-9]\d{0,8})$/i.exec(text.trim())?.[1];
  if (digits !== undefined) return Number(digits);
  throw new OperationError('bad-option', `"${text}" is not the number of a finding`, {
    hint: 'bursar findings lists them: F-1, F-2 …',
  });
}

/** Question: what is this finding, and what became of it? Where somebody looks for a team, what of it is that team's. */
export async function oneFinding(space: ReadSpace, number: number, request: FindingsRequest): Promise<OneFinding> {
  const answer = await findFindings(space, request);
  const record = space.findings.records().find((each) => each.number === number);
  if (record === undefined) throw noSuchFinding(number);
  const now = [...answer.findings, ...answer.hiddenPrice, ...answer.setAside].find((each) => each.number === number);
  // Whose it is can be told while it is claimed only: a team is not shown what may be another's.
  if (now === undefined && request.team !== undefined) throw noSuchFinding(number);
  const history = space.findings.history(number);
  if (now === undefined || !isPart(now)) return { answer, now, record, history };
  // What is kept speaks of all of it, and what people said of it is for those who see all of it.
  const { what, subjects } = now;
  return {
    answer,
    now,
    record: { ...record, what, subjects, reason: null, by: null, assignedTo: null },
    history: history.filter(({ by }) => by === null),
  };
}

/**
 * Question: what of a finding is a team's, asked by somebody who may see the whole fleet?
 *
 * He is told whose it is where it is another's; `oneFinding`, which a team's viewers ask, says only that there is none.
 */
export async function findingOfTeam(
  space: ReadSpace,
  number: number,
  request: FindingsRequest & { readonly team: string },
): Promise<Finding> {
  const { team, ...everybody } = request;
  const { findings, hiddenPrice, setAside } = await findFindings(space, request);
  const own = [...findings, ...hiddenPrice, ...setAside].find((each) => each.number === number);
  if (own !== undefined) return own;
  const { now } = await oneFinding(space, number, everybody);
  const whose = now === undefined ? 'nothing of it is in this window' : `it is of ${ownerWords(now)}`;
  throw new OperationError('not-of-team', `F-${number} is not ${team}’s: ${whose}`, {
    hint: `Without --team: bursar finding F-${number}`,
  });
}

/** What is of several teams is for somebody who sees all of it to decide about. */
export function refusePart(finding: Finding, team: string): void {
  if (!isPart(finding)) return;
  throw new OperationError(
    'holds-others',
    finding.subjectsOfOthers === 0
      ? `F-${finding.number} is about machines, which are the platform’s to mend: a team does not decide about it`
      : `F-${finding.number} holds money of others beside that of ${team}: a team does not decide about it`,
    { hint: 'Ask somebody who may see the whole fleet (a token without --team) to decide.' },
  );
}

const EVIDENCE_ROWS_MAX = 20;

/** The span the finding was judged in. */
function spanOf(space: ReadSpace, request: FindingsRequest): JudgedSpan {
  const { window, now } = overWholeDays(space, request);
  return judgedSpan(window, now);
}

/** Question: which rows of the ledger and of its detector's questions are behind a finding? */
export async function explainFinding(
  space: ReadSpace,
  finding: Finding,
  request: FindingsRequest,
): Promise<ExplainedFinding> {
  const by = DETECTORS.find(({ name }) => name === finding.detector);
  assert(by !== undefined, `there is no detector ${finding.detector}`);
  const subjects = new Set([...finding.subjects, finding.ownerSubject ?? '']);
  const evidence: FindingEvidence[] = [];
  const span = spanOf(space, request);
  for (const [name, query] of Object.entries(by.ask(by.options.parse({})))) {
    const rows = await evidenceOf(space, query, span);
    const own = rows.filter((row) => isAbout(row, subjects)).map((row) => ({ ...(row as object) }));
    evidence.push({ name, rows: own.slice(0, EVIDENCE_ROWS_MAX), more: Math.max(0, own.length - EVIDENCE_ROWS_MAX) });
  }
  return { finding, parts: await rowsOfFinding(space, finding, request), evidence };
}

/**
 * Question: which rows of the ledger add up to a finding?
 *
 * Rows of one finding are known only once all claims are settled, so that those of all are kept for whoever opens the next. Where
 * somebody looks for a team, its subjects are the finding's.
 */
export async function rowsOfFinding(
  space: ReadSpace,
  finding: Finding,
  request: FindingsRequest,
): Promise<readonly FindingPart[]> {
  const { team: _, ...everybody } = request;
  const settle = async () => (await lookForFindings(space, { ...everybody, keepsNumbers: false })).settled;
  const span = spanOf(space, request);
  const kept = await keptBeside(
    space,
    { ...space, span, program: programOf(import.meta.url) },
    {
      ending: 'parquet',
      write: async (aside) =>
        saveParts(
          space,
          aside,
          (await settle()).map(({ finding: { key }, settled: { claimNo } }) => ({ key, claimNo })),
        ),
      read: async (path) => savedParts(space, path, finding.key),
    },
  );
  const parts = kept ?? (await partsOf(space, claimNoOf(await settle(), finding)));
  const subjects = new Set(finding.subjects);
  return parts.filter(({ subject }) => subjects.has(subject));
}

function claimNoOf(all: readonly ClaimedFinding[], { key }: Finding): number {
  const settled = all.find((each) => each.finding.key === key)?.settled;
  assert(settled !== undefined, `${key} was found and is not found again`);
  return settled.claimNo;
}

function isAbout(row: unknown, subjects: ReadonlySet<string>): boolean {
  if (typeof row !== 'object' || row === null || !('subject' in row)) return false;
  return typeof row.subject === 'string' && subjects.has(row.subject);
}

export interface ChangeRequest {
  readonly change: FindingWish['change'];
  readonly now: Date;
  readonly at: Date;
  readonly by?: string;
  /** What the one who decides saw: refused where somebody has said something else meanwhile. */
  readonly seen?: FindingRecord['state'];
  readonly seenAssignedTo?: string | null;
  readonly reason?: string;
  readonly until?: string;
  readonly to?: string;
}

/** Keeps what somebody said of a finding. An exemption has an end and a reason, always. */
export async function changeFinding(dataDir: string, number: number, request: ChangeRequest): Promise<FindingRecord> {
  const wish: FindingWish = {
    at: `${request.at.toISOString().slice(0, 19)}Z`,
    by: request.by?.trim() || systemUser(),
    change: request.change,
    detail: detailOf(request),
    until: request.change === 'exempt' ? untilOf(request) : null,
    ...(request.seen !== undefined && { seen: request.seen }),
    ...(request.seenAssignedTo !== undefined && { seenAssignedTo: request.seenAssignedTo }),
  };
  const writer = await openFindingWriter(dataDir);
  try {
    const wished = writer.change(number, wish);
    if (wished === undefined) throw noSuchFinding(number);
    if (!wished.isKept) throw changedMeanwhile(wished.record, wish);
    return wished.record;
  } finally {
    writer.close();
  }
}

function detailOf({ change, reason, to }: ChangeRequest): string | null {
  const said = reason?.trim() ?? '';
  if (change === 'assign') {
    if (to !== undefined && to.trim() !== '') return to.trim();
    throw new OperationError('bad-option', 'to whom?', { hint: 'For example: bursar finding F-12 assign mchen' });
  }
  if ((change === 'exempt' || change === 'dismiss') && said === '') {
    throw new OperationError('bad-option', `--reason is missing: whoever reads this later has to know why`, {
      hint: 'For example --reason "warm standby until the demo".',
    });
  }
  return said === '' ? null : said;
}

function untilOf({ until, now }: ChangeRequest): string {
  const hint = 'For example --until 2026-12-01: an exemption ends, and the finding comes back by itself.';
  if (until === undefined)
    throw new OperationError('bad-option', '--until is missing: an exemption has an end', { hint });
  const time = parseTime(until.trim());
  if (!time.ok) throw new OperationError('bad-time', `--until: ${time.reason}`, { hint });
  const day = new Date(time.ms).toISOString().slice(0, 10);
  if (day > now.toISOString().slice(0, 10)) return day;
  throw new OperationError('bad-time', `--until ${day} is not in the future`, { hint });
}

function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run under a number that has no name.
    return 'unknown';
  }
}

function changedMeanwhile(
  { number, state, by, assignedTo }: FindingRecord,
  { seenAssignedTo = assignedTo }: FindingWish,
): OperationError {
  const who = by === null || state === 'fixed' || state === 'back' ? 'the data say' : `${by} says`;
  const what = seenAssignedTo === assignedTo ? `${who} ${state}` : `it is assigned to ${assignedTo ?? 'nobody'}`;
  return new OperationError('finding-changed', `F-${number} has changed meanwhile: ${what}`, {
    hint: 'Look at it again, and decide then.',
  });
}

export function noSuchFinding(number: number): OperationError {
  return new OperationError('no-such-finding', `there is no finding F-${number}`, {
    hint: 'bursar findings --all lists those that are open; numbers are given when somebody looks.',
  });
}
