import { createReadStream } from 'node:fs';
import { mkdtemp, open, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { OperationError } from '../../facts/operation-error.ts';
import { quote } from '../../lake/engine.ts';
import { parseDecimal } from '../../money/usd.ts';
import { dayChunks } from '../ledger-days.ts';
import { spend } from '../spend.ts';
import { hoursSql } from '../window.ts';
import type { LedgerWindow } from '../window.ts';
import type { ReadSpace } from '../workspace.ts';
import { EXPORT_COLUMNS, focusRowsSql } from './focus-rows.ts';
import type { FocusFormat, FocusGrain } from './focus-rows.ts';

/**
 * Rows of the waterfall looked at in one question, which bounds the memory of an export: by the hour nearly every one of them
 * becomes a wide row that is sorted, by the day one in nine.
 */
const CHUNK_ROWS_MAX: Readonly<Record<FocusGrain, number>> = { day: 1_000_000, hour: 300_000 };

/** A name may be a megabyte and stands in several columns: the engine reads back lines as long as the part of a file it holds at once. */
const LINE_BYTES_MAX = 32 * 1024 * 1024;
const LONG_LINES = `max_line_size = ${LINE_BYTES_MAX}, buffer_size = ${LINE_BYTES_MAX}`;

export interface FocusRequest {
  readonly window: LedgerWindow;
  readonly grain: FocusGrain;
  readonly format: FocusFormat;
  /** The file to write; undefined where the lines go to `sink`. */
  readonly out?: string;
  readonly sink?: (text: string) => void;
  readonly onProgress?: (words: string) => void;
}

export interface FocusExport {
  readonly rows: number;
  /** What was written, read back: it equals the ledger's total of the window. */
  readonly effectiveUsdMicros: bigint;
  /** Time without a price; it has no cost to export. */
  readonly unpricedUnits: bigint;
  readonly out: string | null;
}

/**
 * Writes the ledger of a window as FOCUS 1.2 rows, some days at a time, and reads back what it wrote: a file whose total is not the
 * ledger's is never left behind.
 *
 * Reads: waterfall, ownership, charge (ids of commitments).
 */
export async function exportFocus(space: ReadSpace, request: FocusRequest): Promise<FocusExport> {
  const { format, out } = request;
  const total = await spend(space, { by: [], window: request.window, filters: [] });
  const folder = out === undefined ? await mkdtemp(join(tmpdir(), 'bursar-export-')) : await besideOf(out);
  try {
    const parts = await writeParts(space, request, folder);
    const written = await readBack(space, parts, format);
    const ledger = total.totalUsdMicros ?? 0n;
    if (written.usdMicros !== ledger) {
      throw new Error(`the export adds up to ${written.usdMicros} micros, the ledger to ${ledger}`);
    }
    await deliver(space, request, parts, folder);
    return {
      rows: written.rows,
      effectiveUsdMicros: written.usdMicros,
      unpricedUnits: total.unpricedUnits,
      out: out ?? null,
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The parts lie beside the file they become, so that the last step is a rename on one disk. */
async function besideOf(out: string): Promise<string> {
  try {
    return await mkdtemp(join(dirname(resolve(out)), '.bursar-export-'));
  } catch (cause) {
    throw new OperationError('cannot-write', `cannot write to the folder of ${out}`, {
      hint: 'Make the folder, or name another file with --out.',
      cause,
    });
  }
}

async function writeParts(space: ReadSpace, request: FocusRequest, folder: string): Promise<string[]> {
  const { window, grain, format } = request;
  const hours = hoursSql(window, 'w.hour_start');
  const sql = focusRowsSql(grain, format, space.scope?.bills ?? [], hours.sql);
  const [first, last] = [window.days[0] ?? '', window.days.at(-1) ?? ''];
  const chunks = dayChunks(space.snapshot, ['waterfall'], CHUNK_ROWS_MAX[grain])
    .filter((chunk) => chunk.last >= first && chunk.first <= last)
    .map((chunk) => ({
      first: chunk.first < first ? first : chunk.first,
      last: chunk.last > last ? last : chunk.last,
    }));
  const parts: string[] = [];
  // Without a day there is still a file: its header, and no row.
  for (const days of chunks.length === 0 ? [{ first: '9999-12-31', last: '9999-12-31' }] : chunks) {
    const part = join(folder, `part-${parts.length}.${format}`);
    request.onProgress?.(`${days.first} to ${days.last}`);
    const options = format === 'csv' ? `FORMAT csv, HEADER ${parts.length === 0}` : 'FORMAT parquet, COMPRESSION zstd';
    await space.ask({
      tables: [{ table: 'waterfall', ...days }, { table: 'ownership', ...days }, { table: 'charge' }],
      params: hours.params,
      sql: `COPY (${sql}) TO ${quote(part)} (${options})`,
    });
    parts.push(part);
  }
  return parts;
}

async function readBack(
  space: ReadSpace,
  parts: readonly string[],
  format: FocusFormat,
): Promise<{ readonly rows: number; readonly usdMicros: bigint }> {
  let [rows, usdMicros] = [0, 0n];
  const names = EXPORT_COLUMNS.map((name) => `${quote(name)}: 'VARCHAR'`).join(', ');
  for (const [index, part] of parts.entries()) {
    const from =
      format === 'csv'
        ? `read_csv(${quote(part)}, columns = {${names}}, header = ${index === 0}, quote = '"', escape = '"', delim = ',', ${LONG_LINES})`
        : `read_parquet(${quote(part)})`;
    const [sum] = await space.ask<{ rows: bigint; total: string | null }>({
      tables: [],
      sql: `SELECT count(*) AS rows, CAST(sum(CAST("EffectiveCost" AS DECIMAL(24,6))) AS DECIMAL(38,6)) AS total FROM ${from}`,
    });
    rows += Number(sum?.rows ?? 0n);
    usdMicros += parseDecimal(sum?.total ?? '0', 6) ?? 0n;
  }
  return { rows, usdMicros };
}

async function deliver(
  space: ReadSpace,
  { format, out, sink }: FocusRequest,
  parts: readonly string[],
  folder: string,
): Promise<void> {
  if (out === undefined) {
    for (const part of parts) {
      for await (const text of createReadStream(part, 'utf8')) sink?.(String(text));
    }
    return;
  }
  const whole = join(folder, `whole.${format}`);
  if (format === 'parquet') {
    const files = parts.map((part) => quote(part)).join(', ');
    await space.ask({
      tables: [],
      sql: `COPY (SELECT * FROM read_parquet([${files}])) TO ${quote(whole)} (FORMAT parquet, COMPRESSION zstd)`,
    });
  } else {
    const file = await open(whole, 'w');
    try {
      for (const part of parts) {
        for await (const bytes of createReadStream(part)) await file.write(bytes as Buffer);
      }
      await file.sync();
    } finally {
      await file.close();
    }
  }
  await rename(whole, out);
}
