import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openManifest } from '../../state/manifest.ts';
import { isDemo } from './demo-mark.ts';

/** True where a made-up organisation lies in the folder, taken in whole: one that was interrupted is made anew. */
export async function hasDemo(dataDir: string): Promise<boolean> {
  if (!existsSync(join(dataDir, 'state.sqlite'))) return false;
  const manifest = await openManifest(dataDir, { readOnly: true, now: () => new Date() });
  try {
    const { batches, derived } = manifest.snapshot();
    return batches.some(isDemo) && derived.length > 0;
  } finally {
    manifest.close();
  }
}
