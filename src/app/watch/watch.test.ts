import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FakeMachine } from '../../../test/fake-machine.ts';
import { fakeMachine, smiXml } from '../../../test/fake-machine.ts';
import type { OperationError } from '../../facts/operation-error.ts';
import { watchJson, watchScreen } from '../../report/watch-screen.ts';
import { withReader, withWriter } from '../workspace.ts';
import { watch } from './watch.ts';
import type { WatchRequest } from './watch.ts';
import type { WatchState } from './watch-state.ts';

let machine: FakeMachine;
let folder: string;
beforeEach(async () => {
  machine = await fakeMachine();
  folder = await mkdtemp(join(tmpdir(), 'bursar-watch-'));
  await machine.program('nvidia-smi', smiXml([BUSY, FREE]));
  await machine.program('ps', '4711 mchen 7800 python3\n');
});
afterEach(async () => {
  await machine.remove();
  await rm(folder, { recursive: true, force: true });
});

const BUSY = {
  uuid: 'GPU-a',
  util: '97 %',
  usedMib: 61440,
  watts: '612 W',
  processes: [{ pid: 4711, name: '/usr/bin/python3' }],
};
const FREE = { uuid: 'GPU-b', util: '0 %', usedMib: 4, watts: '70 W' };
const AT = new Date('2026-11-16T10:00:00Z');

interface Seen {
  readonly state: WatchState;
  readonly trouble: OperationError | undefined;
}

function stateOf(seen: Seen | undefined): WatchState {
  if (seen === undefined) throw new Error('there was no look');
  return seen.state;
}

function unplacedOf({ devices }: WatchState): WatchState['unplaced'] {
  return devices.flatMap(({ holders }) => holders.map((holder) => ({ ...holder, gpus: 1 })));
}

/** Watches for so many looks, `stepS` apart; `between` may change the machine. */
async function watched(
  looks: number,
  {
    stepS = 30,
    start = AT,
    between,
    ...more
  }: { stepS?: number; start?: Date; between?: (look: number) => Promise<void> } & Partial<WatchRequest> = {},
): Promise<Seen[]> {
  const seen: Seen[] = [];
  const stop = new AbortController();
  const changes: Promise<void>[] = [];
  await watch({
    dataDir: join(folder, 'data'),
    run: async (argv, options) => {
      await Promise.all(changes);
      return machine.run(argv, options);
    },
    hostname: 'box1',
    rates: [],
    everyMs: 1,
    once: false,
    now: () => new Date(start.getTime() + seen.length * stepS * 1000),
    signal: stop.signal,
    onState: (state, trouble) => {
      seen.push({ state, trouble });
      if (between !== undefined) changes.push(between(seen.length));
      if (seen.length === looks) stop.abort();
    },
    onTrouble: (trouble) => expect.fail(trouble.message),
    ...more,
  });
  return seen;
}

describe('a look', () => {
  it('shows each GPU, its owner and its cost, and keeps it', async () => {
    const [first] = await watched(1, { once: true });
    const state = stateOf(first);
    const screen = watchScreen(state, { dataDir: './bursar-data', dataFlag: '', isLive: false });
    expect(screen.join('\n')).toMatchInlineSnapshot(`
      "box1: 2 × NVIDIA H100 80GB HBM3   2026-11-16 10:00:00 UTC
      GPU  STATE      ACTIVE         MEMORY  POWER  OWNER AND PROGRAM                 COST  QUIET SINCE
        0  computing    97 %  60.0/79.6 GiB  612 W  mchen python3 4711 (2 h 10 m)  $6.88/h
        1  free          0 %   0.0/79.6 GiB   70 W  nobody                         $6.88/h  now
      Quiet now: 1 of 2 GPUs, $6.88/h, $165/day
      Priced by list price of 2026-08-22 (AWS p5.48xlarge ÷ 8); --rate 'H100=1.95' says what you pay
      Kept in ./bursar-data.  → bursar look"
    `);
    await withReader(join(folder, 'data'), async (space) => {
      const held = await space.ask<object>({
        tables: [{ table: 'allocation' }],
        sql: 'SELECT user_name, workload_name, device_id, held_from FROM allocation',
      });
      expect(held).toEqual([
        {
          user_name: 'mchen',
          workload_name: 'python3',
          device_id: 'GPU-a',
          held_from: '2026-11-16 07:50:00',
        },
      ]);
      const samples = await space.ask<object>({
        tables: [{ table: 'gpu_sample' }],
        sql: 'SELECT device_id, util_permille FROM gpu_sample ORDER BY 1',
      });
      expect(samples).toEqual([
        { device_id: 'GPU-a', util_permille: 970 },
        { device_id: 'GPU-b', util_permille: 0 },
      ]);
    });
    expect(watchJson(state)).toMatchObject({
      devices: [{ usdMicrosPerHour: 6_880_000n, pricedBy: 'list' }, { state: 'free' }],
    });
  });

  it('a stated rate goes before the list, and is kept for the other commands', async () => {
    const rates = [{ model: 'H100', usdPerGpuHour: '1.95' }];
    const [first] = await watched(1, { once: true, rates });
    expect(first?.state.devices[0]?.price).toMatchObject({ usdMicrosPerHour: 1_950_000n, by: 'rate' });
    const [later] = await watched(1, { once: true, start: new Date(AT.getTime() + 60_000) });
    expect(later?.state.devices[0]?.price).toMatchObject({ usdMicrosPerHour: 1_950_000n, by: 'rate' });
  });

  it('a model without a price has none, never $0', async () => {
    await machine.program('nvidia-smi', smiXml([{ ...FREE, model: 'NVIDIA X900' }]));
    const [first] = await watched(1, { once: true });
    const screen = watchScreen(stateOf(first), {
      dataDir: 'd',
      dataFlag: '',
      isLive: false,
    }).join('\n');
    expect(screen).toContain('no price');
    expect(screen).not.toContain('$0');
  });
});

describe('from look to look', () => {
  it('a GPU is quiet since it was last seen computing, also across runs of the command', async () => {
    const quiet = await watched(3);
    expect(quiet[2]?.state.devices[1]).toMatchObject({ state: 'free', quietSince: AT });
    const later = await watched(1, { once: true, start: new Date(AT.getTime() + 60_000) });
    expect(later[0]?.state.devices[1]).toMatchObject({ state: 'free', quietSince: AT });
    // After a gap nobody knows what was in between.
    const muchLater = await watched(1, { once: true, start: new Date(AT.getTime() + 3_600_000) });
    expect(muchLater[0]?.state.devices[1]?.quietSince).toEqual(new Date(AT.getTime() + 3_600_000));
  });

  it('one that stops computing while it is held is idle, and one whose power contradicts it is unknown', async () => {
    const steps = [
      smiXml([{ ...BUSY, util: '0 %', watts: '80 W' }]),
      smiXml([{ ...BUSY, util: '0 %', watts: '200 W' }]),
    ];
    await machine.program('nvidia-smi', smiXml([BUSY]));
    const seen = await watched(3, { between: async (look) => machine.program('nvidia-smi', steps[look - 1] ?? '') });
    expect(seen.map(({ state }) => state.devices[0]?.state)).toEqual(['computing', 'idle', 'unknown']);
    expect(seen[2]?.state.devices[0]?.quietSince).toBeNull();
  });

  it('a card whose clocks stay up for the memory somebody holds is idle, also by what earlier runs saw of it', async () => {
    await machine.program('nvidia-smi', smiXml([{ ...FREE, watts: '9 W' }]));
    await watched(1, { once: true });
    await machine.program(
      'nvidia-smi',
      smiXml([{ ...BUSY, uuid: 'GPU-b', util: '0 %', usedMib: 1032, watts: '27 W' }]),
    );
    const later = await watched(1, { once: true, start: new Date(AT.getTime() + 60_000) });
    expect(later[0]?.state.devices[0]).toMatchObject({ state: 'idle', quietSince: AT });
  });

  it('a look that fails is told, and the next one may succeed', async () => {
    const troubles: string[] = [];
    const seen = await watched(2, {
      onTrouble: (trouble) => {
        troubles.push(trouble.message);
      },
      between: async (look) => {
        if (look > 1) return;
        await machine.script(
          'nvidia-smi',
          `if [ -e '${folder}/again' ]; then cat() { while IFS= read -r l; do echo "$l"; done; }; cat < '${folder}/xml'; else : > '${folder}/again'; echo lost >&2; exit 9; fi`,
        );
        await writeFile(join(folder, 'xml'), smiXml([FREE]));
      },
    });
    expect(troubles).toEqual([expect.stringContaining('lost')]);
    expect(seen[1]?.state.devices.map(({ deviceId }) => deviceId)).toEqual(['GPU-b']);
  });
});

it('of a program that ps does not know, nobody knows since when it runs', async () => {
  await machine.program('ps', '');
  const seen = await watched(2);
  for (const { state } of seen) {
    expect(state.devices[0]?.holders).toMatchObject([{ user: null, program: 'python3', pid: 4711, since: null }]);
    expect(JSON.stringify(watchJson({ ...state, devices: [], unplaced: unplacedOf(state) }))).toContain('"since":null');
    const screen = watchScreen(state, { dataDir: 'd', dataFlag: '', isLive: false });
    expect(screen[2]).toContain('unknown python3 4711 (–)');
  }
});

describe('trouble', () => {
  it('without a tool there is nothing to watch', async () => {
    await machine.program('nvidia-smi', undefined);
    await expect(watched(1, { once: true })).rejects.toMatchObject({ code: 'no-smi', hint: expect.any(String) });
  });

  it('a folder that cannot be written to is told, and the screen goes on', async () => {
    const dataDir = join(folder, 'a-file');
    await writeFile(dataDir, 'not a folder');
    const [first] = await watched(1, { once: true, dataDir });
    expect(first?.trouble?.message).toEqual(expect.any(String));
    const screen = watchScreen(stateOf(first), {
      dataDir: 'd',
      dataFlag: '',
      isLive: true,
      trouble: 'disk full',
    });
    expect(screen.at(-1)).toBe('Not kept: disk full');
  });

  it('another writer is waited for', async () => {
    const dataDir = join(folder, 'data');
    const [seen] = await Promise.all([
      watched(1, { once: true }),
      withWriter(dataDir, 'import', async () => undefined),
    ]);
    expect(seen[0]?.trouble).toBeUndefined();
  });
});

it('a narrow terminal is told less, and lines fit', async () => {
  const [first] = await watched(1, { once: true });
  const lines = watchScreen(stateOf(first), {
    dataDir: 'd',
    dataFlag: '',
    isLive: true,
    width: 90,
  });
  for (const line of lines.slice(1, 4)) expect(line.length).toBeLessThanOrEqual(90);
  expect(lines[2]).toContain('mchen');
});
