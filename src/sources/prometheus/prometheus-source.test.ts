import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { labPart } from '../../../test/lab.ts';
import {
  at,
  BEGIN_S,
  END_S,
  engineAt,
  GPU,
  GPU_PAST,
  KUBE_PAST,
  SILENT_FROM_S,
  SILENT_UNTIL_S,
} from '../../../test/prometheus-fleet.ts';
import { prometheusWithPast } from '../../../test/prometheus-history.ts';
import { NO_SAMPLE, type FactRow, type Haul, type PullRequest } from '../../facts/source.ts';
import { prometheusSource } from './prometheus-source.ts';

const lab = labPart('prometheus');
const folders: string[] = [];
let withKube = '';
let gpuOnly = '';

async function started(past: Parameters<typeof prometheusWithPast>[2]): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'bursar-prometheus-'));
  folders.push(dir);
  return prometheusWithPast(lab, dir, past);
}

async function hauls(url: string, cursor: unknown, nowS: number, more: Partial<PullRequest> = {}): Promise<Haul[]> {
  const source = prometheusSource({ name: 'p', url, cluster: 'a', retryPausesMs: [] });
  const found: Haul[] = [];
  const request = {
    now: new Date(nowS * 1000),
    signal: new AbortController().signal,
    progress: () => undefined,
    ...more,
  };
  for await (const haul of source.pull(cursor, request)) found.push(haul);
  return found;
}

/** What a lake holds after these hauls: rows by table, batch and key, as the collector would write them. */
function kept(all: readonly Haul[], table: string): FactRow[] {
  const batches = new Map<string, FactRow[]>();
  for (const { table: of, batch, mode, rows } of all.flatMap(({ facts }) => facts)) {
    if (of !== table) continue;
    const before = mode === 'replace' ? [] : (batches.get(batch) ?? []);
    const keys = new Set(rows.map(keyOf));
    batches.set(batch, [...before.filter((row) => !keys.has(keyOf(row))), ...rows]);
  }
  return [...batches.values()].flat();
}

const KEYS = ['device_id', 'node_id', 'allocation_id', 'present_from', 'held_from', 'slot'];
const keyOf = (row: FactRow) => JSON.stringify(KEYS.map((name) => row[name]));

/** Every sample by device and second; a sample that is in two batches shows as two. */
function samplesOf(all: readonly Haul[], column = 'engine_permille'): Map<string, number[]> {
  const batches = new Map<string, Map<string, number[]>>();
  for (const block of all.flatMap(({ samples }) => samples ?? [])) {
    const own = block.mode === 'replace' ? new Map<string, number[]>() : (batches.get(block.batch) ?? new Map());
    for (let row = 0; row < block.rows; row += 1) {
      const value = block.metrics.get(column)?.[row] ?? NO_SAMPLE;
      const key = `${block.devices[block.deviceIndex[row] ?? 0] ?? ''} ${block.tsSeconds[row] ?? 0}`;
      if (value !== NO_SAMPLE) own.set(key, [value]);
    }
    batches.set(block.batch, own);
  }
  const found = new Map<string, number[]>();
  for (const own of batches.values()) {
    for (const [key, values] of own) found.set(key, [...(found.get(key) ?? []), ...values]);
  }
  return found;
}

/** What the fleet truly measured up to a second. */
function truth(untilS: number): Map<string, number[]> {
  const found = new Map<string, number[]>();
  for (const { metric, labels, samples } of GPU_PAST) {
    if (metric !== 'DCGM_FI_PROF_GR_ENGINE_ACTIVE') continue;
    const uuid = labels['UUID'] ?? '';
    const device = labels['GPU_I_ID'] === undefined ? uuid : `${uuid}/${labels['GPU_I_ID']}`;
    for (const [second] of samples) {
      if (second < untilS) found.set(`${device} ${second}`, [Math.round(engineAt(uuid, second) * 1000)]);
    }
  }
  return found;
}

const sorted = (map: Map<string, number[]>) => [...map].toSorted(([a], [b]) => (a < b ? -1 : 1));
const rowOf = (rows: readonly FactRow[], column: string, value: string) => rows.find((row) => row[column] === value);

describe.skipIf(!lab.installed)('a real Prometheus', () => {
  beforeAll(async () => {
    withKube = await started([...GPU_PAST, ...KUBE_PAST]);
    gpuOnly = await started(GPU_PAST);
  }, 120_000);

  afterAll(async () => {
    for (const dir of folders) {
      await lab.stop(dir);
      await rm(dir, { recursive: true, force: true });
    }
  });

  describe('read from the beginning', () => {
    let all: Haul[] = [];
    beforeAll(async () => {
      all = await hauls(withKube, undefined, END_S + 30.5);
    });

    it('every sample once and only once, those at the full hour too', () => {
      expect(sorted(samplesOf(all))).toEqual(sorted(truth(END_S)));
      expect(samplesOf(all).get(`${GPU.held} ${at('14T23:00:00')}`)).toHaveLength(1);
    });

    it('in batches of one hour, with the distance of samples', () => {
      const blocks = all.flatMap(({ samples }) => samples ?? []).filter(({ rows }) => rows > 0);
      expect(blocks.map(({ batch, mode, stepS }) => [batch, mode, stepS])).toEqual(
        ['14T22', '14T23', '15T00', '15T01', '15T02'].map((hour) => [`samples/2026-11-${hour}`, 'replace', 30]),
      );
    });

    it('blank values are counted, not kept', () => {
      const power = samplesOf(all, 'power_w');
      expect([...power.keys()].some((key) => key.startsWith(GPU.quiet))).toBe(false);
      expect(all.flatMap(({ skipped }) => skipped ?? []).map(({ reason }) => reason)).toContain(
        'DCGM_FI_DEV_POWER_USAGE: the exporter sent "no value"',
      );
    });

    it('the time in which nothing at all came is a gap, a silent exporter is none', () => {
      const gaps = all
        .flatMap((haul) => haul.gaps ?? [])
        .map(({ from, until }) => [from.getTime() / 1000, until.getTime() / 1000]);
      expect(gaps).toEqual([[SILENT_FROM_S, SILENT_UNTIL_S]]);
    });

    it('devices: a slice with its parent, and one that changed machines twice there', () => {
      const devices = kept(all, 'device');
      const stays = devices.filter((row) => row['device_id'] === GPU.moved);
      expect(stays.map((row) => [row['node_id'], row['present_from'], row['present_until']])).toEqual([
        ['gpu-a', new Date(BEGIN_S * 1000), new Date(at('14T23:30:00') * 1000)],
        ['gpu-b', new Date(at('14T23:40:00') * 1000), undefined],
      ]);
      expect(rowOf(devices, 'device_id', `${GPU.cut}/3`)).toMatchObject({
        parent_device_id: GPU.cut,
        mig_profile: '1g.10gb',
        kind: 'mig',
        node_id: 'gpu-b',
      });
      // Its machine stands all the while: the exporter was silent for forty minutes, the GPU was there.
      expect(rowOf(devices, 'device_id', GPU.quiet)).toMatchObject({ present_until: undefined });
    });

    it('machines with GPUs as kube-state-metrics lists them', () => {
      const nodes = kept(all, 'node');
      expect(new Set(nodes.map((row) => row['node_id']))).toEqual(new Set(['gpu-a', 'gpu-b']));
      expect(rowOf(nodes, 'node_id', 'gpu-a')).toMatchObject({
        present_from: new Date((BEGIN_S - 86_400 * 3) * 1000),
        present_until: undefined,
        instance_type: 'p5.48xlarge',
        zone: 'us-east-1a',
        purchase: 'spot',
        resource_id: 'i-0a',
        provider: 'aws',
        gpu_count: 8,
        presence: 'inventory',
        cluster: 'a',
      });
    });

    it('pods: who holds what, from when to when, and whose it is', () => {
      const pods = kept(all, 'allocation').filter((row) => row['observed_at'] instanceof Date);
      const said = (uid: string) => {
        const rows = pods
          .filter((row) => row['allocation_id'] === uid)
          .toSorted((a, b) => Number(a['observed_at']) - Number(b['observed_at']));
        const {
          held_from: from,
          held_until: until,
          gpu_count: gpus,
          isolation,
          workload_kind: kind,
          workload_name: name,
        } = rows.at(-1) ?? {};
        const second = (time: unknown) => (time instanceof Date ? time.getTime() / 1000 : undefined);
        return [second(from), second(until), gpus, isolation, kind, name];
      };
      expect({
        train: said('uid-train'),
        notebook: said('uid-notebook-1'),
        slice: said('uid-slice'),
        done: said('uid-done'),
      }).toEqual({
        train: [BEGIN_S + 290, at('15T00:30:00'), 1, 'whole', 'Deployment', 'train'],
        notebook: [BEGIN_S - 9000, undefined, 1, 'time-slice', 'StatefulSet', 'notebook-1'],
        slice: [BEGIN_S - 60, undefined, 1, 'mig', 'CronJob', 'nightly'],
        done: [BEGIN_S + 600, BEGIN_S + 1234, 2, 'whole', 'Job', 'done'],
      });
      expect(rowOf(pods, 'allocation_id', 'uid-train')).toMatchObject({
        source: 'kubernetes',
        attempt: 0,
        labels: { team: 'nlp' },
        cpu_millis: 3500,
        namespace: 'nlp',
      });
    });

    it('who waits', () => {
      expect(kept(all, 'waiting')).toMatchObject([
        { allocation_id: 'uid-waits', gpu_count: 4, held_back_by: 'Unschedulable', workload_kind: 'PyTorchJob' },
      ]);
    });

    it('which device is where, and which pod has it: never the exporter’s own', () => {
      const bindings = all.flatMap((haul) => haul.bindings ?? []);
      const pods = new Set(
        bindings.flatMap(({ pod, deviceId }) => (pod === undefined ? [] : `${pod.namespace}/${pod.name} ${deviceId}`)),
      );
      expect(pods).toEqual(
        new Set([
          `nlp/train-0 ${GPU.held}`,
          `nlp/notebook-1 ${GPU.shared}`,
          `nlp/notebook-2 ${GPU.shared}`,
          `nlp/slice-0 ${GPU.cut}/3`,
        ]),
      );
      expect(bindings.find(({ deviceId }) => deviceId === GPU.quiet)).toMatchObject({ nodeId: 'gpu-b', gpuIndex: 0 });
    });
  });

  describe('read bit by bit', () => {
    it.each([
      ['each ten minutes', 600],
      ['each fifty minutes', 3000],
    ])('%s: the same facts as at once', async (_, stepS) => {
      const all: Haul[] = [];
      let cursor: unknown;
      for (let nowS = BEGIN_S + 1200; nowS < END_S + 30 + stepS; nowS += stepS) {
        const found = await hauls(withKube, cursor, Math.min(nowS, END_S + 30));
        all.push(...found);
        // A cursor goes through the store as JSON.
        cursor = JSON.parse(JSON.stringify(found.at(-1)?.cursor ?? cursor));
      }
      const once = await hauls(withKube, undefined, END_S + 30);
      expect(sorted(samplesOf(all))).toEqual(sorted(samplesOf(once)));
      const comparable = (found: readonly Haul[]) =>
        kept(found, 'device')
          .map(({ observed_at: _observed, ...row }) => JSON.stringify(row))
          .toSorted();
      expect(comparable(all)).toEqual(comparable(once));
      const holdings = (found: readonly Haul[]) =>
        kept(found, 'allocation')
          .map(({ allocation_id: id, held_from: from, held_until: until, gpu_count: gpus }) =>
            JSON.stringify([id, from, until, gpus]),
          )
          .toSorted();
      expect(holdings(all)).toEqual(holdings(once));
    });

    it('an hour is read when it is over, once more a quarter of an hour later, and then no more', async () => {
      const first = await hauls(withKube, undefined, at('14T23:02:00'));
      const batches = async (cursor: unknown, now: string) => {
        const found = await hauls(withKube, cursor, at(now));
        const names = found
          .flatMap(({ samples }) => samples ?? [])
          .map(({ batch, mode }) => `${batch.slice(-2)} ${mode}`);
        return { names, cursor: found.at(-1)?.cursor };
      };
      const second = await batches(first.at(-1)?.cursor, '14T23:07:00');
      const third = await batches(second.cursor, '14T23:20:00');
      const fourth = await batches(third.cursor, '14T23:25:00');
      expect([second.names, third.names, fourth.names]).toEqual([
        ['23 extend'],
        ['22 replace', '23 extend'],
        ['23 extend'],
      ]);
    });
  });

  describe('without kube-state-metrics', () => {
    it('pods come from the labels of their GPUs, by device, cut at midnight', async () => {
      const rows = kept(await hauls(gpuOnly, undefined, END_S + 30), 'allocation').filter(
        ({ namespace }) => namespace === 'nlp',
      );
      const spans = rows
        .map((row) =>
          [row['allocation_id'], row['device_id'], row['held_from'], row['held_until'], row['isolation']].map((each) =>
            each instanceof Date ? each.toISOString().slice(8, 19) : each,
          ),
        )
        .toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
      expect(spans).toEqual([
        ['nlp/notebook-1', GPU.shared, '14T22:00:00', '15T00:00:00', 'time-slice'],
        ['nlp/notebook-1', GPU.shared, '15T00:00:00', undefined, 'time-slice'],
        ['nlp/notebook-2', GPU.shared, '14T22:00:00', '15T00:00:00', 'time-slice'],
        ['nlp/notebook-2', GPU.shared, '15T00:00:00', undefined, 'time-slice'],
        ['nlp/slice-0', `${GPU.cut}/3`, '14T22:00:00', '15T00:00:00', 'mig'],
        ['nlp/slice-0', `${GPU.cut}/3`, '15T00:00:00', undefined, 'mig'],
        ['nlp/train-0', GPU.held, '14T22:05:00', '15T00:00:00', 'whole'],
        ['nlp/train-0', GPU.held, '15T00:00:00', '15T00:30:00', 'whole'],
      ]);
    });

    it('machines are inferred', async () => {
      const nodes = kept(await hauls(gpuOnly, undefined, END_S + 30), 'node');
      expect(nodes.map((row) => [row['node_id'], row['presence'], row['present_from']])).toEqual([
        ['gpu-a', 'inferred', new Date(BEGIN_S * 1000)],
        ['gpu-b', 'inferred', new Date(BEGIN_S * 1000)],
      ]);
    });
  });

  describe('a first look', () => {
    it('newest day first, thinned out, under names of its own', async () => {
      const all = await hauls(withKube, undefined, END_S + 30, { lookStepS: 300 });
      const blocks = all.flatMap(({ samples }) => samples ?? []);
      expect(blocks.map(({ batch, stepS }) => [batch, stepS])).toEqual([
        ['look/samples/2026-11-15', 300],
        ['look/samples/2026-11-14', 300],
      ]);
      expect(all.flatMap(({ facts }) => facts).every(({ batch }) => batch.startsWith('look/'))).toBe(true);
      const found = samplesOf(all);
      // A dead exporter is unknown: nothing is repeated beyond two scrapes.
      const during = [...found.keys()].filter(
        (key) => Number(key.split(' ')[1]) > SILENT_FROM_S + 60 && Number(key.split(' ')[1]) < SILENT_UNTIL_S,
      );
      expect(during).toEqual([]);
      expect(found.size).toBeGreaterThan(truth(END_S).size / 11);
      expect(found.size).toBeLessThan(truth(END_S).size / 9);
    });

    it('a pod of two days is told once, by the newer', async () => {
      const rows = (await hauls(withKube, undefined, END_S + 30, { lookStepS: 300 })).flatMap(({ facts }) => facts);
      const told = rows
        .filter(({ table }) => table === 'allocation')
        .map(({ batch, rows: own, hints }) => [
          batch,
          own.map((row) => row['allocation_id'] as string).toSorted(),
          hints?.length,
        ]);
      expect(told).toEqual([
        ['look/pods/2026-11-15', ['uid-train', 'uid-notebook-1', 'uid-notebook-2', 'uid-slice'].toSorted(), 4],
        ['look/pods/2026-11-14', ['uid-done'], 1],
      ]);
    });

    it('a part of the GPUs, evenly, and says how many were not read', async () => {
      const all = await hauls(withKube, undefined, END_S + 30, { lookStepS: 300, gpusMax: 2 });
      const devices = new Set([...samplesOf(all).keys()].map((key) => key.split(' ')[0]));
      expect(devices).toEqual(new Set([GPU.held, GPU.quiet]));
      expect(all.at(-1)?.gpus).toEqual({ seen: 5, notRead: 3 });
    });

    it('a signal ends it after a whole haul, without complaint', async () => {
      const stop = new AbortController();
      const source = prometheusSource({ name: 'p', url: withKube });
      const found: Haul[] = [];
      const request = {
        now: new Date((END_S + 30) * 1000),
        signal: stop.signal,
        progress: () => undefined,
        lookStepS: 300,
      };
      for await (const haul of source.pull(undefined, request)) {
        found.push(haul);
        stop.abort();
      }
      expect(found).toHaveLength(1);
    });
  });

  it('only what matches is read', async () => {
    const source = prometheusSource({ name: 'p', url: withKube, matchers: '{Hostname="gpu-b"}' });
    const found: Haul[] = [];
    const request = {
      now: new Date((END_S + 30) * 1000),
      signal: new AbortController().signal,
      progress: () => undefined,
    };
    for await (const haul of source.pull(undefined, request)) found.push(haul);
    const devices = new Set([...samplesOf(found).keys()].map((key) => key.split(' ')[0]));
    expect(devices).toEqual(new Set([GPU.quiet, `${GPU.cut}/3`, GPU.moved]));
  });
});
