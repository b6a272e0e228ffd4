import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { route } from '../src/api/route.ts';
import { NoParams } from '../src/api/routes/question.ts';
import { ROUTES } from '../src/api/routes.ts';
import { csv, fleetFolder } from './fleet-folder.ts';
import { served } from './served.ts';
import { SMALL_FLEET } from './small-fleet.ts';

/**
 * Eight hours of use in half a minute: pages ask, listen and leave while facts keep coming. Each round brings in the rate of another
 * generation, so that every answer shows which facts it is of.
 */
const ROUNDS = 8;
const REQUESTS_A_ROUND = 120;

/** The money of a GPU that costs exactly as much as the round in which its rate came: a figure that names its generation. */
const priced = route({
  path: '/api/v1/priced',
  name: 'priced',
  summary: 'What the L4 cost',
  page: 'service',
  access: { role: 'viewer', sees: 'totals' },
  query: z.object({ salt: z.string().optional() }),
  params: NoParams,
  reply: z.object({ generation: z.number(), usdMicros: z.string() }),
  answer: async ({ space }) => {
    const [row] = await space.ask<{ usd: bigint | null }>({
      tables: [{ table: 'spend_day' }],
      sql: "SELECT CAST(sum(usd_micros) AS BIGINT) AS usd FROM spend_day WHERE model = 'L4'",
    });
    return { generation: space.snapshot.generation, usdMicros: String(row?.usd ?? 0n) };
  },
});

const collectGarbage = (): void => {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
};

/** Open handles: of files, and of sockets, of which clients keep some for a while. */
function openHandles(): { readonly files: number; readonly sockets: number } {
  const kinds = readdirSync('/proc/self/fd').map((name) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`);
    } catch {
      // The listing's own handle, which is gone.
      return 'listing';
    }
  });
  const sockets = kinds.filter((kind) => kind.startsWith('socket:')).length;
  return { files: kinds.length - sockets, sockets };
}
/** Below what the listeners of all rounds would leave behind: ten a round, with two ends each. */
const SOCKETS_MORE_MAX = 40;

describe.runIf(process.platform === 'linux')('a day of use', () => {
  it('leaves memory and handles as they were, and every figure is of the generation it says', async () => {
    const fleet = await fleetFolder(SMALL_FLEET);
    const server = await served(fleet.dataDir, { routes: [...ROUTES, priced] });
    const { url } = await server.listen();
    /** What each generation must show, noted by whoever wrote it. */
    const want = new Map<number, string>();
    const wrong: string[] = [];
    const note = async (rate: number): Promise<void> => {
      const { snapshot } = await server.standing.current();
      // One L4, there for two hours.
      want.set(snapshot.generation, String(rate * 2_000_000));
    };
    const ask = async (salt: number): Promise<void> => {
      const path = salt % 3 === 0 ? 'spend?by=team' : salt % 3 === 1 ? 'priced' : `priced?salt=${salt}`;
      const reply = await fetch(`${url}/api/v1/${path}`);
      const told = (await reply.json()) as { generation?: number; usdMicros?: string };
      if (reply.status !== 200) wrong.push(`${path}: ${reply.status} ${JSON.stringify(told)}`);
      if (told.generation === undefined) return;
      const header = Number(reply.headers.get('x-bursar-generation'));
      if (told.generation !== header) wrong.push(`${told.generation} is not the header's ${header}`);
      const expected = want.get(header);
      if (expected !== undefined && expected !== told.usdMicros) {
        wrong.push(`generation ${header} showed ${told.usdMicros}, not ${expected}`);
      }
    };
    const listenAndLeave = async (): Promise<void> => {
      const stop = new AbortController();
      await fetch(`${url}/api/v1/events`, { signal: stop.signal });
      stop.abort();
    };
    const round = async (number: number): Promise<void> => {
      const requests = Array.from({ length: REQUESTS_A_ROUND }, (_, place) => number * REQUESTS_A_ROUND + place);
      const users = Array.from({ length: 10 }, async (_, user) => {
        for (const salt of requests.filter((each) => each % 10 === user)) await ask(salt);
        await listenAndLeave();
      });
      const writer = async (): Promise<void> => {
        await fleet.import({ 'rates 2': `model,usd_per_gpu_hour\nL4,${number}.00\n` });
        await fleet.derive();
        await note(number);
      };
      await Promise.all([...users, writer()]);
      // Whoever asks now sees what was just derived, and nothing older.
      const last = (await (await fetch(`${url}/api/v1/priced`)).json()) as { usdMicros: string };
      expect(last.usdMicros).toBe(String(number * 2_000_000));
    };
    const heapMb: number[] = [];
    const handles: ReturnType<typeof openHandles>[] = [];
    for (let number = 1; number <= ROUNDS; number += 1) {
      await round(number);
      collectGarbage();
      heapMb.push(process.memoryUsage().heapUsed / 2 ** 20);
      handles.push(openHandles());
    }
    expect(wrong).toEqual([]);
    expect(want.size).toBe(ROUNDS);
    // After the first rounds, in which code is compiled and caches fill, nothing grows.
    const early = Math.max(...heapMb.slice(2, 5));
    const late = Math.max(...heapMb.slice(-3));
    expect(late - early).toBeLessThan(15);
    const most = (kind: 'files' | 'sockets', of: typeof handles): number => Math.max(...of.map((each) => each[kind]));
    expect(most('files', handles.slice(-3))).toBeLessThanOrEqual(most('files', handles.slice(1, 5)) + 3);
    expect(most('sockets', handles.slice(-3))).toBeLessThan(most('sockets', handles.slice(0, 2)) + SOCKETS_MORE_MAX);
    while (server.api.events.listeners() > 0) await new Promise(setImmediate);
    await server.close();
    await fleet.remove();
  }, 240_000);
});

const program = fileURLToPath(new URL('../bin/bursar.js', import.meta.url));
const isBuilt = existsSync(fileURLToPath(new URL('../dist/main.js', import.meta.url)));
const WALKS = 6;
const HOUR_MS = 3_600_000;

const ago = (hours: number): string => `${new Date(Date.now() - hours * HOUR_MS).toISOString().slice(0, 19)}Z`;

/** A machine with two GPUs that a notebook has had since this morning and does not use, and a run that failed. */
function liveFleet(): Readonly<Record<string, string>> {
  const quiet = Array.from({ length: 40 }, (_, place) => `GPU-0|${ago(12 - place * 0.25)}|900|0`).join('\n');
  return {
    nodes: csv(`
      node_id|present_from|cluster|gpu_count|model
      n1     |${ago(14)}  |a      |2        |H100`),
    devices: 'device_id,node_id,model\nGPU-0,n1,H100\nGPU-1,n1,H100\n',
    allocations: csv(`
      source|allocation_id|node_id|device_id|held_from|held_until|gpu_count|cluster|namespace|user_name|workload_kind|workload_name|outcome
      kubernetes|u1|n1|GPU-0|${ago(12)}| |1|a|nlp|mchen|Notebook|notes|
      kubernetes|u2|n1|GPU-1|${ago(9)}|${ago(5)}|1|a|vision|lopez|Job|render|failed`),
    rates: 'model,usd_per_gpu_hour\nH100,3.00\n',
    samples: `device_id,ts,step_s,engine_permille\n${quiet.replaceAll('|', ',')}\n`,
  };
}

/** An exporter that counts how often it is asked. */
async function madeExporter(): Promise<{ url: string; asked: () => number; close: () => void }> {
  let asked = 0;
  const server = createServer((_, response) => {
    asked += 1;
    const labels = (place: number): string =>
      `{gpu="${place}",UUID="GPU-${place}",modelName="NVIDIA H100 80GB HBM3",Hostname="n1"}`;
    const lines = [0, 1].map((place) => `DCGM_FI_DEV_GPU_UTIL${labels(place)} ${place * (asked % 100)}\n`);
    response.setHeader('content-type', 'text/plain; version=0.0.4');
    response.end(lines.join(''));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/metrics`, asked: () => asked, close: () => server.close() };
}

/** Starts the program and waits for the line that has the address. */
async function start(cwd: string, tmp: string, args: readonly string[]): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(process.execPath, [program, 'serve', ...args], {
    cwd,
    env: { ...process.env, TMPDIR: tmp },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  const url = await new Promise<string>((found, fail) => {
    child.stderr?.setEncoding('utf8').on('data', (some: string) => {
      said += some;
      const line = /^(http:\S+)\/$/m.exec(said)?.[1];
      if (line !== undefined) found(line);
    });
    child.once('exit', () => fail(new Error(said)));
  });
  return { child, url };
}

/**
 * What a process has: memory in MB, files and sockets, and what lies in its folder for sorts. The files of closed connections to SQLite
 * are counted by themselves: on Node 20 they stay until the statements of the connection are collected.
 */
function costOf(pid: number, tmp: string): { rssMb: number; files: number; sqlite: number; spilled: number } {
  const kb = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  const open = readdirSync(`/proc/${pid}/fd`).flatMap((handle) => linkOf(`/proc/${pid}/fd/${handle}`) ?? []);
  const isSqlite = (target: string): boolean => target.includes('/state.sqlite');
  return {
    rssMb: Number(kb) / 1024,
    files: open.filter((target) => !isSqlite(target)).length,
    sqlite: open.filter(isSqlite).length,
    spilled: readdirSync(tmp, { recursive: true }).length,
  };
}

function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    // It was closed meanwhile.
    return undefined;
  }
}

describe.runIf(isBuilt && process.platform === 'linux')('a day of bursar serve itself', () => {
  it('collects, answers every question and takes decisions without growing', async () => {
    const fleet = await fleetFolder(liveFleet());
    const exporter = await madeExporter();
    const folder = dirname(fleet.dataDir);
    const tmp = join(folder, 'tmp');
    mkdirSync(tmp);
    writeFileSync(
      join(folder, 'bursar.yaml'),
      `sources:\n  - {name: exporters, every: 1s, scrape: {targets: [${exporter.url}], cluster: a}}\n`,
    );
    const { child, url } = await start(folder, tmp, ['--data', fleet.dataDir, '--listen', '127.0.0.1:0']);
    const wrong: string[] = [];
    const things: Readonly<Record<string, string>> = {
      team: 'nlp',
      job: 'u1',
      finding: 'F-1',
      gpu: 'GPU-0',
      dimension: 'team',
    };
    const walk = async (): Promise<void> => {
      for (const each of ROUTES) {
        const path = each.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => things[name] ?? name);
        const window = 'window' in each.query.shape ? '?window=2d' : '';
        const month = 'month' in each.query.shape ? `?month=${ago(1).slice(0, 7)}` : '';
        const reply = await fetch(`${url}${path}${window}${month}`);
        const text = await reply.text();
        if (reply.status !== 200) wrong.push(`${path}: ${reply.status} ${text.slice(0, 200)}`);
      }
    };
    const decide = async (deed: string, body: object): Promise<void> => {
      const reply = await fetch(`${url}/api/v1/findings/F-1/${deed}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      const { state } = (await reply.json()) as { state?: string };
      if (reply.status !== 200) wrong.push(`${deed}: ${reply.status} ${String(state)}`);
    };
    const listenAndLeave = async (): Promise<void> => {
      const stop = new AbortController();
      await fetch(`${url}/api/v1/events`, { signal: stop.signal });
      stop.abort();
    };
    // The list gives the findings their numbers.
    await fetch(`${url}/api/v1/findings?window=30d`);
    const costs: ReturnType<typeof costOf>[] = [];
    for (let number = 0; number < WALKS; number += 1) {
      await walk();
      await decide('accept', {});
      await decide('reopen', { reason: 'not yet' });
      await Promise.all(Array.from({ length: 5 }, listenAndLeave));
      costs.push(costOf(child.pid ?? 0, tmp));
    }
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    const [exitCode] = (await ended) as [number];
    exporter.close();
    const left = readdirSync(tmp);
    await fleet.remove();
    expect(wrong).toEqual([]);
    expect(exporter.asked()).toBeGreaterThan(WALKS);
    const most = (of: keyof (typeof costs)[number], some: typeof costs): number =>
      Math.max(...some.map((each) => each[of]));
    const [early, late] = [costs.slice(1, 3), costs.slice(-2)];
    // What the engine may take is 950 MB; a walk of a small fleet takes a part of it, and the later ones no more than the first.
    expect(most('rssMb', costs)).toBeLessThan(1536);
    expect(most('rssMb', late) - most('rssMb', early)).toBeLessThan(150);
    expect(most('files', late)).toBeLessThanOrEqual(most('files', early) + 10);
    expect(most('sqlite', costs)).toBeLessThan(150);
    expect(most('spilled', costs)).toBeLessThanOrEqual(10);
    expect([exitCode, left]).toEqual([0, []]);
  }, 240_000);
});
