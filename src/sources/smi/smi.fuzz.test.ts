import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import { smiXml } from '../../../test/fake-machine.ts';
import { OperationError } from '../../facts/operation-error.ts';
import { amdJson, isAmdSmi, isRocmSmi, parseAmdSmi, parseRocmSmi } from './rocm-json.ts';
import { parseSmiCsv } from './smi-csv.ts';
import { smiReadings } from './smi-gpu.ts';
import type { SmiSnapshot } from './smi-gpu.ts';
import { parseSmiTable } from './smi-table.ts';
import { parseSmiList, parseSmiQuery, withList } from './smi-text.ts';
import { parseSmiXml } from './smi-xml.ts';

const numRuns = Number(process.env['FUZZ_RUNS'] ?? 10_000);
vi.setConfig({ testTimeout: Math.max(60_000, numRuns * 10) });

const XML = smiXml([
  {
    uuid: 'GPU-a',
    slices: [{ index: 0, instance: 2, totalMib: 40448, usedMib: 26 }],
    processes: [{ pid: 7, name: 'python3', instance: '2' }],
  },
]);
const CSV = `timestamp, index, uuid, name, utilization.gpu [%], memory.used [MiB], power.draw [W]
2026/11/16 10:00:00.123, 0, GPU-a, NVIDIA H100, 97 %, 61440 MiB, 612.40 W
2026/11/16 10:00:00.123, 1, GPU-b, NVIDIA H100, [N/A], [Not Supported], [Unknown Error]
`;
const QUERY = `==============NVSMI LOG==============
Timestamp                                 : Mon Nov 16 10:00:00 2026
GPU 00000000:00:09.0
    Product Name                          : NVIDIA H100
    MIG Device
        Index                             : 0
        GPU Instance ID                   : 2
        Shared FB Memory Usage
            Total                         : 40448 MiB
    GPU UUID                              : GPU-a
    Utilization
        GPU                               : 97 %
    Processes
        GPU instance ID                   : 2
        Process ID                        : 21180
            Type                          : C
            Name                          : memhog
`;
const TABLE = `Mon Nov 16 10:00:00 2026
|   0  NVIDIA H100 80GB HBM3          On  |   00000000:00:09.0 Off |                   On |
| N/A   52C    P0            432W /  700W |   11125MiB /  81559MiB |     97%      Default |
|  0    2   0   0  |           11091MiB / 40448MiB    | 60      0 |  3   0    3    0    3 |
|    0    2    0            21180      C   /opt/tools/memhog                      2296MiB |
`;
const LIST = `GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-a)\n  MIG 3g.40gb     Device  0: (UUID: MIG-1)\n`;
const ROCM = JSON.stringify({
  card0: {
    'Unique ID': '0x79cc',
    'Card series': 'MI100',
    'GPU use (%)': '93',
    'VRAM Total Used Memory (B)': '6782976',
  },
  system: { PID7: 'python3, 1, 2, 3, 4' },
});
const AMD = JSON.stringify([
  { gpu: 0, uuid: 'x', usage: { gfx_activity: { value: 4 } }, power: { socket_power: '9' } },
]);

/** A text with some of it cut out, doubled, or replaced by something odd. */
const edit = fc.record({
  at: fc.nat(2000),
  length: fc.nat(60),
  instead: fc.oneof(
    fc.constantFrom(
      '',
      '<',
      '>',
      '&',
      '"',
      '[',
      ']',
      '{',
      '}',
      ',',
      '|',
      '\n',
      ' : ',
      '    ',
      '-1',
      '1e999',
      '\u0000',
      'N/A',
    ),
    fc.constantFrom('<!ENTITY a "b">', '<![CDATA[', '__proto__', '9'.repeat(400), '0x', '\u202e', '\uD800', '/*'),
    fc.string({ unit: 'binary', maxLength: 8 }),
  ),
});
const edited = (text: string): fc.Arbitrary<string> =>
  fc.array(edit, { minLength: 1, maxLength: 6 }).map((edits) =>
    edits.reduce((before, { at, length, instead }) => {
      const from = at % (before.length + 1);
      return before.slice(0, from) + instead + before.slice(from + length);
    }, text),
  );

/** Whole numbers in their ranges, whatever was read. */
function makesSense(snapshot: SmiSnapshot): boolean {
  return smiReadings(snapshot, 'box', new Date(0)).every(({ values, at }) => {
    const isSound = ([column, value]: [string, number]): boolean =>
      Number.isInteger(value) && value >= 0 && (!column.endsWith('_permille') || value <= 1000);
    return Number.isFinite(at.getTime()) && Object.entries(values).every(isSound);
  });
}

it('the XML of nvidia-smi', async () => {
  await fc.assert(
    fc.asyncProperty(edited(XML), async (text) => {
      const outcome = await parseSmiXml(text).catch((failure: unknown) => failure);
      expect(outcome instanceof OperationError || makesSense(outcome as SmiSnapshot)).toBe(true);
    }),
    { numRuns },
  );
});

const texts: Record<string, { text: string; read: (text: string) => SmiSnapshot | undefined }> = {
  'the CSV of nvidia-smi': {
    text: CSV,
    read: (text) => {
      const { gpus, processes, headers, blank, notUnderstood } = parseSmiCsv(text);
      const lines = text.split('\n').length - (text.endsWith('\n') || text === '' ? 1 : 0);
      expect(gpus.length + processes.length + headers + blank + notUnderstood.length).toBe(lines);
      return { gpus: gpus.map(({ gpu }) => gpu) };
    },
  },
  'the text of nvidia-smi -q': { text: QUERY, read: (text) => withList(parseSmiQuery(text), parseSmiList(LIST)) },
  'the table of nvidia-smi': { text: TABLE, read: parseSmiTable },
  'the list of nvidia-smi': { text: LIST, read: (text) => withList(parseSmiTable(TABLE), parseSmiList(text)) },
  'the JSON of rocm-smi': {
    text: ROCM,
    read: (text) => {
      const value = amdJson(text);
      return isRocmSmi(value) ? parseRocmSmi(value) : undefined;
    },
  },
  'the JSON of amd-smi': {
    text: AMD,
    read: (text) => {
      const value = amdJson(text);
      return isAmdSmi(value) ? parseAmdSmi([value]) : undefined;
    },
  },
};

/** What is read, or the error that says what to do; anything else that is thrown ends the test. */
function readOrRefused(read: (text: string) => SmiSnapshot | undefined, text: string): SmiSnapshot | 'refused' {
  try {
    return read(text) ?? { gpus: [] };
  } catch (failure) {
    if (failure instanceof OperationError) return 'refused';
    throw failure;
  }
}

it.each(Object.entries(texts))('%s', (_, { text, read }) => {
  expect(read(text)?.gpus.length).toBeGreaterThan(0);
  fc.assert(
    fc.property(edited(text), (changed) => {
      const outcome = readOrRefused(read, changed);
      expect(outcome === 'refused' || makesSense(outcome)).toBe(true);
    }),
    { numRuns },
  );
});

it('no line takes long to read, however it is built', () => {
  const long = [' '.repeat(50_000), '| '.repeat(25_000), ': '.repeat(25_000), 'a '.repeat(25_000), '\t'.repeat(50_000)];
  const begun = performance.now();
  for (const line of long) {
    for (const text of [line, `|   0  ${line}`, `GPU 0: ${line}`, `    key${line}`, `| N/A   52C    P0 ${line}`]) {
      parseSmiTable(text);
      parseSmiQuery(text);
      parseSmiList(text);
      parseSmiCsv(text);
    }
  }
  expect(performance.now() - begun).toBeLessThan(5000);
});
