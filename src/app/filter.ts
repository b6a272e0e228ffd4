import { nearestName } from '../facts/nearest-name.ts';
import { OperationError } from '../facts/operation-error.ts';
import type { Param, Params } from '../lake/engine.ts';
import { CATEGORIES } from '../ledger/waterfall.ts';
import type { Category } from '../ledger/waterfall.ts';
import { parseTime } from '../money/period.ts';

/** Something money can be grouped and filtered by. */
export interface Dimension {
  readonly name: string;
  /** Its column in `spend_day` with its owners; undefined where a question needs single entries. */
  readonly spendDayColumn?: string;
  /** Its expression over `waterfall w LEFT JOIN ownership o`. */
  readonly entryColumn: string;
}

const coarse = (name: string, alias: 'w' | 'o', column: string = name): Dimension => ({
  name,
  spendDayColumn: column,
  entryColumn: `${alias}.${column}`,
});

const fine = (name: string, column: string): Dimension => ({ name, entryColumn: `w.${column}` });

export const DIMENSIONS: readonly Dimension[] = [
  coarse('team', 'o'),
  coarse('project', 'o'),
  coarse('user', 'o', 'user_name'),
  coarse('environment', 'o'),
  coarse('class', 'o'),
  coarse('rule', 'o'),
  coarse('cluster', 'w'),
  fine('node', 'node_id'),
  fine('device', 'device_id'),
  coarse('model', 'w'),
  coarse('purchase', 'w'),
  coarse('provider', 'w'),
  coarse('account', 'w'),
  coarse('region', 'w'),
  coarse('category', 'w'),
  coarse('reason', 'w'),
  coarse('component', 'w'),
  coarse('basis', 'w'),
  coarse('bill', 'w', 'bill_id'),
  { name: 'day', spendDayColumn: 'CAST(day AS VARCHAR)', entryColumn: 'CAST(w.day AS VARCHAR)' },
  fine('hour', 'hour_start'),
  fine('job', 'allocation_id'),
];

/** One dimension and the values of it that count; null is what nobody can say. */
export interface Filter {
  readonly dimension: Dimension;
  readonly values: readonly (string | null)[];
}

/** The dimensions of `--by team,class`, each once. */
export function parseDimensions(text: string): readonly Dimension[] {
  const names = text.split(',').map((name) => name.trim());
  return [...new Set(names)].filter((name) => name !== '').map((name) => dimensionNamed(name));
}

/**
 * The filters of `--filter cluster=a,team=nlp|asr`. `team=` asks for what has no team. A dimension named twice takes either
 * value; a backslash keeps the comma or the bar after it. Bill ids have bars in them and are taken whole.
 */
export function parseFilters(texts: readonly string[]): readonly Filter[] {
  const filters = new Map<string, Filter>();
  for (const part of texts.flatMap((text) => splitUnescaped(text, ',')).filter((text) => text.trim() !== '')) {
    const equals = part.indexOf('=');
    if (equals <= 0) {
      throw new OperationError('bad-filter', `"${part}" is not a filter`, {
        hint: 'for example --filter cluster=a,team=nlp|asr; team= asks for what has no team',
      });
    }
    const dimension = dimensionNamed(part.slice(0, equals).trim());
    const told = part.slice(equals + 1).trim();
    const values = dimension.name === 'bill' ? [told] : splitUnescaped(told, '|');
    const known = filters.get(dimension.name)?.values ?? [];
    const fresh = values.map((value) => (value === '' ? null : checked(dimension, unescaped(value))));
    filters.set(dimension.name, { dimension, values: [...new Set([...known, ...fresh])] });
  }
  return [...filters.values()];
}

/** A filter for one value, as options like `--job` make them. */
export function filterOn(name: string, value: string): Filter {
  const dimension = dimensionNamed(name);
  return { dimension, values: [checked(dimension, value)] };
}

/** The condition for a WHERE over the columns `columnOf` names, its values as parameters; TRUE without filters. */
export function filterSql(
  filters: readonly Filter[],
  columnOf: (dimension: Dimension) => string,
): { readonly sql: string; readonly params: Params } {
  const params: Record<string, Param> = {};
  const conditions = filters.map(({ dimension, values }, place) => {
    const column = columnOf(dimension);
    const names = values.flatMap((value, index) => {
      if (value === null) return [];
      params[`filter${place}x${index}`] = dimension.name === 'hour' ? new Date(`${value.replace(' ', 'T')}Z`) : value;
      return [`$filter${place}x${index}`];
    });
    const parts = [
      ...(names.length > 0 ? [`${column} IN (${names.join(', ')})`] : []),
      ...(values.includes(null) ? [`${column} IS NULL`] : []),
    ];
    return `(${parts.join(' OR ')})`;
  });
  return { sql: conditions.length === 0 ? 'TRUE' : conditions.join(' AND '), params };
}

/** `cluster=a, team=nlp|asr`, for people. */
export function filterText(filters: readonly Filter[]): string {
  return filters
    .map(({ dimension, values }) => `${dimension.name}=${values.map((value) => value ?? 'unattributed').join('|')}`)
    .join(', ');
}

function dimensionNamed(name: string): Dimension {
  const found = DIMENSIONS.find((dimension) => dimension.name === name);
  if (found !== undefined) return found;
  const names = DIMENSIONS.map((dimension) => dimension.name);
  const near = nearestName(name, names);
  throw new OperationError('unknown-dimension', `there is no dimension "${name}"`, {
    hint: near === undefined ? `one of ${names.join(', ')}` : `did you mean ${near}? One of ${names.join(', ')}`,
  });
}

/** The category of that name; refused with the nearest where there is none. */
export function categoryNamed(value: string): Category {
  const found = CATEGORIES.find((category) => category === value);
  if (found !== undefined) return found;
  const near = nearestName(value, CATEGORIES);
  throw new OperationError(
    'unknown-category',
    `${value} is no category${near === undefined ? '' : ` (nearest: ${near})`}`,
    { hint: `One of ${CATEGORIES.join(', ')}.` },
  );
}

/** Hours are compared as times: every way to write one has to become the one the ledger has. */
function checked(dimension: Dimension, value: string): string {
  if (dimension.name === 'category' && value !== '') return categoryNamed(value);
  if (dimension.name !== 'hour' && dimension.name !== 'day') return value;
  const time = parseTime(value);
  if (!time.ok) {
    const what = dimension.name === 'hour' ? 'an hour' : 'a day';
    throw new OperationError('bad-filter', `"${value}" is not ${what} in UTC: ${time.reason}`, {
      hint: `for example ${dimension.name}=${dimension.name === 'hour' ? '2026-11-01T10:00Z' : '2026-11-01'}`,
    });
  }
  const text = new Date(time.ms).toISOString();
  return dimension.name === 'day' ? text.slice(0, 10) : `${text.slice(0, 13).replace('T', ' ')}:00:00`;
}

function splitUnescaped(text: string, separator: string): string[] {
  const parts = [''];
  for (let index = 0; index < text.length; index += 1) {
    const char = text[index] ?? '';
    if (char === '\\' && index + 1 < text.length) {
      parts[parts.length - 1] += char + (text[index + 1] ?? '');
      index += 1;
    } else if (char === separator) parts.push('');
    else parts[parts.length - 1] += char;
  }
  return parts;
}

function unescaped(text: string): string {
  return text.replaceAll(/\\(.)/g, '$1');
}
