import { createServer } from 'node:http';
import type { Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { Haul, PullRequest, Source } from '../../facts/source.ts';
import { scrapeSource } from './scrape-source.ts';
import type { ScrapeOptions } from './scrape-source.ts';

const servers: Server[] = [];
afterEach(async () => {
  await Promise.all(
    servers.splice(0).map((server) => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    }),
  );
});

/** A real exporter on a real port, whose answer a test may change. */
async function exporter(answer: string | ((response: ServerResponse, headers: object) => void)) {
  const serving = { answer };
  const server = createServer((request, response) => {
    if (typeof serving.answer === 'function') return serving.answer(response, request.headers);
    response.setHeader('content-type', 'text/plain; version=0.0.4');
    response.end(serving.answer);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(serving, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/metrics` });
}

const at = (minute: number, second = 0): Date => new Date(Date.UTC(2026, 10, 16, 10, minute, second));
const request = (now: Date, more: Partial<PullRequest> = {}): PullRequest => ({
  now,
  signal: new AbortController().signal,
  progress: () => undefined,
  ...more,
});
async function pull(source: Source, cursor: unknown, now: Date, more: Partial<PullRequest> = {}): Promise<Haul> {
  // A cursor goes through JSON on its way to the state store.
  const kept: unknown = cursor === undefined ? undefined : JSON.parse(JSON.stringify(cursor));
  for await (const haul of source.pull(kept, request(now, more))) return haul;
  throw new Error('no haul');
}
const rows = (haul: Haul, table: string) =>
  haul.facts.filter((each) => each.table === table).flatMap((each) => each.rows);
const source = (options: Partial<ScrapeOptions> & Pick<ScrapeOptions, 'targets'>): Source =>
  scrapeSource({ name: 'exporters', ...options });

const gpu = (index: number, extra = ''): string =>
  `{gpu="${index}",UUID="GPU-${index}",modelName="NVIDIA H100 80GB HBM3",Hostname="gpu-1"${extra}}`;

describe('a look', () => {
  it('gives a sample, a device, a machine and a binding for each GPU', async () => {
    const { url } = await exporter(`DCGM_FI_DEV_GPU_UTIL${gpu(0)} 97\nDCGM_FI_DEV_POWER_USAGE${gpu(0)} 612.4\n`);
    const haul = await pull(source({ targets: [{ url }], cluster: 'train' }), undefined, at(0, 7));
    expect(haul.facts).toEqual([
      {
        table: 'gpu_sample',
        batch: 'samples/2026-11-16T10',
        mode: 'extend',
        rows: [
          {
            device_id: 'GPU-0',
            ts: at(0, 7),
            step_s: 30,
            util_permille: 970,
            power_w: 612,
          },
        ],
      },
      {
        table: 'device',
        batch: 'devices',
        mode: 'extend',
        rows: [
          expect.objectContaining({
            device_id: 'GPU-0',
            node_id: 'gpu-1',
            present_from: at(0, 7),
            kind: 'gpu',
          }),
        ],
      },
      {
        table: 'node',
        batch: 'nodes',
        mode: 'extend',
        rows: [
          expect.objectContaining({
            node_id: 'gpu-1',
            cluster: 'train',
            gpu_count: 1,
            presence: 'inferred',
          }),
        ],
      },
    ]);
    expect(haul.bindings).toEqual([
      { deviceId: 'GPU-0', nodeId: 'gpu-1', gpuIndex: 0, from: at(0, 7), until: at(0, 7) },
    ]);
    expect(haul).toMatchObject({ coveredUntil: at(0, 7), gpus: { seen: 1, notRead: 0 }, gaps: [], skipped: [] });
  });

  it('says devices and machines once, and again only when they change', async () => {
    const serving = await exporter(`DCGM_FI_DEV_GPU_UTIL${gpu(0)} 1\n`);
    const exporters = source({ targets: [serving] });
    const first = await pull(exporters, undefined, at(0));
    const second = await pull(exporters, first.cursor, at(1));
    expect(second.facts.map(({ table }) => table)).toEqual(['gpu_sample']);
    serving.answer = `DCGM_FI_DEV_GPU_UTIL${gpu(0)} 1\nDCGM_FI_DEV_GPU_UTIL${gpu(1)} 1\n`;
    const third = await pull(exporters, second.cursor, at(2));
    expect(rows(third, 'device')).toMatchObject([{ device_id: 'GPU-1', present_from: at(2) }]);
    expect(rows(third, 'node')).toMatchObject([{ node_id: 'gpu-1', present_from: at(0), gpu_count: 2 }]);
  });

  it('a GPU replaced by another at its place has ended; one that is silent has not', async () => {
    const serving = await exporter(`DCGM_FI_DEV_GPU_UTIL${gpu(0)} 1\nDCGM_FI_DEV_GPU_UTIL${gpu(1)} 1\n`);
    const exporters = source({ targets: [serving] });
    const first = await pull(exporters, undefined, at(0));
    serving.answer = `DCGM_FI_DEV_GPU_UTIL${gpu(0).replace('GPU-0', 'GPU-new')} 1\n`;
    const second = await pull(exporters, first.cursor, at(1));
    expect(rows(second, 'device')).toMatchObject([
      { device_id: 'GPU-new', present_from: at(1) },
      { device_id: 'GPU-0', present_from: at(0), present_until: at(1) },
    ]);
    expect(rows(second, 'node')).toEqual([]);
  });

  it('the node is the target’s own name where the exporter gives none', async () => {
    const { url } = await exporter(
      'nvidia_smi_utilization_gpu_ratio{uuid="df6e7a7c-7314-46f8-abc4-b88b36dcf3aa"} 0.37\n',
    );
    const haul = await pull(source({ targets: [{ url, nodeId: 'box1' }] }), undefined, at(0));
    expect(rows(haul, 'device')).toMatchObject([
      { device_id: 'GPU-df6e7a7c-7314-46f8-abc4-b88b36dcf3aa', node_id: 'box1' },
    ]);
  });

  it('two exporters of one GPU give one sample, the greater of each value', async () => {
    const one = await exporter(`DCGM_FI_DEV_GPU_UTIL${gpu(0)} 80\nDCGM_FI_DEV_POWER_USAGE${gpu(0)} 500\n`);
    const two = await exporter(`DCGM_FI_DEV_GPU_UTIL${gpu(0)} 0\nDCGM_FI_DEV_FB_USED${gpu(0)} 7\n`);
    const haul = await pull(source({ targets: [one, two] }), undefined, at(0));
    expect(rows(haul, 'gpu_sample')).toEqual([
      { device_id: 'GPU-0', ts: at(0), step_s: 30, util_permille: 800, power_w: 500, fb_used_mib: 7 },
    ]);
  });

  it('a first look says that nothing is known from before', async () => {
    const { url } = await exporter(`DCGM_FI_DEV_GPU_UTIL${gpu(0)} 1\n`);
    const haul = await pull(source({ targets: [{ url }] }), undefined, at(30), { since: at(0) });
    expect(haul.gaps).toMatchObject([{ from: at(0), until: at(30) }]);
  });

  it('a sample of a large fleet is spread over it, and the rest is not read', async () => {
    const many = Array.from({ length: 10 }, (_, n) => `DCGM_FI_DEV_GPU_UTIL${gpu(n)} 1\n`).join('');
    const haul = await pull(source({ targets: [await exporter(many)] }), undefined, at(0), { gpusMax: 4 });
    expect(rows(haul, 'gpu_sample').map((row) => row['device_id'])).toEqual(['GPU-0', 'GPU-2', 'GPU-5', 'GPU-7']);
    expect(haul.gpus).toEqual({ seen: 10, notRead: 6 });
  });
});

describe('power from a counter of energy', () => {
  const energy = (millijoules: number): string => `DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION${gpu(0)} ${millijoules}\n`;
  const cases: Record<string, { second: number; want: number | undefined }> = {
    'is what it grew by': { second: 1_000_000 + 60 * 300_000, want: 300 },
    'is unknown when the counter was set back': { second: 5000, want: undefined },
    'is 0 when it stood still': { second: 1_000_000, want: 0 },
  };
  it.each(Object.entries(cases))('%s', async (_, { second: grown, want }) => {
    const serving = await exporter(energy(1_000_000));
    const exporters = source({ targets: [serving] });
    const first = await pull(exporters, undefined, at(0));
    expect(rows(first, 'gpu_sample')).toEqual([]);
    serving.answer = energy(grown);
    const second = await pull(exporters, first.cursor, at(1));
    expect(rows(second, 'gpu_sample')[0]?.['power_w']).toBe(want);
  });
});

describe('trouble', () => {
  const good = `DCGM_FI_DEV_GPU_UTIL${gpu(0)} 1\n`;

  it('one dead exporter is a gap since it last answered, and the others go on', async () => {
    const dying = await exporter(`DCGM_FI_DEV_GPU_UTIL${gpu(1)} 1\n`);
    const exporters = source({ targets: [await exporter(good), dying] });
    const first = await pull(exporters, undefined, at(0));
    dying.answer = (response) => void response.writeHead(503).end('starting');
    const second = await pull(exporters, first.cursor, at(5));
    expect(rows(second, 'gpu_sample')).toHaveLength(1);
    expect(second.gaps).toMatchObject([{ from: at(0), until: at(5), reason: expect.stringContaining('503') }]);
  });

  it('when none answers the pull fails with what to do', async () => {
    const { url } = await exporter((response) => void response.writeHead(401).end());
    await expect(pull(source({ targets: [{ url }] }), undefined, at(0))).rejects.toMatchObject({
      name: 'OperationError',
      hint: expect.stringContaining('headers'),
    });
  });

  it.each([
    ['a web page', '<html><body>\nLog in here\n</body></html>\n', /not metrics/],
    ['a log', 'time=1 level=error msg="no GPU found"\n', /not metrics/],
    ['nothing', '', /nothing/],
  ])('%s is not metrics', async (_, text, message) => {
    const health = await source({ targets: [await exporter(text)] }).check(new AbortController().signal);
    expect(health).toMatchObject({ state: 'down', says: expect.stringMatching(message), todo: expect.any(String) });
  });

  it('a bad line costs itself only, and is told', async () => {
    const haul = await pull(
      source({
        targets: [
          await exporter(
            `${good}${good.replace('DCGM_FI_DEV_GPU_UTIL', 'DCGM_FI_DEV_FB_USED').replace(' 1', ' 2147483632')}odd{ 1\n`,
          ),
        ],
      }),
      undefined,
      at(0),
    );
    expect(rows(haul, 'gpu_sample')).toHaveLength(1);
    expect(haul.skipped).toMatchObject([
      { reason: 'lines not understood: a label has no name', count: 1 },
      { reason: 'blank values, which mean unknown', count: 1 },
    ]);
  });

  it('a clock that is wrong is not believed, and that is told', async () => {
    const haul = await pull(source({ targets: [await exporter(good.replace(' 1\n', ' 1 1000\n'))] }), undefined, at(0));
    expect(rows(haul, 'gpu_sample')[0]?.['ts']).toEqual(at(0));
    expect(haul.skipped).toMatchObject([{ reason: expect.stringContaining('5 minutes'), count: 1 }]);
  });

  it('an exporter that never ends is left at the size limit', async () => {
    const { url } = await exporter((response) => {
      const line = `x{a="${'y'.repeat(60_000)}"} 1\n`;
      const more = (): void => {
        while (!response.destroyed && response.write(line)) continue;
      };
      response.on('drain', more);
      more();
    });
    const health = await source({ targets: [{ url }] }).check(new AbortController().signal);
    expect(health).toMatchObject({ state: 'down', says: expect.stringMatching(/MB|larger|more than/) });
  });

  it('secrets stay out of what is said', async () => {
    const { url } = await exporter(
      (response, headers) => void response.writeHead('authorization' in headers ? 500 : 200).end(),
    );
    const secret = source({ targets: [{ url: url.replace('http://', 'http://me:hunter2@') }] });
    const health = await secret.check(new AbortController().signal);
    expect(JSON.stringify([health, secret.reads])).not.toContain('hunter2');
    expect(health.says).toContain('500');
  });
});

describe('pods named by the exporter', () => {
  const held = (pod: string, uid = ''): string =>
    `DCGM_FI_DEV_GPU_UTIL${gpu(0, `,namespace="nlp",pod="${pod}",container="c",pod_uid="${uid}"`)} 1\n`;

  it('are bindings always, holdings only where asked for', async () => {
    const serving = await exporter(held('train-0'));
    const haul = await pull(source({ targets: [serving] }), undefined, at(0));
    expect(haul.bindings).toContainEqual(expect.objectContaining({ pod: { namespace: 'nlp', name: 'train-0' } }));
    expect(rows(haul, 'allocation')).toEqual([]);
  });

  it('hold from the first look to the last', async () => {
    const serving = await exporter(held('train-0'));
    const exporters = source({ targets: [serving], pods: true, cluster: 'k' });
    const first = await pull(exporters, undefined, at(0));
    const second = await pull(exporters, first.cursor, at(1));
    expect(rows(second, 'allocation')).toEqual([
      {
        source: 'kubernetes',
        allocation_id: 'nlp/train-0',
        attempt: 0,
        node_id: 'gpu-1',
        slot: 0,
        cluster: 'k',
        held_from: at(0),
        observed_at: at(1),
        poll_s: 30,
        device_id: 'GPU-0',
        gpu_count: 1,
        isolation: 'whole',
        namespace: 'nlp',
        workload_kind: 'Pod',
        workload_name: 'train-0',
        outcome: 'running',
      },
    ]);
    serving.answer = held('other', 'uid-7');
    const third = await pull(exporters, second.cursor, at(2));
    expect(third.facts.filter(({ table }) => table === 'allocation')).toMatchObject([
      { batch: 'open', mode: 'replace', rows: [{ allocation_id: 'uid-7', held_from: at(2) }] },
      {
        batch: 'ended/2026-11-16',
        mode: 'extend',
        rows: [
          {
            allocation_id: 'nlp/train-0',
            held_from: at(0),
            held_until: at(1, 30),
          },
        ],
      },
    ]);
  });

  it('share a GPU by turns, and stay open while their exporter is silent', async () => {
    const serving = await exporter(held('a') + held('b'));
    const other = await exporter(`DCGM_FI_DEV_GPU_UTIL{UUID="GPU-9",gpu="0",Hostname="gpu-2"} 1\n`);
    const exporters = source({ targets: [serving, other], pods: true });
    const first = await pull(exporters, undefined, at(0));
    expect(rows(first, 'allocation').map((row) => row['isolation'])).toEqual(['time-slice', 'time-slice']);
    serving.answer = (response) => void response.writeHead(500).end();
    const second = await pull(exporters, first.cursor, at(9));
    expect(rows(second, 'allocation')).toMatchObject([{ observed_at: at(0) }, { observed_at: at(0) }]);
  });
});

describe('a model server', () => {
  const served = (tokens: number): string => `vllm:prompt_tokens_total{model_name="chat-8b",engine="0"} ${tokens}\n`;

  it('has done what its counter grew by between two looks', async () => {
    const serving = await exporter(served(500));
    const target = { url: serving.url, nodeId: 'gpu-1' };
    const vllm = source({ targets: [target], cluster: 'k' });
    const first = await pull(vllm, undefined, at(0));
    expect(rows(first, 'work')).toEqual([]);
    serving.answer = served(620);
    const second = await pull(vllm, first.cursor, at(1));
    serving.answer = served(20);
    const third = await pull(vllm, second.cursor, at(2));
    const told = {
      source: 'vllm',
      unit: 'prompt_token',
      window_from: at(0),
      model_name: 'chat-8b',
      node_id: 'gpu-1',
      cluster: 'k',
    };
    expect(rows(second, 'work')).toMatchObject([{ ...told, quantity: '120', window_until: at(1) }]);
    expect(rows(third, 'work')).toMatchObject([{ ...told, quantity: '140', window_until: at(2) }]);
  });

  it('is healthy without a GPU of its own', async () => {
    const health = await source({ targets: [await exporter(served(1))] }).check(new AbortController().signal);
    expect(health).toMatchObject({ state: 'ok', says: '1 of 1 exporters answer, 0 GPUs, 1 model server' });
  });
});

it('health says how many GPUs there are and which fields would sharpen the answers', async () => {
  const serving = await exporter(`DCGM_FI_DEV_GPU_UTIL${gpu(0)} 1\nDCGM_FI_DEV_POWER_USAGE${gpu(0)} 70\n`);
  const health = await source({ targets: [serving] }).check(new AbortController().signal);
  expect(health).toMatchObject({ state: 'ok', says: '1 of 1 exporters answer, 1 GPU', gpus: 1 });
  expect(health.advice.map(({ missing }) => missing.split(' ')[0])).toEqual([
    'DCGM_FI_PROF_GR_ENGINE_ACTIVE',
    'DCGM_FI_PROF_SM_ACTIVE',
    'DCGM_FI_PROF_DRAM_ACTIVE',
    'DCGM_FI_DEV_FB_USED',
  ]);
});
