import { open, readFile, stat } from 'node:fs/promises';
import { OperationError } from '../../facts/operation-error.ts';
import { csvShape, readCsvShape } from '../files/csv-text.ts';
import type { InputFile } from '../files/incoming-part.ts';
import type { Ask, OpenFile } from '../files/read-file.ts';
import { openCsv, openJson, openParquet } from '../files/read-file.ts';
import { literal } from '../values/sql-text.ts';
import type { FlatList } from './flat-list.ts';
import { flatCsv } from './flat-list.ts';
import { isGcpCalculator, readGcpCalculator } from './gcp-calculator.ts';
import { nestedList } from './nested-json.ts';
import type { PriceColumns } from './price-columns.ts';
import { noPriceList, priceColumns } from './price-columns.ts';

/** Text that has to be held whole to be understood. */
const TEXT_BYTES_MAX = 200 * 1024 * 1024;
const HEAD_CHARACTERS = 4096;

/** A price list that was recognised by what is in it. */
export interface PriceFeed {
  /** For people: `SkyPilot catalog`. */
  readonly shape: string;
  readonly file: OpenFile;
  readonly columns: PriceColumns;
  /** Whose prices they are and from when, where the format itself says so. */
  readonly provider?: string;
  readonly asOf?: Date;
  readonly notes: readonly string[];
  /** Lines of the file may have been set aside; `rejectedLines` tells once it was read. */
  readonly setsAside: boolean;
}

/** Where a list that was laid flat is put for the engine to read. */
type WriteFlat = (csv: string) => Promise<string>;

/**
 * Question: which kind of price list is this file?
 *
 * By its content, never by its name. Refused with the columns that were seen where it is none.
 */
export async function openPriceFeed(input: InputFile, writeFlat: WriteFlat, ask: Ask): Promise<PriceFeed> {
  if (input.format === 'parquet') return tableFeed(await openParquet(input.path, ask), input.label);
  if (input.format === 'json') return jsonFeed(input, writeFlat, ask);
  const head = (await readHead(input)).slice(0, HEAD_CHARACTERS);
  if (isGcpCalculator(head)) return flatFeed(readGcpCalculator(await readText(input)), input.label, writeFlat);
  const file = openCsv(input.path, await readCsvShape(input.path, input.label));
  return { ...tableFeed(withRejects(file), input.label), setsAside: true };
}

/** Lines with too few or too many fields are set aside and counted, not a reason to take nothing. */
function withRejects(file: OpenFile): OpenFile {
  const from = file.from.replace(
    /\)$/,
    `, store_rejects = true, rejects_table = 'price_rejects', rejects_scan = 'price_reject_scans')`,
  );
  return { ...file, from };
}

async function jsonFeed(input: InputFile, writeFlat: WriteFlat, ask: Ask): Promise<PriceFeed> {
  const parsed = parseJson(await readText(input));
  const nested = parsed === undefined ? undefined : nestedList(parsed);
  if (nested !== undefined) return flatFeed(nested, input.label, writeFlat);
  return tableFeed(await openJson(input.path, ask), input.label);
}

/** Undefined where it is not one value: lines of JSON are read by the engine. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (failure) {
    if (failure instanceof SyntaxError) return undefined;
    throw failure;
  }
}

async function flatFeed(list: FlatList, label: string, writeFlat: WriteFlat): Promise<PriceFeed> {
  if (list.rows.length === 0) throw noPriceList(label, []);
  const csv = flatCsv(list.rows);
  const file = openCsv(await writeFlat(csv), csvShape(csv, label));
  const columns = priceColumns(file.columns.map(({ name }) => name));
  if (columns === undefined) throw noPriceList(label, []);
  const { shape, provider, asOf, notes } = list;
  return {
    shape,
    file,
    columns,
    notes,
    setsAside: false,
    ...(provider !== undefined && { provider }),
    ...(asOf !== undefined && { asOf }),
  };
}

function tableFeed(file: OpenFile, label: string): PriceFeed {
  const names = file.columns.map(({ name }) => name);
  const columns = priceColumns(names);
  if (columns === undefined) throw noPriceList(label, names);
  return { shape: shapeOf(columns, names), file, columns, notes: [], setsAside: false };
}

function shapeOf({ byRole }: PriceColumns, names: readonly string[]): string {
  if (byRole.has('event')) return 'price changes';
  if (names.includes('InstanceType') && names.includes('AcceleratorName')) return 'SkyPilot catalog';
  return byRole.has('as_of') ? 'dated price table' : 'price table';
}

async function readHead({ path }: InputFile): Promise<string> {
  const file = await open(path, 'r');
  try {
    const buffer = Buffer.alloc(HEAD_CHARACTERS);
    const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
    return buffer.subarray(0, bytesRead).toString('utf8');
  } finally {
    await file.close();
  }
}

async function readText({ path, label }: InputFile): Promise<string> {
  const { size } = await stat(path);
  if (size > TEXT_BYTES_MAX) {
    throw new OperationError(
      'too-large',
      `${label} has ${size} bytes, more than the ${TEXT_BYTES_MAX} that are read at once`,
      {
        hint: 'Split it, or export it as CSV.',
      },
    );
  }
  return readFile(path, 'utf8');
}

/** SQL of how many lines of the file were set aside, and one of them. */
export function rejectedLines(path: string): string {
  return `SELECT count(DISTINCT e.line) AS rows, min_by(e.csv_line, e.line) AS example, min(e.line) AS line
    FROM price_rejects e JOIN price_reject_scans s ON e.scan_id = s.scan_id AND e.file_id = s.file_id
    WHERE s.file_path = ${literal(path)}`;
}
