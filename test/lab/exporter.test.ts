import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeHistory } from '../../lab/exporter/history.ts';
import { kubernetesOnly } from '../../lab/exporter/kubernetes-only.ts';
import { serveExporter, type LiveExporter } from '../../lab/exporter/live.ts';
import { play, type Play } from '../../lab/exporter/play.ts';
import { pushHistory } from '../../lab/exporter/push.ts';
import { worldClock } from '../../lab/exporter/world-clock.ts';
import { unmanaged } from '../../src/demo/world/unmanaged.ts';
import { labPart } from '../lab.ts';

const DAY_S = 86_400;
const prometheus = labPart('prometheus');

describe.skipIf(!prometheus.installed)('a real Prometheus and the exporter that plays a world', () => {
  let folder: string;
  let played: Play;
  let live: LiveExporter;
  const now = Math.floor(Date.now() / 1000);
  const midnight = Math.floor(now / DAY_S) * DAY_S;
  const [yesterday, until] = [midnight - DAY_S, midnight - DAY_S / 2];
  const dirOf = (name: string): string => join(folder, name);
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'bursar-played-'));
    const scope = { seed: 5, gpus: 24, from: yesterday, until: midnight + 2 * DAY_S, stepS: 300 };
    played = play(kubernetesOnly(unmanaged), scope);
    live = await serveExporter(played, worldClock(now, 1));
  });
  afterAll(async () => {
    for (const name of ['filled', 'pushed', 'scraping']) await prometheus.stop(dirOf(name));
    await live.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('take the same history from a file and by remote write', async () => {
    const file = join(folder, 'history.txt');
    const { samples } = writeHistory(played, file, until);
    await prometheus.run('backfill', [dirOf('filled'), file]);
    const filled = (await prometheus.start(dirOf('filled')))['PROMETHEUS_URL']!;
    const pushed = (await prometheus.start(dirOf('pushed')))['PROMETHEUS_URL']!;
    expect(await pushHistory(played, pushed, until)).toBe(samples);
    const question = 'sort_desc(count by (__name__) ({__name__=~"DCGM.*|kube.*|vllm.*"}))';
    expect(await ask(filled, question, until - 60)).toEqual(await ask(pushed, question, until - 60));
    for (const metric of ['DCGM_FI_PROF_GR_ENGINE_ACTIVE', 'kube_pod_status_phase', 'vllm:prompt_tokens_total']) {
      const [first, second] = [await series(filled, metric, until), await series(pushed, metric, until)];
      expect(first.length, metric).toBeGreaterThan(0);
      expect(first, metric).toEqual(second);
    }
  });

  it('scrape it live: every page is healthy, and labels of the target win over the pod of a GPU', async () => {
    const env = { SCRAPE_INTERVAL: '1s' };
    const targets = [
      `${live.address}/dcgm,pod=dcgm-exporter-x,namespace=gpu-operator`,
      `+${live.address}/ksm,job=kube-state-metrics`,
      `+${live.address}/vllm,job=vllm`,
      `${live.address}/second,job=dcgm-second`,
    ];
    const url = (await prometheus.start(dirOf('scraping'), env, ...targets))['PROMETHEUS_URL']!;
    const deadline = Date.now() + 30_000;
    let up: unknown[] = [];
    while (up.length < targets.length && Date.now() < deadline) up = await ask(url, 'up == 1', undefined);
    expect(up).toHaveLength(targets.length);
    const renamed = await ask(url, 'count(DCGM_FI_DEV_FB_USED{exported_pod!="",pod="dcgm-exporter-x"})', undefined);
    expect(renamed).toHaveLength(1);
    expect(await ask(url, 'count(kube_pod_info{exported_pod=""})', undefined)).toHaveLength(1);
  });
});

interface Answer {
  readonly data: { readonly result: readonly { readonly metric: Record<string, string>; readonly values?: unknown }[] };
}

async function ask(url: string, query: string, time: number | undefined): Promise<Answer['data']['result'][number][]> {
  const body = new URLSearchParams({ query, ...(time !== undefined && { time: String(time) }) });
  const answer = await fetch(`${url}/api/v1/query`, { method: 'POST', body });
  const told = await answer.text();
  if (!answer.ok) throw new Error(`${query}: ${told}`);
  return [...(JSON.parse(told) as Answer).data.result];
}

/** The true samples of the last two hours, by series. */
async function series(url: string, metric: string, until: number): Promise<string[]> {
  return (await ask(url, `${metric}[2h]`, until)).map((each) => JSON.stringify(each)).toSorted();
}
