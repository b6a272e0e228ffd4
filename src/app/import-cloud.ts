import { basename } from 'node:path';
import { OperationError } from '../facts/operation-error.ts';
import type { FactRow } from '../facts/source.ts';
import { wholeSecond } from '../sources/cloud/json-fields.ts';
import { AZ, readAzList } from '../sources/cloud/lists/az-list.ts';
import { GCLOUD, readGcloudList } from '../sources/cloud/lists/gcloud-list.ts';
import { LIST_BYTES_MAX, readList, readListFile } from '../sources/cloud/lists/list-file.ts';
import type { ListCommand } from '../sources/cloud/lists/list-file.ts';
import { LIST_POLL_S } from '../sources/cloud/lists/list-source.ts';
import { allocationRow, nodeRow } from '../sources/cloud/vm.ts';
import type { VmList, VmSkipped } from '../sources/cloud/vm.ts';
import { importRows } from './import-rows.ts';
import type { ImportReport } from './import.ts';
import { asImporter } from './take-in.ts';

/** The words of `bursar import` for lists of machines: the command line tool that prints them. */
export type CloudTool = 'gcloud' | 'az';

export function isCloudTool(word: string): word is CloudTool {
  return word === 'gcloud' || word === 'az';
}

export interface CloudImportRequest {
  readonly dataDir: string;
  readonly tool: CloudTool;
  /** All files of one command are one list: names are told apart across projects. */
  readonly files: readonly string[];
  readonly batch?: string;
  /** Where the machines are counted; the cloud's own name where nobody says. */
  readonly cluster?: string;
  readonly dryRun?: boolean;
  readonly stdin?: NodeJS.ReadableStream;
  readonly now?: () => Date;
}

/** What became of every machine of the lists. */
export interface CloudImportReport {
  readonly tool: CloudTool;
  readonly listed: number;
  readonly machines: number;
  readonly gpus: number;
  /** When the list was written: what it says was so then. */
  readonly observedAt: string;
  readonly skipped: readonly VmSkipped[];
  readonly notes: readonly string[];
  readonly tables: readonly ImportReport[];
}

interface Tool extends ListCommand {
  readonly cluster: string;
  readonly read: (entries: readonly unknown[]) => VmList;
}

const TOOLS: Readonly<Record<CloudTool, Tool>> = {
  gcloud: { ...GCLOUD, cluster: 'gcp', read: readGcloudList },
  az: { ...AZ, cluster: 'azure', read: readAzList },
};

/**
 * Takes the machines of a cloud's list into the lake, as nodes and as holdings of whoever they belong to.
 *
 * A list is a moment: importing it again under the same name replaces it, machines that are gone included. Whoever wants their
 * history kept names the file in bursar.yaml and lets `bursar collect` read it.
 */
export async function takeCloudList(request: CloudImportRequest): Promise<CloudImportReport> {
  const { tool, files, dryRun } = request;
  const { cluster: ownName, read, ...made } = TOOLS[tool];
  const cluster = request.cluster ?? ownName;
  if (files.length === 0) {
    throw new OperationError('no-files', 'no file to import', { hint: `${made.command} > FILE` });
  }
  const lists = [];
  for (const file of files) lists.push(await readNamed(file, made, request));
  const list = read(lists.flatMap(({ entries }) => entries));
  const observedAt = wholeSecond(new Date(Math.min(...lists.map(({ writtenAt }) => writtenAt.getTime()))));
  const batch = request.batch ?? `${tool}/${files.map((file) => (file === '-' ? 'stdin' : basename(file))).join('+')}`;
  const rowsOf: Readonly<Record<string, readonly FactRow[]>> = {
    node: list.vms.map((vm) => nodeRow(vm, cluster)),
    allocation: list.vms.map((vm) => allocationRow(vm, { cluster, observedAt, pollS: LIST_POLL_S })),
  };
  const label = files.join(', ');
  const tables = await asImporter(request, `import ${tool}`, async (space) => {
    const reports: ImportReport[] = [];
    for (const [table, rows] of Object.entries(rowsOf)) {
      reports.push(await importRows({ ...space, table, rows, batch, label, ...(dryRun !== undefined && { dryRun }) }));
    }
    return reports;
  });
  return {
    tool,
    listed: list.listed,
    machines: list.vms.length,
    gpus: list.vms.reduce((sum, { gpus }) => sum + gpus.count, 0),
    observedAt: observedAt.toISOString(),
    skipped: list.skipped,
    notes: list.notes,
    tables,
  };
}

async function readNamed(
  file: string,
  made: ListCommand,
  { stdin = process.stdin, now = () => new Date() }: CloudImportRequest,
): Promise<{ entries: readonly unknown[]; writtenAt: Date }> {
  if (file !== '-') return readListFile(file, made);
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stdin as AsyncIterable<Buffer | string>) {
    const piece = Buffer.from(chunk);
    bytes += piece.length;
    if (bytes > LIST_BYTES_MAX) {
      throw new OperationError('too-large', 'stdin has more than 512 MB', { hint: 'Import one project at a time.' });
    }
    chunks.push(piece);
  }
  return { entries: readList(Buffer.concat(chunks), 'stdin', made), writtenAt: now() };
}
