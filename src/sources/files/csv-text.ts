import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { OperationError } from '../../facts/operation-error.ts';

const DELIMITERS = [',', ';', '\t', '|'] as const;
const HEADER_BYTES_MAX = 1_048_576;
const QUOTE = 0x22;
const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;

export interface CsvShape {
  readonly delimiter: string;
  readonly columns: readonly string[];
}

/** Reads the header line of a CSV file: what it separates with, and its columns. */
export async function readCsvShape(path: string, label: string): Promise<CsvShape> {
  const file = await open(path, 'r');
  try {
    const buffer = Buffer.alloc(HEADER_BYTES_MAX);
    const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
    return csvShape(buffer.subarray(0, bytesRead).toString('utf8'), label);
  } finally {
    await file.close();
  }
}

/** The delimiter is the one the header has most of, outside quotes. */
export function csvShape(text: string, label: string): CsvShape {
  const header = firstRecord(text.replace(/^\uFEFF/, ''));
  const bare = header.replaceAll(/"(?:[^"]|"")*"/g, '');
  const counts = DELIMITERS.map((delimiter) => bare.split(delimiter).length - 1);
  const most = Math.max(...counts);
  const delimiter = DELIMITERS[counts.indexOf(most)] ?? ',';
  const names = splitRecord(header, delimiter).map((name) => name.trim());
  if (names.every((name) => name === '' || /^[-+.\d]/.test(name))) {
    throw new OperationError('no-header', `${label} has no header line: it begins with ${header.slice(0, 60)}`, {
      hint: 'Add a first line that names the columns.',
    });
  }
  return { delimiter, columns: distinctNames(names) };
}

function firstRecord(text: string): string {
  let quoted = false;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    if (character === '"') quoted = !quoted;
    if (!quoted && (character === '\n' || character === '\r')) return text.slice(0, index);
  }
  return text;
}

function splitRecord(record: string, delimiter: string): string[] {
  const fields: string[] = [];
  let field = '';
  let quoted = false;
  for (let index = 0; index < record.length; index += 1) {
    const character = record[index] ?? '';
    if (character === '"') {
      if (quoted && record[index + 1] === '"') {
        field += '"';
        index += 1;
      } else quoted = !quoted;
    } else if (character === delimiter && !quoted) {
      fields.push(field);
      field = '';
    } else field += character;
  }
  return [...fields, field];
}

/** Two columns of one name become `name` and `name (2)`, so that each can be mapped. */
function distinctNames(names: readonly string[]): string[] {
  const seen = new Map<string, number>();
  return names.map((name, index) => {
    const base = name === '' ? `column ${index + 1}` : name;
    const count = (seen.get(base.toLowerCase()) ?? 0) + 1;
    seen.set(base.toLowerCase(), count);
    return count === 1 ? base : `${base} (${count})`;
  });
}

/** A place in a CSV file: data rows from 1, header not counted; lines from 1, as an editor shows them. */
export interface CsvPlace {
  readonly row: number;
  readonly line: number;
  readonly fields: number;
}

/**
 * Walks a CSV file record by record until `found` says yes.
 *
 * Only asked once something is wrong: quoted newlines and blank lines make the row of the engine and the line of an editor
 * differ, and the person has an editor.
 */
export async function findCsvRecord(
  path: string,
  delimiter: string,
  found: (place: CsvPlace) => boolean,
): Promise<CsvPlace | undefined> {
  const separator = delimiter.charCodeAt(0);
  let [row, line, startLine, fields, bytes] = [0, 1, 1, 1, 0];
  let quoted = false;
  const ended = (): CsvPlace | undefined => {
    const place = { row, line: startLine, fields };
    const blank = bytes === 0;
    [startLine, fields, bytes] = [line, 1, 0];
    if (blank) return undefined;
    row += 1;
    return place.row > 0 && found(place) ? place : undefined;
  };
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    for (const byte of chunk) {
      if (byte === NEWLINE) line += 1;
      if (byte === QUOTE) quoted = !quoted;
      if (byte === NEWLINE && !quoted) {
        const place = ended();
        if (place !== undefined) return place;
        continue;
      }
      if (byte !== CARRIAGE_RETURN) bytes += 1;
      if (byte === separator && !quoted) fields += 1;
    }
  }
  return ended();
}
