import { parseTime } from '../../lake/calendar.ts';
import { parseDecimal } from '../../money/usd.ts';
import type { KnownWork } from '../../report/work-page.ts';
import type { ReadSpace } from '../workspace.ts';
import { QUANTITY_DIGITS } from './work-done.ts';

interface Row {
  readonly name: string | null;
  readonly unit: string;
  readonly source: string;
  readonly quantity: string;
  readonly counters: bigint;
  readonly firstAt: string;
  readonly lastAt: string;
}

/** Question: which work is known, by model or run and unit, how much of it, and until when? Reads: work. */
export async function knownWork(space: ReadSpace): Promise<KnownWork[]> {
  const rows = await space.ask<Row>({
    tables: [{ table: 'work' }],
    sql: `SELECT COALESCE(model_name, run, allocation_id) AS name, unit, source,
                 CAST(CAST(sum(quantity) AS DECIMAL(38, 6)) AS VARCHAR) AS quantity, count(DISTINCT work_id) AS counters,
                 min(window_from) AS "firstAt", max(COALESCE(window_until, window_from)) AS "lastAt"
          FROM work GROUP BY COALESCE(model_name, run, allocation_id), unit, source
          ORDER BY "lastAt" DESC, name, unit, source`,
  });
  return rows.map(({ quantity, counters, firstAt, lastAt, ...row }) => ({
    ...row,
    quantityMillionths: parseDecimal(quantity, QUANTITY_DIGITS) ?? 0n,
    counters: Number(counters),
    firstAt: parseTime(firstAt),
    lastAt: parseTime(lastAt),
  }));
}
