import { smiValues, throttleMask } from './smi-gpu.ts';
import type { SmiGpu, SmiProcess, SmiSlice, SmiSnapshot } from './smi-gpu.ts';
import { smiColumn, smiNumber, smiText, smiWallMs } from './smi-value.ts';

/** A key of an indented text, its value if it has one, and what is indented below it. */
interface Entry {
  readonly key: string;
  readonly value: string | undefined;
  readonly below: Entry[];
}

const DEPTH_MAX = 20;

/** What does the text of `nvidia-smi -q` say? It names the same things as the XML, by indentation. */
export function parseSmiQuery(text: string): SmiSnapshot {
  const entries = entriesOf(text);
  const wallMs = smiWallMs(valueOf(entries, 'Timestamp'));
  const gpus = entries.filter(({ key, value }) => /^GPU [0-9A-Fa-f:.]+$/.test(key) && value === undefined);
  return { ...(wallMs !== undefined && { wallMs }), gpus: gpus.map((gpu, index) => gpuOf(gpu.below, index)) };
}

function entriesOf(text: string): Entry[] {
  const root: Entry[] = [];
  const open: { indent: number; below: Entry[] }[] = [{ indent: -1, below: root }];
  for (const line of text.split('\n')) {
    const found = /^( *)(\S.*?)(?: *: (.*)| *:)?$/.exec(line.replace(/\s+$/, ''));
    if (found === null) continue;
    const [, spaces = '', key = '', value] = found;
    const entry: Entry = { key, value: value?.trim(), below: [] };
    while (open.length > 1 && (open.at(-1)?.indent ?? -1) >= spaces.length) open.pop();
    open.at(-1)?.below.push(entry);
    if (open.length < DEPTH_MAX) open.push({ indent: spaces.length, below: entry.below });
  }
  return root;
}

function below(entries: readonly Entry[], key: string): readonly Entry[] {
  return entries.find((entry) => entry.key === key)?.below ?? [];
}

function valueOf(entries: readonly Entry[], key: string): string | undefined {
  return entries.find((entry) => entry.key === key)?.value;
}

function gpuOf(entries: readonly Entry[], index: number): SmiGpu {
  const id = smiText(valueOf(entries, 'GPU UUID'));
  const model = smiText(valueOf(entries, 'Product Name'));
  const memory = below(entries, 'FB Memory Usage');
  const totalMib = smiColumn(valueOf(memory, 'Total'), 1, 100_000_000);
  const reasons = [...below(entries, 'Clocks Event Reasons'), ...below(entries, 'Clocks Throttle Reasons')];
  const named = new Map(
    [...reasons, ...reasons.flatMap((entry) => entry.below)].map((each) => [wordOf(each.key), each.value]),
  );
  const throttle = throttleMask((name) => named.get(name));
  const power = [below(entries, 'GPU Power Readings'), below(entries, 'Power Readings')];
  const pci = below(entries, 'PCI');
  const values = smiValues({
    util: valueOf(below(entries, 'Utilization'), 'GPU') ?? valueOf(below(entries, 'Utilization'), 'Gpu'),
    usedMib: valueOf(memory, 'Used'),
    power: power.flatMap((of) =>
      ['Average Power Draw', 'Power Draw', 'Instantaneous Power Draw'].map((key) => valueOf(of, key)),
    ),
    pcieKbS: [valueOf(pci, 'Tx Throughput'), valueOf(pci, 'Rx Throughput')],
  });
  return {
    ...(id !== undefined && { id }),
    index,
    ...(model !== undefined && { model }),
    ...(totalMib !== undefined && { totalMib }),
    values: { ...values, ...(throttle !== undefined && { throttle }) },
    slices: slicesOf(entries),
    processes: processesOf(below(entries, 'Processes')),
  };
}

function wordOf(key: string): string {
  return key.toLowerCase().replaceAll(' ', '_');
}

function slicesOf(entries: readonly Entry[]): SmiSlice[] {
  const byInstance = new Map<string, SmiSlice>();
  for (const { below: device } of entries.filter(({ key }) => key === 'MIG Device')) {
    const instance = smiText(valueOf(device, 'GPU Instance ID'));
    if (instance === undefined || byInstance.has(instance)) continue;
    const named = below(device, 'Shared FB Memory Usage');
    const memory = named.length > 0 ? named : below(device, 'FB Memory Usage');
    const index = smiNumber(valueOf(device, 'Index'));
    const totalMib = smiColumn(valueOf(memory, 'Total'), 1, 100_000_000);
    const usedMib = smiColumn(valueOf(memory, 'Used'), 1, 100_000_000);
    byInstance.set(instance, {
      instance,
      ...(index !== undefined && { index }),
      ...(totalMib !== undefined && { totalMib }),
      ...(usedMib !== undefined && { usedMib }),
    });
  }
  return [...byInstance.values()];
}

/** The slice of a process stands above its id, as its neighbour; the rest of it below. */
function processesOf(entries: readonly Entry[]): SmiProcess[] {
  const processes: SmiProcess[] = [];
  let instance: string | undefined;
  for (const { key, value, below: of } of entries) {
    if (/^GPU instance ID$/i.test(key)) instance = smiText(value);
    if (key !== 'Process ID') continue;
    const pid = smiNumber(value);
    if (pid === undefined || !Number.isInteger(pid)) continue;
    const usedMib = smiColumn(valueOf(of, 'Used GPU Memory'), 1, 100_000_000);
    processes.push({
      pid,
      type: smiText(valueOf(of, 'Type')) ?? '?',
      name: valueOf(of, 'Name') ?? '',
      ...(usedMib !== undefined && { usedMib }),
      ...(instance !== undefined && { instance }),
    });
  }
  return processes;
}

/** A line of `nvidia-smi -L`: a GPU, or a slice below it. */
export interface ListedGpu {
  readonly index: number;
  readonly model: string;
  readonly id: string;
  readonly slices: readonly { readonly index: number; readonly profile: string; readonly id: string }[];
}

/**
 * What does `nvidia-smi -L` list? The only place where profiles of slices are named. `2c.3g.71gb` is a compute instance in a
 * slice `3g.71gb`.
 */
export function parseSmiList(text: string): ListedGpu[] {
  const gpus: (ListedGpu & { slices: { index: number; profile: string; id: string }[] })[] = [];
  for (const line of text.split('\n')) {
    const gpu = /^GPU (\d{1,4}): (.{1,200}) \(UUID: ([\w-]+)\)\s*$/.exec(line);
    if (gpu !== null) gpus.push({ index: Number(gpu[1]), model: gpu[2] ?? '', id: gpu[3] ?? '', slices: [] });
    const slice = /^\s+MIG (\S+)\s+Device\s+(\d{1,4}): \(UUID: ([^)]+)\)\s*$/.exec(line);
    if (slice !== null)
      gpus.at(-1)?.slices.push({
        profile: (slice[1] ?? '').replace(/^\d+c\./, ''),
        index: Number(slice[2]),
        id: slice[3] ?? '',
      });
  }
  return gpus;
}

/** A snapshot whose slices have the profiles a list gives them, and whose GPUs have its ids where they had none. */
export function withList(snapshot: SmiSnapshot, list: readonly ListedGpu[]): SmiSnapshot {
  return {
    ...snapshot,
    gpus: snapshot.gpus.map((gpu) => {
      const listed = list.find(({ id, index }) =>
        gpu.id === undefined ? index === gpu.index : id === gpu.id && index === gpu.index,
      );
      if (listed === undefined) return gpu;
      const slices = gpu.slices.map((slice) => {
        const profile = listed.slices.find(({ index }) => index === slice.index)?.profile;
        return profile === undefined ? slice : { ...slice, profile };
      });
      return { ...gpu, id: gpu.id ?? listed.id, model: gpu.model ?? listed.model, slices };
    }),
  };
}
