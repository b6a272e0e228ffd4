import { quote } from '../../lake/engine.ts';
import { daysOf, hoursSql } from '../window.ts';
import type { LedgerWindow } from '../window.ts';
import { quotientSql } from './cell.ts';
import { dayPieceSql } from './day-piece.ts';
import { memorySql, ofMachines, stepNo, UNITS_PER_GPU } from './piece.ts';
import type { PieceRequest, PieceSql } from './piece.ts';

const HOUR_S = 3600;
const DAY_S = 86_400;
const SUBJECT = (table: string): string =>
  `'job ' || ${table}.source || '/' || ${table}.allocation_id || '/' || CAST(${table}.attempt AS VARCHAR)`;

function ofJobs({ subjects }: PieceRequest, table: string): string {
  return subjects === undefined ? 'TRUE' : `${SUBJECT(table)} IN (${subjects.map(quote).join(', ')})`;
}

/** The finest steps are read from samples, hours from sums by hour, whole days from sums by day; money is kept by the hour. */
export function pieceSql(request: PieceRequest): PieceSql {
  const { stepSeconds, window, measure } = request;
  if (stepSeconds < HOUR_S && measure !== 'wasted') return sampleSql(request);
  const byHour = measure === 'wasted' ? wastedSql : hourSql;
  const { whole, cut } = window;
  if (stepSeconds % DAY_S !== 0 || whole === undefined) return byHour(request);
  const days = dayPieceSql(request, whole);
  if (cut.length === 0) return days;
  const hours = byHour({ ...request, window: { ...window, whole: undefined, days: cut.map(({ day }) => day) } });
  return {
    tables: [...days.tables, ...hours.tables],
    params: { ...days.params, ...hours.params },
    sql: `${days.sql} UNION ALL ${hours.sql}`,
  };
}

function hourSql(request: PieceRequest): PieceSql {
  const hours = hoursSql(request.window, 'g.hour_start');
  const { value, joins } = hourValue(request);
  return {
    tables: ['gpu_hour', 'activity_hour'].map((table) => ({ table, ...daysOf(request.window) })),
    params: { ...hours.params, mapFrom: request.window.from },
    sql: `
      SELECT device_id, ${stepNo('hour_start', request)} AS step_no, free_units,
             CASE WHEN value IS NULL THEN unknown_units + known_units ELSE unknown_units END AS unknown_units,
             CASE WHEN value IS NULL THEN 0 ELSE known_units END AS known_units,
             CASE WHEN value IS NULL THEN 0 ELSE value * known_units END AS weighed
      FROM (
        SELECT h.*, ${value} AS value FROM (
          SELECT g.device_id, g.hour_start,
                 CAST(sum(CASE WHEN g.disposition = 'unallocated' THEN g.units ELSE 0 END) AS BIGINT) AS free_units,
                 CAST(sum(CASE WHEN g.disposition = 'unallocated' THEN 0 ELSE g.unknown_units END) AS BIGINT) AS unknown_units,
                 CAST(sum(g.computing_units + g.idle_units) AS BIGINT) AS known_units
          FROM gpu_hour g WHERE ${hours.sql} AND ${ofMachines(request, 'g.device_id')} AND ${ofJobs(request, 'g')}
          GROUP BY g.device_id, g.hour_start
        ) h
        LEFT JOIN (SELECT * FROM activity_hour WHERE ${ofMachines(request, 'device_id')}) a
          ON h.device_id = a.device_id AND h.hour_start = a.hour_start${joins}
      ) valued`,
  };
}

/** Means by hour are of the samples in which it computed: the others count as 0. Memory is the most of the hour. */
function hourValue({ measure, memoryMib }: PieceRequest): { value: string; joins: string } {
  if (measure === 'activity') {
    const signal = 'COALESCE(a.sm_permille, a.engine_permille, a.util_permille, 0) * a.computing_samples';
    return { value: quotientSql(signal, 'a.samples'), joins: '' };
  }
  return {
    value: quotientSql('a.fb_used_mib_max * 1000', 's.memory_mib'),
    joins: ` LEFT JOIN machine m ON h.device_id = m.device_id LEFT JOIN ${memorySql(memoryMib)} ON m.model = s.model`,
  };
}

/** Of the days of a short window: who had it from `held`, what is known from `run`, how much from the samples themselves. */
function sampleSql(request: PieceRequest): PieceSql {
  const { window, stepSeconds, measure, memoryMib } = request;
  const end = Math.max(...window.cut.map(({ until }) => until.getTime()), endOfWhole(window));
  const steps = Math.ceil((end - window.from.getTime()) / 1000 / stepSeconds);
  const value =
    measure === 'activity'
      ? 'CAST(avg(CAST(COALESCE(g.sm_permille, g.engine_permille, g.util_permille) AS DOUBLE)) AS BIGINT)'
      : quotientSql('max(g.fb_used_mib) * 1000', 'max(s.memory_mib)');
  const joins =
    measure === 'activity'
      ? ''
      : ` JOIN machine m ON g.device_id = m.device_id LEFT JOIN ${memorySql(memoryMib)} ON m.model = s.model`;
  const from = (no: string): string => `($mapFrom + ${no} * INTERVAL '${stepSeconds}' SECOND)`;
  const overlap = (piece: string): string => `
      date_diff('second', CASE WHEN ${piece}.from_at > t.from_at THEN ${piece}.from_at ELSE t.from_at END,
                CASE WHEN ${piece}.until_at < t.until_at THEN ${piece}.until_at ELSE t.until_at END)`;
  return {
    tables: ['held', 'run', 'gpu_sample'].map((table) => ({ table, ...daysOf(window) })),
    params: { mapFrom: window.from, mapUntil: new Date(end) },
    sql: `
      WITH step AS (
        SELECT no AS step_no, ${from('no')} AS from_at, ${from('(no + 1)')} AS until_at
        FROM (VALUES ${Array.from({ length: Math.max(1, steps) }, (_, no) => `(${no})`).join(', ')}) AS v(no)
      ), had AS (
        SELECT h.device_id, t.step_no,
               CAST(sum(CASE WHEN h.disposition = 'unallocated' THEN ${overlap('h')} * h.share_units ELSE 0 END) AS BIGINT) AS free_units,
               CAST(sum(CASE WHEN h.disposition = 'unallocated' THEN 0 ELSE ${overlap('h')} * h.share_units END) AS BIGINT) AS held_units
        FROM held h JOIN machine m ON h.device_id = m.device_id
        JOIN step t ON h.from_at < t.until_at AND h.until_at > t.from_at
        WHERE ${ofJobs(request, 'h')} GROUP BY h.device_id, t.step_no
      ), heard AS (
        SELECT r.device_id, t.step_no, CAST(sum(${overlap('r')}) AS BIGINT) AS known_s
        FROM run r JOIN machine m ON r.device_id = m.device_id
        JOIN step t ON r.from_at < t.until_at AND r.until_at > t.from_at
        WHERE r.class <> 'unknown' GROUP BY r.device_id, t.step_no
      ), sampled AS (
        SELECT g.device_id, ${stepNo('g.ts', request)} AS step_no, ${value} AS value
        FROM gpu_sample g${joins} WHERE ${ofMachines(request, 'g.device_id')} AND g.ts >= $mapFrom AND g.ts < $mapUntil GROUP BY g.device_id, 2
      )
      SELECT device_id, step_no, free_units, held_units - known_units AS unknown_units, known_units, known_units * value AS weighed
      FROM (
        SELECT w.device_id, w.step_no, w.free_units, w.held_units, COALESCE(v.value, 0) AS value,
               CASE WHEN v.value IS NULL THEN 0 WHEN k.known_s * ${UNITS_PER_GPU} > w.held_units THEN w.held_units
                    ELSE COALESCE(k.known_s, 0) * ${UNITS_PER_GPU} END AS known_units
        FROM had w LEFT JOIN heard k ON w.device_id = k.device_id AND w.step_no = k.step_no
        LEFT JOIN sampled v ON w.device_id = v.device_id AND w.step_no = v.step_no
      ) met`,
  };
}

function endOfWhole({ whole }: LedgerWindow): number {
  return whole === undefined ? 0 : Date.parse(`${whole.last}T00:00:00Z`) + 86_400_000;
}

/** Micro-dollars an hour of a GPU that went to nobody, to waiting or to nothing; what has no price, or was not measured, is told apart. */
function wastedSql(request: PieceRequest): PieceSql {
  const hours = hoursSql(request.window, 'w.hour_start');
  const subject = request.subjects === undefined ? 'TRUE' : `w.subject IN (${request.subjects.map(quote).join(', ')})`;
  return {
    tables: [{ table: 'waterfall', ...daysOf(request.window) }],
    params: { ...hours.params, mapFrom: request.window.from },
    sql: `
      SELECT w.device_id, ${stepNo('w.hour_start', request)} AS step_no,
             CAST(sum(CASE WHEN w.usd_micros IS NULL THEN w.gpu_units ELSE 0 END) AS BIGINT) AS free_units,
             CAST(sum(CASE WHEN w.usd_micros IS NOT NULL AND w.category = 'unknown' THEN w.gpu_units ELSE 0 END) AS BIGINT) AS unknown_units,
             CAST(sum(CASE WHEN w.usd_micros IS NULL OR w.category = 'unknown' THEN 0 ELSE w.gpu_units END) AS BIGINT) AS known_units,
             CAST(sum(CASE WHEN w.category IN ('unallocated', 'idle', 'starved', 'lost') THEN w.usd_micros ELSE 0 END) AS BIGINT)
               * ${HOUR_S * UNITS_PER_GPU} AS weighed
      FROM waterfall w WHERE w.device_id IS NOT NULL AND ${hours.sql} AND ${subject} AND ${ofMachines(request, 'w.device_id')}
      GROUP BY w.device_id, 2`,
  };
}
