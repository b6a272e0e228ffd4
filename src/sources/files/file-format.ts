import { open, stat } from 'node:fs/promises';
import { OperationError } from '../../facts/operation-error.ts';

export type FileFormat = 'csv' | 'json' | 'parquet';

/** What the bytes say; `gzip` is looked into only after it was unpacked. */
export type ContentKind = FileFormat | 'gzip';

const HEAD_BYTES = 4096;
const PARQUET_MAGIC = 'PAR1';

const NAMED: readonly { readonly ending: RegExp; readonly kind: ContentKind }[] = [
  { ending: /\.gz$/i, kind: 'gzip' },
  { ending: /\.(parquet|pq)$/i, kind: 'parquet' },
  { ending: /\.(json|jsonl|ndjson)$/i, kind: 'json' },
  { ending: /\.(csv|tsv|psv|txt)$/i, kind: 'csv' },
];

const NICE: Readonly<Record<ContentKind, string>> = {
  csv: 'CSV',
  json: 'JSON',
  parquet: 'Parquet',
  gzip: 'gzip',
};

/**
 * Question: what is this file, by its bytes?
 *
 * Its name is only believed to be honest: a `.parquet` that holds CSV is most likely the wrong file, so it is refused rather
 * than taken. `label` is the name people gave; it differs from `path` where the bytes were unpacked or came from stdin.
 */
export async function identify(path: string, label: string): Promise<ContentKind> {
  const size = await regularFileSize(path, label);
  if (size === 0) throw new OperationError('empty-file', `${label} is empty`, { hint: 'Export it again.' });
  const { head, tail } = await headAndTail(path, size).catch((failure: unknown) => {
    throw unreadable(label, failure);
  });
  const kind = kindOfBytes(head, label);
  if (kind === 'parquet' && (size < 12 || tail.toString('latin1') !== PARQUET_MAGIC)) {
    throw new OperationError('truncated-file', `${label} is a Parquet file without its end: it was cut off`, {
      hint: 'Copy or export it again; a Parquet file ends with the letters PAR1.',
    });
  }
  const named = namedKind(label);
  if (named !== undefined && named !== kind) {
    throw new OperationError('not-what-its-name-says', `${label} is not ${NICE[named]}: its bytes are ${NICE[kind]}`, {
      hint: 'Check that it is the file you mean; if it is, rename it or pass it on stdin as "-".',
    });
  }
  return kind;
}

/** The kind a name promises, looking below `.gz` once the bytes are unpacked. */
function namedKind(label: string): ContentKind | undefined {
  return NAMED.find(({ ending }) => ending.test(label))?.kind;
}

/** What is left of a name once a `.gz` file is unpacked. */
export function unpackedLabel(label: string): string {
  return label.replace(/\.gz$/i, '');
}

async function regularFileSize(path: string, label: string): Promise<number> {
  try {
    const found = await stat(path);
    if (found.isDirectory()) {
      throw new OperationError('not-a-file', `${label} is a folder`, {
        hint: 'Name the files in it, e.g. with *.csv.',
      });
    }
    return found.size;
  } catch (error) {
    if (error instanceof OperationError) throw error;
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR') {
      throw new OperationError('no-such-file', `${label} does not exist`, { hint: 'Check the path.', cause: error });
    }
    throw unreadable(label, error);
  }
}

function unreadable(label: string, cause: unknown): OperationError {
  return new OperationError('unreadable-file', `${label} cannot be read`, { hint: 'Check its permissions.', cause });
}

async function headAndTail(path: string, size: number): Promise<{ head: Buffer; tail: Buffer }> {
  const file = await open(path, 'r');
  try {
    const head = Buffer.alloc(Math.min(HEAD_BYTES, size));
    const tail = Buffer.alloc(Math.min(4, size));
    await file.read(head, 0, head.length, 0);
    await file.read(tail, 0, tail.length, size - tail.length);
    return { head, tail };
  } finally {
    await file.close();
  }
}

/** Pure part of `identify`, on the first bytes. */
export function kindOfBytes(head: Buffer, label: string): ContentKind {
  const refuse = (what: string, hint: string): OperationError =>
    new OperationError('not-a-table', `${label} is ${what}`, { hint });
  if (head.subarray(0, 4).toString('latin1') === PARQUET_MAGIC) return 'parquet';
  if (head[0] === 0x1f && head[1] === 0x8b) return 'gzip';
  if (head.subarray(0, 4).equals(Buffer.from([0x28, 0xb5, 0x2f, 0xfd]))) {
    throw refuse('compressed with zstd', 'Unpack it: zstd -d FILE, or zstd -dc FILE | bursar import … -');
  }
  if (head.subarray(0, 2).toString('latin1') === 'PK') {
    throw refuse('a zip archive or a spreadsheet', 'Unpack it, or save the sheet as CSV.');
  }
  if ((head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff)) {
    throw refuse('text in UTF-16', 'Save it as UTF-8: iconv -f UTF-16 -t UTF-8 FILE');
  }
  if (head.includes(0)) throw refuse('a binary file of an unknown kind', 'CSV, JSON lines and Parquet are understood.');
  const text = head
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .trimStart();
  if (text === '') throw refuse('blank', 'Export it again.');
  if (text.startsWith('<')) {
    throw refuse('an HTML or XML page', 'A download that needs a login gives a page instead of the file.');
  }
  return text.startsWith('{') || /^\[\s*(\{|\]|$)/.test(text) ? 'json' : 'csv';
}
