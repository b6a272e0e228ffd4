import { describe, expect, it } from 'vitest';
import { OperationError } from '../../facts/operation-error.ts';
import type { FactRow, Haul, PullRequest } from '../../facts/source.ts';
import type { SlurmJob } from './parse/slurm-job.ts';
import type { SlurmNode } from './parse/slurm-node.ts';
import { parseTres } from './parse/tres.ts';
import { pullSlurm } from './slurm-pull.ts';
import type { SlurmReader } from './slurm-reader.ts';
import { NO_ACCOUNTING } from './slurm-reader.ts';

const DAY = 86_400;
const NOON = Date.parse('2026-11-16T12:00:00Z') / 1000;

/** A cluster that is told what it has, and remembers what it was asked. */
interface MadeUp {
  queue: SlurmJob[];
  accounts: SlurmJob[];
  nodes: SlurmNode[];
  asked: [number, number][];
  refuses?: (from: number, until: number) => OperationError | undefined;
}

const gpus = (count: number) => parseTres(`cpu=4,gres/gpu=${count}`);
const life = (jobId: string, start: number, end: number | undefined, more: Partial<SlurmJob> = {}): SlurmJob => {
  const allocated = gpus(2);
  return {
    jobId,
    state: end === undefined ? 'RUNNING' : 'COMPLETED',
    start,
    ...(end !== undefined && { end }),
    nodes: ['g1'],
    ...(allocated && { allocated }),
    ...more,
  };
};
const seen = (indices: readonly number[]) => ({
  perNode: [{ node: 'g1', items: [{ count: indices.length, indices }] }],
});
const machine = (name: string, count = 8): SlurmNode => ({
  name,
  states: ['IDLE'],
  gpus: count,
  models: ['h100'],
  partitions: [],
  features: [],
});

function cluster(made: Partial<MadeUp> = {}): MadeUp {
  return { queue: [], accounts: [], nodes: [machine('g1')], asked: [], ...made };
}

function reader(made: MadeUp): SlurmReader {
  const touching = (from: number, until: number) =>
    made.accounts.filter(({ submit = 0, start = submit, end }) => start < until && (end === undefined || end >= from));
  const told = <Item>(items: readonly Item[]) => Promise.resolve({ items, skipped: [] });
  return {
    cluster: () => Promise.resolve('train'),
    queue: () => told(made.queue),
    nodes: () => told(made.nodes),
    events: () => told([]),
    accounted: (from, until) => {
      const refused = made.refuses?.(from, until);
      if (refused !== undefined) return Promise.reject(refused);
      made.asked.push([from, until]);
      return told(touching(from, until));
    },
    hasJobs: (from, until) => Promise.resolve(touching(from, until).length > 0),
  };
}

async function pull(made: MadeUp, cursor: unknown, now: number, more: Partial<PullRequest> = {}): Promise<Haul[]> {
  const hauls: Haul[] = [];
  const request: PullRequest = {
    now: new Date(now * 1000),
    signal: new AbortController().signal,
    progress: () => undefined,
    ...more,
  };
  for await (const haul of pullSlurm(reader(made), { pollS: 60 }, cursor, request)) hauls.push(haul);
  return hauls;
}

const kept = (haul: Haul | undefined): unknown => JSON.parse(JSON.stringify(haul?.cursor)) as unknown;
const batch = (haul: Haul | undefined, name: string) => haul?.facts.find((facts) => facts.batch === name);
const ids = (rows: readonly FactRow[] | undefined) => rows?.map((row) => row['allocation_id']);
const since = new Date((NOON - 2 * DAY) * 1000);

describe('what a pull tells', () => {
  it('reads history day by day, each life in the day it ended', async () => {
    const made = cluster({
      accounts: [
        life('1', NOON - 2 * DAY, NOON - DAY),
        life('2', NOON - 1.7 * DAY, NOON - 1.6 * DAY),
        life('3', NOON - 100, NOON - 50),
      ],
    });
    const hauls = await pull(made, undefined, NOON, { since });
    const told = hauls.flatMap(({ facts }) => facts.filter(({ batch: name }) => name.startsWith('ended/')));
    expect(told.map(({ batch: name, rows, mode }) => [name, ids(rows), mode])).toEqual([
      ['ended/2026-11-14', ['2'], 'extend'],
      ['ended/2026-11-15', ['1'], 'extend'],
      ['ended/2026-11-16', ['3'], 'extend'],
    ]);
    expect(hauls.map(({ coveredUntil }) => coveredUntil.toISOString())).toEqual([
      '2026-11-14T12:00:00.000Z',
      '2026-11-15T00:00:00.000Z',
      '2026-11-16T00:00:00.000Z',
      '2026-11-16T12:00:00.000Z',
    ]);
  });

  it('finds the oldest job by itself, and stops looking after two empty months', async () => {
    const made = cluster({ accounts: [life('1', NOON - 40 * DAY, NOON - 39 * DAY)] });
    const hauls = await pull(made, undefined, NOON);
    expect(hauls.flatMap(({ facts }) => facts.flatMap(({ rows }) => ids(rows) ?? []))).toContain('1');
    expect(Math.min(...made.asked.map(([from]) => from))).toBeGreaterThanOrEqual(NOON - 61 * DAY);
  });

  it('goes from the newest day backwards for a first look', async () => {
    const made = cluster();
    const hauls = await pull(made, undefined, NOON, { since, lookStepS: 300 });
    expect(made.asked.map(([from]) => from)).toEqual(made.asked.map(([from]) => from).toSorted((a, b) => b - a));
    expect(batch(hauls[0], 'open')).toBeDefined();
  });

  it('keeps the GPUs a job had while it ran for the row of its end', async () => {
    const made = cluster({ queue: [life('5', NOON - 60, undefined, seen([3, 5]))] });
    const [first] = await pull(made, undefined, NOON, { since: new Date((NOON - 60) * 1000) });
    expect(batch(first, 'open')?.hints).toEqual([{ gpuIndices: [3, 5] }]);
    made.queue = [];
    made.accounts = [life('5', NOON - 60, NOON + 20)];
    const [second] = await pull(made, kept(first), NOON + 60);
    expect(batch(second, 'open')?.rows).toEqual([]);
    expect(batch(second, 'ended/2026-11-16')?.hints).toEqual([{ gpuIndices: [3, 5] }]);
    const [again] = await pull(made, kept(second), NOON + 120);
    expect(batch(again, 'ended/2026-11-16'), 'told again, the same').toEqual(batch(second, 'ended/2026-11-16'));
  });

  it('never tells a job as held and as ended at once', async () => {
    const running = life('5', NOON - 60, undefined);
    const made = cluster({ queue: [running], accounts: [life('5', NOON - 60, NOON + 1)] });
    const [haul] = await pull(made, undefined, NOON, { since: new Date((NOON - 60) * 1000) });
    expect(batch(haul, 'open')?.rows).toEqual([]);
    expect(ids(batch(haul, 'ended/2026-11-16')?.rows)).toEqual(['5']);
  });

  it('numbers the lives of a requeued job by their starts, also over days', async () => {
    const made = cluster({
      accounts: [
        life('8', NOON - 1.5 * DAY, NOON - 1.4 * DAY, { state: 'PREEMPTED' }),
        life('8', NOON - 3600, NOON - 1800),
      ],
    });
    const hauls = await pull(made, undefined, NOON, { since });
    const rows = hauls
      .flatMap(({ facts }) => facts.filter(({ batch: name }) => name.startsWith('ended/')))
      .flatMap(({ rows: each }) => each);
    expect(rows.map(({ attempt, outcome }) => [attempt, outcome])).toEqual([
      [0, 'preempted'],
      [1, 'completed'],
    ]);
  });

  it('looks for a job that vanished until its end is told, however late slurmdbd is', async () => {
    const made = cluster({ queue: [life('5', NOON - 60, undefined, seen([1, 2]))] });
    let [haul] = await pull(made, undefined, NOON, { since: new Date((NOON - 60) * 1000) });
    made.queue = [];
    for (let hour = 1; hour <= 3; hour += 1) [haul] = await pull(made, kept(haul), NOON + hour * 3600);
    made.accounts = [life('5', NOON - 60, NOON + 30)];
    [haul] = await pull(made, kept(haul), NOON + 4 * 3600);
    expect(batch(haul, 'ended/2026-11-16')?.hints).toEqual([{ gpuIndices: [1, 2] }]);
  });

  it('a pull that is repeated with the same cursor gives the same facts', async () => {
    const made = cluster({
      accounts: [life('1', NOON - DAY, NOON - 0.9 * DAY, { state: 'REQUEUED' }), life('1', NOON - 600, NOON - 300)],
    });
    const facts = async () => (await pull(made, undefined, NOON, { since })).map((haul) => [haul.facts, kept(haul)]);
    expect(await facts()).toEqual(await facts());
  });
});

describe('machines', () => {
  it('are told once, and again when something about them changes', async () => {
    const made = cluster();
    const [first] = await pull(made, undefined, NOON, { since: new Date((NOON - 60) * 1000) });
    expect(batch(first, 'nodes')?.rows).toHaveLength(1);
    const [second] = await pull(made, kept(first), NOON + 60);
    expect(batch(second, 'nodes')).toBeUndefined();
    made.nodes = [{ ...machine('g1'), states: ['DOWN'] }];
    const [third] = await pull(made, kept(second), NOON + 120);
    expect(batch(third, 'nodes')?.rows.map(({ state, present_from }) => [state, present_from])).toEqual([
      ['up', undefined],
      ['down', new Date((NOON + 120) * 1000)],
    ]);
  });
  it('that come are there since then, and those that go were there until they were last seen', async () => {
    const made = cluster();
    const [first] = await pull(made, undefined, NOON, { since: new Date((NOON - 60) * 1000) });
    made.nodes = [machine('g2', 4)];
    const [second] = await pull(made, kept(first), NOON + 60);
    expect(batch(second, 'nodes')?.rows).toEqual([
      expect.objectContaining({ node_id: 'g2', present_from: new Date((NOON + 60) * 1000) }),
    ]);
    expect(batch(second, 'nodes-gone')?.rows).toEqual([
      expect.objectContaining({ node_id: 'g1', present_until: new Date(NOON * 1000), gpu_count: 8 }),
    ]);
  });
  it('are read in part where a sample was asked for, and the rest is said', async () => {
    const nodes = Array.from({ length: 10 }, (_, index) => machine(`g${index}`));
    const made = cluster({
      nodes,
      queue: nodes.map(({ name }, index) => life(String(index), NOON - 60, undefined, { nodes: [name] })),
    });
    const [haul] = await pull(made, undefined, NOON, { since: new Date((NOON - 60) * 1000), gpusMax: 40 });
    expect(haul?.gpus).toEqual({ seen: 80, notRead: 40 });
    expect(batch(haul, 'nodes')?.rows).toHaveLength(5);
    expect(batch(haul, 'open')?.rows).toHaveLength(5);
  });
});

describe('trouble', () => {
  it('an answer that is too large is asked for in halves', async () => {
    const made = cluster({
      accounts: [life('1', NOON - 1.2 * DAY, NOON - 1.1 * DAY), life('2', NOON - 0.9 * DAY, NOON - 0.6 * DAY)],
    });
    made.refuses = (from, until) => (until - from > 7 * 3600 ? new OperationError('too-large', 'too much') : undefined);
    const hauls = await pull(made, undefined, NOON, { since });
    const rows = hauls
      .flatMap(({ facts }) => facts.filter(({ batch: name }) => name.startsWith('ended/')))
      .flatMap(({ rows: each }) => each);
    expect(ids(rows)).toEqual(['1', '2']);
  });
  it('a database that is down stops the pull where it was, and nothing is lost', async () => {
    const made = cluster({
      accounts: [life('1', NOON - 1.9 * DAY, NOON - 1.8 * DAY), life('2', NOON - 400, NOON - 300)],
    });
    made.refuses = (from) => (from >= NOON - 1.5 * DAY ? new OperationError('slurmdbd-down', 'down') : undefined);
    const hauls: Haul[] = [];
    const request = {
      now: new Date(NOON * 1000),
      since,
      signal: new AbortController().signal,
      progress: () => undefined,
    };
    const failing = (async () => {
      for await (const haul of pullSlurm(reader(made), { pollS: 60 }, undefined, request)) hauls.push(haul);
    })();
    await expect(failing).rejects.toThrow('down');
    const before = kept(hauls.at(-1));
    delete made.refuses;
    made.asked = [];
    const rest = await pull(made, before, NOON + 600);
    expect(made.asked[0]?.[0], 'goes on where it stopped').toBe(Date.parse('2026-11-15T00:00:00Z') / 1000);
    expect(ids(batch(rest.at(-1), 'ended/2026-11-16')?.rows)).toEqual(['2']);
  });
  it('where Slurm keeps no accounts, what slurmctld remembers has to do', async () => {
    const made = cluster({ queue: [life('5', NOON - 600, NOON - 60), life('6', NOON - 60, undefined)] });
    made.refuses = () => new OperationError(NO_ACCOUNTING, 'no accounts');
    const hauls = await pull(made, undefined, NOON, { since });
    expect(ids(batch(hauls.at(-1), 'ended/2026-11-16')?.rows)).toEqual(['5']);
    expect(ids(batch(hauls.at(-1), 'open')?.rows)).toEqual(['6']);
  });
  it('a cursor of another version begins anew', async () => {
    const made = cluster({ accounts: [life('1', NOON - 600, NOON - 300)] });
    const hauls = await pull(made, { version: 99 }, NOON, { since });
    expect(ids(batch(hauls.at(-1), 'ended/2026-11-16')?.rows)).toEqual(['1']);
  });
});
