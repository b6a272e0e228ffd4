import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { evidenceOf, judgedSpan } from '../src/app/findings/ask-detectors.ts';
import { findFindings } from '../src/app/findings/find-findings.ts';
import { takeIn } from '../src/app/take-in.ts';
import { ledgerWindow } from '../src/app/window.ts';
import { withReader } from '../src/app/workspace.ts';
import type { ReadSpace } from '../src/app/workspace.ts';
import type { Claim } from '../src/facts/detector.ts';
import { inefficientServing } from '../src/waste/serving/inefficient-serving.ts';
import { oversizedServing } from '../src/waste/serving/oversized-serving.ts';

const SERIES = fileURLToPath(new URL('../../shared/data/telemetry/gentd26/', import.meta.url));
const DUTY = join(SERIES, 'pod_gpu_duty_cycle_anon_dev.csv.gz');
const MEMORY = join(SERIES, 'pod_gpu_memory_used_bytes_anon_dev.csv.gz');
const why = existsSync(DUTY) ? '' : ' (skipped: ../shared/data/telemetry/gentd26 is not here)';

const STEP_S = 57;
const HOUR_S = 3600;
const NOW = new Date('2022-09-12T00:00:57Z');

interface RawRow {
  readonly pod: string;
  readonly second: number;
  readonly value: number;
}

/** The rows of a file: pod, second, value. */
function rawRows(path: string): readonly RawRow[] {
  const [header = '', ...lines] = gunzipSync(readFileSync(path)).toString().trim().split(/\r?\n/);
  const place = (name: string): number => header.split(',').indexOf(name);
  const [pod, second, value] = ['container_ip', 'timestamp_anon', 'value'].map(place);
  return lines.map((line) => {
    const cells = line.split(',');
    return { pod: cells[pod!]!, second: Number(cells[second!]), value: Number(cells[value!]) };
  });
}

/** Seconds of an hour, and the part of those that computed in which nothing ran: thousandths. */
interface HandHour {
  readonly computing: number;
  readonly idle: number;
  readonly gapPermille: number;
}

interface ByHand {
  readonly from: number;
  readonly until: number;
  /** By hour since 1970. */
  readonly hours: ReadonlyMap<number, HandHour>;
}

/**
 * What is to be said of each pod, from the raw rows and without any of our code. A row speaks from its second to the next row, if that is
 * at most three steps away, else for one step. A duty of 1 % (as whole thousandths) and more computes. Between requests lies, in an
 * hour, so much of what computed as the rows of the hour that computed left on average, in whole thousandths, cut.
 */
function byHand(): ReadonlyMap<string, ByHand> {
  const duty = grouped(rawRows(DUTY));
  const memory = grouped(rawRows(MEMORY));
  const pods = [...new Set([...duty.keys(), ...memory.keys()])];
  return new Map(pods.map((pod) => [pod, podByHand(duty.get(pod) ?? [], memory.get(pod) ?? [])]));
}

function grouped(rows: readonly RawRow[]): ReadonlyMap<string, readonly RawRow[]> {
  const pods = new Map<string, RawRow[]>();
  for (const row of rows) {
    const known = pods.get(row.pod);
    if (known === undefined) pods.set(row.pod, [row]);
    else known.push(row);
  }
  return pods;
}

function podByHand(duty: readonly RawRow[], memory: readonly RawRow[]): ByHand {
  const rows = duty.toSorted((a, b) => a.second - b.second);
  const all = [...duty, ...memory].map(({ second }) => second);
  const hours = new Map<number, { computing: number; idle: number; left: number[] }>();
  const hourOf = (second: number) => {
    const hour = Math.floor(second / HOUR_S);
    const known = hours.get(hour) ?? { computing: 0, idle: 0, left: [] };
    hours.set(hour, known);
    return known;
  };
  for (const [place, { second, value }] of rows.entries()) {
    const next = rows[place + 1]?.second ?? Infinity;
    const end = next - second <= 3 * STEP_S ? next : second + STEP_S;
    const permille = Math.round(value * 10);
    if (permille >= 10) hourOf(second).left.push(1000 - permille);
    for (let at = second; at < end; at += 1) hourOf(at)[permille >= 10 ? 'computing' : 'idle'] += 1;
  }
  const meanOf = (left: readonly number[]): number => (left.length === 0 ? 0 : Math.floor(sum(left) / left.length));
  return {
    from: Math.min(...all),
    until: Math.max(...all) + STEP_S,
    hours: new Map(
      [...hours].map(([hour, { computing, idle, left }]) => [hour, { computing, idle, gapPermille: meanOf(left) }]),
    ),
  };
}

const sum = (values: Iterable<number>): number => [...values].reduce((all, value) => all + value, 0);
const timeOf = (second: number): string => new Date(second * 1000).toISOString();

/** Ten pods of the eighty, by their names alone. */
const tenOf = (pods: readonly string[]): readonly string[] => pods.toSorted().filter((_, place) => place % 8 === 0);

interface Said {
  readonly pod: string;
  readonly held: bigint;
  readonly computing: bigint;
  readonly idle: bigint;
  readonly unknown: bigint;
  readonly gap: bigint;
  readonly zeroHours: bigint;
}

const SAID_SQL = `
  SELECT device_id AS pod, CAST(sum(held_s) AS BIGINT) AS held, CAST(sum(computing_s) AS BIGINT) AS computing,
         CAST(sum(idle_s) AS BIGINT) AS idle, CAST(sum(unknown_s) AS BIGINT) AS unknown, CAST(sum(gap_s) AS BIGINT) AS gap,
         count(*) FILTER (WHERE computing_s = 0 AND idle_s > 0) AS "zeroHours"
  FROM gpu_hour GROUP BY device_id`;

interface FleetHour {
  readonly hour: number;
  /** In thousandths of a second. */
  readonly heldMs: number;
  readonly busyMs: number;
  readonly unknownMs: number;
}

/** The hours of the pods together, those left out that served nothing in six hours and more while others did. */
function fleetByHand(hand: ReadonlyMap<string, ByHand>): { silent: readonly string[]; hours: readonly FleetHour[] } {
  const busyOf = ({ computing, gapPermille }: HandHour): number => computing * (1000 - gapPermille);
  const unknownOf = ({ from, until, hours }: ByHand): number =>
    until - from - sum([...hours.values()].map(({ computing, idle }) => computing + idle));
  const silent = [...hand].flatMap(([pod, each]) => {
    const held = each.until - each.from;
    const isSilent = sum([...each.hours.values()].map(busyOf)) === 0 && held >= 6 * HOUR_S;
    return isSilent && unknownOf(each) * 20 <= held ? [pod] : [];
  });
  const serving = [...hand].filter(([pod]) => !silent.includes(pod)).map(([, each]) => each);
  const first = Math.floor(Math.min(...serving.map(({ from }) => from)) / HOUR_S);
  const last = Math.floor((Math.max(...serving.map(({ until }) => until)) - 1) / HOUR_S);
  const hours = Array.from({ length: last - first + 1 }, (_, place) => {
    const hour = first + place;
    const heldOf = ({ from, until }: ByHand): number =>
      Math.max(0, Math.min(until, (hour + 1) * HOUR_S) - Math.max(from, hour * HOUR_S));
    const held = sum(serving.map(heldOf));
    const of = serving.flatMap((each) => each.hours.get(hour) ?? []);
    const known = sum(of.map(({ computing, idle }) => computing + idle));
    return { hour, heldMs: held * 1000, busyMs: sum(of.map(busyOf)), unknownMs: (held - known) * 1000 };
  });
  return { silent, hours };
}

const ONE_MS = HOUR_S * 1000;
/** So many replicas at a load in thousandths, and one in reserve. */
const neededBy = ({ busyMs }: FleetHour, load: number): number => Math.ceil((busyMs * 1000) / (ONE_MS * load)) + 1;

const isKnown = (hour: FleetHour): boolean => hour.unknownMs * 20 <= hour.heldMs;
const excessMs = (hour: FleetHour, load: number): number => beyondMs(hour, neededBy(hour, load));

/** What is idle beyond so many replicas. */
function beyondMs(hour: FleetHour, replicas: number): number {
  if (!isKnown(hour)) return 0;
  const idle = hour.heldMs - hour.busyMs - hour.unknownMs;
  return Math.max(0, Math.min(idle, hour.heldMs - replicas * ONE_MS));
}

/** What the detector says of all that is known, with these options. */
async function judged(space: ReadSpace, given: Record<string, number>): Promise<readonly Claim[]> {
  const options = oversizedServing.options.parse(given);
  const span = judgedSpan(ledgerWindow('all', NOW, space.scope), NOW);
  const queries = oversizedServing.ask(options);
  const rows = {
    services: await evidenceOf(space, queries.services, span),
    hours: await evidenceOf(space, queries.hours, span),
    days: await evidenceOf(space, queries.days, span),
  };
  return oversizedServing.judge(rows as Parameters<typeof oversizedServing.judge>[0], { ...span, options });
}

/**
 * The real serving fleet as it is: duty and memory, no price, no owner, no request. What a plain calculation makes of the raw rows of
 * ten pods, Bursar must say to the second; what it cannot know, it must not say.
 */
describe.skipIf(why !== '')(`ten pods of a real serving fleet, worked out by hand${why}`, () => {
  const hand = why === '' ? byHand() : new Map<string, ByHand>();
  const ten = tenOf([...hand.keys()]);
  const fleet = why === '' ? fleetByHand(hand) : { silent: [], hours: [] };
  let dataDir = '';
  let [asItIs, asService] = [new Map<string, Said>(), new Map<string, Said>()];
  const ask = <T>(question: (space: ReadSpace) => Promise<T>): Promise<T> => withReader(dataDir, question);
  const said = async (): Promise<Map<string, Said>> => {
    const rows = await ask((space) => space.ask<Said>({ tables: [{ table: 'gpu_hour' }], sql: SAID_SQL }));
    return new Map(rows.map((row) => [row.pod, row]));
  };

  beforeAll(async () => {
    dataDir = join(await mkdtemp(join(tmpdir(), 'bursar-pods-')), 'data');
    const key = 'ts=timestamp_anon,device_id=container_ip';
    await takeIn({ dataDir, table: 'samples', files: [DUTY], map: [`${key},util_permille=value:percent`] });
    await takeIn({ dataDir, table: 'samples', files: [MEMORY], map: [`${key},fb_used_mib=value:bytes`] });
    asItIs = await said();
    // The one thing the series do not say and their README does: these are pods that serve. Here as one Deployment.
    const pods = join(dataDir, '..', 'pods.csv');
    const lines = [...hand].map(
      ([pod, { from, until }]) =>
        `kubernetes,${pod},${pod},${timeOf(from)},${timeOf(until)},1,prod,serving,Deployment,gentd`,
    );
    const header =
      'source,allocation_id,device_id,held_from,held_until,gpu_count,cluster,namespace,workload_kind,workload_name';
    await writeFile(pods, [header, ...lines, ''].join('\n'));
    await takeIn({ dataDir, table: 'allocations', files: [pods] });
    asService = await said();
  }, 240_000);
  afterAll(() => rm(join(dataDir, '..'), { recursive: true, force: true }));

  test('the rows are those the README counts', () => {
    const hours = new Map<string, boolean>();
    for (const { pod, second, value } of rawRows(DUTY)) {
      const key = `${pod} ${Math.floor(second / HOUR_S)}`;
      hours.set(key, (hours.get(key) ?? true) && value === 0);
    }
    expect([hours.size, [...hours.values()].filter(Boolean).length]).toEqual([1573, 245]);
    expect(ten).toHaveLength(10);
  });

  test.each(ten)('%s: what computed, idled, lay between requests, is unknown; hours without work', (pod) => {
    const { from, until, hours } = hand.get(pod)!;
    const all = [...hours.values()];
    const [computing, idle] = [sum(all.map((hour) => hour.computing)), sum(all.map((hour) => hour.idle))];
    const want = {
      pod,
      held: BigInt(until - from),
      computing: BigInt(computing),
      idle: BigInt(idle),
      unknown: BigInt(until - from - computing - idle),
      zeroHours: BigInt(all.filter((hour) => hour.computing === 0).length),
    };
    // Of holders nobody knows, nobody knows what a gap in their work means.
    expect(asItIs.get(pod)).toEqual({ ...want, gap: 0n });
    const gap = sum(all.map((hour) => Math.floor((hour.computing * hour.gapPermille) / 1000)));
    expect(asService.get(pod)).toEqual({ ...want, gap: BigInt(gap) });
  });

  test('replicas the pods together needed, hour by hour', async () => {
    const rows = await ask((space) =>
      space.ask<{ hour: bigint; heldMs: bigint; busyMs: bigint; unknownMs: bigint }>({
        tables: [{ table: 'service_hour' }],
        sql: `SELECT date_diff('second', TIMESTAMP '1970-01-01 00:00:00', hour_start) AS hour, held_units AS "heldMs",
                     busy_units AS "busyMs", unknown_units AS "unknownMs" FROM service_hour ORDER BY hour_start`,
      }),
    );
    const told = rows.map((row) => ({
      hour: Number(row.hour) / HOUR_S,
      heldMs: Number(row.heldMs) / 63,
      busyMs: Number(row.busyMs) / 63,
      unknownMs: Number(row.unknownMs) / 63,
    }));
    expect(told).toEqual(fleet.hours);
    // What eighty pods were busy with fits into so many at 60 % load, one of them in reserve, in each hour from 01:00 on.
    expect(fleet.hours.map((hour) => neededBy(hour, 600))).toEqual([
      4, 13, 20, 17, 10, 16, 18, 23, 19, 17, 9, 6, 6, 6, 6, 5, 4, 3, 4, 4, 4, 3, 3, 1,
    ]);
  });

  test('the verdict: a day is too short for a claim, and no pod was without work all day', async () => {
    expect(fleet.silent).toEqual([]);
    const { findings } = await ask((space) =>
      findFindings(space, {
        window: ledgerWindow('all', NOW, space.scope),
        now: NOW,
        detectors: [oversizedServing, inefficientServing],
        keepsNumbers: false,
      }),
    );
    expect(findings).toEqual([]);
  });

  test('and were a day enough, so much of each pod’s idle time', async () => {
    const [claim, ...others] = await ask((space) => judged(space, { daysMin: 0.5 }));
    expect(others).toEqual([]);
    const dayOf = (hour: number): number => Math.floor(hour / 24);
    const excess = (hours: readonly FleetHour[], load: number): number =>
      sum(hours.map((hour) => excessMs(hour, load)));
    const permilleOn = (day: number): number => {
      const hours = fleet.hours.filter(({ hour }) => dayOf(hour) === day);
      const idle = sum(hours.map((hour) => hour.heldMs - hour.busyMs - hour.unknownMs));
      return Math.floor((excess(hours, 850) * 1000) / idle);
    };
    const days = [...new Set(fleet.hours.map(({ hour }) => dayOf(hour)))].filter((day) => permilleOn(day) > 0);
    const dates = [...new Set(claim?.takes.map(({ firstDay }) => firstDay))].toSorted();
    expect(dates).toHaveLength(days.length);
    // Of each day by itself: what was spare on one says nothing about another.
    const taken = new Map(claim?.takes.map(({ subject, firstDay, permille }) => [`${subject} ${firstDay}`, permille]));
    const want = [...hand].flatMap(([pod, { hours }]) => {
      const there = new Set([...hours.keys()].map(dayOf));
      return days.flatMap((day, place) =>
        there.has(day) ? [[`job kubernetes/${pod}/0 ${dates[place]}`, permilleOn(day)] as const] : [],
      );
    });
    expect(want.map(([of]) => [of, taken.get(of)])).toEqual(want);
    // At least what is left over by as many at all hours as the busiest needs.
    const most = Math.max(...fleet.hours.filter(isKnown).map((hour) => neededBy(hour, 600)));
    expect(claim?.reachable?.lowPermille).toBe(
      Math.floor((sum(fleet.hours.map((hour) => beyondMs(hour, most))) * 1000) / excess(fleet.hours, 850)),
    );
    // No request was counted: what is needed rests on duty alone, and it says so.
    expect(claim?.because.join(' ')).toContain('No counter of its requests is known');
  });

  test('it has no price, so that no money is claimed of it', async () => {
    const rows = await ask((space) =>
      space.ask<{ priced: bigint; unpriced: bigint }>({
        tables: [{ table: 'subject_day' }],
        sql: 'SELECT count(usd_micros) AS priced, count(*) - count(usd_micros) AS unpriced FROM subject_day',
      }),
    );
    expect(rows[0]?.priced).toBe(0n);
    expect(rows[0]?.unpriced).toBeGreaterThan(0n);
  });
});
