import { createHash } from 'node:crypto';
import type { Snapshot } from '../../facts/manifest.ts';
import type { StatementClosing } from '../../facts/statement-record.ts';
import { roundLargestRemainder } from '../../money/split.ts';
import { ledgerWindow } from '../window.ts';
import type { ReadSpace } from '../workspace.ts';
import { teamSums } from './month-cube.ts';
import { monthPlus, monthStart } from './month.ts';
import { dueAdjustments, inForce, statedMonths, statedSums } from './settle-statements.ts';
import type { DueAdjustment, MonthSums } from './settle-statements.ts';

const MICROS_PER_CENT = 10_000n;

export interface ReasonedAdjustment extends DueAdjustment {
  readonly reason: string;
  /** All of one closing add up to their rounded total. */
  readonly amountCents: bigint;
}

/** Question: what does the ledger say of closed months beyond what was stated? */
export async function pendingAdjustments(space: ReadSpace): Promise<ReasonedAdjustment[]> {
  const closings = space.statements.closings();
  const ledger = new Map<string, ReadonlyMap<string | null, bigint>>();
  for (const month of statedMonths(closings)) {
    const end = monthStart(monthPlus(month, 1));
    const horizon = space.scope?.horizon ?? end;
    ledger.set(month, await teamSums(space, ledgerWindow(month, horizon > end ? horizon : end, space.scope)));
  }
  const due = dueAdjustments(ledger, closings);
  const cents = roundLargestRemainder(
    due.map(({ usdMicros }) => usdMicros),
    MICROS_PER_CENT,
  );
  const reasons = new Map(
    statedMonths(closings).map((month) => [month, reasonOf(space.snapshot, month, ledger, closings)]),
  );
  return due.map((each, index) => ({
    ...each,
    reason: reasons.get(each.month) ?? '',
    amountCents: (cents[index] ?? 0n) / MICROS_PER_CENT,
  }));
}

/** The content of every bill, by its id: what changes when a bill is issued anew. */
export function billDigests({ batches }: Snapshot): Record<string, string> {
  return Object.fromEntries(
    batches
      .flatMap(({ bill, files }) => {
        if (bill === undefined) return [];
        const digest = createHash('sha256').update(files.map(({ contentHash }) => contentHash).join('\n'));
        return [[bill.billId, digest.digest('hex').slice(0, 16)] as const];
      })
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
}

/** Why a month is not what was stated, as far as the bills and the sums tell. */
function reasonOf(snapshot: Snapshot, month: string, ledger: MonthSums, closings: readonly StatementClosing[]): string {
  const then = inForce(closings).at(-1)?.bills ?? {};
  const now = billDigests(snapshot);
  const touching = new Set(
    snapshot.batches.flatMap(({ bill }) =>
      bill !== undefined && bill.firstDay.slice(0, 7) <= month && bill.lastDay.slice(0, 7) >= month
        ? [bill.billId]
        : [],
    ),
  );
  const ids = Object.keys(now).filter((id) => touching.has(id));
  const gone = Object.keys(then).filter((id) => now[id] === undefined && id.endsWith(`|${month}`));
  const words = [
    ...ids.filter((id) => then[id] !== undefined && then[id] !== now[id]).map((id) => `bill ${id} issued anew`),
    ...ids.filter((id) => then[id] === undefined).map((id) => `bill ${id} came later`),
    ...gone.map((id) => `bill ${id} withdrawn`),
  ];
  if (words.length > 0) return words.join('; ');
  const total = (sums: ReadonlyMap<string | null, bigint> | undefined): bigint =>
    [...(sums?.values() ?? [])].reduce((sum, micros) => sum + micros, 0n);
  const isMoved = total(ledger.get(month)) === total(statedSums(closings).get(month));
  return isMoved ? 'owners changed: rules, labels or tags' : 'facts changed: inventory, jobs, samples or rates';
}
