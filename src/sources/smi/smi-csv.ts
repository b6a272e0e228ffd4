import type { SmiGpu, SmiProcess } from './smi-gpu.ts';
import { smiValues } from './smi-gpu.ts';
import { smiColumn, smiNumber, smiText, smiWallMs } from './smi-value.ts';

/** A line of `--query-gpu`: one GPU at one moment. */
export interface SmiCsvGpu {
  readonly line: number;
  readonly wallMs?: number;
  readonly nodeId?: string;
  readonly gpu: SmiGpu;
}

/** A line of `--query-compute-apps`. */
export interface SmiCsvProcess {
  readonly line: number;
  readonly wallMs?: number;
  readonly gpuId?: string;
  readonly process: SmiProcess;
}

export interface SmiCsv {
  readonly kind: 'gpus' | 'processes' | 'other';
  readonly gpus: readonly SmiCsvGpu[];
  readonly processes: readonly SmiCsvProcess[];
  /** Header lines, one for each time the tool was started, and blank ones. */
  readonly headers: number;
  readonly blank: number;
  readonly notUnderstood: readonly { readonly line: number; readonly reason: string; readonly example: string }[];
}

/** Is this the header nvidia-smi prints above a query? Undefined if not; units in brackets are cut off. */
export function smiCsvHeader(line: string): string[] | undefined {
  const names = cells(line).map((cell) => cell.replace(/\s*\[[^\]]*\]$/, '').trim());
  const isOne = names.length > 1 && names.every((name) => /^[a-z][A-Za-z0-9_.]*$/.test(name));
  const known = names.filter((name) => FIELDS.has(name.split('.')[0] ?? '')).length;
  return isOne && known * 2 > names.length ? names : undefined;
}

/** The first words of the fields that can be queried. */
const FIELDS: ReadonlySet<string> = new Set(
  [
    'timestamp driver_version kmd_version count name serial uuid index hostname pid process_name gpu_name gpu_serial',
    'gpu_bus_id gpu_uuid used_gpu_memory used_memory fan pstate compute_mode compute_cap gpu_util gpu_utilization time',
    'mem_util mem_utilization max_memory_usage c2c pci pcie memory utilization temperature power clocks ecc mig encoder',
    'accounting display_mode display_attached display_active persistence_mode inforom gom retired_pages remapped_rows',
    'enforced clocks_event_reasons clocks_event_reasons_counters clocks_throttle_reasons driver_model vbios_version gsp',
    'vgpu_driver_capability vgpu_device_capability fabric platform protected_memory module power_smoothing',
    'dramEncryption gpu_recovery_action addressing_mode edpp_multiplier',
  ]
    .join(' ')
    .split(' '),
);

function cells(line: string): string[] {
  return line.split(',').map((cell) => cell.trim());
}

/**
 * What does the CSV of `nvidia-smi --query-gpu=…` or `--query-compute-apps=…` say? With units or without, and as a loop prints
 * it, with a header for each start.
 *
 * `columns` names what a text printed with `noheader` has; without it the text must begin with its header.
 */
export function parseSmiCsv(text: string, columns?: readonly string[]): SmiCsv {
  let names = columns;
  const gpus: SmiCsvGpu[] = [];
  const processes: SmiCsvProcess[] = [];
  const notUnderstood: { line: number; reason: string; example: string }[] = [];
  let [headers, blank] = [0, 0];
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  for (const [index, written] of lines.entries()) {
    const line = index + 1;
    if (written.trim() === '') {
      blank += 1;
      continue;
    }
    const header = smiCsvHeader(written);
    if (header !== undefined) {
      names = header;
      headers += 1;
      continue;
    }
    const row = names === undefined ? undefined : rowOf(names, cells(written));
    const found = row === undefined ? undefined : (processAt(row, line) ?? gpuAt(row, line));
    if (found === undefined) {
      const reason =
        names === undefined
          ? 'above the first header'
          : row === undefined
            ? 'another number of columns'
            : 'names no GPU';
      notUnderstood.push({ line, reason, example: written.slice(0, 120) });
    } else if ('process' in found) processes.push(found);
    else gpus.push(found);
  }
  const kind = names === undefined ? 'other' : isOfProcesses(names) ? 'processes' : isOfGpus(names) ? 'gpus' : 'other';
  return { kind, gpus, processes, headers, blank, notUnderstood };
}

type Row = ReadonlyMap<string, string>;

function isOfProcesses(names: readonly string[]): boolean {
  return names.includes('pid') && (names.includes('process_name') || names.includes('name'));
}

function isOfGpus(names: readonly string[]): boolean {
  return (
    !names.some((name) => /^pid$|^retired_pages\.(?:cause|address)$/.test(name)) &&
    (names.includes('uuid') || names.includes('index') || names.includes('gpu_uuid'))
  );
}

function rowOf(names: readonly string[], values: readonly string[]): Row | undefined {
  return values.length === names.length ? new Map(names.map((name, index) => [name, values[index] ?? ''])) : undefined;
}

function first(row: Row, names: readonly string[]): string | undefined {
  return names.map((name) => smiText(row.get(name))).find((value) => value !== undefined);
}

function processAt(row: Row, line: number): SmiCsvProcess | undefined {
  const pid = smiNumber(row.get('pid'));
  // Accounted applications have ended; what they used once is not who holds the GPU now.
  if (pid === undefined || !Number.isInteger(pid) || row.has('max_memory_usage')) return undefined;
  const usedMib = smiColumn(first(row, ['used_gpu_memory', 'used_memory']), 1, 100_000_000);
  const gpuId = first(row, ['gpu_uuid', 'uuid']);
  return {
    line,
    ...wallOf(row),
    ...(gpuId !== undefined && { gpuId }),
    process: {
      pid,
      type: 'C',
      name: first(row, ['process_name', 'name']) ?? '',
      ...(usedMib !== undefined && { usedMib }),
    },
  };
}

function gpuAt(row: Row, line: number): SmiCsvGpu | undefined {
  const id = first(row, ['uuid', 'gpu_uuid']);
  const index = smiNumber(row.get('index'));
  if ((id === undefined && index === undefined) || row.has('pid') || row.has('retired_pages.cause')) return undefined;
  const model = first(row, ['name', 'gpu_name']);
  const nodeId = first(row, ['hostname']);
  const totalMib = smiColumn(row.get('memory.total'), 1, 100_000_000);
  const throttle = smiNumber(first(row, ['clocks_event_reasons.active', 'clocks_throttle_reasons.active']));
  const values = smiValues({
    util: row.get('utilization.gpu'),
    usedMib: row.get('memory.used'),
    power: [row.get('power.draw'), row.get('power.draw.average'), row.get('power.draw.instant')],
  });
  return {
    line,
    ...wallOf(row),
    ...(nodeId !== undefined && { nodeId }),
    gpu: {
      ...(id !== undefined && { id }),
      ...(index !== undefined && { index }),
      ...(model !== undefined && { model }),
      ...(totalMib !== undefined && { totalMib }),
      values: { ...values, ...(throttle !== undefined && throttle <= 0x7fffffff && { throttle }) },
      slices: [],
      processes: [],
    },
  };
}

function wallOf(row: Row): { wallMs?: number } {
  const wallMs = smiWallMs(row.get('timestamp'));
  return wallMs === undefined ? {} : { wallMs };
}
