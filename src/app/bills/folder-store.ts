import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { OperationError } from '../../facts/operation-error.ts';
import type { ExportStore, StoredFile } from './find-exports.ts';

const FILES_MAX = 100_000;

/** A folder of deliveries, or one file as a folder of its own. */
export async function folderStore(place: string): Promise<ExportStore> {
  const found = await stat(place).catch((failure: unknown) => {
    throw new OperationError('no-such-file', `${place} does not exist`, {
      hint: 'Name a file, a folder, or s3://bucket/prefix/.',
      cause: failure,
    });
  });
  const root = found.isDirectory() ? place : dirname(place);
  const stored = async (path: string): Promise<StoredFile> => {
    const { size, mtime } = await stat(path);
    return { key: relative(root, path).split(sep).join('/'), bytes: size, modifiedAt: mtime };
  };
  return {
    place,
    async list() {
      if (!found.isDirectory()) return [await stored(place)];
      const entries = await readdir(place, { recursive: true, withFileTypes: true });
      const paths = entries
        .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
        .map((entry) => join(entry.parentPath, entry.name))
        .toSorted();
      if (paths.length > FILES_MAX) {
        throw new OperationError('too-many-files', `${place} holds ${paths.length} files`, {
          hint: 'Name the folder of one export.',
        });
      }
      return Promise.all(paths.map(stored));
    },
    text: ({ key }) => readFile(join(root, key), 'utf8'),
    fetch: ({ key }) =>
      Promise.resolve(found.isDirectory() ? join(root, key) : basename(place) === key ? place : join(root, key)),
  };
}
