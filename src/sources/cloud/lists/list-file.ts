import { open } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { OperationError } from '../../../facts/operation-error.ts';

/** A list of 100,000 machines has a quarter of this. */
export const LIST_BYTES_MAX = 512 * 1024 * 1024;

/** The command that prints such a list, for people. */
export interface ListCommand {
  readonly tool: string;
  readonly command: string;
}

/** Reads a list somebody has written to a file, and when it was written: what it says was so then. */
export async function readListFile(
  path: string,
  made: ListCommand,
): Promise<{ readonly entries: readonly unknown[]; readonly writtenAt: Date }> {
  try {
    const file = await open(path, 'r');
    try {
      const { size, mtime } = await file.stat();
      if (size > LIST_BYTES_MAX) throw tooLarge(path);
      return { entries: readList(await file.readFile(), path, made), writtenAt: mtime };
    } finally {
      await file.close();
    }
  } catch (failure) {
    if (failure instanceof OperationError) throw failure;
    const code = failure instanceof Error && 'code' in failure ? String(failure.code) : '';
    if (code === 'ENOENT') {
      throw new OperationError('no-such-file', `${path} does not exist`, { hint: `${made.command} > ${path}` });
    }
    throw new OperationError('unreadable-file', `${path} cannot be read${code === '' ? '' : ` (${code})`}`, {
      hint: 'Check that it is a file and that this user may read it.',
      cause: failure,
    });
  }
}

/** The entries of a list that a cloud's command line printed: a JSON array, or the array in a REST reply. Gzip is unpacked. */
export function readList(bytes: Buffer, label: string, made: ListCommand): readonly unknown[] {
  // A byte order mark counts as space.
  const text = decoded(unpacked(bytes, label), label).trim();
  if (text === '') {
    throw new OperationError('empty-file', `${label} is empty`, { hint: `Write it again: ${made.command} > FILE` });
  }
  const value = parsed(text, label, made);
  if (Array.isArray(value)) return value;
  const inside = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  const array = inside.find(([key, each]) => (key === 'items' || key === 'value') && Array.isArray(each))?.[1];
  if (Array.isArray(array)) return array as readonly unknown[];
  throw new OperationError('not-a-list', `${label} is JSON, but no list of machines`, {
    hint: `Write it with: ${made.command} > FILE`,
  });
}

function parsed(text: string, label: string, made: ListCommand): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    const looksLikeTable = /^[A-Z_ ]{3,}\n/.test(text) || /^Name\s+ResourceGroup/.test(text);
    const what = looksLikeTable ? 'a table for people' : 'not JSON, or was cut off';
    throw new OperationError('not-json', `${label} is ${what}: ${made.tool} can print JSON`, {
      hint: `Write it again with: ${made.command} > FILE`,
      cause,
    });
  }
}

function unpacked(bytes: Buffer, label: string): Buffer {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  try {
    return gunzipSync(bytes, { maxOutputLength: LIST_BYTES_MAX });
  } catch (cause) {
    if (cause instanceof RangeError) throw tooLarge(label);
    throw new OperationError('truncated-file', `${label} is a gzip file that was cut off or damaged`, {
      hint: 'Copy or write it again; gzip -t FILE tells.',
      cause,
    });
  }
}

/** PowerShell's `>` writes UTF-16. */
function decoded(bytes: Buffer, label: string): string {
  if (bytes[0] === 0xfe && bytes[1] === 0xff) {
    throw new OperationError('not-text', `${label} is text in UTF-16, big-endian`, { hint: 'Save it as UTF-8.' });
  }
  return bytes[0] === 0xff && bytes[1] === 0xfe ? bytes.toString('utf16le') : bytes.toString('utf8');
}

function tooLarge(label: string): OperationError {
  return new OperationError('too-large', `${label} is larger than 512 MB`, {
    hint: 'Ask for the machines with GPUs only, or for one project or subscription at a time.',
  });
}

/** Not one entry is what the tool lists: somebody has named another file, and taking it would empty what was there. */
export function refuseStrangers(strangers: number, listed: number, made: ListCommand): void {
  if (listed === 0 || strangers < listed) return;
  throw new OperationError('wrong-list', `none of the ${listed} entries is what ${made.tool} lists`, {
    hint: `Check that it is the file you mean; ${made.command} > FILE writes one.`,
  });
}
