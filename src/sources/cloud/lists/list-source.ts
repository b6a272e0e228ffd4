import type { Haul, Source, SourceHealth } from '../../../facts/source.ts';
import { OperationError } from '../../../facts/operation-error.ts';
import { cursorOf, readCursor } from '../cloud-cursor.ts';
import { wholeSecond } from '../json-fields.ts';
import { readListFile } from './list-file.ts';
import type { ListCommand } from './list-file.ts';
import type { VmList } from '../vm.ts';
import { compareLists, vmFacts } from '../vm-lives.ts';

/** A list is believed until a newer one is there: nobody polls a file. */
export const LIST_POLL_S = 366 * 86_400;
const OLD_LIST_DAYS = 2;
const POLL_S = 300;
const PRIORITY = 5;

export interface ListSourceOptions {
  readonly name: string;
  /** The file that the cloud's command line wrote. */
  readonly file: string;
  readonly cluster?: string;
}

/**
 * A source that reads what a cloud's command line wrote to a file, again whenever the file is a newer one.
 *
 * Machines that a newer list no longer has have ended: they stay in the ledger up to when they were last listed.
 */
export function listSource(
  kind: 'gcp' | 'azure',
  { name, file, cluster = name }: ListSourceOptions,
  made: ListCommand,
  read: (entries: readonly unknown[]) => VmList,
): Source {
  return {
    name,
    kind,
    reads: `GPU machines in ${file}, as ${made.command} prints them`,
    priority: PRIORITY,
    pollS: POLL_S,
    check: async () => healthOf(file, made, read),
    async *pull(cursor, request): AsyncGenerator<Haul> {
      request.signal.throwIfAborted();
      request.progress(`${name}: reading ${file}`);
      const { entries, writtenAt } = await readListFile(file, made);
      const { memory, rest } = readCursor(cursor);
      const observedAt = wholeSecond(writtenAt);
      if (rest['writtenAt'] === writtenAt.toISOString()) {
        yield { facts: [], cursor, coveredUntil: observedAt };
        return;
      }
      const list = read(entries);
      const change = compareLists(memory, list.vms, observedAt, () => true);
      yield {
        facts: vmFacts(change, { cluster, pollS: LIST_POLL_S }),
        skipped: list.skipped.filter(({ reason }) => reason !== 'no GPU'),
        cursor: cursorOf(change.memory, { writtenAt: writtenAt.toISOString() }),
        coveredUntil: observedAt,
        gpus: { seen: gpusOf(list), notRead: 0 },
      };
    },
  };
}

function gpusOf({ vms }: VmList): number {
  return vms.filter(({ until }) => until === undefined).reduce((sum, { gpus }) => sum + gpus.count, 0);
}

async function healthOf(
  file: string,
  made: ListCommand,
  read: (entries: readonly unknown[]) => VmList,
): Promise<SourceHealth> {
  try {
    const { entries, writtenAt } = await readListFile(file, made);
    const list = read(entries);
    const ageDays = Math.floor((Date.now() - writtenAt.getTime()) / 86_400_000);
    const isOld = ageDays >= OLD_LIST_DAYS;
    const running = list.vms.filter(({ until }) => until === undefined).length;
    return {
      state: isOld ? 'partial' : 'ok',
      says:
        `${running} running GPU machines with ${gpusOf(list)} GPUs of ${list.listed} listed; ` +
        `the list is of ${writtenAt.toISOString().slice(0, 16)}Z${isOld ? `, ${ageDays} days old` : ''}`,
      gpus: gpusOf(list),
      ...(isOld && { todo: `${made.command} > ${file}` }),
      advice: [
        ...(running === 0 ? [] : [ACTIVITY_ADVICE]),
        ...list.skipped
          .filter(({ reason }) => reason.includes('nobody here knows'))
          .map(({ reason, count, example }) => ({
            missing: `${count} machines left out: ${reason}, e.g. ${example}`,
            sharpens: 'counts them',
            todo: 'bursar import nodes FILE with node_id, gpu_count and model',
          })),
        ...list.notes.map((note) => ({ missing: note, sharpens: 'says whose it is and since when', todo: note })),
      ],
    };
  } catch (failure) {
    if (!(failure instanceof OperationError)) throw failure;
    return {
      state: 'down',
      says: failure.message,
      advice: [],
      ...(failure.hint !== undefined && { todo: failure.hint }),
    };
  }
}

const ACTIVITY_ADVICE = {
  missing: 'a list of machines says nothing about what their GPUs do: unknown, not idle',
  sharpens: 'tells computing from idle',
  todo: 'on the machine: bursar watch; or from here: bursar.yaml with local: {command_prefix: [ssh, MACHINE]}',
} as const;
