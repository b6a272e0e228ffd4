import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { collectOnce } from '../../src/app/collect/collect.ts';
import { runCommand } from '../../src/app/run-command.ts';
import { withReader } from '../../src/app/workspace.ts';
import type { DeviceBinding, Haul, Source } from '../../src/facts/source.ts';
import { slurmSource } from '../../src/sources/slurm/slurm-source.ts';
import { labPart } from '../lab.ts';
import type { AccountedLife, SlurmCluster } from './slurm/cluster.ts';
import { clusterOf } from './slurm/cluster.ts';

const lab = labPart('slurm');
const timeout = 240_000;
/** On a slow machine a short first life would be over before anybody takes it away. */
const LONG_FIRST_LIFE = '[ -n "$SLURM_RESTART_COUNT" ] && sleep 4 || sleep 90';
const EVIL_NAME = 'a|b\nJobId=999 JobName=x\n\n999|root|COMPLETED';

describe.skipIf(!lab.installed)('a real Slurm', { timeout }, () => {
  let folder = '';
  let cluster: SlurmCluster;
  let socket = '';
  let restUrl = '';
  const ids: Record<string, string> = {};
  /** What scontrol said while jobs ran: job, machine and places, as `train@h100-01 0,1,2,3`. */
  let places: readonly string[] = [];
  let waited: readonly { readonly id: string; readonly why: string | null; readonly gpus: number }[] = [];

  const dataDir = () => join(folder, 'data');
  const slurm = () => slurmSource({ name: 'slurm', run: cluster.run, pollS: 5 });
  const collect = async () => {
    const report = await collectOnce({
      dataDir: dataDir(),
      sources: [telemetry, slurm()],
      now: () => new Date(),
      signal: AbortSignal.timeout(60_000),
      progress: () => undefined,
    });
    expect(report.sources.map(({ state, record }) => [state, record.error?.message])).toEqual([
      ['ok', undefined],
      ['ok', undefined],
    ]);
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bursar-slurm-'));
    // Jobs of other users run there.
    await chmod(folder, 0o755);
    const variables = await lab.start(join(folder, 'lab'));
    cluster = clusterOf(variables);
    [socket, restUrl] = [variables['SLURMRESTD_SOCKET'] ?? '', variables['SLURMRESTD_URL'] ?? ''];
    await live();
  }, timeout);

  afterAll(async () => {
    await lab.stop(join(folder, 'lab'));
    await rm(folder, { recursive: true, force: true });
  }, timeout);

  /** Twenty lives of every fate, with the collector looking on. */
  async function live(): Promise<void> {
    const { submit, command, until, stateOf } = cluster;
    const running = (...names: readonly string[]) =>
      until(`${names.join(', ')} run`, async () => {
        const states = await Promise.all(names.map((name) => stateOf(ids[name] ?? '')));
        return states.every((state) => state === 'RUNNING');
      });
    /** A life that begins and ends within one second has held nothing, and is not in the lake. */
    const heldForASecond = (...names: readonly string[]) =>
      until(`${names.join(', ')} have had their GPUs for a second`, async () => {
        const ran = await Promise.all(names.map((name) => command('squeue', '-h', '-j', ids[name] ?? '', '-o', '%M')));
        return ran.every((time) => /[1-9]/.test(time));
      });
    ids['train'] = await submit('kim', 'nlp', ['--gres=gpu:h100:4', '--comment=project=llm;run=7'], 'sleep 25');
    ids['multi'] = await submit('mia', 'vision', ['-N2', '--gres=gpu:h100:2', '--qos=high'], 'sleep 25');
    ids['sweep'] = await submit(
      'mia',
      'vision',
      ['--array=0-3%2', '--gpus=1'],
      'sleep 3; exit $((SLURM_ARRAY_TASK_ID == 3))',
    );
    ids['crash'] = await submit(
      'lee',
      'nlp',
      ['--gres=gpu:h100:1', '-J', EVIL_NAME, '--comment=c|d\ne'],
      'sleep 2; exit 3',
    );
    ids['low'] = await submit('mia', 'vision', ['-p', 'a100', '--gres=gpu:a100:3', '--qos=low'], LONG_FIRST_LIFE);
    ids['cancelled'] = await submit('lee', 'nlp', ['--gres=gpu:h100:1'], 'sleep 600');
    ids['requeued'] = await submit('mia', 'vision', ['--gres=gpu:h100:1'], LONG_FIRST_LIFE);
    ids['suspended'] = await submit('mia', 'vision', ['--gres=gpu:h100:1'], 'sleep 15');
    ids['cpu'] = await submit('kim', 'nlp', ['--cpus-per-task=3'], 'sleep 3');
    ids['held'] = await submit('lee', 'nlp', ['--hold', '--gpus=1'], 'sleep 1');
    ids['limited'] = await submit('kim', 'nlp', ['-N1-2', '--gpus=12'], 'sleep 1');
    ids['waiting'] = await submit('mia', 'vision', ['--array=0-4', '--hold', '--gpus=a100:1', '-p', 'a100'], 'sleep 1');
    await running('train', 'multi', 'low', 'cancelled', 'requeued', 'suspended');
    await heldForASecond('low', 'cancelled', 'requeued');
    await command('scontrol', 'suspend', ids['suspended']);
    ids['high'] = await submit('mia', 'vision', ['-p', 'a100', '--gres=gpu:a100:4', '--qos=high'], 'sleep 2');
    await collect();
    places = placesIn(await command('scontrol', 'show', 'job', '-d'));
    waited = await waitingNow();
    await command('scancel', ids['held'], ids['limited'], ids['waiting'], ids['cancelled']);
    await command('scontrol', 'requeue', ids['requeued']);
    await command('scontrol', 'resume', ids['suspended']);
    await until('the preempted job has had its second life', async () => {
      return (await stateOf(ids['low'] ?? '')) === 'COMPLETED';
    });
    ids['lost'] = await submit('mia', 'vision', ['--no-requeue', '-p', 'a100', '--gres=gpu:a100:1'], 'sleep 600');
    await heldForASecond('lost');
    await command('scontrol', 'update', 'nodename=a100-01', 'state=down', 'reason=Xid 79: fell off the bus');
    const downAt = Date.now();
    await until('the node has failed', async () => (await stateOf(ids['lost'] ?? '')) === 'NODE_FAIL');
    await collect();
    // Slurm tells whole seconds: an outage that begins and ends within one was none.
    await until('the outage has lasted', () => Promise.resolve(Date.now() - downAt > 2000));
    await command('scontrol', 'update', 'nodename=a100-01', 'state=resume');
    const het = ['--gres=gpu:h100:2', ':', '-p', 'a100', '--gres=gpu:a100:1'];
    ids['het'] = await submit('mia', 'vision', ['-p', 'h100', ...het], 'sleep 3');
    await until('everything has ended', async () => {
      await collect();
      const lives = await cluster.accounts();
      // The accounts hear of a job a moment after the queue has forgotten it.
      if (!lives.some(({ jobId }) => jobId.startsWith(`${ids['het'] ?? ''}+`))) return false;
      return (await command('squeue', '-h', '-a')).trim() === '' && lives.every(({ end }) => end !== undefined);
    });
    await collect();
  }

  /** Every place of every machine has a device, as an exporter on it would say. */
  const telemetry: Source = {
    name: 'telemetry',
    kind: 'local',
    reads: 'places of GPUs',
    priority: 10,
    pollS: 60,
    check: () => Promise.resolve({ state: 'ok', says: 'well', advice: [] }),
    async *pull(_, { now }): AsyncGenerator<Haul> {
      const sizes = { 'h100-01': 8, 'h100-02': 8, 'a100-01': 4 };
      const bindings = Object.entries(sizes).flatMap(([nodeId, gpus]): DeviceBinding[] =>
        Array.from({ length: gpus }, (_unused, gpuIndex) => ({
          deviceId: `GPU-${nodeId}-${gpuIndex}`,
          nodeId,
          gpuIndex,
          from: new Date(now.getTime() - 3_600_000),
          until: now,
        })),
      );
      const rows = bindings.map(({ deviceId, nodeId }) => ({ device_id: deviceId, node_id: nodeId }));
      await Promise.resolve();
      yield {
        facts: [{ table: 'device', batch: 'devices', mode: 'replace', rows }],
        bindings,
        cursor: null,
        coveredUntil: now,
      };
    },
  };

  const waitingNow = () =>
    withReader(dataDir(), (space) =>
      space.ask<{ id: string; why: string | null; gpus: number }>({
        tables: [{ table: 'waiting' }],
        sql: `SELECT allocation_id AS id, held_back_by AS why, CAST(gpu_count AS INTEGER) AS gpus FROM waiting`,
      }),
    );

  interface Held {
    readonly id: string;
    readonly from_s: number;
    readonly until_s: number | null;
    readonly gpus: number;
    readonly attempts: string;
    readonly outcome: string | null;
    readonly places: string | null;
  }

  /** Each life in the lake, with the devices that were named. */
  const held = () =>
    withReader(dataDir(), (space) =>
      space.ask<Held>({
        tables: [{ table: 'allocation' }],
        sql: `SELECT allocation_id AS id, CAST(epoch(held_from) AS INTEGER) AS from_s, CAST(epoch(held_until) AS INTEGER) AS until_s,
                     CAST(sum(gpu_count) AS INTEGER) AS gpus, string_agg(DISTINCT CAST(attempt AS VARCHAR), ',') AS attempts,
                     any_value(outcome) AS outcome, string_agg(device_id, ' ' ORDER BY device_id) AS places
              FROM allocation WHERE source = 'slurm' GROUP BY 1, 2, 3 ORDER BY 2, 1`,
      }),
    );

  it('every life is in the lake, to the second and the GPU, as sacct has it', async () => {
    const lives = (await cluster.accounts()).filter(hasHeld);
    const want = lives.map(({ jobId, start, end, gpus }) => `${jobId} ${start} ${end} ${gpus}`);
    const got = (await held()).map(({ id, from_s, until_s, gpus }) => `${id} ${from_s} ${until_s} ${gpus}`);
    expect(got.toSorted()).toEqual(want.toSorted());
    expect(lives.length).toBeGreaterThanOrEqual(17);
    for (const { jobId, start = 0, end = 0, elapsedS, suspendedS } of lives) {
      expect(end - start, `job ${jobId} was held while it ran and while it was suspended`).toBe(elapsedS + suspendedS);
    }
  });

  it('the ledger holds as many GPU-seconds for each job', async () => {
    const want = new Map<string, number>();
    for (const { jobId, start = 0, end = 0, gpus } of (await cluster.accounts()).filter(hasHeld)) {
      if (gpus > 0) want.set(jobId, (want.get(jobId) ?? 0) + (end - start) * gpus);
    }
    const got = await withReader(dataDir(), (space) =>
      space.ask<{ id: string; gpu_s: number }>({
        tables: [{ table: 'gpu_hour' }],
        sql: `SELECT allocation_id AS id, CAST(sum(units) / 63000 AS INTEGER) AS gpu_s FROM gpu_hour
              WHERE source = 'slurm' AND disposition = 'held' GROUP BY 1`,
      }),
    );
    expect(Object.fromEntries(got.map(({ id, gpu_s }) => [id, gpu_s]))).toEqual(Object.fromEntries(want));
  });

  it('fates are told apart', async () => {
    const byId = new Map<string, (string | null)[]>();
    for (const { id, outcome } of await held()) byId.set(id, [...(byId.get(id) ?? []), outcome]);
    const fate = (name: string, part = '') => byId.get(`${ids[name] ?? ''}${part}`);
    expect(fate('train')).toEqual(['completed']);
    expect(fate('crash')).toEqual(['failed']);
    expect(fate('cancelled')).toEqual(['cancelled']);
    expect(fate('requeued'), 'nobody cancelled it').toEqual([null, 'completed']);
    expect(fate('low')).toEqual(['preempted', 'completed']);
    expect(fate('lost')).toEqual(['node-fail']);
    expect(fate('sweep', '_2')).toEqual(['completed']);
    expect(fate('sweep', '_3')).toEqual(['failed']);
    expect(fate('het', '+0')).toEqual(['completed']);
    expect(fate('het', '+1')).toEqual(['completed']);
    expect(fate('held'), 'never started').toBeUndefined();
  });

  it('lives of one job are numbered in the order of their starts', async () => {
    const lives = (await cluster.accounts()).filter(({ start }) => start !== undefined);
    const rows = (await held()).filter(({ id }) => id === ids['requeued'] || id === ids['low']);
    expect(rows.length).toBeGreaterThanOrEqual(4);
    for (const { id, from_s: from, attempts } of rows) {
      const earlier = lives.filter(({ jobId, start = 0 }) => jobId === id && start < from);
      expect(attempts, `${id} from ${from}`).toBe(String(earlier.length));
    }
  });

  it('knows after the end which GPUs a job had, which Slurm itself has forgotten', async () => {
    expect(await cluster.command('scontrol', 'show', 'job', '-d', ids['train'] ?? '')).not.toContain('IDX:');
    const rows = await held();
    const kept = places.filter(
      (place) => place.startsWith(`${ids['train'] ?? ''}@`) || place.startsWith(`${ids['multi'] ?? ''}@`),
    );
    expect(kept).toHaveLength(3);
    for (const place of kept) {
      const [job = '', node = '', indices = ''] = place.split(/[@ ]/);
      const devices = rows.find(({ id }) => id === job)?.places?.split(' ') ?? [];
      const want = indices.split(',').map((index) => `GPU-${node}-${index}`);
      expect(devices, place).toEqual(expect.arrayContaining(want));
    }
    expect(rows.find(({ id }) => id === ids['multi'])?.places?.split(' ')).toHaveLength(4);
  });

  it('knew who waited, for how many GPUs and why, and that nobody waits any more', async () => {
    const by = new Map(waited.map(({ id, why, gpus }) => [id, [why, gpus]]));
    expect(by.get(ids['held'] ?? '')).toEqual(['JobHeldUser', 1]);
    expect(by.get(ids['limited'] ?? '')?.[1]).toBe(12);
    const tasks = [0, 1, 2, 3, 4].map((task) => by.get(`${ids['waiting'] ?? ''}_${task}`));
    expect(tasks).toEqual(Array.from({ length: 5 }, () => ['JobHeldUser', 1]));
    expect(await waitingNow()).toEqual([]);
  });

  it('names are data: no job was made up by one, and the name is as its owner wrote it', async () => {
    const rows = await withReader(dataDir(), (space) =>
      space.ask<{ id: string; name: string; comment: string }>({
        tables: [{ table: 'allocation' }],
        sql: `SELECT allocation_id AS id, workload_name AS name, labels['comment'] AS comment FROM allocation
              WHERE allocation_id IN ('999', '${ids['crash'] ?? ''}')`,
      }),
    );
    expect(rows).toEqual([{ id: ids['crash'], name: EVIL_NAME, comment: 'c|d\ne' }]);
  });

  it('machines have their GPUs, and the outage of one is remembered', async () => {
    const rows = await withReader(dataDir(), (space) =>
      space.ask<{ node: string; gpus: number; model: string; state: string; reason: string | null }>({
        tables: [{ table: 'node' }],
        sql: `SELECT node_id AS node, CAST(gpu_count AS INTEGER) AS gpus, model, state, tags['reason'] AS reason
              FROM node ORDER BY node_id, present_from`,
      }),
    );
    expect(rows).toEqual(
      expect.arrayContaining([
        { node: 'h100-01', gpus: 8, model: 'h100', state: 'up', reason: null },
        { node: 'a100-01', gpus: 4, model: 'a100', state: 'down', reason: 'Xid 79: fell off the bus' },
      ]),
    );
    expect(rows.filter(({ node }) => node === 'a100-01').at(-1)?.state).toBe('up');
  });

  it('read again from the beginning, the same lives come out', async () => {
    const lives = async (source: Source, since?: Date) => livesOf(source, since);
    const want = (await cluster.accounts()).filter(({ start, end }) => start !== undefined && end !== undefined);
    const expected = want.map(({ jobId, start, end }) => `${jobId} ${start} ${end}`).toSorted();
    expect(await lives(slurm())).toEqual(expected);
    const zoned = slurmSource({
      name: 'zoned',
      zone: 'Asia/Kolkata',
      run: (argv, options) => cluster.run(argv, { ...options, env: { ...options.env, TZ: 'Asia/Kolkata' } }),
    });
    expect(await lives(zoned, new Date(Date.now() - 3_600_000)), 'with clocks in another zone').toEqual(expected);
  });

  it('slurmrestd tells the same, over its socket and with a token', async () => {
    const since = new Date(Date.now() - 3_600_000);
    const lives = (await cluster.accounts()).filter(({ start, end }) => start !== undefined && end !== undefined);
    // Before v0.0.40 it knows only the last life of a job.
    const last = new Map(lives.map((life) => [life.jobId, life]));
    const expected = [...last.values()].map(({ jobId, start, end }) => `${jobId} ${start} ${end}`).toSorted();
    const overSocket = slurmSource({ name: 'rest', run: cluster.run, rest: { url: `unix://${socket}` } });
    expect(await livesOf(overSocket, since)).toEqual(expect.arrayContaining(expected));
    const [, token = ''] = (await cluster.command('scontrol', 'token', 'username=root', 'lifespan=600'))
      .trim()
      .split('=');
    const withToken = (secret: string) =>
      slurmSource({ name: 'rest', run: cluster.run, rest: { url: restUrl, user: 'root', token: secret } });
    expect(await livesOf(withToken(token), since)).toEqual(expect.arrayContaining(expected));
    expect(await withToken(token).check(AbortSignal.timeout(20_000))).toMatchObject({ gpus: 20 });
    const refused = await withToken('wrong').check(AbortSignal.timeout(20_000));
    expect(refused).toMatchObject({ state: 'down', todo: expect.stringContaining('scontrol token') });
    expect(JSON.stringify(refused)).not.toContain('wrong');
  });

  it('says how it is', async () => {
    expect(await slurm().check(AbortSignal.timeout(20_000))).toMatchObject({
      state: 'ok',
      gpus: 20,
      says: expect.stringMatching(/^Slurm [\d.]+, cluster lab, 3 nodes, 20 GPUs$/),
    });
    const elsewhere = slurmSource({
      name: 'nowhere',
      run: (argv, options) =>
        runCommand(argv, { ...options, env: { ...options.env, SLURM_CONF: join(folder, 'none.conf') } }),
    });
    expect(await elsewhere.check(AbortSignal.timeout(20_000))).toMatchObject({
      state: 'down',
      todo: expect.stringContaining('slurm'),
    });
  });

  function hasHeld({ start, end }: AccountedLife): boolean {
    return start !== undefined && end !== undefined && end > start;
  }

  async function livesOf(source: Source, since?: Date): Promise<readonly string[]> {
    const lives = new Set<string>();
    const request = {
      now: new Date(),
      signal: AbortSignal.timeout(60_000),
      progress: () => undefined,
      ...(since !== undefined && { since }),
    };
    for await (const { facts } of source.pull(undefined, request)) {
      for (const { rows } of facts.filter(({ batch }) => batch.startsWith('ended/'))) {
        for (const { allocation_id: id, held_from: from, held_until: until } of rows) {
          if (typeof id !== 'string' || !(from instanceof Date) || !(until instanceof Date)) throw new Error('no life');
          lives.add(`${id} ${from.getTime() / 1000} ${until.getTime() / 1000}`);
        }
      }
    }
    return [...lives].toSorted();
  }
});

/** `7@h100-01 0,1` for each machine of each job that runs. */
function placesIn(text: string): readonly string[] {
  return text.split(/\n(?=JobId=)/).flatMap((block) => {
    const job = /^JobId=(\d+)/.exec(block)?.[1] ?? '';
    return [...block.matchAll(/Nodes=(\S+) .*IDX:([\d,-]+)\)/g)].flatMap(([, nodes = '', indices = '']) => {
      const names = nodes === 'h100-[01-02]' ? ['h100-01', 'h100-02'] : [nodes];
      const expanded = indices.split(',').flatMap((range) => {
        const [first = 0, last = first] = range.split('-').map(Number);
        return Array.from({ length: last - first + 1 }, (_, offset) => first + offset);
      });
      return names.map((name) => `${job}@${name} ${expanded.join(',')}`);
    });
  });
}
