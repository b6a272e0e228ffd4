import assert from 'node:assert/strict';
import { factTableByName } from '../facts/fact-table.ts';
import type { DerivedUnit, Snapshot } from '../facts/manifest.ts';
import type { Stage } from '../facts/stage.ts';
import { addDays } from './calendar.ts';
import { DerivedState } from './derived-state.ts';
import { quote } from './engine.ts';
import type { Engine, LoadColumns, Params } from './engine.ts';
import { derivedRelation, factRelation } from './relation.ts';

/** A table a question reads, and the days of it (both included); without days, all. */
export interface TableNeed {
  readonly table: string;
  readonly first?: string;
  readonly last?: string;
}

/** A table that is not kept but said when asked: SQL over others, of the same days. */
export interface View {
  readonly name: string;
  readonly of: readonly string[];
  /** Where it needs earlier days too: the first day to read for a first day asked for. */
  readonly since?: (day: string) => string;
  /** Gets one relation for each name in `of`. */
  readonly sql: (...relations: readonly string[]) => string;
}

/** A question in SQL over tables of the lake. */
export interface Question {
  readonly tables: readonly TableNeed[];
  /** Answers that were saved: each is asked by its name, as a table is. */
  readonly saved?: readonly { readonly name: string; readonly path: string }[];
  readonly sql: string;
  readonly params?: Params;
}

/** Days of a derived table that many questions will be asked of. */
export interface KeepWish {
  readonly tables: readonly string[];
  readonly first: string;
  readonly last: string;
  /** The questions: only columns that one of them names are kept. */
  readonly sql: readonly string[];
  /** What several questions say in their WITH, word for word. */
  readonly parts?: readonly SharedPart[];
  /** Values of `$name` in the parts. */
  readonly params?: Params;
}

/** Relations of a WITH of which questions use the last only; its rows are worked out once. */
export interface SharedPart {
  readonly name: string;
  readonly sql: string;
  /** Of the days that are kept; of some also of so many days before them. */
  readonly tables: readonly (string | { readonly table: string; readonly daysBefore: number })[];
}

/** One state of the lake to ask questions of: what is committed meanwhile does not show. */
export interface Asker {
  ask<Row>(question: Question): Promise<Row[]>;
  /**
   * Reads tables once for many questions, which are then answered from memory: to open a month of files and to plan the reading of
   * them costs more than most questions do. Answers are the same. A table of very many rows stays in its files.
   */
  keep(wish: KeepWish): Promise<void>;
  /** Gives back the memory of shared parts; who asks for one again works it out. */
  forgetParts(): Promise<void>;
  /** Hands rows to later questions, which name them as any table. */
  load(table: string, columns: LoadColumns): Promise<void>;
  /** Leaves an answer with the engine, under a name for later questions: what is only summed need not be fetched. */
  make(table: string, question: Question): Promise<void>;
  /** Writes an answer into a file of its own, for a later reader to ask of. */
  save(path: string, question: Question): Promise<void>;
}

/** Beyond this, to write the rows into memory costs more than to read a few columns of them a dozen times: about 300 ms for 90,000 rows of 25 columns. */
const KEPT_ROWS_MAX = 60_000;

interface KeptTable {
  readonly name: string;
  readonly table: string;
  readonly first: string;
  readonly last: string;
  readonly columns: ReadonlySet<string>;
}

interface KeptPart extends SharedPart {
  readonly first: string;
  readonly last: string;
}

interface Lake {
  readonly dataDir: string;
  readonly state: DerivedState;
  readonly stages: readonly Stage[];
  readonly views: readonly View[];
  readonly kept: Map<string, KeptTable>;
  readonly parts: Map<string, KeptPart>;
}

export function askerOf(
  engine: Engine,
  dataDir: string,
  snapshot: Snapshot,
  stages: readonly Stage[],
  views: readonly View[] = [],
): Asker {
  const lake: Lake = { dataDir, state: new DerivedState(snapshot), stages, views, kept: new Map(), parts: new Map() };
  const bind = async ({ tables, saved = [], sql }: Question): Promise<void> => {
    for (const { name, path } of saved)
      await engine.run(`CREATE OR REPLACE TEMP VIEW ${name} AS SELECT * FROM read_parquet(${quote(path)})`);
    for (const need of tables) {
      const relation = viewOrRelation(lake, need, sql);
      await engine.run(`CREATE OR REPLACE TEMP VIEW ${need.table} AS ${relation}`);
    }
  };
  return {
    async ask<Row>(question: Question): Promise<Row[]> {
      const short = withKeptParts(lake, question);
      await bind(short);
      return engine.rows<Row>(short.sql, short.params);
    },
    async forgetParts() {
      for (const name of lake.parts.keys()) await engine.run(`DROP TABLE IF EXISTS kept_${name}`);
      lake.parts.clear();
    },
    async load(table, columns) {
      await engine.load(table, columns);
    },
    async make(table, question) {
      const short = withKeptParts(lake, question);
      await bind(short);
      await engine.run(`CREATE OR REPLACE TEMP TABLE ${table} AS ${short.sql}`, short.params);
    },
    async save(path, question) {
      const short = withKeptParts(lake, question);
      await bind(short);
      await engine.run(`COPY (${short.sql}) TO ${quote(path)} (FORMAT parquet, COMPRESSION zstd)`, short.params);
    },
    async keep({ tables, first, last, sql, parts = [], params }) {
      // Files never change: where each column lies in one is read once for all questions.
      await engine.run('SET parquet_metadata_cache = true');
      for (const table of tables) await keepTable(engine, lake, { table, first, last }, sql.join('\n'));
      for (const part of parts) {
        const { name } = part;
        const whole = `WITH ${part.sql} SELECT * FROM ${name}`;
        await bind({ tables: needsOf({ ...part, first, last }), sql: whole });
        await engine.run(`CREATE OR REPLACE TEMP TABLE kept_${name} AS ${whole}`, params);
        lake.parts.set(name, { ...part, first, last });
      }
    },
  };
}

/** Answers one question from one snapshot. */
export async function ask<Row>(
  engine: Engine,
  dataDir: string,
  snapshot: Snapshot,
  stages: readonly Stage[],
  question: Question,
): Promise<Row[]> {
  return askerOf(engine, dataDir, snapshot, stages).ask<Row>(question);
}

function needsOf({ tables, first, last }: KeptPart): readonly TableNeed[] {
  return tables.map((need) =>
    typeof need === 'string'
      ? { table: need, first, last }
      : { table: need.table, first: addDays(first, -need.daysBefore), last },
  );
}

/** The question with what is worked out already in the place of how to. */
function withKeptParts({ parts }: Lake, question: Question): Question {
  return [...parts.values()].reduce((asked, part) => {
    const { name, sql } = part;
    const isOfDays = needsOf(part).every(({ table, first, last }) =>
      asked.tables.some((need) => need.table === table && need.first === first && need.last === last),
    );
    return isOfDays
      ? { ...asked, sql: asked.sql.replace(sql, () => `${name} AS NOT MATERIALIZED (SELECT * FROM kept_${name})`) }
      : asked;
  }, question);
}

async function keepTable(engine: Engine, lake: Lake, need: Required<TableNeed>, sql: string): Promise<void> {
  const stage = lake.stages.find(({ name }) => name === need.table);
  assert(stage?.unit === 'day', `${need.table} is no table of days`);
  const files = unitsOf(lake.state, stage, need).flatMap(({ file }) => file ?? []);
  if (files.reduce((sum, { rows }) => sum + rows, 0) > KEPT_ROWS_MAX) return;
  const columns = columnsNamed(stage, `day ${sql}`);
  const name = `kept_${need.table}`;
  const relation = derivedRelation(lake.dataDir, stage, files);
  await engine.run(`CREATE OR REPLACE TEMP TABLE ${name} AS SELECT ${[...columns].join(', ')} FROM (${relation}) r`);
  lake.kept.set(need.table, { name, ...need, columns });
}

/** A column that is not written in a question is not asked for, unless as one of `*`: then what comes of it is not either. */
function columnsNamed(stage: Stage, sql: string): ReadonlySet<string> {
  const words = new Set(sql.match(/\w+/g));
  return new Set(stage.writes.map(([name]) => name).filter((name) => words.has(name)));
}

function viewOrRelation(lake: Lake, need: TableNeed, sql: string): string {
  const view = lake.views.find(({ name }) => name === need.table);
  if (view === undefined) return relationOf(lake, need, sql);
  const viewSql = view.sql(...view.of);
  return view.sql(
    ...view.of.map((table) => {
      if (lake.views.some(({ name }) => name === table)) return viewOrRelation(lake, { ...need, table }, viewSql);
      const first = need.first === undefined ? undefined : (view.since?.(need.first) ?? need.first);
      return relationOf(lake, { ...need, table, ...(first !== undefined && { first }) }, viewSql);
    }),
  );
}

function relationOf(lake: Lake, need: TableNeed, sql: string): string {
  const { dataDir, state } = lake;
  const stage = lake.stages.find((candidate) => candidate.name === need.table);
  if (stage === undefined) {
    const files = state.allFacts(need.table);
    return factRelation(
      dataDir,
      factTableByName(need.table),
      files.filter(({ file }) => file.partition.length !== 10 || isWanted(need, file.partition)),
    );
  }
  const files = unitsOf(state, stage, need).flatMap(({ file }) => file ?? []);
  return keptRelation(lake.kept.get(need.table), stage, need, sql) ?? derivedRelation(dataDir, stage, files);
}

/** The same rows out of memory, where all that is asked for is there. */
function keptRelation(
  kept: KeptTable | undefined,
  stage: Stage,
  { first, last }: TableNeed,
  sql: string,
): string | undefined {
  if (kept === undefined || first === undefined || last === undefined) return undefined;
  if (first < kept.first || last > kept.last) return undefined;
  if (![...columnsNamed(stage, sql)].every((column) => kept.columns.has(column))) return undefined;
  const isPart = first > kept.first || last < kept.last;
  return `SELECT * FROM ${kept.name}${isPart ? ` WHERE day BETWEEN DATE '${first}' AND DATE '${last}'` : ''}`;
}

function isWanted({ first, last }: TableNeed, day: string): boolean {
  return (first === undefined || day >= first) && (last === undefined || day <= last);
}

function unitsOf(state: DerivedState, stage: Stage, need: TableNeed): readonly DerivedUnit[] {
  const isOfDays = (day: string): boolean => isWanted(need, day);
  return state
    .units(need.table)
    .filter(({ unit, dayHashes }) =>
      stage.unit === 'day' ? isOfDays(unit) : dayHashes === undefined || Object.keys(dayHashes).some(isOfDays),
    );
}
