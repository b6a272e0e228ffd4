import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { LabPart } from './lab.ts';

/** A series of the past: its labels, and pairs of second and value. */
export interface PastSeries {
  readonly metric: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly samples: readonly (readonly [second: number, value: number])[];
}

/** Samples at even distances, the first at `fromS`, none at or after `untilS`. */
export function samplesEvery(
  stepS: number,
  fromS: number,
  untilS: number,
  value: (second: number) => number,
): [number, number][] {
  const samples: [number, number][] = [];
  for (let second = fromS; second < untilS; second += stepS) samples.push([second, value(second)]);
  return samples;
}

/** The past as the text `promtool` takes; metrics stand together, as OpenMetrics wants it. */
export function openMetrics(series: readonly PastSeries[]): string {
  const byMetric = new Map<string, PastSeries[]>();
  for (const each of series) byMetric.set(each.metric, [...(byMetric.get(each.metric) ?? []), each]);
  const lines: string[] = [];
  for (const [metric, own] of byMetric) {
    lines.push(`# TYPE ${metric} gauge`);
    for (const { labels, samples } of own) {
      const pairs = Object.entries(labels).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
      for (const [second, value] of samples) lines.push(`${metric}{${pairs.join(',')}} ${value} ${second}`);
    }
  }
  return `${lines.join('\n')}\n# EOF\n`;
}

/** Starts a Prometheus that remembers this past; gives its address. */
export async function prometheusWithPast(lab: LabPart, dir: string, series: readonly PastSeries[]): Promise<string> {
  const file = join(dir, 'past.txt');
  await writeFile(file, openMetrics(series));
  await lab.run('backfill', [dir, file]);
  const { PROMETHEUS_URL: url } = await lab.start(dir);
  if (url === undefined) throw new Error('the lab’s env.sh names no PROMETHEUS_URL');
  return url;
}
