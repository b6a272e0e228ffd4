import type { Filter } from '../filter.ts';
import { daysOf, hoursSql } from '../window.ts';
import type { LedgerWindow } from '../window.ts';
import { subjectRows } from '../waste/subject-rows.ts';
import type { ReadSpace } from '../workspace.ts';
import { machineSql } from './map-scope.ts';

export interface FleetRequest {
  readonly window: LedgerWindow;
  readonly filters: readonly Filter[];
  /** GPUs one by one; above some thousands machines are enough until one is opened. */
  readonly withGpus: boolean;
}

/** What became of some of the money, and the GPU time in it that has no price. */
export interface FleetPart {
  /** Null where nothing of it has a price; 0 where there is nothing of it. */
  readonly usdMicros: bigint | null;
  readonly unpricedUnits: bigint;
}

/** Money and use of a GPU, a machine or more. */
export interface FleetSums {
  readonly gpus: number;
  /** Null where nothing of it has a price. */
  readonly usdMicros: bigint | null;
  readonly idle: FleetPart;
  readonly unallocated: FleetPart;
  readonly unknown: FleetPart;
  /** Computing, starved and lost: the GPU did something. */
  readonly active: FleetPart;
  readonly unpricedUnits: bigint;
  readonly heldUnits: bigint;
  readonly knownSeconds: bigint;
  /** Permille × seconds. */
  readonly weighed: bigint;
}

export interface FleetRow extends FleetSums {
  readonly cluster: string | null;
  readonly model: string | null;
  readonly purchases: string | null;
  readonly nodeId: string | null;
  readonly state: string | null;
  readonly deviceId: string | null;
}

const PARTS = {
  idle: "'idle'",
  unallocated: "'unallocated'",
  unknown: "'unknown'",
  active: "'computing', 'starved', 'lost'",
} as const;
type PartName = keyof typeof PARTS;
const PART_NAMES = Object.keys(PARTS) as PartName[];

/**
 * Question: what did every machine (or GPU) cost in a window, and how much of its held time was it active?
 *
 * Reads: presence; subject_day, or waterfall for hours of a day; gpu_hour and activity_hour.
 */
export async function fleetRows(space: ReadSpace, request: FleetRequest): Promise<FleetRow[]> {
  const { window, filters, withGpus } = request;
  if (window.days.length === 0) return [];
  const machine = machineSql(filters);
  const money = subjectRows(window);
  const used = usedSql(window);
  const sums = PART_NAMES.map(
    (name) =>
      `CAST(sum(usd_micros) FILTER (WHERE category IN (${PARTS[name]})) AS BIGINT) AS ${name}_micros,
               CAST(sum(unpriced_units) FILTER (WHERE category IN (${PARTS[name]})) AS BIGINT) AS ${name}_unpriced`,
  );
  const rows = await space.ask<AskedRow>({
    tables: [{ table: 'presence', ...daysOf(window) }, ...money.tables, ...used.tables],
    params: { ...machine.params, ...money.params, ...used.params },
    sql: `
      WITH machine AS (${machine.sql}), paid AS (
        SELECT device_id, CAST(sum(usd_micros) AS BIGINT) AS "usdMicros", ${sums.join(', ')},
               CAST(sum(unpriced_units) AS BIGINT) AS "unpricedUnits",
               CAST(COALESCE(sum(gpu_units) FILTER (WHERE category <> 'unallocated'), 0) AS BIGINT) AS "heldUnits"
        FROM (${money.sql}) r WHERE device_id IS NOT NULL GROUP BY device_id
      ), used AS (${used.sql})
      SELECT m.cluster, m.model, m.node_id AS "nodeId", max(m.state) AS state,
             array_join(array_agg(DISTINCT m.purchase), ' ') AS purchases,
             ${withGpus ? 'm.device_id' : 'CAST(NULL AS VARCHAR)'} AS "deviceId", count(CASE WHEN m.device_id = m.root_device_id THEN 1 END) AS gpus,
             CAST(sum(p."usdMicros") AS BIGINT) AS "usdMicros",
             ${PART_NAMES.map(
               (name) => `CAST(sum(p.${name}_micros) AS BIGINT) AS "${name}Micros",
             CAST(COALESCE(sum(p.${name}_unpriced), 0) AS BIGINT) AS "${name}Unpriced"`,
             ).join(', ')},
             ${['unpricedUnits', 'heldUnits']
               .map((name) => `CAST(COALESCE(sum(p."${name}"), 0) AS BIGINT) AS "${name}"`)
               .join(', ')},
             CAST(COALESCE(sum(u.known_s), 0) AS BIGINT) AS "knownSeconds",
             CAST(COALESCE(sum(u.weighed), 0) AS BIGINT) AS weighed
      FROM machine m LEFT JOIN paid p ON m.device_id = p.device_id LEFT JOIN used u ON m.device_id = u.device_id
      GROUP BY m.cluster, m.model, m.node_id${withGpus ? ', m.device_id' : ''}
      ORDER BY m.cluster, m.model, m.node_id${withGpus ? ', m.device_id' : ''}`,
  });
  return rows.map((row) => ({
    ...row,
    gpus: Number(row.gpus),
    idle: partOf(row.idleMicros, row.idleUnpriced),
    unallocated: partOf(row.unallocatedMicros, row.unallocatedUnpriced),
    unknown: partOf(row.unknownMicros, row.unknownUnpriced),
    active: partOf(row.activeMicros, row.activeUnpriced),
  }));
}

type AskedRow = Omit<FleetRow, 'gpus' | PartName> &
  Readonly<Record<`${PartName}Micros`, bigint | null>> &
  Readonly<Record<`${PartName}Unpriced`, bigint>> & { readonly gpus: bigint };

function partOf(usdMicros: bigint | null, unpricedUnits: bigint): FleetPart {
  return { usdMicros: usdMicros ?? (unpricedUnits > 0n ? null : 0n), unpricedUnits };
}

/** How active each device was while it was held and measured: the same hours and signals as the map. */
function usedSql(window: LedgerWindow): Pick<ReturnType<typeof subjectRows>, 'tables' | 'params' | 'sql'> {
  const { whole, cut } = window;
  const hours = hoursSql({ ...window, whole: undefined }, 'g.hour_start');
  const signal = (table: string): string =>
    `COALESCE(${table}.sm_permille, ${table}.engine_permille, ${table}.util_permille, 0)`;
  const parts = [
    ...(whole === undefined
      ? []
      : [
          `SELECT device_id, (held_s - unknown_s) AS known_s, ${signal('stint_day')} * computing_s AS weighed FROM stint_day`,
        ]),
    ...(cut.length === 0
      ? []
      : [
          `SELECT g.device_id, g.computing_s + g.idle_s AS known_s, ${signal('a')} * g.computing_s AS weighed
           FROM gpu_hour g LEFT JOIN activity_hour a ON g.device_id = a.device_id AND g.hour_start = a.hour_start
           WHERE g.disposition = 'held' AND ${hours.sql}`,
        ]),
  ];
  const cutDays = { first: cut[0]?.day ?? '', last: cut.at(-1)?.day ?? '' };
  return {
    tables: [
      ...(whole === undefined ? [] : [{ table: 'stint_day', ...whole }]),
      ...(cut.length === 0 ? [] : ['gpu_hour', 'activity_hour'].map((table) => ({ table, ...cutDays }))),
    ],
    params: cut.length === 0 ? {} : hours.params,
    sql: `SELECT device_id, CAST(sum(known_s) AS BIGINT) AS known_s, CAST(sum(weighed) AS BIGINT) AS weighed
          FROM (${parts.join(' UNION ALL ')}) s GROUP BY device_id`,
  };
}

/** How many GPUs are in the window: whether they can be listed one by one. */
export async function gpusIn(space: ReadSpace, window: LedgerWindow, filters: readonly Filter[]): Promise<number> {
  if (window.days.length === 0) return 0;
  const machine = machineSql(filters);
  const [row] = await space.ask<{ gpus: bigint }>({
    tables: [{ table: 'presence', ...daysOf(window) }],
    params: machine.params,
    sql: `SELECT count(DISTINCT root_device_id) AS gpus FROM (${machine.sql}) m`,
  });
  return Number(row?.gpus ?? 0n);
}
