import { z } from 'zod';
import type { FactRow, FactRows } from '../../facts/source.ts';

/** A holder seen on a device, from when to when: what is remembered between two looks. */
const HolderStay = z.object({
  id: z.string(),
  /** Undefined where only the number of its GPUs is known. */
  deviceId: z.string().optional(),
  gpuCount: z.number(),
  /** Its place among the devices of the holder, kept for good: part of the key of its rows. */
  slot: z.number(),
  nodeId: z.string(),
  from: z.iso.datetime(),
  last: z.iso.datetime(),
  /** Columns of `allocation` beside those that follow from the above. */
  columns: z.record(z.string(), z.string()),
});
export type HolderStay = z.infer<typeof HolderStay>;
export const HolderStays = z.array(HolderStay);

/** A holder as one look sees it. */
export interface SeenHolder {
  readonly id: string;
  readonly deviceId?: string;
  readonly gpuCount?: number;
  readonly nodeId: string;
  /** Since when, if that is known better than by looking. */
  readonly from?: Date;
  readonly columns: Readonly<Record<string, string>>;
}

export interface HolderLook {
  readonly at: Date;
  readonly pollS: number;
  /** Machines that answered; of the others nothing is known to have ended. */
  readonly answered: ReadonlySet<string>;
}

export interface HolderFacts {
  readonly facts: readonly FactRows[];
  readonly stays: readonly HolderStay[];
}

/**
 * Who holds what now, and who has gone since the last look?
 *
 * Those who are there fill the batch `open`, which the next look replaces; those who have gone are added to the batch of their
 * day, and end one poll after they were last seen. While a machine does not answer, its holders stay as they were last seen.
 */
export function holderFacts(before: readonly HolderStay[], seen: readonly SeenHolder[], look: HolderLook): HolderFacts {
  const known = new Map(before.map((stay) => [keyOf(stay), stay]));
  const slots = new Map<string, number>();
  for (const { id, slot } of before) slots.set(id, Math.max(slots.get(id) ?? 0, slot + 1));
  const at = look.at.toISOString();
  const now = new Map<string, HolderStay>();
  for (const { id, deviceId, gpuCount = 1, nodeId, from, columns } of seen.toSorted(byDevice)) {
    const key = keyOf({ id, deviceId });
    const stay = known.get(key) ?? now.get(key);
    const slot = stay?.slot ?? slots.get(id) ?? 0;
    if (stay === undefined) slots.set(id, slot + 1);
    const since = stay?.from ?? from?.toISOString() ?? at;
    now.set(key, {
      id,
      ...(deviceId !== undefined && { deviceId }),
      gpuCount,
      slot,
      nodeId,
      from: since,
      last: at,
      columns,
    });
  }
  const missing = before.filter((stay) => !now.has(keyOf(stay)));
  const ended = missing.filter(({ nodeId }) => look.answered.has(nodeId));
  const stays = [...now.values(), ...missing.filter(({ nodeId }) => !look.answered.has(nodeId))];
  const open = stays.map((stay) => ({
    ...rowOf(stay, look),
    observed_at: new Date(stay.last),
    outcome: 'running',
  }));
  return {
    facts: [{ table: 'allocation', batch: 'open', mode: 'replace', rows: open }, ...endedRows(ended, look)],
    stays,
  };
}

function keyOf({ id, deviceId }: { readonly id: string; readonly deviceId?: string | undefined }): string {
  return `${id} ${deviceId ?? ''}`;
}

function byDevice(a: SeenHolder, b: SeenHolder): number {
  const [left, right] = [keyOf(a), keyOf(b)];
  return left < right ? -1 : left > right ? 1 : 0;
}

function rowOf(stay: HolderStay, { pollS }: HolderLook): FactRow {
  return {
    allocation_id: stay.id,
    attempt: 0,
    node_id: stay.nodeId,
    slot: stay.slot,
    held_from: new Date(stay.from),
    poll_s: pollS,
    device_id: stay.deviceId,
    gpu_count: stay.gpuCount,
    ...stay.columns,
  };
}

function endedRows(ended: readonly HolderStay[], look: HolderLook): FactRows[] {
  if (ended.length === 0) return [];
  const rows = ended.map((stay) => ({
    ...rowOf(stay, look),
    held_until: new Date(Math.min(look.at.getTime(), Date.parse(stay.last) + look.pollS * 1000)),
    observed_at: look.at,
  }));
  return [{ table: 'allocation', batch: `ended/${look.at.toISOString().slice(0, 10)}`, mode: 'extend', rows }];
}
