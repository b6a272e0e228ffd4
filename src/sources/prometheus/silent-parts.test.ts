import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { labPart } from '../../../test/lab.ts';
import { at, END_S, GPU, GPU_PAST, KUBE_PAST } from '../../../test/prometheus-fleet.ts';
import { prometheusWithPast, samplesEvery, type PastSeries } from '../../../test/prometheus-history.ts';
import { textOf, type FactRow, type Haul } from '../../facts/source.ts';
import { prometheusSource } from './prometheus-source.ts';

const lab = labPart('prometheus');
const folders: string[] = [];
const NOW = new Date((END_S + 30) * 1000);

async function hauls(past: readonly PastSeries[], now = NOW, cursor?: unknown): Promise<Haul[]> {
  const dir = await mkdtemp(join(tmpdir(), 'bursar-silent-'));
  folders.push(dir);
  const url = await prometheusWithPast(lab, dir, past);
  const source = prometheusSource({ name: 'p', url, cluster: 'a', retryPausesMs: [] });
  const found: Haul[] = [];
  const request = {
    now,
    signal: new AbortController().signal,
    progress: () => undefined,
  };
  for await (const haul of source.pull(cursor, request)) found.push(haul);
  return found;
}

/** Rows of the batches whose names begin so. */
const rowsOf = (all: readonly Haul[], table: string, batch = ''): FactRow[] =>
  all
    .flatMap(({ facts }) => facts)
    .filter((each) => each.table === table && each.batch.startsWith(batch))
    .flatMap(({ rows }) => rows);
const shown = (value: unknown) => (value instanceof Date ? value.toISOString().slice(8, 19) : value);

describe.skipIf(!lab.installed)('parts that fall silent', () => {
  afterAll(async () => {
    for (const dir of folders) {
      await lab.stop(dir);
      await rm(dir, { recursive: true, force: true });
    }
  });

  describe('kube-state-metrics, while the exporters speak on', () => {
    const silentS = at('15T00:50:00');
    const past = [
      ...GPU_PAST,
      ...KUBE_PAST.map((series) => ({ ...series, samples: series.samples.filter(([second]) => second < silentS) })),
    ];
    let all: Haul[] = [];
    beforeAll(async () => {
      all = await hauls(past);
    }, 120_000);

    it('pods are held on, but for those it had seen to end', () => {
      const ends = rowsOf(all, 'allocation', 'pods/2026-11-15').map((row) => [
        row['allocation_id'],
        shown(row['held_until']),
        shown(row['observed_at']),
      ]);
      expect(ends.toSorted((a, b) => (String(a[0]) < String(b[0]) ? -1 : 1))).toEqual([
        ['uid-notebook-1', undefined, '15T02:20:30'],
        ['uid-notebook-2', undefined, '15T02:20:30'],
        ['uid-slice', undefined, '15T02:20:30'],
        ['uid-train', '15T00:30:00', '15T02:20:30'],
      ]);
    });

    it('machines stand on', () => {
      const nodes = rowsOf(all, 'node', 'nodes/2026-11-15').map((row) => [row['node_id'], row['present_until']]);
      expect(nodes).toEqual([
        ['gpu-a', undefined],
        ['gpu-b', undefined],
      ]);
    });

    it('nobody is said to wait, and the silence is told', () => {
      expect(all.flatMap(({ facts }) => facts).filter(({ table }) => table === 'waiting')).toEqual([]);
      const gaps = all
        .flatMap((haul) => haul.gaps ?? [])
        .filter(({ reason }) => reason.startsWith('kube-state-metrics'));
      expect(gaps).toEqual([
        { from: expect.any(Date), until: NOW, reason: expect.stringContaining('is silent since 2026-11-15T00:4') },
      ]);
    });
  });

  describe('kube-state-metrics, over midnight', () => {
    const [silentS, backS] = [at('14T23:40:00'), at('15T00:20:00')];
    const without = (fromS: number, untilS: number, past: readonly PastSeries[]) =>
      past.map((series) => ({
        ...series,
        samples: series.samples.filter(([second]) => second < fromS || second >= untilS),
      }));
    /** The pod as it is while it is listed in these spans; a stated beginning is the same on every day. */
    const pod = (name: string, isStated: boolean, spans: readonly (readonly [number, number])[]): PastSeries[] => {
      const labels = { instance: 'ksm:8080', job: 'ksm', namespace: 'nlp', pod: name, uid: `uid-${name}` };
      const say = (metric: string, more: Readonly<Record<string, string>>, value: number): PastSeries => ({
        metric,
        labels: { ...labels, ...more },
        samples: spans.flatMap(([fromS, untilS]) => samplesEvery(30, fromS, untilS, () => value)),
      });
      const asked = { container: 'main', node: 'gpu-a', resource: 'nvidia_com_gpu', unit: 'integer' };
      return [
        say('kube_pod_container_resource_requests', asked, 1),
        say('kube_pod_info', { node: 'gpu-a' }, 1),
        ...(isStated ? [say('kube_pod_status_scheduled_time', {}, at('14T22:30:00'))] : []),
      ];
    };
    const begunS = at('14T22:30:00');
    const pods = [
      ...pod('stays', false, [[begunS, END_S]]),
      ...pod('left-meanwhile', true, [[begunS, silentS]]),
      ...pod('came-meanwhile', false, [[backS, END_S]]),
    ];
    const spansOf = (all: readonly Haul[], day: string) =>
      rowsOf(all, 'allocation', `pods/${day}`)
        .filter((row) => /stays|meanwhile/.test(textOf(row, 'allocation_id')))
        .map((row) => [row['allocation_id'], shown(row['held_from']), shown(row['held_until'])])
        .toSorted((a, b) => (String(a[0]) < String(b[0]) ? -1 : 1));

    it('who is there before and after was there meanwhile, who is not has left when it fell silent', async () => {
      const all = await hauls([...GPU_PAST, ...without(silentS, backS, [...KUBE_PAST, ...pods])]);
      expect(spansOf(all, '2026-11-14')).toEqual([
        ['uid-left-meanwhile', '14T22:30:00', undefined],
        ['uid-stays', '14T22:30:00', '15T00:00:00'],
      ]);
      expect(spansOf(all, '2026-11-15')).toEqual([
        ['uid-came-meanwhile', '15T00:20:00', undefined],
        // The same beginning as on the day before: the later row is the one that counts.
        ['uid-left-meanwhile', '14T22:30:00', '14T23:40:00'],
        ['uid-stays', '15T00:00:00', undefined],
      ]);
    }, 120_000);

    it('while it is silent still, all it knew hold on into the new day, and a pull that goes on knows them too', async () => {
      const past = [...GPU_PAST, ...without(silentS, Infinity, [...KUBE_PAST, ...pods])];
      const all = await hauls(past);
      expect(spansOf(all, '2026-11-15')).toEqual([
        ['uid-left-meanwhile', '14T22:30:00', undefined],
        ['uid-stays', '15T00:00:00', undefined],
      ]);
      expect(rowsOf(all, 'node', 'nodes/2026-11-15').map((row) => [row['node_id'], row['present_until']])).toEqual([
        ['gpu-a', undefined],
        ['gpu-b', undefined],
      ]);
      expect(all.flatMap((haul) => haul.gaps ?? []).filter(({ reason }) => reason.startsWith('kube'))).toEqual([
        { from: expect.any(Date), until: new Date(at('15T00:00:00') * 1000), reason: expect.any(String) },
        { from: new Date(at('15T00:00:00') * 1000), until: NOW, reason: expect.stringContaining('2026-11-14T23:3') },
      ]);
      const later = await hauls(past, new Date(NOW.getTime() + 600_000), all.at(-1)?.cursor);
      expect(spansOf(later, '2026-11-15')).toEqual(spansOf(all, '2026-11-15'));
    }, 120_000);
  });

  describe('exporters, where only labels name pods', () => {
    const beginS = at('15T00:00:00');
    const series = (
      uuid: string,
      pod: string,
      spans: readonly (readonly [number, number])[],
      more: Readonly<Record<string, string>> = {},
    ): PastSeries => ({
      metric: 'DCGM_FI_PROF_GR_ENGINE_ACTIVE',
      labels: {
        UUID: uuid,
        Hostname: 'gpu-a',
        gpu: '0',
        modelName: 'NVIDIA H100 80GB HBM3',
        instance: 'gpu-a:9400',
        job: 'dcgm',
        ...(pod !== '' && { exported_pod: pod, exported_namespace: 'nlp' }),
        ...more,
      },
      samples: spans.flatMap(([fromS, untilS]) => samplesEvery(30, fromS, untilS, () => 0.5)),
    });
    let all: Haul[] = [];
    beforeAll(async () => {
      all = await hauls([
        series(GPU.held, 'again', [
          [beginS, at('15T00:40:00')],
          [at('15T01:30:00'), END_S],
        ]),
        series(GPU.held, '', [[at('15T00:40:00'), at('15T01:30:00')]]),
        series(GPU.quiet, 'cut-off', [[beginS, at('15T01:40:00')]]),
        series(GPU.cut, 'slice', [[beginS, END_S]], { GPU_I_ID: '3', GPU_I_PROFILE: '1g.10gb', gpu: '5' }),
      ]);
    }, 120_000);

    it('a name that comes back is held twice, one whose GPU is not heard of is held on', () => {
      const spans = rowsOf(all, 'allocation').map((row) => [
        row['workload_name'],
        shown(row['held_from']),
        shown(row['held_until']),
        shown(row['observed_at']),
      ]);
      expect(spans).toEqual([
        ['again', '15T00:00:00', '15T00:40:00', '15T02:20:30'],
        ['again', '15T01:30:00', undefined, '15T02:20:30'],
        ['cut-off', '15T00:00:00', undefined, '15T02:20:30'],
        ['slice', '15T00:00:00', undefined, '15T02:20:30'],
      ]);
    });

    it('a GPU of which only a slice is sent is there, at its place', () => {
      expect(rowsOf(all, 'device').find((row) => row['device_id'] === GPU.cut)).toMatchObject({
        kind: 'gpu',
        node_id: 'gpu-a',
        model: 'NVIDIA H100 80GB HBM3',
        present_until: undefined,
      });
      const places = all.flatMap(({ bindings }) => bindings ?? []).filter(({ deviceId }) => deviceId === GPU.cut);
      expect(new Set(places.map(({ gpuIndex, pod }) => `${gpuIndex} ${pod?.name ?? 'nobody'}`))).toEqual(
        new Set(['5 nobody']),
      );
    });
  });
});
