import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { labPart } from '../../../test/lab.ts';
import { prometheusWithPast, samplesEvery, type PastSeries } from '../../../test/prometheus-history.ts';
import type { FactRow, Haul } from '../../facts/source.ts';
import { prometheusSource } from './prometheus-source.ts';

const at = (time: string): number => Date.parse(`2026-11-14T${time}Z`) / 1000;
const STEP_S = 15;
const CHAT = { namespace: 'serving', pod: 'chat-0', instance: '10.0.0.1:8000', model_name: 'chat-8b', engine: '0' };

/** A counter that grows by `perStep` with each sample, from the value it has at the start. */
function counter(
  metric: string,
  labels: Readonly<Record<string, string>>,
  spans: readonly (readonly [fromS: number, untilS: number, start: number, perStep: number])[],
): PastSeries {
  return {
    metric,
    labels,
    samples: spans.flatMap(([fromS, untilS, start, perStep]) =>
      samplesEvery(STEP_S, fromS, untilS, (second) => start + ((second - fromS) / STEP_S) * perStep),
    ),
  };
}

/** A server that restarts at 10:40, one scraped by two jobs, one renamed by an update, one whose scraper was down for two hours. */
const PAST: readonly PastSeries[] = [
  counter('vllm:generation_tokens_total', { ...CHAT, job: 'pods' }, [
    [at('09:00:00'), at('10:40:00'), 7000, 3],
    [at('10:41:30'), at('12:10:00'), 0, 5],
  ]),
  counter('vllm:generation_tokens_total', { ...CHAT, job: 'service' }, [
    [at('09:00:00') + 3, at('10:40:00'), 7000, 3],
    [at('10:41:30') + 3, at('12:10:00'), 0, 5],
  ]),
  counter('vllm:prompt_tokens', { ...CHAT, pod: 'old-0', instance: '10.0.0.2:8000', job: 'pods' }, [
    [at('09:00:00'), at('10:30:00'), 0, 2],
  ]),
  counter('vllm:prompt_tokens_total', { ...CHAT, pod: 'old-0', instance: '10.0.0.2:8000', job: 'pods' }, [
    [at('10:30:30'), at('12:10:00'), 50, 2],
  ]),
  counter('nv_inference_count', { instance: 'gpu-9:8002', model: 'densenet', version: '1', job: 'triton' }, [
    [at('09:00:00'), at('09:30:00'), 100, 1],
    [at('11:30:00'), at('12:10:00'), 900, 1],
  ]),
];

const lab = labPart('prometheus');

describe.skipIf(!lab.installed)('what model servers count, from a real Prometheus', () => {
  let folder = '';
  let url = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bursar-read-work-'));
    url = await prometheusWithPast(lab, folder, PAST);
  });
  afterAll(async () => {
    await lab.stop(folder);
    await rm(folder, { recursive: true, force: true });
  });

  async function pull(nowS: number, cursor?: unknown): Promise<Haul[]> {
    const source = prometheusSource({ name: 'p', url, cluster: 'k', retryPausesMs: [] });
    const request = { now: new Date(nowS * 1000), signal: new AbortController().signal, progress: () => undefined };
    const hauls: Haul[] = [];
    for await (const haul of source.pull(cursor, request)) hauls.push(haul);
    return hauls;
  }

  /** The rows of the lake after these hauls: the same batch replaces itself. */
  function work(hauls: readonly Haul[]): FactRow[] {
    const batches = new Map<string, readonly FactRow[]>();
    for (const { table, batch, rows } of hauls.flatMap(({ facts }) => facts))
      if (table === 'work') batches.set(batch, rows);
    return [...batches.values()].flat();
  }

  const byHour = (rows: readonly FactRow[], unit: string): Record<string, number> =>
    Object.fromEntries(
      rows
        .filter((row) => row['unit'] === unit)
        .map((row) => [(row['window_from'] as Date).toISOString().slice(11, 13), Number(row['quantity'])]),
    );

  it('a restart counts from 0, and a process with two scrapers once', async () => {
    const rows = work(await pull(at('13:00:00')));
    // 240 samples an hour; of the first hour the first says nothing. In the second 160 of the old life (the first of them grew since 09:59:45),
    // then 74 of the new one, of which the first stands at 0.
    expect(byHour(rows, 'generation_token')).toEqual({
      '09': 239 * 3,
      '10': 160 * 3 + 73 * 5,
      '11': 240 * 5,
      '12': 40 * 5,
    });
  });

  it('a counter that goes on under its new name is not the old one once more', async () => {
    const rows = work(await pull(at('13:00:00')));
    // The old name grew in 120 samples of the hour; the new one begins with a value that may be older than the hour.
    expect(byHour(rows, 'prompt_token')).toEqual({ '09': 239 * 2, '10': 120 * 2 + 117 * 2, '11': 480, '12': 80 });
  });

  it('hours without a sample are unknown, and so is what grew in a silence of more than an hour', async () => {
    const rows = work(await pull(at('13:00:00')));
    expect(byHour(rows, 'inference')).toEqual({ '09': 119, '11': 119, '12': 40 });
    expect(rows.find((row) => row['unit'] === 'inference')).toMatchObject({
      source: 'triton',
      node_id: 'gpu-9',
      model_name: 'densenet',
      cluster: 'k',
      window_until: new Date((at('09:29:45') + 300) * 1000),
    });
  });

  it('reading on from a cursor gives the same as reading all at once', async () => {
    const first = await pull(at('10:20:30'));
    const cursor: unknown = JSON.parse(JSON.stringify(first.at(-1)?.cursor));
    const second = await pull(at('13:00:00'), cursor);
    const whole = work(await pull(at('13:00:00')));
    const sorted = (rows: readonly FactRow[]): string[] => rows.map((row) => JSON.stringify(row)).toSorted();
    expect(sorted(work([...first, ...second]))).toEqual(sorted(whole));
  });
});
