import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { importFiles } from './import.ts';
import type { ImportOptions, ImportReport } from './import.ts';
import { withWriter } from './workspace.ts';

export type TakeInRequest = Omit<ImportOptions, 'engine' | 'manifest'>;

/** Imports files as the one writer of the data folder. A dry run into a folder that is not there does not make it. */
export async function takeIn(request: TakeInRequest): Promise<ImportReport> {
  if (!request.dryRun || existsSync(join(request.dataDir, 'state.sqlite'))) return takeInto(request.dataDir, request);
  const passing = await mkdtemp(join(tmpdir(), 'bursar-dry-run-'));
  try {
    return await takeInto(passing, request);
  } finally {
    await rm(passing, { recursive: true, force: true });
  }
}

async function takeInto(dataDir: string, request: TakeInRequest): Promise<ImportReport> {
  return withWriter(
    dataDir,
    `import ${request.table}`,
    ({ engine, manifest }) => importFiles({ ...request, dataDir, engine, manifest }),
    request.onStep,
  );
}
