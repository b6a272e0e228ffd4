import { SHARE_UNITS } from '../../../facts/column.ts';
import type { FactRow, HolderHint } from '../../../facts/source.ts';
import type { JobstatsSummary } from '../parse/jobstats.ts';
import { readJobstats } from '../parse/jobstats.ts';
import { outcomeOf } from '../parse/job-state.ts';
import type { NodeGpus, SlurmJob } from '../parse/slurm-job.ts';
import type { GresItem, Tres } from '../parse/tres.ts';
import { migSlots } from '../parse/tres.ts';
import { labelsOf } from './labels.ts';

export interface HoldingContext {
  readonly attempt: number;
  /** Overrides what Slurm calls itself. */
  readonly cluster?: string;
  readonly observedAt?: Date;
  readonly pollS?: number;
  /** Which GPUs of which machine, as they were seen while the job ran. */
  readonly perNode?: readonly NodeGpus[];
  /** GPUs of a machine, where the machines are known; a machine without any gets none. */
  readonly gpusOn?: (node: string) => number | undefined;
  /** Shards that make one GPU there. */
  readonly shardsPerGpuOn?: (node: string) => number | undefined;
}

export interface HoldingRows {
  readonly rows: readonly FactRow[];
  readonly hints: readonly (HolderHint | undefined)[];
}

/** GPUs of one kind on one machine. */
interface Part {
  readonly gpus: number;
  readonly migType?: string;
  readonly shareUnits?: number;
  readonly indices?: readonly number[];
}

/** Devices of a holding are numbered from 0 once telemetry names them; its other kinds begin far beyond. */
const SLOTS_OF_A_KIND = 1000;

/**
 * One life of a job as rows of `allocation`: one for each machine, and for each kind of GPU there.
 *
 * Held is from start to end, suspended time included, because the GPUs stay with the job. How many GPUs each machine gave is known while
 * the job runs; afterwards they are spread evenly over the machines that have any, what is left over by their order, and such rows
 * carry the label `gpu_spread=even`.
 */
export function holdingRows(job: SlurmJob, context: HoldingContext): HoldingRows {
  const { start } = job;
  if (start === undefined) return { rows: [], hints: [] };
  const jobstats = job.adminComment === undefined ? undefined : readJobstats(job.adminComment);
  const spread = spreadOf(job, context, jobstats);
  const machines = job.nodes.length === 0 ? [''] : job.nodes;
  const cpus = shares((job.allocated?.cpus ?? job.cpus) === undefined ? undefined : millisOf(job), machines.length);
  const memory = shares(job.allocated?.memoryBytes, machines.length);
  const labels = {
    ...labelsOf(job, jobstats),
    ...(spread.isAssumed && { gpu_spread: 'even' }),
    ...(job.gpusAreRequested === true && { gpu_count_from: 'request' }),
  };
  const base = baseRow(job, context, labels);
  const rows: FactRow[] = [];
  const hints: (HolderHint | undefined)[] = [];
  for (const [index, node] of machines.entries()) {
    for (const [kind, part] of (spread.parts[index] ?? [{ gpus: 0 }]).entries()) {
      rows.push({
        ...base,
        ...(node !== '' && { node_id: node }),
        ...(kind > 0 && { slot: kind * SLOTS_OF_A_KIND }),
        gpu_count: part.gpus,
        // A part of a GPU on no machine in particular is a part of nothing.
        ...(part.shareUnits !== undefined && node !== '' && { share_units: part.shareUnits }),
        ...(part.migType === undefined
          ? part.shareUnits !== undefined && { isolation: 'fraction' }
          : { isolation: 'mig' }),
        // CPUs and memory stand once for a machine.
        ...(kind === 0 && { cpu_millis: cpus[index], memory_bytes: memory[index] }),
      });
      const isPlaced = part.gpus > 0 && part.indices?.length === part.gpus;
      hints.push(isPlaced ? { gpuIndices: part.indices } : undefined);
    }
  }
  return { rows, hints };
}

function baseRow(job: SlurmJob, context: HoldingContext, labels: Record<string, string>): FactRow {
  const cluster = context.cluster ?? job.cluster;
  const outcome = job.state === undefined ? undefined : outcomeOf(job.state);
  return {
    source: 'slurm',
    allocation_id: job.jobId,
    attempt: context.attempt,
    held_from: new Date((job.start ?? 0) * 1000),
    ...(job.end !== undefined && { held_until: new Date(job.end * 1000) }),
    ...(context.observedAt !== undefined && { observed_at: context.observedAt }),
    ...(context.pollS !== undefined && { poll_s: context.pollS }),
    ...(cluster !== undefined && { cluster }),
    ...(job.account !== undefined && { account: job.account }),
    ...(job.user !== undefined && { user_name: job.user }),
    workload_kind: 'Job',
    ...(job.name !== undefined && { workload_name: job.name }),
    ...(Object.keys(labels).length > 0 && { labels }),
    ...(job.submit !== undefined && { submitted_at: new Date(job.submit * 1000) }),
    ...(outcome !== undefined && { outcome }),
  };
}

function millisOf(job: SlurmJob): number {
  return (job.allocated?.cpus ?? job.cpus ?? 0) * 1000;
}

/** Parts that add up exactly; what is left over goes to the first. */
export function shares(total: number | undefined, parts: number): readonly (number | undefined)[] {
  if (total === undefined) return Array.from({ length: parts }, () => undefined);
  const each = Math.floor(total / parts);
  const left = total - each * parts;
  return Array.from({ length: parts }, (_, index) => each + (index < left ? 1 : 0));
}

interface Spread {
  readonly parts: readonly (readonly Part[])[];
  readonly isAssumed: boolean;
}

function spreadOf(job: SlurmJob, context: HoldingContext, jobstats: JobstatsSummary | undefined): Spread {
  const given = job.allocated ?? job.requested;
  const known = job.perNode ?? context.perNode;
  const total = given?.gpus ?? 0;
  const machines = job.nodes.length === 0 ? [''] : job.nodes;
  if (known !== undefined && known.length > 0 && countOf(known) === total) {
    return {
      parts: machines.map((node) => partsOf(known.find((each) => each.node === node)?.items ?? [])),
      isAssumed: false,
    };
  }
  if (total === 0) return shardSpread(given, machines, context);
  const able = machines.map((node) => context.gpusOn?.(node) !== 0);
  const takers = able.some(Boolean) ? able : machines.map(() => true);
  const takerCount = takers.filter(Boolean).length;
  const counts = shares(total, takerCount);
  let next = 0;
  const kind = onlyKind(given);
  const parts = machines.map((node, index) => {
    if (takers[index] !== true) return [{ gpus: 0 }];
    const gpus = counts[next] ?? 0;
    next += 1;
    return [{ gpus, ...kind, ...(kind.migType === undefined && placesFrom(jobstats, node, gpus)) }];
  });
  return { parts, isAssumed: total % takerCount !== 0 };
}

function countOf(known: readonly NodeGpus[]): number {
  return known.reduce((sum, { items }) => sum + items.reduce((inner, { count }) => inner + count, 0), 0);
}

/** Whole GPUs together, each MIG profile apart. Places of slices are no places of GPUs. */
function partsOf(items: readonly GresItem[]): readonly Part[] {
  const whole = items.filter(({ type }) => type === undefined || migSlots(type) === undefined);
  const slices = items.filter((item) => !whole.includes(item) && item.count > 0);
  const gpus = whole.reduce((sum, { count }) => sum + count, 0);
  const indices = whole.every((item) => item.count === 0 || item.indices !== undefined)
    ? whole.flatMap((item) => item.indices ?? [])
    : [];
  return [
    ...(gpus > 0 || slices.length === 0 ? [{ gpus, ...(indices.length > 0 && { indices }) }] : []),
    ...slices.map(({ type = '', count }) => ({ gpus: count, ...migPart(type) })),
  ];
}

function migPart(type: string): Pick<Part, 'migType' | 'shareUnits'> {
  const slots = migSlots(type);
  return slots === undefined ? {} : { migType: type, shareUnits: (SHARE_UNITS * slots) / 8 };
}

/** The kind of all GPUs of a job, where there is only one. */
function onlyKind(given: Tres | undefined): Pick<Part, 'migType' | 'shareUnits'> {
  const [only, ...others] = given?.gpuTypes.keys() ?? [];
  return only === undefined || others.length > 0 ? {} : migPart(only);
}

/** jobstats names the GPUs it averaged over: where their number fits, these were the job's. */
function placesFrom(
  jobstats: JobstatsSummary | undefined,
  node: string,
  gpus: number,
): { indices?: readonly number[] } {
  const seen = jobstats?.nodes.find((each) => each.node === node)?.gpus ?? [];
  return seen.length === gpus && gpus > 0 ? { indices: seen.map(({ index }) => index) } : {};
}

/** A share of one GPU, where the node says how many shards make one; else nothing is claimed to be held. */
function shardSpread(given: Tres | undefined, machines: readonly string[], context: HoldingContext): Spread {
  const [only = '', ...others] = machines;
  const perGpu = others.length === 0 ? context.shardsPerGpuOn?.(only) : undefined;
  const shards = given?.shards ?? 0;
  if (shards === 0 || perGpu === undefined || perGpu <= 0 || shards > perGpu) {
    return { parts: machines.map(() => [{ gpus: 0 }]), isAssumed: false };
  }
  return { parts: [[{ gpus: 1, shareUnits: Math.floor((SHARE_UNITS * shards) / perGpu) }]], isAssumed: false };
}
