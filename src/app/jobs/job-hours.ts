import { quote } from '../../lake/engine.ts';
import type { JobHoursAnswer } from '../../report/job-hours.ts';
import type { JobAnswer } from '../../report/job-page.ts';
import { cells } from '../fleet/cells.ts';
import { mapStep } from '../fleet/map-step.ts';
import { ledgerWindow } from '../window.ts';
import type { LedgerWindow } from '../window.ts';
import type { ReadSpace } from '../workspace.ts';

/** The window is the job's days, cut to the hours it held anything. */
export interface JobHours extends JobHoursAnswer {
  readonly window: LedgerWindow;
}

/** Rows of activity that fit a page; the others are in `devices`. */
const LINES_MAX = 64;

/**
 * Question: when did a job spend its money, what did its GPUs do then, and by which rule is it somebody's?
 *
 * Reads, of the days it held anything: waterfall, ownership, and what `cells` reads of its devices.
 */
export async function jobHours(space: ReadSpace, answer: JobAnswer): Promise<JobHours> {
  const window = windowOf(space, answer);
  const subjects = answer.attempts.map(({ attempt }) => `job ${answer.source}/${answer.allocationId}/${attempt}`);
  const list = subjects.map(quote).join(', ');
  const days = { first: window.days[0] ?? '', last: window.days.at(-1) ?? '' };
  if (window.days.length === 0) return { window, hours: [], stepSeconds: 3600, lines: [], rule: null };
  const hours = await space.ask<JobHoursAnswer['hours'][number]>({
    tables: [{ table: 'waterfall', ...days }],
    params: { now: answer.asOf },
    sql: `SELECT hour_start AS hour, category, CAST(sum(usd_micros) AS BIGINT) AS "usdMicros",
                 CAST(sum(gpu_units) AS BIGINT) AS "gpuUnits",
                 CAST(COALESCE(sum(CASE WHEN usd_micros IS NULL THEN gpu_units END), 0) AS BIGINT) AS "unpricedUnits"
          FROM waterfall
          WHERE subject IN (${list}) AND hour_start < $now GROUP BY hour_start, category ORDER BY hour_start, category`,
  });
  const [owner] = await space.ask<{ rule: string | null }>({
    tables: [{ table: 'ownership', ...days }],
    sql: `SELECT rule FROM ownership WHERE subject IN (${list}) ORDER BY day DESC, subject DESC LIMIT 1`,
  });
  const devices = answer.devices.slice(0, LINES_MAX).map(({ deviceId }) => deviceId);
  const stepSeconds = await mapStep(space, undefined, { window, measure: 'activity', gpus: devices.length });
  const lines =
    devices.length === 0
      ? []
      : await cells(space, {
          window,
          measure: 'activity',
          stepSeconds,
          filters: [{ dimension: { name: 'device', entryColumn: 'w.device_id' }, values: devices }],
          by: 'gpu',
          subjects,
        });
  return {
    window,
    hours,
    stepSeconds,
    lines: lines.flatMap(({ deviceId, nodeId, cells: letters }) =>
      deviceId === null ? [] : [{ deviceId, nodeId, cells: letters }],
    ),
    rule: owner?.rule ?? null,
  };
}

/** From the hour of its first GPU to the hour of its last. */
function windowOf(space: ReadSpace, { attempts, asOf }: JobAnswer): LedgerWindow {
  const HOUR_MS = 3_600_000;
  const from = attempts.map(({ heldFrom }) => heldFrom.getTime()).reduce((a, b) => (a < b ? a : b), asOf.getTime());
  const until = attempts.map(({ heldUntil }) => (heldUntil ?? asOf).getTime()).reduce((a, b) => (a > b ? a : b), 0);
  const text = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;
  const begin = Math.floor(from / HOUR_MS) * HOUR_MS;
  const end = Math.max(begin + HOUR_MS, Math.ceil(until / HOUR_MS) * HOUR_MS);
  return ledgerWindow(`${text(begin)}/${text(end)}`, asOf, space.scope);
}
