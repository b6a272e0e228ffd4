import assert from 'node:assert/strict';
import { userInfo } from 'node:os';
import type { Finding } from '../../facts/finding.ts';
import type { FindingChange, FindingRecord, FindingWish } from '../../facts/finding-record.ts';
import { OperationError } from '../../facts/operation-error.ts';
import { parseTime } from '../../money/period.ts';
import { openFindingWriter } from '../../state/finding-store.ts';
import type { ExplainedFinding, FindingEvidence, FindingPart } from '../../report/finding-explanation.ts';
import type { FindingsAnswer } from '../../report/finding-answer.ts';
import type { ReadSpace } from '../workspace.ts';
import { evidenceOf, judgedSpan } from './ask-detectors.ts';
import { findFindings, lookForFindings } from './find-findings.ts';
import type { FindingsRequest } from './find-findings.ts';
import { partsOf } from './settle-claims.ts';

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

/** Question: what is this finding, and what became of it? */
export async function oneFinding(space: ReadSpace, number: number, request: FindingsRequest): Promise<OneFinding> {
  const answer = await findFindings(space, request);
  const record = space.findings.records().find((each) => each.number === number);
  if (record === undefined) throw noSuchFinding(number);
  const now = [...answer.findings, ...answer.hiddenPrice, ...answer.setAside].find((each) => each.number === number);
  return {
    answer,
    now,
    // What is kept speaks of all of it, also where a team is told of its part.
    record: now?.subjectsOfOthers === undefined ? record : { ...record, what: now.what, subjects: now.subjects },
    history: space.findings.history(number),
  };
}

const EVIDENCE_ROWS_MAX = 20;

/** Question: which rows of the ledger and of its detector's questions are behind a finding? */
export async function explainFinding(
  space: ReadSpace,
  finding: Finding,
  request: FindingsRequest,
): Promise<ExplainedFinding> {
  const settled = await settledAgain(space, finding, request);
  const { by } = settled.placed;
  const subjects = new Set([...finding.subjects, finding.ownerSubject ?? '']);
  const options = by.options.parse({});
  const evidence: FindingEvidence[] = [];
  for (const [name, query] of Object.entries(by.ask(options))) {
    const rows = await evidenceOf(space, query, judgedSpan(request.window, request.now));
    const own = rows.filter((row) => isAbout(row, subjects)).map((row) => ({ ...(row as object) }));
    evidence.push({ name, rows: own.slice(0, EVIDENCE_ROWS_MAX), more: Math.max(0, own.length - EVIDENCE_ROWS_MAX) });
  }
  return {
    finding,
    parts: await partsOf(space, settled.claimNo),
    evidence,
  };
}

/** Question: which rows of the ledger add up to a finding? */
export async function rowsOfFinding(
  space: ReadSpace,
  finding: Finding,
  request: FindingsRequest,
): Promise<readonly FindingPart[]> {
  return partsOf(space, (await settledAgain(space, finding, request)).claimNo);
}

/** The rows behind a claim are there only while its reader is: a look that was kept has none. */
async function settledAgain(space: ReadSpace, finding: Finding, request: FindingsRequest) {
  const { settled: all } = await lookForFindings(space, { ...request, keepsNumbers: false });
  const settled = all.find((each) => each.finding.key === finding.key)?.settled;
  assert(settled !== undefined, `${finding.key} was found and is not found again`);
  return settled;
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
  };
  const writer = await openFindingWriter(dataDir);
  try {
    const record = writer.change(number, wish);
    if (record === undefined) throw noSuchFinding(number);
    return record;
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

export function noSuchFinding(number: number): OperationError {
  return new OperationError('no-such-finding', `there is no finding F-${number}`, {
    hint: 'bursar findings --all lists those that are open; numbers are given when somebody looks.',
  });
}
