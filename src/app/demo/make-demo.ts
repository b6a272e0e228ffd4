import { join } from 'node:path';
import { OperationError } from '../../facts/operation-error.ts';
import { allocationLines, deviceLines, FACT_HEADERS, nodeLines } from '../../demo/fact-lines.ts';
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
import { storageFailure } from '../../state/storage-failure.ts';
import { importFiles } from '../import.ts';
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
  readonly samples: number;
  readonly jobs: number;
  readonly totals: Totals;
}

/**
 * Makes an organisation's facts, bills and truth as files, and takes the facts and bills in through the same door as real
 * ones. Doing it again replaces it; a folder with other data in it is left alone.
 */
export async function makeDemo(request: DemoRequest): Promise<DemoReport> {
  const folder = join(request.out, 'files');
  // Before there is a data folder, so that none is left where nothing was made.
  refuseOtherFolder(folder);
  if (request.onlyFiles) return writeFiles(request, folder);
  return withWriter(request.out, 'demo', async (space) => {
    if (space.manifest.snapshot().batches.some((batch) => !isDemo(batch))) {
      throw new OperationError('not-empty', `${request.out} holds data that is not a demo's`, {
        hint: 'Give the demo a folder of its own: bursar demo --out DIR.',
      });
    }
    const report = writeFiles(request, folder);
    await takeIn(space, report.files, request.onProgress);
    await deriveLedger(space, { onProgress: (stage, unit) => request.onProgress(`deriving ${stage}, ${unit}`) });
    return report;
  });
}

function writeFiles({ world, scope, out, onProgress }: DemoRequest, path: string): DemoReport {
  const books = createBooks(world, scope);
  let jobs = 0;
  // Dated by the world's own clock: with the date of the day they were made, what bills cover would depend on it.
  const date = new Date(scope.until * 1000);
  try {
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
    });
    const samples = files.reduce((sum, { table, rows }) => sum + (table === 'samples' ? rows : 0), 0);
    return { folder: path, files: files.filter(({ rows }) => rows > 0), samples, jobs, totals: books.totals() };
  } catch (failure) {
    throw storageFailure(failure, out);
  }
}

function addFacts(folder: DemoFolder, day: OrganisationDay): void {
  folder.add('nodes', 'nodes.csv', FACT_HEADERS.nodes, nodeLines(day));
  folder.add('devices', 'devices.csv', FACT_HEADERS.devices, deviceLines(day));
  folder.add('rates', 'rates.csv', RATE_HEADER, rateLines(day));
  folder.add('allocations', 'allocations.csv', FACT_HEADERS.allocations, allocationLines(day));
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
