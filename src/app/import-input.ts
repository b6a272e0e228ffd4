import { createReadStream, createWriteStream } from 'node:fs';
import { stat, symlink, utimes } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { OperationError } from '../facts/operation-error.ts';
import { identify, unpackedLabel } from '../sources/files/file-format.ts';
import type { InputFile } from '../sources/files/incoming-part.ts';

const STDIN = '-';

/**
 * Brings what the person named to a plain file: stdin is spooled, gzip is unpacked.
 *
 * Unpacking is done here and not by the engine, which takes a gzip file that was cut off for one that ended.
 */
export async function takeInput(
  named: string,
  workDir: string,
  index: number,
  stdin: NodeJS.ReadableStream,
): Promise<InputFile> {
  const isPiped = named === STDIN;
  const label = isPiped ? 'stdin' : named;
  const path = isPiped ? join(workDir, `stdin-${index}`) : named;
  if (isPiped) await pipeline(stdin, createWriteStream(path));
  const kind = await identify(path, label);
  if (kind !== 'gzip') return { path: await plainPath(path, workDir, index), label, format: kind, isPiped };
  const unpacked = join(workDir, `unpacked-${index}`);
  await unpack(path, unpacked, label);
  const inner = await identify(unpacked, unpackedLabel(label));
  if (inner === 'gzip') {
    throw new OperationError('not-a-table', `${label} is packed twice`, { hint: 'Unpack it once: gunzip FILE.' });
  }
  return { path: unpacked, label, format: inner, isPiped };
}

/** The engine takes a name like `[a]*.csv` for a pattern and reads other files; such a file is read under another name. */
async function plainPath(path: string, workDir: string, index: number): Promise<string> {
  if (!/[*?[\]{}]/.test(path)) return path;
  const plain = join(workDir, `named-${index}`);
  await symlink(resolve(path), plain);
  return plain;
}

async function unpack(path: string, unpacked: string, label: string): Promise<void> {
  try {
    await pipeline(createReadStream(path), createGunzip(), createWriteStream(unpacked));
  } catch (failure) {
    const code = failure instanceof Error && 'code' in failure ? String(failure.code) : '';
    if (!code.startsWith('Z_')) throw failure;
    throw new OperationError('truncated-file', `${label} is a gzip file that was cut off or damaged`, {
      hint: 'Copy or export it again; gzip -t FILE tells.',
      cause: failure,
    });
  }
  // A bill covers nothing after its file was written: the copy keeps the date.
  const { atime, mtime } = await stat(path);
  await utimes(unpacked, atime, mtime);
}
