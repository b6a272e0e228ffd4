import type { Column } from '../facts/column.ts';
import type { FactTable } from '../facts/fact-table.ts';
import type { IncomingPart } from '../facts/incoming.ts';
import { BLANK_SENSOR, PROBLEM_SEPARATOR } from '../facts/incoming.ts';
import { OperationError } from '../facts/operation-error.ts';
import type { Engine } from './engine.ts';
import { quote } from './engine.ts';

const EXAMPLES_SHOWN = 5;

/** A part and where its rows are read from now: the file itself, or the stage. */
export interface ReadyPart {
  readonly part: IncomingPart;
  readonly relation: string;
  /** A passing file that holds its rows as the lake would: it may become the lake's as it is. */
  readonly wholePath?: string;
}

/**
 * Refuses a part of which any row is wrong, and one whose numbers are in another unit than was said. Gives what people should
 * know about the rest.
 */
export async function checkPart(engine: Engine, table: FactTable, ready: ReadyPart): Promise<readonly string[]> {
  const { part, relation } = ready;
  const ranged = table.columns.filter(
    (column) => column.knownRange !== undefined && part.given.has(column.name) && !part.inRange.has(column.name),
  );
  const asked = [
    ...(part.clean ? [] : ['count(*) FILTER (WHERE carried) AS carried', 'count(problem) AS problems']),
    ...ranged.flatMap(({ name }) => [`min(${name}) AS ${name}_min`, `max(${name}) AS ${name}_max`]),
  ];
  if (table.repeats === 'refused') await refuseRepeats(engine, table, ready);
  if (asked.length === 0) return [];
  const [answer = {}] = await engine.rows<Answer>(`SELECT ${asked.join(', ')} FROM (${relation})`);
  if (answer['problems']) throw await problemError(engine, ready, BigInt(answer['problems']));
  const carried = answer['carried']
    ? [`${part.label}: rows with an hour past 23, carried into the next day: ${answer['carried']}`]
    : [];
  const strange = ranged.filter(({ name, knownRange: [least, most] = [0, 0] }) => {
    const [min, max] = [answer[`${name}_min`], answer[`${name}_max`]];
    return min !== null && max !== null && min !== undefined && max !== undefined && (min < least || max > most);
  });
  return [...carried, ...(await blankNotes(engine, ready, strange))];
}

/** Of two rows that speak of the same thing nobody knows which is meant, where adding both up would count it twice. */
async function refuseRepeats(engine: Engine, table: FactTable, { part, relation }: ReadyPart): Promise<void> {
  const keys = table.columns.filter(({ key }) => key).map(({ name }) => name);
  const known = keys.map((name) => `${name} IS NOT NULL`).join(' AND ');
  const [twice] = await engine.rows<{ first: bigint; second: bigint; named: string; more: bigint }>(`
    SELECT min(first) AS first, min_by(second, first) AS second, min_by(named, first) AS named, count(*) - 1 AS more
    FROM (SELECT min(row) AS first, min(row) FILTER (WHERE place = 2) AS second, any_value(named) AS named
          FROM (SELECT row, named, row_number() OVER (PARTITION BY ${keys.join(', ')} ORDER BY row) AS place, ${keys.join(', ')}
                FROM (SELECT row_number() OVER () AS row, concat_ws(' ', ${keys.join(', ')}) AS named, ${keys.join(', ')}
                      FROM (${relation})) WHERE ${known})
          GROUP BY ${keys.join(', ')} HAVING count(*) > 1)
    HAVING count(*) > 0`);
  if (twice === undefined) return;
  const [first, second] = [await part.place(Number(twice.first)), await part.place(Number(twice.second))];
  const more = twice.more === 0n ? '' : `, and ${twice.more} more like it`;
  throw new OperationError(
    'repeated-rows',
    `${part.label}: ${first} and ${second} both tell ${twice.named}${more}; nothing was taken`,
    { hint: `Keep one of them, or tell them apart by ${keys.join(', ')}.` },
  );
}

type Answer = Record<string, bigint | number | null>;

/** Counts what lies outside its range, column by column: rarely asked, because most files have none. */
async function blankNotes(
  engine: Engine,
  { part, relation }: ReadyPart,
  columns: readonly Column[],
): Promise<string[]> {
  if (columns.length === 0) return [];
  const [answer = {}] = await engine.rows<Record<string, bigint | null>>(
    `SELECT ${columns.flatMap(rangeQuestions).join(', ')} FROM (${relation})`,
  );
  for (const column of columns) refuseWrongUnit(part, column, answer);
  const counts = columns.map(({ name }) => `${name} ${answer[`${name}_blank`] ?? 0n}`);
  return [`${part.label}: blank values, taken as unknown: ${counts.join(', ')}`];
}

function rangeQuestions({ name, knownRange }: Column): string[] {
  const [least, most] = knownRange ?? [0, 0];
  const sent = `${name} IS NOT NULL AND ${name} <> ${BLANK_SENSOR}`;
  return [
    `count(*) FILTER (WHERE ${name} NOT BETWEEN ${least} AND ${most}) AS ${name}_blank`,
    `count(*) FILTER (WHERE ${sent} AND ${name} <> 0) AS ${name}_sent`,
    `count(*) FILTER (WHERE ${name} > ${most}) AS ${name}_above`,
    `CAST(min(${name}) FILTER (WHERE ${sent}) AS BIGINT) AS ${name}_min`,
    `CAST(max(${name}) FILTER (WHERE ${sent}) AS BIGINT) AS ${name}_max`,
  ];
}

/** A sensor is blank now and then; a column whose values other than 0 are mostly above its range is in another unit. */
function refuseWrongUnit(part: IncomingPart, column: Column, answer: Record<string, bigint | null>): void {
  const sent = answer[`${column.name}_sent`] ?? 0n;
  const above = answer[`${column.name}_above`] ?? 0n;
  if (above * 2n <= sent) return;
  const most = Number(answer[`${column.name}_max`] ?? 0n);
  const least = Number(answer[`${column.name}_min`] ?? 0n);
  const read = part.origins.get(column.name);
  const factor = read?.unit === undefined ? undefined : column.unit?.from[read.unit];
  const asSent = (value: number): number => (factor === undefined ? value : (value * factor[1]) / factor[0]);
  const fitting = Object.entries(column.unit?.from ?? {})
    .filter(([, [numerator, denominator]]) => {
      const converted = (asSent(most) * numerator) / denominator;
      return converted <= (column.knownRange?.[1] ?? 0) && converted >= 1;
    })
    .map(([unit]) => unit);
  const unit = read?.unit ?? 'its unit';
  throw new OperationError(
    'wrong-unit',
    `${part.label}: values of ${read?.source ?? column.name} do not look like ${unit}: ${asSent(least)} … ${asSent(most)}` +
      (fitting.length === 0 ? '' : `; did you mean ${fitting.map((each) => `:${each}`).join(' or ')}?`),
    {
      hint: `Say the unit: --map ${column.name}=${read?.source ?? 'COLUMN'}:UNIT, one of ${Object.keys(column.unit?.from ?? {}).join(', ')}`,
    },
  );
}

async function problemError(engine: Engine, { part, relation }: ReadyPart, count: bigint): Promise<OperationError> {
  // Positions come from the order of the rows, which a streaming window keeps.
  const first = await engine.rows<{ row: bigint; problem: string }>(`
    SELECT row, problem FROM (SELECT row_number() OVER () AS row, problem FROM (${relation}))
    WHERE problem IS NOT NULL ORDER BY row LIMIT ${EXAMPLES_SHOWN}`);
  const kinds = await engine.rows<{ name: string; reason: string; rows: bigint }>(`
    SELECT split_part(problem, ${quote(PROBLEM_SEPARATOR)}, 1) AS name,
           split_part(problem, ${quote(PROBLEM_SEPARATOR)}, 2) AS reason, count(*) AS rows
    FROM (${relation}) WHERE problem IS NOT NULL GROUP BY ALL ORDER BY rows DESC, name, reason`);
  const lines: string[] = [];
  for (const { row, problem } of first) {
    const [column = '', reason = '', value = ''] = problem.split(PROBLEM_SEPARATOR);
    const source = part.origins.get(column)?.source ?? column;
    const name = source === column ? column : `${source} (${column})`;
    lines.push(`  ${await part.place(Number(row))}: ${name} ${value === '' ? '' : `"${value}" `}${reason}`);
  }
  const rest = count - BigInt(first.length);
  if (rest > 0n) lines.push(`  and ${rest} more`);
  const hint = hintFor(kinds.map(({ name, reason }) => ({ name, reason })));
  return new OperationError(
    'bad-rows',
    `${part.label}: ${count} ${count === 1n ? 'row is' : 'rows are'} wrong, nothing was taken\n${lines.join('\n')}`,
    { hint },
  );
}

function hintFor(kinds: readonly { readonly name: string; readonly reason: string }[]): string {
  const has = (pattern: RegExp): { name: string } | undefined => kinds.find(({ reason }) => pattern.test(reason));
  if (has(/without a zone/) !== undefined) return 'Add --zone, e.g. --zone Europe/Berlin, or --zone UTC.';
  if (has(/not a time like/) !== undefined) return 'Say how times are written: --date-format, e.g. %m/%d/%y.';
  const missing = has(/is missing/);
  if (missing?.name === 'effective')
    return 'Where nothing is prepaid or committed, effective cost is what was billed: --map effective=BilledCost.';
  if (missing !== undefined) return `If it is the same for every row: --set ${missing.name}=VALUE.`;
  return 'Correct these rows in the file, or where it comes from, and import it again.';
}
