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
    nv_inference_exec_count: undefined,
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

describe.skipIf(MISSING)('real scrapes', () => {
  const cases: Record<string, Record<string, number>> = {
    'vllm/vllm_metrics.txt': { prompt_token: 5, generation_token: 7, request: 1 },
    'vllm/ray_vllm_metrics.txt': { prompt_token: 58, generation_token: 300, request: 1 },
    'triton/nvidia_triton_openmetrics.txt': { request: 3, inference: 3 },
  };
  it.each(Object.entries(cases))('%s', (file, want) => {
    const sums: Record<string, number> = {};
    for (const { name, labels, value } of parseExposition(readFileSync(`${SHARED}/${file}`, 'utf8')).samples) {
      const series = servingSeries(name, labels, { instance: 'server:8000' });
      if (series !== undefined) sums[series.unit] = (sums[series.unit] ?? 0) + value;
    }
    expect(sums).toEqual(want);
  });
});
