import { nearestName } from '../../facts/nearest-name.ts';
import { OperationError } from '../../facts/operation-error.ts';
import { filterOn } from '../filter.ts';
import { lastSaid } from '../rules/last-said.ts';
import { splitMoney, splitPart } from '../../ledger/held.ts';
import { daysOf, hoursSql } from '../window.ts';
import type { LedgerWindow } from '../window.ts';
import type { ReadSpace } from '../workspace.ts';
import { cells, memoryOf } from './cells.ts';
import { quotientSql } from './cell.ts';

export interface GpuPlace {
  readonly deviceId: string;
  readonly rootDeviceId: string;
  readonly nodeId: string | null;
  readonly model: string | null;
  readonly cluster: string | null;
  readonly purchase: string | null;
  readonly state: string | null;
  /** Which of its machine's it is, in the order of their ids. */
  readonly place: number;
}

export interface GpuHealth {
  readonly samples: number;
  readonly throttledSamples: number;
  readonly lyingSamples: number;
  /** An error that appeared in the window, the greatest number; null where none did. */
  readonly xid: number | null;
  readonly lastSampleAt: string | null;
}

export interface GpuHour {
  readonly at: string;
  readonly activePermille: number | null;
  readonly memoryMib: number | null;
}

export interface GpuHolder {
  readonly source: string | null;
  readonly allocationId: string | null;
  readonly name: string | null;
  readonly team: string | null;
  readonly user: string | null;
  readonly from: string;
  readonly until: string;
  readonly activePermille: number | null;
  readonly usdMicros: bigint | null;
  readonly unpricedUnits: bigint;
  readonly isHeld: boolean;
}

export interface GpuCategory {
  readonly category: string;
  readonly reason: string | null;
  readonly usdMicros: bigint | null;
  readonly unpricedUnits: bigint;
  readonly gpuUnits: bigint;
}

export interface GpuAnswer {
  readonly place: GpuPlace;
  readonly memoryMib: number | null;
  readonly health: GpuHealth;
  readonly hours: readonly GpuHour[];
  readonly stepSeconds: number;
  /** A letter for each step of the window. */
  readonly cells: string;
  readonly holders: readonly GpuHolder[];
  readonly categories: readonly GpuCategory[];
  readonly findings: readonly { readonly number: number; readonly what: string; readonly state: string }[];
}

/**
 * Question: what did one GPU do in a window, for whom, and where did its money go?
 *
 * Reads: presence, held, gpu_hour, activity_hour, run, waterfall and ownership of the window's days.
 */
export async function oneGpu(
  space: ReadSpace,
  id: string,
  window: LedgerWindow,
  stepSeconds: number,
): Promise<GpuAnswer> {
  const place = await placeOf(space, id, window);
  const [line] = await cells(space, {
    window,
    measure: 'activity',
    stepSeconds,
    filters: [filterOn('device', id)],
    by: 'gpu',
  });
  const holders = await holdersOf(space, id, window);
  const memory = await memoryOf(space, window);
  return {
    place,
    memoryMib: place.model === null ? null : (memory.get(place.model) ?? null),
    health: await healthOf(space, id, window),
    hours: await hoursOf(space, id, window),
    stepSeconds,
    cells: line?.cells ?? '',
    holders,
    categories: await categoriesOf(space, id, window),
    findings: findingsOf(space, place, holders),
  };
}

async function placeOf(space: ReadSpace, id: string, window: LedgerWindow): Promise<GpuPlace> {
  const rows = await space.ask<Omit<GpuPlace, 'place'> & { place: bigint }>({
    tables: [{ table: 'presence', ...daysOf(window) }],
    params: { id },
    sql: `
      SELECT * FROM (
        SELECT device_id AS "deviceId", max_by(root_device_id, from_at) AS "rootDeviceId", max_by(node_id, from_at) AS "nodeId",
               max_by(model, from_at) AS model, max_by(cluster, from_at) AS cluster, max_by(purchase, from_at) AS purchase,
               max_by(state, from_at) AS state,
               row_number() OVER (PARTITION BY max_by(node_id, from_at) ORDER BY device_id) - 1 AS place
        FROM presence GROUP BY device_id
      ) placed WHERE "deviceId" = $id`,
  });
  const [row] = rows;
  if (row !== undefined) return { ...row, place: Number(row.place) };
  const known = await space.ask<{ id: string }>({
    tables: [{ table: 'presence', ...daysOf(window) }],
    sql: 'SELECT DISTINCT device_id AS id FROM presence',
  });
  const near = nearestName(
    id,
    known.map((each) => each.id),
  );
  throw new OperationError('unknown-gpu', `no GPU ${id} was there in this window`, {
    hint: near === undefined ? 'bursar spend --by device lists them; another window may know it.' : `Nearest: ${near}.`,
  });
}

async function healthOf(space: ReadSpace, id: string, window: LedgerWindow): Promise<GpuHealth> {
  const hours = hoursSql(window, 'hour_start');
  const [row] = await space.ask<{ samples: bigint; throttled: bigint; lying: bigint; xid: bigint | null }>({
    tables: [{ table: 'activity_hour', ...daysOf(window) }],
    params: { ...hours.params, id },
    sql: `SELECT COALESCE(CAST(sum(samples) AS BIGINT), 0) AS samples, COALESCE(CAST(sum(throttled_samples) AS BIGINT), 0) AS throttled,
                 COALESCE(CAST(sum(lying_samples) AS BIGINT), 0) AS lying, max(xid) AS xid
          FROM activity_hour WHERE device_id = $id AND ${hours.sql}`,
  });
  const [last] = await space.ask<{ at: string | null }>({
    tables: [{ table: 'run', ...daysOf(window) }],
    params: { id, until: window.until },
    sql: 'SELECT max(until_at) AS at FROM run WHERE device_id = $id AND from_at < $until',
  });
  return {
    samples: Number(row?.samples ?? 0n),
    throttledSamples: Number(row?.throttled ?? 0n),
    lyingSamples: Number(row?.lying ?? 0n),
    xid: row?.xid == null || row.xid === 0n ? null : Number(row.xid),
    lastSampleAt: last?.at ?? null,
  };
}

async function hoursOf(space: ReadSpace, id: string, window: LedgerWindow): Promise<GpuHour[]> {
  const hours = hoursSql(window, 'hour_start');
  const signal = 'COALESCE(sm_permille, engine_permille, util_permille, 0) * computing_samples';
  const rows = await space.ask<{ at: string; active: bigint | null; memory: bigint | null }>({
    tables: [{ table: 'activity_hour', ...daysOf(window) }],
    params: { ...hours.params, id },
    sql: `SELECT hour_start AS at, ${quotientSql(signal, 'samples')} AS active, fb_used_mib_max AS memory
          FROM activity_hour WHERE device_id = $id AND ${hours.sql} ORDER BY hour_start`,
  });
  return rows.map(({ at, active, memory }) => ({
    at,
    activePermille: active === null ? null : Number(active),
    memoryMib: memory === null ? null : Number(memory),
  }));
}

/** One line for each stay of a holder, and for each time nobody had it; what follows without a break is one. */
async function holdersOf(space: ReadSpace, id: string, window: LedgerWindow): Promise<GpuHolder[]> {
  const hours = hoursSql(window, 'hour_start');
  const tables = ['held', 'gpu_hour', 'activity_hour', 'waterfall', 'ownership'];
  const rows = await space.ask<
    Omit<GpuHolder, 'activePermille' | 'isHeld'> & { active: bigint | null; isHeld: bigint }
  >({
    tables: tables.map((table) => ({ table, ...daysOf(window) })),
    params: { ...hours.params, id },
    sql: `
      WITH piece AS (
        SELECT ${HOLDER}, hour_start, from_at, until_at, CAST(sum(seconds * share_units) AS BIGINT) AS weight
        FROM held WHERE device_id = $id AND ${hours.sql} GROUP BY ${HOLDER}, hour_start, from_at, until_at
      ), followed AS (
        SELECT p.*, lag(until_at) OVER (PARTITION BY ${HOLDER} ORDER BY from_at) AS before_at,
               CAST(sum(weight) OVER (PARTITION BY ${HOLDER}, hour_start) AS BIGINT) AS hour_weight,
               CAST(sum(weight) OVER (PARTITION BY ${HOLDER}, hour_start ORDER BY from_at) AS BIGINT) AS upto
        FROM piece p
      ), placed AS (
        SELECT f.*, CASE WHEN hour_weight = 0 THEN 1 ELSE hour_weight END AS base,
               sum(CASE WHEN before_at = from_at THEN 0 ELSE 1 END) OVER (PARTITION BY ${HOLDER} ORDER BY from_at) AS stay_no
        FROM followed f
      ), used AS (
        SELECT g.disposition, g.source, g.allocation_id, g.attempt, g.hour_start, CAST(sum(g.computing_s + g.idle_s) AS BIGINT) AS known_s,
               CAST(sum(COALESCE(a.sm_permille, a.engine_permille, a.util_permille, 0) * g.computing_s) AS BIGINT) AS weighed
        FROM gpu_hour g LEFT JOIN activity_hour a ON a.device_id = $id AND g.device_id = a.device_id AND g.hour_start = a.hour_start
        WHERE g.device_id = $id AND ${hours.sql.replaceAll('hour_start', 'g.hour_start')}
        GROUP BY g.disposition, g.source, g.allocation_id, g.attempt, g.hour_start
      ), paid AS (
        SELECT ${HOLDER}, hour_start, CAST(sum(usd_micros) AS BIGINT) AS usd_micros,
               ${UNPRICED} AS unpriced_units
        FROM waterfall WHERE device_id = $id AND ${hours.sql} GROUP BY ${HOLDER}, hour_start
      ), stay AS (
        SELECT h.disposition, h.source, h.allocation_id, h.attempt, min(h.from_at) AS from_at, max(h.until_at) AS until_at,
               sum(${ofPiece(splitPart, 'u.known_s')}) AS known_s, sum(${ofPiece(splitPart, 'u.weighed')}) AS weighed,
               CAST(sum(${ofPiece(splitMoney, 'p.usd_micros')}) AS BIGINT) AS usd_micros,
               CAST(COALESCE(sum(${ofPiece(splitPart, 'p.unpriced_units')}), 0) AS BIGINT) AS unpriced_units
        FROM placed h
        LEFT JOIN used u ON ${sameHolder('h', 'u')} AND h.hour_start = u.hour_start
        LEFT JOIN paid p ON ${sameHolder('h', 'p')} AND h.hour_start = p.hour_start
        GROUP BY h.disposition, h.source, h.allocation_id, h.attempt, h.stay_no
      ), owner AS (
        SELECT subject, max_by(workload_name, day) AS name, ${lastSaid('team', 'day')} AS team, ${lastSaid('user_name', 'day')} AS user_name
        FROM ownership WHERE subject IN (SELECT ${SUBJECT} FROM stay s) GROUP BY subject
      )
      SELECT s.source, s.allocation_id AS "allocationId", o.name, o.team, o.user_name AS "user", s.from_at AS "from",
             s.until_at AS "until", ${quotientSql('CAST(s.weighed AS BIGINT)', 'CAST(s.known_s AS BIGINT)')} AS active, s.usd_micros AS "usdMicros",
             s.unpriced_units AS "unpricedUnits",
             CASE WHEN s.disposition = 'held' THEN 1 ELSE 0 END AS "isHeld"
      FROM stay s
      LEFT JOIN owner o ON o.subject = ${SUBJECT}
      ORDER BY s.from_at, s.source, s.allocation_id`,
  });
  return rows.map(({ active, isHeld, ...row }) => ({
    ...row,
    isHeld: Number(isHeld) === 1,
    activePermille: active === null || Number(isHeld) === 0 ? null : Number(active),
  }));
}

const HOLDER = 'disposition, source, allocation_id, attempt';

/** What an hour has of a holder, by the time and the share of each of its pieces. */
const ofPiece = (split: typeof splitPart, total: string): string => split(total, 'h.upto', 'h.weight', 'h.base');

const SUBJECT = "'job ' || s.source || '/' || s.allocation_id || '/' || CAST(s.attempt AS VARCHAR)";

/** GPU time without a price: of a sum that has one, what makes it a lower bound. */
const UNPRICED = 'CAST(COALESCE(sum(CASE WHEN usd_micros IS NULL THEN gpu_units END), 0) AS BIGINT)';

const sameHolder = (a: string, b: string): string =>
  `${a}.disposition = ${b}.disposition AND COALESCE(${a}.source, '') = COALESCE(${b}.source, '')
     AND COALESCE(${a}.allocation_id, '') = COALESCE(${b}.allocation_id, '') AND COALESCE(${a}.attempt, -1) = COALESCE(${b}.attempt, -1)`;

async function categoriesOf(space: ReadSpace, id: string, window: LedgerWindow): Promise<GpuCategory[]> {
  const hours = hoursSql(window, 'hour_start');
  return space.ask<GpuCategory>({
    tables: [{ table: 'waterfall', ...daysOf(window) }],
    params: { ...hours.params, id },
    sql: `SELECT category, reason, CAST(sum(usd_micros) AS BIGINT) AS "usdMicros", CAST(sum(gpu_units) AS BIGINT) AS "gpuUnits",
                 ${UNPRICED} AS "unpricedUnits"
          FROM waterfall WHERE device_id = $id AND ${hours.sql} GROUP BY category, reason ORDER BY category, reason`,
  });
}

/** What was found about whom it served, its machine or itself, and nobody has set aside. */
function findingsOf(space: ReadSpace, place: GpuPlace, holders: readonly GpuHolder[]): GpuAnswer['findings'] {
  const jobs = new Set(holders.map(({ source, allocationId }) => `job ${source ?? ''}/${allocationId ?? ''}/`));
  const own = new Set([`device ${place.deviceId}`, `device ${place.rootDeviceId}`, `node ${place.nodeId ?? ''}`]);
  // A job goes by all its lives, whose number stands last.
  const isOurs = (subject: string): boolean =>
    own.has(subject) || jobs.has(subject.slice(0, subject.lastIndexOf('/') + 1));
  return space.findings
    .records()
    .filter(({ state }) => state !== 'fixed' && state !== 'dismissed')
    .filter(({ subjects }) => subjects.some(isOurs))
    .map(({ number, what, state }) => ({ number, what, state }));
}
