import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { importFiles } from './import.ts';
import type { ImportOptions, ImportReport } from './import.ts';
import { withWriter } from './workspace.ts';
import type { WriteSpace } from './workspace.ts';

export type TakeInRequest = Omit<ImportOptions, 'engine' | 'manifest'>;

/** Imports files as the one writer of the data folder. */
export async function takeIn(request: TakeInRequest): Promise<ImportReport> {
  return asImporter(request, `import ${request.table}`, (space) => importFiles({ ...request, ...space }));
}

/** Runs an import as the one writer of the data folder. A dry run into a folder that is not there does not make it. */
export async function asImporter<Result>(
  request: Pick<TakeInRequest, 'dataDir' | 'dryRun' | 'onStep'>,
  command: string,
  work: (space: WriteSpace) => Promise<Result>,
): Promise<Result> {
  const { dataDir, dryRun, onStep } = request;
  if (!dryRun || existsSync(join(dataDir, 'state.sqlite'))) return withWriter(dataDir, command, work, onStep);
  const passing = await mkdtemp(join(tmpdir(), 'bursar-dry-run-'));
  try {
    return await withWriter(passing, command, work, onStep);
  } finally {
    await rm(passing, { recursive: true, force: true });
  }
}
