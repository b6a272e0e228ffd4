import type { Column } from '../../facts/column.ts';
import { SECOND, sqlType } from '../../facts/column.ts';
import type { FactTable } from '../../facts/fact-table.ts';
import type { IncomingPart } from '../../facts/incoming.ts';
import { chargeColumns } from './charge-columns.ts';
import { parseTags } from '../values/map-sql.ts';
import type { Match, Origin } from './match-columns.ts';
import { parseDecimal, parseInteger } from '../values/number-sql.ts';
import type { Cell, ParsedColumn } from '../values/parsed-column.ts';
import { isFloat, isText } from '../values/parsed-column.ts';
import type { OpenFile } from './read-file.ts';
import { problemSql, tableRules } from './row-rules.ts';
import { identifier, literal, noneOf } from '../values/sql-text.ts';
import { parseText } from '../values/text-sql.ts';
import type { TimeOptions } from '../values/time-sql.ts';
import { parseTime } from '../values/time-sql.ts';

/** Words for nothing, in lower case. */
const NULL_WORDS = ['null', 'n/a'];
/** What sacct and others write where a time has not come yet. */
const NO_TIME_WORDS = ['unknown', 'none'];

const NO_PROBLEM = 'CAST(NULL AS VARCHAR)';

type Compiled = Pick<
  IncomingPart,
  'select' | 'rereadable' | 'clean' | 'known' | 'inRange' | 'given' | 'origins' | 'span'
>;

interface ColumnPlan {
  readonly column: Column;
  /** What goes into the innermost SELECT; undefined where no column of the file is read. */
  readonly input?: { readonly ref: string; readonly sql: string };
  readonly parsed: ParsedColumn;
}

/**
 * Question: which SELECT turns this file into rows of the table?
 *
 * Layers, each computing once what the next one uses: the values as the file has them, their helpers, the columns as
 * read, and the columns as stored, with what is wrong with the row beside them.
 */
export function compile(
  table: FactTable,
  file: OpenFile,
  match: Match,
  options: Omit<TimeOptions, 'utcByContract'> & { readonly part: number },
): Compiled {
  const times: TimeOptions = { ...options, utcByContract: table.name === 'charge' || table.name === 'fx_rate' };
  const plans = withDurations(
    table.columns.map((column, index) => planColumn(column, `c${index}`, match.origins.get(column.name), file, times)),
    match,
  );
  const needsRow = table.name === 'charge' || [...match.origins.values()].some(({ kind }) => kind === 'row-number');
  const inputs = plans.flatMap(({ input }) => (input === undefined ? [] : [`${input.sql} AS ${input.ref}`]));
  if (needsRow) inputs.push(`${file.rowNumber} AS row_in_file`);
  const innermost = `SELECT ${inputs.join(', ') || '1 AS nothing'} FROM ${file.from}`;
  const quicks = plans.flatMap(({ parsed }) => (parsed.quick === undefined ? [] : [parsed.quick]));
  const helpers = plans.flatMap(({ parsed }) => parsed.helpers);
  const helped = layered(layered(innermost, quicks), helpers);
  const values = plans.map(({ column, parsed }) => `${parsed.value} AS ${column.name}`);
  const carried = plans.flatMap(({ parsed }) => parsed.carried ?? []).join(' OR ') || 'false';
  const read = [
    ...values,
    ...(needsRow ? ['row_in_file'] : []),
    `${valueProblems(plans)} AS value_problem`,
    `${carried} AS carried`,
  ];
  const problem = problemOf(table, plans);
  return {
    select: `SELECT ${storedOf(table, options.part).join(', ')}, ${problem} AS problem, carried
      FROM (SELECT ${read.join(', ')} FROM (${helped}))`,
    rereadable: file.format === 'parquet',
    clean: problem === NO_PROBLEM,
    known: new Set(plans.filter(({ parsed }) => parsed.known).map(({ column }) => column.name)),
    inRange: new Set(plans.filter(({ parsed }) => parsed.inRange).map(({ column }) => column.name)),
    given: new Set(match.origins.keys()),
    origins: originsRead(plans, match),
    ...spanOf(table, plans, match),
  };
}

function layered(select: string, added: readonly (readonly [name: string, sql: string])[]): string {
  if (added.length === 0) return select;
  return `SELECT *, ${added.map(([name, sql]) => `${sql} AS ${name}`).join(', ')} FROM (${select})`;
}

function planColumn(
  column: Column,
  ref: string,
  origin: Origin | undefined,
  file: OpenFile,
  times: TimeOptions,
): ColumnPlan {
  const nothing = `CAST(NULL AS ${sqlType(column)})`;
  if (origin === undefined) return { column, parsed: { helpers: [], value: nothing } };
  if (origin.kind === 'row-number') return { column, parsed: { helpers: [], value: 'CAST(row_in_file AS VARCHAR)' } };
  if (origin.kind === 'constant') {
    const cell: Cell = { ref, type: 'VARCHAR' };
    return { column, input: { ref, sql: literal(origin.value) }, parsed: parse(cell, column, undefined, times) };
  }
  const { name, type, stats } = origin.source;
  const asIs = asRead(identifier(name), type, file.format === 'parquet');
  const isTimeText = column.kind === 'time' && isText(type);
  const input = {
    ref,
    sql: isTimeText ? timeAsRead(identifier(name), asIs) : asIs,
  };
  const cell: Cell = { ref, type, ...(stats !== undefined && { stats }) };
  if (origin.kind === 'duration') {
    return { column, input, parsed: parseInteger(cell, { ...column, unit: SECOND }, origin.unit) };
  }
  return { column, input, parsed: parse(cell, column, origin.unit, times) };
}

/** Text loses the space around it and the words that mean nothing; typed files mean what they hold. */
function asRead(name: string, type: string, isTyped: boolean): string {
  if (isFloat(type)) return `CASE WHEN NOT isnan(${name}) THEN ${name} END`;
  if (!isText(type) || isTyped) return isText(type) ? `nullif(${name}, '')` : name;
  const trimmed = `trim(${name})`;
  const unlessNothing = (text: string): string =>
    `CASE WHEN ${text} <> '' AND ${noneOf(`lower(${text})`, NULL_WORDS)} THEN ${text} END`;
  // Nearly every value is longer than the words for nothing and has no space around it: it is taken without a copy.
  return `CASE WHEN ${isBare(name)} THEN CASE WHEN strlen(${name}) > 4 THEN ${name} ELSE ${unlessNothing(name)} END
    WHEN ${name} IS NOT NULL THEN ${unlessNothing(trimmed)} END`;
}

/** Seeing that there is nothing to trim costs much less than trimming. */
function isBare(name: string): string {
  return `NOT prefix(${name}, ' ') AND NOT suffix(${name}, ' ')`;
}

/** A time that has not come yet is written as a word, and no word is as long as a time. */
function timeAsRead(name: string, asIs: string): string {
  return `CASE WHEN strlen(${name}) > 7 AND ${isBare(name)} THEN ${name}
    WHEN ${noneOf(`lower(${asIs})`, NO_TIME_WORDS)} THEN ${asIs} END`;
}

function parse(cell: Cell, column: Column, unit: string | undefined, times: TimeOptions): ParsedColumn {
  switch (column.kind) {
    case 'text':
      return parseText(cell, column);
    case 'time':
      return parseTime(cell, unit, times);
    case 'integer':
      return parseInteger(cell, column, unit);
    case 'decimal':
      return parseDecimal(cell);
    case 'map':
      return parseTags(cell);
    case 'flag':
      return {
        helpers: [],
        value: `TRY_CAST(${cell.ref} AS BOOLEAN)`,
        problem: `CASE WHEN ${cell.ref} IS NOT NULL AND TRY_CAST(${cell.ref} AS BOOLEAN) IS NULL THEN 'is not true or false' END`,
      };
  }
}

/** Ends given as a length after the beginning: `--map held_until=+duration:s`. */
function withDurations(plans: readonly ColumnPlan[], match: Match): readonly ColumnPlan[] {
  return plans.map((plan) => {
    const origin = match.origins.get(plan.column.name);
    if (origin?.kind !== 'duration') return plan;
    const begins = plans.find(({ column }) => column.name === origin.after);
    const value = `${begins?.parsed.value ?? 'NULL'} + to_seconds(${plan.parsed.value})`;
    return { ...plan, parsed: { ...plan.parsed, value } };
  });
}

/** What is wrong with single values, in the order of the columns; the first is told. */
function valueProblems(plans: readonly ColumnPlan[]): string {
  const problems = plans.flatMap(({ column, input, parsed }) => {
    if (parsed.problem === undefined) return [];
    const problem = problemSql(column.name, `(${parsed.problem})`, input?.ref ?? 'NULL');
    return [`CASE WHEN (${parsed.problem}) IS NOT NULL THEN ${problem} END`];
  });
  return unlessLeftOut(leftOutBy(plans)?.input?.ref, problems);
}

/** What is wrong with the row: a value that cannot be read, one that is missing, or two that do not go together. */
function problemOf(table: FactTable, plans: readonly ColumnPlan[]): string {
  const unreadable = plans.some(({ parsed }) => parsed.problem !== undefined) ? ['value_problem'] : [];
  const missing = plans
    .filter(({ column, parsed }) => column.required && !parsed.known)
    .map(({ column: { name } }) => `CASE WHEN ${name} IS NULL THEN ${problemSql(name, `'is missing'`, 'NULL')} END`);
  const rules = tableRules(table).rules.map(
    ({ column, refusedIf, reason }) => `CASE WHEN ${refusedIf} THEN ${problemSql(column, literal(reason), column)} END`,
  );
  const ofRow = [...missing, ...rules];
  if (ofRow.length === 0) return firstOf(unreadable);
  return firstOf([...unreadable, unlessLeftOut(leftOutBy(plans)?.column.name, ofRow)]);
}

/** The column without which a row is left out; undefined where every row has it. */
function leftOutBy(plans: readonly ColumnPlan[]): ColumnPlan | undefined {
  return plans.find(({ column, parsed }) => column.leftOutIfMissing !== undefined && !parsed.known);
}

/** A row that is left out may hold anything: a job that waits has states and nodes that no job that ran can have. */
function unlessLeftOut(value: string | undefined, problems: readonly string[]): string {
  if (value === undefined || problems.length === 0) return firstOf(problems);
  return `CASE WHEN ${value} IS NOT NULL THEN ${firstOf(problems)} END`;
}

function firstOf(problems: readonly string[]): string {
  return problems.length === 0 ? NO_PROBLEM : `COALESCE(${problems.join(',\n')}, NULL)`;
}

/** The columns as they are stored, with what a missing value stands for. */
function storedOf(table: FactTable, part: number): string[] {
  const { defaults } = tableRules(table);
  const columns = table.columns.map((column) => {
    if (column.knownRange !== undefined) return column.name;
    const value =
      defaults[column.name] === undefined ? column.name : `COALESCE(${column.name}, ${defaults[column.name]})`;
    return `CAST(${value} AS ${sqlType(column)}) AS ${column.name}`;
  });
  if (table.name === 'allocation') columns.push('observed_at IS NOT NULL AS polled');
  if (table.name === 'charge') columns.push(...chargeColumns(part).map(([name, sql]) => `${sql} AS ${name}`));
  return columns;
}

/** First and last value of the column that names the folder, where the statistics of the file give them. */
function spanOf(
  table: FactTable,
  plans: readonly ColumnPlan[],
  match: Match,
): { readonly span: readonly [string, string] } | Record<string, never> {
  const plan = plans.find(({ column }) => column.name === table.partitionBy);
  const origin = match.origins.get(table.partitionBy);
  if (plan?.parsed.known !== true || origin?.kind !== 'column' || origin.source.stats === undefined) return {};
  // A zone moves the days; then they are looked up in the rows.
  if (plan.parsed.value.includes('timezone(')) return {};
  return { span: [origin.source.stats.min, origin.source.stats.max] };
}

function originsRead(plans: readonly ColumnPlan[], match: Match): IncomingPart['origins'] {
  return new Map(
    plans.flatMap(({ column }) => {
      const origin = match.origins.get(column.name);
      if (origin === undefined || !('source' in origin)) return [];
      const unit = origin.unit ?? column.unit?.name;
      return [[column.name, { source: origin.source.name, ...(unit !== undefined && { unit }) }] as const];
    }),
  );
}
