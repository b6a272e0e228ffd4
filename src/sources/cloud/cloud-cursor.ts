import type { VmMemory } from './vm-lives.ts';
import { NO_MEMORY } from './vm-lives.ts';

/** Changes with the shape of what is remembered; what another shape says is not believed. */
const SHAPE = 1;

/** What the next pull begins with, as plain JSON. `rest` is what a single cloud needs beside its machines. */
export function cursorOf(memory: VmMemory, rest: Readonly<Record<string, unknown>> = {}): unknown {
  return JSON.parse(JSON.stringify({ ...rest, shape: SHAPE, memory })) as unknown;
}

/**
 * Question: what was remembered?
 *
 * Cursors are our own words, but come back from a file somebody may have touched: a cursor that does not read well is none, and
 * the list is taken as if for the first time.
 */
export function readCursor(cursor: unknown): {
  readonly memory: VmMemory;
  readonly rest: Readonly<Record<string, unknown>>;
} {
  const none = { memory: NO_MEMORY, rest: {} };
  if (typeof cursor !== 'object' || cursor === null || !('shape' in cursor) || cursor.shape !== SHAPE) return none;
  const { memory, shape, ...rest } = cursor as { shape: number; memory: VmMemory };
  try {
    const open = memory.open.map(({ vm, seenAt }) => ({
      vm: { ...vm, from: time(vm.from), ...(vm.until !== undefined && { until: time(vm.until) }) },
      seenAt: time(seenAt),
    }));
    return shape === SHAPE ? { memory: { open, told: { ...memory.told } }, rest } : none;
  } catch (failure) {
    if (failure instanceof TypeError || failure instanceof RangeError) return none;
    throw failure;
  }
}

function time(text: unknown): Date {
  const date = new Date(String(text));
  if (Number.isNaN(date.getTime())) throw new RangeError('not a time');
  return date;
}
