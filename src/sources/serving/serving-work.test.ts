import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { servingSeries } from './serving-metric.ts';
import { workRows, type Growth } from './serving-work.ts';

type Labels = Record<string, string>;
const CHAT: Labels = { namespace: 'serving', pod: 'chat-0', instance: '10.0.0.1:8000', model_name: 'chat-8b' };

function growth(metric: string, labels: Labels, grown: number, span: readonly [number, number] = [0, 3000]): Growth {
  const series = servingSeries(metric, labels);
  if (series === undefined) throw new Error(`${metric} is no counter`);
  return { series, grown, firstMs: span[0], lastMs: span[1] };
}

const rowsOf = (...growths: readonly Growth[]) =>
  workRows(growths, {
    from: new Date(0),
    until: (lastMs) => new Date(lastMs),
    observedAt: new Date(3_600_000),
    cluster: 'k',
  });

const told = (...growths: readonly Growth[]) =>
  rowsOf(...growths).rows.map((row) => [row['unit'], row['quantity'], row['work_id']]);

describe('growth of counters as work', () => {
  const CHAT_ID = 'serving/chat-0 10.0.0.1:8000 chat-8b';
  const cases: Record<string, { growths: readonly Growth[]; want: readonly unknown[] }> = {
    'two scrapers of one process count once': {
      growths: [
        growth('vllm:prompt_tokens_total', { ...CHAT, job: 'pods', prometheus_replica: 'a' }, 100),
        growth('vllm:prompt_tokens_total', { ...CHAT, job: 'service', prometheus_replica: 'b' }, 90),
      ],
      want: [['prompt_token', '100', CHAT_ID]],
    },
    'two names of one counter at once count once': {
      growths: [growth('vllm:prompt_tokens', CHAT, 7), growth('vllm:prompt_tokens_total', CHAT, 7)],
      want: [['prompt_token', '7', CHAT_ID]],
    },
    'a counter that goes on under a new name counts on': {
      growths: [
        growth('vllm:prompt_tokens', CHAT, 7, [0, 1000]),
        growth('vllm:prompt_tokens_total', CHAT, 5, [2000, 3000]),
      ],
      want: [['prompt_token', '12', CHAT_ID]],
    },
    'engines and reasons of one process are added up': {
      growths: [
        growth('vllm:request_success_total', { ...CHAT, engine: '0', finished_reason: 'stop' }, 3),
        growth('vllm:request_success_total', { ...CHAT, engine: '0', finished_reason: 'length' }, 2),
        growth('vllm:request_success_total', { ...CHAT, engine: '1', finished_reason: 'stop' }, 1),
      ],
      want: [['request', '6', CHAT_ID]],
    },
    'requests that stream and such that do not are added up': {
      growths: [
        growth('sglang:num_requests_total', { ...CHAT, is_streaming: 'true' }, 3),
        growth('sglang:num_requests_total', { ...CHAT, is_streaming: 'false' }, 4),
      ],
      want: [['request', '7', CHAT_ID]],
    },
    'seconds are written to the thousandth': {
      growths: [growth('vllm:e2e_request_latency_seconds_sum', CHAT, 1_328)],
      want: [['request_second', '1.328', CHAT_ID]],
    },
    'two processes of one pod are two': {
      growths: [
        growth('vllm:prompt_tokens_total', CHAT, 1),
        growth('vllm:prompt_tokens_total', { ...CHAT, instance: '10.0.0.1:8001' }, 2),
      ],
      want: [
        ['prompt_token', '1', CHAT_ID],
        ['prompt_token', '2', 'serving/chat-0 10.0.0.1:8001 chat-8b'],
      ],
    },
    'requests that Triton and the vLLM inside it both count are vLLM’s': {
      growths: [
        growth('nv_inference_request_success', { ...CHAT, model_name: '', model: 'llm' }, 50),
        growth('vllm:request_success_total', CHAT, 49),
        growth('nv_inference_count', { ...CHAT, model_name: '', model: 'llm' }, 50),
      ],
      want: [
        ['request', '49', CHAT_ID],
        ['inference', '50', 'serving/chat-0 10.0.0.1:8000 llm'],
      ],
    },
  };
  it.each(Object.entries(cases))('%s', (_, { growths, want }) => {
    const ordered = (rows: readonly unknown[]) => rows.map((row) => JSON.stringify(row)).toSorted();
    expect(ordered(told(...growths))).toEqual(ordered(want));
  });

  it('tells of counters it does not believe', () => {
    const { skipped } = rowsOf(
      growth('nv_inference_request_success', CHAT, 1),
      growth('vllm:request_success_total', CHAT, 1),
    );
    expect(skipped).toMatchObject([{ count: 1, example: 'triton request of serving/chat-0' }]);
  });

  it('names pod, model and cluster, and the machine only where there is no pod', () => {
    const bare = { instance: 'gpu-1:8000', model_name: 'chat-8b' };
    expect(
      rowsOf(growth('vllm:prompt_tokens_total', CHAT, 1), growth('vllm:prompt_tokens_total', bare, 1)).rows,
    ).toMatchObject([
      { source: 'vllm', namespace: 'serving', pod: 'chat-0', node_id: undefined, model_name: 'chat-8b', cluster: 'k' },
      { source: 'vllm', pod: undefined, node_id: 'gpu-1', work_id: 'gpu-1:8000 chat-8b' },
    ]);
  });

  it('loses nothing of counters that differ', () => {
    const parts = fc.array(fc.tuple(fc.nat({ max: 4 }), fc.nat({ max: 9 }), fc.nat({ max: 1000 })), { maxLength: 30 });
    fc.assert(
      fc.property(parts, (given) => {
        const distinct = new Map(given.map(([pod, engine, grown]) => [`${pod} ${engine}`, { pod, engine, grown }]));
        const growths = [...distinct.values()].map(({ pod, engine, grown }) =>
          growth('vllm:prompt_tokens_total', { ...CHAT, pod: `chat-${pod}`, engine: String(engine) }, grown),
        );
        const total = rowsOf(...growths, ...growths).rows.reduce((sum, row) => sum + Number(row['quantity']), 0);
        expect(total).toBe([...distinct.values()].reduce((sum, { grown }) => sum + grown, 0));
      }),
    );
  });
});
