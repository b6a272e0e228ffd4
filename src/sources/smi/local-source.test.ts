import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FakeMachine } from '../../../test/fake-machine.ts';
import { fakeMachine, smiXml } from '../../../test/fake-machine.ts';
import type { Haul, Source } from '../../facts/source.ts';
import { localSource } from './local-source.ts';

let machine: FakeMachine;
beforeEach(async () => {
  machine = await fakeMachine();
});
afterEach(() => machine.remove());

const source = (prefix?: readonly string[]): Source =>
  localSource({ name: 'box', run: machine.run, hostname: 'box1', ...(prefix !== undefined && { prefix }) });
const at = (minute: number): Date => new Date(Date.UTC(2026, 10, 16, 10, minute));
const signal = new AbortController().signal;
async function pull(from: Source, cursor: unknown, now: Date, since?: Date): Promise<Haul> {
  const kept: unknown = cursor === undefined ? undefined : JSON.parse(JSON.stringify(cursor));
  const request = { now, signal, progress: () => undefined, ...(since !== undefined && { since }) };
  for await (const haul of from.pull(kept, request)) return haul;
  throw new Error('no haul');
}
const rows = (haul: Haul, table: string) =>
  haul.facts.filter((each) => each.table === table).flatMap((each) => each.rows);

const BUSY = {
  uuid: 'GPU-a',
  util: '97 %',
  usedMib: 61440,
  watts: '612.40 W',
  processes: [{ pid: 4711, name: '/usr/bin/python3' }],
};
const FREE = { uuid: 'GPU-b', util: '0 %', usedMib: 4, watts: '[Not Supported]' };
const PS = '   4711 mchen       600 python3\n';

describe('a look at a machine with NVIDIA GPUs', () => {
  it('gives samples, devices, the machine, and who computes on what since when', async () => {
    await machine.program('nvidia-smi', smiXml([BUSY, FREE]));
    await machine.program('ps', PS);
    const haul = await pull(source(), undefined, at(10));
    const throttle = 1;
    expect(rows(haul, 'gpu_sample')).toEqual([
      {
        device_id: 'GPU-a',
        ts: at(10),
        step_s: 30,
        util_permille: 970,
        fb_used_mib: 61440,
        power_w: 612,
        pcie_mb_s: 3,
        throttle,
      },
      { device_id: 'GPU-b', ts: at(10), step_s: 30, util_permille: 0, fb_used_mib: 4, pcie_mb_s: 3, throttle },
    ]);
    expect(rows(haul, 'device')).toMatchObject([
      { device_id: 'GPU-a', node_id: 'box1', model: 'NVIDIA H100 80GB HBM3', kind: 'gpu' },
      { device_id: 'GPU-b' },
    ]);
    expect(rows(haul, 'node')).toMatchObject([{ node_id: 'box1', gpu_count: 2, presence: 'inferred' }]);
    const startS = at(0).getTime() / 1000;
    expect(rows(haul, 'allocation')).toEqual([
      {
        source: 'process',
        allocation_id: `box1/4711/${startS}`,
        attempt: 0,
        node_id: 'box1',
        slot: 0,
        held_from: at(0),
        observed_at: at(10),
        poll_s: 30,
        device_id: 'GPU-a',
        gpu_count: 1,
        isolation: 'time-slice',
        user_name: 'mchen',
        workload_kind: 'Process',
        workload_name: 'python3',
        outcome: 'running',
      },
    ]);
    expect(haul.bindings).toMatchObject([
      { deviceId: 'GPU-a', gpuIndex: 0 },
      { deviceId: 'GPU-b', gpuIndex: 1 },
    ]);
  });

  it('a program keeps its id while the reading of its start trembles, and ends when it is gone', async () => {
    await machine.program('nvidia-smi', smiXml([BUSY]));
    await machine.program('ps', PS);
    const first = await pull(source(), undefined, at(10));
    await machine.program('ps', '4711 mchen 661 python3\n');
    const second = await pull(source(), first.cursor, at(11));
    const [before, after] = [rows(first, 'allocation')[0], rows(second, 'allocation')[0]];
    expect(after).toMatchObject({ allocation_id: before?.['allocation_id'], held_from: at(0), observed_at: at(11) });
    await machine.program('nvidia-smi', smiXml([{ ...BUSY, processes: [] }]));
    const third = await pull(source(), second.cursor, at(12));
    expect(third.facts.filter(({ table }) => table === 'allocation')).toMatchObject([
      { batch: 'open', mode: 'replace', rows: [] },
      {
        batch: 'ended/2026-11-16',
        mode: 'extend',
        rows: [{ held_from: at(0), held_until: new Date(at(11).getTime() + 30_000) }],
      },
    ]);
  });

  it('another program under the same id is another holder', async () => {
    await machine.program('nvidia-smi', smiXml([BUSY]));
    await machine.program('ps', PS);
    const first = await pull(source(), undefined, at(10));
    await machine.program('ps', '4711 kim 20 julia\n');
    const second = await pull(source(), first.cursor, at(11));
    expect(rows(second, 'allocation')).toMatchObject([
      { user_name: 'kim', held_from: new Date(at(11).getTime() - 20_000), outcome: 'running' },
      { user_name: 'mchen', held_from: at(0), held_until: new Date(at(10).getTime() + 30_000) },
    ]);
  });

  it('one program on two GPUs holds both; two on one share it by turns; one that draws a screen holds nothing', async () => {
    const python = { pid: 4711, name: 'python3' };
    await machine.program(
      'nvidia-smi',
      smiXml([
        { ...BUSY, processes: [python, { pid: 99, name: '/usr/lib/xorg/Xorg', type: 'G' }] },
        { ...FREE, processes: [python, { pid: 5000, name: 'vllm &amp; co' }, { pid: 98, name: 'kwin', type: 'C+G' }] },
      ]),
    );
    await machine.program('ps', `${PS}5000 kim 60 vllm\n`);
    const haul = await pull(source(), undefined, at(10));
    const held = rows(haul, 'allocation').map((row) => [
      row['user_name'],
      row['workload_name'],
      row['device_id'],
      row['slot'],
    ]);
    expect(held).toEqual([
      ['mchen', 'python3', 'GPU-a', 0],
      ['mchen', 'python3', 'GPU-b', 1],
      ['kim', 'vllm & co', 'GPU-b', 0],
    ]);
    expect(haul.skipped).toMatchObject([{ reason: expect.stringContaining('draw a screen'), count: 2 }]);
  });

  it('slices are devices of their own, with profiles from the list and their programs on them', async () => {
    const slices = [
      { index: 0, instance: 2, totalMib: 40448, usedMib: 26 },
      { index: 1, instance: 9, totalMib: 9984, usedMib: 9 },
    ];
    const xml = smiXml([
      { uuid: 'GPU-a', util: 'N/A', slices, processes: [{ pid: 4711, name: 'python3', instance: '9' }] },
    ]);
    const list = `GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-a)
  MIG 3g.40gb     Device  0: (UUID: MIG-1)
  MIG 1g.10gb     Device  1: (UUID: MIG-2)
`;
    await machine.script('nvidia-smi', `if [ "$1" = -L ]; then echo '${list}'; else echo '${xml}'; fi`);
    await machine.program('ps', PS);
    const haul = await pull(source(), undefined, at(10));
    expect(rows(haul, 'device')).toMatchObject([
      { device_id: 'GPU-a', kind: 'gpu' },
      { device_id: 'GPU-a/2', parent_device_id: 'GPU-a', kind: 'mig', mig_profile: '3g.40gb' },
      { device_id: 'GPU-a/9', parent_device_id: 'GPU-a', kind: 'mig', mig_profile: '1g.10gb' },
    ]);
    expect(rows(haul, 'allocation')).toMatchObject([{ device_id: 'GPU-a/9', user_name: 'mchen' }]);
    // Slices have no utilisation, and their GPU's is not theirs.
    expect(rows(haul, 'gpu_sample').map((row) => row['util_permille'])).toEqual([undefined, undefined, undefined]);
    expect((await source().check(signal)).advice).toMatchObject([{ missing: expect.stringContaining('MIG') }]);
  });

  it('a first look says that nothing is known from before', async () => {
    await machine.program('nvidia-smi', smiXml([FREE]));
    const haul = await pull(source(), undefined, at(10), at(0));
    expect(haul.gaps).toMatchObject([{ from: at(0), until: at(10) }]);
    expect((await pull(source(), haul.cursor, at(11), at(0))).gaps).toEqual([]);
    // Three polls of 30 s are a minute and a half.
    expect((await pull(source(), haul.cursor, at(12), at(0))).gaps).toMatchObject([
      { from: at(10), until: at(12), reason: expect.stringContaining('nobody looked') },
    ]);
  });
});

describe('AMD', () => {
  const CARDS = {
    card0: {
      'Unique ID': '0x79cc',
      'Card series': 'Instinct MI100',
      'GPU use (%)': '93',
      'VRAM Total Used Memory (B)': '1073741824',
    },
    card1: {
      'Unique ID': 'N/A',
      'Serial Number': '0',
      'Card Series': '0x738c',
      'Average Graphics Package Power (W)': '39.0',
    },
    system: { 'Driver version': '6.3.6', PID4711: 'python3, 2, 8589934592, 0, 12', PID4712: 'idle-thing, 0, 0, 0, 0' },
  };
  it('rocm-smi: cards, and programs by how many GPUs they have', async () => {
    await machine.program('rocm-smi', `WARNING: something\n\n${JSON.stringify(CARDS, null, 2)}\n`);
    await machine.program('ps', PS);
    const haul = await pull(source(), undefined, at(10));
    expect(rows(haul, 'gpu_sample')).toMatchObject([
      { device_id: '0x79cc', util_permille: 930, fb_used_mib: 1024 },
      { device_id: 'box1/gpu1', power_w: 39 },
    ]);
    expect(rows(haul, 'device').map((row) => row['model'])).toEqual(['Instinct MI100', undefined]);
    expect(rows(haul, 'allocation')).toMatchObject([{ user_name: 'mchen', gpu_count: 2, device_id: undefined }]);
  });

  it('amd-smi, where rocm-smi is not there any more', async () => {
    await machine.script(
      'amd-smi',
      `case "$1" in
metric) echo '[{"gpu":0,"usage":{"gfx_activity":{"value":42,"unit":"%"},"umc_activity":"N/A"},"power":{"socket_power":{"value":139,"unit":"W"}},"mem_usage":{"used_vram":{"value":283,"unit":"MB"}}}]';;
static) echo '[{"gpu":0,"asic":{"market_name":"AMD Instinct MI300X","asic_serial":"0xDD"}}]';;
list) echo '[{"gpu":0,"bdf":"0000:0c:00.0","uuid":"ccff74a1-0000-1000-80e0-c6d49f5b0d86"}]';;
esac`,
    );
    const haul = await pull(source(), undefined, at(10));
    expect(rows(haul, 'gpu_sample')).toMatchObject([
      { device_id: 'ccff74a1-0000-1000-80e0-c6d49f5b0d86', engine_permille: 420, power_w: 139, fb_used_mib: 283 },
    ]);
    expect(rows(haul, 'device')).toMatchObject([{ model: 'AMD Instinct MI300X' }]);
  });
});

describe('trouble', () => {
  it('no tool at all', async () => {
    const health = await source().check(signal);
    expect(health).toMatchObject({
      state: 'down',
      says: expect.stringContaining('neither'),
      todo: expect.stringContaining('ssh'),
    });
    await expect(pull(source(), undefined, at(0))).rejects.toMatchObject({ code: 'no-smi' });
  });

  it('a driver that is not loaded', async () => {
    await machine.program(
      'nvidia-smi',
      "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.",
      9,
    );
    const health = await source().check(signal);
    expect(health).toMatchObject({
      state: 'down',
      says: expect.stringContaining('communicate'),
      todo: expect.any(String),
    });
  });

  it('something else than XML', async () => {
    await machine.program('nvidia-smi', '<html>no</p>');
    expect(await source().check(signal)).toMatchObject({ state: 'down', says: expect.stringContaining('not the XML') });
  });

  it('no ps: the GPUs are known, their holders’ names are not', async () => {
    await machine.program('nvidia-smi', smiXml([BUSY]));
    const haul = await pull(source(), undefined, at(10));
    expect(rows(haul, 'allocation')).toMatchObject([
      { device_id: 'GPU-a', held_from: at(10), workload_name: 'python3' },
    ]);
    expect(rows(haul, 'allocation')[0]).not.toHaveProperty('user_name');
    expect(haul.skipped).toMatchObject([{ reason: expect.stringContaining('ps'), count: 1 }]);
    // Seen again it is the same program, though its start is not known.
    const next = await pull(source(), haul.cursor, at(11));
    expect(rows(next, 'allocation')).toMatchObject([{ held_from: at(10) }]);
  });

  it('over ssh: a machine out of reach, one without tools, and one that answers', async () => {
    await machine.script('ssh', 'echo "ssh: connect to host box1 port 22: No route to host" >&2; exit 255');
    expect(await source(['ssh', 'box1']).check(signal)).toMatchObject({
      state: 'down',
      says: expect.stringContaining('No route'),
      todo: expect.stringContaining('ssh box1 nvidia-smi'),
    });
    await machine.script('ssh', 'echo "sh: 1: $2: not found" >&2; exit 127');
    expect(await source(['ssh', 'box1']).check(signal)).toMatchObject({
      state: 'down',
      says: expect.stringContaining('neither'),
    });
    await machine.program('nvidia-smi', smiXml([BUSY]));
    await machine.program('ps', PS);
    await machine.script('ssh', 'shift; exec "$@"');
    expect(await source(['ssh', 'box1']).check(signal)).toMatchObject({ state: 'ok', gpus: 1, advice: [] });
    expect(rows(await pull(source(['ssh', 'box1']), undefined, at(10)), 'allocation')).toMatchObject([
      { user_name: 'mchen' },
    ]);
  });
});
