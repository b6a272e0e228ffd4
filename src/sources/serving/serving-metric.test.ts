import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseExposition } from '../exposition/parse-exposition.ts';
import { servingMetricOf, servingSeries } from './serving-metric.ts';

describe('counters of work by their names', () => {
  const cases: Record<string, string | undefined> = {
    'vllm:prompt_tokens_total': 'vllm prompt_token',
    'vllm:prompt_tokens': 'vllm prompt_token',
    'ray_vllm:generation_tokens_total': 'vllm generation_token',
    ray_vllm_request_success_total: 'vllm request',
    'sglang:num_requests_total': 'sglang request',
    tgi_request_generated_tokens_sum: 'tgi generation_token',
    nv_inference_count: 'triton inference',
    nv_inference_request_success: 'triton request',
    'vllm:e2e_request_latency_seconds_sum': 'vllm request_second',
    'vllm:e2e_request_latency_seconds_sum_total': undefined,
    'vllm:e2e_request_latency_seconds_bucket': undefined,
    'vllm:time_to_first_token_seconds_sum': 'vllm first_token_second',
    'vllm:prefix_cache_hits_total': 'vllm prefix_hit_token',
    'vllm:gpu_prefix_cache_queries': 'vllm prefix_query_token',
    'ray_vllm:num_preemptions_total': 'vllm preemption',
    'sglang:cached_tokens_total': 'sglang prefix_hit_token',
    tgi_request_queue_duration_sum: 'tgi queue_second',
    nv_inference_exec_count: 'triton execution',
    nv_inference_queue_duration_us: 'triton queue_second',
    nv_inference_compute_infer_duration_us: undefined,
    nv_inference_request_failure: undefined,
    'vllm:request_prompt_tokens_sum': undefined,
    'vllm:prompt_tokens_by_source_total': undefined,
    'vllm:prompt_tokens_created': undefined,
  };
  it.each(Object.entries(cases))('%s', (name, want) => {
    const metric = servingMetricOf(name);
    expect(metric === undefined ? undefined : `${metric.family} ${metric.unit}`).toBe(want);
  });

  it('name no process where neither pod nor address is known', () => {
    expect(servingSeries('vllm:prompt_tokens_total', { model_name: 'm' })).toBeUndefined();
  });

  it('take any labels as data', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.string()), (labels) => {
        const series = servingSeries('vllm:prompt_tokens_total', labels, { instance: 'gpu-1:8000' });
        expect(series?.key).toBe(servingSeries('vllm:prompt_tokens', labels, { instance: 'gpu-1:8000' })?.key);
      }),
    );
  });
});

const SHARED = fileURLToPath(new URL('../../../../shared/data/telemetry', import.meta.url));
const MISSING = !existsSync(SHARED);
if (MISSING) process.stderr.write('skipped: ../shared/data is not here, which has real scrapes of model servers\n');

/** Seconds in thousandths. */
describe.skipIf(MISSING)('real scrapes', () => {
  const cases: Record<string, Record<string, number>> = {
    'vllm/vllm_metrics.txt': {
      prompt_token: 5,
      generation_token: 7,
      request: 1,
      request_second: 503,
      first_token_second: 313,
      preemption: 0,
    },
    'vllm/ray_vllm_metrics.txt': {
      prompt_token: 58,
      generation_token: 300,
      request: 1,
      request_second: 16_450,
      first_token_second: 271,
      preemption: 0,
    },
    'triton/nvidia_triton_openmetrics.txt': {
      request: 3,
      inference: 3,
      execution: 3,
      request_second: 1328,
      queue_second: 0,
    },
  };
  it.each(Object.entries(cases))('%s', (file, want) => {
    const sums: Record<string, number> = {};
    for (const { name, labels, value } of parseExposition(readFileSync(`${SHARED}/${file}`, 'utf8')).samples) {
      const series = servingSeries(name, labels, { instance: 'server:8000' });
      if (series !== undefined) {
        sums[series.unit] = (sums[series.unit] ?? 0) + Math.round(value * series.factor);
      }
    }
    expect(sums).toEqual(want);
  });
});
