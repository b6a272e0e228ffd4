import { mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import type * as DuckDB from '@duckdb/node-api';
import type { DuckDBConnection, DuckDBValue } from '@duckdb/node-api';
import { OperationError } from '../facts/operation-error.ts';

// Required, not imported: of a CommonJS package an import reads every file twice, once for the names in it. Each command would pay.
const {
  DuckDBDataChunk,
  DuckDBDateValue,
  DuckDBDecimalValue,
  DuckDBInstance,
  DuckDBListValue,
  DuckDBMapValue,
  DuckDBTimestampValue,
  INTEGER,
  UINTEGER,
  VARCHAR,
} = createRequire(import.meta.url)('@duckdb/node-api') as typeof DuckDB;

/** A value handed to SQL as `$name`; a Date becomes a TIMESTAMP in UTC. */
export type Param = string | number | bigint | boolean | Date | null;
export type Params = Readonly<Record<string, Param>>;

/**
 * What the lake needs of an SQL engine. Rows are plain: BIGINT is a bigint, DECIMAL, DATE and TIMESTAMP are text
 * (`2026-11-01 10:00:00`), MAP is an object.
 */
export interface Engine {
  run(sql: string, params?: Params): Promise<void>;
  rows<T>(sql: string, params?: Params): Promise<T[]>;
  /** Makes a temporary table, all columns of one length. A million whole numbers cost tenths of a second, texts five times as much. */
  load(table: string, columns: LoadColumns): Promise<void>;
  close(): void;
}

/** Columns by name: whole numbers or texts. */
export type LoadColumns = ReadonlyMap<string, Int32Array | Uint32Array | readonly (string | null)[]>;

export interface EngineOptions {
  readonly threads: number;
  readonly memoryLimitMb: number;
  /** Where sorts spill to; made if missing. Readers of small answers pass none and never spill. */
  readonly tempDir?: string;
  /** Longer answers are refused with `too-many-rows`: they are read by the one thread that serves everybody. */
  readonly rowsMax?: number;
}

/** What the ledger's SQL calls by the names other engines have; `text_digest` is the first 63 bits of the MD5 of a text in UTF-8. */
const PORTABLE_FUNCTIONS = [
  'regexp_like(s, p) AS regexp_matches(s, p)',
  'array_join(a, s) AS array_to_string(a, s)',
  "text_digest(s) AS CAST(CAST('0x' || substr(md5(s), 1, 16) AS UBIGINT) // 2 AS BIGINT)",
];

/** An engine whose statement can be broken off by somebody who no longer waits for it. */
export interface BreakableEngine extends Engine {
  interrupt(): void;
}

/** One engine for many at once: they share its memory and its threads, not their views and temporary tables. */
export interface EnginePool {
  connect(): Promise<BreakableEngine>;
  /** Ends it with everything that is connected. */
  close(): void;
}

/** Opens DuckDB in memory for one to ask. */
export async function openEngine(options: EngineOptions): Promise<Engine> {
  const pool = await openEnginePool(options);
  const engine = await pool.connect();
  return {
    ...engine,
    close() {
      engine.close();
      pool.close();
    },
  };
}

/** Opens DuckDB in memory. The limits matter: without them a sort of 57.6M samples took 17 GB. */
export async function openEnginePool(options: EngineOptions): Promise<EnginePool> {
  if (options.tempDir !== undefined) mkdirSync(options.tempDir, { recursive: true });
  const instance = await DuckDBInstance.create(':memory:', {
    threads: String(options.threads),
    memory_limit: `${options.memoryLimitMb}MB`,
    temp_directory: options.tempDir ?? '',
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
  });
  const first = await instance.connect();
  await first.run("SET GLOBAL TimeZone = 'UTC'");
  await first.run(PORTABLE_FUNCTIONS.map((definition) => `CREATE MACRO ${definition};`).join(' '));
  first.closeSync();
  return {
    connect: async () => engineOf(await instance.connect(), options.rowsMax),
    close: () => instance.closeSync(),
  };
}

function engineOf(connection: DuckDBConnection, rowsMax = Infinity): BreakableEngine {
  return {
    async run(sql, params) {
      await guarded(() => connection.run(inline(sql, params)));
    },
    async rows<T>(sql: string, params?: Params) {
      const reader = await guarded(() =>
        rowsMax === Infinity
          ? connection.runAndReadAll(inline(sql, params))
          : connection.runAndReadUntil(inline(sql, params), rowsMax + 1),
      );
      if (reader.currentRowCount > rowsMax) throw tooManyRows(rowsMax);
      const names = reader.deduplicatedColumnNames();
      return rowsOf<T>(names, reader.getColumns());
    },
    async load(table, columns) {
      await guarded(() => loadColumns(connection, table, columns));
    },
    interrupt: () => connection.interrupt(),
    close: () => connection.closeSync(),
  };
}

function tooManyRows(rowsMax: number): OperationError {
  return new OperationError('too-many-rows', `the answer has more than ${rowsMax.toLocaleString('en')} rows`, {
    hint: 'Ask about fewer days, in longer steps or by less; the command line has no limit.',
  });
}

/** Rows in one vector of the engine. */
const VECTOR_ROWS = 2048;

async function loadColumns(connection: DuckDBConnection, table: string, columns: LoadColumns): Promise<void> {
  const values = [...columns.values()];
  const types = values.map((each) =>
    each instanceof Int32Array ? INTEGER : each instanceof Uint32Array ? UINTEGER : VARCHAR,
  );
  const definition = [...columns.keys()].map((name, index) => `${name} ${String(types[index])}`).join(', ');
  await connection.run(`CREATE OR REPLACE TEMP TABLE ${table} (${definition})`);
  const appender = await connection.createAppender(table);
  const rows = values[0]?.length ?? 0;
  for (let at = 0; at < rows; at += VECTOR_ROWS) {
    const until = Math.min(at + VECTOR_ROWS, rows);
    const chunk = DuckDBDataChunk.create(types, until - at);
    for (const [index, each] of values.entries())
      chunk.setColumnValues(index, Array.from<number | string | null>(each.slice(at, until)));
    appender.appendDataChunk(chunk);
  }
  appender.closeSync();
}

/** What somebody typed, a column's name, a remark: no `$name` in it is one of ours. */
const PARAM = /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\$([a-zA-Z]\w*)/g;

/**
 * Writes the values of `$name` into the text. COPY takes no parameters in DuckDB, and the types of parameters inside
 * expressions cannot always be inferred, so values are spelled out, typed and quoted.
 */
export function inline(sql: string, params: Params = {}): string {
  return sql.replaceAll(PARAM, (text, name: string | undefined) => {
    const value = name === undefined ? undefined : params[name];
    if (value === undefined) return text;
    if (value === null) return 'NULL';
    if (value instanceof Date) return `TIMESTAMP '${value.toISOString().slice(0, 19).replace('T', ' ')}'`;
    return typeof value === 'string' ? quote(value) : String(value);
  });
}

/** Written out: answers may have a million rows, and a list of entries for each costs as much as the query. */
function rowsOf<T>(names: readonly string[], columns: readonly (readonly DuckDBValue[])[]): T[] {
  const rows = Array.from({ length: columns[0]?.length ?? 0 }, (): Record<string, unknown> => ({}));
  for (const [index, name] of names.entries()) {
    const column = columns[index] ?? [];
    for (const [place, row] of rows.entries()) row[name] = plain(column[place] ?? null);
  }
  return rows as T[];
}

function plain(value: DuckDBValue): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof DuckDBTimestampValue) return value.toString().replace(/\.0+$/, '');
  if (value instanceof DuckDBDecimalValue || value instanceof DuckDBDateValue) return value.toString();
  if (value instanceof DuckDBMapValue)
    return Object.fromEntries(value.entries.map(({ key, value: entry }) => [String(plain(key)), plain(entry)]));
  if (value instanceof DuckDBListValue) return value.items.map(plain);
  return value;
}

async function guarded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw asOperationError(error) ?? error;
  }
}

/** Names the lake gives its files; other files are people's, and their reader says what is wrong with them. */
const LAKE_FILE = /[0-9a-f]{16}\.parquet|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.parquet/;

/** What the engine says when the machine, not the query, is at fault. */
function asOperationError(error: unknown): OperationError | undefined {
  const message = error instanceof Error ? error.message : String(error);
  if (/No space left on device|ENOSPC|failed to offload.*max_temp_directory/i.test(message)) {
    return new OperationError('disk-full', 'the disk is full', {
      hint: 'make room, then repeat the command: it continues from what was there before',
      cause: error,
    });
  }
  if (/Read-only file system|Permission denied/i.test(message)) {
    return new OperationError('read-only', `cannot write: ${message.split('\n')[0] ?? ''}`, {
      hint: 'point --data at a folder you may write to',
      cause: error,
    });
  }
  if (
    LAKE_FILE.test(message) &&
    /No files found that match|No magic bytes|Footer length|too small to be/i.test(message)
  ) {
    return new OperationError(
      'damaged-file',
      `a file of the data folder is missing or damaged: ${message.split('\n')[0] ?? ''}`,
      {
        hint: 'bursar derive computes lost derived files again, and names a batch that has to be imported again',
        cause: error,
      },
    );
  }
  if (/INTERRUPT Error/.test(message)) {
    return new OperationError('interrupted', 'the question was broken off before it had its answer', { cause: error });
  }
  if (/Out of Memory Error/i.test(message)) {
    return new OperationError('out-of-memory', 'the query needs more memory than Bursar allows itself', {
      hint: 'set BURSAR_MEMORY_MB to a larger number of megabytes',
      cause: error,
    });
  }
  return undefined;
}

/** Text as an SQL literal. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
