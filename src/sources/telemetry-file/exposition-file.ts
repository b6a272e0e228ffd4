import { readExposition } from '../exposition/parse-exposition.ts';
import { DeviceReadings } from '../gpu-metrics/device-readings.ts';
import type { Fate } from '../gpu-metrics/device-readings.ts';
import { gpuMetricOf } from '../gpu-metrics/metric-columns.ts';
import type { CounterReading } from '../serving/counter-memory.ts';
import { servingMetricOf, servingSeries } from '../serving/serving-metric.ts';
import { PartCount } from './telemetry-file.ts';
import type { TelemetryContext, TelemetryFile } from './telemetry-file.ts';

/** Families of series that are not about a GPU itself, by how their names begin. */
const FAMILIES: readonly (readonly [what: string, pattern: RegExp])[] = [
  [
    'serving metrics, of which no column is kept',
    /^(?:ray_)?vllm[:_]|^nv_(?:inference|cache|model|ensemble)_|^sglang[:_]|^tgi_|^lmcache[:_]/,
  ],
  ['series of Kueue, not read', /^kueue_/],
  [
    'series of Kubernetes: a Prometheus source reads them',
    /^kube_|^kubelet_|^container_|^apiserver_|^workqueue_|^rest_client_/,
  ],
  ['series of Slurm exporters: a Slurm source reads more', /^slurm_/],
  [
    'series of a program about itself',
    /^(?:go|process|python|promhttp|prometheus|jvm|nodejs|controller_runtime|certwatcher|leader_election)_|^(?:up|scrape_\w+)$/,
  ],
  ['series of Ray about itself', /^ray_/],
  ['series of the host of a Triton server', /^nv_(?:cpu|pinned|energy)/],
  ['series of a machine: CPU, disk, network', /^(?:node|windows|system|machine)_/],
];

const FATE_WORDS: Readonly<Record<Exclude<Fate, 'kept' | 'no-column'>, string>> = {
  device: 'series of GPUs that no column is kept for: they tell which GPUs there are',
  blank: 'blank values, which mean unknown',
  'not-of-a-slice': 'values of the whole GPU beside a slice of it',
  'no-device': 'series of GPUs that do not name one',
};

/** Reads what an exporter said, saved to a file. Without times of its own it is of one moment: `at`, else when it was written. */
export function readExpositionFile(text: string, context: TelemetryContext): TelemetryFile {
  const at = context.at ?? context.writtenAt;
  const nodeId = context.nodeId ?? context.stem;
  const readings = new DeviceReadings({ at, nodeId });
  const count = new PartCount();
  let [timed, untimed] = [0, 0];
  const exporters = new Set<string>();
  const counters: CounterReading[] = [];
  let countedAt: Date | undefined;
  const target = context.nodeId === undefined ? {} : { instance: context.nodeId, nodeId: context.nodeId };
  const reader = readExposition((sample) => {
    if (servingMetricOf(sample.name) !== undefined) {
      const series = servingSeries(sample.name, sample.labels, target);
      if (series !== undefined) counters.push({ series, value: sample.value });
      if (sample.timestampMs !== undefined) countedAt ??= new Date(Math.floor(sample.timestampMs / 1000) * 1000);
      count.add(series === undefined ? UNNAMED : COUNTERS, 1, { example: sample.name });
      return;
    }
    const fate = readings.add(sample);
    if (fate === 'kept') {
      count.add('series taken', 1, { table: 'gpu_sample' });
      if (sample.timestampMs === undefined) untimed += 1;
      else timed += 1;
    } else if (fate === 'no-column') count.add(familyOf(sample.name), 1, { example: sample.name });
    else count.add(FATE_WORDS[fate], 1, { example: sample.name });
    const exporter = gpuMetricOf(sample.name)?.exporter;
    if (exporter !== undefined) exporters.add(exporter);
  });
  reader.push(text);
  const report = reader.end();
  for (const { reason, count: lines, example } of report.notUnderstood) {
    count.add(`lines not understood: ${reason}`, lines, { example });
  }
  count.add('comments', report.comments);
  count.add('blank', report.blank);
  const found = readings.readings();
  const named = context.nodeId === undefined && found.some((reading) => reading.nodeId === nodeId);
  return {
    kind: kindOf(exporters, count, report.endsWithEof),
    isRecognised: true,
    unit: 'line',
    units: 'lines',
    total: report.lines,
    parts: count.parts(),
    readings: found,
    ...(counters.length > 0 && { scrape: { at: countedAt ?? at, counters } }),
    notes: [
      ...(untimed > 0 && context.at === undefined
        ? [`taken at ${at.toISOString().slice(0, 19)}Z, when the file was written: --at TIME says otherwise`]
        : []),
      ...(named ? [`no machine is named in it: taken as ${nodeId}, --node NAME says otherwise`] : []),
      ...(timed > 0 && context.at !== undefined ? ['its own times are kept: --at is for lines without one'] : []),
      ...(report.exemplarsNotUnderstood > 0
        ? [`${report.exemplarsNotUnderstood} exemplars not understood; their values are kept`]
        : []),
    ],
  };
}

const COUNTERS = 'serving counters: two scrapes of one target give what was done in between';
const UNNAMED = 'serving counters of a server nobody names: --node NAME says which';

function familyOf(name: string): string {
  return FAMILIES.find(([, pattern]) => pattern.test(name))?.[0] ?? 'series that are not about GPUs';
}

const EXPORTER_WORDS: Readonly<Record<string, string>> = {
  dcgm: 'dcgm-exporter',
  'dcgm-1.x': 'dcgm-exporter 1.x',
  amd: "AMD's exporter",
  'amd-smi': 'amd_smi_exporter',
  'nvidia-smi': 'nvidia_gpu_exporter',
  nvml: 'nvidia_gpu_prometheus_exporter',
  triton: 'Triton',
};

function kindOf(exporters: ReadonlySet<string>, count: PartCount, isOpenMetrics: boolean): string {
  const format = isOpenMetrics ? 'OpenMetrics' : 'Prometheus text';
  const names = [...exporters].map((exporter) => EXPORTER_WORDS[exporter] ?? exporter);
  const isServing = count.parts().some(({ what }) => what.startsWith('serving'));
  if (names.length > 0) return `a scrape of ${names.join(' and ')} (${format})`;
  return isServing ? `a scrape of a model server (${format})` : `a scrape (${format})`;
}
