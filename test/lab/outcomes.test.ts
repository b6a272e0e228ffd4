import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { collectOnce } from '../../src/app/collect/collect.ts';
import { outcomes } from '../../src/app/outcomes/outcomes.ts';
import { ledgerWindow } from '../../src/app/window.ts';
import { withReader } from '../../src/app/workspace.ts';
import { prometheusSource } from '../../src/sources/prometheus/prometheus-source.ts';
import { labPart } from '../lab.ts';
import { playedPrometheus, type PlayedPrometheus } from './played-prometheus.ts';

const DAY_S = 86_400;
const prometheus = labPart('prometheus');

describe.skipIf(!prometheus.installed)('tokens of a played fleet, through a real Prometheus', () => {
  let folder = '';
  let server: PlayedPrometheus;
  const at = Math.floor(Date.now() / 1000 / DAY_S) * DAY_S - DAY_S / 2;
  const now = new Date(at * 1000);
  const dataDir = (): string => join(folder, 'data');
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'bursar-outcomes-'));
    server = await playedPrometheus(prometheus, folder, { gpus: 40, days: 1, stepS: 300, at });
    const source = prometheusSource({ name: 'p', url: server.url, cluster: 'k' });
    const signal = new AbortController().signal;
    const request = { dataDir: dataDir(), sources: [source], now: () => now, signal, progress: () => undefined };
    const [outcome] = (await collectOnce(request)).sources;
    if (outcome?.state !== 'ok') throw new Error(`collecting went ${outcome?.state ?? 'nowhere'}`);
  }, 240_000);
  afterAll(async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it.each([
    ['vllm:prompt_tokens_total', 'prompt_token'],
    ['vllm:generation_tokens_total', 'generation_token'],
    ['vllm:request_success_total', 'request'],
  ])('all that %s grew by is there, and no more', async (metric, unit) => {
    const grown = await grownBy(server.url, metric, at);
    expect(grown).toBeGreaterThan(0);
    const [found] = await withReader(dataDir(), (space) =>
      space.ask<{ total: bigint }>({
        tables: [{ table: 'work' }],
        params: { unit },
        sql: 'SELECT CAST(sum(quantity) AS BIGINT) AS total FROM work WHERE unit = $unit',
      }),
    );
    expect(found?.total).toBe(BigInt(grown));
  });

  it('every model has a cost, by the pods that served it', async () => {
    const answer = await withReader(dataDir(), (space) =>
      outcomes(space, { window: ledgerWindow('all', now, space.scope), now, by: 'model', unit: 'token' }),
    );
    expect(answer.unpaid).toEqual([]);
    expect(answer.rows.length).toBeGreaterThan(0);
    for (const { now: figures } of answer.rows) expect(figures.paid.usdMicros).toBeGreaterThan(0n);
  });
});

/** What the true samples of a counter grew by, series by series: asked for at once and added up here. */
async function grownBy(url: string, metric: string, at: number): Promise<number> {
  const body = new URLSearchParams({ query: `${metric}[3d]`, time: String(at) });
  const answer = (await (await fetch(`${url}/api/v1/query`, { method: 'POST', body })).json()) as {
    readonly data: { readonly result: readonly { readonly values: readonly (readonly [number, string])[] }[] };
  };
  return answer.data.result.reduce((total, { values }) => {
    const counts = values.map(([, value]) => Number(value));
    const grown = counts.slice(1).map((count, place) => count - (counts[place] ?? 0));
    return total + grown.reduce((sum, each, place) => sum + (each >= 0 ? each : (counts[place + 1] ?? 0)), 0);
  }, 0);
}
