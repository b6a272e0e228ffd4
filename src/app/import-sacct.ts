import { createReadStream } from 'node:fs';
import { open, readFile, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { OperationError } from '../facts/operation-error.ts';
import type { FactRow } from '../facts/source.ts';
import type { OnStep } from '../lake/durable-file.ts';
import type { InputFile } from '../sources/files/incoming-part.ts';
import { jsonList } from '../sources/slurm/parse/job-json.ts';
import type { BrokenRow, SacctLayout, SacctRow } from '../sources/slurm/parse/sacct-layout.ts';
import { rowAssembler, sacctLayout } from '../sources/slurm/parse/sacct-layout.ts';
import { sacctReader } from '../sources/slurm/parse/sacct-text.ts';
import { slurmClock } from '../sources/slurm/parse/slurm-time.ts';
import type { Lives, SacctReport, SacctTaker } from '../sources/slurm/sacct-file.ts';
import { jobFromJson, sacctTaker } from '../sources/slurm/sacct-file.ts';
import { checkZone } from '../sources/values/time-sql.ts';
import { jsonLine } from './import-rows.ts';
import type { ImportOptions, ImportReport } from './import.ts';
import { importFiles } from './import.ts';
import { asImporter } from './take-in.ts';

export interface SacctImportRequest {
  readonly dataDir: string;
  readonly files: readonly string[];
  /** Where the clocks stood that wrote the times. */
  readonly zone?: string;
  readonly dateFormat?: string;
  /** The columns, where the first line does not name them: as they were given to sacct. */
  readonly format?: string;
  /** The name of the cluster, if not the one in the file. */
  readonly cluster?: string;
  readonly batch?: string;
  readonly dryRun?: boolean;
  readonly stdin?: NodeJS.ReadableStream;
  readonly onStep?: OnStep;
}

/** A reply that is parsed as a whole must fit into one string. */
const JSON_BYTES_MAX = 400 * 1024 * 1024;
const LINES_PER_WRITE = 2000;

/** Takes accounting files of Slurm into the lake as the one writer of the data folder. */
export async function takeInSacct(request: SacctImportRequest): Promise<ImportReport> {
  return asImporter(request, 'import sacct', (space) => importSacct(request, space));
}

/**
 * Takes what `sacct` printed, as text with any columns or as JSON, into `allocation`: one row for each life of a job and machine.
 *
 * Steps, jobs that never started and rows that say nothing are left out and counted; what is left goes through the same checks as
 * any file. A job that still ran when the file was written is known until then.
 */
export async function importSacct(
  request: SacctImportRequest,
  space: Pick<ImportOptions, 'engine' | 'manifest'> & { readonly dataDir: string },
): Promise<ImportReport> {
  if (request.zone !== undefined) checkZone(request.zone);
  const { files, batch, dryRun, stdin, onStep } = request;
  let read: SacctReport | undefined;
  const report = await importFiles({
    files,
    ...(batch !== undefined && { batch }),
    ...(dryRun !== undefined && { dryRun }),
    ...(stdin !== undefined && { stdin }),
    ...(onStep !== undefined && { onStep }),
    dataDir: space.dataDir,
    engine: space.engine,
    manifest: space.manifest,
    table: 'allocations',
    prepare: async (inputs, workDir) => {
      const written = await rewrite(inputs, workDir, request);
      read = written.report;
      return written.files;
    },
  });
  return {
    ...report,
    rowsSkipped: report.rowsSkipped + sum(read?.skipped.map(({ count }) => count) ?? []),
    skipped: [
      ...(read?.skipped ?? []).map(({ reason, count, example }) => ({ reason, rows: count, example })),
      ...report.skipped,
    ],
    notes: [...(read?.notes ?? []), ...report.notes],
  };
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

interface Rewritten {
  readonly files: readonly InputFile[];
  readonly report: SacctReport;
}

/** The files as JSON lines, and once more if lives of one job turned out to be in another order than their rows. */
async function rewrite(
  inputs: readonly InputFile[],
  workDir: string,
  request: SacctImportRequest,
  lives: Lives = new Map(),
  turn = 0,
): Promise<Rewritten> {
  const taker = sacctTaker(lives, request.cluster);
  const files: InputFile[] = [];
  for (const [index, input] of inputs.entries()) {
    const path = join(workDir, `sacct-${turn}-${index}.json`);
    const sink = await openSink(path, input.format === 'json' ? jsonLine : (row) => JSON.stringify(row));
    try {
      if (input.format === 'json') await takeJson(input, taker, sink);
      else await takeText(input, request, taker, sink);
      await sink.flush();
    } finally {
      await sink.close();
    }
    // A file without a row has no columns that could be checked.
    if (sink.isUsed()) files.push({ path, label: input.label, format: 'json', isPiped: input.isPiped });
  }
  const report = taker.report();
  return report.isOutOfOrder ? rewrite(inputs, workDir, request, lives, turn + 1) : { files, report };
}

interface Sink {
  add(rows: readonly FactRow[]): Promise<void>;
  flush(): Promise<void>;
  /** A row was added. */
  isUsed(): boolean;
  close(): Promise<void>;
}

/** Lines of a text are decoded, so they hold no broken characters but NUL; what JSON may hold is made readable row by row. */
async function openSink(path: string, line: (row: FactRow) => string): Promise<Sink> {
  const file: FileHandle = await open(path, 'wx');
  let lines: string[] = [];
  let isUsed = false;
  const flush = async (): Promise<void> => {
    if (lines.length > 0) await file.writeFile(lines.join(''));
    lines = [];
  };
  return {
    async add(rows) {
      isUsed ||= rows.length > 0;
      for (const row of rows) lines.push(`${line(row)}\n`);
      if (lines.length >= LINES_PER_WRITE) await flush();
    },
    flush,
    isUsed: () => isUsed,
    close: () => file.close(),
  };
}

async function takeJson({ path, label }: InputFile, taker: SacctTaker, sink: Sink): Promise<void> {
  const { size } = await stat(path);
  if (size > JSON_BYTES_MAX) {
    throw new OperationError('too-large', `${label} is too large to be read as JSON`, {
      hint: 'Export it as text: sacct -a -D -X -P --format=…; text of any size can be read.',
    });
  }
  for (const entry of jsonList(await readFile(path, 'utf8'), 'jobs', label)) {
    await sink.add(taker.take(jobFromJson(entry), exampleOf(entry)));
  }
}

function exampleOf(entry: unknown): string {
  return (JSON.stringify(entry) ?? '').slice(0, 100);
}

async function takeText(
  { path, label }: InputFile,
  { zone, dateFormat, format }: SacctImportRequest,
  taker: SacctTaker,
  sink: Sink,
): Promise<void> {
  const lines = createInterface({ input: createReadStream(path, 'utf8'), crlfDelay: Infinity });
  const clock = slurmClock(zone, dateFormat);
  let first: string | undefined;
  let take: ((line: string | undefined) => readonly FactRow[]) | undefined;
  const begin = (second: string | undefined): readonly FactRow[] => {
    const layout = layoutOf(first ?? '', second, format, label);
    take = lineTaker(layout, sacctReader(layout, clock), taker);
    return take(first ?? '');
  };
  for await (const raw of lines) {
    const line = raw.includes('\0') ? raw.replaceAll('\0', '\uFFFD') : raw;
    if (first === undefined) {
      first = line;
      continue;
    }
    if (take === undefined) await sink.add(begin(line));
    await sink.add(take?.(line) ?? []);
  }
  if (first !== undefined && take === undefined) await sink.add(begin(undefined));
  await sink.add(take?.(undefined) ?? []);
}

function layoutOf(first: string, second: string | undefined, format: string | undefined, label: string): SacctLayout {
  try {
    return sacctLayout(first, second, format);
  } catch (failure) {
    if (!(failure instanceof OperationError)) throw failure;
    const { code, message, hint, cause } = failure;
    throw new OperationError(code, `${label}: ${message}`, { cause, ...(hint !== undefined && { hint }) });
  }
}

/** Rows of a line, or of what was left when there are no more. */
function lineTaker(
  layout: SacctLayout,
  read: ReturnType<typeof sacctReader>,
  taker: SacctTaker,
): (line: string | undefined) => readonly FactRow[] {
  const assembler = rowAssembler(layout);
  const rowsOf = (row: SacctRow | BrokenRow): readonly FactRow[] => {
    if ('broken' in row) return taker.take({ leftOut: row.broken }, `line ${row.line}: ${row.text.slice(0, 80)}`);
    const job = read(row);
    return taker.take(job, `line ${row.line}: ${row.fields.slice(0, 4).join(layout.separator)}`);
  };
  return (line) => (line === undefined ? assembler.end() : assembler.push(line)).flatMap((row) => rowsOf(row));
}
