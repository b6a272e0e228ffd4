import { OperationError } from '../../facts/operation-error.ts';
import type { SmiGpu, SmiSnapshot } from './smi-gpu.ts';
import { smiValues } from './smi-gpu.ts';
import { smiColumn, smiNumber, smiText } from './smi-value.ts';

/** A program AMD's driver knows to use GPUs; it tells how many, not which. */
export interface RocmProcess {
  readonly pid: number;
  readonly name: string;
  readonly gpus: number;
}

export interface RocmSnapshot extends SmiSnapshot {
  readonly processes: readonly RocmProcess[];
}

type Tree = Readonly<Record<string, unknown>>;

const BYTES_PER_MIB = 1_048_576;
const JSON_CHARS_MAX = 16 * 1024 * 1024;
const MODEL_KEYS = ['Card series', 'Card Series', 'Device Name', 'Card model', 'Card Model'];
const POWER_KEYS = [
  'Average Graphics Package Power (W)',
  'Current Socket Graphics Package Power (W)',
  'Average Socket Graphics Package Power (W)',
];

/** The JSON in a text that may begin with warnings, as both tools print them; an error that says what to do if there is none. */
export function amdJson(text: string): unknown {
  const from = text.search(/^\s*[[{]/m);
  if (from === -1 || text.length > JSON_CHARS_MAX) throw notAmd('there is no JSON in it');
  try {
    return JSON.parse(text.slice(from));
  } catch (cause) {
    throw notAmd('it is cut off or damaged', cause);
  }
}

function notAmd(why: string, cause?: unknown): OperationError {
  return new OperationError('not-rocm-json', `not the JSON of rocm-smi or amd-smi: ${why}`, {
    hint: 'Write it again with: rocm-smi -a --json > FILE, or amd-smi metric --json > FILE',
    cause,
  });
}

/** Is this what `rocm-smi --json` prints: an object of cards? */
export function isRocmSmi(value: unknown): value is Tree {
  return isTree(value) && Object.entries(value).some(([key, card]) => /^card\d+$/.test(key) && isTree(card));
}

/**
 * What does `rocm-smi --json` say? Versions 4.3 to 6.1 call the same things by different names.
 *
 * Cards without an id of their own (`N/A`, or a serial number of 0) go by their place.
 */
export function parseRocmSmi(value: unknown): RocmSnapshot {
  if (!isRocmSmi(value)) throw notAmd('it names no card');
  const cards = Object.entries(value).flatMap(([key, card]) => {
    const index = /^card(\d{1,4})$/.exec(key)?.[1];
    return index !== undefined && isTree(card) ? [cardOf(card, Number(index))] : [];
  });
  const system = isTree(value['system']) ? value['system'] : {};
  return { gpus: cards.toSorted((a, b) => (a.index ?? 0) - (b.index ?? 0)), processes: processesOf(system) };
}

function cardOf(card: Tree, index: number): SmiGpu {
  const unique = smiText(textOf(card, 'Unique ID'));
  const serial = smiText(textOf(card, 'Serial Number'));
  const id = [unique, serial].find((each) => each !== undefined && !/^(?:0x)?0*$/.test(each));
  const model = MODEL_KEYS.map((key) => smiText(textOf(card, key))).find((name) => name !== undefined && !isHex(name));
  const totalMib = smiColumn(textOf(card, 'VRAM Total Memory (B)'), 1 / BYTES_PER_MIB, 100_000_000);
  const usedMib = smiColumn(textOf(card, 'VRAM Total Used Memory (B)'), 1 / BYTES_PER_MIB, 100_000_000);
  const dram = smiColumn(textOf(card, 'GPU Memory Read/Write Activity (%)'), 10, 1000);
  const values = smiValues({ util: textOf(card, 'GPU use (%)'), power: POWER_KEYS.map((key) => textOf(card, key)) });
  return {
    ...(id !== undefined && { id }),
    index,
    ...(model !== undefined && { model }),
    ...(totalMib !== undefined && { totalMib }),
    values: {
      ...values,
      ...(usedMib !== undefined && { fb_used_mib: usedMib }),
      ...(dram !== undefined && { dram_permille: dram }),
    },
    slices: [],
    processes: [],
  };
}

/** `"PID104225": "mlir-cpu-runner, 0, 0, 0, 0"`: its name, GPUs, memory, and what else it uses. */
function processesOf(system: Tree): RocmProcess[] {
  return Object.entries(system).flatMap(([key, value]) => {
    const pid = /^PID(\d{1,10})$/.exec(key)?.[1];
    if (pid === undefined || typeof value !== 'string') return [];
    const parts = value.split(',').map((part) => part.trim());
    const gpus = smiNumber(parts.at(-4)) ?? 0;
    return [{ pid: Number(pid), name: parts.slice(0, -4).join(', ') || (parts[0] ?? ''), gpus: Math.max(0, gpus) }];
  });
}

/** Is this what `amd-smi metric --json`, `list` or `static` prints: a list of GPUs? */
export function isAmdSmi(value: unknown): boolean {
  const list = amdList(value);
  return list.length > 0 && list.every((gpu) => numberOf(gpu['gpu']) !== undefined);
}

function amdList(value: unknown): Tree[] {
  const list: unknown = isTree(value) ? value['gpu_data'] : value;
  return Array.isArray(list) ? list.filter(isTree) : [];
}

/** What do these outputs of `amd-smi … --json` say together? What one leaves out another may have. */
export function parseAmdSmi(values: readonly unknown[]): RocmSnapshot {
  const byIndex = new Map<number, Tree>();
  for (const gpu of values.flatMap(amdList)) {
    const index = numberOf(gpu['gpu']);
    if (index !== undefined) byIndex.set(index, { ...byIndex.get(index), ...gpu });
  }
  if (byIndex.size === 0) throw notAmd('it names no GPU');
  return { gpus: [...byIndex].map(([index, gpu]) => amdGpu(gpu, index)), processes: [] };
}

function amdGpu(gpu: Tree, index: number): SmiGpu {
  const [usage, memory, power, asic] = ['usage', 'mem_usage', 'power', 'asic'].map((key) => treeAt(gpu, key));
  const id = [gpu['uuid'], asic?.['asic_serial']].map(plainText).find((each) => each !== undefined);
  const model = plainText(asic?.['market_name']);
  const watts = ['socket_power', 'current_socket_power', 'average_socket_power'].map((key) => plainText(power?.[key]));
  const gfx = smiColumn(plainText(usage?.['gfx_activity']), 10, 1000);
  const dram = smiColumn(plainText(usage?.['umc_activity']), 10, 1000);
  const totalMib = smiColumn(plainText(memory?.['total_vram']), 1, 100_000_000);
  return {
    ...(id !== undefined && { id }),
    index,
    ...(model !== undefined && { model }),
    ...(totalMib !== undefined && { totalMib }),
    values: {
      ...smiValues({ usedMib: plainText(memory?.['used_vram']), power: watts }),
      ...(gfx !== undefined && { engine_permille: gfx }),
      ...(dram !== undefined && { dram_permille: dram }),
    },
    slices: [],
    processes: [],
  };
}

/** A value is a text, a number, or `{"value": 139, "unit": "W"}`. */
function plainText(value: unknown): string | undefined {
  const bare = isTree(value) ? value['value'] : value;
  return typeof bare === 'number' ? String(bare) : typeof bare === 'string' ? smiText(bare) : undefined;
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : undefined;
}

function treeAt(tree: Tree, key: string): Tree | undefined {
  const found = tree[key];
  return isTree(found) ? found : undefined;
}

function textOf(tree: Tree, key: string): string | undefined {
  const found = Object.hasOwn(tree, key) ? tree[key] : undefined;
  return typeof found === 'string' ? found : undefined;
}

function isHex(text: string): boolean {
  return /^0x[0-9a-f]+$/i.test(text);
}

function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
