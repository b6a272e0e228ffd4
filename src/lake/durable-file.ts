import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { link, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Told of each step that a crash could fall between; the kill tests record and choose from these. */
export type OnStep = (step: string) => void;

/** Brings a file's bytes, or a folder's list of names, safely to the disk. */
export async function syncToDisk(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Gives a finished file its name. After this it survives a power cut under that name, whole. */
export async function settleFile(asidePath: string, path: string, onStep?: OnStep): Promise<void> {
  onStep?.('fsync');
  await syncToDisk(asidePath);
  onStep?.('rename');
  await rename(asidePath, path);
  await syncToDisk(dirname(path));
  onStep?.('settled');
}

/** Begins with a dot, because engines that read whole folders would take any other name for more rows. */
export const PUBLISH_ASIDE = '.publish.aside';

/** Makes `path` another name of `target`, replacing what had the name, without a moment in which it is missing. */
export async function publishLink(target: string, path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const aside = join(dirname(path), PUBLISH_ASIDE);
  await rm(aside, { force: true });
  await link(target, aside);
  await rename(aside, path);
  // Where `path` was this file already, rename does nothing and leaves both names.
  await rm(aside, { force: true });
}

/** Size and SHA-256 of a file's bytes. */
export async function fingerprint(path: string): Promise<{ bytes: number; contentHash: string }> {
  const hash = createHash('sha256');
  for await (const block of createReadStream(path, { highWaterMark: 1 << 20 })) hash.update(block as Buffer);
  return { bytes: (await stat(path)).size, contentHash: hash.digest('hex') };
}
