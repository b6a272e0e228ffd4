import type { FactRows } from '../../facts/source.ts';
import { allocationRow, nodeRow } from './vm.ts';
import type { CloudVm } from './vm.ts';

/** A machine that ran when it was last seen. */
export interface OpenVm {
  readonly vm: CloudVm;
  readonly seenAt: Date;
}

/** What must be remembered from one list to the next: clouds forget a machine an hour after it is gone. */
export interface VmMemory {
  readonly open: readonly OpenVm[];
  /** Lives that have ended and were told, by machine: those that lists still show. */
  readonly told: Readonly<Record<string, string>>;
}

export const NO_MEMORY: VmMemory = { open: [], told: {} };

export interface VmChange {
  readonly memory: VmMemory;
  /** Ended since the last list. */
  readonly ended: readonly CloudVm[];
  /** Gone from the list without a word on when: taken to have ended when they were last seen. */
  readonly vanished: readonly CloudVm[];
}

/**
 * Question: which machines run, and which have ended since the last list?
 *
 * A machine that is missing from a list has ended, unless the part of the cloud it stood in did not answer this time:
 * `isAnswered` tells. When it ended is not known then, only that it still ran when last seen; no later second is claimed.
 */
export function compareLists(
  memory: VmMemory,
  listed: readonly CloudVm[],
  seenAt: Date,
  isAnswered: (vm: CloudVm) => boolean,
): VmChange {
  const running = listed.filter(({ until }) => until === undefined);
  const over = listed.filter(({ until }) => until !== undefined);
  const lives = new Map(listed.map((vm) => [lifeOf(vm), vm]));
  const unanswered = memory.open.filter(({ vm }) => !lives.has(lifeOf(vm)) && !isAnswered(vm));
  const vanished = memory.open
    .filter(({ vm }) => !lives.has(lifeOf(vm)) && isAnswered(vm))
    .map(({ vm, seenAt: last }) => ({ ...vm, until: later(last, vm.from) }));
  const told = new Map<string, string>();
  const ended: CloudVm[] = [];
  for (const vm of over) {
    if (memory.told[vm.id] !== vm.from.toISOString()) ended.push(vm);
    told.set(vm.id, vm.from.toISOString());
  }
  return {
    memory: {
      open: [...running.map((vm) => ({ vm, seenAt })), ...unanswered],
      told: Object.fromEntries(told),
    },
    ended: [...ended, ...vanished],
    vanished,
  };
}

function lifeOf({ id, from }: CloudVm): string {
  return `${from.toISOString()} ${id}`;
}

function later(a: Date, b: Date): Date {
  return a > b ? a : b;
}

/**
 * The machines as facts. What runs is told whole each time, so that a machine a better source has come to list can be left
 * out; what has ended is added to its day and stays.
 */
export function vmFacts(
  change: Pick<VmChange, 'memory' | 'ended'>,
  options: { readonly cluster: string; readonly pollS: number },
): FactRows[] {
  const { cluster, pollS } = options;
  const days = new Map<string, CloudVm[]>();
  for (const vm of change.ended) {
    const day = (vm.until ?? vm.from).toISOString().slice(0, 10);
    days.set(day, [...(days.get(day) ?? []), vm]);
  }
  const open = change.memory.open;
  return [
    { table: 'node', batch: 'nodes/open', mode: 'replace', rows: open.map(({ vm }) => nodeRow(vm, cluster)) },
    {
      table: 'allocation',
      batch: 'open',
      mode: 'replace',
      rows: open.map(({ vm, seenAt }) => allocationRow(vm, { cluster, pollS, observedAt: seenAt })),
    },
    ...[...days].flatMap(([day, vms]): FactRows[] => [
      { table: 'node', batch: `nodes/ended/${day}`, mode: 'extend', rows: vms.map((vm) => nodeRow(vm, cluster)) },
      {
        table: 'allocation',
        batch: `ended/${day}`,
        mode: 'extend',
        rows: vms.map((vm) => allocationRow(vm, { cluster, pollS, observedAt: vm.until ?? vm.from })),
      },
    ]),
  ];
}
