import { stat } from 'node:fs/promises';
import type { FactTable } from '../../facts/fact-table.ts';
import type { IncomingPart } from '../../facts/incoming.ts';
import type { BillView } from '../bills/bill-view.ts';
import { recogniseBill } from '../bills/recognise.ts';
import { compile } from './compile.ts';
import { readCsvShape } from './csv-text.ts';
import type { FileFormat } from './file-format.ts';
import type { Constant, Mapping } from './map-option.ts';
import type { Match } from './match-columns.ts';
import { matchColumns } from './match-columns.ts';
import type { Ask, OpenFile } from './read-file.ts';
import { openCsv, openJson, openParquet } from './read-file.ts';
import { explainReadFailure, placeOfRow } from './read-failure.ts';

/** A file whose bytes are known to be of a format, under the name people gave it. */
export interface InputFile {
  readonly path: string;
  readonly label: string;
  readonly format: FileFormat;
  /** From a pipe: its date says nothing. */
  readonly isPiped: boolean;
}

export interface ReadOptions {
  readonly mappings: readonly Mapping[];
  readonly constants: readonly Constant[];
  readonly zone?: string;
  readonly dateFormat?: string;
}

export interface ReadPart {
  readonly part: IncomingPart;
  readonly notUnderstood: Match['notUnderstood'];
  /** Of a bill whose format is known. */
  readonly bill?: BillView;
}

/** Question: which rows of the table does this file hold, and what of it was not understood? */
export async function readPart(
  table: FactTable,
  input: InputFile,
  part: number,
  options: ReadOptions,
  ask: Ask,
): Promise<ReadPart> {
  const opened = await openAs(input, ask);
  const { mappings, constants, ...times } = options;
  const bill = table.merge === 'bill' ? await asBill(opened, input, options, ask) : undefined;
  const file = bill?.file ?? opened;
  const match = matchColumns(table, file.columns, mappings, constants, input.label);
  const writtenAt = input.isPiped ? undefined : (await stat(input.path)).mtime;
  return {
    part: {
      ...compile(table, file, match, { ...times, part }),
      label: input.label,
      ...(writtenAt !== undefined && { writtenAt }),
      place: (row) => placeOfRow(input.path, file, row),
      explain: (failure) => explainReadFailure(failure, input.path, input.label, file),
    },
    notUnderstood: match.notUnderstood.filter(({ name }) => bill?.used.has(name) !== true),
    ...(bill !== undefined && { bill }),
  };
}

async function asBill(file: OpenFile, input: InputFile, options: ReadOptions, ask: Ask): Promise<BillView | undefined> {
  try {
    return await recogniseBill(file, input.label, ask, { statedDates: options.dateFormat !== undefined });
  } catch (failure) {
    throw await explainReadFailure(failure, input.path, input.label, file);
  }
}

async function openAs({ path, label, format }: InputFile, ask: Ask): Promise<OpenFile> {
  if (format === 'csv') return openCsv(path, await readCsvShape(path, label));
  try {
    return await (format === 'json' ? openJson(path, ask) : openParquet(path, ask));
  } catch (failure) {
    throw await explainReadFailure(failure, path, label, { format, columns: [], from: '', rowNumber: '' });
  }
}
