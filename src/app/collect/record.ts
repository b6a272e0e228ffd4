import type { OperationError } from '../../facts/operation-error.ts';
import type { CollectedTable, Haul, Skipped, Source } from '../../facts/source.ts';
import type { Gap, SourceRecord } from '../../facts/source-record.ts';
import type { HaulReport } from './write-haul.ts';

/** Reasons and gaps beyond these are old news; the record must not grow for ever. */
const REASONS_KEPT = 50;
const GAPS_KEPT = 200;

export function freshRecord(source: Source, before: SourceRecord | undefined, now: Date): SourceRecord {
  const { name, kind, reads, pollS } = source;
  return {
    ...(before ?? { firstTriedAt: now, rows: {}, skipped: [], gaps: [] }),
    name,
    kind,
    reads,
    pollS,
    lastTriedAt: now,
  };
}

export function withHaul(record: SourceRecord, haul: Haul, report: HaulReport, now: Date): SourceRecord {
  const { error: _, ...fine } = record;
  const rows: Partial<Record<CollectedTable, number>> = { ...record.rows };
  for (const [table, count] of Object.entries(report.rows) as [CollectedTable, number][]) {
    rows[table] = (rows[table] ?? 0) + count;
  }
  const isAhead = record.coveredUntil !== undefined && record.coveredUntil > now;
  const isLater = record.coveredUntil === undefined || isAhead || haul.coveredUntil > record.coveredUntil;
  return {
    ...fine,
    lastOkAt: now,
    ...(isLater && { coveredUntil: haul.coveredUntil }),
    rows,
    skipped: addedUp([...record.skipped, ...(haul.skipped ?? []), ...report.skipped]),
    gaps: joined([...record.gaps, ...(haul.gaps ?? [])].filter(({ from }) => from <= now)),
    ...(haul.gpus !== undefined && { gpus: haul.gpus }),
  };
}

export function withFailure(record: SourceRecord, failure: OperationError, now: Date): SourceRecord {
  const { code, message, hint } = failure;
  return { ...record, error: { at: now, code, message, ...(hint !== undefined && { hint }) } };
}

function addedUp(all: readonly Skipped[]): Skipped[] {
  const reasons = new Map<string, Skipped>();
  for (const each of all) {
    const before = reasons.get(each.reason);
    reasons.set(each.reason, { ...each, count: each.count + (before?.count ?? 0) });
  }
  return [...reasons.values()].slice(-REASONS_KEPT);
}

/** Gaps that touch are one. */
function joined(gaps: readonly Gap[]): Gap[] {
  const ordered = gaps.toSorted((a, b) => a.from.getTime() - b.from.getTime());
  const result: Gap[] = [];
  for (const gap of ordered) {
    const last = result.at(-1);
    if (last !== undefined && gap.from <= last.until && gap.reason === last.reason) {
      result[result.length - 1] = { ...last, until: gap.until > last.until ? gap.until : last.until };
    } else result.push(gap);
  }
  return result.slice(-GAPS_KEPT);
}
