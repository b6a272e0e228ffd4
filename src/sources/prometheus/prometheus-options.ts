import type { ApiOptions } from './api/prometheus-api.ts';

export interface PrometheusOptions extends ApiOptions {
  readonly name: string;
  /** The cluster its machines and pods belong to. */
  readonly cluster?: string;
  /** Questions asked at the same time; 2 where not said. */
  readonly parallel?: number;
  readonly pollS?: number;
  /** The label that names the machine, where it is none of the usual ones. */
  readonly nodeLabel?: string;
  /** Labels every series must have: `cluster="a"`. */
  readonly matchers?: string;
  /** False: do not take pods from GPU labels where kube-state-metrics is missing, because another source knows them. */
  readonly podLabels?: boolean;
}
