import type { FactTable } from './fact-table.ts';

/** Units that model servers count. People may record any other word. */
export const SERVING_UNITS = ['prompt_token', 'generation_token', 'token', 'request', 'inference'] as const;

/** What a trainer saved: it tells which work survives a bad end. */
export const CHECKPOINT_UNIT = 'checkpoint';

/**
 * Units that say how work was done, not how much of it: seconds that requests took (Little: the requests in flight), waited and took to
 * their first token, tokens that were looked up and found in the prefix cache, batches, requests that had to give way. No price is per these.
 */
export const HOW_UNITS = [
  'request_second',
  'queue_second',
  'first_token_second',
  'prefix_query_token',
  'prefix_hit_token',
  'execution',
  'preemption',
] as const;

/** `unit` of work says what was achieved, and not what was saved or how it was done, in SQL. */
export const IS_OUTCOME_SQL = `unit NOT IN (${[CHECKPOINT_UNIT, ...HOW_UNITS].map((unit) => `'${unit}'`).join(', ')})`;

export const workTable: FactTable = {
  name: 'work',
  importName: 'work',
  meaning: 'What was achieved: so many steps, runs, requests or tokens, from when to when.',
  partitionBy: 'window_from',
  partition: 'day',
  sortBy: ['work_id', 'unit', 'window_from'],
  merge: 'row',
  repeats: 'refused',
  columns: [
    {
      name: 'source',
      kind: 'text',
      key: true,
      missing: 'file',
      meaning: 'Who counted it: a trainer, vllm, triton, a person, …',
      example: 'vllm',
    },
    {
      name: 'work_id',
      kind: 'text',
      key: true,
      required: true,
      meaning: 'What the counter belongs to: an allocation id, a run id, a series of a model server.',
      example: '884213',
      alsoKnownAs: [{ name: 'run_id' }],
    },
    {
      name: 'unit',
      kind: 'text',
      key: true,
      required: true,
      meaning:
        'step, sample, epoch, run, checkpoint, request, inference, prompt_token, generation_token, token, a unit that says how (below), or your own word.',
      example: 'step',
    },
    {
      name: 'window_from',
      kind: 'time',
      key: true,
      required: true,
      meaning: 'First second of what is counted; windows of one work_id and unit do not overlap.',
      example: '2026-10-30T09:00:00Z',
      alsoKnownAs: [{ name: 'at' }, { name: 'from' }],
    },
    {
      name: 'window_until',
      kind: 'time',
      missing: 'done by window_from, nobody says since when',
      meaning: 'First second after it.',
      example: '2026-10-30T17:30:00Z',
      alsoKnownAs: [{ name: 'until' }],
    },
    {
      name: 'quantity',
      kind: 'decimal',
      required: true,
      meaning: 'How many units; never negative, at most six decimals.',
      example: '61200',
    },
    {
      name: 'allocation_id',
      kind: 'text',
      missing: 'found by pod, run or node',
      meaning: 'The job or pod uid that did it.',
      example: '884213',
      alsoKnownAs: [{ name: 'job_id' }, { name: 'job' }, { name: 'pod_uid' }],
    },
    {
      name: 'run',
      kind: 'text',
      meaning: "The run's name; meets holdings of that workload name where no job is named.",
      example: 'train-7b-sft',
      alsoKnownAs: [{ name: 'run_name' }],
    },
    {
      name: 'model_name',
      kind: 'text',
      meaning: 'The model that was served.',
      example: '',
      alsoKnownAs: [{ name: 'served_model' }],
    },
    { name: 'cluster', kind: 'text', missing: 'any cluster', meaning: 'Where it ran.', example: 'train-a' },
    { name: 'namespace', kind: 'text', meaning: 'Kubernetes namespace.', example: '' },
    { name: 'pod', kind: 'text', meaning: 'The pod that did it.', example: '' },
    {
      name: 'node_id',
      kind: 'text',
      meaning: 'The machine, where there is neither job nor pod.',
      example: '',
      alsoKnownAs: [{ name: 'node' }, { name: 'hostname' }],
    },
    { name: 'labels', kind: 'map', meaning: 'What else is known of it.', example: '{"dataset": "sft-v3"}' },
    {
      name: 'observed_at',
      kind: 'time',
      missing: 'the newest time in the batch',
      meaning: 'When it was counted; of two batches the newer wins.',
      example: '',
    },
  ],
};
