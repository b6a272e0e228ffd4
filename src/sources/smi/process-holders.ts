import { migDeviceId } from '../../facts/source.ts';
import type { HolderStay, SeenHolder } from '../gpu-metrics/holder-stays.ts';
import type { ProcessOwner, ToolAnswer } from './local-tool.ts';
import { smiDeviceId } from './smi-gpu.ts';

/** The start of a program is told by how long it runs, in whole seconds: two looks may differ by this much. */
const START_SLACK_S = 3;

interface Use {
  readonly pid: number;
  readonly name: string;
  readonly deviceId?: string;
  readonly gpuCount: number;
}

/** Programs that compute, and where. Those that only draw a screen hold nothing anybody waits for. */
export function computingUses({ snapshot, processes }: ToolAnswer, nodeId: string): { uses: Use[]; drawing: number } {
  const uses: Use[] = [];
  let drawing = 0;
  for (const gpu of snapshot.gpus) {
    const gpuId = smiDeviceId(gpu, nodeId);
    if (gpuId === undefined) continue;
    for (const { pid, type, name, instance } of gpu.processes) {
      if (type !== 'C' && type !== 'M+C') drawing += 1;
      else
        uses.push({ pid, name, deviceId: instance === undefined ? gpuId : migDeviceId(gpuId, instance), gpuCount: 1 });
    }
  }
  for (const { pid, name, gpus } of processes) if (gpus > 0) uses.push({ pid, name, gpuCount: gpus });
  return { uses, drawing };
}

/**
 * Who holds which GPU of this machine? Whoever has a program on it that computes.
 *
 * Several programs on one GPU share it by turns. A program is known by its id and its start, since ids come again.
 */
export function processHolders(
  uses: readonly Use[],
  owners: ReadonlyMap<number, ProcessOwner>,
  before: readonly HolderStay[],
  nodeId: string,
  at: Date,
): SeenHolder[] {
  const idOf = programIds(before, nodeId);
  return uses.map(({ pid, name, deviceId, gpuCount }) => {
    const owner = owners.get(pid);
    const startMs = owner === undefined ? undefined : at.getTime() - owner.runningS * 1000;
    const { id, from } = idOf(pid, startMs, at);
    // A start that ps does not tell is not the moment of this look.
    const isStartKnown = startMs !== undefined;
    const command = baseName(name) || owner?.command || '';
    return {
      id,
      ...(deviceId !== undefined && { deviceId }),
      gpuCount,
      nodeId,
      ...(isStartKnown && { from }),
      columns: {
        source: 'process',
        isolation: 'time-slice',
        workload_kind: 'Process',
        ...(owner !== undefined && { user_name: owner.user }),
        ...(command !== '' && { workload_name: command }),
      },
    };
  });
}

/** Ids of programs that are known already stay as they are, however the reading of their start trembles. */
function programIds(before: readonly HolderStay[], nodeId: string) {
  const known = new Map<string, number>();
  for (const { id } of before) known.set(id, Number(id.slice(id.lastIndexOf('/') + 1)));
  return (pid: number, startMs: number | undefined, at: Date): { id: string; from: Date } => {
    const head = `${nodeId}/${pid}/`;
    const startS = startMs === undefined ? undefined : Math.floor(startMs / 1000);
    for (const [id, knownS] of known) {
      if (!id.startsWith(head)) continue;
      if (startS === undefined || Math.abs(knownS - startS) <= START_SLACK_S)
        return { id, from: new Date(knownS * 1000) };
    }
    const fromS = startS ?? Math.floor(at.getTime() / 1000);
    known.set(`${head}${fromS}`, fromS);
    return { id: `${head}${fromS}`, from: new Date(fromS * 1000) };
  };
}

function baseName(path: string): string {
  // What drivers say instead of a name: of another user's program, or of one that has just ended.
  if (/^\[.*\]$|^-$/.test(path)) return '';
  return path.slice(path.lastIndexOf('/') + 1).trim();
}
