import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deviceTruth, heldTruth, silenceOf, type HeldTruth } from '../../lab/exporter/truth.ts';
import { labPart } from '../lab.ts';
import { bursarProgram, type BursarProgram } from './bursar-program.ts';
import { firstSampledDay, heldInLedger, type LedgerHolding } from './held-in-ledger.ts';
import { playedPrometheus, type PlayedPrometheus } from './played-prometheus.ts';

const DAY_S = 86_400;
const MINUTE_MS = 60_000;
const UNITS = 63_000;
/** A look takes a value in five minutes, so it may be that late about a beginning and that early about an end. */
const LOOK_STEP_S = 300;
/** A pod that vanishes minutes before midnight is taken to be there for two more looks, because days are read by themselves. */
const END_LATE_S = 4 * LOOK_STEP_S;
const prometheus = labPart('prometheus');

describe.skipIf(!prometheus.installed)('a first look at seven days of a Prometheus', () => {
  let folder: string;
  let dataDir: string;
  let server: PlayedPrometheus;
  let program: BursarProgram;
  let looked: Awaited<ReturnType<BursarProgram['run']>>;
  let lookMs: number;
  let firstDay: string;
  let since: number;
  /** Of machines whose exporter lived all the time, and of those where it did not. */
  let truth: readonly HeldTruth[];
  let silentTruth: readonly HeldTruth[];
  let ledger: readonly LedgerHolding[];
  const at = Math.floor(Date.now() / 1000);
  const playedAt = Date.parse('2026-11-09T15:00:00Z') / 1000;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'bursar-first-look-'));
    dataDir = join(folder, 'data');
    program = await bursarProgram();
    server = await playedPrometheus(prometheus, folder, { gpus: 24, days: 7, stepS: 120, at: playedAt, shownAt: at });
    const begun = performance.now();
    looked = await program.run(['look', '--prometheus', server.url, '--data', dataDir]);
    lookMs = performance.now() - begun;
    if (looked.exitCode !== 0) throw new Error(`look ended with ${looked.exitCode}: ${looked.err}`);
    firstDay = await firstSampledDay(dataDir);
    since = Date.parse(firstDay) / 1000;
    const whole = heldTruth(server.played, since - server.shiftS, playedAt);
    const isSilent = ({ pod: { node } }: HeldTruth): boolean => {
      const silence = silenceOf(server.played, node);
      return silence !== undefined && silence.until > since - server.shiftS && silence.from < playedAt;
    };
    truth = whole.filter((each) => !isSilent(each));
    silentTruth = whole.filter(isSilent);
    ledger = await heldInLedger(dataDir, firstDay);
  }, 300_000);
  afterAll(async () => {
    // Also where the beginning failed half-way.
    await prometheus.stop(join(folder, 'prometheus'));
    program?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  it('shows the first screen from nothing within a minute', () => {
    expect(looked.exitCode, looked.err).toBe(0);
    expect(looked.out).toMatch(/^Paid, last 7 days +\$[1-9]/);
    expect(lookMs).toBeLessThan(MINUTE_MS);
  });

  it('has read seven days, or says from which day on', () => {
    const days = Math.ceil((at - since) / DAY_S);
    const cut = `samples from ${firstDay} 00:00 UTC on, older ones are not read`;
    expect([looked.out.includes('Cut short'), looked.out.includes(cut)]).toEqual([days < 7, days < 7]);
    // A machine on which everything else runs too may be slow, but not so slow.
    expect(days).toBeGreaterThanOrEqual(2);
  });

  it('knows of no pod that was not there, and misses only pods that came and went between two looks', () => {
    const there = new Set([...truth, ...silentTruth].map(({ pod }) => pod.uid));
    const said = new Set(ledger.map(({ uid }) => uid));
    expect([...said].filter((uid) => !there.has(uid))).toEqual([]);
    const missed = truth.filter(({ pod }) => !said.has(pod.uid));
    expect(missed.filter(({ heldS }) => heldS > 2 * LOOK_STEP_S).map(({ pod }) => pod.name)).toEqual([]);
  });

  it('knows how long each pod held its GPUs, to four looks on each device', () => {
    const whole = truth.filter(({ pod }) => pod.node.pool.sharing !== 'time-slice');
    const wanted = sums(
      whole,
      ({ pod }) => pod.uid,
      ({ heldS, device }) => (heldS * device.shareUnits) / UNITS,
    );
    const said = sums(
      ledger,
      ({ uid }) => uid,
      ({ units }) => units / UNITS,
    );
    const off = whole
      .filter(({ pod }) => said.has(pod.uid))
      .map(({ pod }) => ({ pod, offS: Math.abs(said.get(pod.uid)! - wanted.get(pod.uid)!) / pod.devices.length }))
      .filter(({ offS }) => offS > END_LATE_S);
    expect(off.map(({ pod, offS }) => `${pod.name} is off by ${Math.round(offS)} s`)).toEqual([]);
    expect(whole.length).toBeGreaterThan(20);
    const total = (of: ReadonlyMap<string, number>): number =>
      whole.reduce((sum, { pod }) => sum + (of.get(pod.uid) ?? 0) / pod.devices.length, 0);
    expect(Math.abs(total(said) - total(wanted)) / total(wanted)).toBeLessThan(0.01);
  });

  it('lets no pod hold a device for longer than it was there', () => {
    const wanted = sums(
      truth,
      ({ pod }) => pod.uid,
      ({ heldS }) => heldS,
    );
    const named = new Set(truth.map(({ pod, deviceId }) => `${pod.uid} ${deviceId}`));
    const longer = ledger
      .filter(({ uid, deviceId }) => named.has(`${uid} ${deviceId}`))
      .filter(({ uid, heldS }) => heldS > wanted.get(uid)! + END_LATE_S);
    expect(longer).toEqual([]);
  });

  it('knows how long GPUs that are shared were held, to two in a hundred', () => {
    const shared = new Set(truth.filter(({ pod }) => pod.node.pool.sharing === 'time-slice').map(({ pod }) => pod.uid));
    const said = ledger.filter(({ uid }) => shared.has(uid)).reduce((sum, { heldS }) => sum + heldS, 0);
    const wanted = truth.filter(({ pod }) => shared.has(pod.uid)).reduce((sum, { heldS }) => sum + heldS, 0);
    expect(wanted).toBeGreaterThan(DAY_S);
    expect(Math.abs(said - wanted) / wanted).toBeLessThan(0.02);
  });

  it('knows how much of it was active, to two in a hundred of what was held', () => {
    const ofPair = new Map(truth.map((each) => [`${each.pod.uid} ${each.deviceId}`, each]));
    let [computingS, activeS, heldS] = [0, 0, 0];
    for (const each of ledger) {
      const known = ofPair.get(`${each.uid} ${each.deviceId}`);
      // What sensors left unknown is nobody's mistake here.
      if (known === undefined || each.computingS + each.idleS < 0.95 * each.heldS) continue;
      computingS += each.computingS;
      activeS += known.activeS;
      heldS += each.heldS;
    }
    expect(heldS).toBeGreaterThan(10 * DAY_S);
    expect(Math.abs(computingS - activeS) / heldS).toBeLessThan(0.02);
  });

  it('knows nothing of what GPUs did while their exporter was dead', () => {
    const pods = new Map(silentTruth.map(({ pod }) => [pod.uid, pod]));
    const measuredS = ledger
      .filter(({ uid }) => pods.has(uid))
      .reduce((sum, { computingS, idleS }) => sum + computingS + idleS, 0);
    const measurableS = silentTruth.reduce((sum, { pod, from, until }) => {
      const silence = silenceOf(server.played, pod.node)!;
      const silentS = Math.max(0, Math.min(until, silence.until) - Math.max(from, silence.from));
      return sum + until - from - silentS;
    }, 0);
    expect(pods.size).toBeGreaterThan(3);
    expect(measuredS).toBeLessThan(measurableS + silentTruth.length * 2 * LOOK_STEP_S);
  });

  it('says what was at work, to five in a hundred of what is known', async () => {
    const window = `${firstDay}/${new Date((at + DAY_S) * 1000).toISOString().slice(0, 10)}`;
    const asked = ['spend', '--by', 'category,reason', '--data', dataDir, '--json', '--window', window];
    const { out } = await program.run(asked);
    const { rows } = JSON.parse(out) as { rows: { category: string; reason: string | null; heldSeconds: number }[] };
    const secondsOf = (names: readonly string[]): number =>
      rows.reduce(
        (sum, { category, reason, heldSeconds }) =>
          sum + (names.includes(category) || names.includes(`${category} ${reason}`) ? heldSeconds : 0),
        0,
      );
    // Gaps and exchanges lie within the time at work, pauses and idle time beside it.
    const computing = secondsOf(['computing', 'lost', 'starved gap', 'starved exchange', 'idle between-requests']);
    const idle = secondsOf(['idle parked', 'idle bare', 'idle null', 'starved pause']);
    const devices = deviceTruth(server.played, since - server.shiftS, playedAt);
    const gpuS = (of: (each: (typeof devices)[number]) => number): number =>
      devices.reduce((sum, each) => sum + (of(each) * each.device.shareUnits) / UNITS, 0);
    const [activeS, heldS] = [gpuS((each) => each.activeS), gpuS((each) => each.heldS)];
    expect(Math.abs(computing / (computing + idle) - activeS / heldS)).toBeLessThan(0.05);
    expect(computing + idle).toBeLessThan(heldS * 1.01);
  });
});

function sums<Row>(
  rows: readonly Row[],
  keyOf: (row: Row) => string,
  valueOf: (row: Row) => number,
): ReadonlyMap<string, number> {
  const sumOf = new Map<string, number>();
  for (const row of rows) sumOf.set(keyOf(row), (sumOf.get(keyOf(row)) ?? 0) + valueOf(row));
  return sumOf;
}
