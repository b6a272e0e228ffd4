/**
 * How a holder uses GPUs decides what a gap in its work means: a job waits, a service was not asked, a person thinks.
 *
 * Workload kinds that answer requests, and such in which people try things; every other kind is a job that
 * runs to an end.
 */
export const SERVING_KINDS = [
  'Deployment',
  'StatefulSet',
  'InferenceService',
  'LLMInferenceService',
  'RayService',
] as const;
export const INTERACTIVE_KINDS = ['Notebook'] as const;

const list = (kinds: readonly string[]): string => kinds.map((kind) => `'${kind}'`).join(', ');

/** The manner of a holding in SQL: what its class label says, else its workload kind. `h` names a row of `holding`. */
export const mannerSql = (h: string): string => `
  CASE WHEN ${h}.labels['class'] = 'inference' THEN 'serving'
       WHEN ${h}.labels['class'] = 'experimentation' THEN 'interactive'
       WHEN ${h}.labels['class'] IN ('training', 'batch') THEN 'job'
       WHEN ${h}.workload_kind IN (${list(SERVING_KINDS)}) THEN 'serving'
       WHEN ${h}.workload_kind IN (${list(INTERACTIVE_KINDS)}) THEN 'interactive'
       ELSE 'job' END`;
