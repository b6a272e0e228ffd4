import type { Source } from '../../facts/source.ts';
import { shownUrl } from '../http/http-failure.ts';
import { checkPrometheus } from './check.ts';
import type { PrometheusOptions } from './prometheus-options.ts';
import { pullHours } from './pull-hours.ts';
import { pullLook } from './pull-look.ts';

const POLL_S = 300;

/** A Prometheus, or what speaks its API, as a source: GPU samples as they were taken, pods and machines of kube-state-metrics. */
export function prometheusSource(given: PrometheusOptions): Source {
  // Without a name of its own its pods would speak for every cluster, and another's busy machines would seem free.
  const options = { ...given, cluster: given.cluster ?? given.name };
  const pollS = options.pollS ?? POLL_S;
  return {
    name: options.name,
    kind: 'prometheus',
    reads: `GPU samples, pods and machines from the Prometheus API at ${shownUrl(options.url)}`,
    priority: 10,
    pollS,
    check: (signal) => checkPrometheus(options, new Date(), signal),
    async *pull(cursor, request) {
      const { lookStepS } = request;
      try {
        if (lookStepS === undefined) yield* pullHours(options, pollS, cursor, request);
        else yield* pullLook(options, pollS, cursor, request, lookStepS);
      } catch (error) {
        // What was given before the signal are whole hauls; there is nothing to complain about.
        if (!request.signal.aborted) throw error;
      }
    },
  };
}
