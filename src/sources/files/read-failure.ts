import { OperationError } from '../../facts/operation-error.ts';
import { findCsvRecord } from './csv-text.ts';
import type { OpenFile } from './read-file.ts';

/** Where a row stands, in the words of the program people look at the file with. */
export async function placeOfRow(path: string, file: OpenFile, row: number): Promise<string> {
  if (file.format !== 'csv') return `row ${row}`;
  const place = await findCsvRecord(path, file.delimiter ?? ',', (record) => record.row === row);
  return place === undefined ? `row ${row}` : `row ${row} (line ${place.line})`;
}

/** What the engine's failure to read a file means; the failure itself where it speaks of something else. */
export async function explainReadFailure(
  failure: unknown,
  path: string,
  label: string,
  file: OpenFile,
): Promise<unknown> {
  if (failure instanceof OperationError) return failure;
  const message = failure instanceof Error ? failure.message : String(failure);
  const unreadable = (what: string, hint: string): OperationError =>
    new OperationError('unreadable-file', `${label}${what}; nothing was taken`, { hint, cause: failure });
  if (file.format === 'csv' && /CSV Error|Invalid unicode/i.test(message)) {
    return csvFailure(message, path, file, unreadable);
  }
  if (file.format === 'json' && /JSON|Invalid Input/i.test(message)) {
    return unreadable(` is not JSON lines: ${firstLine(message)}`, 'Each line must be one whole JSON object.');
  }
  if (file.format === 'parquet' && /parquet|snappy|zstd|Invalid Input|IO Error|TProtocol|decompress/i.test(message)) {
    return unreadable(` cannot be read as Parquet: ${firstLine(message)}`, 'Copy or export it again.');
  }
  return failure;
}

async function csvFailure(
  message: string,
  path: string,
  file: OpenFile,
  unreadable: (what: string, hint: string) => OperationError,
): Promise<OperationError> {
  if (/unicode|utf-8/i.test(message)) {
    return unreadable(' is not UTF-8 text', 'Convert it: iconv -f LATIN1 -t UTF-8 FILE.');
  }
  const wanted = file.columns.length;
  const ragged = await findCsvRecord(path, file.delimiter ?? ',', ({ fields }) => fields !== wanted);
  if (ragged !== undefined) {
    return unreadable(
      `: row ${ragged.row} (line ${ragged.line}) has ${ragged.fields} fields where the header has ${wanted}`,
      'Was the file cut off, or does a value hold the separator without quotes?',
    );
  }
  return unreadable(` is not well-formed CSV: ${firstLine(message)}`, 'Look for a quote that is never closed.');
}

function firstLine(message: string): string {
  return message
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(0, 2)
    .join(', ')
    .replace(/^Invalid Input Error: /, '')
    .slice(0, 200);
}
