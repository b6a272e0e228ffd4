import { CHECKPOINT_UNIT } from '../facts/work.ts';

/** `written`: when checkpoints were written, as far as somebody recorded it. Reads: work. */
export const WRITTEN = `
  written AS (
    SELECT allocation_id, window_from, window_until FROM work WHERE unit = '${CHECKPOINT_UNIT}'
  )`;
export const WRITTEN_READ = ['work'] as const;

/** `saved`: how many checkpoints an attempt is recorded to have written in the window, and when the last was; the same of the first day it wrote any. Reads: checkpoint. */
export const SAVED = `
  saved AS (
    SELECT 'job ' || source || '/' || allocation_id || '/' || CAST(attempt AS VARCHAR) AS subject, CAST(sum(checkpoints) AS BIGINT) AS checkpoints,
           max(last_at) AS last_at, min(last_at) AS first_day_last_at, (array_agg(checkpoints ORDER BY day))[1] AS first_day_checkpoints
    FROM checkpoint WHERE basis = 'recorded' GROUP BY source, allocation_id, attempt
  )`;
export const SAVED_READ = ['checkpoint'] as const;

/**
 * Seconds from save to save in the attempt `l`, its start to the first among them, of what `saved` says of it as `c`; null where it wrote none. What came after the
 * last save is not in it: a run that died early would look like one that saves rarely. Of one from before the window the first day's
 * last save is where it is counted from.
 */
export const SPACING_S = `
  CASE WHEN l.held_since >= $from AND c.checkpoints > 0 AND c.last_at > l.held_since
         THEN CAST((date_diff('second', l.held_since, c.last_at) - date_diff('second', l.held_since, c.last_at) % c.checkpoints) / c.checkpoints AS BIGINT)
       WHEN l.held_since < $from AND c.checkpoints > c.first_day_checkpoints AND c.last_at > c.first_day_last_at
         THEN CAST((date_diff('second', c.first_day_last_at, c.last_at) - date_diff('second', c.first_day_last_at, c.last_at) % (c.checkpoints - c.first_day_checkpoints))
                   / (c.checkpoints - c.first_day_checkpoints) AS BIGINT)
       END`;
