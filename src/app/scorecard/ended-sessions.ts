import { daysOf } from '../window.ts';
import type { LedgerWindow } from '../window.ts';
import type { ReadSpace } from '../workspace.ts';

/** Above this part of its time unknown, nothing is said of a session. */
const UNKNOWN_PERMILLE_MAX = 50;

export interface EndedSessions {
  /** Ended soon after the last kernel, or after they began where there was none. */
  readonly stopped: number;
  /** Ended in the window, or open at its end and unused for longer: nobody stops those. */
  readonly ended: number;
  readonly unknown: number;
}

/**
 * Question: of the interactive sessions that ended in a window, or should have, how many did so within hours of their last kernel?
 *
 * Reads: life_day.
 */
export async function endedSessions(
  space: ReadSpace,
  window: LedgerWindow,
  end: Date,
  hours: number,
): Promise<EndedSessions> {
  if (window.days.length === 0) return { stopped: 0, ended: 0, unknown: 0 };
  const until = window.until < end ? window.until : end;
  const [row] = await space.ask<{ stopped: bigint; ended: bigint; unknown: bigint }>({
    tables: [{ table: 'life_day', ...daysOf(window) }],
    params: { from: window.from, until, seconds: BigInt(hours * 3600), unknownPermille: BigInt(UNKNOWN_PERMILLE_MAX) },
    sql: `
      WITH session AS (
        SELECT subject, min(held_since) AS held_since,
               CASE WHEN count(*) = count(ended_at) OR max(CASE WHEN ended_at IS NOT NULL THEN day END) = max(day) THEN max(ended_at) END AS ended_at,
               max(used_until) AS last_computing_at,
               CAST(sum(held_s) AS BIGINT) AS held_s, CAST(sum(unknown_s) AS BIGINT) AS unknown_s, max(held_until) AS held_until
        FROM life_day WHERE manner = 'interactive' GROUP BY subject
      ), judged AS (
        SELECT unknown_s * 1000 > held_s * $unknownPermille AS is_unknown, ended_at IS NOT NULL AND ended_at <= $until AS has_ended,
               date_diff('second',
                 CASE WHEN last_computing_at IS NOT NULL THEN last_computing_at WHEN held_since < $from THEN $from ELSE held_since END,
                 CASE WHEN ended_at IS NOT NULL AND ended_at <= $until THEN ended_at ELSE held_until END) AS unused_s
        FROM session
      )
      SELECT count(*) FILTER (WHERE NOT is_unknown AND has_ended AND unused_s <= $seconds) AS stopped,
             count(*) FILTER (WHERE NOT is_unknown AND (has_ended OR unused_s > $seconds)) AS ended,
             count(*) FILTER (WHERE is_unknown) AS unknown
      FROM judged`,
  });
  return { stopped: Number(row?.stopped ?? 0n), ended: Number(row?.ended ?? 0n), unknown: Number(row?.unknown ?? 0n) };
}
