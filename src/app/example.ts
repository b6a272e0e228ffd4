import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { OperationError } from '../facts/operation-error.ts';
import { EXAMPLE_BATCH, isExample } from './example-mark.ts';
import { exampleFiles } from './example-fleet.ts';
import { importFiles } from './import.ts';
import { deriveLedger, withWriter } from './workspace.ts';

/**
 * Makes a data folder from the built-in example, through the same door as real files. Running it again replaces it; a folder
 * with other data in it is left alone.
 */
export async function makeExample(
  dataDir: string,
  onFile: (table: string, path: string, rows: number) => void,
): Promise<void> {
  await withWriter(dataDir, 'example', async (space) => {
    if (space.manifest.snapshot().batches.some((batch) => !isExample(batch))) {
      throw new OperationError('not-empty', `${dataDir} holds data that is not of the example`, {
        hint: 'Give the example a folder of its own: bursar example --data DIR.',
      });
    }
    const folder = join(dataDir, 'example-files');
    await mkdir(folder, { recursive: true });
    for (const { table, name, text } of exampleFiles()) {
      const path = join(folder, name);
      await writeFile(path, text);
      const batch = `${EXAMPLE_BATCH}${name}`;
      const { rowsTaken } = await importFiles({ ...space, dataDir, table, files: [path], batch });
      onFile(table, path, rowsTaken);
    }
    await deriveLedger(space);
  });
}
