import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { smiXml } from '../../../test/fake-machine.ts';
import { factsOfReadings } from '../gpu-metrics/gpu-reading.ts';
import { readTelemetry } from './read-telemetry.ts';
import type { TelemetryContext, TelemetryFile } from './telemetry-file.ts';

const WRITTEN = new Date('2026-11-16T10:00:00Z');
async function read(stem: string, text: string, more: Partial<TelemetryContext> = {}): Promise<TelemetryFile> {
  const found = await readTelemetry(text, { stem, writtenAt: WRITTEN, ...more });
  expect(found.parts.reduce((sum, { count }) => sum + count, 0)).toBe(found.total);
  return found;
}
/** How many samples, devices and machines follow from a file. */
function counts({ readings }: TelemetryFile): number[] {
  const { samples, devices, nodes } = factsOfReadings(readings);
  const moments = new Set(samples.map((row) => JSON.stringify([row['device_id'], row['ts']])));
  return [moments.size, devices.length, nodes.length];
}

const SCRAPE = `# TYPE DCGM_FI_DEV_GPU_UTIL gauge
DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-a",Hostname="n1",modelName="H100"} 97
DCGM_FI_DEV_FB_USED{gpu="0",UUID="GPU-a",Hostname="n1",modelName="H100"} 2147483632
DCGM_FI_DEV_GPU_TEMP{gpu="0",UUID="GPU-a",Hostname="n1",modelName="H100"} 61
DCGM_FI_DEV_POWER_USAGE 1

oops{
vllm:prompt_tokens_total{model_name="m"} 5
`;
const TABLE = `Mon Nov 16 10:00:05 2026
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 590.48.01              Driver Version: 590.48.01      CUDA Version: 13.1     |
|   0  NVIDIA H100 80GB HBM3          On  |   00000000:00:09.0 Off |                   On |
| N/A   52C    P0            432W /  700W |   11125MiB /  81559MiB |     97%      Default |
`;
const QUERY_CSV = `timestamp, index, uuid, name, utilization.gpu [%], memory.used [MiB], power.draw [W]
2026/11/16 10:00:00.123, 0, GPU-a, NVIDIA H100, 97 %, 61440 MiB, 612.40 W
2026/11/16 10:00:30.123, 0, GPU-a, NVIDIA H100, [N/A], 61440 MiB, [Unknown Error]
`;

const kinds: Record<string, { text: string; kind: RegExp; rows?: number[]; parts?: Record<string, number> }> = {
  'a scrape': {
    text: SCRAPE,
    kind: /dcgm-exporter/,
    rows: [1, 1, 1],
    parts: {
      'series taken': 1,
      comments: 1,
      blank: 1,
      'serving counters of a server nobody names: --node NAME says which': 1,
      'blank values, which mean unknown': 1,
    },
  },
  'the XML of nvidia-smi': {
    text: smiXml([{ uuid: 'GPU-a' }]),
    kind: /-q -x/,
    rows: [1, 1, 1],
  },
  'its CSV, from a loop': {
    text: QUERY_CSV,
    kind: /CSV/,
    rows: [2, 1, 1],
    parts: { 'rows of GPUs': 2 },
  },
  'the lines of its dmon': {
    text: '# gpu    pwr  gtemp     sm    mem\n# Idx      W      C      %      %\n    0     43     35      0      0\n',
    kind: /output of nvidia-smi dmon/,
  },
  'the lines of its dmon with times': {
    text: '#Date       Time        gpu    pwr\n#YYYYMMDD   HH:MM:SS    Idx      W\n 20261116   10:00:00      0     43\n',
    kind: /output of nvidia-smi dmon/,
  },
  'the lines of its pmon': {
    text: '# gpu        pid  type    sm    mem\n# Idx          #   C/G     %      %\n    0       4711     C    97     40\n',
    kind: /output of nvidia-smi pmon/,
  },
  'its table': { text: TABLE, kind: /table/, rows: [1, 1, 1] },
  'its table, from a loop': {
    text: TABLE + TABLE.replace(':05', ':10'),
    kind: /table/,
    rows: [2, 1, 1],
  },
  'a terminal somebody copied': {
    text: `me@box:~$ nvidia-smi -L\nGPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-a)\nme@box:~$ nvidia-smi\n${TABLE}me@box:~$ nvidia-smi topo -m\nwhatever\n`,
    kind: /log/,
    rows: [1, 1, 1],
    parts: { headings: 3, 'lines that name GPUs and slices': 1, 'lines of nvidia-smi topo: nothing about activity': 1 },
  },
  'rocm-smi': {
    text: `WARNING: x\n\n{\n "card0": {"GPU use (%)": "5", "Unique ID": "0x1"}\n}`,
    kind: /rocm-smi/,
    rows: [1, 1, 1],
  },
  'amd-smi': {
    text: '[{"gpu":0,"usage":{"gfx_activity":{"value":5,"unit":"%"}}}]',
    kind: /amd-smi/,
    rows: [1, 1, 1],
  },
  'a counter list': {
    text: '# Format\nDCGM_FI_DEV_SM_CLOCK, gauge, Clock\n# DCGM_FI_X, gauge, y\n',
    kind: /counters/,
    parts: { 'fields that are switched off': 1 },
  },
  'names of metrics': { text: 'vllm:a_total\nvllm:b_total\n', kind: /names/ },
  'a dashboard': {
    text: '{"schemaVersion": 1, "panels": [{"type": "graph"}, {"type": "row", "panels": [{"type": "stat"}]}]}',
    kind: /dashboard/,
    parts: { 'panels: questions, no measurements': 2 },
  },
  sinfo: { text: 'normal*|up|c1|0/1/0/1|idle\n', kind: /sinfo/ },
  'an answer of slurmrestd': {
    text: '{"meta": {"Slurm": {}}, "errors": [], "jobs": [{}, {}]}',
    kind: /of Slurm: sacct --json/,
  },
  'a table of somebody’s own': {
    text: 'time,host,busy\n1662858720,a,5\n',
    kind: /a table with the columns time, host, busy/,
  },
  prose: { text: 'Dear all,\nthe GPUs are broken again.\n', kind: /not recognised/ },
  'something binary': { text: 'a\u0000b\n', kind: /not recognised/ },
  nothing: { text: '', kind: /empty/ },
  'JSON of another kind': { text: '{"a": [1, 2]}', kind: /not recognised/ },
};

describe('what a file is, is told by its content', () => {
  it.each(Object.entries(kinds))('%s', async (_, { text, kind, rows = [0, 0, 0], parts = {} }) => {
    const report = await read('file', text);
    expect(report.kind).toMatch(kind);
    expect(counts(report)).toEqual(rows);
    expect(Object.fromEntries(report.parts.map(({ what, count }) => [what, count]))).toMatchObject(parts);
  });

  it('a table of somebody’s own is told the command that reads it', async () => {
    const { notes } = await read('duty', 'value,timestamp_anon,container_ip\n0.0,1662858720.0,23b8\n');
    expect(notes[0]).toContain('--map device_id=container_ip,ts=timestamp_anon:s,util_permille=value:percent');
  });
});

describe('when and where', () => {
  const cases: Record<
    string,
    { name: string; text: string; more?: Partial<TelemetryContext>; at: string; node: string; note?: string }
  > = {
    'a scrape without times is of when the file was written': {
      name: 'a',
      text: SCRAPE,
      at: '10:00:00',
      node: 'n1',
      note: '--at',
    },
    'or of when the person says': {
      name: 'a',
      text: SCRAPE,
      more: { at: new Date('2026-11-16T08:00:00Z') },
      at: '08:00:00',
      node: 'n1',
    },
    'a scrape with times has them': {
      name: 'a',
      text: SCRAPE.replace(' 97', ' 97 1794736800000'),
      at: '10:00:00',
      node: 'n1',
    },
    'nvidia-smi’s clock has no zone': {
      name: 'gpu-7',
      text: QUERY_CSV,
      at: '10:00:00',
      node: 'gpu-7',
      note: '--zone',
    },
    'its zone may be said': {
      name: 'gpu-7',
      text: QUERY_CSV,
      more: { zone: 'Europe/Berlin' },
      at: '09:00:00',
      node: 'gpu-7',
    },
    'or its moment': {
      name: 'gpu-7',
      text: QUERY_CSV,
      more: { at: new Date('2026-11-16T08:00:00Z') },
      at: '08:00:00',
      node: 'gpu-7',
    },
    'a time with a zone above the outputs tells it': {
      name: 'x',
      text: `collected_at: 2026-11-16T08:00:01Z\n$ nvidia-smi\n${TABLE}`,
      at: '08:00:05',
      node: 'x',
      note: '2:00 h ahead',
    },
    'the machine may be said': {
      name: 'x',
      text: smiXml([{ uuid: 'GPU-a' }]),
      more: { nodeId: 'box1' },
      at: '10:00:00',
      node: 'box1',
    },
    'masked ids are no ids': {
      name: 'm',
      text: smiXml([{ uuid: 'GPU-00000000-0000-0000-0000-000000000000' }]),
      at: '10:00:00',
      node: 'm',
      note: 'masked',
    },
  };
  it.each(Object.entries(cases))('%s', async (_, { name, text, more, at, node, note }) => {
    const report = await read(name, text, more);
    const [first] = report.readings;
    expect([first?.at.toISOString().slice(11, 19), first?.nodeId]).toEqual([at, node]);
    expect(report.notes.join('\n')).toContain(note ?? '');
  });

  it('a zone nobody knows', async () => {
    await expect(read('z', QUERY_CSV, { zone: 'Mars/Base' })).rejects.toMatchObject({ code: 'bad-zone' });
  });
});

const REAL = resolve(import.meta.dirname, '../../../../shared/data/telemetry');
describe.skipIf(!existsSync(REAL))('real files (skipped where ../shared/data is missing)', () => {
  const paths = existsSync(REAL)
    ? readdirSync(REAL, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name))
    : [];
  const named = paths.map((path) => [path.slice(REAL.length + 1), path] as const);
  it.each(named)('%s is known, and every line of it accounted for', async (_, path) => {
    const bytes = readFileSync(path);
    const text = (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
    const { kind, isRecognised, parts } = await read('real', text);
    expect(isRecognised || kind.startsWith('a table')).toBe(true);
    expect(parts.filter(({ what }) => what.includes('not understood'))).toEqual([]);
  });

  const known: Record<string, { gpus: number; counts: number[] }> = {
    'dcgm/h100x8-node.prom': { gpus: 8, counts: [8, 8, 1] },
    'nvidia-smi/a100-sxm4-v12.xml': { gpus: 1, counts: [5, 5, 1] },
    'nvidia-smi/linux-x86_64__nvidia-h100-mig__590.48.01.txt': { gpus: 1, counts: [20, 5, 1] },
    'nvidia-smi/linux-x86_64__nvidia-h200-mig__590.48.01.txt': { gpus: 1, counts: [12, 5, 1] },
    'rocm/mi100_rocm571.json': { gpus: 6, counts: [6, 6, 1] },
  };
  it.each(Object.entries(known))('%s', async (name, want) => {
    const found = await read('real', readFileSync(join(REAL, name), 'utf8'));
    const gpus = new Set(found.readings.filter(({ mig }) => mig === undefined).map(({ deviceId }) => deviceId)).size;
    expect({ gpus, counts: counts(found) }).toEqual(want);
  });
});
