import type { Ask } from '../files/read-file.ts';
import { identifier, literal } from '../values/sql-text.ts';

/** Which number of `4/1/25` is the month. */
export type DateOrder = 'month first' | 'day first';

const FORMATS: Readonly<Record<DateOrder, readonly string[]>> = {
  'month first': [
    '%m/%d/%y',
    '%m/%d/%Y',
    '%m/%d/%Y %H:%M',
    '%m/%d/%Y %H:%M:%S',
    '%m/%d/%Y %I:%M:%S %p',
    '%m/%d/%y %H:%M',
  ],
  'day first': ['%d/%m/%y', '%d/%m/%Y', '%d/%m/%Y %H:%M', '%d/%m/%Y %H:%M:%S', '%d/%m/%y %H:%M'],
};
const SAMPLE_ROWS = 1000;

/** A text as a timestamp: ISO 8601, or a date with slashes in the given order; NULL where it is neither. */
export function momentSql(text: string, order: DateOrder): string {
  const formats = FORMATS[order].map(literal).join(', ');
  return `CASE WHEN contains(${text}, '/') THEN try_strptime(${text}, [${formats}]) ELSE TRY_CAST(${text} AS TIMESTAMP) END`;
}

/**
 * Question: which number of the dates with slashes is the month?
 *
 * A billing period is a month: `4/1/25` to `5/1/25` is one only if the month comes first. Where both readings or neither give
 * whole months, nobody can know, and the person is asked. Undefined too where dates have no slashes.
 */
export async function inferDateOrder(
  from: string,
  start: string,
  end: string,
  ask: Ask,
): Promise<DateOrder | undefined> {
  const orders = Object.keys(FORMATS) as DateOrder[];
  const isMonth = (order: DateOrder): string => {
    const [first, last] = [momentSql('s', order), momentSql('e', order)];
    return `COALESCE(bool_and(COALESCE(day(${first}) = 1 AND ${last} = ${first} + INTERVAL 1 MONTH, false)), false)`;
  };
  const [found] = await ask<Record<string, boolean>>(`
    SELECT ${orders.map((order) => `${isMonth(order)} AS ${identifier(order)}`).join(', ')}
    FROM (SELECT trim(${identifier(start)}) AS s, trim(${identifier(end)}) AS e FROM ${from} LIMIT ${SAMPLE_ROWS})
    WHERE contains(s, '/')`);
  const fitting = orders.filter((order) => found?.[order] === true);
  return fitting.length === 1 ? fitting[0] : undefined;
}
