import { BUSY_PERMILLE_MIN, PARKED_MIB_MIN, type PowerSeen } from '../../facts/rest-power.ts';
import { addDays, dayOf, parseTime } from '../../lake/calendar.ts';
import type { ReadSpace } from '../workspace.ts';
import type { StatedRate } from './model-price.ts';

/** What the lake knows of a device from before the first look of this run. */
export interface DevicePast {
  /** The last moment at which it computed, or before which nothing is known. */
  readonly quietSince: Date;
  /** What it drew yesterday and today. */
  readonly power: PowerSeen | null;
}

export interface WatchPast {
  readonly devices: ReadonlyMap<string, DevicePast>;
  readonly rates: readonly StatedRate[];
}

const DAYS_BACK = 14;

/** Counts come as numbers or as bigint, as the engine has them. */
interface PastRow {
  readonly deviceId: string;
  readonly quietSince: string;
  readonly leastW: number | null;
  readonly emptyCount: number | bigint;
  readonly busyCount: number | bigint;
  readonly busyW: number | bigint;
}

function powerOf({ leastW, emptyCount, busyCount, busyW }: PastRow): PowerSeen | null {
  if (leastW === null) return null;
  return { leastW, wasEmpty: Number(emptyCount) > 0, busyCount: Number(busyCount), busyW: Number(busyW) };
}

/**
 * Questions: since when is each device of this machine quiet without a gap, what does it draw when idle, and which rates are stated?
 *
 * A gap of more than three steps is a break, as in the ledger: nobody looked. Reads: gpu_sample, rate.
 */
export async function watchPast(space: ReadSpace, deviceIds: readonly string[], at: Date): Promise<WatchPast> {
  const last = dayOf(at);
  const samples = { table: 'gpu_sample', first: addDays(last, -DAYS_BACK), last };
  const placed = Object.fromEntries(deviceIds.map((id, index) => [`device${index}`, id]));
  const names = Object.keys(placed).map((name) => `$${name}`);
  const pasts =
    names.length === 0
      ? []
      : await space.ask<PastRow>({
          tables: [samples],
          params: { ...placed, yesterday: `${addDays(last, -1)} 00:00:00` },
          sql: `
            WITH sample AS (
              SELECT device_id, ts, step_s, fb_used_mib,
                     CASE WHEN power_w > 0 AND ts >= CAST($yesterday AS TIMESTAMP) THEN power_w END AS recent_w,
                     COALESCE(engine_permille, sm_permille, util_permille) AS signal,
                     lag(ts) OVER (PARTITION BY device_id ORDER BY ts) AS before
              FROM gpu_sample WHERE device_id IN (${names.join(', ')})
            )
            SELECT device_id AS "deviceId",
                   max(CASE WHEN before IS NULL OR signal IS NULL OR signal >= 10 OR date_diff('second', before, ts) > 3 * step_s
                       THEN ts END) AS "quietSince",
                   min(recent_w) AS "leastW", count(CASE WHEN fb_used_mib < ${PARKED_MIB_MIN} THEN recent_w END) AS "emptyCount",
                   count(CASE WHEN signal >= ${BUSY_PERMILLE_MIN} THEN recent_w END) AS "busyCount",
                   COALESCE(CAST(sum(CASE WHEN signal >= ${BUSY_PERMILLE_MIN} THEN recent_w END) AS BIGINT), 0) AS "busyW"
            FROM sample GROUP BY device_id`,
        });
  const rates = await space.ask<{ model: string | null; node: string | null; usd: string }>({
    tables: [{ table: 'rate' }],
    params: { at: at.toISOString().slice(0, 19).replace('T', ' ') },
    sql: `SELECT model, node_id AS node, CAST(usd_per_gpu_hour AS VARCHAR) AS usd FROM rate
          WHERE valid_from <= CAST($at AS TIMESTAMP) AND (valid_until IS NULL OR valid_until > CAST($at AS TIMESTAMP))
          ORDER BY valid_from DESC, model, node_id`,
  });
  return {
    devices: new Map(
      pasts.map((past) => [past.deviceId, { quietSince: parseTime(past.quietSince), power: powerOf(past) }]),
    ),
    rates: rates.map(({ model, node, usd }) => ({
      usdPerGpuHour: usd,
      ...(node !== null && node !== '' ? { node } : { model: model === null || model === '' ? '*' : model }),
    })),
  };
}
