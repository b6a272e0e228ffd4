import type { Question } from '../../lake/ask.ts';
import { quote } from '../../lake/engine.ts';
import type { CategorySum } from '../../report/look-screen.ts';
import type { WasteRow } from '../../report/waste/waste-answer.ts';
import { filterSql } from '../filter.ts';
import type { Filter } from '../filter.ts';
import { daysOf } from '../window.ts';
import type { LedgerWindow } from '../window.ts';
import type { ReadSpace } from '../workspace.ts';
import { subjectRows } from './subject-rows.ts';

type BareRow = Omit<WasteRow, 'team' | 'user' | 'name'>;

interface FoundRow {
  readonly subject: string;
  readonly jobId: string | null;
  readonly nodeId: string | null;
  readonly deviceId: string | null;
  readonly nodes: bigint;
  readonly devices: bigint;
  readonly model: string | null;
  readonly firstDay: string;
  readonly lastDay: string;
  readonly days: bigint;
  readonly usdMicros: bigint | null;
  readonly gpuUnits: bigint;
  readonly unpricedUnits: bigint;
  readonly subjects: bigint;
  readonly allUsdMicros: bigint | null;
  readonly allGpuUnits: bigint;
  readonly allUnpricedUnits: bigint;
}

export interface DearestRows {
  readonly rows: readonly WasteRow[];
  /** All there are, and what they come to. */
  readonly subjects: number;
  readonly sum: CategorySum;
}

/**
 * Question: what does the money of some filters consist of, by what it is posted to, the dearest first?
 *
 * Money of shared pools is with its pool here. Reads: subject_day, and of days that are cut, or where a filter asks for more than it has,
 * the waterfall; ownership of the rows that are shown, of all where a filter asks for owners.
 */
export async function dearestRows(
  space: ReadSpace,
  request: { readonly window: LedgerWindow; readonly filters: readonly Filter[]; readonly rowsMax: number },
): Promise<DearestRows> {
  const { window, filters, rowsMax } = request;
  const found = window.days.length === 0 ? [] : await space.ask<FoundRow>(rowsQuestion(window, filters, rowsMax));
  const [first] = found;
  const rows = found.map((row) => ({
    subject: row.subject,
    jobId: row.jobId,
    nodeId: row.nodeId,
    deviceId: row.deviceId,
    nodes: Number(row.nodes),
    devices: Number(row.devices),
    model: row.model,
    firstDay: row.firstDay,
    lastDay: row.lastDay,
    days: Number(row.days),
    sum: { usdMicros: row.usdMicros, gpuUnits: row.gpuUnits, unpricedUnits: row.unpricedUnits },
  }));
  return {
    rows: await withOwners(space, window, rows),
    subjects: Number(first?.subjects ?? 0n),
    sum: {
      usdMicros: first === undefined ? 0n : first.allUsdMicros,
      gpuUnits: first?.allGpuUnits ?? 0n,
      unpricedUnits: first?.allUnpricedUnits ?? 0n,
    },
  };
}

function rowsQuestion(window: LedgerWindow, filters: readonly Filter[], rowsMax: number): Question {
  const parts = subjectRows(window, filters);
  const asksOwner = filters.some(({ dimension }) => dimension.entryColumn.startsWith('o.'));
  const condition = filterSql(filters, ({ entryColumn }) => entryColumn);
  return {
    tables: [...parts.tables, ...(asksOwner ? [{ table: 'ownership', ...daysOf(window) }] : [])],
    params: { ...parts.params, ...condition.params },
    sql: `
      SELECT w.subject, min(w.allocation_id) AS "jobId", min(w.node_id) AS "nodeId", min(w.device_id) AS "deviceId",
             count(DISTINCT w.node_id) AS nodes, count(DISTINCT w.device_id) AS devices, min(w.model) AS model,
             CAST(min(w.day) AS VARCHAR) AS "firstDay", CAST(max(w.day) AS VARCHAR) AS "lastDay", count(DISTINCT w.day) AS days,
             CAST(sum(w.usd_micros) AS BIGINT) AS "usdMicros", CAST(sum(w.gpu_units) AS BIGINT) AS "gpuUnits",
             CAST(sum(w.unpriced_units) AS BIGINT) AS "unpricedUnits", count(*) OVER () AS subjects,
             CAST(sum(sum(w.usd_micros)) OVER () AS BIGINT) AS "allUsdMicros",
             CAST(sum(sum(w.gpu_units)) OVER () AS BIGINT) AS "allGpuUnits",
             CAST(sum(sum(w.unpriced_units)) OVER () AS BIGINT) AS "allUnpricedUnits"
      FROM (${parts.sql}) w ${asksOwner ? 'LEFT JOIN ownership o ON w.day = o.day AND w.subject = o.subject' : ''}
      WHERE ${condition.sql}
      GROUP BY w.subject
      ORDER BY COALESCE("usdMicros", 0) DESC, "gpuUnits" DESC, w.subject LIMIT ${rowsMax}`,
  };
}

/** What the rules say of each on its last day. */
async function withOwners(space: ReadSpace, window: LedgerWindow, rows: readonly BareRow[]): Promise<WasteRow[]> {
  if (rows.length === 0) return [];
  const owners = await space.ask<{ subject: string; team: string | null; user: string | null; name: string | null }>({
    tables: [{ table: 'ownership', ...daysOf(window) }],
    sql: `SELECT subject, team, user_name AS "user", workload_name AS name FROM (
            SELECT *, row_number() OVER (PARTITION BY subject ORDER BY day DESC) AS place FROM ownership
            WHERE subject IN (${rows.map(({ subject }) => quote(subject)).join(', ')})
          ) o WHERE place = 1`,
  });
  return rows.map((row) => {
    const owner = owners.find(({ subject }) => subject === row.subject);
    return { ...row, team: owner?.team ?? null, user: owner?.user ?? null, name: owner?.name ?? null };
  });
}
