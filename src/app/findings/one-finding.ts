import { userInfo } from 'node:os';
import type { FindingChange, FindingRecord, FindingWish } from '../../facts/finding-record.ts';
import { OperationError } from '../../facts/operation-error.ts';
import { parseTime } from '../../money/period.ts';
import { openFindingWriter } from '../../state/finding-store.ts';
import type { ExplainedFinding, FindingEvidence } from '../../report/finding-explanation.ts';
import type { FindingsAnswer } from '../../report/finding-answer.ts';
import type { ReadSpace } from '../workspace.ts';
import { evidenceOf, judgedSpan } from './ask-detectors.ts';
import { lookForFindings } from './find-findings.ts';
import type { FindingsRequest, SettledFinding } from './find-findings.ts';

/** A finding by its number: as it is claimed now, and what is kept of it. */
export interface OneFinding {
  readonly answer: FindingsAnswer;
  /** Undefined where nothing of it is in the window any more. */
  readonly now: SettledFinding | undefined;
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
  const { answer, settled } = await lookForFindings(space, request);
  const record = space.findings.records().find((each) => each.number === number);
  if (record === undefined) throw noSuchFinding(number);
  return {
    answer,
    now: settled.find(({ finding }) => finding.number === number),
    record,
    history: space.findings.history(number),
  };
}

const EVIDENCE_ROWS_MAX = 20;

/** Question: which rows of the ledger and of its detector's questions are behind a finding? */
export async function explainFinding(
  space: ReadSpace,
  { finding, settled }: SettledFinding,
  request: FindingsRequest,
): Promise<ExplainedFinding> {
  const { by, claim } = settled.placed;
  const subjects = new Set([...claim.takes.map(({ subject }) => subject), claim.ownerSubject ?? '']);
  const options = by.options.parse({});
  const evidence: FindingEvidence[] = [];
  for (const [name, query] of Object.entries(by.ask(options))) {
    const rows = await evidenceOf(space, query, judgedSpan(request.window, request.now));
    const own = rows.filter((row) => isAbout(row, subjects)).map((row) => ({ ...(row as object) }));
    evidence.push({ name, rows: own.slice(0, EVIDENCE_ROWS_MAX), more: Math.max(0, own.length - EVIDENCE_ROWS_MAX) });
  }
  return {
    finding,
    parts: settled.parts.map(({ cell, ...part }) => ({
      day: cell.day,
      subject: cell.subject,
      deviceId: cell.deviceId,
      category: cell.category,
      reason: cell.reason,
      ...part,
    })),
    evidence,
  };
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

function noSuchFinding(number: number): OperationError {
  return new OperationError('no-such-finding', `there is no finding F-${number}`, {
    hint: 'bursar findings --all lists those that are open; numbers are given when somebody looks.',
  });
}
