import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { FACT_TABLES } from '../facts/fact-table.ts';
import type { FactTable } from '../facts/fact-table.ts';
import type { IncomingBatch, IncomingPart } from '../facts/incoming.ts';
import type { Manifest } from '../facts/manifest.ts';
import { nearestName } from '../facts/nearest-name.ts';
import { OperationError } from '../facts/operation-error.ts';
import { append } from '../lake/append.ts';
import type { AppendReport } from '../lake/append-report.ts';
import type { OnStep } from '../lake/durable-file.ts';
import type { Engine } from '../lake/engine.ts';
import type { InputFile, ReadOptions } from '../sources/files/incoming-part.ts';
import { readPart } from '../sources/files/incoming-part.ts';
import { parseMap, parseSet } from '../sources/files/map-option.ts';
import { checkZone } from '../sources/values/time-sql.ts';
import { storageFailure } from '../state/storage-failure.ts';
import { takeInput } from './import-input.ts';

export interface ImportOptions {
  readonly dataDir: string;
  /** The word of the command: nodes, devices, samples, allocations, charges, rates, fx. */
  readonly table: string;
  readonly files: readonly string[];
  readonly map?: readonly string[];
  readonly set?: readonly string[];
  readonly zone?: string;
  readonly dateFormat?: string;
  readonly batch?: string;
  readonly dryRun?: boolean;
  readonly coveredUntil?: string;
  readonly priority?: number;
  readonly engine: Engine;
  readonly manifest: Manifest;
  readonly stdin?: NodeJS.ReadableStream;
  readonly onStep?: OnStep;
  /** Rewrites files of another tool into rows of the table, under the names people gave them; those without a row are left out. */
  readonly prepare?: (inputs: readonly InputFile[], workDir: string) => Promise<readonly InputFile[]>;
}

export interface ImportReport extends AppendReport {
  readonly table: string;
  /** Names of the batches taken in; the same name replaces them. */
  readonly batches: readonly string[];
  readonly dryRun: boolean;
  /** Columns of the files that became nothing. */
  readonly ignoredColumns: readonly string[];
}

/**
 * Takes people's files into the lake. Nothing is taken from any of them unless all are fine: the report then says what was
 * taken, replaced and skipped, and why.
 */
export async function importFiles(options: ImportOptions): Promise<ImportReport> {
  const table = tableOf(options.table);
  if (options.files.length === 0) {
    throw new OperationError('no-files', 'no file to import', { hint: `bursar import ${table.importName} FILE…` });
  }
  const reading = readOptionsOf(table, options);
  const coveredUntil = options.coveredUntil === undefined ? undefined : coveredUntilText(options.coveredUntil);
  const dryRun = options.dryRun ?? false;
  try {
    const workDir = await makeWorkDir(options.dataDir, dryRun);
    try {
      const inputs: InputFile[] = [];
      for (const [index, file] of options.files.entries()) {
        inputs.push(await takeInput(file, workDir, index, options.stdin ?? process.stdin));
      }
      const prepared = options.prepare === undefined ? inputs : await options.prepare(inputs, workDir);
      if (prepared.length === 0) return nothingTaken(table, dryRun);
      const { batches, notes, ignoredColumns } = await readBatches(table, prepared, options, reading);
      const report = await append(options.engine, options.dataDir, options.manifest, {
        table,
        batches,
        workDir,
        dryRun,
        importedAt: new Date(),
        ...(coveredUntil !== undefined && { coveredUntil }),
        ...(options.onStep !== undefined && { onStep: options.onStep }),
      });
      return {
        table: table.importName,
        batches: batches.map(({ name }) => name),
        dryRun,
        ...report,
        notes: [...notes, ...report.notes],
        ignoredColumns,
      };
    } finally {
      await rm(workDir, { recursive: true, force: true });
    }
  } catch (failure) {
    throw storageFailure(failure, options.dataDir);
  }
}

/** The report of files in which there is no row to take: what was in the lake stays. */
function nothingTaken(table: FactTable, dryRun: boolean): ImportReport {
  return {
    table: table.importName,
    batches: [],
    dryRun,
    rowsTaken: 0,
    rowsReplaced: 0,
    rowsSkipped: 0,
    skipped: [],
    notes: ['there is no row to take: the data folder is as it was'],
    gpuHours: '0',
    cpuHours: '0',
    ignoredColumns: [],
  };
}

function tableOf(word: string): FactTable {
  const table = FACT_TABLES.find(({ importName, name }) => importName === word || name === word);
  if (table !== undefined) return table;
  const words = FACT_TABLES.map(({ importName }) => importName);
  const near = nearestName(word, words);
  throw new OperationError('unknown-table', `cannot import ${word}${near === undefined ? '' : ` (nearest: ${near})`}`, {
    hint: `One of ${words.join(', ')}.`,
  });
}

/** The options of reading a file, checked before any row is read. */
export function readOptionsOf(
  table: FactTable,
  options: Pick<ImportOptions, 'map' | 'set' | 'zone' | 'dateFormat'>,
): ReadOptions {
  if (options.zone !== undefined) checkZone(options.zone);
  return {
    mappings: parseMap(options.map ?? [], table),
    constants: parseSet(options.set ?? [], table),
    ...(options.zone !== undefined && { zone: options.zone }),
    ...(options.dateFormat !== undefined && { dateFormat: options.dateFormat }),
  };
}

/** `2026-11-01` or `2026-11-01T12:00:00Z` as the lake writes times. */
export function coveredUntilText(text: string): string {
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text);
  const hasZone = /(Z|[+-]\d{2}:?\d{2})$/.test(text);
  const time = new Date(isDay ? `${text}T00:00:00Z` : text);
  if (Number.isNaN(time.getTime()) || !(isDay || hasZone)) {
    throw new OperationError('bad-option', `--covered-until ${text} is not a time in UTC`, {
      hint: 'For example --covered-until 2026-11-01 or 2026-11-01T12:00:00Z.',
    });
  }
  return time.toISOString().slice(0, 19).replace('T', ' ');
}

/** A dry run leaves the data folder as it is, even if that is not there. */
export async function makeWorkDir(dataDir: string, dryRun: boolean): Promise<string> {
  if (dryRun) return mkdtemp(join(tmpdir(), 'bursar-import-'));
  const path = join(dataDir, 'tmp', `import-${randomBytes(6).toString('hex')}`);
  await mkdir(path, { recursive: true });
  return path;
}

interface ReadBatches {
  readonly batches: readonly IncomingBatch[];
  readonly notes: readonly string[];
  readonly ignoredColumns: readonly string[];
}

async function readBatches(
  table: FactTable,
  inputs: readonly InputFile[],
  options: ImportOptions,
  reading: ReadOptions,
): Promise<ReadBatches> {
  const notes: string[] = [];
  const ignored = new Set<string>();
  const parts: IncomingPart[] = [];
  for (const [index, input] of inputs.entries()) {
    const { part, notUnderstood, bill } = await readPart(table, input, index, reading, (sql) =>
      options.engine.rows(sql),
    );
    parts.push(part);
    notes.push(...(bill?.notes ?? []).map((note) => `${input.label}: ${note}`));
    for (const { name } of notUnderstood) ignored.add(name);
    // Bills have dozens of columns nobody here asks for; elsewhere such a column may be a misspelt one.
    if (table.merge !== 'bill' && notUnderstood.length > 0) {
      const names = notUnderstood.map(({ name, nearest }) =>
        nearest === undefined ? name : `${name} (nearest: ${nearest})`,
      );
      notes.push(`${input.label}: columns not understood: ${names.join(', ')}`);
    }
  }
  return { batches: groupParts(table, parts, options, notes), notes, ignoredColumns: [...ignored] };
}

/** Files of one bill import are its parts; elsewhere each file is a batch of its own, unless a name holds them together. */
function groupParts(
  table: FactTable,
  parts: readonly IncomingPart[],
  { batch, priority = 0 }: ImportOptions,
  notes: string[],
): IncomingBatch[] {
  const nameOf = (label: string): string => basename(label);
  const whole = (name: string, members: readonly IncomingPart[]): IncomingBatch => ({
    name,
    importedFrom: members.map(({ label }) => label).join(', '),
    priority,
    parts: members,
  });
  if (batch === undefined && parts.some(({ label }) => label === 'stdin')) {
    notes.push('the batch is named stdin: the next one from stdin replaces it, unless --batch names them');
  }
  if (batch !== undefined) return [whole(batch, parts)];
  if (table.merge === 'bill') return [whole(parts.map(({ label }) => nameOf(label)).join('+'), parts)];
  const batches = parts.map((part) => whole(nameOf(part.label), [part]));
  const twice = batches.find(({ name }, index) => batches.findIndex((other) => other.name === name) !== index);
  if (twice !== undefined) {
    throw new OperationError('same-batch', `two files are both called ${twice.name}: one would replace the other`, {
      hint: 'Import them one by one with --batch NAME, or together under one name with --batch.',
    });
  }
  return batches;
}
