import { resolve } from 'node:path';
import { factTableByName } from '../facts/fact-table.ts';
import type { DerivedUnit, LakeFile, Manifest } from '../facts/manifest.ts';
import type { Stage } from '../facts/stage.ts';
import { addDays, startOf } from './calendar.ts';
import { digestDays } from './day-digests.ts';
import { DerivedState } from './derived-state.ts';
import { syncToDisk } from './durable-file.ts';
import type { OnStep } from './durable-file.ts';
import { quote } from './engine.ts';
import type { Engine, Params } from './engine.ts';
import { inputHash } from './input-hash.ts';
import type { DayDigests } from './input-hash.ts';
import { withoutDamage } from './missing-files.ts';
import { showPrices } from './needed-prices.ts';
import { publish } from './publish.ts';
import { derivedRelation, factRelation } from './relation.ts';
import { scopeOf } from './scope.ts';
import type { Scope } from './scope.ts';
import { show, showCalendar, showInputs, WHOLE_FACTS } from './stage-inputs.ts';
import { factsMark, LEDGER_MARK } from './staleness.ts';
import { stageSelect, writeDays, writeUnit } from './write-unit.ts';

/** Days are derived together while their inputs stay below this: many small days cost one query, a large day its own. */
const CHUNK_ROWS_MAX = 1_500_000;
/** Each day is a file, and the engine keeps some of every file it writes in memory: 366 small days needed 1.3 GB. */
const CHUNK_DAYS_MAX = 60;

/** Kept by earlier versions: dropped, so that nobody reads an old answer under `tables/`. */
const RETIRED_TABLES = ['ownership'];

export interface DeriveRequest {
  readonly engine: Engine;
  readonly dataDir: string;
  readonly manifest: Manifest;
  readonly stages: readonly Stage[];
  readonly onStep?: OnStep;
  readonly onProgress?: (stage: string, unit: string) => void;
}

export interface DeriveReport {
  readonly generation: number;
  /** Units that were computed anew, by stage; empty when everything was up to date. */
  readonly computed: Readonly<Record<string, number>>;
}

/**
 * Brings the derived tables up to date with the facts. What a unit depends on is hashed and compared with what it was
 * derived from: there are no dirty flags, so the same facts give the same ledger in whatever order they came. Nothing is
 * seen by readers before the one commit at the end.
 */
export async function derive(request: DeriveRequest): Promise<DeriveReport> {
  const snapshot = withoutDamage(request.dataDir, request.manifest.snapshot());
  const state = new DerivedState(snapshot);
  const scope = scopeOf(snapshot);
  const computed: Record<string, number> = {};
  // Before anything is read: a stage that reads all days must not see one that is no more.
  for (const stage of request.stages) state.keepOnly(stage.name, liveUnits(stage, scope));
  for (const table of RETIRED_TABLES) state.keepOnly(table, new Set());
  if (scope !== undefined) {
    const work: Derivation = { ...request, state, scope, computed };
    await prepare(work);
    for (const stage of request.stages) {
      if (stage.unit === 'whole') await deriveWhole(work, stage);
      else if (stage.unit === 'bill') await deriveBills(work, stage);
      else await deriveDays(work, stage, await digestsFor(work, stage));
    }
  }
  const known = new Set([...RETIRED_TABLES, ...request.stages.map((stage) => stage.name)]);
  const mark = factsMark(snapshot, request.stages);
  const markBefore = state.unit(LEDGER_MARK.table, LEDGER_MARK.unit)?.inputHash;
  if (markBefore !== mark.hash) state.set({ ...LEDGER_MARK, inputHash: mark.hash, file: null, dayHashes: mark.files });
  const { setDerived, dropDerived } = state.changes();
  const stale = dropDerived.filter(({ table }) => known.has(table));
  let { generation } = snapshot;
  if (setDerived.length > 0 || stale.length > 0) {
    await settleFolders(request.dataDir, setDerived);
    request.onStep?.('commit');
    generation = request.manifest.commit({ setDerived, dropDerived: stale });
    request.onStep?.('committed');
  }
  const units = (table: string): readonly DerivedUnit[] => state.units(table);
  await publish({ ...request, markBefore, mark: mark.hash, changed: setDerived, dropped: stale, units });
  return { generation, computed };
}

interface Derivation extends DeriveRequest {
  readonly state: DerivedState;
  readonly scope: Scope;
  readonly computed: Record<string, number>;
}

function liveUnits(stage: Stage, scope: Scope | undefined): Set<string> {
  if (scope === undefined) return new Set();
  if (stage.unit === 'whole') return new Set(['all']);
  return new Set(stage.unit === 'bill' ? scope.bills.map((bill) => bill.billId) : scope.days);
}

/** Resolved facts and the small tables every stage may join. */
async function prepare({ engine, state, scope, dataDir }: Derivation): Promise<void> {
  await engine.run('CREATE OR REPLACE TABLE counter AS SELECT range AS n FROM range(65536)');
  for (const table of WHOLE_FACTS) {
    const relation = factRelation(dataDir, factTableByName(table), state.allFacts(table));
    await engine.run(`CREATE OR REPLACE TABLE ${table} AS ${relation}`);
  }
  await showPrices(engine, dataDir, state);
  const bills = scope.bills.map(
    (bill) =>
      `(${quote(bill.billId)}, ${quote(bill.provider)}, ${quote(bill.billingAccount)}, ` +
      `${bill.coveredUntil === null ? 'CAST(NULL AS TIMESTAMP)' : `TIMESTAMP ${quote(bill.coveredUntil)}`}, ` +
      `TIMESTAMP '${addDays(bill.lastDay, 1)} 00:00:00')`,
  );
  const none = "('', '', '', CAST(NULL AS TIMESTAMP), CAST(NULL AS TIMESTAMP))";
  await engine.run(`CREATE OR REPLACE TABLE bill AS SELECT * FROM (VALUES ${bills.length > 0 ? bills.join(', ') : none})
    AS b(bill_id, provider, billing_account, covered_until, ends_at)${bills.length > 0 ? '' : ' WHERE FALSE'}`);
}

/** Digests are needed only by stages that read tables of intervals, and only once `inferred` is up to date. */
async function digestsFor(work: Derivation, stage: Stage): Promise<DayDigests> {
  if (!stage.reads.some((input) => input.days === 'all')) return { of: () => '' };
  return digestDays(work.engine, work.state, work.scope.days);
}

async function deriveWhole(work: Derivation, stage: Stage): Promise<void> {
  const hash = inputHash(stage, 'all', work.state, work.scope, { of: () => '' });
  const { days } = work.scope;
  const [first = '', last = ''] = [days[0], days.at(-1)];
  if (work.state.unit(stage.name, 'all')?.inputHash !== hash) {
    await showInputs(work, stage, first, last);
    const file = await writeUnit(work, stage, 'all', stageSelect(stage), range(work, first, last));
    work.state.set({ table: stage.name, unit: 'all', inputHash: hash, file });
    count(work, stage, 1);
  }
  const file = work.state.unit(stage.name, 'all')?.file;
  await work.engine.run(
    `CREATE OR REPLACE TABLE ${stage.name} AS ${derivedRelation(work.dataDir, stage, file ? [file] : [])}`,
  );
}

async function deriveBills(work: Derivation, stage: Stage): Promise<void> {
  const digests = await digestsFor(work, stage);
  const hashOf = (billId: string): string => inputHash(stage, billId, work.state, work.scope, digests);
  const stale = work.scope.bills.filter(
    (bill) => work.state.unit(stage.name, bill.billId)?.inputHash !== hashOf(bill.billId),
  );
  for (const chunk of chunks(stale, (bill) =>
    rowsOf(work.state.allFacts('charge').filter(({ batch }) => batch.name === bill.billId)),
  )) {
    const ids = new Set(chunk.map((bill) => bill.billId));
    const first = chunk.map((bill) => bill.firstDay).reduce((a, b) => (a < b ? a : b));
    const last = chunk.map((bill) => bill.lastDay).reduce((a, b) => (a > b ? a : b));
    work.onProgress?.(stage.name, chunk.length === 1 ? (chunk[0]?.billId ?? '') : `${chunk.length} bills`);
    await showCalendar(work.engine, first, last);
    const members = work.state.allFacts('charge').filter(({ batch }) => ids.has(batch.name));
    await show(work.engine, 'charge', factRelation(work.dataDir, factTableByName('charge'), members));
    await work.engine.run(`CREATE OR REPLACE TEMP TABLE stage_rows AS ${stageSelect(stage)}`, range(work, first, last));
    const dayHashes = await hashDays(work.engine);
    for (const { billId } of chunk) {
      const rows = `SELECT * FROM stage_rows WHERE bill_id = ${quote(billId)}`;
      const file = await writeUnit(work, stage, billId, rows, {});
      work.state.set({
        table: stage.name,
        unit: billId,
        inputHash: hashOf(billId),
        file,
        dayHashes: dayHashes.get(billId) ?? {},
      });
    }
    await work.engine.run('DROP TABLE stage_rows');
    count(work, stage, chunk.length);
  }
}

async function hashDays(engine: Engine): Promise<Map<string, Record<string, string>>> {
  const rows = await engine.rows<{ bill_id: string; day: string; hash: string }>(`
    SELECT bill_id, CAST(day AS VARCHAR) AS day,
           CAST(bit_xor(hash(s)) AS VARCHAR) || ' ' || CAST(count(*) AS VARCHAR) AS hash
    FROM stage_rows s GROUP BY bill_id, day`);
  const byBill = new Map<string, Record<string, string>>();
  for (const row of rows) byBill.set(row.bill_id, { ...byBill.get(row.bill_id), [row.day]: row.hash });
  return byBill;
}

async function deriveDays(work: Derivation, stage: Stage, digests: DayDigests): Promise<void> {
  const { state, scope } = work;
  const hashOf = (day: string): string => inputHash(stage, day, state, scope, digests);
  const readsItself = stage.reads.some((input) => input.table === stage.name);
  const isStale = (day: string): boolean => state.unit(stage.name, day)?.inputHash !== hashOf(day);
  for (let index = 0; index < scope.days.length; index += 1) {
    const first = scope.days[index];
    if (first === undefined || !isStale(first)) continue;
    let rows = rowsMade(stage, first, state);
    let last = first;
    for (let next = scope.days[index + 1]; next !== undefined; next = scope.days[index + 1]) {
      const joins = readsItself ? state.unit(stage.name, next) === undefined : isStale(next);
      rows += rowsMade(stage, next, state);
      if (!joins || rows > CHUNK_ROWS_MAX || startOf(next) > startOf(addDays(first, CHUNK_DAYS_MAX))) break;
      last = next;
      index += 1;
    }
    work.onProgress?.(stage.name, first === last ? first : `${first} – ${last}`);
    await deriveRange(work, stage, first, last, hashOf);
  }
}

/** Derives contiguous days in one query, and keeps each as its own file. */
async function deriveRange(
  work: Derivation,
  stage: Stage,
  first: string,
  last: string,
  hashOf: (day: string) => string,
): Promise<void> {
  await showInputs(work, stage, first, last);
  const days = work.scope.days.slice(work.scope.days.indexOf(first), work.scope.days.indexOf(last) + 1);
  const files = new Map<string, LakeFile | null>();
  if (first === last) {
    files.set(first, await writeUnit(work, stage, first, stageSelect(stage), range(work, first, last)));
  } else {
    for (const file of await writeDays(work, stage, range(work, first, last))) files.set(file.partition, file);
  }
  for (const day of days) {
    const unit: DerivedUnit = { table: stage.name, unit: day, inputHash: hashOf(day), file: files.get(day) ?? null };
    work.state.set(unit);
  }
  count(work, stage, days.length);
}

/** About how many rows a day makes: what it reads, times what the stage makes of it. */
function rowsMade(stage: Stage, day: string, state: DerivedState): number {
  const read = stage.reads.map(({ table, days }) => {
    // Of all that is listed, only what the nodes need was read.
    if (table === 'price') return 0;
    if (state.isFact(table)) return rowsOf(days === 'all' ? state.allFacts(table) : state.factsOn(table, day));
    return state.unit(table, days === 'all' ? 'all' : day)?.file?.rows ?? 0;
  });
  return read.reduce((a, b) => a + b, 0) * (stage.growth ?? 1);
}

function rowsOf(members: readonly { file: LakeFile }[]): number {
  return members.reduce((total, { file }) => total + file.rows, 0);
}

function chunks<T>(items: readonly T[], rows: (item: T) => number): T[][] {
  const all: T[][] = [];
  let size = 0;
  for (const item of items) {
    const current = all.at(-1);
    if (current === undefined || size + rows(item) > CHUNK_ROWS_MAX || current.length >= CHUNK_DAYS_MAX) {
      all.push([item]);
      size = rows(item);
    } else {
      current.push(item);
      size += rows(item);
    }
  }
  return all;
}

function range(work: Derivation, first: string, last: string): Params {
  return {
    from: startOf(first),
    until: startOf(addDays(last, 1)),
    horizon: work.scope.horizon,
    begin: work.scope.begin,
    spoken: work.scope.spoken,
    heard: work.scope.heard,
  };
}

/** The folders above new files, of which a power cut could still take the new day's name. */
async function settleFolders(dataDir: string, units: readonly DerivedUnit[]): Promise<void> {
  const tables = new Set(units.flatMap(({ table, file }) => (file === null ? [] : [table])));
  for (const table of tables) await syncToDisk(resolve(dataDir, table));
  if (tables.size > 0) await syncToDisk(dataDir);
}

function count(work: Derivation, stage: Stage, units: number): void {
  work.computed[stage.name] = (work.computed[stage.name] ?? 0) + units;
}
