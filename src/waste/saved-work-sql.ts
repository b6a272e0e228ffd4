import { CHECKPOINT_UNIT } from '../facts/work.ts';

/**
 * What was saved and what was lost, in SQL, for detectors that ask about either: both are few rows of large tables, so that they are
 * found once for all who ask.
 *
 * `loss`: GPU time of attempts that the ledger calls lost, in 63,000ths of a second and in whole seconds. Reads: subject_day.
 */
export const LOSSES = `
  loss AS (
    SELECT subject, CAST(sum(gpu_units) AS BIGINT) AS lost_units, CAST(sum(gpu_units - gpu_units % 63000) / 63000 AS BIGINT) AS lost_s
    FROM subject_day WHERE category = 'lost' AND gpu_units > 0 GROUP BY subject
  )`;
export const LOSSES_READ = ['subject_day'] as const;

/** `written`: when checkpoints were written, as far as somebody recorded it. Reads: work. */
export const WRITTEN = `
  written AS (
    SELECT allocation_id, window_from, window_until FROM work WHERE unit = '${CHECKPOINT_UNIT}'
  )`;
export const WRITTEN_READ = ['work'] as const;
