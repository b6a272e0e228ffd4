import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { chargeTable } from '../../facts/charge.ts';
import type { IncomingBatch } from '../../facts/incoming.ts';
import type { BillFacts } from '../../facts/manifest.ts';
import { OperationError } from '../../facts/operation-error.ts';
import type { TakenBill } from '../../lake/append-bills.ts';
import { append } from '../../lake/append.ts';
import type { OnStep } from '../../lake/durable-file.ts';
import type { AddedBills, AddedExport } from '../../report/bills-added.ts';
import { storageFailure } from '../../state/storage-failure.ts';
import { findConfig } from '../config/config-file.ts';
import { coveredUntilText, makeWorkDir, readOptionsOf } from '../import.ts';
import { NO_RULES } from '../rules/rule.ts';
import { asImporter } from '../take-in.ts';
import type { ReadSpace, WriteSpace } from '../workspace.ts';
import { deriveLedger, withReader } from '../workspace.ts';
import { checkPromises } from './check-promises.ts';
import { findExports } from './find-exports.ts';
import type { ExportStore, FoundExport } from './find-exports.ts';
import { folderStore } from './folder-store.ts';
import type { OpenedExport } from './open-exports.ts';
import { openExports } from './open-exports.ts';
import { reportBills } from './report-bills.ts';
import type { S3Options } from './s3-store.ts';

export interface AddBillsRequest {
  readonly dataDir: string;
  /** Files, folders and s3://bucket/prefix/. */
  readonly places: readonly string[];
  readonly provider?: string;
  readonly account?: string;
  readonly set?: readonly string[];
  readonly map?: readonly string[];
  readonly zone?: string;
  readonly dateFormat?: string;
  readonly coveredUntil?: string;
  readonly dryRun?: boolean;
  readonly s3?: S3Options;
  readonly now: Date;
  readonly onProgress?: (what: string) => void;
  readonly onStep?: OnStep;
}

/** What one command took in, before it is told. */
interface Taken {
  readonly bills: readonly TakenBill[];
  readonly facts: readonly BillFacts[];
  readonly exports: readonly AddedExport[];
  readonly notes: readonly string[];
}

/**
 * Takes bills into the lake and brings the ledger up to date: all that was named, or nothing.
 *
 * The state from before stays open for reading meanwhile, so that a month that came again can say what moved.
 */
export async function addBills(request: AddBillsRequest): Promise<AddedBills> {
  // What moved is told by team: a mistake in the rules is said before anything is taken, not after.
  const rules = (await findConfig(undefined))?.rules ?? NO_RULES;
  const within = async (before: ReadSpace | undefined): Promise<AddedBills> => {
    const taken = await asImporter(request, 'bills add', (space) => takeAll(space, request));
    const { bills, facts, exports, notes } = taken;
    const base = { dryRun: request.dryRun ?? false, exports, notes };
    if (request.dryRun) return { ...base, bills: await reportBills(bills, facts, before, undefined) };
    const told = async (after: ReadSpace): Promise<AddedBills> => ({
      ...base,
      bills: await reportBills(bills, facts, before, after),
    });
    return withReader(request.dataDir, told, { rules });
  };
  if (!existsSync(join(request.dataDir, 'state.sqlite'))) return within(undefined);
  return withReader(request.dataDir, within, { rules });
}

async function takeAll(space: WriteSpace, request: AddBillsRequest): Promise<Taken> {
  const dryRun = request.dryRun ?? false;
  const reading = readOptionsOf(chargeTable, { ...request, set: constantsOf(request) });
  const coveredUntil = request.coveredUntil === undefined ? undefined : coveredUntilText(request.coveredUntil);
  const workDir = await makeWorkDir(space.dataDir, dryRun);
  try {
    const { found, notes } = await findAll(request, space.dataDir);
    const opened = await openExports(found, workDir, reading, (sql) => space.engine.rows(sql), request.onProgress);
    let bills: readonly TakenBill[] = [];
    request.onProgress?.('reading');
    const report = await append(space.engine, space.dataDir, space.manifest, {
      table: chargeTable,
      batches: opened.exports.map((each) => batchOf(each, request.now)),
      workDir,
      dryRun,
      importedAt: request.now,
      ...(coveredUntil !== undefined && { coveredUntil }),
      ...(request.onStep !== undefined && { onStep: request.onStep }),
      onBills: (read) => {
        bills = read;
        checkPromises(read, opened.exports);
      },
    });
    const facts = billFacts(space, bills, dryRun);
    if (!dryRun) await postBills(space, request);
    return {
      bills,
      facts,
      exports: toldExports(opened.exports, bills),
      notes: [...notes, ...opened.notes, ...report.notes],
    };
  } catch (failure) {
    throw storageFailure(failure, request.dataDir);
  } finally {
    await rm(workDir, { recursive: true, force: true });
  }
}

/** Brings the ledger up to date. The bills are in by now: where this fails, that is said, and not that nothing was taken. */
async function postBills(space: WriteSpace, request: AddBillsRequest): Promise<void> {
  try {
    await deriveLedger(space, {
      onProgress: (stage, unit) => request.onProgress?.(`${stage} ${unit}`),
      ...(request.onStep !== undefined && { onStep: request.onStep }),
    });
  } catch (cause) {
    const failure = storageFailure(cause, request.dataDir);
    if (!(failure instanceof OperationError)) throw failure;
    throw new OperationError(failure.code, `${failure.message}; the bills are in, but not in the ledger yet`, {
      hint: 'Mend it, for a full disk make room, then run bursar derive: the bills need not be added again.',
      cause,
    });
  }
}

function constantsOf({ provider, account, set = [] }: AddBillsRequest): string[] {
  return [
    ...set,
    ...(provider === undefined ? [] : [`provider=${provider}`]),
    ...(account === undefined ? [] : [`account=${account}`]),
  ];
}

async function findAll(
  request: AddBillsRequest,
  dataDir: string,
): Promise<{ found: readonly FoundExport[]; notes: readonly string[] }> {
  if (request.places.length === 0) {
    throw new OperationError('no-files', 'no bill to add', {
      hint: 'bursar bills add FILE, FOLDER or s3://bucket/prefix/',
    });
  }
  const found: FoundExport[] = [];
  const notes: string[] = [];
  for (const place of request.places) {
    const result = await findExports(await storeOf(place, request, dataDir));
    found.push(...result.exports);
    notes.push(...result.notes);
  }
  return { found, notes };
}

async function storeOf(place: string, request: AddBillsRequest, dataDir: string): Promise<ExportStore> {
  if (!/^s3:\/\//i.test(place)) return folderStore(place);
  const { s3Store } = await import('./s3-store.ts');
  return s3Store(place, join(dataDir, 'cache', 'bills'), request.s3 ?? {});
}

/** Bills are replaced bill by bill: another month under the same file name must not take this one away. */
function batchOf({ label, parts }: OpenedExport, now: Date): IncomingBatch {
  return {
    name: `${label}, added ${now.toISOString()} ${randomBytes(4).toString('hex')}`,
    importedFrom: label,
    priority: 0,
    parts: parts.map(({ part }) => part),
  };
}

function billFacts(space: WriteSpace, bills: readonly TakenBill[], dryRun: boolean): BillFacts[] {
  if (dryRun) return [];
  const ids = new Set(bills.map(({ billId }) => billId));
  return space.manifest
    .snapshot()
    .batches.flatMap(({ bill }) => (bill !== undefined && ids.has(bill.billId) ? [bill] : []));
}

function toldExports(exports: readonly OpenedExport[], bills: readonly TakenBill[]): AddedExport[] {
  return exports.map(({ label, format, parts, notes, ignoredColumns, superseded, found }) => {
    const own = bills.filter(({ origin }) => origin.startsWith(`${label}, added `));
    const rows = own.reduce((sum, bill) => sum + bill.rows, 0);
    return {
      label,
      format,
      files: parts.map(({ part }) => part.label),
      hasManifest: found.manifest !== undefined,
      rowsRead: rows,
      rowsTaken: rows,
      rowsSkipped: 0,
      billIds: own.map(({ billId }) => billId),
      notes,
      ignoredColumns,
      superseded,
    };
  });
}
