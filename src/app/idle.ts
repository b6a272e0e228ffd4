import { SHARE_UNITS } from '../facts/column.ts';
import { addDays, dayOf, parseTime, printTime } from '../lake/calendar.ts';
import { quote } from '../lake/engine.ts';
import type { IdleHolding, IdleNow } from '../report/idle-list.ts';
import type { Now } from './now.ts';
import { lastKnownMoment } from './now.ts';
import { idleSince } from './idle-stretch.ts';
import type { ReadSpace } from './workspace.ts';

const SECOND_MS = 1000;
const HOUR_MS = 3_600_000;
/** A device is current if it was heard of so shortly before now, or within three of its own steps. */
const CURRENT_SECONDS = 600;
const CURRENT_STEPS = 3;

/** A device and who holds it now; several rows where it is shared. */
interface HeldDevice {
  readonly deviceId: string;
  readonly rootDeviceId: string;
  readonly nodeId: string | null;
  readonly source: string | null;
  readonly allocationId: string | null;
  readonly attempt: bigint | null;
  readonly shareUnits: bigint;
  readonly pooled: boolean;
  readonly presentUntil: string;
  readonly heldFrom: string | null;
  readonly class: string | null;
  readonly knownUntil: string | null;
}

/** A device that is idle now, and since when this holder has had it idle. */
interface Stretch extends HeldDevice {
  readonly subject: string;
  readonly since: Date;
  readonly until: Date;
}

/** What of the list a question needs; what it does not need is not asked for. */
interface IdleNeed {
  /** Only what these people hold. */
  readonly users?: readonly string[];
  /** Without the money so far, which goes back as far as the longest stretch: null then, as where there is no price. */
  readonly soFar?: boolean;
}

/**
 * Question: who holds GPUs now that nobody uses, since when, and at what price?
 *
 * A stretch of idleness ends, going back, at the first second that computed, is unknown or was not sampled, and never
 * begins before the holder had the device. A holder by count has no device of its own: it is idle while all devices
 * it may be on are.
 *
 * Reads: held, holding, run, gpu_sample, ledger_entry, subject_day, waterfall, gpu_hour, ownership.
 */
export async function idleNow(space: ReadSpace, now: Now, need: IdleNeed = {}): Promise<IdleNow> {
  const nothing = {
    asOf: now.at,
    asOfBy: now.by,
    newestFact: space.scope?.horizon,
    holdings: [],
    silentGpus: 0,
    heldGpus: 0,
  };
  if (space.scope === undefined) return nothing;
  const moment = lastKnownMoment(now.at, space.scope.horizon);
  if (moment === undefined) return nothing;
  const held = await currentDevices(space, moment, await devicesHeld(space, moment));
  const idle = withoutBusyPools(held);
  const silent = held.filter((device) => device.class === null || device.class === 'unknown');
  return {
    ...nothing,
    holdings: await holdingsOf(space, moment, await stretchesOf(space, moment, idle), need),
    silentGpus: new Set(silent.map(({ deviceId }) => deviceId)).size,
    heldGpus: new Set(held.map(({ deviceId }) => deviceId)).size,
  };
}

/** The last piece of time of each device before the moment, if somebody held it, with the last run of the device. */
async function devicesHeld(space: ReadSpace, moment: Date): Promise<HeldDevice[]> {
  const last = dayOf(new Date(moment.getTime() - SECOND_MS));
  const first = addDays(last, -1);
  return space.ask<HeldDevice>({
    tables: ['held', 'holding', 'run'].map((table) => ({ table, first, last })),
    params: { moment },
    sql: `
      WITH piece AS (
        SELECT * FROM (
          SELECT held.*, rank() OVER (PARTITION BY device_id ORDER BY from_at DESC) AS recency
          FROM held WHERE from_at < $moment
        ) ranked WHERE recency = 1 AND disposition = 'held'
      ), last_run AS (
        SELECT device_id, class, until_at FROM (
          SELECT run.*, row_number() OVER (PARTITION BY device_id ORDER BY from_at DESC) AS recency
          FROM run WHERE from_at < $moment
        ) ranked WHERE recency = 1
      ), held_since AS (
        SELECT p.device_id, p.place, max(h.held_from) AS held_from
        FROM piece p JOIN holding h ON p.day = h.day AND p.source = h.source AND p.allocation_id = h.allocation_id
          AND p.attempt = h.attempt AND h.held_from <= p.from_at
          AND (h.device_id = p.device_id OR (h.device_id IS NULL AND h.node_id = p.node_id))
        GROUP BY p.device_id, p.place
      )
      SELECT p.device_id AS "deviceId", p.root_device_id AS "rootDeviceId", p.node_id AS "nodeId", p.source,
             p.allocation_id AS "allocationId", p.attempt, p.share_units AS "shareUnits", p.pooled,
             CASE WHEN p.until_at > $moment THEN $moment ELSE p.until_at END AS "presentUntil",
             s.held_from AS "heldFrom", r.class,
             CASE WHEN r.until_at > $moment THEN $moment ELSE r.until_at END AS "knownUntil"
      FROM piece p
      LEFT JOIN held_since s ON p.device_id = s.device_id AND p.place = s.place
      LEFT JOIN last_run r ON p.device_id = r.device_id
      ORDER BY p.device_id, p.place`,
  });
}

/** Leaves out devices that went away, and what is known of a device for too long to be of now. */
async function currentDevices(space: ReadSpace, moment: Date, devices: readonly HeldDevice[]): Promise<HeldDevice[]> {
  const ageSeconds = (time: string): number => (moment.getTime() - parseTime(time).getTime()) / SECOND_MS;
  const isSlow = ({ presentUntil, knownUntil }: HeldDevice): boolean =>
    knownUntil !== null && Math.max(ageSeconds(presentUntil), ageSeconds(knownUntil)) > CURRENT_SECONDS;
  const steps = await stepSeconds(space, moment, new Set(devices.filter(isSlow).map(({ deviceId }) => deviceId)));
  const allowance = ({ deviceId }: HeldDevice): number =>
    Math.max(CURRENT_SECONDS, CURRENT_STEPS * (steps.get(deviceId) ?? 0));
  return devices
    .filter((device) => ageSeconds(device.presentUntil) <= allowance(device))
    .map((device) =>
      device.knownUntil !== null && ageSeconds(device.knownUntil) > allowance(device)
        ? { ...device, class: null, knownUntil: null }
        : device,
    );
}

/** The step of each device's last sample; asked only for devices that were not heard of for ten minutes. */
async function stepSeconds(space: ReadSpace, moment: Date, devices: ReadonlySet<string>): Promise<Map<string, number>> {
  if (devices.size === 0) return new Map();
  const last = dayOf(moment);
  const rows = await space.ask<{ deviceId: string; seconds: bigint | number }>({
    tables: [{ table: 'gpu_sample', first: addDays(last, -2), last }],
    params: { moment },
    sql: `SELECT device_id AS "deviceId", max_by(step_s, ts) AS seconds FROM gpu_sample
          WHERE ts < $moment AND device_id IN (${[...devices].map(quote).join(', ')}) GROUP BY device_id`,
  });
  return new Map(rows.map(({ deviceId, seconds }) => [deviceId, Number(seconds)]));
}

/** Idle devices; of a pool only if every device of it is idle, for else nobody knows which ones the holder has. */
function withoutBusyPools(devices: readonly HeldDevice[]): HeldDevice[] {
  const busyPools = new Set(devices.filter((device) => device.pooled && device.class !== 'idle').map(poolOf));
  return devices.filter((device) => device.class === 'idle' && !(device.pooled && busyPools.has(poolOf(device))));
}

function poolOf(device: HeldDevice): string {
  return `${holderOf(device)}\n${device.nodeId}`;
}

function holderOf({ source, allocationId, attempt }: HeldDevice): string {
  return allocationId === null ? '' : `${source}/${allocationId}/${attempt}`;
}

async function stretchesOf(space: ReadSpace, moment: Date, idle: readonly HeldDevice[]): Promise<Stretch[]> {
  const begun = await idleSince(
    space,
    idle.map(({ deviceId, knownUntil, heldFrom }) => ({
      deviceId,
      knownUntil: knownUntil === null ? moment : parseTime(knownUntil),
      heldFrom: heldFrom === null ? undefined : parseTime(heldFrom),
    })),
  );
  const stretches = idle.map((device): Stretch => {
    const since = begun.get(device.deviceId) ?? moment;
    const heldFrom = device.heldFrom === null ? since : parseTime(device.heldFrom);
    return {
      ...device,
      subject: subjectOf(device),
      since: heldFrom > since ? heldFrom : since,
      until: device.knownUntil === null ? moment : parseTime(device.knownUntil),
    };
  });
  const poolSince = new Map<string, Date>();
  for (const stretch of stretches.filter(({ pooled }) => pooled)) {
    const other = poolSince.get(poolOf(stretch));
    if (other === undefined || other < stretch.since) poolSince.set(poolOf(stretch), stretch.since);
  }
  return stretches.map((stretch) =>
    stretch.pooled ? { ...stretch, since: poolSince.get(poolOf(stretch)) ?? stretch.since } : stretch,
  );
}

/** Whom the ledger posts the money of a device to (README of the ledger, ownership). */
function subjectOf(device: HeldDevice): string {
  if (device.allocationId !== null) return `job ${holderOf(device)}`;
  return device.nodeId === null ? `device ${device.rootDeviceId}` : `node ${device.nodeId}`;
}

async function holdingsOf(
  space: ReadSpace,
  moment: Date,
  found: readonly Stretch[],
  { users, soFar: asksMoney = true }: IdleNeed,
): Promise<IdleHolding[]> {
  const owners = found.length === 0 ? new Map<string, Owner>() : await ownersOf(space, moment, found);
  const stretches = found.filter(({ subject }) => users?.includes(owners.get(subject)?.user ?? '') ?? true);
  if (stretches.length === 0) return [];
  const prices = await hourlyPrices(space, moment, stretches);
  const soFar = asksMoney ? await moneySoFar(space, stretches) : new Map<string, bigint>();
  const groups = new Map<string, Stretch[]>();
  for (const stretch of stretches) {
    const key = stretch.allocationId === null ? `device ${stretch.deviceId}` : stretch.subject;
    groups.set(key, [...(groups.get(key) ?? []), stretch]);
  }
  return [...groups.values()]
    .flatMap((group) => {
      const first = group[0];
      if (first === undefined) return [];
      const owner = owners.get(first.subject);
      const sorted = (texts: readonly (string | null | undefined)[]): string[] =>
        [...new Set(texts.flatMap((text) => text ?? []))].sort();
      return [
        {
          source: first.source,
          allocationId: first.allocationId,
          attempt: first.attempt === null ? null : Number(first.attempt),
          job: owner?.job ?? null,
          user: owner?.user ?? null,
          team: owner?.team ?? null,
          nodes: sorted(group.map(({ nodeId }) => nodeId)),
          devices: sorted(group.map(({ deviceId }) => deviceId)),
          models: sorted(group.map((stretch) => prices.get(stretchKey(stretch))?.model)),
          shareUnits: group.reduce((sum, { shareUnits }) => sum + shareUnits, 0n),
          idleSince: group.map(({ since }) => since).reduce((a, b) => (a < b ? a : b)),
          usdMicrosPerHour: total(group.map((stretch) => prices.get(stretchKey(stretch))?.usdMicrosPerHour ?? null)),
          usdMicrosSoFar: total(group.map((stretch) => soFar.get(stretchKey(stretch)) ?? null)),
        },
      ];
    })
    .sort(dearestFirst);
}

function dearestFirst(a: IdleHolding, b: IdleHolding): number {
  const difference = (b.usdMicrosSoFar ?? -1n) - (a.usdMicrosSoFar ?? -1n);
  if (difference !== 0n) return difference > 0n ? 1 : -1;
  if (a.idleSince.getTime() !== b.idleSince.getTime()) return a.idleSince.getTime() - b.idleSince.getTime();
  return (a.devices[0] ?? '') < (b.devices[0] ?? '') ? -1 : 1;
}

/** Null where nothing has a price; else of what has. */
function total(amounts: readonly (bigint | null)[]): bigint | null {
  return amounts.reduce((sum, amount) => (amount === null ? sum : (sum ?? 0n) + amount), null);
}

function stretchKey({ deviceId, subject }: { deviceId: string; subject: string }): string {
  return `${subject}\n${deviceId}`;
}

/** The stretches as rows of SQL, so that one query answers for all of them. */
function stretchRows(stretches: readonly Stretch[]): string {
  const rows = stretches.map(
    (stretch) =>
      `(${quote(stretch.deviceId)}, ${quote(stretch.subject)}, ${quote(holderOf(stretch))}, ` +
      `TIMESTAMP '${printTime(stretch.since)}', TIMESTAMP '${printTime(stretch.until)}')`,
  );
  return `SELECT * FROM (VALUES ${rows.join(', ')}) AS v(device_id, subject, holder, since_at, until_at)`;
}

interface Price {
  readonly model: string | null;
  readonly usdMicrosPerHour: bigint | null;
}

/** Unit-seconds of a whole GPU in a whole hour. */
const WHOLE_HOUR_UNITS = 3600 * SHARE_UNITS;

/** What an hour of each device's share costs, from the last whole hour the ledger has of it: a cut one carries its rounding. */
async function hourlyPrices(
  space: ReadSpace,
  moment: Date,
  stretches: readonly Stretch[],
): Promise<Map<string, Price>> {
  const last = dayOf(new Date(moment.getTime() - SECOND_MS));
  const rows = await space.ask<{
    deviceId: string;
    subject: string;
    model: string | null;
    ofUsdMicros: bigint | null;
    splitTotal: bigint;
  }>({
    tables: [{ table: 'ledger_entry', first: addDays(last, -1), last }],
    params: { moment },
    sql: `
      WITH stretch AS (${stretchRows(stretches)}), entry AS (
        SELECT e.device_id, e.subject, e.model, e.split_of_usd_micros, e.split_total,
               rank() OVER (PARTITION BY e.device_id, e.subject
                 ORDER BY CASE WHEN e.split_total >= ${WHOLE_HOUR_UNITS} THEN 0 ELSE 1 END, e.hour_start DESC) AS recency
        FROM ledger_entry e JOIN stretch s ON e.device_id = s.device_id AND e.subject = s.subject
        WHERE e.hour_start < $moment AND e.disposition = 'held'
      )
      SELECT device_id AS "deviceId", subject, model, split_of_usd_micros AS "ofUsdMicros", split_total AS "splitTotal"
      FROM entry WHERE recency = 1`,
  });
  const shares = new Map(stretches.map((stretch) => [stretchKey(stretch), stretch.shareUnits]));
  const prices = new Map<string, Price>();
  for (const { model, ofUsdMicros, splitTotal, ...key } of rows) {
    const share = shares.get(stretchKey(key)) ?? 0n;
    const known = prices.get(stretchKey(key));
    // Unit-seconds of the whole GPU over the hour: what is left of it after the share is somebody else's hour.
    const price = ofUsdMicros === null || splitTotal === 0n ? null : (ofUsdMicros * share * 3600n) / splitTotal;
    prices.set(stretchKey(key), { model, usdMicrosPerHour: total([known?.usdMicrosPerHour ?? null, price]) });
  }
  return prices;
}

/** Idle money but for the time a service waits for the next request. */
const IS_IDLE = `category = 'idle' AND COALESCE(reason, '') <> 'between-requests' AND usd_micros IS NOT NULL`;

/**
 * The idle money of each stretch. Of an hour it shares with other idle time it has its seconds' part: that is asked of the days on which it began and
 * ended, of those between it has all.
 */
async function moneySoFar(space: ReadSpace, stretches: readonly Stretch[]): Promise<Map<string, bigint>> {
  const first = dayOf(stretches.map(({ since }) => since).reduce((a, b) => (a < b ? a : b)));
  const last = dayOf(stretches.map(({ until }) => until).reduce((a, b) => (a > b ? a : b)));
  const rows = await space.ask<{
    deviceId: string;
    subject: string;
    /** Null: whole days. */
    hourStart: string | null;
    usdMicros: bigint;
    idleSeconds: bigint | null;
  }>({
    tables: ['subject_day', 'waterfall', 'gpu_hour'].map((table) => ({ table, first, last })),
    sql: `
      WITH stretch AS (${stretchRows(stretches)}), edge AS (
        SELECT stretch.*, CAST(since_at AS DATE) AS day FROM stretch
        UNION
        SELECT stretch.*, CAST(until_at AS DATE) AS day FROM stretch
      ), edge_hour AS (
        SELECT device_id, holder, CAST(since_at AS DATE) AS day, date_trunc('hour', since_at) AS hour_start FROM stretch
        UNION
        SELECT device_id, holder, CAST(until_at AS DATE) AS day, date_trunc('hour', until_at) AS hour_start FROM stretch
      ), money AS (
        SELECT w.device_id, w.subject, e.holder, w.hour_start, CAST(sum(w.usd_micros) AS BIGINT) AS usd_micros
        FROM (SELECT * FROM waterfall WHERE ${IS_IDLE}) w
        JOIN edge e ON w.day = e.day AND w.device_id = e.device_id AND w.subject = e.subject
        WHERE w.hour_start > e.since_at - INTERVAL '1' HOUR AND w.hour_start < e.until_at
        GROUP BY w.device_id, w.subject, e.holder, w.hour_start
      ), held_hour AS (
        SELECT day, device_id, COALESCE(source || '/' || allocation_id || '/' || CAST(attempt AS VARCHAR), '') AS holder, hour_start, idle_s - pause_s AS idle_s
        FROM gpu_hour WHERE disposition = 'held'
      ), idled AS (
        SELECT g.device_id, g.holder, g.hour_start, CAST(sum(g.idle_s) AS BIGINT) AS idle_s
        FROM held_hour g JOIN edge_hour e ON g.day = e.day AND g.device_id = e.device_id AND g.hour_start = e.hour_start AND g.holder = e.holder
        GROUP BY g.device_id, g.holder, g.hour_start
      )
      SELECT m.device_id AS "deviceId", m.subject, m.hour_start AS "hourStart", m.usd_micros AS "usdMicros", i.idle_s AS "idleSeconds"
      FROM money m LEFT JOIN idled i ON m.device_id = i.device_id AND m.holder = i.holder AND m.hour_start = i.hour_start
      UNION ALL
      SELECT d.device_id, d.subject, CAST(NULL AS TIMESTAMP), CAST(sum(d.usd_micros) AS BIGINT), CAST(NULL AS BIGINT)
      FROM (SELECT * FROM subject_day WHERE ${IS_IDLE}) d JOIN stretch s ON d.device_id = s.device_id AND d.subject = s.subject
        AND d.day > CAST(s.since_at AS DATE) AND d.day < CAST(s.until_at AS DATE)
      GROUP BY d.device_id, d.subject`,
  });
  const byKey = new Map(stretches.map((stretch) => [stretchKey(stretch), stretch]));
  const sums = new Map<string, bigint>();
  for (const { hourStart, usdMicros, idleSeconds, ...key } of rows) {
    const stretch = byKey.get(stretchKey(key));
    if (stretch === undefined) continue;
    const part = hourStart === null ? usdMicros : partOfHour(stretch, parseTime(hourStart), usdMicros, idleSeconds);
    sums.set(stretchKey(key), (sums.get(stretchKey(key)) ?? 0n) + part);
  }
  return sums;
}

/** By the seconds of the stretch among the idle ones of the hour; all of it where the stretch has the whole hour. */
function partOfHour(stretch: Stretch, hour: Date, usdMicros: bigint, idleSeconds: bigint | null): bigint {
  const from = Math.max(hour.getTime(), stretch.since.getTime());
  const until = Math.min(hour.getTime() + HOUR_MS, stretch.until.getTime());
  const seconds = BigInt(Math.max(0, Math.round((until - from) / SECOND_MS)));
  return idleSeconds === null || seconds >= idleSeconds ? usdMicros : (usdMicros * seconds) / idleSeconds;
}

interface Owner {
  readonly job: string | null;
  readonly user: string | null;
  readonly team: string | null;
}

async function ownersOf(space: ReadSpace, moment: Date, stretches: readonly Stretch[]): Promise<Map<string, Owner>> {
  const last = dayOf(new Date(moment.getTime() - SECOND_MS));
  const rows = await space.ask<Owner & { subject: string }>({
    tables: [{ table: 'ownership', first: addDays(last, -1), last }],
    sql: `
      WITH stretch AS (${stretchRows(stretches)})
      SELECT o.subject, o.workload_name AS job, o.user_name AS "user", o.team
      FROM ownership o JOIN (SELECT DISTINCT subject FROM stretch) s ON o.subject = s.subject ORDER BY o.day`,
  });
  return new Map(rows.map(({ subject, ...owner }) => [subject, owner]));
}
