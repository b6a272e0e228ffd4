import { quote } from '../../lake/engine.ts';
import { quotientSql } from './cell.ts';
import { memorySql, ofMachines, stepNo, UNITS_PER_GPU } from './piece.ts';
import type { PieceRequest, PieceSql } from './piece.ts';

const HOUR_S = 3600;

/**
 * Pieces of whole days, from sums by day: a month of ten thousand GPUs is some hundred thousand rows of them, and millions of hours.
 *
 * Reads: stint_day, subject_day.
 */
export function dayPieceSql(request: PieceRequest, days: { readonly first: string; readonly last: string }): PieceSql {
  const { measure, subjects, window } = request;
  const wanted = ofMachines(request, 'd.device_id');
  const ofJobs = `${wanted} AND ${subjects === undefined ? 'TRUE' : `d.subject IN (${subjects.map(quote).join(', ')})`}`;
  const no = stepNo('CAST(d.day AS TIMESTAMP)', request);
  const params = { mapFrom: window.from };
  if (measure === 'wasted') {
    return {
      tables: [{ table: 'subject_day', ...days }],
      params,
      sql: `
        SELECT d.device_id, ${no} AS step_no, d.unpriced_units AS free_units,
               CASE WHEN d.category = 'unknown' THEN d.gpu_units - d.unpriced_units ELSE 0 END AS unknown_units,
               CASE WHEN d.category = 'unknown' THEN 0 ELSE d.gpu_units - d.unpriced_units END AS known_units,
               CASE WHEN d.category IN ('unallocated', 'idle', 'starved', 'lost') THEN COALESCE(d.usd_micros, 0) ELSE 0 END
                 * ${HOUR_S * UNITS_PER_GPU} AS weighed
        FROM subject_day d WHERE d.device_id IS NOT NULL AND ${ofJobs}`,
    };
  }
  const known = `(d.held_s - d.unknown_s)`;
  const weighed =
    measure === 'activity'
      ? 'COALESCE(d.sm_permille, d.engine_permille, d.util_permille, 0) * d.computing_s'
      : `${quotientSql('d.fb_used_mib_max * 1000', 's.memory_mib')} * ${known}`;
  const joins =
    measure === 'activity'
      ? ''
      : ` LEFT JOIN machine m ON d.device_id = m.device_id LEFT JOIN ${memorySql(request.memoryMib)} ON m.model = s.model`;
  return {
    tables: ['stint_day', 'subject_day'].map((table) => ({ table, ...days })),
    params,
    sql: `
      SELECT device_id, step_no, CAST(0 AS BIGINT) AS free_units,
             CASE WHEN weighed IS NULL THEN held_s ELSE unknown_s END * ${UNITS_PER_GPU} AS unknown_units,
             CASE WHEN weighed IS NULL THEN 0 ELSE held_s - unknown_s END * ${UNITS_PER_GPU} AS known_units,
             COALESCE(weighed, 0) * ${UNITS_PER_GPU} AS weighed
      FROM (SELECT d.device_id, ${no} AS step_no, d.held_s, d.unknown_s, ${weighed} AS weighed
            FROM stint_day d${joins} WHERE ${ofJobs}) stint
      UNION ALL
      SELECT d.device_id, ${no}, d.gpu_units, CAST(0 AS BIGINT), CAST(0 AS BIGINT), CAST(0 AS BIGINT)
      FROM subject_day d WHERE d.category = 'unallocated' AND d.device_id IS NOT NULL AND ${wanted} AND ${subjects === undefined ? 'TRUE' : 'FALSE'}`,
  };
}
