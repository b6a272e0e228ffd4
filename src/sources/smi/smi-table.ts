import { smiValues } from './smi-gpu.ts';
import type { SmiGpu, SmiProcess, SmiSlice, SmiSnapshot } from './smi-gpu.ts';
import { smiColumn, smiText, smiWallMs } from './smi-value.ts';

const GPU_HEAD = /^\|\s+(\d{1,4})\s+(\S.*?)\s+(?:On|Off|N\/A)\s*\|\s+[0-9A-Fa-f]{4,8}:/;
const GPU_USE =
  /^\|\s*(?:N\/A|\d+%|ERR!)\s+\S+\s+\S+\s+(\S+)\s*\/\s*(\S+)\s*\|\s*(\S+)\s*\/\s*(\S+)\s*\|\s*(\S+)\s+\S+.*\|/;
const SLICE = /^\|\s+(\d{1,4})\s+(\d{1,4})\s+(?:\d{1,4}|N\/A)\s+(\d{1,4})\s+\|\s*(\d+)MiB\s*\/\s*(\d+)MiB\s*\|/;
const PROCESS =
  /^\|\s+(\d{1,4})\s+(\d{1,4}|N\/A)\s+(?:\d{1,4}|N\/A)\s+(\d{1,10})\s+([A-Z+]{1,5})\s+(\S.*?)\s+(\d+MiB|N\/A)\s*\|/;

type Draft = SmiGpu & { readonly slices: SmiSlice[]; readonly processes: SmiProcess[] };

/**
 * What does the table say that `nvidia-smi` prints without options? It has no ids, and cuts long names: its GPUs go by their
 * index.
 */
export function parseSmiTable(text: string): SmiSnapshot {
  const lines = text.split('\n');
  const wallMs = lines
    .slice(0, 5)
    .map((line) => smiWallMs(line))
    .find((ms) => ms !== undefined);
  const gpus = new Map<number, Draft>();
  let head: { index: number; model: string } | undefined;
  for (const line of lines) {
    const begun = GPU_HEAD.exec(line);
    if (begun !== null) {
      head = { index: Number(begun[1]), model: begun[2] ?? '' };
      continue;
    }
    const use = head === undefined ? null : GPU_USE.exec(line);
    if (head !== undefined && use !== null) {
      gpus.set(head.index, gpuOf(head, use));
      head = undefined;
      continue;
    }
    const slice = SLICE.exec(line);
    if (slice !== null) addSlice(gpus.get(Number(slice[1])), slice);
    const process = PROCESS.exec(line);
    if (process !== null) addProcess(gpus.get(Number(process[1])), process);
  }
  return { ...(wallMs !== undefined && { wallMs }), gpus: [...gpus.values()] };
}

function gpuOf({ index, model }: { index: number; model: string }, use: RegExpExecArray): Draft {
  const [, power, , usedMib, total, util] = use;
  const totalMib = smiColumn(total, 1, 100_000_000);
  return {
    index,
    // A name that was cut off prices nothing, and might price the wrong thing.
    ...(!model.endsWith('...') && { model }),
    ...(totalMib !== undefined && { totalMib }),
    values: smiValues({ util, usedMib, power: [power] }),
    slices: [],
    processes: [],
  };
}

function addSlice(gpu: Draft | undefined, [, , instance = '', index, used, total]: RegExpExecArray): void {
  if (gpu === undefined || gpu.slices.some((slice) => slice.instance === instance)) return;
  const [usedMib, totalMib] = [used, total].map((text) => smiColumn(text, 1, 100_000_000));
  gpu.slices.push({
    instance,
    index: Number(index),
    ...(usedMib !== undefined && { usedMib }),
    ...(totalMib !== undefined && { totalMib }),
  });
}

function addProcess(gpu: Draft | undefined, [, , instance, pid, type = '?', name = '', used]: RegExpExecArray): void {
  const [slice, usedMib] = [smiText(instance), smiColumn(used, 1, 100_000_000)];
  gpu?.processes.push({
    pid: Number(pid),
    type,
    name,
    ...(usedMib !== undefined && { usedMib }),
    ...(slice !== undefined && { instance: slice }),
  });
}
