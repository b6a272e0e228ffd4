import type { Metric } from '@aws-sdk/client-cloudwatch';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NO_SAMPLE } from '../../../facts/source.ts';
import type { CloudVm } from '../vm.ts';
import { gpuSeries, metricQueries, periodAt, samplesOf } from './aws-metrics.ts';

const vm = (id: string, count: number, dns?: string): CloudVm => ({
  cloud: 'aws',
  id,
  resourceId: id,
  region: 'us-east-1',
  instanceType: 'x',
  gpus: { model: 'A10G', count },
  from: new Date(0),
  tags: dns === undefined ? {} : { 'aws:private-dns-name': dns },
});
const metric = (name: string, dimensions: Record<string, string>): Metric => ({
  Namespace: 'CWAgent',
  MetricName: name,
  Dimensions: Object.entries(dimensions).map(([Name, Value]) => ({ Name, Value })),
});
const util = (dimensions: Record<string, string>): Metric => metric('nvidia_smi_utilization_gpu', dimensions);

const cases: Record<string, { metrics: Metric[]; vms: CloudVm[]; want: readonly string[]; skipped?: string }> = {
  'by instance and index': {
    metrics: [util({ InstanceId: 'i-1', index: '3' })],
    vms: [vm('i-1', 4)],
    want: ['i-1/gpu3'],
  },
  'by host, where nothing was appended': {
    metrics: [util({ host: 'ip-10-0-0-7', index: '0' })],
    vms: [vm('i-1', 1, 'ip-10-0-0-7.ec2.internal')],
    want: ['i-1/gpu0'],
  },
  'without an index, on a machine of one GPU': {
    metrics: [util({ InstanceId: 'i-1' })],
    vms: [vm('i-1', 1)],
    want: ['i-1/gpu0'],
  },
  'an average over four GPUs is nobody’s activity': {
    metrics: [util({ InstanceId: 'i-1' })],
    vms: [vm('i-1', 4)],
    want: [],
    skipped: 'not told by GPU',
  },
  'a machine that was not listed': {
    metrics: [util({ InstanceId: 'i-9', index: '0' })],
    vms: [vm('i-1', 1)],
    want: [],
    skipped: 'a GPU metric of no machine that was listed',
  },
  'a GPU too many': {
    metrics: [util({ InstanceId: 'i-1', index: '4' })],
    vms: [vm('i-1', 4)],
    want: [],
    skipped: 'a GPU the machine does not have',
  },
  'rolled up beside by index: once': {
    metrics: [
      util({ InstanceId: 'i-1' }),
      util({ InstanceId: 'i-1', index: '0' }),
      util({ InstanceId: 'i-1', index: '0', name: 'A10G' }),
    ],
    vms: [vm('i-1', 1)],
    want: ['i-1/gpu0'],
  },
  'another metric of the agent': {
    metrics: [metric('nvidia_smi_fan_speed', { InstanceId: 'i-1', index: '0' })],
    vms: [vm('i-1', 1)],
    want: [],
  },
};

describe('metrics of the CloudWatch agent', () => {
  it.each(Object.entries(cases))('%s', (_, { metrics, vms, want, skipped }) => {
    const found = gpuSeries(metrics, vms);
    expect(found.series.map(({ deviceId }) => deviceId)).toEqual(want);
    expect(found.skipped.map(({ reason }) => reason)).toEqual(skipped === undefined ? [] : [skipped]);
  });

  it('the one by index is the one asked for', () => {
    const rolledUp = util({ InstanceId: 'i-1' });
    const byIndex = util({ InstanceId: 'i-1', index: '0' });
    const { series } = gpuSeries([rolledUp, byIndex], [vm('i-1', 1)]);
    expect(metricQueries(series, 60)[0]?.MetricStat?.Metric?.Dimensions).toEqual(byIndex.Dimensions);
  });

  it('what a GPU did not send is no zero', () => {
    const names = ['nvidia_smi_utilization_gpu', 'nvidia_smi_memory_used', 'nvidia_smi_power_draw'];
    const { series } = gpuSeries(
      names.map((name) => metric(name, { InstanceId: 'i-1', index: '0' })),
      [vm('i-1', 1)],
    );
    const times = [60, 120].map((second) => new Date((1_800_000_000 + second) * 1000));
    const results = [
      { Id: 'm0', Timestamps: times, Values: [99.96, 0] },
      { Id: 'm2', Timestamps: times.slice(1), Values: [71.4] },
    ];
    const { metrics, rows } = samplesOf(series, results, 'samples/x', 60);
    expect(rows).toBe(2);
    expect([...(metrics.get('util_permille') ?? [])]).toEqual([1000, 0]);
    expect([...(metrics.get('power_w') ?? [])]).toEqual([NO_SAMPLE, 71]);
    expect([...(metrics.get('fb_used_mib') ?? [])]).toEqual([NO_SAMPLE, NO_SAMPLE]);
  });

  const periods: Record<string, { daysAgo: number; leastS: number; want: number }> = {
    'minutes are kept for two weeks': { daysAgo: 14, leastS: 60, want: 60 },
    'then five minutes': { daysAgo: 16, leastS: 60, want: 300 },
    'then hours': { daysAgo: 64, leastS: 60, want: 3600 },
    'a first look takes fewer': { daysAgo: 1, leastS: 290, want: 300 },
  };
  it.each(Object.entries(periods))('%s', (_, { daysAgo, leastS, want }) => {
    const now = new Date('2026-11-16T00:00:00Z');
    expect(periodAt(new Date(now.getTime() - daysAgo * 86_400_000), now, leastS)).toBe(want);
  });
});

describe('strange answers of CloudWatch', () => {
  it('lead to samples in range or to none, never to a crash', () => {
    const text = fc.option(
      fc.oneof(fc.string(), fc.constantFrom('i-1', '0', '1', '-1', '1e3', 'index', 'InstanceId', 'host')),
      { nil: undefined },
    );
    const dimensions = fc.array(fc.record({ Name: text, Value: text }), { maxLength: 4 });
    const anyMetric = fc.record({
      Namespace: text,
      MetricName: fc.oneof(text, fc.constantFrom('nvidia_smi_utilization_gpu', 'nvidia_smi_memory_used', '__proto__')),
      Dimensions: fc.option(dimensions, { nil: undefined }),
    });
    const result = fc.record({
      Id: fc.option(fc.oneof(fc.constantFrom('m0', 'm1', 'm-1', 'm99'), fc.string()), { nil: undefined }),
      Timestamps: fc.array(fc.date({ noInvalidDate: false }), { maxLength: 5 }),
      Values: fc.array(fc.double(), { maxLength: 5 }),
    });
    fc.assert(
      fc.property(fc.array(anyMetric, { maxLength: 5 }), fc.array(result, { maxLength: 4 }), (metrics, results) => {
        const { series } = gpuSeries(metrics, [vm('i-1', 2), vm('0', 1)]);
        const block = samplesOf(series, results, 'x', 60);
        expect(block.deviceIndex).toHaveLength(block.rows);
        for (const values of block.metrics.values()) {
          expect(values).toHaveLength(block.rows);
          expect(values.every((value) => value >= 0 || value === NO_SAMPLE)).toBe(true);
        }
      }),
      { numRuns: Number(process.env['FUZZ_RUNS'] ?? 10_000) },
    );
  });
});
