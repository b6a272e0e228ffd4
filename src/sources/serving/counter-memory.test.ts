import { describe, expect, it } from 'vitest';
import { textOf } from '../../facts/source.ts';
import { countedWork, workBetween, type CounterReading } from './counter-memory.ts';
import { servingSeries } from './serving-metric.ts';

const at = (time: string): Date => new Date(`2026-11-16T${time}Z`);

function tokens(value: number, instance = 'gpu-1:8000'): CounterReading {
  const series = servingSeries(
    'vllm:generation_tokens_total',
    { model_name: 'chat-8b' },
    { instance, nodeId: 'gpu-1' },
  );
  if (series === undefined) throw new Error('no counter');
  return { series, value };
}

/** Looks one after the other, the memory kept as JSON as a cursor is: what the lake holds in the end, by hour. */
function looks(...given: readonly (readonly [time: string, value: number | undefined])[]): Record<string, string> {
  let memory = {};
  const kept: Record<string, string> = {};
  for (const [time, value] of given) {
    const found = countedWork(memory, value === undefined ? [] : [tokens(value)], at(time), undefined);
    memory = JSON.parse(JSON.stringify(found.memory)) as typeof memory;
    for (const row of found.rows) {
      kept[(row['window_from'] as Date).toISOString().slice(11, 16)] = textOf(row, 'quantity');
    }
  }
  return kept;
}

describe('counters looked at directly', () => {
  const cases: Record<
    string,
    { given: readonly (readonly [string, number | undefined])[]; want: Record<string, string> }
  > = {
    'the first look says nothing': { given: [['10:00:00', 500]], want: {} },
    'looks of an hour add up': {
      given: [
        ['10:00:00', 500],
        ['10:00:30', 510],
        ['10:59:30', 600],
      ],
      want: { '10:00': '100' },
    },
    'what lies between two hours belongs to the later': {
      given: [
        ['10:59:30', 500],
        ['11:00:00', 510],
        ['11:00:30', 511],
      ],
      want: { '11:00': '11' },
    },
    'a server that began anew counts from 0': {
      given: [
        ['10:00:00', 500],
        ['10:00:30', 510],
        ['10:01:00', 4],
        ['10:01:30', 6],
      ],
      want: { '10:00': '16' },
    },
    'a look at which it was silent changes nothing': {
      given: [
        ['10:00:00', 500],
        ['10:00:30', undefined],
        ['10:01:00', 507],
      ],
      want: { '10:00': '7' },
    },
    'after hours of silence the growth in between is unknown': {
      given: [
        ['08:00:00', 500],
        ['08:00:30', 501],
        ['10:00:00', 900],
        ['10:00:30', 903],
      ],
      want: { '08:00': '1', '10:00': '3' },
    },
    'a look that is repeated counts once': {
      given: [
        ['10:00:00', 500],
        ['10:00:30', 510],
        ['10:00:30', 512],
      ],
      want: { '10:00': '10' },
    },
  };
  it.each(Object.entries(cases))('%s', (_, { given, want }) => {
    expect(looks(...given)).toEqual(want);
  });
});

describe('saved scrapes', () => {
  const scrape = (time: string, ...counters: readonly CounterReading[]) => ({ at: at(time), counters });

  it('of one target give the difference, whichever comes first', () => {
    const { rows } = workBetween([scrape('11:00:00', tokens(30)), scrape('10:00:00', tokens(10))]);
    expect(rows).toMatchObject([{ quantity: '20', window_from: at('10:00:00'), window_until: at('11:00:00') }]);
  });

  it.each([
    ['vllm:e2e_request_latency_seconds_sum', 10.25, 10.7501, '0.500'],
    ['nv_inference_request_duration_us', 1_327_965, 2_000_000, '0.672'],
  ])('of %s give seconds, whatever it counts in', (metric, before, after, want) => {
    const series = servingSeries(metric, {}, { instance: 'gpu-1:8000' });
    if (series === undefined) throw new Error('no counter');
    const { rows } = workBetween([
      scrape('10:00:00', { series, value: before }),
      scrape('11:00:00', { series, value: after }),
    ]);
    expect(rows.map((row) => row['quantity'])).toEqual([want]);
  });

  it.each([
    ['one alone', [scrape('10:00:00', tokens(10))]],
    ['two targets', [scrape('10:00:00', tokens(10)), scrape('11:00:00', tokens(30, 'gpu-2:8000'))]],
    ['two of one moment', [scrape('10:00:00', tokens(10)), scrape('10:00:00', tokens(30))]],
  ])('%s give nothing', (_, scrapes) => {
    expect(workBetween(scrapes).rows).toEqual([]);
  });
});
