import type { TableNeed } from '../lake/ask.ts';
import { addDays, parseTime } from '../lake/calendar.ts';
import type { Params } from '../lake/engine.ts';
import { ATTEMPT_SECONDS, FATE_OF_ROW, LOST_SECONDS } from '../ledger/lost-part.ts';
import { STAGES } from '../ledger/stages.ts';
import type {
  ChargeHourLine,
  DeviceHour,
  ExplainedEntry,
  Explanation,
  FigurePart,
  HeldPiece,
  MachineParts,
  Run,
  Sample,
} from '../report/explanation.ts';
import type { SharedPart } from '../report/rules-page.ts';
import { explainCharges } from './explain-charges.ts';
import type { Filter } from './filter.ts';
import { filterSql, filterText } from './filter.ts';
import { ENTRY_KEY, entryReason } from './ledger-sums.ts';
import { machineParts } from './machine-parts.ts';
import { explainShared } from './ownership/explain-shared.ts';
import { unknownValues } from './unknown-values.ts';
import { daysOf, hoursSql } from './window.ts';
import type { LedgerWindow } from './window.ts';
import type { ReadSpace } from './workspace.ts';

export interface ExplainRequest {
  readonly window: LedgerWindow;
  readonly filters: readonly Filter[];
  /** So many entries, the largest first. */
  readonly entriesMax: number;
  /** For so many of them charges, devices, runs and samples too. */
  readonly detailedMax: number;
  /** Rows of each kind of detail. */
  readonly detailRowsMax: number;
}

/** So many machines are told with their parts. */
const MACHINES_MAX = 20;

/** One text by which an entry and its rows of the waterfall find each other. */
const keySql = (alias: string): string =>
  [...ENTRY_KEY.map((column) => `${alias}.${column}`), entryReason(alias)]
    .map((value) => `COALESCE('=' || CAST(${value} AS VARCHAR), '-')`)
    .join(' || chr(31) || ');

const ENTRY_COLUMNS = STAGES.find(({ name }) => name === 'ledger_entry')?.writes.map(([column]) => column) ?? [];

/** The kind of charge-hour an entry of a bill comes from. */
const KIND = `
  CASE WHEN x.disposition = 'beside' AND x.component IN ('storage', 'transfer', 'network') THEN x.component
       WHEN x.reason = 'unused-commitment' THEN 'unused'
       WHEN x.node_id IS NOT NULL THEN 'node' WHEN x.disposition = 'beside' THEN x.component ELSE x.disposition END`;

/**
 * Question: how did a figure come about?
 *
 * Any figure another command prints is a window and filters; this gives the entries behind it, and behind the largest of them
 * the rows of the bill, the splits, the runs and the samples: enough to work it out again by hand.
 *
 * Reads: waterfall, ownership, ledger_entry, charge_hour, estimate_hour, held, run, gpu_sample, charge, fx_rate, node, device.
 */
export async function explainLedger(space: ReadSpace, request: ExplainRequest): Promise<Explanation> {
  const { window, filters } = request;
  const shared = await sharedOf(space, request);
  const nothing = { window, filter: filterText(filters), unknownValues: [], truncated: [], shared, ...noDetail() };
  const parts = window.days.length === 0 ? [] : await figureParts(space, request);
  const rows = parts.reduce((total, part) => total + part.rows, 0n);
  const figure = {
    usdMicros: parts.reduce<bigint | null>((sum, part) => plus(sum, part.usdMicros), parts.length === 0 ? 0n : null),
    marginalUsdMicros: parts.reduce<bigint | null>(
      (sum, part) => plus(sum, part.marginalUsdMicros),
      parts.length === 0 ? 0n : null,
    ),
    units: parts.reduce((sum, part) => sum + part.units, 0n),
    unpricedUnits: parts.reduce((sum, part) => sum + (part.usdMicros === null ? part.units : 0n), 0n),
  };
  if (rows === 0n) return { ...nothing, figure, parts, unknownValues: await unknownValues(space, window, filters) };
  await chooseEntries(space, request);
  const truncated = rows > BigInt(request.entriesMax) ? ['entries'] : [];
  const detail = await explainDetail(space, request, truncated);
  return { ...nothing, figure, parts, truncated, ...detail, entries: await chosenEntries(space, request) };
}

/** Entries of shared money are with their pool; what a team has of it is told beside them, where the figure is all of one team's. */
async function sharedOf(space: ReadSpace, { window, filters }: ExplainRequest): Promise<SharedPart[]> {
  const [only, ...more] = filters;
  const [team, ...others] = only?.dimension.name === 'team' ? only.values : [];
  if (team === undefined || team === null || others.length + more.length > 0) return [];
  return explainShared(space, window, team);
}

function noDetail() {
  return {
    entries: [],
    charges: [],
    pools: [],
    chargeHours: [],
    deviceHours: [],
    machines: [],
    held: [],
    runs: [],
    samples: [],
  };
}

function plus(a: bigint | null, b: bigint | null): bigint | null {
  return a === null ? b : a + (b ?? 0n);
}

/** Rows of the waterfall the question is about, as `chosen`. */
function chosen({ window, filters }: ExplainRequest): { from: string; params: Params; tables: readonly TableNeed[] } {
  const hours = hoursSql(window, 'w.hour_start');
  const where = filterSql(filters, ({ entryColumn }) => entryColumn);
  return {
    from: `waterfall w LEFT JOIN ownership o ON w.day = o.day AND w.subject = o.subject WHERE ${hours.sql} AND ${where.sql}`,
    params: { ...hours.params, ...where.params },
    tables: ['waterfall', 'ownership', 'ledger_entry'].map((table) => ({ table, ...daysOf(window) })),
  };
}

async function figureParts(space: ReadSpace, request: ExplainRequest): Promise<FigurePart[]> {
  const { from, params, tables } = chosen(request);
  return space.ask<FigurePart>({
    tables,
    params,
    sql: `
      SELECT w.category, w.basis, CAST(sum(w.usd_micros) AS BIGINT) AS "usdMicros",
             CAST(sum(w.marginal_usd_micros) AS BIGINT) AS "marginalUsdMicros",
             CAST(sum(w.gpu_units) AS BIGINT) AS units, count(*) AS rows
      FROM ${from} GROUP BY w.category, w.basis
      ORDER BY "usdMicros" DESC NULLS LAST, w.category, w.basis`,
  });
}

/** Keeps the entries with the largest part in the figure under the name `explained`, for the questions that follow. */
async function chooseEntries(space: ReadSpace, request: ExplainRequest): Promise<void> {
  const { from, params, tables } = chosen(request);
  const columns = ENTRY_COLUMNS.map((column) => `e.${column}`).join(', ');
  await space.ask({
    tables,
    params: { ...params, entriesMax: request.entriesMax },
    sql: `
      CREATE OR REPLACE TEMP TABLE explained AS
      WITH chosen AS NOT MATERIALIZED (SELECT ${keySql('w')} AS entry_key, w.usd_micros, w.gpu_units FROM ${from}
      ), largest AS (
        SELECT DISTINCT entry_key FROM (
          SELECT entry_key FROM chosen ORDER BY abs(usd_micros) DESC NULLS LAST, gpu_units DESC, entry_key LIMIT $entriesMax
        ) ranked
      ), counted AS (
        SELECT c.entry_key, CAST(sum(c.usd_micros) AS BIGINT) AS counted_usd_micros,
               CAST(sum(c.gpu_units) AS BIGINT) AS counted_units
        FROM chosen c JOIN largest l ON c.entry_key = l.entry_key GROUP BY c.entry_key
      )
      SELECT ${columns}, c.entry_key, c.counted_usd_micros, c.counted_units,
             row_number() OVER (ORDER BY abs(c.counted_usd_micros) DESC NULLS LAST, c.counted_units DESC, c.entry_key) AS place
      FROM ledger_entry e JOIN counted c ON ${keySql('e')} = c.entry_key`,
  });
}

interface EntryRow extends Omit<ExplainedEntry, 'columns' | 'categories'> {
  readonly entryKey: string;
}

async function chosenEntries(space: ReadSpace, { window }: ExplainRequest): Promise<ExplainedEntry[]> {
  const tables = ['waterfall', 'fate', 'ownership'].map((table) => ({ table, ...daysOf(window) }));
  const columns = await space.ask<Record<string, string | bigint | boolean | null>>({
    tables,
    sql: `SELECT ${ENTRY_COLUMNS.map((column) => `${column} AS "${camel(column)}"`).join(', ')} FROM explained ORDER BY place`,
  });
  const rows = await space.ask<EntryRow>({
    tables,
    sql: `
      SELECT x.entry_key AS "entryKey", x.counted_usd_micros AS "countedUsdMicros", x.counted_units AS "countedUnits",
             o.team, o.project, o.user_name AS "user", o.environment, o.class, o.rule, o.workload_name AS "workloadName"
      FROM explained x LEFT JOIN ownership o ON x.day = o.day AND x.subject = o.subject ORDER BY x.place`,
  });
  const categories = await space.ask<{ entryKey: string } & ExplainedEntry['categories'][number]>({
    tables,
    sql: `
      SELECT x.entry_key AS "entryKey", w.category, w.reason, w.usd_micros AS "usdMicros", w.gpu_units AS units,
             ${LOST_SECONDS} AS "lostSeconds", ${ATTEMPT_SECONDS} AS "attemptSeconds"
      FROM waterfall w JOIN explained x ON w.day = x.day AND ${keySql('w')} = x.entry_key
      LEFT JOIN fate f ON w.category IN ('lost', 'computing') AND ${FATE_OF_ROW} ORDER BY x.place, w.category, w.reason`,
  });
  const byKey = new Map<string, ExplainedEntry['categories'][number][]>();
  for (const { entryKey, ...part } of categories) byKey.set(entryKey, [...(byKey.get(entryKey) ?? []), part]);
  return rows.map(({ entryKey, ...row }, place) => ({
    ...row,
    columns: columns[place] ?? {},
    categories: byKey.get(entryKey) ?? [],
  }));
}

/**
 * The rows behind the entries. Day by day: the entries may lie months apart, and what lies between them is never opened, least of
 * all its samples.
 */
async function explainDetail(space: ReadSpace, request: ExplainRequest, truncated: string[]) {
  const limit = request.detailRowsMax;
  await space.ask({
    tables: [],
    sql: `CREATE OR REPLACE TEMP TABLE detailed AS SELECT * FROM explained WHERE place <= ${request.detailedMax}`,
  });
  await space.ask({ tables: [{ table: 'charge_hour', ...daysOf(request.window) }], sql: DETAILED_CHARGE_HOUR });
  const chargeHours = await space.ask<ChargeHourLine>({ tables: [], sql: `${CHARGE_HOURS} LIMIT ${limit + 1}` });
  const charged = await explainCharges(space, chargeHours.slice(0, limit), limit);
  const detail = {
    chargeHours: chargeHours.slice(0, limit),
    charges: charged.charges,
    pools: charged.pools,
    deviceHours: [] as DeviceHour[],
    held: [] as HeldPiece[],
    runs: [] as Run[],
    samples: [] as Sample[],
  };
  const cut = new Set<string>(truncated);
  if (chargeHours.length > limit) cut.add('chargeHours');
  if (charged.truncated) cut.add('charges');
  const days = await space.ask<{ day: string }>({
    tables: [],
    sql: 'SELECT DISTINCT CAST(day AS VARCHAR) AS day FROM detailed WHERE root_device_id IS NOT NULL ORDER BY day',
  });
  for (const { day } of days) {
    const only = { first: day, last: day };
    const ask = async <Row>(what: string, rows: Row[], need: TableNeed, sql: string): Promise<void> => {
      const found = await space.ask<Row>({ tables: [need], sql: `${sql} LIMIT ${limit - rows.length + 1}` });
      if (rows.length + found.length > limit) cut.add(what);
      for (const row of found.slice(0, limit - rows.length)) rows.push(row);
    };
    await space.ask({ tables: [{ table: 'held', ...only }], sql: DETAILED_DEVICE });
    await ask('deviceHours', detail.deviceHours, { table: 'estimate_hour', ...only }, DEVICE_HOURS);
    await ask('held', detail.held, { table: 'held', ...only }, HELD_PIECES);
    await ask('runs', detail.runs, { table: 'run', ...only }, RUNS);
    await ask('samples', detail.samples, { table: 'gpu_sample', first: addDays(day, -1), last: day }, SAMPLES);
  }
  truncated.push(...[...cut].filter((what) => !truncated.includes(what)));
  return { ...detail, machines: await machinesOf(space, detail.deviceHours), samples: onceEach(detail.samples) };
}

/** What the divided machines are made of, each as it was when it is first told. */
async function machinesOf(space: ReadSpace, devices: readonly DeviceHour[]): Promise<MachineParts[]> {
  const first = new Map<string, string>();
  for (const { nodeId, hour, hostWeight } of devices) {
    if (nodeId !== null && hostWeight !== null && !first.has(nodeId)) first.set(nodeId, hour);
  }
  const machines: MachineParts[] = [];
  for (const [nodeId, hour] of [...first].slice(0, MACHINES_MAX)) {
    const parts = await machineParts(space, nodeId, parseTime(hour));
    if (parts !== undefined) machines.push(parts);
  }
  return machines;
}

/** A sample shortly before midnight may speak for both days. */
function onceEach(samples: readonly Sample[]): Sample[] {
  return [...new Map(samples.map((sample) => [`${sample.deviceId} ${sample.ts}`, sample])).values()];
}

const DETAILED_CHARGE_HOUR = `
  CREATE OR REPLACE TEMP TABLE detailed_charge_hour AS
  SELECT c.* FROM charge_hour c JOIN (
    SELECT DISTINCT x.bill_id, x.hour_start, x.node_id, CASE WHEN x.node_id IS NULL THEN x.resource_id END AS resource_id,
           ${KIND} AS kind
    FROM detailed x
  ) x ON c.bill_id = x.bill_id AND c.hour_start = x.hour_start AND c.kind = x.kind
    AND COALESCE(c.node_id, '') = COALESCE(x.node_id, '')
    AND (c.node_id IS NOT NULL OR COALESCE(c.resource_id, '') = COALESCE(x.resource_id, ''))`;

const CHARGE_HOURS = `
  SELECT bill_id AS "billId", hour_start AS hour, kind, node_id AS "nodeId", resource_id AS "resourceId",
         usd_micros AS "usdMicros", marginal_usd_micros AS "marginalUsdMicros"
  FROM detailed_charge_hour ORDER BY bill_id, hour_start, kind, node_id, resource_id`;

/** The devices whose activity counts: for a holder by count, all it may be on. */
const DETAILED_DEVICE = `
  CREATE OR REPLACE TEMP TABLE detailed_device AS
  WITH own AS (
    SELECT h.device_id, h.hour_start, h.node_id, h.pooled FROM held h
    JOIN (SELECT DISTINCT root_device_id, hour_start FROM detailed) x
      ON h.root_device_id = x.root_device_id AND h.hour_start = x.hour_start
  )
  SELECT device_id, hour_start FROM own
  UNION
  SELECT h.device_id, h.hour_start FROM held h JOIN own o
    ON o.pooled AND h.pooled AND h.node_id = o.node_id AND h.hour_start = o.hour_start`;

/** A node's price is split over all its devices, so all of them are told; by a rate a device stands alone. */
const DEVICE_HOURS = `
  SELECT e.root_device_id AS "rootDeviceId", e.hour_start AS hour, e.node_id AS "nodeId", e.model,
         e.present_s AS "presentSeconds", e.presence, e.priced_by AS "pricedBy",
         e.usd_nanos_per_hour AS "usdNanosPerHour", CASE WHEN e.host_nanos > 0 THEN e.gpu_nanos END AS "gpuWeight",
         CASE WHEN e.host_nanos > 0 THEN e.host_nanos END AS "hostWeight"
  FROM estimate_hour e
  LEFT JOIN (SELECT DISTINCT root_device_id, hour_start FROM detailed WHERE root_device_id IS NOT NULL) d
    ON e.root_device_id = d.root_device_id AND e.hour_start = d.hour_start
  LEFT JOIN (SELECT DISTINCT node_id, hour_start FROM detailed WHERE bill_id IS NOT NULL) n
    ON e.node_id = n.node_id AND e.hour_start = n.hour_start
  WHERE d.root_device_id IS NOT NULL OR n.node_id IS NOT NULL
  ORDER BY e.hour_start, e.node_id, e.root_device_id`;

const HELD_PIECES = `
  SELECT h.root_device_id AS "rootDeviceId", h.device_id AS "deviceId", h.node_id AS "nodeId", h.from_at AS "from",
         h.until_at AS until, h.seconds, h.share_units AS "shareUnits", h.source, h.allocation_id AS "allocationId",
         h.attempt, h.disposition, h.reason, h.conflict, h.pooled
  FROM held h JOIN (SELECT DISTINCT root_device_id, hour_start FROM detailed) x
    ON h.root_device_id = x.root_device_id AND h.hour_start = x.hour_start
  ORDER BY h.root_device_id, h.device_id, h.from_at, h.place`;

const RUNS = `
  SELECT DISTINCT r.device_id AS "deviceId", r.class, r.signal, r.from_at AS "from", r.until_at AS until
  FROM run r JOIN detailed_device d ON r.device_id = d.device_id
    AND r.from_at < d.hour_start + INTERVAL '1' HOUR AND r.until_at > d.hour_start
  ORDER BY "deviceId", "from"`;

/** A sample covers at most three steps after it: those that begin before the hour may speak for it too. */
const SAMPLES = `
  SELECT DISTINCT s.device_id AS "deviceId", s.ts, s.step_s AS "stepSeconds", s.engine_permille AS "enginePermille",
         s.sm_permille AS "smPermille", s.util_permille AS "utilPermille", s.power_w AS "powerW"
  FROM gpu_sample s JOIN detailed_device d ON s.device_id = d.device_id
    AND s.ts < d.hour_start + INTERVAL '1' HOUR AND s.ts + s.step_s * INTERVAL '3' SECOND > d.hour_start
  ORDER BY "deviceId", s.ts`;

function camel(column: string): string {
  return column.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
