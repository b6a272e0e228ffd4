import type { Stage } from '../facts/stage.ts';
import { PROFILE_ATTRIBUTES } from './subject.ts';

const COLUMNS = PROFILE_ATTRIBUTES.map(([name]) => name).join(', ');

/** A profile that was there within so many days is not listed again, until the first of the month. */
const REMEMBERED_DAYS = 7;

/**
 * Question: which profiles are new on a day?
 *
 * Rules are asked of profiles, not of jobs, and of each once: a day lists those that none of the seven days before it had, the
 * first of a month all of those days and its own. Whoever asks about a day reads from the first of its month on.
 *
 * Reads: subject.
 */
export const profile: Stage = {
  name: 'profile',
  version: 1,
  unit: 'day',
  reads: [{ table: 'subject', days: Array.from({ length: REMEMBERED_DAYS + 1 }, (_, back) => -back) }],
  params: [],
  writes: [['day', 'DATE'], ['profile_no', 'BIGINT'], ['example', 'VARCHAR'], ...PROFILE_ATTRIBUTES],
  orderBy: 'profile_no',
  sql: `
    WITH present AS (
      SELECT day, profile_no, min(subject) AS example FROM subject GROUP BY day, profile_no
    ), near AS (
      SELECT d.day, p.profile_no, min(p.day) AS first_day, max(p.day) AS last_day
      FROM calendar_day d JOIN present p ON p.day <= d.day
        AND p.day >= CAST(d.day - INTERVAL '${REMEMBERED_DAYS}' DAY AS DATE)
      GROUP BY d.day, p.profile_no
    )
    SELECT n.day, n.profile_no, p.example, ${COLUMNS}
    FROM near n JOIN present p ON n.last_day = p.day AND n.profile_no = p.profile_no
    JOIN subject s ON p.day = s.day AND p.example = s.subject
    WHERE n.first_day = n.day OR extract(day FROM n.day) = 1`,
};
