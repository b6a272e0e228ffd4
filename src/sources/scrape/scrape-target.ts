import { OperationError } from '../../facts/operation-error.ts';
import type { Skipped } from '../../facts/source.ts';
import { readExposition, expositionFormat } from '../exposition/parse-exposition.ts';
import type { ExpositionReport } from '../exposition/parse-exposition.ts';
import { DeviceReadings } from '../gpu-metrics/device-readings.ts';
import type { Fate } from '../gpu-metrics/device-readings.ts';
import type { EnergyPower } from '../gpu-metrics/energy-power.ts';
import type { GpuReading } from '../gpu-metrics/gpu-reading.ts';
import { firstWords, shownUrl } from '../http/http-failure.ts';
import { errorText, httpGet } from '../http/http-get.ts';
import { servingSeries } from '../serving/serving-metric.ts';
import type { CounterReading } from '../serving/counter-memory.ts';

/** An exporter to ask. */
export interface ScrapeTarget {
  readonly url: string;
  /** The machine, where neither the exporter's labels nor its address tell. */
  readonly nodeId?: string;
}

/** What one exporter said, or why it said nothing. */
export interface Scraped {
  readonly target: ScrapeTarget;
  readonly readings: readonly GpuReading[];
  /** What its counters of work stand at. */
  readonly counters: readonly CounterReading[];
  /** Names of metrics it has, for advice. */
  readonly metrics: ReadonlySet<string>;
  readonly skipped: readonly Skipped[];
  readonly failure?: OperationError;
}

export interface ScrapeLimits {
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly at: Date;
  readonly energy: EnergyPower;
}

const ACCEPT = 'application/openmetrics-text;version=1.0.0;q=0.6,text/plain;version=0.0.4;q=0.9,*/*;q=0.1';
const IDLE_TIMEOUT_MS = 10_000;
const TOTAL_TIMEOUT_MS = 15_000;
/** A node of sixteen GPUs with every field there is sends less than a tenth of this. */
const BYTES_MAX = 32 * 1024 * 1024;
/** A clock that is further off than this is wrong, and ours is taken. */
const SKEW_MAX_S = 300;
const METRICS_MAX = 10_000;

/** Asks one exporter. What the outside world does wrong comes back as `failure`: others must not wait for it. */
export async function scrapeTarget(target: ScrapeTarget, limits: ScrapeLimits): Promise<Scraped> {
  const metrics = new Set<string>();
  try {
    const nodeId = target.nodeId ?? new URL(target.url).hostname;
    const readings = new DeviceReadings({ at: limits.at, nodeId, skewMaxS: SKEW_MAX_S });
    const counters: CounterReading[] = [];
    const served = { instance: new URL(target.url).host, nodeId };
    const fates = new Map<Fate, { count: number; example: string }>();
    const answer = await openTarget(target.url, limits);
    const reader = readExposition(
      (sample) => {
        if (metrics.size < METRICS_MAX) metrics.add(sample.name);
        limits.energy.add(sample, limits.at, nodeId);
        const series = servingSeries(sample.name, sample.labels, served);
        if (series !== undefined) counters.push({ series, value: sample.value });
        const fate = readings.add(sample);
        const known = fates.get(fate);
        if (known === undefined) fates.set(fate, { count: 1, example: sample.name });
        else known.count += 1;
      },
      { format: expositionFormat(answer.contentType) },
    );
    const decoder = new TextDecoder();
    for await (const chunk of answer.body) reader.push(decoder.decode(chunk, { stream: true }));
    reader.push(decoder.decode());
    const report = reader.end();
    refuseOtherThings(target.url, report);
    return {
      target,
      readings: readings.readings().map((reading) => withEnergy(reading, limits.energy)),
      counters,
      metrics,
      skipped: skippedOf(shownUrl(target.url), report, fates, readings.skewed),
    };
  } catch (failure) {
    if (!(failure instanceof OperationError)) throw failure;
    return { target, readings: [], counters: [], metrics, skipped: [], failure };
  }
}

async function openTarget(
  url: string,
  { headers, signal }: ScrapeLimits,
): Promise<{ contentType: string | undefined; body: AsyncIterable<Buffer> }> {
  const answer = await httpGet(url, {
    headers: { accept: ACCEPT, ...headers },
    signal,
    connectTimeoutMs: 5000,
    idleTimeoutMs: IDLE_TIMEOUT_MS,
    totalTimeoutMs: TOTAL_TIMEOUT_MS,
    bytesMax: BYTES_MAX,
  });
  if (answer.status < 200 || answer.status > 299) {
    const said = firstWords(await errorText(answer));
    throw new OperationError(
      'http-status',
      `${shownUrl(url)} answers ${answer.status}${said === '' ? '' : `: ${said}`}`,
      {
        hint:
          answer.status === 401 || answer.status === 403
            ? 'give the source headers: with a token, or let this machine ask the exporter'
            : 'check the path: exporters answer under /metrics',
      },
    );
  }
  const type = answer.headers['content-type'];
  return { contentType: typeof type === 'string' ? type : undefined, body: answer.body };
}

/** A web page or a log is no exposition, even if a line of it looks like one. */
function refuseOtherThings(url: string, { lines, samples, comments, blank }: ExpositionReport): void {
  const strange = lines - samples - comments - blank;
  if (lines > 0 && strange <= samples) return;
  throw new OperationError(
    'not-metrics',
    lines === 0
      ? `${shownUrl(url)} answers with nothing`
      : `${shownUrl(url)} answers with something that is not metrics: ${strange} of ${lines} lines make no sense`,
    { hint: 'check the address: dcgm-exporter is at :9400/metrics, AMD’s exporter at :5000/metrics' },
  );
}

function withEnergy(reading: GpuReading, energy: EnergyPower): GpuReading {
  if (reading.values['power_w'] !== undefined || reading.mig !== undefined) return reading;
  const watts = energy.wattsOf(reading.deviceId);
  return watts === undefined ? reading : { ...reading, values: { ...reading.values, power_w: watts } };
}

const FATE_REASONS: Partial<Record<Fate, string>> = {
  blank: 'blank values, which mean unknown',
  'no-device': 'series of a GPU that name none',
  'not-of-a-slice': 'values of the whole GPU beside a slice',
};

function skippedOf(
  shown: string,
  report: ExpositionReport,
  fates: ReadonlyMap<Fate, { readonly count: number; readonly example: string }>,
  skewed: number,
): Skipped[] {
  const skipped: Skipped[] = report.notUnderstood.map(({ reason, count, example }) => ({
    reason: `lines not understood: ${reason}`,
    count,
    example: `${shown}: ${example}`,
  }));
  for (const [fate, { count, example }] of fates) {
    const reason = FATE_REASONS[fate];
    if (reason !== undefined) skipped.push({ reason, count, example: `${shown}: ${example}` });
  }
  if (skewed > 0) {
    skipped.push({ reason: 'times more than 5 minutes from ours, taken at ours', count: skewed, example: shown });
  }
  return skipped;
}
