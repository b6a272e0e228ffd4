import type { Claim, Take, WasteCategory } from '../src/facts/detector.ts';
import { partsOf, settleClaims } from '../src/app/findings/settle-claims.ts';
import type { ClaimSum } from '../src/app/findings/settle-claims.ts';
import type { Question } from '../src/lake/ask.ts';
import { quote } from '../src/lake/engine.ts';
import type { Engine, LoadColumns } from '../src/lake/engine.ts';
import type { FindingPart } from '../src/report/finding-explanation.ts';
import type { PlacedClaim } from '../src/waste/settle.ts';

/** A row of `subject_day`, as far as claims are settled against it. */
export interface Cell extends Omit<FindingPart, 'permille'> {
  readonly nodeId: string | null;
  readonly isSilent?: boolean;
  /** When its holder's run was over, as `2026-03-03 01:00:00`. */
  readonly endedAt?: string;
}

export const cell = (over: Partial<Cell> = {}): Cell => ({
  day: '2026-03-02',
  subject: 'job s/1/0',
  deviceId: 'a',
  nodeId: 'n1',
  category: 'idle',
  reason: null,
  usdMicros: 100n,
  marginalUsdMicros: 40n,
  gpuUnits: 1000n,
  ...over,
});
export const take = (over: Partial<Take> = {}): Take => ({
  subject: 'job s/1/0',
  firstDay: '2026-03-01',
  lastDay: '2026-03-03',
  category: 'idle',
  ...over,
});
export const placed = (
  about: string,
  takes: readonly Take[],
  over: Partial<PlacedClaim> & { isQuestion?: boolean } = {},
) => {
  const { isQuestion = false, ...rest } = over;
  const claim: Claim = { about, ownerSubject: null, what: '', because: [], fix: [], unless: '', takes, isQuestion };
  return { detector: 'd', place: 0, category: 'idle' as WasteCategory, claim, ...rest };
};

export type Outcome = ClaimSum & { readonly parts: readonly string[] };

/** What the claims get, by what they are about; with each the rows behind it. */
export async function settledOn(
  engine: Engine,
  claims: readonly PlacedClaim[],
  cells: readonly Cell[],
): Promise<Record<string, Outcome>> {
  await writeCells(engine, cells);
  const space = {
    ask: <Row>({ sql, params }: Question) => engine.rows<Row>(sql, params),
    load: (table: string, columns: LoadColumns) => engine.load(table, columns),
    make: (name: string, { sql, params }: Question) =>
      engine.run(`CREATE OR REPLACE TEMP TABLE ${name} AS ${sql}`, params),
  };
  const outcomes: [string, Outcome][] = [];
  for (const { placed: each, claimNo, sum } of await settleClaims(space, claims, {
    first: '2026-03-01',
    last: '2026-03-03',
    until: new Date('2026-03-04T00:00:00Z'),
  })) {
    const parts = await partsOf(space, claimNo);
    outcomes.push([each.claim.about, { ...sum, parts: parts.map(partText).toSorted() }]);
  }
  return Object.fromEntries(outcomes);
}

async function writeCells(engine: Engine, cells: readonly Cell[]): Promise<void> {
  const text = (value: string | null): string => (value === null ? 'NULL' : quote(value));
  const rows = cells.map(
    (each) =>
      `(DATE ${quote(each.day)}, ${[each.subject, each.deviceId, each.nodeId, each.category, each.reason].map(text).join(', ')}, ${each.usdMicros}, ${each.marginalUsdMicros}, ${each.gpuUnits}, ${each.isSilent ?? false}, ${text(each.endedAt ?? null)}, text_digest(${quote(each.subject)}))`,
  );
  await engine.run(
    `CREATE OR REPLACE TABLE subject_day (day DATE, subject VARCHAR, device_id VARCHAR, node_id VARCHAR, category VARCHAR,
       reason VARCHAR, usd_micros BIGINT, marginal_usd_micros BIGINT, gpu_units BIGINT, is_silent BOOLEAN, ended_at TIMESTAMP, subject_key BIGINT)`,
  );
  if (rows.length > 0) await engine.run(`INSERT INTO subject_day VALUES ${rows.join(', ')}`);
  await engine.run(`CREATE OR REPLACE TABLE stint_day AS
    SELECT DISTINCT day, subject, device_id, node_id, 1 AS held_s, ended_at FROM subject_day
    WHERE device_id IS NOT NULL AND category IN ('unknown', 'idle', 'starved', 'lost', 'computing')`);
}

export const partText = (part: FindingPart): string =>
  [
    part.day,
    part.subject,
    part.deviceId,
    part.category,
    part.reason,
    part.permille,
    part.usdMicros,
    part.gpuUnits,
  ].join(' ');
