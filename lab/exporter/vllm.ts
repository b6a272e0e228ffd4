import type { Seconds, Span } from '../../src/demo/timeline.ts';
import type { Play } from './play.ts';
import type { Pod } from './pod.ts';
import { labelText, type Series } from './series.ts';

/** Tokens of a request as it comes and as it is answered: made up, and the same for all. */
const PROMPT_TOKENS = 1200;
const GENERATION_TOKENS = 220;

/**
 * Question: what do the model servers of the services say?
 *
 * Counters follow the traffic the world plans for each hour, from the start of the replica on; what single minutes add to it is
 * left to the GPUs' own sensors. Pods name themselves, as they do behind a PodMonitor.
 */
export function vllmSeries({ pods }: Play, target: Readonly<Record<string, string>>): Series[] {
  return pods.flatMap((pod) => replicaSeries(pod, target));
}

export const VLLM_TARGET = { job: 'vllm' };

function replicaSeries(pod: Pod, target: Readonly<Record<string, string>>): Series[] {
  const { attempt, from, until } = pod;
  const { habit, name } = attempt.job;
  const spans = attempt.groups[0]?.spans ?? [];
  if (habit.kind !== 'serving' || habit.purpose !== 'traffic') return [];
  const labels = labelText({
    ...target,
    namespace: pod.namespace,
    pod: pod.name,
    engine: '0',
    model_name: `lab/${name}`,
  });
  const requestsUntil = requestCounter(spans);
  const inFlight = (moment: Seconds): number =>
    ((spanAt(spans, moment)?.traffic?.perHour ?? 0) * Math.max(0.001, habit.request_s)) / 3600;
  const series = (metric: string, at: Series['at']): Series => ({ metric, labels, from, until, at });
  return [
    series('vllm:prompt_tokens_total', (moment) => Math.floor(requestsUntil(moment)) * PROMPT_TOKENS),
    series('vllm:generation_tokens_total', (moment) => Math.floor(requestsUntil(moment)) * GENERATION_TOKENS),
    series('vllm:request_success_total', (moment) => Math.floor(requestsUntil(moment))),
    series('vllm:num_requests_running', (moment) => Math.min(habit.batch, Math.round(inFlight(moment)))),
    series('vllm:num_requests_waiting', (moment) => Math.max(0, Math.round(inFlight(moment)) - habit.batch)),
    series(
      'vllm:kv_cache_usage_perc',
      (moment) => Math.round(Math.min(1, inFlight(moment) / habit.batch) * 1000) / 1000,
    ),
  ];
}

/** Requests from the first span up to a moment. */
function requestCounter(spans: readonly Span[]): (moment: Seconds) => number {
  const before: number[] = [0];
  for (const [index, span] of spans.entries()) before.push(before[index]! + requestsOf(span, span.until));
  return (moment) => {
    const index = indexAt(spans, moment);
    const span = spans[index];
    return span === undefined ? before.at(-1)! : before[index]! + requestsOf(span, moment);
  };
}

function requestsOf({ from, traffic }: Span, until: Seconds): number {
  return ((traffic?.perHour ?? 0) * Math.max(0, until - from)) / 3600;
}

function spanAt(spans: readonly Span[], moment: Seconds): Span | undefined {
  return spans[indexAt(spans, moment)];
}

/** Place of the first span that ends after the moment. */
function indexAt(spans: readonly Span[], moment: Seconds): number {
  let [low, high] = [0, spans.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (spans[middle]!.until > moment) high = middle;
    else low = middle + 1;
  }
  return low;
}
