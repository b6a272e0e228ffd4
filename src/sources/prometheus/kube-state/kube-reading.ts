import type { Haul } from '../../../facts/source.ts';
import { labelsOf } from '../api/matrix-reader.ts';
import type { PrometheusApi, VectorSample } from '../api/prometheus-api.ts';
import type { KubeMetric } from '../discover.ts';
import { oneOf, selector } from '../selector.ts';

/** What is to be read of kube-state-metrics: a day, or the part of it that has passed. */
export interface KubeWindow {
  readonly fromMs: number;
  readonly untilMs: number;
  /** How far apart its samples are. */
  readonly stepS: number;
  /** Which of its metrics there are. */
  readonly has: ReadonlySet<string>;
  readonly matchers: string | undefined;
  readonly signal: AbortSignal;
  /** The last that kube-state-metrics said at all, where it fell silent before the end; nothing ended by that. */
  readonly silentSinceS?: number;
  /** Before the window, where kube-state-metrics was silent when it began: its last words of then are read too, and hold on. */
  readonly heardFromMs?: number;
}

export type Labels = Readonly<Record<string, string>>;

/** One thing the metrics speak of, and when they first and last did. */
export interface Sighting {
  readonly labels: Labels;
  readonly value: number;
  readonly firstS: number;
  readonly lastS: number;
}

/** The question for what series last said in the window. */
export function lastSaid(metric: KubeMetric, window: KubeWindow, ...matchers: readonly string[]): string {
  return `last_over_time(${selector(metric, ...matchers, window.matchers)}[${rangeS(window)}s])`;
}

/** The answer to a question about the window; nothing where the metric does not exist. */
export async function said(
  api: PrometheusApi,
  metric: KubeMetric,
  query: string,
  window: KubeWindow,
): Promise<readonly VectorSample[]> {
  return window.has.has(metric) ? api.vector(query, window.untilMs - 1, window.signal) : [];
}

/**
 * Series with their last value and the times of their first and last sample.
 *
 * Most series are there from the beginning to the end of a window. Only of the others the samples are read: a question that lets the
 * server look for the times of all costs it some ten times as much.
 */
export async function sightings(
  api: PrometheusApi,
  metric: string,
  window: KubeWindow,
  narrowBy: readonly string[],
  ...matchers: readonly string[]
): Promise<Sighting[]> {
  const series = (...more: readonly string[]) => selector(metric, ...matchers, ...more, window.matchers);
  const edgeS = Math.min(rangeS(window), edgeOf(window));
  const atMs = async (timeMs: number, lastS: number) => {
    const found = await api.vector(`last_over_time(${series()}[${lastS}s])`, timeMs, window.signal);
    return new Map(found.map((each) => [keyOf(each.labels), each]));
  };
  const all = await atMs(window.untilMs - 1, rangeS(window));
  const atEnd = await atMs(window.untilMs - 1, edgeS);
  const atBegin = await atMs(readFromMs(window) + edgeS * 1000, edgeS);
  const partly = [...all].filter(([key]) => !atEnd.has(key) || !atBegin.has(key)).map(([, { labels }]) => labels);
  const times = await sampleTimes(api, window, partly, narrowBy, series);
  return [...all].flatMap(([key, { labels, value }]) => {
    const [firstS, lastS] = times.get(key) ?? [readFromMs(window) / 1000, window.untilMs / 1000];
    return { labels, value, firstS, lastS: atEnd.has(key) ? Math.max(lastS, window.untilMs / 1000 - edgeS) : lastS };
  });
}

/** The first and last sample of each of these series. */
async function sampleTimes(
  api: PrometheusApi,
  window: KubeWindow,
  wanted: readonly Labels[],
  narrowBy: readonly string[],
  series: (...matchers: readonly string[]) => string,
): Promise<Map<string, readonly [number, number]>> {
  const times = new Map<string, readonly [number, number]>();
  const label = narrowBy.find((name) => wanted.some((labels) => (labels[name] ?? '') !== ''));
  if (label === undefined) return times;
  const names = [...new Set(wanted.map((labels) => labels[label] ?? ''))];
  for (let at = 0; at < names.length; at += NAMES_AT_ONCE) {
    const matcher = `${label}=~${oneOf(names.slice(at, at + NAMES_AT_ONCE))}`;
    const query = `${series(matcher)}[${rangeS(window)}s]`;
    await api.series(query, window.untilMs - 1, window.signal, (found) => {
      const { timesMs, count } = found;
      const [first, last] = [timesMs[0], timesMs[count - 1]];
      if (count > 0 && first !== undefined && last !== undefined)
        times.set(keyOf(labelsOf(found)), [first / 1000, last / 1000]);
    });
  }
  return times;
}

const NAMES_AT_ONCE = 200;

/** A series without a sample for this long has ended. */
export function edgeOf({ stepS }: Pick<KubeWindow, 'stepS'>): number {
  return Math.max(120, 3 * stepS);
}

/** Was it still there when the window ended, or when kube-state-metrics last spoke? */
export function isThereAtEnd(lastS: number, window: KubeWindow): boolean {
  return (window.silentSinceS ?? window.untilMs / 1000) - lastS <= edgeOf(window);
}

/** What kube-state-metrics says of everything it knows, all the time; the first of them that is there tells whether it speaks. */
const ALWAYS_SAID = ['kube_node_info', 'kube_pod_info', 'kube_pod_container_resource_requests'] as const;

/**
 * The window, with the moment kube-state-metrics fell silent if it did not speak to the end, and with its last words before if it did not
 * speak at the beginning: a silence over midnight is one silence, whichever day is read.
 *
 * The times are looked up only then. A dead target's series are marked as ended, so that its last samples may be missed by up to one step
 * of the question, which is less than the edge of a window.
 */
export async function withSilence(api: PrometheusApi, window: KubeWindow): Promise<KubeWindow> {
  const metric = ALWAYS_SAID.find((name) => window.has.has(name));
  if (metric === undefined) return window;
  const series = selector(metric, window.matchers);
  const speaks = async (atMs: number, lastS: number) =>
    (await api.vector(`count(last_over_time(${series}[${lastS}s]))`, atMs, window.signal)).length > 0;
  const lastWordS = async (atMs: number, backS: number) => {
    const query = `max(max_over_time(timestamp(${series})[${backS}s:${SILENCE_STEP_S}s]))`;
    const [last] = await api.vector(query, atMs, window.signal);
    return last && Math.floor(last.value);
  };
  const begunS = Math.min(rangeS(window), 2 * window.stepS);
  const beforeS = (await speaks(window.fromMs + begunS * 1000 - 1, begunS))
    ? undefined
    : await lastWordS(window.fromMs, SILENCE_BEFORE_S);
  const silentSinceS = (await speaks(window.untilMs - 1, edgeOf(window)))
    ? undefined
    : await lastWordS(window.untilMs - 1, rangeS(window) + SILENCE_BEFORE_S);
  return {
    ...window,
    ...(beforeS !== undefined && { heardFromMs: (beforeS - edgeOf(window)) * 1000 }),
    ...(silentSinceS !== undefined && { silentSinceS }),
  };
}

const SILENCE_STEP_S = 60;
/** It may have fallen silent on the day before. */
const SILENCE_BEFORE_S = 86_400;

/** The time of which kube-state-metrics told nothing, for people: pods and machines are taken to be as it left them. */
export function silenceGaps({ silentSinceS, fromMs, untilMs }: KubeWindow): NonNullable<Haul['gaps']> {
  if (silentSinceS === undefined) return [];
  const since = new Date(silentSinceS * 1000).toISOString().slice(0, 19);
  const reason = `kube-state-metrics is silent since ${since}Z; who began or ended since is not known`;
  return [{ from: new Date(Math.max(fromMs, silentSinceS * 1000)), until: new Date(untilMs), reason }];
}

function keyOf(labels: Labels): string {
  const { __name__: _, ...others } = labels;
  return JSON.stringify(Object.entries(others).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function readFromMs({ heardFromMs, fromMs }: KubeWindow): number {
  return heardFromMs ?? fromMs;
}

/** How far back the questions about a window reach from its end. */
export function rangeS(window: KubeWindow): number {
  return Math.round((window.untilMs - readFromMs(window)) / 1000);
}

/** Reads what kube-state-metrics itself said, where a scrape target has labels of the same names. */
export class KubeLabels {
  readonly #exported = new Set<string>();

  constructor(samples: readonly { readonly labels: Labels }[]) {
    for (const { labels } of samples) {
      for (const name of Object.keys(labels)) if (name.startsWith('exported_')) this.#exported.add(name.slice(9));
    }
  }

  /** The name under which the label is found. */
  nameOf(label: string): string {
    return this.#exported.has(label) ? `exported_${label}` : label;
  }

  get(labels: Labels, label: string): string | undefined {
    const value = labels[this.nameOf(label)];
    return value === '' ? undefined : value;
  }
}
