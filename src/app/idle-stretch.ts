import { addDays, dayOf, parseTime, printTime, startOf } from '../lake/calendar.ts';
import { quote } from '../lake/engine.ts';
import type { ReadSpace } from './workspace.ts';

const CHUNK_DAYS_MAX = 32;

/** A device that is idle up to `knownUntil`. */
export interface IdleDevice {
  readonly deviceId: string;
  readonly knownUntil: Date;
  /** Before this nobody asks. */
  readonly heldFrom: Date | undefined;
}

/**
 * Question: since when has each device been idle without a break?
 *
 * Runs are kept by day, and most stretches are hours long: days are opened going back, twice as many each time, only while a
 * stretch still reaches the first second of what was read. A gap is a break: nothing is known of it.
 *
 * Reads: run.
 */
export async function idleSince(space: ReadSpace, devices: readonly IdleDevice[]): Promise<Map<string, Date>> {
  const since = new Map<string, Date>();
  const heldFrom = new Map<string, Date | undefined>();
  for (const { deviceId, knownUntil, heldFrom: held } of devices) {
    since.set(deviceId, knownUntil);
    const other = heldFrom.get(deviceId);
    // A shared device is followed for the holder that has had it longest.
    const isFirst = !heldFrom.has(deviceId);
    heldFrom.set(
      deviceId,
      isFirst ? held : other === undefined || held === undefined ? undefined : other < held ? other : held,
    );
  }
  let open = [...since.keys()];
  let last = open.map((id) => lastDayOf(since.get(id))).reduce((a, b) => (a > b ? a : b), '');
  let size = 1;
  while (open.length > 0 && last >= (space.scope?.days[0] ?? '9999')) {
    const first = addDays(last, 1 - size);
    const begun = await stretchBegins(space, first, last, open, since);
    for (const [deviceId, begins] of begun) since.set(deviceId, begins);
    const edge = startOf(first);
    open = open.filter((deviceId) => {
      const begins = since.get(deviceId) ?? edge;
      const held = heldFrom.get(deviceId);
      return begins.getTime() <= edge.getTime() && (held === undefined || held < begins);
    });
    last = addDays(first, -1);
    size = Math.min(size * 2, CHUNK_DAYS_MAX);
  }
  return since;
}

/** The day on which the last second before a time lies. */
function lastDayOf(time: Date | undefined): string {
  return time === undefined ? '' : dayOf(new Date(time.getTime() - 1000));
}

/** How far back each stretch that ends at `ends` reaches within these days; not in the answer if not at all. */
async function stretchBegins(
  space: ReadSpace,
  first: string,
  last: string,
  deviceIds: readonly string[],
  ends: ReadonlyMap<string, Date>,
): Promise<Map<string, Date>> {
  const rows = deviceIds.map((id) => `(${quote(id)}, TIMESTAMP '${printTime(ends.get(id) ?? startOf(last))}')`);
  const answer = await space.ask<{ deviceId: string; begins: string }>({
    tables: [{ table: 'run', first, last }],
    sql: `
      WITH stretch AS (
        SELECT * FROM (VALUES ${rows.join(', ')}) AS v(device_id, ends_at)
      ), spell AS (
        SELECT r.device_id, r.class, r.from_at, CASE WHEN r.until_at > s.ends_at THEN s.ends_at ELSE r.until_at END AS until_at,
               COALESCE(lead(r.from_at) OVER (PARTITION BY r.device_id ORDER BY r.from_at), s.ends_at) AS next_from
        FROM run r JOIN stretch s ON r.device_id = s.device_id AND r.from_at < s.ends_at
      ), broken AS (
        SELECT device_id, max(CASE WHEN next_from > until_at THEN next_from WHEN class <> 'idle' THEN until_at END) AS broken_at,
               min(from_at) AS first_at
        FROM spell GROUP BY device_id
      )
      SELECT device_id AS "deviceId", COALESCE(broken_at, first_at) AS begins FROM broken`,
  });
  return new Map(answer.map(({ deviceId, begins }) => [deviceId, parseTime(begins)]));
}
