import { describe, expect, it } from 'vitest';
import { DeviceReadings } from './device-readings.ts';
import type { SeriesValue } from './device-readings.ts';
import { factsOfReadings, migShareOfMemory } from './gpu-reading.ts';

const AT = new Date('2026-11-16T10:00:00.700Z');
const GPU = { gpu: '0', UUID: 'GPU-a', Hostname: 'n1', modelName: 'H100' };

function gather(series: readonly SeriesValue[], skewMaxS?: number) {
  const readings = new DeviceReadings({ at: AT, nodeId: 'target', ...(skewMaxS !== undefined && { skewMaxS }) });
  const fates = series.map((each) => readings.add(each));
  return { fates, readings: readings.readings(), skewed: readings.skewed, repeated: readings.repeated };
}
const series = (
  name: string,
  value: number,
  labels: Record<string, string> = GPU,
  timestampMs?: number,
): SeriesValue => ({
  name,
  labels,
  value,
  ...(timestampMs !== undefined && { timestampMs }),
});

describe('one reading for each device', () => {
  it('has every column the exporter sent, at the second of the scrape', () => {
    const { readings } = gather([series('DCGM_FI_DEV_GPU_UTIL', 50), series('DCGM_FI_DEV_POWER_USAGE', 101.6)]);
    expect(readings).toEqual([
      {
        deviceId: 'GPU-a',
        nodeId: 'n1',
        gpuIndex: 0,
        model: 'H100',
        at: new Date('2026-11-16T10:00:00Z'),
        values: {
          util_permille: 500,
          power_w: 102,
        },
      },
    ]);
  });

  it('two exporters of one GPU: the zero of the second does not hide the work', () => {
    const { readings, repeated } = gather([
      series('DCGM_FI_PROF_GR_ENGINE_ACTIVE', 0.9),
      series('DCGM_FI_PROF_GR_ENGINE_ACTIVE', 0, { ...GPU, Hostname: 'n1', job: 'other' }),
    ]);
    expect([readings[0]?.values, repeated]).toEqual([{ engine_permille: 900 }, 1]);
  });

  it('pods that share a GPU see the same value, which is not added up', () => {
    const { readings } = gather([
      series('DCGM_FI_PROF_SM_ACTIVE', 0.4, { ...GPU, namespace: 'a', pod: 'p', pod_uid: 'u-1' }),
      series('DCGM_FI_PROF_SM_ACTIVE', 0.4, { ...GPU, namespace: 'a', pod: 'q' }),
    ]);
    expect(readings).toMatchObject([
      {
        values: { sm_permille: 400 },
        pods: [
          { namespace: 'a', name: 'p', uid: 'u-1' },
          { namespace: 'a', name: 'q' },
        ],
      },
    ]);
  });

  it('traffic is both ways together, and unknown while one way is', () => {
    const sent = series('DCGM_FI_PROF_PCIE_TX_BYTES', 3e9);
    expect(gather([sent]).readings[0]?.values).toEqual({});
    expect(gather([sent, series('DCGM_FI_PROF_PCIE_RX_BYTES', 1e9)]).readings[0]?.values).toEqual({ pcie_mb_s: 4000 });
  });

  it('a blank is no value, and a GPU without values is still there', () => {
    const { fates, readings } = gather([series('DCGM_FI_DEV_FB_USED', 2147483632), series('DCGM_FI_DEV_GPU_TEMP', 30)]);
    expect([fates, readings.map(({ values }) => values)]).toEqual([['blank', 'device'], [{}]]);
    expect(factsOfReadings(readings)).toMatchObject({ samples: [], devices: [{ device_id: 'GPU-a' }] });
  });

  it('series that are not of a GPU, or name none', () => {
    const { fates } = gather([
      series('kube_pod_info', 1, { uuid: 'x' }),
      series('DCGM_FI_DEV_GPU_UTIL', 1, {}),
      series('nv_gpu_utilization', 0.5, { gpu_uuid: 'GPU-b' }),
    ]);
    expect(fates).toEqual(['no-column', 'no-device', 'kept']);
  });
});

describe('slices', () => {
  const SLICE = { ...GPU, GPU_I_ID: '9', GPU_I_PROFILE: '1g.10gb' };
  it('keep what is measured of them; the power beside it is that of their GPU, the utilisation of nobody', () => {
    const { fates, readings } = gather([
      series('DCGM_FI_PROF_GR_ENGINE_ACTIVE', 0.5, SLICE),
      series('DCGM_FI_DEV_POWER_USAGE', 300, SLICE),
      series('DCGM_FI_DEV_GPU_UTIL', 0, SLICE),
    ]);
    expect(fates).toEqual(['kept', 'kept', 'not-of-a-slice']);
    expect(Object.fromEntries(readings.map(({ deviceId, values }) => [deviceId, values]))).toEqual({
      'GPU-a': { power_w: 300 },
      'GPU-a/9': { engine_permille: 500 },
    });
    expect(factsOfReadings(readings)).toMatchObject({
      devices: expect.arrayContaining([
        expect.objectContaining({
          device_id: 'GPU-a/9',
          parent_device_id: 'GPU-a',
          kind: 'mig',
          mig_profile: '1g.10gb',
        }),
        expect.objectContaining({ device_id: 'GPU-a', kind: 'gpu' }),
      ]),
      nodes: [{ node_id: 'n1', gpu_count: 1, presence: 'inferred' }],
      bindings: [{ deviceId: 'GPU-a', nodeId: 'n1', gpuIndex: 0 }],
    });
  });

  it.each([
    [40448, 81559, 31_500],
    [20096, 81559, 15_750],
    [9984, 81559, 7875],
    [undefined, 81559, undefined],
    [100, 81559, undefined],
  ])('%s of %s MiB is a share of %s', (slice, whole, want) => expect(migShareOfMemory(slice, whole)).toBe(want));
});

describe('clocks', () => {
  const minutes = (count: number): number => AT.getTime() + count * 60_000;
  const cases: Record<string, { sentMs: number; skewMaxS?: number; wantAt: string; wantSkewed: number }> = {
    'a time of the exporter’s own is kept': { sentMs: minutes(-1), skewMaxS: 300, wantAt: '09:59:00', wantSkewed: 0 },
    'a clock six minutes behind is not believed': {
      sentMs: minutes(-6),
      skewMaxS: 300,
      wantAt: '10:00:00',
      wantSkewed: 1,
    },
    'nor one ahead': { sentMs: minutes(6), skewMaxS: 300, wantAt: '10:00:00', wantSkewed: 1 },
    'a file may be of any age': { sentMs: minutes(-60), wantAt: '09:00:00', wantSkewed: 0 },
    'no moment at all': { sentMs: 1e300, wantAt: '10:00:00', wantSkewed: 1 },
  };
  it.each(Object.entries(cases))('%s', (_, { sentMs, skewMaxS, wantAt, wantSkewed }) => {
    const { readings, skewed } = gather([series('DCGM_FI_DEV_GPU_UTIL', 1, GPU, sentMs)], skewMaxS);
    expect([readings[0]?.at.toISOString().slice(11, 19), skewed]).toEqual([wantAt, wantSkewed]);
  });
});
