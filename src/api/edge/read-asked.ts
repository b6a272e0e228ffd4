import type { Context } from 'hono';
import type { z } from 'zod';
import { nearestName } from '../../facts/nearest-name.ts';
import { OperationError } from '../../facts/operation-error.ts';
import { ROWS_MAX } from '../cursor.ts';
import type { Deed, Route } from '../route.ts';

export type Format = 'json' | 'csv';

/** The query as it was sent, each name once and known. `isWhole`: all rows are wanted, and no page of them. */
export function sentQuery(
  each: Route,
  context: Context,
): { query: Record<string, string>; format: Format; isWhole: boolean } {
  const sent = context.req.queries();
  const known = [...Object.keys(each.query.shape), ...(each.csv === undefined ? [] : ['format'])];
  for (const [name, values] of Object.entries(sent)) {
    if (!known.includes(name)) throw unknownName(name, known);
    if (values.length > 1) {
      throw new OperationError('bad-query', `${name} is said ${values.length} times`, { hint: 'Say it once.' });
    }
  }
  const { format = 'json', ...query } = Object.fromEntries(
    Object.entries(sent).map(([name, values]) => [name, values[0] ?? '']),
  );
  if (each.csv === undefined) return { query, format: 'json', isWhole: false };
  if (format === 'json') return { query, format, isWhole: false };
  // Nobody pages through a file: what is not cut on purpose is whole.
  const isWhole = 'limit' in each.query.shape && query['limit'] === undefined;
  if (format === 'csv') return { query: { ...query, ...(isWhole && { limit: String(ROWS_MAX) }) }, format, isWhole };
  throw new OperationError('bad-query', `format: "${format}" is not known`, { hint: 'json or csv.' });
}

/** What a schema makes of it; what it refuses is told with the field's name and what to write. */
export function understood<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  what: 'query' | 'path' | 'body',
): z.output<Schema> {
  refuseNul(value, what);
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = issue?.path.map(String).join('.') ?? '';
  const message = (issue?.message ?? 'not understood').replace(/^Invalid input: /, '');
  const description = fieldDescription(schema, issue?.path[0]);
  throw new OperationError(
    what === 'body' ? 'bad-body' : 'bad-query',
    `${field === '' ? `the ${what}` : field}: ${message}`,
    { hint: description ?? 'The reference at /api says what can be written.' },
  );
}

/** No name has the character NUL in it, and a statement of the database ends there. */
function refuseNul(value: unknown, what: 'query' | 'path' | 'body'): void {
  if (typeof value !== 'object' || value === null) return;
  const found = Object.entries(value).find(([, said]) => typeof said === 'string' && said.includes('\0'));
  if (found === undefined) return;
  throw new OperationError(what === 'body' ? 'bad-body' : 'bad-query', `${found[0]}: has the character NUL in it`, {
    hint: 'Leave it out: nothing is called so.',
  });
}

function fieldDescription(schema: z.ZodType, field: PropertyKey | undefined): string | undefined {
  if (field === undefined || !('shape' in schema)) return undefined;
  const shape = schema.shape as Readonly<Record<PropertyKey, z.ZodType>>;
  return shape[field]?.description;
}

const JSON_TYPE = /^application\/json(?:\s*;.*)?$/i;

/** The JSON somebody sent with a deed. */
export async function sentBody(context: Context): Promise<unknown> {
  if (!JSON_TYPE.test(context.req.header('content-type') ?? '')) {
    throw new OperationError('not-json-body', 'the body is not sent as JSON', {
      hint: 'Send Content-Type: application/json.',
    });
  }
  const text = await context.req.text();
  try {
    return JSON.parse(text === '' ? '{}' : text);
  } catch (cause) {
    throw new OperationError('bad-body', 'the body is not JSON', { hint: 'For example {"reason": "…"}', cause });
  }
}

/** Two queries that mean the same are written the same. */
export function queryKey(each: Pick<Route | Deed, 'name'>, ...parts: readonly unknown[]): string {
  return JSON.stringify([each.name, ...parts], (_, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}

function unknownName(name: string, known: readonly string[]): OperationError {
  const near = nearestName(name, known);
  return new OperationError(
    'bad-query',
    `"${name}" is not understood${near === undefined ? '' : ` (nearest: ${near})`}`,
    {
      hint: known.length === 0 ? 'This takes no query.' : `It takes ${known.join(', ')}.`,
    },
  );
}
