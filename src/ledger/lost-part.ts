import { splitPart } from './held.ts';

const earlier = (a: string, b: string): string => `CASE WHEN ${a} < ${b} THEN ${a} ELSE ${b} END`;
const later = (a: string, b: string): string => `CASE WHEN ${a} > ${b} THEN ${a} ELSE ${b} END`;

const HOUR_END = "w.hour_start + INTERVAL '1' HOUR";
const [FROM, UNTIL] = [later('w.hour_start', 'f.from_at'), earlier(HOUR_END, 'f.until_at')];

/** The fate `f` of the holder of a row `w` of the waterfall, where its work is lost in the hour. */
export const FATE_OF_ROW = `w.day = f.day AND w.source = f.source AND w.allocation_id = f.allocation_id
        AND w.attempt = f.attempt AND f.lost_from < ${HOUR_END} AND f.until_at > w.hour_start`;

/** Seconds of the attempt in the hour, and those of them that are lost. */
export const ATTEMPT_SECONDS = `date_diff('second', ${FROM}, ${UNTIL})`;
export const LOST_SECONDS = `date_diff('second', ${later('f.lost_from', FROM)}, ${UNTIL})`;

const COUNTED = ['usd_micros', 'marginal_usd_micros', 'gpu_units'] as const;

const lost = (column: string): string => splitPart(column, 'lost_s', 'lost_s', 'attempt_s');

/**
 * Question: what of the computing time in a waterfall came to nothing?
 *
 * The rest of a query whose rows are in the table `divided`: of computing rows, the part after the moment from which their attempt's
 * work is lost, by the attempt's seconds in the hour, becomes the category `lost`, with how the attempt ended as its reason. Reads: fate.
 */
export const withLostPart = (dimensions: string): string => `
    ), fated AS (
      SELECT w.*, f.outcome, ${ATTEMPT_SECONDS} AS attempt_s, ${LOST_SECONDS} AS lost_s
      FROM divided w LEFT JOIN fate f ON w.category = 'computing' AND ${FATE_OF_ROW}
    ), settled AS (
      SELECT ${dimensions}, category, reason,
             ${COUNTED.map((column) => `CASE WHEN outcome IS NULL THEN ${column} ELSE ${column} - ${lost(column)} END AS ${column}`).join(', ')}
      FROM fated
      UNION ALL
      SELECT ${dimensions}, 'lost', outcome, ${COUNTED.map(lost).join(', ')} FROM fated WHERE outcome IS NOT NULL
    )
    SELECT ${dimensions}, category, reason, ${COUNTED.join(', ')} FROM settled
    WHERE gpu_units <> 0 OR usd_micros <> 0 OR marginal_usd_micros <> 0`;
