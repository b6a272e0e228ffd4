import type { FactRow } from '../../facts/source.ts';
import type { InstanceGpus } from './instance-gpus.ts';

/** How a machine came to whom it is said to belong. */
export interface VmUser {
  readonly name: string;
  /** `tag Owner`, `key name`; shown, so that a guess is known for one. */
  readonly from: string;
}

/** A machine with GPUs that somebody rents, in the words of no cloud. One life of it: a restart begins another. */
export interface CloudVm {
  readonly cloud: 'aws' | 'gcp' | 'azure';
  /** The name the machine goes by; the same in every list it stands in. */
  readonly id: string;
  /** What the bill calls it. */
  readonly resourceId: string;
  readonly billingAccount?: string;
  readonly region?: string;
  readonly zone?: string;
  readonly instanceType: string;
  readonly purchase?: 'on-demand' | 'spot' | 'committed';
  readonly gpus: InstanceGpus;
  readonly vcpu?: number;
  readonly memoryBytes?: number;
  /** The name people gave it. */
  readonly name?: string;
  readonly user?: VmUser;
  readonly from: Date;
  /** Missing: it runs, and is paid for. */
  readonly until?: Date;
  /** Paid for, though nothing can run on it. */
  readonly isDown?: boolean;
  readonly tags: Readonly<Record<string, string>>;
}

/** What a list says beside its machines. */
export interface VmList {
  readonly vms: readonly CloudVm[];
  readonly skipped: readonly VmSkipped[];
  /** What was assumed, and what would make it known. */
  readonly notes: readonly string[];
  /** Entries of the list, machines without GPUs included. */
  readonly listed: number;
}

export interface VmSkipped {
  readonly reason: string;
  readonly count: number;
  readonly example: string;
}

/** Entries that were left out, counted by reason. */
export class SkippedVms {
  readonly #reasons = new Map<string, { count: number; example: string }>();

  add(reason: string, example: string): void {
    const before = this.#reasons.get(reason);
    this.#reasons.set(reason, { count: (before?.count ?? 0) + 1, example: before?.example ?? example });
  }

  countOf(reason: string): number {
    return this.#reasons.get(reason)?.count ?? 0;
  }

  list(): VmSkipped[] {
    return [...this.#reasons].map(([reason, { count, example }]) => ({ reason, count, example }));
  }
}

/** The machine as a row of `node`. Left without observed_at: a row that has not changed stays the same row. */
export function nodeRow(vm: CloudVm, cluster: string): FactRow {
  return {
    node_id: vm.id,
    present_from: vm.from,
    present_until: vm.until,
    resource_id: vm.resourceId,
    provider: vm.cloud,
    billing_account: vm.billingAccount,
    region: vm.region,
    zone: vm.zone,
    instance_type: vm.instanceType,
    purchase: vm.purchase,
    cluster,
    gpu_count: vm.gpus.count,
    vcpu: vm.vcpu,
    memory_bytes: vm.memoryBytes,
    state: vm.isDown === true ? 'down' : 'up',
    presence: 'inventory',
    model: vm.gpus.model,
    tags: plainLabels(vm.tags),
  };
}

/** Where to find who a label's user came from. */
const USER_FROM = 'bursar:user-from';

/**
 * The machine as a row of `allocation`: a plain VM is held, whole, by whoever launched it, from launch to stop.
 *
 * `cluster` is never left out: a holding without one would speak for the machines of every scheduler.
 */
export function allocationRow(
  vm: CloudVm,
  { cluster, observedAt, pollS }: { readonly cluster: string; readonly observedAt: Date; readonly pollS: number },
): FactRow {
  return {
    source: vm.cloud,
    allocation_id: vm.id,
    attempt: 0,
    node_id: vm.id,
    slot: 0,
    held_from: vm.from,
    held_until: vm.until,
    observed_at: observedAt,
    poll_s: pollS,
    gpu_count: vm.gpus.count,
    cpu_millis: vm.vcpu === undefined ? undefined : vm.vcpu * 1000,
    memory_bytes: vm.memoryBytes,
    cluster,
    user_name: vm.user?.name,
    workload_kind: 'VM',
    workload_name: vm.name,
    labels: plainLabels({ ...vm.tags, ...(vm.user !== undefined && { [USER_FROM]: vm.user.from }) }),
    outcome: vm.until === undefined ? 'running' : undefined,
  };
}

/** The labels the ledger understands, however people spell them in tags. */
const UNDERSTOOD = ['team', 'project', 'environment', 'class'] as const;
const SPELT: Readonly<Record<string, (typeof UNDERSTOOD)[number]>> = {
  env: 'environment',
  squad: 'team',
};

/** `Team: nlp` and `team: nlp` are one label; what is spelt as the ledger spells it goes before. */
function plainLabels(tags: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const labels = new Map(Object.entries(tags));
  for (const [key, value] of Object.entries(tags)) {
    const lower = key.toLowerCase();
    const plain = UNDERSTOOD.find((name) => name === lower) ?? (Object.hasOwn(SPELT, lower) ? SPELT[lower] : undefined);
    if (plain !== undefined && !labels.has(plain) && value !== '') labels.set(plain, value);
  }
  return Object.fromEntries(labels);
}
