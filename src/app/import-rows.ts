import assert from 'node:assert/strict';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { factTableByName } from '../facts/fact-table.ts';
import type { FactTable } from '../facts/fact-table.ts';
import type { IncomingPart } from '../facts/incoming.ts';
import type { Manifest } from '../facts/manifest.ts';
import type { FactRow, FactValue } from '../facts/source.ts';
import { append } from '../lake/append.ts';
import type { OnStep } from '../lake/durable-file.ts';
import type { Engine } from '../lake/engine.ts';
import { readPart } from '../sources/files/incoming-part.ts';
import { storageFailure } from '../state/storage-failure.ts';
import { makeWorkDir } from './import.ts';
import type { ImportReport } from './import.ts';

export interface ImportRowsOptions {
  readonly dataDir: string;
  readonly engine: Engine;
  readonly manifest: Manifest;
  /** The name of the table: node, allocation, … */
  readonly table: string;
  /** The same name replaces what it brought before. */
  readonly batch: string;
  /** In the columns and units of docs/FACTS.md. */
  readonly rows: readonly FactRow[];
  /** The file they came from, as the person named it. */
  readonly label: string;
  readonly priority?: number;
  readonly dryRun?: boolean;
  readonly onStep?: OnStep;
}

/**
 * Takes rows that a parser made into the lake, through the same checks as people's own files.
 *
 * They pass through a file of JSON lines in the work folder: one way into the lake is one set of rules. No rows at all empty
 * the batch, because a list that has become empty says that nothing is there any more.
 */
export async function importRows(options: ImportRowsOptions): Promise<ImportReport> {
  const { dataDir, engine, manifest, batch, rows, label, priority = 0, dryRun = false, onStep } = options;
  const table = factTableByName(options.table);
  const report = { table: table.importName, batches: [batch], dryRun, ignoredColumns: [] };
  if (rows.length === 0) return { ...report, ...emptied(options, table) };
  try {
    const workDir = await makeWorkDir(dataDir, dryRun);
    try {
      const part = await rowsAsPart(engine, table, rows, join(workDir, 'rows.json'), label);
      // The passing file is gone when the message is read: a row goes by what it speaks of, not by its line.
      const named = { ...part, place: async (row: number) => keyOf(table, rows[row - 1]) };
      const taken = await append(engine, dataDir, manifest, {
        table,
        batches: [{ name: batch, importedFrom: label, priority, parts: [named] }],
        workDir,
        dryRun,
        ...(onStep !== undefined && { onStep }),
      });
      return { ...report, ...taken };
    } finally {
      await rm(workDir, { recursive: true, force: true });
    }
  } catch (failure) {
    throw storageFailure(failure, dataDir);
  }
}

/** Rows as a part of a batch, by the rules of people's own files. A column the table does not have is a mistake of ours. */
export async function rowsAsPart(
  engine: Engine,
  table: FactTable,
  rows: readonly FactRow[],
  path: string,
  label: string,
): Promise<IncomingPart> {
  await writeRowLines(path, rows);
  const input = { path, label, format: 'json', isPiped: true } as const;
  const reading = { mappings: [], constants: [] };
  const { part, notUnderstood } = await readPart(table, input, 0, reading, (sql) => engine.rows(sql));
  const names = notUnderstood.map(({ name }) => name);
  assert.deepEqual(names, [], `the table ${table.name} has no column ${names.join(', ')}`);
  return part;
}

type Emptied = Omit<ImportReport, 'table' | 'batches' | 'dryRun' | 'ignoredColumns'>;

function emptied({ manifest, batch, dryRun }: ImportRowsOptions, table: FactTable): Emptied {
  const before = manifest.snapshot().batches.filter((known) => known.table === table.name && known.name === batch);
  if (before.length > 0 && dryRun !== true) {
    manifest.commit({ addBatches: [], dropBatches: [{ table: table.name, name: batch }] });
  }
  const rowsReplaced = before.flatMap(({ files }) => files).reduce((sum, file) => sum + file.rows, 0);
  return { rowsTaken: 0, rowsReplaced, rowsSkipped: 0, skipped: [], notes: [], gpuHours: '0', cpuHours: '0' };
}

const LINES_PER_WRITE = 5_000;

/** Rows as a file of JSON lines, for the reader of people's own files. */
async function writeRowLines(path: string, rows: readonly FactRow[]): Promise<void> {
  const file = await open(path, 'wx');
  try {
    for (let start = 0; start < rows.length; start += LINES_PER_WRITE) {
      const lines = rows.slice(start, start + LINES_PER_WRITE).map((row) => `${jsonLine(row)}\n`);
      await file.writeFile(lines.join(''));
    }
  } finally {
    await file.close();
  }
}

/** One row as a line of JSON: times in ISO 8601, whole numbers of any size as text, what is unknown left out. */
export function jsonLine(row: FactRow): string {
  const entries = Object.entries(row).flatMap(([name, value]) => {
    const written = jsonValue(value);
    return written === undefined ? [] : [[name, written] as const];
  });
  return JSON.stringify(Object.fromEntries(entries));
}

function jsonValue(value: FactValue): string | number | boolean | Record<string, string> | undefined {
  if (value === undefined || value === null) return undefined;
  if (value instanceof Date) return value.toISOString();
  if (typeof value === 'string') return readableText(value);
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, text]) => [readableText(key), readableText(text)]));
}

/** The engine refuses a file for a NUL or for half a surrogate pair; both can stand in a label somebody else wrote. */
function readableText(text: string): string {
  return Buffer.from(text.replaceAll('\0', '\uFFFD'), 'utf8').toString('utf8');
}

function keyOf(table: FactTable, row: FactRow | undefined): string {
  const keys = table.columns.filter(({ key }) => key).map(({ name }) => JSON.stringify(jsonValue(row?.[name]) ?? ''));
  return keys.filter((key) => key !== '""').join(' ');
}
