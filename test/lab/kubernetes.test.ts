import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { collectOnce } from '../../src/app/collect/collect.ts';
import { withReader } from '../../src/app/workspace.ts';
import { textOf } from '../../src/facts/source.ts';
import type { FactRow, Haul, Source } from '../../src/facts/source.ts';
import { kubernetesSource } from '../../src/sources/kubernetes/kubernetes-source.ts';
import { labPart } from '../lab.ts';
import { clusterOf, kubeconfigText, Witness } from './kubernetes/cluster.ts';
import type { Cluster } from './kubernetes/cluster.ts';
import { gpuNode, oneReplica, ownedBy, plain, pod, podTemplate } from './kubernetes/objects.ts';

const lab = labPart('kubernetes');
const ROLE = fileURLToPath(new URL('../../docs/sources/kubernetes.yaml', import.meta.url));
const NS = 'nlp';

// Controllers take their time, and more of it on a busy machine.
const timeout = 240_000;

describe.skipIf(!lab.installed)('a real Kubernetes API server', { timeout }, () => {
  let folder = '';
  let cluster: Cluster;
  let witness: Witness;
  let reader = '';
  let server = '';
  let caFile = '';
  /** What the pulls have told so far, as the lake would keep it. */
  const told = { open: [] as readonly FactRow[], waiting: [] as readonly FactRow[], ended: new Map<string, FactRow>() };
  const nodes = new Map<string, FactRow>();
  let cursor: unknown;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bursar-kubernetes-'));
    const variables = await lab.start(join(folder, 'cluster'));
    cluster = clusterOf(variables, folder);
    caFile = variables['KUBERNETES_CA'] ?? '';
    [, server = ''] = /server: "?([^",\s]+)/.exec(await readFile(cluster.kubeconfig, 'utf8')) ?? [];
    witness = new Witness(variables['KUBECTL'] ?? '', cluster.kubeconfig);
    await cluster.kubectl('apply', '-f', ROLE);
    await cluster.kubectl('create', 'namespace', NS);
    reader = await cluster.accountConfig('bursar', 'bursar');
    await cluster.apply(
      gpuNode('h100-0', { 'nvidia.com/gpu': '8' }),
      gpuNode('h100-1', { 'nvidia.com/gpu': '8' }, { 'karpenter.sh/capacity-type': 'spot' }),
      gpuNode('doomed-0', { 'nvidia.com/gpu': '8' }),
      gpuNode('small-0', { 'nvidia.com/gpu': '2' }, { 'nvidia.com/gpu.count': '2' }),
      gpuNode('mig-0', { 'nvidia.com/gpu': '0', 'nvidia.com/mig-1g.10gb': '56' }),
      gpuNode(
        'shared-0',
        { 'nvidia.com/gpu': '32' },
        {
          'nvidia.com/gpu.product': 'NVIDIA-A10G-SHARED',
          'nvidia.com/gpu.replicas': '4',
          'nvidia.com/gpu.sharing-strategy': 'time-slicing',
        },
      ),
      gpuNode('hami-0', { 'nvidia.com/gpu': '80', 'nvidia.com/gpumem': '640000', 'nvidia.com/gpucores': '800' }),
      ...[10, 1000].map((value) => ({
        apiVersion: 'scheduling.k8s.io/v1',
        kind: 'PriorityClass',
        metadata: { name: `priority-${value}` },
        value,
      })),
    );
    await cluster.until('the namespace has its account', async () =>
      (await cluster.kubectl('get', 'serviceaccount', '-n', NS)).includes('default'),
    );
    await cluster.apply(pod(NS, 'on-doomed', { pool: 'doomed', gpus: { 'nvidia.com/gpu': '4' } }));
    await cluster.until('the first pod runs', () => witness.isIn('Running', 'on-doomed'));
    await cluster.kubectl('wait', '--for=condition=Ready', 'node', '--all', '--timeout=25s');
  }, timeout);

  afterAll(async () => {
    await witness?.stop();
    await lab.stop(join(folder, 'cluster'));
    await rm(folder, { recursive: true, force: true });
  }, timeout);

  const source = (options: { kubeconfig?: string; pollS?: number } = {}): Source =>
    kubernetesSource({ name: 'kube', kubeconfig: reader, cluster: 'train-a', ...options });

  async function pulled(from: Source, start: unknown): Promise<Haul> {
    const request = { now: new Date(), signal: AbortSignal.timeout(60_000), progress: () => undefined };
    for await (const haul of from.pull(start, request)) return haul;
    throw new Error('a pull gave nothing');
  }

  /** Pulls as a process would that was started just now: the cursor has been on disk, the source knows nothing. */
  async function pull(): Promise<Haul> {
    const haul = await pulled(source(), cursor);
    cursor = JSON.parse(JSON.stringify(haul.cursor));
    for (const { table, batch, rows } of haul.facts) {
      if (table === 'node')
        for (const row of rows) nodes.set(`${textOf(row, 'node_id')} ${time(row, 'present_from')}`, row);
      if (batch === 'open') told.open = rows;
      if (batch === 'waiting') told.waiting = rows;
      if (batch.startsWith('ended/')) for (const row of rows) told.ended.set(textOf(row, 'allocation_id'), row);
    }
    return haul;
  }

  const uidOf = (name: string): string => [...witness.truths()].find(([, truth]) => truth.name === name)?.[0] ?? '?';

  it('says what it sees, with no more rights than documented', async () => {
    const health = await source().check(AbortSignal.timeout(30_000));
    expect(health).toMatchObject({ state: 'ok', gpus: 50, advice: [] });
    expect(health.says).toMatch(/^Kubernetes v1\.34\.4, context reader, 7 nodes, 50 GPUs/);
    await expect(
      cluster.kubectl('auth', 'can-i', 'delete', 'pods', '--as', 'system:serviceaccount:bursar:bursar'),
    ).rejects.toThrow('can-i');
  });

  it('tells the nodes as the API server has them', async () => {
    const haul = await pull();
    expect(haul.gpus).toEqual({ seen: 50, notRead: 0 });
    expect(told.open.map((row) => [row['node_id'], row['gpu_count']])).toEqual([['doomed-0', 4]]);
    const { items } = await cluster.get<{
      items: readonly { metadata: { name: string; creationTimestamp: string } }[];
    }>('nodes');
    const want = items.map(({ metadata }) => [metadata.name, Date.parse(metadata.creationTimestamp)]).toSorted(byText);
    const rows = [...nodes.values()];
    expect(rows.map((row) => [row['node_id'], time(row, 'present_from')]).toSorted(byText)).toEqual(want);
    expect(rows.find((row) => row['node_id'] === 'h100-1')).toMatchObject({
      resource_id: 'i-h100-1',
      provider: 'aws',
      region: 'us-east-1',
      zone: 'us-east-1a',
      instance_type: 'p5.48xlarge',
      purchase: 'spot',
      cluster: 'train-a',
      gpu_count: 8,
      vcpu: 192,
      memory_bytes: 2 ** 41,
      state: 'up',
      model: 'NVIDIA-H100-80GB-HBM3',
      tags: { pool: 'h100', 'karpenter.sh/capacity-type': 'spot' },
    });
    expect(rows.find((row) => row['node_id'] === 'shared-0')).toMatchObject({ gpu_count: 8, model: 'NVIDIA-A10G' });
    // A machine taken away in mid-job; the controllers need most of a minute to notice that its pod is an orphan.
    await cluster.kubectl('delete', 'node', 'doomed-0', '--wait=false');
  });

  it('follows work of every kind and fate by watching, to the second', async () => {
    const steer = (word: string, value: string) => ({ [`lab.bursar/${word}`]: value });
    await cluster.apply(
      pod(NS, 'completes', { pool: 'h100', annotations: steer('runs-for', '3s') }),
      pod(NS, 'fails', { pool: 'h100', annotations: steer('fails-after', '2s') }),
      pod(NS, 'runs-out', {
        pool: 'h100',
        annotations: { ...steer('fails-after', '2s'), ...steer('fails-as', 'OOMKilled') },
      }),
      pod(NS, 'cancelled', { pool: 'h100', annotations: steer('ends-after', '3s') }),
      pod(NS, 'evicted', { pool: 'h100' }),
      pod(NS, 'forced', { pool: 'h100' }),
      pod(NS, 'low', {
        pool: 'small',
        gpus: { 'nvidia.com/gpu': '2' },
        annotations: steer('ends-after', '2s'),
        spec: { priorityClassName: 'priority-10' },
      }),
      pod(NS, 'too-large', { pool: 'h100', gpus: { 'nvidia.com/gpu': '64' } }),
      pod(NS, 'gated', {
        pool: 'h100',
        labels: { 'kueue.x-k8s.io/queue-name': 'main' },
        spec: {
          schedulingGates: [{ name: 'kueue.x-k8s.io/admission' }],
          nodeSelector: { 'nvidia.com/gpu.product': 'NVIDIA-H100-80GB-HBM3' },
        },
      }),
      {
        apiVersion: 'batch/v1',
        kind: 'Job',
        metadata: { name: 'train', namespace: NS },
        spec: {
          parallelism: 2,
          completions: 2,
          template: podTemplate({
            pool: 'h100',
            gpus: { 'nvidia.com/gpu': '2' },
            annotations: steer('runs-for', '2s'),
          }),
        },
      },
    );
    await cluster.until('pods run', () => witness.isIn('Running', 'cancelled', 'evicted', 'forced', 'low'));
    await pull();
    await cluster.kubectl('delete', 'pod', 'cancelled', '-n', NS, '--wait=false');
    await cluster.kubectl('delete', 'pod', 'forced', '-n', NS, '--grace-period=0', '--force');
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'evicted', namespace: NS } };
    const file = join(folder, 'eviction.json');
    await writeFile(file, JSON.stringify(eviction));
    await cluster.kubectl('create', '--raw', `/api/v1/namespaces/${NS}/pods/evicted/eviction`, '-f', file);
    await cluster.apply(
      pod(NS, 'high', { pool: 'small', gpus: { 'nvidia.com/gpu': '2' }, spec: { priorityClassName: 'priority-1000' } }),
      // Comes and goes between two pulls.
      pod(NS, 'brief', { pool: 'h100' }),
    );
    // A deletion alone frees nothing: its containers have not ended yet.
    await pull();
    const isOpen = told.open.some((row) => row['allocation_id'] === uidOf('cancelled'));
    expect(isOpen || !witness.isIn('Running', 'cancelled')).toBe(true);
    await cluster.until('brief runs', () => witness.isIn('Running', 'brief'));
    await cluster.kubectl('delete', 'pod', 'brief', '-n', NS, '--wait=false');
    await cluster.until('work has ended', () => witness.isIn('Succeeded', 'completes', 'train'));
    await cluster.until('these are gone', () => witness.areGone('cancelled', 'brief', 'low', 'evicted'));
    await cluster.until('high has their place', () => witness.isIn('Running', 'high'));
    const haul = await pull();
    expect(haul.gaps).toEqual([]);
    expect(haul.skipped).toEqual([]);

    const outcomes = Object.fromEntries(
      [...witness.truths()].map(([uid, { name }]) => [
        name.replace(/^train-.*/, 'train'),
        told.ended.get(uid)?.['outcome'],
      ]),
    );
    expect(outcomes).toMatchObject({
      completes: 'completed',
      train: 'completed',
      fails: 'failed',
      'runs-out': 'out-of-memory',
      cancelled: 'cancelled',
      brief: 'cancelled',
      forced: 'cancelled',
      evicted: 'preempted',
      low: 'preempted',
      high: undefined,
    });
    expectTruth();
  });

  it('tells who waits, for what and why', () => {
    const waiting = told.waiting.map((row) => [
      row['workload_name'],
      row['gpu_count'],
      row['model'],
      row['held_back_by'],
    ]);
    expect(waiting.toSorted(byText)).toEqual([
      ['gated', 1, 'NVIDIA-H100-80GB-HBM3', 'SchedulingGated: kueue.x-k8s.io/admission'],
      ['too-large', 64, undefined, 'Unschedulable'],
    ]);
  });

  it('finds owners up to the top, and what of a GPU each pod has', async () => {
    const jobTemplate = podTemplate({ pool: 'h100', gpus: { 'nvidia.com/gpu': '8' } });
    const suspended = { suspend: true, template: jobTemplate };
    const [torch, rayJob, notebook, later, nightly] = await cluster.apply(
      plain(NS, 'kubeflow.org/v1', 'PyTorchJob', 'pretrain'),
      plain(NS, 'ray.io/v1', 'RayJob', 'tune', { metadata: { annotations: { owner: 'kim' } } }),
      plain(NS, 'kubeflow.org/v1', 'Notebook', 'ada'),
      plain(NS, 'batch/v1', 'Job', 'later', { spec: suspended }),
      plain(NS, 'batch/v1', 'CronJob', 'nightly', {
        spec: { schedule: '0 0 1 1 *', suspend: true, jobTemplate: { spec: { template: jobTemplate } } },
      }),
    );
    const [rayCluster] = await cluster.apply(
      plain(NS, 'ray.io/v1', 'RayCluster', 'tune-x7', { metadata: { ownerReferences: [ownedBy(rayJob)] } }),
    );
    await cluster.apply(
      oneReplica(NS, 'asr', 'Deployment', { pool: 'h100' }),
      oneReplica(NS, 'ada', 'StatefulSet', {
        pool: 'mig',
        gpus: { 'nvidia.com/mig-1g.10gb': '1' },
        labels: { owner: 'ada' },
        owner: ownedBy(notebook),
      }),
      plain(NS, 'batch/v1', 'Job', 'nightly-1', {
        metadata: { ownerReferences: [ownedBy(nightly)] },
        spec: { template: podTemplate({ pool: 'h100' }) },
      }),
      pod(NS, 'pretrain-worker-0', { pool: 'h100', owner: ownedBy(torch), gpus: { 'nvidia.com/gpu': '2' } }),
      pod(NS, 'tune-worker', { pool: 'h100', owner: ownedBy(rayCluster) }),
      pod(NS, 'slice-of-time', { pool: 'shared' }),
      pod(NS, 'hami', {
        pool: 'hami',
        gpus: { 'nvidia.com/gpu': '1', 'nvidia.com/gpumem': '20000', 'nvidia.com/gpucores': '10' },
      }),
      pod(NS, 'kai', { pool: 'h100', gpus: {}, annotations: { 'gpu-fraction': '0.5' } }),
      plain(NS, 'kueue.x-k8s.io/v1beta1', 'Workload', 'job-later-1', {
        metadata: { ownerReferences: [ownedBy(later)] },
        spec: { queueName: 'main', podSets: [{ name: 'main', count: 2, template: { spec: jobTemplate.spec } }] },
      }),
    );
    await cluster.until('they run', () =>
      witness.isIn('Running', 'asr', 'ada', 'pretrain', 'tune', 'slice', 'hami', 'kai'),
    );
    await pull();
    const of = new Map([...witness.truths()].map(([uid, { name }]) => [uid, name]));
    const found = told.open
      .map((row) => [
        (of.get(textOf(row, 'allocation_id')) ?? '?').replace(/^(asr|nightly)-.*/, '$1'),
        `${textOf(row, 'workload_kind')}/${textOf(row, 'workload_name')}`,
        row['user_name'],
        `${textOf(row, 'gpu_count')} ${textOf(row, 'isolation')} ${textOf(row, 'share_units') || 'all'}`,
      ])
      .filter(([name]) => name !== 'high' && name !== 'on-doomed');
    expect(found.toSorted(byText)).toEqual([
      ['ada-0', 'Notebook/ada', 'ada', '1 mig 7875'],
      ['asr', 'Deployment/asr', undefined, '1 whole all'],
      ['hami', 'Pod/hami', undefined, '1 fraction 15750'],
      ['kai', 'Pod/kai', undefined, '1 fraction 31500'],
      ['nightly', 'CronJob/nightly', undefined, '1 whole all'],
      ['pretrain-worker-0', 'PyTorchJob/pretrain', undefined, '2 whole all'],
      ['slice-of-time', 'Pod/slice-of-time', undefined, '1 time-slice 15750'],
      ['tune-worker', 'RayJob/tune', 'kim', '1 whole all'],
    ]);
    expect(told.open.find((row) => of.get(textOf(row, 'allocation_id')) === 'kai')).toMatchObject({
      node_id: expect.stringMatching(/^h100-/),
      cpu_millis: 4000,
      memory_bytes: 16 * 2 ** 30,
      namespace: NS,
      labels: { team: 'nlp' },
    });
    expect(told.waiting).toContainEqual(
      expect.objectContaining({
        workload_kind: 'Job',
        workload_name: 'later',
        gpu_count: 16,
        held_back_by: 'Kueue: Pending',
      }),
    );
    expectTruth();
  });

  it('without the right to read owners tells the nearest; without any says the command that helps', async () => {
    await cluster.kubectl('delete', 'clusterrolebinding', 'bursar-owners');
    await cluster.apply({
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'nobody', namespace: 'bursar' },
    });
    const haul = await pulled(source(), undefined);
    const open = haul.facts.find(({ batch }) => batch === 'open')?.rows ?? [];
    expect(open.map((row) => `${textOf(row, 'workload_kind')}/${textOf(row, 'workload_name')}`)).toEqual(
      expect.arrayContaining(['Deployment/asr', 'PyTorchJob/pretrain', 'StatefulSet/ada']),
    );
    expect((await source().check(AbortSignal.timeout(30_000))).advice).toMatchObject([
      { missing: 'owners of pods cannot be read', todo: expect.stringContaining('create clusterrole bursar-owners') },
    ]);
    const nobody = source({ kubeconfig: await cluster.accountConfig('bursar', 'nobody') });
    const refused = await nobody.check(AbortSignal.timeout(30_000));
    expect(refused).toMatchObject({ state: 'down', says: expect.stringMatching(/^may not list pods/) });
    await expect(pulled(nobody, undefined)).rejects.toMatchObject({ code: 'kubernetes-forbidden' });
    const [, commands = ''] = /runs: (.*)$/.exec(refused.todo ?? '') ?? [];
    for (const command of commands.split(' && ')) {
      const words = command
        .split(' ')
        .slice(1)
        .filter((each) => each !== '--context' && each !== 'reader');
      await cluster.kubectl(...words.map((each) => each.replaceAll('bursar-reader', 'nobody-reader')));
    }
    await cluster.until(
      'the role is in force',
      async () => (await nobody.check(AbortSignal.timeout(30_000))).state === 'ok',
    );
  });

  it('tells in clear words what is wrong with credentials, certificates and addresses', async () => {
    const words = async (given: Parameters<typeof kubeconfigText>[0]): Promise<string> => {
      const kubeconfig = join(folder, 'wrong.kubeconfig');
      await writeFile(kubeconfig, kubeconfigText(given));
      const { state, says, todo } = await source({ kubeconfig }).check(AbortSignal.timeout(30_000));
      return `${state}: ${says} / ${todo}`;
    };
    const otherCa = join(folder, 'cluster', 'pki', 'scheduler.crt');
    const token = 'not-a-token-of-this-cluster';
    expect(await words({ server, caFile, token })).toMatch(/^down: .* does not accept the credentials .*log in again/);
    expect(await words({ server, caFile: otherCa, token })).toMatch(/^down: .*certificate.*authority did not sign/);
    expect(await words({ server: 'https://127.0.0.1:9', caFile, token })).toMatch(
      /^down: .*cannot be reached \(ECONNREFUSED\)/,
    );
    expect(await words({ server, caFile: join(folder, 'none.crt'), token })).toMatch(
      /^down: no credential.*no such file/,
    );
    expect(await words({ server, caFile, token })).not.toContain(token);
  });

  const dataDir = (): string => join(folder, 'data');
  const collect = async (): Promise<string | undefined> => {
    const report = await collectOnce({
      dataDir: dataDir(),
      sources: [source({ pollS: 1 })],
      now: () => new Date(),
      signal: AbortSignal.timeout(60_000),
      progress: () => undefined,
    });
    return report.sources[0]?.state;
  };

  it('comes out of the collector as the API server has it', async () => {
    expect(await collect()).toBe('ok');
    await cluster.kubectl('delete', 'pod', 'kai', '-n', NS, '--wait=false');
    await cluster.until('kai is gone', () => witness.areGone('kai'));
    expect(await collect()).toBe('ok');
    const truths = witness.truths();
    const held = await rowsIn('held_until IS NOT NULL');
    expect(held.length).toBeGreaterThanOrEqual(6);
    for (const { id, held_s: heldS } of held) {
      const { name, heldFromS, heldUntilS = Number.NaN } = truths.get(id) ?? { name: id, heldFromS: Number.NaN };
      expect(Number(heldS), name).toBe(heldUntilS - heldFromS);
    }
    // The ledger: seconds of whole devices, whoever else was on the node.
    const ledger = await withReader(dataDir(), (space) =>
      space.ask<{ id: string; device_s: bigint }>({
        tables: [{ table: 'gpu_hour' }],
        sql: `SELECT allocation_id AS id, CAST(sum(units) / 63000 AS BIGINT) AS device_s FROM gpu_hour
              WHERE disposition = 'held' AND allocation_id IS NOT NULL GROUP BY 1`,
      }),
    );
    const whole = held.filter(({ isolation }) => isolation === 'whole');
    expect(whole.length).toBeGreaterThanOrEqual(5);
    expect(ledger.filter(({ id }) => whole.some((row) => row.id === id)).toSorted(byId)).toEqual(
      whole.map(({ id, held_s: heldS, gpus }) => ({ id, device_s: (heldS ?? 0n) * gpus })).toSorted(byId),
    );
    const running = [...truths].filter(([, { heldUntilS }]) => heldUntilS === undefined).map(([uid]) => uid);
    expect((await rowsIn('held_until IS NULL')).map(({ id }) => id).toSorted()).toEqual(running.toSorted());
  });

  it('ends what stood on a node that was taken away, and the node', async () => {
    await cluster.until('the pod is collected', () => witness.areGone('on-doomed'));
    await pull();
    const [uid, truth] = [...witness.truths()].find(([, { name }]) => name === 'on-doomed') ?? [];
    const row = told.ended.get(uid ?? '');
    expect(row?.['outcome']).toBe('node-fail');
    // The node took its word with it: the moment somebody noticed is all there is.
    expect(Math.abs(time(row ?? {}, 'held_until') / 1000 - (truth?.heldUntilS ?? 0))).toBeLessThanOrEqual(2);
    const gone = [...nodes.values()].find((each) => each['node_id'] === 'doomed-0');
    expect(time(gone ?? {}, 'present_until')).toBeGreaterThan(time(gone ?? {}, 'present_from'));
  });

  it('lists again where the server has forgotten what came after the cursor, and ends what vanished when it was last seen', async () => {
    // A new process of the API server remembers nothing of before: the cursor's version is too old, HTTP 200 with an event of 410.
    const [before] = await withReader(dataDir(), async (space) => space.sources);
    await cluster.kubectl('delete', 'pod', 'hami', '-n', NS, '--grace-period=0', '--force');
    await lab.run('kill', [join(folder, 'cluster'), 'kube-apiserver']);
    expect(await collect()).toBe('failed');
    await lab.start(join(folder, 'cluster'));
    expect(await collect()).toBe('ok');
    const [hami] = await rowsIn(`allocation_id = '${uidOf('hami')}'`);
    expect(hami?.outcome).toBe(null);
    expect(Number(hami?.until_s)).toBe(Math.floor((before?.coveredUntil?.getTime() ?? 0) / 1000));
    const [record] = await withReader(dataDir(), async (space) => space.sources);
    expect(record?.gaps).toMatchObject([{ reason: expect.stringContaining('not watched') }]);
    expect(record?.error).toBeUndefined();
  });

  interface HeldRow {
    readonly id: string;
    readonly held_s: bigint | null;
    readonly until_s: bigint | null;
    readonly outcome: string | null;
    readonly isolation: string;
    readonly gpus: bigint;
  }

  function rowsIn(where: string): Promise<HeldRow[]> {
    return withReader(dataDir(), (space) =>
      space.ask<HeldRow>({
        tables: [{ table: 'allocation' }],
        sql: `SELECT allocation_id AS id, date_diff('second', held_from, held_until) AS held_s,
                     CAST(epoch(held_until) AS BIGINT) AS until_s, outcome,
                     isolation, gpu_count AS gpus FROM allocation WHERE ${where}`,
      }),
    );
  }

  /** Every pod that ever had a machine stands in what was told, once, from and until the seconds the API server says. */
  function expectTruth(): void {
    const truths = witness.truths();
    const of = (uid: string): FactRow | undefined =>
      told.ended.get(uid) ?? told.open.find((row) => row['allocation_id'] === uid);
    const got = [...truths].map(([uid, { name }]) => {
      const row = of(uid);
      const until = row?.['held_until'];
      return {
        name,
        heldFromS: time(row ?? {}, 'held_from') / 1000,
        ...(until instanceof Date && { heldUntilS: until.getTime() / 1000 }),
      };
    });
    const exact = (list: Iterable<{ name: string }>) => [...list].filter(({ name }) => name !== 'forced');
    expect(exact(got)).toEqual(exact(truths.values()));
    expect(told.open.filter((row) => told.ended.has(textOf(row, 'allocation_id')))).toEqual([]);
    expect([...told.open, ...told.ended.values()].filter((row) => !truths.has(textOf(row, 'allocation_id')))).toEqual(
      [],
    );
    // It was never told when its containers ended; the server let it go within the second it was asked to.
    const forced = [...truths].find(([, { name }]) => name === 'forced');
    const forcedUntil = time(of(forced?.[0] ?? '') ?? {}, 'held_until') / 1000;
    expect(Math.abs(forcedUntil - (forced?.[1].heldUntilS ?? 0))).toBeLessThanOrEqual(1);
  }
});

function byId(one: { readonly id: string }, other: { readonly id: string }): number {
  return one.id < other.id ? -1 : 1;
}

function byText(one: readonly unknown[], other: readonly unknown[]): number {
  return JSON.stringify(one) < JSON.stringify(other) ? -1 : 1;
}

function time(row: FactRow, column: string): number {
  const found = row[column];
  return found instanceof Date ? found.getTime() : Number.NaN;
}
