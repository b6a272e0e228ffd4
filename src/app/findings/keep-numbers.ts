import type { FindingRecord } from '../../facts/finding-record.ts';
import { OperationError } from '../../facts/operation-error.ts';
import { parseTime } from '../../lake/calendar.ts';
import { quote } from '../../lake/engine.ts';
import { openFindingWriter } from '../../state/finding-store.ts';
import { isoTime } from '../../report/figures.ts';
import type { Now } from '../now.ts';
import { ledgerWindow } from '../window.ts';
import type { LedgerWindow } from '../window.ts';
import type { ReadSpace } from '../workspace.ts';
import type { JudgedSpan } from './ask-detectors.ts';

/** A look at fewer days says nothing about what it does not see. */
const FULL_LOOK = '30d';

/** What a look claims, in order of rank. */
export interface LookedAt {
  readonly key: string;
  readonly what: string;
  readonly subjects: readonly string[];
  readonly isTold: boolean;
}

/**
 * True for a look at everything up to now: only such a look may say that something is fixed.
 *
 * It has the ledger's last 30 days, or all the ledger has, and ends where these end: days that are to come have nothing in them. Whoever
 * states a moment looks at another time than now, whichever it is.
 */
export function isFullLook({ scope }: Pick<ReadSpace, 'scope'>, { from, until }: LedgerWindow, now: Now): boolean {
  if (scope === undefined || now.by === 'asked' || until < now.at || now.at < scope.horizon) return false;
  const usual = ledgerWindow(FULL_LOOK, now.at, scope);
  const all = ledgerWindow('all', now.at, scope);
  return (until <= usual.until || until <= all.until) && (from <= usual.from || from <= all.from);
}

/**
 * Gives what is new its number, and says what the data say of the others: fixed, back. Where the folder cannot be written to, what is
 * known is read, and the answer says so. A look for one team gives numbers, and says of nothing that it is fixed.
 */
export async function keepNumbers(
  space: ReadSpace,
  claimed: readonly LookedAt[],
  { span, isForOneTeam }: { readonly span: JudgedSpan; readonly isForOneTeam: boolean },
): Promise<{ readonly records: readonly FindingRecord[]; readonly numbers: 'kept' | 'refused' }> {
  const at = isoTime(space.scope?.horizon ?? span.until);
  const silentKeys = await silentSince(space, claimed, span);
  try {
    const writer = await openFindingWriter(space.dataDir);
    try {
      return { records: writer.look({ at, claimed, silentKeys, isForOneTeam }), numbers: 'kept' };
    } finally {
      writer.close();
    }
  } catch (failure) {
    const code = failure instanceof OperationError ? failure.code : '';
    if (code !== 'read-only' && code !== 'disk-full' && code !== 'busy') throw failure;
    // A folder that is mounted to be read stays so; room and a turn come by themselves.
    if (code !== 'read-only') space.onPassing?.();
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
    tables: [{ table: 'life_day', first: span.last, last: span.last }],
    sql: `SELECT subject, known_until AS "knownUntil" FROM life_day
          WHERE subject IN (${[...subjects].map(quote).join(', ')}) AND ended_at IS NULL`,
  });
  const heard = new Map(rows.map(({ subject, knownUntil }) => [subject, knownUntil]));
  const isSilent = ({ subjects: own, lastSeenAt }: FindingRecord): boolean =>
    own.some((subject) => {
      const until = heard.get(subject);
      return until !== undefined && (until === null || parseTime(until) <= new Date(lastSeenAt));
    });
  return new Set(missing.filter(isSilent).map(({ key }) => key));
}
