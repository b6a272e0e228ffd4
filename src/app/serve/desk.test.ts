import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { csv, fleetFolder } from '../../../test/fleet-folder.ts';
import type { FleetFolder } from '../../../test/fleet-folder.ts';
import { SMALL_FLEET } from '../../../test/small-fleet.ts';
import { openFindingWriter } from '../../state/finding-store.ts';
import { parseDimensions } from '../filter.ts';
import { job } from '../job.ts';
import { spend } from '../spend.ts';
import { ledgerWindow } from '../window.ts';
import type { AtDesk, Desk, DeskOptions } from './desk.ts';
import { openDesk } from './desk.ts';
import type { StandingKeeper } from './standing.ts';
import { keepStanding } from './standing.ts';

interface Told {
  readonly bytes: number;
  readonly said: unknown;
}

let fleet: FleetFolder;
let folder = '';
let desk: Desk<Told>;
let standing: StandingKeeper;
beforeAll(async () => {
  fleet = await fleetFolder(SMALL_FLEET);
  folder = await mkdtemp(join(tmpdir(), 'bursar-desk-'));
});
afterAll(async () => {
  await fleet.remove();
  await rm(folder, { recursive: true });
});
afterEach(async () => {
  await desk.close();
  standing.close();
});

async function open(options: Partial<DeskOptions> = {}, configPath?: string): Promise<void> {
  standing = keepStanding({
    dataDir: fleet.dataDir,
    now: () => new Date(),
    ...(configPath !== undefined && { configPath }),
  });
  desk = await openDesk<Told>({ standing, memoryMb: 300, keptBytesMax: 2 ** 20, runMsMax: 20_000, ...options });
}

const HOLDINGS = { tables: [{ table: 'holding' }], sql: 'SELECT count(*) AS n FROM holding' };

let answered = 0;
const holdings = async ({ space }: AtDesk): Promise<Told> => {
  answered += 1;
  return { bytes: 10, said: await space.ask(HOLDINGS) };
};
const ask = (answer: (at: AtDesk) => Promise<Told>, key = 'q', name = 'holdings') =>
  desk.ask({ name, key, asOf: undefined, answer });

/** Hours of work, in one statement. */
const hoursOfWork = async ({ space }: AtDesk): Promise<Told> => {
  await space.ask({ tables: [], sql: 'SELECT count(*) FROM range(100000000000) r WHERE r.range % 7 = 3' });
  return { bytes: 10, said: 'all of it' };
};

describe('a question whose asker goes', () => {
  const asked = (signal: AbortSignal) =>
    desk
      .ask({ name: 'endless', key: 'q', asOf: undefined, answer: hoursOfWork, signal })
      .catch((failure: unknown) => failure);
  const running = async (): Promise<void> => {
    while (desk.state().running === 0) await new Promise(setImmediate);
  };

  it('is withdrawn, though it runs', async () => {
    await open();
    const stop = new AbortController();
    const answer = asked(stop.signal);
    await running();
    stop.abort();
    expect(await answer).toMatchObject({ code: 'withdrawn' });
    expect(desk.state()).toMatchObject({ running: 0, waiting: 0 });
  });

  it('goes on while another waits for it, and is asked anew by who comes later', async () => {
    await open();
    const [one, two] = [new AbortController(), new AbortController()];
    const answers = [asked(one.signal), asked(two.signal)];
    await running();
    one.abort();
    await new Promise(setImmediate);
    expect(desk.state().running).toBe(1);
    two.abort();
    const later = new AbortController();
    const again = asked(later.signal);
    expect(await Promise.all(answers)).toMatchObject([{ code: 'withdrawn' }, { code: 'withdrawn' }]);
    await running();
    later.abort();
    expect(await again).toMatchObject({ code: 'withdrawn' });
  });
});

describe('the desk', () => {
  it('answers a question once for all who ask it at the same time, and keeps the answer', async () => {
    await open();
    answered = 0;
    const told = await Promise.all(Array.from({ length: 20 }, () => ask(holdings)));
    expect(answered).toBe(1);
    expect(new Set(told.map(({ value }) => value)).size).toBe(1);
    expect((await ask(holdings)).from).toBe('kept');
    expect((await ask(holdings, 'another')).from).toBe('asked');
    expect(answered).toBe(2);
  });

  it('asks many at once over one engine, each with views of its own', async () => {
    await open({ size: 4 });
    const one = async (place: number): Promise<Told> => {
      const wanted = { table: 'spend_day', ...(place % 2 === 0 && { first: '2026-03-02', last: '2026-03-02' }) };
      const answer = async ({ space }: AtDesk): Promise<Told> => {
        const count = () => space.ask<{ n: bigint }>({ tables: [wanted], sql: 'SELECT count(*) AS n FROM spend_day' });
        const none = { ...wanted, first: '2020-01-01', last: '2020-01-01' };
        const [rows, noRows, again] = await Promise.all([
          count(),
          space.ask<{ n: bigint }>({ tables: [none], sql: 'SELECT count(*) AS n FROM spend_day' }),
          count(),
        ]);
        return { bytes: 1, said: [rows, noRows, again].map(([row]) => row?.n) };
      };
      return (await ask(answer, `place ${place}`)).value;
    };
    const told = await Promise.all(Array.from({ length: 30 }, (_, place) => one(place)));
    const [some] = (told[0]?.said ?? []) as bigint[];
    expect(some).toBeGreaterThan(0n);
    for (const { said } of told) expect(said).toEqual([some, 0n, some]);
  });

  it('a new generation is in force once its ledger is whole, and no answer from before it is given again', async () => {
    const own = await fleetFolder(SMALL_FLEET);
    const before = fleet;
    fleet = own;
    try {
      await open();
      const first = await ask(holdings);
      await own.import({
        'allocations 2': csv(`
          source|allocation_id|node_id|held_from|held_until|gpu_count|cluster
          slurm|9999|n9|2026-03-02T01:00:00Z|2026-03-02T02:00:00Z|1|late`),
      });
      const meanwhile = await ask(holdings);
      expect(meanwhile).toMatchObject({ generation: first.generation, value: first.value, from: 'kept' });
      expect(standing.behindSince()).toBeInstanceOf(Date);
      await own.derive();
      const after = await ask(holdings);
      expect(after.generation).toBeGreaterThan(first.generation);
      expect(after.from).toBe('asked');
      expect(after.value.said).not.toEqual(first.value.said);
      expect(standing.behindSince()).toBeUndefined();
    } finally {
      fleet = before;
      await own.remove();
    }
  });

  it('what was said of a finding shows at once, where findings were looked at and nowhere else', async () => {
    await open();
    const listed = async ({ space }: AtDesk): Promise<Told> => ({ bytes: 1, said: space.findings.records().length });
    await ask(listed, 'list', 'findings');
    await ask(holdings, 'money');
    const writer = await openFindingWriter(fleet.dataDir);
    const claimed = [{ key: 'k', what: 'idle', subjects: ['s'], isTold: true }];
    writer.look({ at: '2026-03-02T00:00:00Z', claimed, silentKeys: new Set() });
    expect(await ask(listed, 'list', 'findings')).toMatchObject({ from: 'asked', value: { said: 1 } });
    expect((await ask(holdings, 'money')).from).toBe('kept');
    writer.change(1, { at: '2026-03-02T01:00:00Z', by: 'kim', change: 'accept', detail: null, until: null });
    writer.close();
    expect((await ask(listed, 'list', 'findings')).from).toBe('asked');
    expect((await ask(listed, 'list', 'findings')).from).toBe('kept');
  });

  it('whoever asks after something was said of a finding does not join a question from before', async () => {
    await open();
    const seen: string[][] = [];
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    const listed = async ({ space }: AtDesk): Promise<Told> => {
      seen.push(space.findings.records().map(({ key }) => key));
      await ended;
      return { bytes: 1, said: 'them' };
    };
    const before = ask(listed, 'slow', 'findings');
    while (seen.length === 0) await new Promise(setImmediate);
    const writer = await openFindingWriter(fleet.dataDir);
    const claimed = [{ key: 'meanwhile', what: 'idle', subjects: ['s'], isTold: true }];
    writer.look({ at: '2026-03-03T00:00:00Z', claimed, silentKeys: new Set() });
    writer.close();
    const after = ask(listed, 'slow', 'findings');
    // Whoever looks how things stand takes turns: by then it has joined, or has not.
    await standing.current();
    end();
    await Promise.all([before, after]);
    expect(seen.map((keys) => keys.includes('meanwhile'))).toEqual([false, true]);
  });

  it('an answer that lacks something for a reason that passes is not given again', async () => {
    await open();
    const lacking = async ({ space }: AtDesk): Promise<Told> => {
      space.onPassing?.();
      return { bytes: 1, said: 'no numbers' };
    };
    expect((await ask(lacking, 'passing')).from).toBe('asked');
    expect((await ask(holdings, 'passing')).from).toBe('asked');
    expect((await ask(holdings, 'passing')).from).toBe('kept');
  });

  it('an edit of bursar.yaml is seen by the next question; a broken one is not taken', async () => {
    const config = join(folder, 'bursar.yaml');
    const rule = (team: string): string =>
      `rules:\n  - when: {account: [nlp, asr, vision]}\n    set: {team: ${team}}\n`;
    await writeFile(config, rule('first'));
    await open({}, config);
    const teams = async ({ space }: AtDesk): Promise<Told> => {
      const window = ledgerWindow('all', new Date('2026-03-02T12:00:00Z'), space.scope);
      const { rows } = await spend(space, { by: parseDimensions('team'), window, filters: [] });
      return { bytes: 1, said: rows.map(({ values }) => values[0]) };
    };
    expect((await ask(teams)).value.said).toContain('first');
    expect((await ask(teams)).from).toBe('kept');
    await writeFile(config, rule('other'));
    expect((await ask(teams)).value.said).toContain('other');
    await writeFile(config, 'rules: [nonsense');
    expect((await ask(teams)).value.said).toContain('other');
    expect(standing.configTrouble()?.message).toContain('bursar.yaml');
    await writeFile(config, rule('third'));
    expect((await ask(teams)).value.said).toContain('third');
    expect(standing.configTrouble()).toBeUndefined();
  });

  it('a question that takes too long is broken off, and its place is free again', async () => {
    await open({ size: 1, runMsMax: 150 });
    await expect(ask(hoursOfWork, 'endless')).rejects.toMatchObject({ code: 'slow' });
    expect(desk.state()).toMatchObject({ running: 0, waiting: 0 });
    await expect(ask(async () => ({ bytes: 1, said: 'quick' }), 'quick')).resolves.toMatchObject({ from: 'asked' });
  });

  it('a job there is not is told as such, however many there are', async () => {
    await open({ rowsMax: 3 });
    const unknown = async ({ space, clock }: AtDesk): Promise<Told> => ({
      bytes: 1,
      said: await job(space, { id: '104', clock }),
    });
    await expect(ask(unknown)).rejects.toMatchObject({ code: 'unknown-job', hint: 'Nearest: 101, 102, 103.' });
  });

  it('an answer of more rows than a server can read beside its other work is refused, and what to do is said', async () => {
    await open({ rowsMax: 3000 });
    const rows =
      (count: number) =>
      async ({ space }: AtDesk): Promise<Told> => ({
        bytes: 10,
        said: (await space.ask({ tables: [], sql: `SELECT * FROM range(${count}) r(n)` })).length,
      });
    await expect(ask(rows(3001), 'many')).rejects.toMatchObject({
      code: 'too-many-rows',
      hint: expect.stringContaining('fewer days') as unknown,
    });
    expect((await ask(rows(3000), 'all')).value.said).toBe(3000);
  });

  it('does not count its rows again for whoever asks the same', async () => {
    await open({ rowsMax: 3000 });
    let counted = 0;
    const many = async ({ space }: AtDesk): Promise<Told> => {
      counted += 1;
      return { bytes: 10, said: await space.ask({ tables: [], sql: 'SELECT range AS n FROM range(10000)' }) };
    };
    for (const time of ['first', 'again'])
      await expect(ask(many, 'many'), time).rejects.toMatchObject({ code: 'too-many-rows' });
    expect(counted).toBe(1);
    await expect(ask(many, 'others')).rejects.toMatchObject({ code: 'too-many-rows' });
    expect(counted).toBe(2);
  });

  it('what the outside world says is asked anew', async () => {
    await open();
    let asked = 0;
    const weather = { name: 'doctor', key: 'q', asOf: undefined, isKept: false } as const;
    const answer = async (): Promise<Told> => ({ bytes: 1, said: (asked += 1) });
    await Promise.all([desk.ask({ ...weather, answer }), desk.ask({ ...weather, answer })]);
    await desk.ask({ ...weather, answer });
    expect(asked).toBe(2);
  });

  it('a failure is not kept', async () => {
    await open();
    let tries = 0;
    const second = async (): Promise<Told> => {
      tries += 1;
      if (tries === 1) throw new Error('the first time it fails');
      return { bytes: 1, said: tries };
    };
    await expect(ask(second, 'again')).rejects.toThrow('the first time');
    await expect(ask(second, 'again')).resolves.toMatchObject({ value: { said: 2 } });
  });

  it('at the end what runs is broken off and what comes is refused', async () => {
    await open({ size: 1 });
    const endless = ask(hoursOfWork, 'endless');
    endless.catch(() => undefined);
    while (desk.state().running === 0) await new Promise(setImmediate);
    await desk.close();
    await expect(endless).rejects.toMatchObject({ code: 'stopping' });
    await expect(ask(holdings, 'late')).rejects.toMatchObject({ code: 'stopping' });
  });
});

describe('a folder without data', () => {
  it('is told as one, and works as soon as there is some', async () => {
    const empty = join(folder, 'none');
    standing = keepStanding({ dataDir: empty, now: () => new Date() });
    desk = await openDesk<Told>({ standing, memoryMb: 300, keptBytesMax: 2 ** 20, runMsMax: 20_000 });
    await expect(ask(holdings)).rejects.toMatchObject({ code: 'no-data' });
  });
});
