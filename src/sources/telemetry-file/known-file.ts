import { gpuMetricOf } from '../gpu-metrics/metric-columns.ts';
import { missingMetrics } from '../gpu-metrics/missing-metrics.ts';
import { linesOf, nothingTaken, PartCount } from './telemetry-file.ts';
import type { TelemetryFile } from './telemetry-file.ts';

const COUNTER_LINE = /^\s*([A-Za-z_][A-Za-z0-9_]*)\s*,\s*(?:gauge|counter|label|histogram|summary)\s*,/;
const METRIC_NAME = /^[a-zA-Z_:][a-zA-Z0-9_:.]*$/;

/** Is most of it lines of a list of counters: field, type, help? */
export function isCounterList(lines: readonly string[]): boolean {
  const said = lines.filter((line) => line.trim() !== '' && !line.trim().startsWith('#'));
  return said.length > 0 && said.filter((line) => COUNTER_LINE.test(line)).length * 2 > said.length;
}

/** What a dcgm-exporter with this list of counters would measure, and what would sharpen the answers. */
export function readCounterList(text: string): TelemetryFile {
  const count = new PartCount();
  const fields = new Set<string>();
  for (const line of linesOf(text)) {
    const field = COUNTER_LINE.exec(line)?.[1];
    if (field !== undefined) {
      fields.add(field);
      count.add(
        gpuMetricOf(field) === undefined ? 'fields no column is kept for' : 'fields Bursar reads from the exporter',
        1,
        { example: field },
      );
    } else if (line.trim() === '') count.add('blank');
    else if (COUNTER_LINE.test(line.replace(/^\s*#\s*/, ''))) count.add('fields that are switched off');
    else if (line.trim().startsWith('#')) count.add('comments');
    else count.add('lines not understood', 1, { example: line });
  }
  const advice = missingMetrics(fields).map(
    ({ missing, sharpens }) => `${missing.split(' ')[0]} would sharpen the answers: it ${sharpens}`,
  );
  return {
    kind: 'a list of counters for dcgm-exporter: settings, no measurements',
    isRecognised: true,
    unit: 'line',
    units: 'lines',
    total: linesOf(text).length,
    parts: count.parts(),
    readings: [],
    notes: advice,
  };
}

/** Is it nothing but names of metrics, one a line? */
export function isMetricNames(lines: readonly string[]): boolean {
  const said = lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'));
  return said.length > 1 && said.every((line) => METRIC_NAME.test(line) && /[_:]/.test(line));
}

export function readMetricNames(text: string): TelemetryFile {
  const names = linesOf(text).map((line) => line.trim());
  const serving = names.filter((name) => /^(?:ray_)?vllm[:_]/.test(name)).length;
  const why =
    serving * 2 > names.length ? 'names of serving metrics, without values' : 'names of metrics, without values';
  return nothingTaken('a list of metric names: no measurements', text, why);
}

type Tree = Readonly<Record<string, unknown>>;

function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** JSON we know and take nothing from: dashboards. Undefined for other JSON. */
export function readKnownJson(value: unknown): TelemetryFile | undefined {
  if (!isTree(value)) return undefined;
  const panels = panelsOf(value);
  const isDashboard = panels.length > 0 && ('schemaVersion' in value || '__requires' in value || 'templating' in value);
  return isDashboard ? dashboard(panels) : undefined;
}

function panelsOf(value: Tree): Tree[] {
  const found: Tree[] = [];
  const waiting: unknown[] = [value['panels'], value['rows']];
  while (waiting.length > 0 && found.length < 100_000) {
    const next = waiting.shift();
    if (Array.isArray(next)) waiting.push(...next);
    else if (isTree(next)) {
      if ('type' in next && next['type'] !== 'row') found.push(next);
      waiting.push(next['panels']);
    }
  }
  return found;
}

function dashboard(panels: readonly Tree[]): TelemetryFile {
  const text = JSON.stringify(panels);
  const metrics = new Set([...text.matchAll(/\b[A-Za-z_:][A-Za-z0-9_:]{3,}\b/g)].map(([name]) => name));
  const read = [...metrics].filter((name) => gpuMetricOf(name) !== undefined);
  const count = new PartCount();
  count.add('panels: questions, no measurements', panels.length);
  return {
    kind: 'a Grafana dashboard: no measurements',
    isRecognised: true,
    unit: 'panel',
    units: 'panels',
    total: panels.length,
    parts: count.parts(),
    readings: [],
    notes:
      read.length === 0 ? [] : [`it asks for ${read.join(', ')}, which Bursar reads from the Prometheus behind it`],
  };
}
