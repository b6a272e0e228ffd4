import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { LakeFile, Snapshot } from '../facts/manifest.ts';
import { OperationError } from '../facts/operation-error.ts';

/** A file that is gone, or of another size than when it was written. */
function isDamaged(dataDir: string, { path, bytes }: LakeFile): boolean {
  return statSync(resolve(dataDir, path), { throwIfNoEntry: false })?.size !== bytes;
}

/**
 * The snapshot without derived units whose file somebody deleted or cut: they are computed again. Facts cannot be, so a
 * lost one is said, with the batch to import again.
 */
export function withoutDamage(dataDir: string, snapshot: Snapshot): Snapshot {
  for (const { table, name, importedFrom, files } of snapshot.batches) {
    const lost = files.find((file) => isDamaged(dataDir, file));
    if (lost !== undefined) {
      throw new OperationError('damaged-file', `${lost.path}, of the ${table} batch ${name}, is missing or damaged`, {
        hint: `Import it again under the same name, --batch '${name}'; it came from ${importedFrom}.`,
      });
    }
  }
  const derived = snapshot.derived.filter(({ file }) => file === null || !isDamaged(dataDir, file));
  return derived.length === snapshot.derived.length ? snapshot : { ...snapshot, derived };
}
