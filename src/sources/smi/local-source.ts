import { z } from 'zod';
import { OperationError } from '../../facts/operation-error.ts';
import type {
  Advice,
  FactRows,
  Haul,
  PullRequest,
  RunCommand,
  Skipped,
  Source,
  SourceHealth,
} from '../../facts/source.ts';
import { factsOfReadings } from '../gpu-metrics/gpu-reading.ts';
import type { GpuReading } from '../gpu-metrics/gpu-reading.ts';
import { holderFacts, HolderStays } from '../gpu-metrics/holder-stays.ts';
import type { HolderStay, SeenHolder } from '../gpu-metrics/holder-stays.ts';
import { deviceChanges, KnownDevicesCursor, NO_DEVICES } from '../gpu-metrics/known-devices.ts';
import { askTool, processOwners } from './local-tool.ts';
import type { Machine, ProcessOwner, ToolAnswer } from './local-tool.ts';
import { computingUses, processHolders } from './process-holders.ts';
import { smiReadings } from './smi-gpu.ts';

export interface LocalOptions {
  readonly name: string;
  readonly run: RunCommand;
  /** What to put before every program, e.g. `['ssh', 'box1']`. */
  readonly prefix?: readonly string[];
  /** The name the machine goes by. */
  readonly hostname: string;
  readonly pollS?: number;
}

const POLL_S = 30;
const PRIORITY = 10;
/** As in the ledger: a longer time without a look is a time of which nothing is known. */
const GAP_POLLS = 3;

const Cursor = z.object({ known: KnownDevicesCursor, stays: HolderStays, lookedAt: z.iso.datetime().optional() });
const FIRST: z.infer<typeof Cursor> = { known: NO_DEVICES, stays: [] };

/**
 * The GPUs of one machine, by nvidia-smi, rocm-smi or amd-smi, there or over ssh, and who computes on them.
 *
 * A GPU is held by those whose programs compute on it; one without such a program is unallocated. The tools know only the
 * present, so what was before the first look is a gap.
 */
export function localSource(options: LocalOptions): Source {
  const { name, prefix = [], hostname, pollS = POLL_S } = options;
  const way = prefix.length === 0 ? '' : ` through ${prefix.join(' ')}`;
  return {
    name,
    kind: 'local',
    reads: `the GPUs of ${hostname} and the owners of programs on them, by nvidia-smi or rocm-smi and ps${way}`,
    priority: PRIORITY,
    pollS,
    check: (signal) => check({ run: options.run, prefix, signal }),
    pull: (cursor, request) => pull(options, pollS, cursor, request),
  };
}

async function check(machine: Machine): Promise<SourceHealth> {
  try {
    const answer = await askTool(machine);
    const { gpus } = answer.snapshot;
    const models = [...new Set(gpus.flatMap(({ model }) => model ?? []))].join(', ');
    if (gpus.length === 0) {
      return {
        state: 'down',
        says: `${answer.tool} lists no GPU`,
        todo: 'check with lspci that the machine has one, and that the driver is loaded',
        advice: [],
      };
    }
    const count = `${gpus.length} GPU${gpus.length === 1 ? '' : 's'}`;
    return {
      state: 'ok',
      says: `${answer.tool}: ${count}${models === '' ? '' : `, ${models}`}`,
      gpus: gpus.length,
      advice: adviceFor(answer),
    };
  } catch (failure) {
    if (!(failure instanceof OperationError)) throw failure;
    return {
      state: 'down',
      says: failure.message,
      ...(failure.hint !== undefined && { todo: failure.hint }),
      advice: [],
    };
  }
}

function adviceFor({ snapshot, tool }: ToolAnswer): Advice[] {
  const hasSlices = snapshot.gpus.some(({ slices }) => slices.length > 0);
  if (tool !== 'nvidia-smi' || !hasSlices) return [];
  return [
    {
      missing: 'nvidia-smi measures no activity of MIG slices',
      sharpens: 'tells computing from idle on slices',
      todo: 'run dcgm-exporter on the machine and add to the sources of bursar.yaml: {name: dcgm, scrape: [http://localhost:9400/metrics]}',
    },
  ];
}

/** What one look at a machine sees: its devices, and who computes on them. */
export interface MachineLook {
  readonly tool: ToolAnswer['tool'];
  readonly gpus: ToolAnswer['snapshot']['gpus'];
  readonly readings: readonly GpuReading[];
  readonly holders: readonly SeenHolder[];
  readonly skipped: readonly Skipped[];
}

/** Looks at a machine now. `before` keeps the ids of programs that were seen already. */
export async function lookAtMachine(
  { run, prefix = [], hostname }: LocalOptions,
  before: readonly HolderStay[],
  at: Date,
  signal: AbortSignal,
): Promise<MachineLook> {
  const machine: Machine = { run, prefix, signal };
  const answer = await askTool(machine);
  const { uses, drawing } = computingUses(answer, hostname);
  const owners = await ownersOf(machine, [...new Set(uses.map(({ pid }) => pid))]);
  return {
    tool: answer.tool,
    gpus: answer.snapshot.gpus,
    readings: smiReadings(answer.snapshot, hostname, at),
    holders: processHolders(uses, owners.known, before, hostname, at),
    skipped: [...drawn(drawing, hostname), ...owners.skipped],
  };
}

async function* pull(options: LocalOptions, pollS: number, given: unknown, request: PullRequest): AsyncGenerator<Haul> {
  const parsed = Cursor.safeParse(given);
  const before = parsed.success ? parsed.data : FIRST;
  const at = new Date(Math.floor(request.now.getTime() / 1000) * 1000);
  const look = await lookAtMachine(options, before.stays, at, request.signal);
  const held = holderFacts(before.stays, look.holders, { at, pollS, answered: new Set([options.hostname]) });
  const changes = deviceChanges(before.known, look.readings, at, undefined);
  const facts = factsOfReadings(look.readings, { stepS: pollS });
  yield {
    facts: [
      ...rowsOf('gpu_sample', `samples/${at.toISOString().slice(0, 13)}`, facts.samples),
      ...rowsOf('device', 'devices', changes.devices),
      ...rowsOf('node', 'nodes', changes.nodes),
      ...held.facts,
    ],
    bindings: facts.bindings,
    skipped: look.skipped,
    gaps: parsed.success
      ? unseen(before.lookedAt, at, pollS)
      : request.since === undefined || request.since >= at
        ? []
        : [{ from: request.since, until: at, reason: `${look.tool} knows only the present: nothing from before` }],
    cursor: { known: changes.cursor, stays: held.stays, lookedAt: at.toISOString() },
    coveredUntil: at,
    gpus: { seen: look.gpus.length, notRead: 0 },
  };
}

/** The time since the last look, where that was too long ago to be part of what was seen. */
function unseen(lookedAt: string | undefined, until: Date, pollS: number): NonNullable<Haul['gaps']> {
  if (lookedAt === undefined) return [];
  const from = new Date(lookedAt);
  const isGap = until.getTime() - from.getTime() > GAP_POLLS * pollS * 1000;
  return isGap ? [{ from, until, reason: 'nobody looked: the tools know only the present' }] : [];
}

function rowsOf(table: FactRows['table'], batch: string, rows: FactRows['rows']): FactRows[] {
  return rows.length === 0 ? [] : [{ table, batch, mode: 'extend', rows }];
}

function drawn(count: number, example: string): Skipped[] {
  return count === 0 ? [] : [{ reason: 'programs that draw a screen, not counted as holders', count, example }];
}

/** Without `ps` the GPUs and what they do are still worth having: then owners are unknown, and that is told. */
async function ownersOf(
  machine: Machine,
  pids: readonly number[],
): Promise<{ known: ReadonlyMap<number, ProcessOwner>; skipped: readonly Skipped[] }> {
  try {
    const known = await processOwners(machine, pids);
    const missing = pids.filter((pid) => !known.has(pid));
    const reason = 'programs whose owner ps does not know';
    return {
      known,
      skipped: missing.length === 0 ? [] : [{ reason, count: missing.length, example: `pid ${missing[0]}` }],
    };
  } catch (failure) {
    if (!(failure instanceof OperationError) || failure.code === 'stopped') throw failure;
    const reason = 'programs whose owner is unknown because ps cannot be asked';
    return { known: new Map(), skipped: [{ reason, count: pids.length, example: failure.message }] };
  }
}
