import { deepStrictEqual } from 'node:assert';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { heldTruth, silenceOf, type HeldTruth } from '../../lab/exporter/truth.ts';
import { collectAndDerive } from '../../src/app/collect/follow.ts';
import { withReader } from '../../src/app/workspace.ts';
import { unmanaged } from '../../src/demo/world/unmanaged.ts';
import { prometheusSource } from '../../src/sources/prometheus/prometheus-source.ts';
import { labPart } from '../lab.ts';
import { playedPrometheus, type PlayedPrometheus } from './played-prometheus.ts';

const DAY_S = 86_400;
const HOUR_S = 3600;
/** A pod that is seen to end by its absence held for a step longer, and the first word of kube-state-metrics may come a step late. */
const STEP_S = 300;
const prometheus = labPart('prometheus');
const at = Date.parse('2026-11-09T15:00:00Z') / 1000;

/** Hours exporters stay dead, from the least to the most. */
const hours = (least: number, most: number) =>
  ({ p0: least, p10: least, p50: (least + most) / 2, p90: most, p99: most, p100: most }) as const;

/** Worlds in which most exporters die once; `sinceDays` lets the reading begin while some are dead already. */
const worlds = {
  'dead for days': { seed: 12, dead: hours(30, 70), sinceDays: 4 },
  'dead from the beginning for some, for all of it for others': { seed: 13, dead: hours(30, 150), sinceDays: 2 },
};

describe.skipIf(!prometheus.installed).each(Object.entries(worlds))('exporters that are %s', (_, world) => {
  let folder: string;
  let server: PlayedPrometheus;
  let truth: readonly HeldTruth[];
  let held: ReadonlyMap<string, { readonly heldS: number; readonly measuredS: number }>;
  let nodes: readonly { nodeId: string; hour: string; gpus: number }[];
  const since = at - world.sinceDays * DAY_S;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'bursar-silent-exporter-'));
    const dataDir = join(folder, 'data');
    // A second exporter would go on telling what the dead one does not.
    const faults = { dead_exporter_percent: 70, dead_exporter: world.dead, two_exporters_percent: 0 };
    const sensors = { ...unmanaged.sensors, ...faults };
    const scope = { gpus: 24, days: 4, stepS: STEP_S, at, seed: world.seed, world: { ...unmanaged, sensors } };
    server = await playedPrometheus(prometheus, folder, scope);
    const source = prometheusSource({ name: 'p', url: server.url, cluster: 'a' });
    const report = await collectAndDerive({
      dataDir,
      sources: [source],
      now: () => new Date(at * 1000),
      since: new Date(since * 1000),
      signal: new AbortController().signal,
      progress: () => undefined,
    });
    deepStrictEqual(
      report.sources.map(({ state, record }) => [state, record.error?.message]),
      [['ok', undefined]],
    );
    truth = heldTruth(server.played, since, at).filter(({ pod: { node }, device }) => {
      const silence = silenceOf(server.played, node);
      const isSilent = silence !== undefined && silence.until > since && silence.from < at;
      // Which slice, and which share of a GPU, only the exporter knows.
      return isSilent && node.pool.sharing !== 'time-slice' && device.parent === undefined;
    });
    [held, nodes] = await ledgerOf(dataDir, since);
  }, 600_000);
  afterAll(async () => {
    await prometheus.stop(join(folder, 'prometheus'));
    rmSync(folder, { recursive: true, force: true });
  });

  it('every pod of theirs held its GPUs as long as it was there', () => {
    const wanted = new Map<string, number>();
    for (const { pod, heldS } of truth) wanted.set(pod.uid, (wanted.get(pod.uid) ?? 0) + heldS);
    const off = [...wanted]
      .map(([uid, heldS]) => ({ uid, wantS: heldS, saidS: held.get(uid)?.heldS ?? 0 }))
      .filter(({ uid, wantS, saidS }) => Math.abs(wantS - saidS) > 2 * STEP_S * devicesOf(truth, uid));
    expect(off).toEqual([]);
    const hoursHeld = [...wanted.values()].reduce((sum, heldS) => sum + heldS, 0) / HOUR_S;
    expect(hoursHeld).toBeGreaterThan(100);
    expect(wanted.size).toBeGreaterThan(5);
  });

  it('nothing is said of what their GPUs did meanwhile', () => {
    const measurable = new Map<string, number>();
    for (const { pod, from, until } of truth) {
      const silence = silenceOf(server.played, pod.node)!;
      const silentS = Math.max(0, Math.min(until, silence.until) - Math.max(from, silence.from));
      measurable.set(pod.uid, (measurable.get(pod.uid) ?? 0) + until - from - silentS);
    }
    const more = [...measurable].filter(
      ([uid, mostS]) => (held.get(uid)?.measuredS ?? 0) > mostS + 4 * STEP_S * devicesOf(truth, uid),
    );
    expect(more).toEqual([]);
  });

  it('no machine holds more GPUs than it has', () => {
    const has = new Map(server.played.nodes.map((node) => [node.id, node.pool.gpus_per_node]));
    expect(nodes.filter(({ nodeId, gpus }) => gpus > (has.get(nodeId) ?? 0))).toEqual([]);
    expect(nodes.length).toBeGreaterThan(100);
  });
});

function devicesOf(truth: readonly HeldTruth[], uid: string): number {
  return truth.filter(({ pod }) => pod.uid === uid).length;
}

async function ledgerOf(
  dataDir: string,
  sinceS: number,
): Promise<
  [ReadonlyMap<string, { heldS: number; measuredS: number }>, readonly { nodeId: string; hour: string; gpus: number }[]]
> {
  return withReader(dataDir, async (space) => {
    const params = { since: new Date(sinceS * 1000) };
    const rows = await space.ask<{ uid: string; heldS: number; measuredS: number }>({
      tables: [{ table: 'gpu_hour' }],
      params,
      sql: `SELECT allocation_id AS uid, CAST(sum(units) AS DOUBLE) / 63000 AS "heldS",
                   CAST(sum(computing_units + idle_units) AS DOUBLE) / 63000 AS "measuredS"
            FROM gpu_hour WHERE source = 'kubernetes' AND hour_start >= $since GROUP BY allocation_id`,
    });
    const nodes = await space.ask<{ nodeId: string; hour: string; gpus: number }>({
      tables: [{ table: 'gpu_hour' }],
      params,
      sql: `SELECT node_id AS "nodeId", CAST(hour_start AS VARCHAR) AS hour, CAST(sum(units) / 63000.0 / 3600 AS DOUBLE) AS gpus
            FROM gpu_hour WHERE hour_start >= $since GROUP BY node_id, hour_start`,
    });
    return [new Map(rows.map(({ uid, ...row }) => [uid, row])), nodes] as const;
  });
}
