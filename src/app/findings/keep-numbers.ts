import type { FindingRecord } from '../../facts/finding-record.ts';
import { OperationError } from '../../facts/operation-error.ts';
import { parseTime, startOf } from '../../lake/calendar.ts';
import { quote } from '../../lake/engine.ts';
import { openFindingWriter } from '../../state/finding-store.ts';
import { isoTime } from '../../report/figures.ts';
import type { LedgerWindow } from '../window.ts';
import type { ReadSpace } from '../workspace.ts';
import type { JudgedSpan } from './ask-detectors.ts';

/** A look at fewer days says nothing about what it does not see. */
const FULL_LOOK_DAYS = 30;
const DAY_MS = 86_400_000;

/** What a look claims, in order of rank. */
export interface LookedAt {
  readonly key: string;
  readonly what: string;
  readonly subjects: readonly string[];
  readonly isTold: boolean;
}

/** True for a look at everything up to now: only such a look may say that something is fixed. */
export function isFullLook(space: ReadSpace, window: LedgerWindow, now: Date): boolean {
  if (space.scope === undefined || window.until < now || now < space.scope.horizon) return false;
  const isLong = window.until.getTime() - window.from.getTime() >= FULL_LOOK_DAYS * DAY_MS;
  return isLong || window.from <= startOf(space.scope.days[0] ?? '');
}

/**
 * Gives what is new its number, and says what the data say of the others: fixed, back. Where the folder cannot be written to, what is
 * known is read, and the answer says so.
 */
export async function keepNumbers(
  space: ReadSpace,
  claimed: readonly LookedAt[],
  span: JudgedSpan,
): Promise<{ readonly records: readonly FindingRecord[]; readonly numbers: 'kept' | 'refused' }> {
  const at = isoTime(space.scope?.horizon ?? span.until);
  const silentKeys = await silentSince(space, claimed, span);
  try {
    const writer = await openFindingWriter(space.dataDir);
    try {
      return { records: writer.look({ at, claimed, silentKeys }), numbers: 'kept' };
    } finally {
      writer.close();
    }
  } catch (failure) {
    const code = failure instanceof OperationError ? failure.code : '';
    if (code !== 'read-only' && code !== 'disk-full' && code !== 'busy') throw failure;
    return { records: space.findings.records(), numbers: 'refused' };
  }
}

/** Things that are no longer claimed, still there, and of which no sensor has spoken since they were last seen. */
async function silentSince(
  space: ReadSpace,
  claimed: readonly LookedAt[],
  span: JudgedSpan,
): Promise<ReadonlySet<string>> {
  const keys = new Set(claimed.map(({ key }) => key));
  const missing = space.findings
    .records()
    .filter(({ key, state }) => !keys.has(key) && state !== 'fixed' && state !== 'dismissed');
  const subjects = new Set(missing.flatMap((record) => record.subjects));
  if (subjects.size === 0) return new Set();
  const rows = await space.ask<{ subject: string; knownUntil: string | null }>({
    tables: [{ table: 'stint_day', first: span.last, last: span.last }],
    sql: `SELECT subject, max(known_until) AS "knownUntil" FROM stint_day
          WHERE subject IN (${[...subjects].map(quote).join(', ')}) AND ended_at IS NULL GROUP BY subject`,
  });
  const heard = new Map(rows.map(({ subject, knownUntil }) => [subject, knownUntil]));
  const isSilent = ({ subjects: own, lastSeenAt }: FindingRecord): boolean =>
    own.some((subject) => {
      const until = heard.get(subject);
      return until !== undefined && (until === null || parseTime(until) <= new Date(lastSeenAt));
    });
  return new Set(missing.filter(isSilent).map(({ key }) => key));
}
