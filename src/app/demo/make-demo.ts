import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Batch } from '../../facts/manifest.ts';
import { OperationError } from '../../facts/operation-error.ts';
import { allocationLines, deviceLines, FACT_HEADERS, nodeLines, waitingLines } from '../../demo/fact-lines.ts';
import { WORK_HEADER, workLines } from '../../demo/work-lines.ts';
import { planFleet } from '../../demo/fleet/plan-fleet.ts';
import {
  CHARGE_HEADER,
  createBooks,
  FX_HEADER,
  fxLines,
  RATE_HEADER,
  rateLines,
  TRUTH_HEADER,
} from '../../demo/money/books.ts';
import type { Charge, Totals } from '../../demo/money/books.ts';
import type { OrganisationDay, Scope } from '../../demo/organisation.ts';
import { organisationDays } from '../../demo/schedule/organisation-days.ts';
import { SAMPLE_HEADER, sampleLines, secondExporterLines } from '../../demo/sensors/samples.ts';
import { printWorld } from '../../demo/world/print-world.ts';
import type { World } from '../../demo/world/world-schema.ts';
import { openManifest } from '../../state/manifest.ts';
import { storageFailure } from '../../state/storage-failure.ts';
import { acquireWriterLock } from '../../state/writer-lock.ts';
import { importFiles } from '../import.ts';
import { openFindingWriter } from '../../state/finding-store.ts';
import { deriveLedger, withWriter } from '../workspace.ts';
import type { WriteSpace } from '../workspace.ts';
import { refuseOtherFolder, writeDemoFolder } from './demo-files.ts';
import type { DemoFile, DemoFolder } from './demo-files.ts';
import { DEMO_BATCH, isDemo } from './demo-mark.ts';

export interface DemoRequest {
  readonly world: World;
  readonly scope: Scope;
  /** The data folder; the files go into `files` below it. */
  readonly out: string;
  /** Leaves the files to be looked at and imported by hand. */
  readonly onlyFiles: boolean;
  readonly onProgress: (words: string) => void;
}

export interface DemoReport {
  readonly folder: string;
  readonly files: readonly DemoFile[];
  /** GPUs that were asked for. */
  readonly gpus: number;
  /** Pools that have a part of the fleet, but one too small for a machine of theirs. */
  readonly emptyPools: readonly string[];
  readonly samples: number;
  readonly jobs: number;
  readonly totals: Totals;
}

/**
 * Makes an organisation's facts, bills and truth as files, and takes the facts and bills in through the same door as real
 * ones. Doing it again replaces it; a folder with other data in it is left alone.
 */
export async function makeDemo(request: DemoRequest): Promise<DemoReport> {
  const { out, onlyFiles, onProgress } = request;
  const folder = join(out, 'files');
  try {
    // Before there is a data folder, so that none is left where nothing was made.
    refuseOtherFolder(folder);
    makeFolder(out);
    if (onlyFiles) {
      return await withLockAlone(out, async () => {
        refuseOtherData(out, await batchesIn(out));
        return writeFiles(request, folder);
      });
    }
    return await withWriter(out, 'demo', async (space) => {
      refuseOtherData(out, space.manifest.snapshot().batches);
      const report = writeFiles(request, folder);
      await takeIn(space, report.files, onProgress);
      await deriveLedger(space, { onProgress: (stage, unit) => onProgress(`deriving ${stage}, ${unit}`) });
      await forgetFindings(space.dataDir);
      return report;
    });
  } catch (failure) {
    throw withOwnOption(storageFailure(failure, out));
  }
}

/** Files of a demo beside real data would be taken for more of it by whoever imports them. */
function refuseOtherData(out: string, batches: readonly Batch[]): void {
  if (batches.every(isDemo)) return;
  throw new OperationError('not-empty', `${out} holds data that is not a demo's`, {
    hint: 'Give the demo a folder of its own: bursar demo --out DIR.',
  });
}

async function batchesIn(out: string): Promise<readonly Batch[]> {
  try {
    const manifest = await openManifest(out, { readOnly: true, now: () => new Date() });
    try {
      return manifest.snapshot().batches;
    } finally {
      manifest.close();
    }
  } catch (failure) {
    if (failure instanceof OperationError && failure.code === 'no-data') return [];
    throw failure;
  }
}

/** Keeps other writers out without a ledger being made: a folder that was none is none afterwards. */
async function withLockAlone<Result>(out: string, work: () => Promise<Result>): Promise<Result> {
  const lock = await acquireWriterLock(out, {
    command: 'demo --only-files',
    pid: process.pid,
    now: () => new Date(),
  });
  try {
    return await work();
  } finally {
    const isDataFolder = existsSync(join(out, 'state.sqlite'));
    // While it is held: afterwards it could be the next writer's.
    if (!isDataFolder) rmSync(join(out, 'writer.lock'), { force: true });
    // A mess in the ledger is still there, whoever wrote files beside it.
    lock.release({ leavesMess: isDataFolder && lock.followsMess });
  }
}

function makeFolder(out: string): void {
  try {
    mkdirSync(out, { recursive: true });
  } catch (failure) {
    const isUnclear = failure instanceof Error && 'code' in failure && failure.code === 'ENOENT';
    throw isUnclear ? reasonAgainst(out, failure) : failure;
  }
}

/** Node says ENOENT of folders in folders for whatever stops it, a read-only disk too; a folder alone gets the reason. */
function reasonAgainst(out: string, unclear: Error): unknown {
  let missing = resolve(out);
  while (!existsSync(dirname(missing))) missing = dirname(missing);
  try {
    mkdirSync(missing);
  } catch (reason) {
    return reason;
  }
  return unclear;
}

/** What other commands call --data is --out here. */
function withOwnOption(failure: unknown): unknown {
  if (!(failure instanceof OperationError) || failure.hint === undefined) return failure;
  const { code, message, hint, cause } = failure;
  return new OperationError(code, message, { hint: hint.replaceAll('--data', '--out'), cause });
}

/** Asked before anything is published: a demo is there to check ledgers by. */
export function refuseWrongTruth({ billedUsdMicros, rateUsdMicros, truthUsdMicros }: Totals): void {
  const differenceMicros = truthUsdMicros - (billedUsdMicros + rateUsdMicros);
  if (differenceMicros === 0) return;
  throw new OperationError(
    'truth-differs',
    `the truth of this demo differs from its bills and rates by ${differenceMicros} micro-dollars`,
    { hint: 'Nothing was written; this is a mistake in Bursar. Please report it with the command and the world file.' },
  );
}

function writeFiles({ world, scope, onProgress }: DemoRequest, path: string): DemoReport {
  const books = createBooks(world, scope);
  let jobs = 0;
  // Dated by the world's own clock: with the date of the day they were made, what bills cover would depend on it.
  const date = new Date(scope.until * 1000);
  const files = writeDemoFolder({ path, world: printWorld(world), date }, (folder) => {
    folder.add('fx', 'fx.csv', FX_HEADER, fxLines(world, scope));
    for (const day of organisationDays(world, scope)) {
      onProgress(`making ${dayText(day)}`);
      jobs += day.begun.length;
      addFacts(folder, day);
      const { charges, truth } = books.day(day);
      addCharges(folder, charges);
      folder.add(null, 'truth.csv', TRUTH_HEADER, truth);
    }
    refuseWrongTruth(books.totals());
  });
  return {
    folder: path,
    files: files.filter(({ rows }) => rows > 0),
    gpus: scope.gpus,
    emptyPools: emptyPools(world, scope.gpus),
    samples: files.reduce((sum, { table, rows }) => sum + (table === 'samples' ? rows : 0), 0),
    jobs,
    totals: books.totals(),
  };
}

function emptyPools(world: World, gpus: number): readonly string[] {
  return planFleet(world, gpus)
    .filter(({ pool, nodes }) => nodes === 0 && pool.share_percent > 0)
    .map(({ pool }) => pool.name);
}

function addFacts(folder: DemoFolder, day: OrganisationDay): void {
  folder.add('nodes', 'nodes.csv', FACT_HEADERS.nodes, nodeLines(day));
  folder.add('devices', 'devices.csv', FACT_HEADERS.devices, deviceLines(day));
  folder.add('rates', 'rates.csv', RATE_HEADER, rateLines(day));
  folder.add('allocations', 'allocations.csv', FACT_HEADERS.allocations, allocationLines(day));
  folder.add('waiting', 'waiting.csv', FACT_HEADERS.waiting, waitingLines(day));
  folder.add('work', 'work.csv', WORK_HEADER, workLines(day));
  folder.add('samples', `samples-${dayText(day)}.csv`, SAMPLE_HEADER, sampleLines(day));
  folder.add('samples', 'second-exporter.csv', SAMPLE_HEADER, secondExporterLines(day));
}

/** A bill is a file by provider and month. One that is sent twice is two files, of which the later replaces the first. */
function addCharges(folder: DemoFolder, charges: readonly Charge[]): void {
  const linesOf = new Map<string, string[]>();
  const addTo = (name: string, line: string): void => {
    const lines = linesOf.get(name);
    if (lines === undefined) linesOf.set(name, [line]);
    else lines.push(line);
  };
  for (const { provider, month, inFirstIssue, line } of charges) {
    const name = `bill-${provider.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}-${month}`;
    if (inFirstIssue) addTo(`${name}-first-issue.csv`, line);
    addTo(`${name}.csv`, line);
  }
  for (const [name, lines] of linesOf) folder.add('charges', name, CHARGE_HEADER, lines);
}

/** What was found in an earlier demo was of another organisation. */
async function forgetFindings(dataDir: string): Promise<void> {
  const writer = await openFindingWriter(dataDir);
  try {
    writer.forget();
  } finally {
    writer.close();
  }
}

/** Batches of an earlier demo that this one has not are dropped, so that two never mix. */
async function takeIn(
  space: WriteSpace,
  files: readonly DemoFile[],
  onProgress: (words: string) => void,
): Promise<void> {
  const before = space.manifest.snapshot().batches;
  const origins = new Set<string>();
  for (const { table, path, name } of files) {
    if (table === null) continue;
    onProgress(`taking in ${name}`);
    const batch = `${DEMO_BATCH}${name}`;
    origins.add(batch);
    await importFiles({ ...space, table, files: [path], batch });
  }
  const dropBatches = before.filter(({ origin }) => !origins.has(origin)).map(({ table, name }) => ({ table, name }));
  if (dropBatches.length > 0) space.manifest.commit({ dropBatches });
}

function dayText({ from }: OrganisationDay): string {
  return new Date(from * 1000).toISOString().slice(0, 10);
}
