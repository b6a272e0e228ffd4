import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { OperationError } from '../facts/operation-error.ts';
import type { FactRow } from '../facts/source.ts';
import { factsOfReadings } from '../sources/gpu-metrics/gpu-reading.ts';
import { workBetween } from '../sources/serving/counter-memory.ts';
import { readTelemetry } from '../sources/telemetry-file/read-telemetry.ts';
import type { FilePart, TelemetryFile } from '../sources/telemetry-file/telemetry-file.ts';
import { importRows } from './import-rows.ts';
import type { ImportReport } from './import.ts';
import { asImporter } from './take-in.ts';
import type { WriteSpace } from './workspace.ts';

export interface TelemetryRequest {
  readonly dataDir: string;
  /** Files, folders of files, or `-`. */
  readonly files: readonly string[];
  /** The machine, where a file names none. */
  readonly node?: string;
  /** The moment of what has no time of its own; of several the first. */
  readonly at?: Date;
  readonly zone?: string;
  readonly dryRun?: boolean;
  readonly stdin?: AsyncIterable<Buffer | string>;
  readonly now?: () => Date;
}

/** What one file was, where each of its lines went, and what the lake took of it. */
export interface TelemetryFileReport {
  readonly file: string;
  readonly kind: string;
  readonly isRecognised: boolean;
  readonly unit: string;
  readonly units: string;
  /** The counts of `parts` add up to this. */
  readonly total: number;
  readonly parts: readonly FilePart[];
  readonly gpus: number;
  readonly nodes: readonly string[];
  readonly firstAt: string | null;
  readonly lastAt: string | null;
  readonly notes: readonly string[];
  readonly tables: readonly ImportReport[];
}

export interface TelemetryReport {
  readonly files: readonly TelemetryFileReport[];
  readonly dryRun: boolean;
}

const BYTES_MAX = 256 * 1024 * 1024;
const FILES_MAX = 10_000;
/** A file speaks of its moment: the lake takes a single sample to be good for this long. */
const STEP_MS = 60_000;

/** Said where counters of work stand in one scrape only, or in scrapes of one moment. */
const ALONE =
  'counters of a model server say what was done only by their growth: import two scrapes of one target together, taken at different times';

interface ReadFile {
  readonly label: string;
  readonly batch: string;
  readonly found: TelemetryFile;
}

/**
 * Takes saved scrapes and outputs of nvidia-smi and rocm-smi into the lake: samples, devices and machines.
 *
 * Everything is read before anything is written. GPUs are present only at the moments the file speaks of: a file from last
 * year does not say that the GPU is still there.
 */
export async function takeTelemetry(request: TelemetryRequest): Promise<TelemetryReport> {
  const named = await namedFiles(request.files);
  const read: ReadFile[] = [];
  for (const file of named) read.push(await readOne(file, request));
  refuseSameBatch(read);
  const dryRun = request.dryRun ?? false;
  const scrapes = read.flatMap(({ found, label }) => (found.scrape === undefined ? [] : [{ ...found.scrape, label }]));
  const work = workBetween(scrapes).rows;
  const alone = work.length > 0 || scrapes.length === 0 ? [] : [ALONE];
  if (work.length === 0 && !read.some(({ found }) => isTaken(found))) {
    return { files: read.map((each) => reportOf(each, [], alone)), dryRun };
  }
  return asImporter(request, 'import telemetry', async (space) => {
    const files: TelemetryFileReport[] = [];
    const last = scrapes.at(-1)?.label;
    for (const each of read) {
      const tables = await write(space, each, dryRun);
      if (work.length > 0 && each.label === last) {
        const batch = `telemetry/work/${scrapes.map(({ label }) => basename(label)).toSorted()[0] ?? ''}`;
        tables.push(await importRows({ ...space, table: 'work', rows: work, batch, label: each.label, dryRun }));
      }
      files.push(reportOf(each, tables, each.found.scrape === undefined ? [] : alone));
    }
    return { files, dryRun };
  });
}

async function namedFiles(paths: readonly string[]): Promise<string[]> {
  if (paths.length === 0) {
    throw new OperationError('no-files', 'no file to import', { hint: 'bursar import telemetry FILE…' });
  }
  const files: string[] = [];
  for (const path of paths) {
    if (path === '-' || !(await statOf(path)).isDirectory()) {
      files.push(path);
      continue;
    }
    const entries = await readdir(path, { recursive: true, withFileTypes: true });
    files.push(
      ...entries
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name))
        .toSorted(),
    );
  }
  if (files.length > FILES_MAX) {
    throw new OperationError('too-many-files', `${files.length} files are more than ${FILES_MAX}`, {
      hint: 'Name a smaller folder.',
    });
  }
  return files;
}

async function statOf(path: string) {
  try {
    return await stat(path);
  } catch (cause) {
    throw new OperationError('no-such-file', `${path} cannot be read`, {
      hint: 'Check its name and who may read it.',
      cause,
    });
  }
}

async function readOne(file: string, request: TelemetryRequest): Promise<ReadFile> {
  const isPiped = file === '-';
  const label = isPiped ? 'stdin' : file;
  const writtenAt = isPiped ? (request.now ?? (() => new Date()))() : (await statOf(file)).mtime;
  const bytes = isPiped ? await pipedBytes(request.stdin ?? process.stdin) : await fileBytes(file);
  const text = (await unpacked(bytes, label)).toString('utf8');
  const found = await readTelemetry(text, {
    stem: basename(label)
      .replace(/\.gz$/i, '')
      .replace(/\.[A-Za-z]+$/, ''),
    writtenAt,
    ...(request.node !== undefined && { nodeId: request.node }),
    ...(request.at !== undefined && { at: request.at }),
    ...(request.zone !== undefined && { zone: request.zone }),
  });
  return { label, batch: `telemetry/${basename(label)}`, found };
}

async function fileBytes(file: string): Promise<Buffer> {
  const { size } = await statOf(file);
  if (size > BYTES_MAX) throw tooLarge(file);
  try {
    return await readFile(file);
  } catch (cause) {
    throw new OperationError('no-such-file', `${file} cannot be read`, { hint: 'Check who may read it.', cause });
  }
}

async function pipedBytes(stdin: AsyncIterable<Buffer | string>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stdin) {
    const piece = Buffer.from(chunk);
    bytes += piece.length;
    if (bytes > BYTES_MAX) throw tooLarge('stdin');
    chunks.push(piece);
  }
  return Buffer.concat(chunks);
}

async function unpacked(bytes: Buffer, label: string): Promise<Buffer> {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  try {
    return await promisify(gunzip)(bytes, { maxOutputLength: BYTES_MAX });
  } catch (cause) {
    const isLarge = cause instanceof Error && 'code' in cause && cause.code === 'ERR_BUFFER_TOO_LARGE';
    if (isLarge) throw tooLarge(label);
    throw new OperationError('truncated-file', `${label} is a gzip file that was cut off or damaged`, {
      hint: 'Copy or export it again; gzip -t FILE tells.',
      cause,
    });
  }
}

function tooLarge(label: string): OperationError {
  return new OperationError('too-large', `${label} is larger than 256 MB`, {
    hint: 'Cut it in parts, or take a table with bursar import samples, which has no such limit.',
  });
}

function refuseSameBatch(read: readonly ReadFile[]): void {
  const names = new Map<string, string>();
  for (const { batch, label, found } of read) {
    if (!isTaken(found)) continue;
    const other = names.get(batch);
    if (other !== undefined) {
      throw new OperationError('same-batch', `${other} and ${label} have the same name: one would replace the other`, {
        hint: 'Import them one by one after renaming one of them.',
      });
    }
    names.set(batch, label);
  }
}

function isTaken({ readings, facts = [] }: TelemetryFile): boolean {
  return readings.length > 0 || facts.some(({ rows }) => rows.length > 0);
}

async function write(space: WriteSpace, { label, batch, found }: ReadFile, dryRun: boolean): Promise<ImportReport[]> {
  const reports: ImportReport[] = [];
  for (const { table, rows } of [...readingFacts(found), ...(found.facts ?? [])]) {
    if (rows.length > 0) reports.push(await importRows({ ...space, table, rows, batch, label, dryRun }));
  }
  return reports;
}

function readingFacts({ readings }: TelemetryFile): { table: string; rows: readonly FactRow[] }[] {
  if (readings.length === 0) return [];
  const last = Math.max(...readings.map(({ at }) => at.getTime()));
  const { samples, devices, nodes } = factsOfReadings(readings, { presentUntil: new Date(last + STEP_MS) });
  return [
    { table: 'gpu_sample', rows: samples },
    { table: 'device', rows: devices },
    { table: 'node', rows: nodes },
  ];
}

function reportOf(
  { label, found }: ReadFile,
  tables: readonly ImportReport[],
  more: readonly string[],
): TelemetryFileReport {
  const { readings, kind, isRecognised, unit, units, total, parts, notes } = found;
  const times = readings.map(({ at }) => at.toISOString()).toSorted();
  return {
    file: label,
    kind,
    isRecognised,
    unit,
    units,
    total,
    parts,
    notes: [...notes, ...more],
    gpus: new Set(readings.filter(({ mig }) => mig === undefined).map(({ deviceId }) => deviceId)).size,
    nodes: [...new Set(readings.map(({ nodeId }) => nodeId))].toSorted(),
    firstAt: times[0] ?? null,
    lastAt: times.at(-1) ?? null,
    tables,
  };
}
