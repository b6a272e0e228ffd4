import { join } from 'node:path';
import { SHARE_UNITS } from '../facts/column.ts';
import type { FactTable } from '../facts/fact-table.ts';
import type { IncomingBatch } from '../facts/incoming.ts';
import { storedColumns } from '../facts/incoming.ts';
import { BEFORE_EVERYTHING } from '../facts/inventory.ts';
import type { Batch, Manifest, Snapshot } from '../facts/manifest.ts';
import type { TakenBill } from './append-bills.ts';
import { writeBills } from './append-bills.ts';
import type { ReadyPart } from './append-check.ts';
import { checkPart } from './append-check.ts';
import type { AppendReport, SkippedRows } from './append-report.ts';
import { hoursText } from './append-report.ts';
import { writeRows } from './append-rows.ts';
import { writeSamples } from './append-samples.ts';
import type { OnStep } from './durable-file.ts';
import type { Engine } from './engine.ts';
import { quote } from './engine.ts';
import type { AsideFile } from './parquet-file.ts';
import { removeFiles, settleFiles, writeStage, writeWhole } from './parquet-file.ts';

export interface AppendRequest {
  readonly table: FactTable;
  readonly batches: readonly IncomingBatch[];
  /** A folder for passing files, emptied by the caller. */
  readonly workDir: string;
  /** Computes everything in `workDir`, changes nothing. */
  readonly dryRun: boolean;
  /** For bills: until when they are complete, where the person knows better than the rows. */
  readonly coveredUntil?: string;
  readonly onStep?: OnStep;
  /** For bills: when they came in; the clock of whoever asks. */
  readonly importedAt?: Date;
  /** For bills: told what was read before anything is committed, so that it can refuse it all. */
  readonly onBills?: (bills: readonly TakenBill[]) => void;
}

interface Written {
  readonly batches: readonly Batch[];
  readonly asides: readonly AsideFile[];
  readonly skipped: readonly SkippedRows[];
  readonly gpuUnitSeconds: bigint;
  readonly cpuMilliSeconds: bigint;
  readonly bills?: readonly TakenBill[];
}

/**
 * Takes batches into the lake: all of them, or nothing.
 *
 * Every row is checked before a file gets its name, and one commit of the manifest makes the new files the truth and the
 * replaced ones history. A crash at any moment leaves files that nobody lists, never half a batch.
 */
export async function append(
  engine: Engine,
  dataDir: string,
  manifest: Manifest,
  request: AppendRequest,
): Promise<AppendReport> {
  const root = request.dryRun ? request.workDir : dataDir;
  const asides: AsideFile[] = [];
  const notes: string[] = [];
  let isCommitting = false;
  try {
    request.onStep?.('write');
    const written: Written[] = [];
    for (const [index, batch] of request.batches.entries()) {
      const parts = await readyParts(engine, request, batch, index, notes);
      const known = manifest.snapshot().batches;
      written.push(await writeBatch(engine, root, request, batch, parts, (aside) => asides.push(aside), known));
    }
    const bills = written.flatMap((each) => each.bills ?? []);
    request.onBills?.(bills);
    const added = written.flatMap(({ batches }) => batches);
    const dropped = replacedBy(manifest.snapshot(), request, added);
    notes.push(...strangersReplaced(dropped, added));
    if (!request.dryRun) {
      await settleFiles(
        root,
        written.flatMap((each) => each.asides),
        request.onStep,
      );
      request.onStep?.('commit');
      isCommitting = true;
      manifest.commit({
        addBatches: added,
        dropBatches: dropped.map(({ table, name }) => ({ table, name })),
      });
    }
    return reportOf(written, dropped, notes);
  } catch (failure) {
    // What a failed commit left is for the manifest to say, which `sweepLeftovers` asks.
    if (!isCommitting) await removeFiles(root, asides);
    throw failure;
  }
}

/** `a/jobs.csv` replaces `b/jobs.csv`, since a batch goes by its file's name: right for a file that moved, worth a word if not. */
function strangersReplaced(dropped: readonly Batch[], added: readonly Batch[]): string[] {
  return dropped
    .filter((old) => added.some(({ name, importedFrom }) => name === old.name && importedFrom !== old.importedFrom))
    .map(({ name, importedFrom, bill }) =>
      bill === undefined
        ? `replaces the batch ${name} that came from ${importedFrom}; --batch NAME keeps both`
        : `replaces the bill ${name} that came from ${importedFrom}`,
    );
}

/** Stages what is dear to read, then checks it; a file with statistics is read where it lies. */
async function readyParts(
  engine: Engine,
  { table, workDir }: AppendRequest,
  batch: IncomingBatch,
  batchIndex: number,
  notes: string[],
): Promise<ReadyPart[]> {
  const ready: ReadyPart[] = [];
  const columns = storedColumns(table).map(({ name }) => name);
  for (const [index, part] of batch.parts.entries()) {
    try {
      const stays = part.isTable ?? (part.rereadable && table.merge === 'column');
      const path = join(workDir, `stage-${batchIndex}-${index}.parquet`);
      if (table.merge === 'bill' && (await writeWhole(engine, path, columns, part.select))) {
        ready.push({ part, relation: `SELECT * FROM read_parquet(${quote(path)})`, wholePath: path });
        continue;
      }
      if (!stays) await writeStage(engine, path, part.select);
      const relation = stays ? part.select : `SELECT * FROM read_parquet(${quote(path)})`;
      notes.push(...(await checkPart(engine, table, { part, relation })));
      ready.push({ part, relation });
    } catch (failure) {
      throw await part.explain(failure);
    }
  }
  return ready;
}

async function writeBatch(
  engine: Engine,
  root: string,
  { table, workDir, coveredUntil, importedAt }: AppendRequest,
  batch: IncomingBatch,
  parts: readonly ReadyPart[],
  keep: (aside: AsideFile) => void,
  known: readonly Batch[],
): Promise<Written> {
  const { name, importedFrom, priority } = batch;
  const batchBase = { table: table.name, name, origin: name, importedFrom, priority };
  if (table.merge === 'bill') {
    const bills = await writeBills(engine, root, table, batch, parts, { coveredUntil, importedAt, keep, known });
    return { ...bills, skipped: [], gpuUnitSeconds: 0n, cpuMilliSeconds: 0n };
  }
  if (table.merge === 'column') {
    const samples = await writeSamples(engine, root, workDir, table, parts, keep);
    const { files, asides, skipped, firstAt, newestAt, deviceSeconds } = samples;
    return {
      batches: [{ ...batchBase, observedAt: newestAt ?? BEFORE_EVERYTHING, firstAt, newestAt, files }],
      asides,
      skipped,
      gpuUnitSeconds: deviceSeconds * BigInt(SHARE_UNITS),
      cpuMilliSeconds: 0n,
    };
  }
  const rows = await writeRows(engine, root, workDir, table, parts, keep);
  const { files, asides, skipped, observedAt, firstAt, newestAt, clusters, gpuUnitSeconds, cpuMilliSeconds } = rows;
  return {
    batches: [{ ...batchBase, observedAt, firstAt, newestAt, files, ...(clusters !== undefined && { clusters }) }],
    asides,
    skipped,
    gpuUnitSeconds,
    cpuMilliSeconds,
  };
}

/** Batches of the same name; for bills also every bill an earlier import of this name brought. */
function replacedBy({ batches }: Snapshot, request: AppendRequest, added: readonly Batch[]): readonly Batch[] {
  const names = new Set(added.map(({ name }) => name));
  const origins = new Set(request.batches.map(({ name }) => name));
  return batches.filter(
    ({ table, name, origin }) => table === request.table.name && (names.has(name) || origins.has(origin)),
  );
}

/** Rows of many files that were skipped for one reason are told together, with the first of their examples. */
function byReason(skipped: readonly SkippedRows[]): SkippedRows[] {
  const reasons = new Map<string, SkippedRows>();
  for (const each of skipped) {
    const before = reasons.get(each.reason);
    reasons.set(each.reason, before === undefined ? each : { ...before, rows: before.rows + each.rows });
  }
  return [...reasons.values()];
}

function reportOf(written: readonly Written[], dropped: readonly Batch[], notes: readonly string[]): AppendReport {
  const rowsOf = (batches: readonly Batch[]): number =>
    batches.flatMap(({ files }) => files).reduce((sum, { rows }) => sum + rows, 0);
  const skipped = byReason(written.flatMap((each) => each.skipped));
  const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((total, amount) => total + amount, 0n);
  return {
    rowsTaken: rowsOf(written.flatMap(({ batches }) => batches)),
    rowsReplaced: rowsOf(dropped),
    rowsSkipped: skipped.reduce((total, { rows }) => total + rows, 0),
    skipped,
    notes,
    gpuHours: hoursText(sum(written.map((each) => each.gpuUnitSeconds)), BigInt(SHARE_UNITS)),
    cpuHours: hoursText(sum(written.map((each) => each.cpuMilliSeconds)), 1000n),
  };
}
