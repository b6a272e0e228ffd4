import { SHARE_UNITS } from '../facts/column.ts';
import { parseTime } from '../lake/calendar.ts';
import type { LedgerFault } from '../report/ledger-check-page.ts';
import type { DayChunk } from './ledger-days.ts';
import type { ReadSpace } from './workspace.ts';

/** Of each kind of fault so many are shown; all are counted. */
const SHOWN_MAX = 5;
const HOUR_MS = 3_600_000;

/** The columns that tell entries apart; the waterfall has them too. Of what is held it has reasons of its own (`entryReason`). */
export const ENTRY_KEY = [
  'hour_start',
  'basis',
  'bill_id',
  'resource_id',
  'node_id',
  'device_id',
  'root_device_id',
  'source',
  'allocation_id',
  'attempt',
  'component',
  'disposition',
] as const;

/** The reason an entry has, from a row of the ledger or of the waterfall. */
export const entryReason = (row: string): string => `CASE WHEN ${row}.disposition <> 'held' THEN ${row}.reason END`;

/** The entries of some days, added up by what the check needs to know. */
export interface EntrySum {
  readonly billId: string | null;
  readonly basis: string;
  readonly isRounding: boolean;
  readonly isDevice: boolean;
  readonly usdMicros: bigint | null;
  readonly units: bigint;
}

export async function entrySums(space: ReadSpace, chunk: DayChunk): Promise<EntrySum[]> {
  return space.ask<EntrySum>({
    tables: [{ table: 'ledger_entry', ...chunk }],
    sql: `
      SELECT bill_id AS "billId", basis, disposition = 'rounding' AS "isRounding",
             root_device_id IS NOT NULL AS "isDevice", CAST(sum(usd_micros) AS BIGINT) AS "usdMicros",
             CAST(sum(gpu_units) AS BIGINT) AS units
      FROM ledger_entry GROUP BY bill_id, basis, disposition = 'rounding', root_device_id IS NOT NULL`,
  });
}

/** What of the paid money is nobody's or unknown, and what has no price. */
export interface OpenSums {
  readonly unattributed: bigint;
  readonly unknown: bigint;
  readonly unpricedUnits: bigint;
}

export async function openSums(space: ReadSpace, chunk: DayChunk): Promise<OpenSums> {
  const [row] = await space.ask<OpenSums>({
    tables: [{ table: 'owned_spend_day', ...chunk }],
    sql: `
      SELECT CAST(COALESCE(sum(usd_micros) FILTER (WHERE team IS NULL), 0) AS BIGINT) AS unattributed,
             CAST(COALESCE(sum(usd_micros) FILTER (WHERE category = 'unknown'), 0) AS BIGINT) AS unknown,
             CAST(COALESCE(sum(unpriced_units), 0) AS BIGINT) AS "unpricedUnits"
      FROM owned_spend_day`,
  });
  return row ?? { unattributed: 0n, unknown: 0n, unpricedUnits: 0n };
}

const HOURS_A_DAY = 24;

/** What inside the ledger does not add up: splits, categories, sums by day, seconds. Nothing, if all is well. */
export async function innerFaults(space: ReadSpace, chunk: DayChunk, rowsMax: number): Promise<LedgerFault[]> {
  // Entries are told apart by a dozen texts: a day of ten thousand GPUs is compared some hours at a time.
  const parts = Math.min(HOURS_A_DAY, Math.ceil(chunk.rows / rowsMax));
  const categories: LedgerFault[] = [];
  for (let part = 0; part < parts; part += 1) categories.push(...(await categoryFaults(space, chunk, { part, parts })));
  return [
    ...(await splitFaults(space, chunk)),
    ...categories,
    ...(await dayFaults(space, chunk)),
    ...(await secondsFaults(space, chunk)),
  ];
}

interface FaultRow {
  readonly place: string;
  readonly want: string;
  readonly got: string;
  readonly cases: bigint;
}

function asFaults(check: string, rows: readonly FaultRow[]): LedgerFault[] {
  const [first] = rows;
  if (first === undefined) return [];
  return [{ check, cases: Number(first.cases), examples: rows.map(({ place, want, got }) => ({ place, want, got })) }];
}

async function splitFaults(space: ReadSpace, chunk: DayChunk): Promise<LedgerFault[]> {
  const rows = await space.ask<FaultRow>({
    tables: [{ table: 'ledger_entry', ...chunk }],
    sql: `
      WITH device_hour AS (
        SELECT root_device_id, hour_start, bill_id, component, CAST(sum(usd_micros) AS BIGINT) AS micros,
               min(split_of_usd_micros) AS least, max(split_of_usd_micros) AS most,
               CAST(sum(split_weight) AS BIGINT) AS weight, max(split_total) AS total
        FROM ledger_entry WHERE root_device_id IS NOT NULL GROUP BY root_device_id, hour_start, bill_id, component
      )
      SELECT root_device_id || ' ' || CAST(hour_start AS VARCHAR) || COALESCE(' ' || bill_id, '') ||
               CASE WHEN component = 'gpu' THEN '' ELSE ' ' || component END AS place,
             COALESCE(CAST(most AS VARCHAR), 'no price') || ' micros over ' || CAST(total AS VARCHAR) AS want,
             COALESCE(CAST(micros AS VARCHAR), 'no price') || ' micros over ' || CAST(weight AS VARCHAR) AS got,
             count(*) OVER () AS cases
      FROM device_hour
      WHERE micros IS DISTINCT FROM most OR least IS DISTINCT FROM most OR weight <> total
      ORDER BY place LIMIT ${SHOWN_MAX}`,
  });
  return asFaults('the entries of a device-hour add up to its price', rows);
}

/** An entry of nothing, no time and no money, has no category. */
async function categoryFaults(
  space: ReadSpace,
  chunk: DayChunk,
  { part, parts }: { readonly part: number; readonly parts: number },
): Promise<LedgerFault[]> {
  const ofPart = `extract(hour FROM hour_start) % ${parts} = ${part}`;
  const key = [...ENTRY_KEY, 'entry_reason'].join(', ');
  const columns = (row: string): string => `${ENTRY_KEY.join(', ')}, ${entryReason(row)} AS entry_reason`;
  const rows = await space.ask<FaultRow>({
    tables: [
      { table: 'ledger_entry', ...chunk },
      { table: 'waterfall', ...chunk },
    ],
    sql: `
      WITH both_sides AS (
        SELECT ${columns('ledger_entry')}, usd_micros AS want_micros, gpu_units AS want_units, CAST(NULL AS BIGINT) AS got_micros,
               CAST(0 AS BIGINT) AS got_units FROM ledger_entry WHERE ${ofPart}
        UNION ALL
        SELECT ${columns('waterfall')}, NULL, 0, usd_micros, gpu_units FROM waterfall WHERE ${ofPart}
      ), entry AS (
        SELECT ${key}, CAST(sum(want_micros) AS BIGINT) AS want_micros, CAST(sum(got_micros) AS BIGINT) AS got_micros,
               CAST(sum(want_units) AS BIGINT) AS want_units, CAST(sum(got_units) AS BIGINT) AS got_units
        FROM both_sides GROUP BY ${key}
      )
      SELECT COALESCE(device_id, node_id, resource_id, bill_id, '') || ' ' || CAST(hour_start AS VARCHAR) ||
               COALESCE(' ' || allocation_id, '') AS place,
             COALESCE(CAST(want_micros AS VARCHAR), 'no price') || ' micros, ' || CAST(want_units AS VARCHAR) AS want,
             COALESCE(CAST(got_micros AS VARCHAR), 'no price') || ' micros, ' || CAST(got_units AS VARCHAR) AS got,
             count(*) OVER () AS cases
      FROM entry WHERE (want_micros IS DISTINCT FROM got_micros OR want_units <> got_units)
        AND NOT (COALESCE(want_micros, 1) = 0 AND got_micros IS NULL AND want_units = 0 AND got_units = 0)
      ORDER BY place LIMIT ${SHOWN_MAX}`,
  });
  return asFaults('the categories of an entry add up to it', rows);
}

async function dayFaults(space: ReadSpace, chunk: DayChunk): Promise<LedgerFault[]> {
  const side = (table: string, sign: 'want' | 'got'): string => `
    SELECT day, category, reason, component, basis, '${sign}' AS side, CAST(sum(usd_micros) AS BIGINT) AS micros,
           CAST(sum(gpu_units) AS BIGINT) AS units
    FROM ${table} GROUP BY day, category, reason, component, basis`;
  const rows = await space.ask<FaultRow>({
    tables: [
      { table: 'waterfall', ...chunk },
      { table: 'spend_day', ...chunk },
    ],
    sql: `
      WITH both_sides AS (${side('waterfall', 'want')} UNION ALL ${side('spend_day', 'got')}), summed AS (
        SELECT day, category, reason, component, basis, max(micros) FILTER (WHERE side = 'want') AS want_micros,
               max(micros) FILTER (WHERE side = 'got') AS got_micros,
               max(units) FILTER (WHERE side = 'want') AS want_units, max(units) FILTER (WHERE side = 'got') AS got_units
        FROM both_sides GROUP BY day, category, reason, component, basis
      )
      SELECT CAST(day AS VARCHAR) || ' ' || category || COALESCE(' ' || reason, '') || ', ' || component || ', ' || basis AS place,
             COALESCE(CAST(want_micros AS VARCHAR), 'nothing') AS want,
             COALESCE(CAST(got_micros AS VARCHAR), 'nothing') AS got, count(*) OVER () AS cases
      FROM summed WHERE want_micros IS DISTINCT FROM got_micros OR want_units IS DISTINCT FROM got_units
      ORDER BY place LIMIT ${SHOWN_MAX}`,
  });
  return asFaults('the sums of a day are those of its entries', rows);
}

/** Seconds of a GPU without slices are its presence; those of one with slices are integrated here, moment by moment. */
async function secondsFaults(space: ReadSpace, chunk: DayChunk): Promise<LedgerFault[]> {
  const tables = ['ledger_entry', 'estimate_hour', 'presence'].map((table) => ({ table, ...chunk }));
  const counted = `
    sliced AS (SELECT DISTINCT day, root_device_id FROM presence WHERE is_slice
    ), counted AS (
      SELECT day, root_device_id, hour_start, CAST(sum(gpu_units) AS BIGINT) AS units
      FROM ledger_entry WHERE root_device_id IS NOT NULL GROUP BY day, root_device_id, hour_start
    )`;
  const plain = await space.ask<FaultRow>({
    tables,
    sql: `
      WITH ${counted}
      SELECT COALESCE(e.root_device_id, c.root_device_id) || ' ' ||
               CAST(COALESCE(e.hour_start, c.hour_start) AS VARCHAR) AS place,
             CAST(COALESCE(e.present_s, 0) * ${SHARE_UNITS} AS VARCHAR) AS want,
             CAST(COALESCE(c.units, 0) AS VARCHAR) AS got, count(*) OVER () AS cases
      FROM estimate_hour e
      FULL OUTER JOIN counted c ON e.root_device_id = c.root_device_id AND e.hour_start = c.hour_start
      LEFT JOIN sliced s ON COALESCE(e.day, c.day) = s.day AND COALESCE(e.root_device_id, c.root_device_id) = s.root_device_id
      WHERE s.day IS NULL AND COALESCE(e.present_s, 0) * ${SHARE_UNITS} <> COALESCE(c.units, 0)
      ORDER BY place LIMIT ${SHOWN_MAX}`,
  });
  const spells = await space.ask<Spell>({
    tables,
    sql: `
      WITH ${counted}
      SELECT p.root_device_id AS root, p.is_slice AS "isSlice", p.capacity_units AS units, p.from_at AS "from",
             p.until_at AS until
      FROM presence p JOIN sliced s ON p.day = s.day AND p.root_device_id = s.root_device_id`,
  });
  const got = await space.ask<{ root: string; hour: string; units: bigint }>({
    tables,
    sql: `
      WITH ${counted}
      SELECT c.root_device_id AS root, c.hour_start AS hour, c.units
      FROM counted c JOIN sliced s ON c.day = s.day AND c.root_device_id = s.root_device_id`,
  });
  const gotOf = new Map(got.map(({ root, hour, units }) => [`${root} ${hour}`, units]));
  const wantOf = slicedUnits(spells);
  const off = [...new Set([...gotOf.keys(), ...wantOf.keys()])]
    .filter((place) => (gotOf.get(place) ?? 0n) !== (wantOf.get(place) ?? 0n))
    .toSorted();
  const sliced = off.slice(0, SHOWN_MAX).map((place) => ({
    place,
    want: String(wantOf.get(place) ?? 0n),
    got: String(gotOf.get(place) ?? 0n),
    cases: BigInt(off.length),
  }));
  const check = 'the seconds of a device-hour are those it was there';
  return [...asFaults(check, plain), ...asFaults(check, sliced)];
}

interface Spell {
  readonly root: string;
  readonly isSlice: boolean;
  readonly units: bigint;
  readonly from: string;
  readonly until: string;
}

/** Unit-seconds by root and hour: slices as they are, the GPU for what they leave of it. */
function slicedUnits(spells: readonly Spell[]): ReadonlyMap<string, bigint> {
  const byRoot = new Map<string, { isSlice: boolean; units: bigint; from: number; until: number }[]>();
  for (const { root, isSlice, units, from, until } of spells) {
    const own = byRoot.get(root) ?? [];
    own.push({ isSlice, units, from: parseTime(from).getTime(), until: parseTime(until).getTime() });
    byRoot.set(root, own);
  }
  const sums = new Map<string, bigint>();
  for (const [root, own] of byRoot) {
    const edges = own.flatMap(({ from, until }) => {
      const hours: number[] = [from, until];
      for (let hour = Math.ceil(from / HOUR_MS) * HOUR_MS; hour < until; hour += HOUR_MS) hours.push(hour);
      return hours;
    });
    const times = [...new Set(edges)].sort((a, b) => a - b);
    for (const [place, from] of times.slice(0, -1).entries()) {
      const there = own.filter((spell) => spell.from <= from && spell.until > from);
      const slices = there.filter(({ isSlice }) => isSlice).reduce((total, { units }) => total + units, 0n);
      const hasGpu = there.some(({ isSlice }) => !isSlice);
      const units = hasGpu && slices < BigInt(SHARE_UNITS) ? BigInt(SHARE_UNITS) : slices;
      const key = `${root} ${new Date(from - (from % HOUR_MS)).toISOString().slice(0, 19).replace('T', ' ')}`;
      const seconds = BigInt(((times[place + 1] ?? from) - from) / 1000);
      if (units * seconds > 0n) sums.set(key, (sums.get(key) ?? 0n) + units * seconds);
    }
  }
  return sums;
}
