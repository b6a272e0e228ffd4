import type { Claim, Detector, JudgeContext, Query } from '../../facts/detector.ts';
import { addDays, startOf } from '../../lake/calendar.ts';
import { DETECTORS } from '../../waste/detectors.ts';
import { NODE_GAP, NODE_GAP_READS } from '../../waste/node-gaps.ts';
import { LIVES, LIVES_READ } from '../../waste/runs-sql.ts';
import { WRITTEN, WRITTEN_READ } from '../../waste/saved-work-sql.ts';
import type { PlacedClaim } from '../../waste/settle.ts';
import { WAITED, WAITED_READS } from '../../waste/waiting-jobs.ts';
import type { LedgerWindow } from '../window.ts';
import { daysOf } from '../window.ts';
import type { ReadSpace } from '../workspace.ts';

/** A claim with the detector that made it. */
export interface DetectorClaim extends PlacedClaim {
  readonly by: Detector;
}

/** The span detectors judge: whole days of the window, up to now. */
export interface JudgedSpan {
  readonly from: Date;
  readonly until: Date;
  readonly now: Date;
  readonly first: string;
  readonly last: string;
}

export function judgedSpan(window: LedgerWindow, now: Date): JudgedSpan {
  const { first, last } = daysOf(window);
  const end = startOf(addDays(last, 1));
  return { from: startOf(first), until: end < now ? end : now, now, first, last };
}

/** The names people may ask for. */
export function detectorNames(): readonly string[] {
  return DETECTORS.map(({ name }) => name);
}

/** What most detectors read, and all that judge serving. */
const SHARED_TABLES = ['stint_day', 'life_day', 'subject_day', 'subject', 'node_day', 'service_day', 'service_hour'];

/** What several detectors work out first. */
const SHARED_PARTS = [
  { name: 'life', sql: LIVES, tables: LIVES_READ },
  { name: 'node_gap', sql: NODE_GAP, tables: NODE_GAP_READS },
  { name: 'written', sql: WRITTEN, tables: WRITTEN_READ },
  { name: 'waited', sql: WAITED, tables: WAITED_READS },
];

/** Reads once what many detectors will ask of; one that is asked alone reads its files. */
export async function keepShared(space: ReadSpace, detectors: readonly Detector[], span: JudgedSpan): Promise<void> {
  if (detectors.length <= 1) return;
  const queries = detectors.flatMap((each) => Object.values(each.ask(each.options.parse({}))));
  const sql = queries.map((query) => query.sql);
  const parts = SHARED_PARTS.filter((part) => sql.some((text) => text.includes(part.sql)));
  const { first, last, from, until, now } = span;
  await space.keep({ tables: SHARED_TABLES, first, last, sql, parts, params: { from, until, now } });
}

/** Question: what does each detector say of the window? One after the other: they share the engine's tables. */
export async function askDetectors(
  space: ReadSpace,
  detectors: readonly Detector[],
  span: JudgedSpan,
): Promise<readonly DetectorClaim[]> {
  const claims: DetectorClaim[] = [];
  for (const [place, by] of detectors.entries()) {
    const options = by.options.parse({});
    const rows: Record<string, readonly unknown[]> = {};
    for (const [name, query] of Object.entries(by.ask(options))) rows[name] = await evidenceOf(space, query, span);
    const context: JudgeContext<unknown> = { options, from: span.from, until: span.until, now: span.now };
    for (const claim of toldApart(by.judge(rows, context)))
      claims.push({ detector: by.name, place, category: by.category, claim, by });
  }
  return claims;
}

/** A number hangs on the words of a thing: where two things have the same, names being what they are, the second says so. */
function toldApart(claims: readonly Claim[]): readonly Claim[] {
  const times = new Map<string, number>();
  return claims.map((claim) => {
    const time = (times.get(claim.about) ?? 0) + 1;
    times.set(claim.about, time);
    return time === 1 ? claim : { ...claim, about: `${claim.about} (${time})` };
  });
}

/** The rows of one query of a detector, checked against what it expects of them. */
export async function evidenceOf(space: ReadSpace, query: Query, span: JudgedSpan): Promise<readonly unknown[]> {
  const rows = await space.ask<unknown>({
    tables: query.tables.map((need) => {
      const { table, daysBefore = 0 } = typeof need === 'string' ? { table: need } : need;
      return { table, first: addDays(span.first, -daysBefore), last: span.last };
    }),
    params: { ...query.params, from: span.from, until: span.until, now: span.now },
    sql: query.sql,
  });
  return rows.map((row) => query.row.parse(row));
}
