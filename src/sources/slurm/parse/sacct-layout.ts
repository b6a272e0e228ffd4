import { OperationError } from '../../../facts/operation-error.ts';

/** How the rows of a `sacct` text are cut into columns. */
export interface SacctLayout {
  readonly separator: string;
  /** Names in lower case, without widths. */
  readonly columns: readonly string[];
  /** The first line names the columns. */
  readonly hasHeader: boolean;
  /** Place of a column among the values, or -1. */
  readonly place: (...names: readonly string[]) => number;
}

/** Columns in which people write what they like, the separator included. */
const FREE_TEXT = new Set([
  'jobname',
  'comment',
  'admincomment',
  'systemcomment',
  'submitline',
  'workdir',
  'container',
]);
const SEPARATORS = ['|', '\t', ';', '^', '!', '~', ','];
const GPU_COLUMNS = ['alloctres', 'allocgres', 'reqtres', 'reqgres'];
const EXPORT_HINT =
  'Export with: sacct -a -D -X -P --format=JobID,Cluster,User,Account,Partition,QOS,State,Submit,Start,End,ElapsedRaw,Suspended,NNodes,NCPUS,NodeList,ReqTRES,AllocTRES,JobName';

/**
 * Question: which columns does this text have, by its first line or by what the person says?
 *
 * Every set and order of columns will do that tells a job, its time and its GPUs; what is missing for that is refused by name.
 */
export function sacctLayout(firstLine: string, secondLine: string | undefined, format?: string): SacctLayout {
  const line = firstLine.replace(/^\uFEFF/, '').replace(/\r$/, '');
  if (/^[\s-]+$/.test(secondLine ?? '') && /-{3}/.test(secondLine ?? '') && !line.includes('|')) {
    throw new OperationError('cut-off-columns', 'this is sacct output for a screen, whose columns are cut off', {
      hint: EXPORT_HINT,
    });
  }
  const header = headerOf(line);
  const named = header?.columns ?? (format === undefined ? undefined : formatColumns(format));
  if (named === undefined) {
    throw new OperationError('no-header', 'the first line does not name the columns', {
      hint: 'Say them with --format, as they were given to sacct: --format JobID,User,Account,State,Start,End,…',
    });
  }
  const separator = header?.separator ?? separatorOf(line, named.length);
  const place = (...names: readonly string[]): number => {
    const name = names.find((each) => named.includes(each));
    return name === undefined ? -1 : named.indexOf(name);
  };
  checkColumns(named, place);
  return { separator, columns: named, hasHeader: header !== undefined, place };
}

/** A layout for rows we asked for ourselves. */
export function ownLayout(columns: readonly string[], separator: string): SacctLayout {
  const lower = columns.map((column) => column.toLowerCase());
  const place = (...names: readonly string[]): number => {
    const name = names.find((each) => lower.includes(each));
    return name === undefined ? -1 : lower.indexOf(name);
  };
  return { separator, columns: lower, hasHeader: true, place };
}

function headerOf(line: string): { columns: string[]; separator: string } | undefined {
  for (const separator of SEPARATORS) {
    const columns = trimmedColumns(line.split(separator));
    const isNamed = columns.includes('jobid') || columns.includes('jobidraw');
    if (columns.length > 1 && isNamed && columns.every((column) => /^[a-z][\w/]*$/.test(column))) {
      return { columns, separator };
    }
  }
  return undefined;
}

function formatColumns(format: string): string[] {
  const columns = trimmedColumns(format.split(/[,\s|]+/)).filter((column) => column !== '');
  const strange = columns.find((column) => !/^[a-z][\w/]*$/.test(column));
  if (strange !== undefined || columns.length === 0) {
    throw new OperationError('bad-option', `--format: ${strange ?? format} is not the name of a column`, {
      hint: 'List them as they were given to sacct: --format JobID,User,Account,State,Start,End,…',
    });
  }
  return columns;
}

/** Names without their widths (`JobName%30`) and without what `-p` leaves behind the last separator. */
function trimmedColumns(fields: readonly string[]): string[] {
  const columns = fields.map((field) =>
    field
      .trim()
      .replace(/^"(.*)"$/, '$1')
      .replace(/%-?\d+$/, '')
      .toLowerCase(),
  );
  return columns.at(-1) === '' ? columns.slice(0, -1) : columns;
}

/** Without a header: what cuts the first row into as many pieces as there are names. */
function separatorOf(line: string, columns: number): string {
  const pieces = (separator: string): number => (separator === ',' ? commaFields(line) : line.split(separator)).length;
  const fitting = SEPARATORS.find(
    (separator) => pieces(separator) === columns || (pieces(separator) === columns + 1 && line.endsWith(separator)),
  );
  if (fitting !== undefined) return fitting;
  // A name with the separator in it makes one row too long; that is mended row by row.
  if (pieces('|') > columns) return '|';
  throw new OperationError('wrong-format', `the first line has ${pieces('|')} columns, --format names ${columns}`, {
    hint: `The line begins: ${line.slice(0, 80)}`,
  });
}

function checkColumns(columns: readonly string[], place: (...names: readonly string[]) => number): void {
  const needs: readonly (readonly [string, readonly string[]])[] = [
    ['JobID', ['jobid', 'jobidraw']],
    ['Start', ['start']],
    ['End or Elapsed', ['end', 'elapsedraw', 'elapsed']],
    ['AllocTRES, AllocGRES, ReqTRES or ReqGRES (how many GPUs)', GPU_COLUMNS],
  ];
  const missing = needs.filter(([, names]) => place(...names) < 0).map(([word]) => word);
  if (missing.length === 0) return;
  throw new OperationError('missing-columns', `columns are missing: ${missing.join('; ')}`, {
    hint: `There are: ${columns.join(', ')}. ${EXPORT_HINT}`,
  });
}

export interface SacctRow {
  readonly fields: readonly string[];
  /** Counted from 1, where the row begins. */
  readonly line: number;
}

/** A row that cannot be cut into its columns. */
export interface BrokenRow {
  readonly broken: string;
  readonly line: number;
  readonly text: string;
}

export interface RowAssembler {
  push(line: string): readonly (SacctRow | BrokenRow)[];
  end(): readonly (SacctRow | BrokenRow)[];
}

const JOINED_LINES_MAX = 200;

/**
 * The fields of a line of CSV. What a spreadsheet wrote has values in quotes where they hold a comma, as AllocTRES does; sacct itself
 * quotes nothing, so that a quote in the middle of a value, or one that is never closed, is part of it.
 */
function commaFields(text: string): string[] {
  if (!text.includes('"')) return text.split(',');
  const fields: string[] = [];
  const quoted = /"((?:[^"]|"")*)"\s*(?:,|$)/y;
  let at = 0;
  while (at <= text.length) {
    quoted.lastIndex = at;
    const found = text[at] === '"' ? quoted.exec(text) : null;
    const comma = text.indexOf(',', at);
    const end = comma < 0 ? text.length : comma;
    fields.push(found === null ? text.slice(at, end) : (found[1] ?? '').replaceAll('""', '"'));
    if (found !== null && !found[0].endsWith(',')) break;
    at = found === null ? end + 1 : at + found[0].length;
  }
  return fields;
}

/**
 * Puts rows together from lines. A name or comment may hold the separator, and a line break: a row that is too short goes on in the
 * next line, unless that is a whole row itself; one that is too long is mended where only one column can be the culprit.
 */
export function rowAssembler(layout: SacctLayout, freeText: ReadonlySet<string> = FREE_TEXT): RowAssembler {
  const { separator, columns, hasHeader } = layout;
  const width = columns.length;
  const free = columns.flatMap((column, index) => (freeText.has(column) ? [index] : []));
  let held: { text: string; line: number; lines: number } | undefined;
  let line = 0;
  const finish = (): readonly (SacctRow | BrokenRow)[] => {
    if (held === undefined) return [];
    const { text, line: at } = held;
    held = undefined;
    return [{ broken: 'rows with too few columns', line: at, text }];
  };
  const cut = (text: string): string[] => {
    const fields = separator === ',' ? commaFields(text) : text.split(separator);
    // `-p` ends every row with a separator.
    return fields.length === width + 1 && fields[width] === '' ? fields.slice(0, width) : fields;
  };
  const accept = (fields: string[], at: number, text: string): SacctRow | BrokenRow => {
    const extra = fields.length - width;
    if (extra === 0) return { fields, line: at };
    // Only one column can hold a separator, or the last one does, which by custom is the name.
    const culprit = free.length === 1 ? free[0] : free.includes(width - 1) ? width - 1 : undefined;
    if (culprit === undefined) return { broken: 'rows with too many columns', line: at, text };
    const mended = fields.slice(culprit, culprit + extra + 1).join(separator);
    return { fields: [...fields.slice(0, culprit), mended, ...fields.slice(culprit + extra + 1)], line: at };
  };
  return {
    push(raw) {
      line += 1;
      const text = raw.endsWith('\r') ? raw.slice(0, -1) : raw;
      if (line === 1 && hasHeader) return [];
      const fields = cut(line === 1 ? text.replace(/^\uFEFF/, '') : text);
      if (held === undefined || fields.length >= width) {
        const before = finish();
        if (fields.length >= width) return [...before, accept(fields, line, text)];
        if (text.trim() === '') return before;
        held = { text, line, lines: 1 };
        return before;
      }
      const joined = `${held.text}\n${text}`;
      const whole = cut(joined);
      const at = held.line;
      if (whole.length >= width) {
        held = undefined;
        return [accept(whole, at, joined)];
      }
      held = { text: joined, line: at, lines: held.lines + 1 };
      return held.lines > JOINED_LINES_MAX ? finish() : [];
    },
    end: finish,
  };
}
