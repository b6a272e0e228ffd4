import type { Metric, MetricDataQuery, MetricDataResult } from '@aws-sdk/client-cloudwatch';
import type { SampleBlock } from '../../../facts/source.ts';
import { NO_SAMPLE } from '../../../facts/source.ts';
import { SkippedVms } from '../vm.ts';
import type { CloudVm, VmSkipped } from '../vm.ts';

/** What the CloudWatch agent's `nvidia_gpu` section sends, and the column and factor each is kept in. */
export const AGENT_METRICS: Readonly<Record<string, { readonly column: string; readonly factor: number }>> = {
  nvidia_smi_utilization_gpu: { column: 'util_permille', factor: 10 },
  nvidia_smi_memory_used: { column: 'fb_used_mib', factor: 1 },
  nvidia_smi_power_draw: { column: 'power_w', factor: 1 },
};

/** CloudWatch keeps minutes for 15 days, five minutes for 63 and hours for 455. */
const KEPT: readonly (readonly [days: number, periodS: number])[] = [
  [15, 60],
  [63, 300],
  [455, 3600],
];

/** One metric of one GPU of one machine. */
export interface GpuSeries {
  readonly deviceId: string;
  readonly vmId: string;
  readonly column: string;
  readonly factor: number;
  readonly metric: Metric;
}

export function deviceIdOf(vmId: string, gpuIndex: number): string {
  return `${vmId}/gpu${gpuIndex}`;
}

/**
 * Question: which of CloudWatch's metrics speak of which GPU?
 *
 * The agent says which machine by `InstanceId`, if it was told to append that, else by `host`. A metric without an index is an
 * average over the machine's GPUs: it speaks of a GPU only where there is one.
 */
export function gpuSeries(
  metrics: readonly Metric[],
  vms: readonly CloudVm[],
): { readonly series: readonly GpuSeries[]; readonly skipped: readonly VmSkipped[] } {
  const skipped = new SkippedVms();
  const byId = new Map(vms.map((vm) => [vm.id, vm]));
  const byHost = new Map(vms.flatMap((vm) => hostsOf(vm).map((host) => [host, vm] as const)));
  const found = new Map<string, GpuSeries>();
  const byIndex = new Set<string>();
  for (const metric of metrics) {
    const meaning = Object.hasOwn(AGENT_METRICS, metric.MetricName ?? '')
      ? AGENT_METRICS[metric.MetricName ?? '']
      : undefined;
    if (meaning === undefined || metric.Namespace === undefined) continue;
    const dimensions = new Map((metric.Dimensions ?? []).map(({ Name, Value }) => [Name ?? '', Value ?? '']));
    const vm = byId.get(dimensions.get('InstanceId') ?? '') ?? byHost.get(dimensions.get('host')?.toLowerCase() ?? '');
    const shown = `${metric.MetricName ?? ''} of ${dimensions.get('InstanceId') ?? dimensions.get('host') ?? 'no machine'}`;
    if (vm === undefined) {
      skipped.add('a GPU metric of no machine that was listed', shown);
      continue;
    }
    const index = indexOf(dimensions.get('index'), vm);
    if (index === undefined) {
      skipped.add(dimensions.has('index') ? 'a GPU the machine does not have' : 'not told by GPU', shown);
      continue;
    }
    const deviceId = deviceIdOf(vm.id, index);
    const key = `${deviceId} ${meaning.column}`;
    if (byIndex.has(key)) continue;
    if (dimensions.has('index')) byIndex.add(key);
    found.set(key, { deviceId, vmId: vm.id, ...meaning, metric });
  }
  return { series: [...found.values()], skipped: skipped.list() };
}

function hostsOf({ tags }: CloudVm): string[] {
  const name = tags['aws:private-dns-name']?.toLowerCase();
  return name === undefined ? [] : [name, name.split('.')[0] ?? name];
}

function indexOf(text: string | undefined, { gpus }: CloudVm): number | undefined {
  if (text === undefined) return gpus.count === 1 ? 0 : undefined;
  const index = /^\d{1,3}$/.test(text) ? Number(text) : -1;
  return index >= 0 && index < gpus.count ? index : undefined;
}

/** How far apart samples of a time so long ago still are. */
export function periodAt(from: Date, now: Date, leastS: number): number {
  const ageDays = (now.getTime() - from.getTime()) / 86_400_000;
  const kept = KEPT.find(([days]) => ageDays < days)?.[1] ?? 3600;
  return Math.ceil(Math.max(kept, leastS) / kept) * kept;
}

export function metricQueries(series: readonly GpuSeries[], periodS: number): MetricDataQuery[] {
  return series.map(({ metric }, index) => ({
    Id: `m${index}`,
    MetricStat: {
      Metric: { Namespace: metric.Namespace, MetricName: metric.MetricName, Dimensions: metric.Dimensions },
      Period: periodS,
      Stat: 'Average',
    },
    ReturnData: true,
  }));
}

const VALUE_MAX = 2_147_483_647;

/** The answers of CloudWatch as samples; `series` in the order they were asked for. */
export function samplesOf(
  series: readonly GpuSeries[],
  results: readonly MetricDataResult[],
  batch: string,
  stepS: number,
): SampleBlock {
  const devices = [...new Set(series.map(({ deviceId }) => deviceId))];
  const places = new Map(devices.map((deviceId, place) => [deviceId, place]));
  const rows = new Map<string, { place: number; ts: number; values: Map<string, number> }>();
  for (const { Id: id, Timestamps: times = [], Values: values = [] } of results) {
    const asked = series[Number(/^m(\d+)$/.exec(id ?? '')?.[1] ?? -1)];
    if (asked === undefined) continue;
    const place = places.get(asked.deviceId) ?? 0;
    for (const [index, time] of times.entries()) {
      const ts = Math.floor(time.getTime() / 1000);
      const value = Math.round((values[index] ?? Number.NaN) * asked.factor);
      if (!(value >= 0 && value <= VALUE_MAX && ts > 0 && ts < 2 ** 32)) continue;
      const key = `${place} ${ts}`;
      const row = rows.get(key) ?? { place, ts, values: new Map<string, number>() };
      row.values.set(asked.column, value);
      rows.set(key, row);
    }
  }
  const sorted = [...rows.values()].sort((a, b) => a.place - b.place || a.ts - b.ts);
  const columns = [...new Set(series.map(({ column }) => column))];
  return {
    batch,
    mode: 'extend',
    devices,
    rows: sorted.length,
    deviceIndex: Uint32Array.from(sorted, ({ place }) => place),
    tsSeconds: Uint32Array.from(sorted, ({ ts }) => ts),
    stepS,
    metrics: new Map(
      columns.map((column) => [column, Int32Array.from(sorted, ({ values }) => values.get(column) ?? NO_SAMPLE)]),
    ),
  };
}
