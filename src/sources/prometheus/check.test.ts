import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { labPart } from '../../../test/lab.ts';
import { END_S, GPU_PAST, KUBE_PAST, SILENT_UNTIL_S } from '../../../test/prometheus-fleet.ts';
import { prometheusWithPast } from '../../../test/prometheus-history.ts';
import { checkPrometheus } from './check.ts';

const lab = labPart('prometheus');
const folders: string[] = [];
let withKube = '';
let gpuOnly = '';

async function started(past: Parameters<typeof prometheusWithPast>[2]): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'bursar-prometheus-'));
  folders.push(dir);
  return prometheusWithPast(lab, dir, past);
}

describe.skipIf(!lab.installed)('how a real Prometheus is', () => {
  beforeAll(async () => {
    withKube = await started([...GPU_PAST, ...KUBE_PAST]);
    gpuOnly = await started(GPU_PAST);
  }, 120_000);

  afterAll(async () => {
    for (const dir of folders) {
      await lab.stop(dir);
      await rm(dir, { recursive: true, force: true });
    }
  });

  const check = (url: string, nowS: number, matchers?: string) =>
    checkPrometheus(
      { name: 'p', url, ...(matchers !== undefined && { matchers }) },
      new Date(nowS * 1000),
      new AbortController().signal,
    );

  it('says what it has and what would sharpen it', async () => {
    const health = await check(withKube, END_S);
    expect(health.state).toBe('ok');
    expect(health.gpus).toBe(5);
    expect(health.says).toMatch(
      /^Prometheus \d+\.\d+\.\S+, 5 GPUs, samples every 30 s, kube-state-metrics, since 2026-11-14$/,
    );
    expect(health.advice.find(({ missing }) => missing.startsWith('DCGM_FI_PROF_SM_ACTIVE'))).toEqual({
      missing: 'DCGM_FI_PROF_SM_ACTIVE is not exported',
      sharpens: 'tells a GPU that is starved of input from one that computes',
      todo: 'add to the counter list of dcgm-exporter: DCGM_FI_PROF_SM_ACTIVE, gauge, share of time the multiprocessors have work',
    });
  });

  it('misses kube-state-metrics', async () => {
    const { advice } = await check(gpuOnly, END_S);
    expect(advice.map(({ missing }) => missing)).toContain('kube-state-metrics is not scraped');
  });

  it('an exporter that is silent at the moment', async () => {
    expect(await check(withKube, SILENT_UNTIL_S - 60)).toMatchObject({
      state: 'partial',
      says: expect.stringContaining('none in the last minutes'),
    });
  });

  it('nothing of the last days', async () => {
    expect(await check(withKube, END_S + 86_400 * 9)).toMatchObject({
      state: 'partial',
      says: expect.stringContaining('none of the last 2 days'),
    });
  });

  it('no GPU at all', async () => {
    expect(await check(withKube, END_S, 'cluster="elsewhere"')).toMatchObject({
      state: 'down',
      says: expect.stringContaining('has no GPU metrics that match cluster="elsewhere"'),
      todo: expect.stringContaining('dcgm-exporter'),
    });
  });

  it('matchers that are no matchers', async () => {
    expect(await check(withKube, END_S, 'cluster=a b')).toMatchObject({
      state: 'down',
      says: expect.stringContaining('refuses the question'),
    });
  });
});
