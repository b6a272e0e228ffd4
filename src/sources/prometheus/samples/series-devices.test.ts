import { describe, expect, it } from 'vitest';
import { bindingsOf, SeriesDevices, seenSeries, type LabelHabits } from './series-devices.ts';

const UUID = 'GPU-5d1a7c1e-0000-4000-8000-000000000001';
const habits: LabelHabits = { podTargets: new Set(['10.0.0.1:9400']) };
const EXPORTER = { pod: 'dcgm-exporter-abc', namespace: 'gpu-operator' };

describe('what labels say', () => {
  const cases: Record<string, { labels: Record<string, string>; habits?: LabelHabits; want: object | undefined }> = {
    'an exporter by itself': {
      labels: { UUID, Hostname: 'n1', gpu: '3', modelName: 'H100', pod: 'train-0', namespace: 'nlp' },
      want: { deviceId: UUID, nodeId: 'n1', gpuIndex: 3, model: 'H100', pod: { namespace: 'nlp', name: 'train-0' } },
    },
    'a target with a pod of its own: the exported one counts': {
      labels: {
        UUID,
        Hostname: 'n1',
        instance: '10.0.0.1:9400',
        ...EXPORTER,
        exported_pod: 'train-0',
        exported_namespace: 'nlp',
      },
      want: { pod: { namespace: 'nlp', name: 'train-0' } },
    },
    'and where none is exported the GPU is nobody’s': {
      labels: { UUID, Hostname: 'n1', instance: '10.0.0.1:9400', pod: 'metrics-x7f', namespace: 'gpu-operator' },
      want: { pod: undefined },
    },
    'a target without, beside it: its pod is the exporter’s word': {
      labels: { UUID, hostname: 'n2', instance: '10.0.0.2:9400', pod: 'chat-1', namespace: 'serving' },
      want: { nodeId: 'n2', pod: { namespace: 'serving', name: 'chat-1' } },
    },
    'the label the user names goes before all': {
      labels: { UUID, Hostname: 'pod-name', machine: 'rack-7' },
      habits: { ...habits, nodeLabel: 'machine' },
      want: { nodeId: 'rack-7' },
    },
    'the address of the exporter, without its port, as the last resort': {
      labels: { UUID, instance: 'gpu-9.example:9400' },
      want: { nodeId: 'gpu-9.example' },
    },
    'a slice goes by its parent and its instance': {
      labels: { UUID, Hostname: 'n1', GPU_I_ID: '5', GPU_I_PROFILE: '1g.10gb' },
      want: { deviceId: `${UUID}/5`, parentDeviceId: UUID, migProfile: '1g.10gb' },
    },
    'no machine at all': { labels: { UUID }, want: undefined },
    'no GPU at all': { labels: { instance: 'x:1' }, want: undefined },
  };
  it.each(Object.entries(cases))('%s', (_, { labels, habits: own = habits, want }) => {
    const seen = seenSeries(labels, own);
    const isSeen = seen !== undefined;
    expect({ isSeen, ...(isSeen && { pod: undefined, ...seen }) }).toMatchObject({
      isSeen: want !== undefined,
      ...want,
    });
  });
});

describe('series of one GPU', () => {
  const bytes = (labels: Record<string, string>) => {
    const labelBytes = Buffer.from(JSON.stringify(labels));
    return { labelBytes, labelLength: labelBytes.length };
  };
  const gpu = (metric: string, uuid: string, more = {}) =>
    bytes({ A: 'x', UUID: uuid, __name__: metric, Hostname: 'n', ...more });

  it('are one, whatever the metric and the order', () => {
    const devices = new SeriesDevices(habits);
    const [first, second] = [devices.track('a'), devices.track('b')];
    const seen = ['1', '2', '3'].map((uuid) => devices.of(first, gpu('a', uuid)));
    expect(['1', '2', '3'].map((uuid) => devices.of(second, gpu('b', uuid)))).toEqual(seen);
    expect(['3', '1'].map((uuid) => devices.of(devices.track('b'), gpu('b', uuid)))).toEqual([seen[2], seen[0]]);
    expect(new Set(seen).size).toBe(3);
  });

  it('with other labels are others', () => {
    const devices = new SeriesDevices(habits);
    const track = devices.track('a');
    const pods = ['p', 'q'].map((pod) => devices.of(track, gpu('a', '1', { pod, namespace: 'x' }))?.pod?.name);
    expect(pods).toEqual(['p', 'q']);
  });

  it('that name none are counted, with an example', () => {
    const devices = new SeriesDevices(habits);
    const track = devices.track('a');
    devices.of(track, bytes({ __name__: 'a' }));
    devices.of(track, bytes({ __name__: 'a' }));
    expect([devices.strangers, devices.strangerExample]).toEqual([2, '{"__name__":"a"}']);
  });

  it('bind a device to its place and to its pods, from the first to the last they were seen', () => {
    const of = (pod: string | undefined, firstMs: number, lastMs: number, more = {}) => ({
      deviceId: 'g',
      nodeId: 'n',
      exporter: 'e',
      gpuIndex: 1,
      device: 0,
      ...(pod !== undefined && { pod: { namespace: 'x', name: pod } }),
      firstMs,
      lastMs,
      ...more,
    });
    const span = (from: number, until: number) => ({ from: new Date(from), until: new Date(until) });
    const place = { deviceId: 'g', nodeId: 'n', gpuIndex: 1 };
    expect(
      bindingsOf([
        of('p', 0, 9),
        of('q', 5, 20),
        of('p', 12, 15),
        of(undefined, 21, 30),
        of('p', 0, 1, { deviceId: 'g/1', parentDeviceId: 'g' }),
        of('p', 2, 8, { deviceId: 'h/1', parentDeviceId: 'h', gpuIndex: 2 }),
      ]),
    ).toEqual([
      { ...place, pod: { namespace: 'x', name: 'p' }, ...span(0, 15) },
      { ...place, pod: { namespace: 'x', name: 'q' }, ...span(5, 20) },
      { ...place, ...span(0, 30) },
      { deviceId: 'g/1', nodeId: 'n', pod: { namespace: 'x', name: 'p' }, ...span(0, 1) },
      { deviceId: 'h/1', nodeId: 'n', pod: { namespace: 'x', name: 'p' }, ...span(2, 8) },
      // The GPU it is cut from is at the place; whose it is, only slices say.
      { deviceId: 'h', nodeId: 'n', gpuIndex: 2, ...span(2, 8) },
    ]);
  });
});
