/** A schema of draft 7, of which only what our schemas use is understood. */
interface Schema {
  readonly [keyword: string]: unknown;
}

const SAID_ONLY = new Set(['$schema', 'title', 'description']);

/**
 * What of a value a JSON Schema does not allow, each with its path. Knows no more keywords than it needs; one it does
 * not know is an error, so that nothing passes unread.
 */
export function schemaOffences(schema: unknown, value: unknown, path = '$'): string[] {
  assertSchema(schema, path);
  return Object.entries(schema).flatMap(([keyword, wants]) => {
    if (SAID_ONLY.has(keyword)) return [];
    const check = CHECKS[keyword];
    if (check === undefined) throw new Error(`${path}: nobody here knows the keyword ${keyword}`);
    return check(wants as never, value, path, schema);
  });
}

function assertSchema(schema: unknown, path: string): asserts schema is Schema {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) throw new Error(`${path}: no schema`);
}

type Check = (wants: never, value: unknown, path: string, schema: Schema) => string[];
const one = (isFine: boolean, path: string, what: string): string[] => (isFine ? [] : [`${path}: ${what}`]);
const isTable = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const inTable = (value: unknown): [string, unknown][] => (isTable(value) ? Object.entries(value) : []);
const inList = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  object: isTable,
  array: Array.isArray,
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: Number.isInteger,
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
};

const CHECKS: Readonly<Record<string, Check>> = {
  type: (wants: string, value, path) => one(TYPES[wants]?.(value) ?? false, path, `is no ${wants}`),
  const: (wants: unknown, value, path) => one(value === wants, path, `is not ${String(wants)}`),
  enum: (wants: readonly unknown[], value, path) => one(wants.includes(value), path, 'is none of the choices'),
  minimum: (wants: number, value, path) => one(Number(value) >= wants, path, `is below ${wants}`),
  maximum: (wants: number, value, path) => one(Number(value) <= wants, path, `is above ${wants}`),
  minLength: (wants: number, value, path) => one(String(value).length >= wants, path, 'is too short'),
  pattern: (wants: string, value, path) => one(new RegExp(wants).test(String(value)), path, `is not like ${wants}`),
  minItems: (wants: number, value, path) => one(inList(value).length >= wants, path, 'has too few'),
  maxItems: (wants: number, value, path) => one(inList(value).length <= wants, path, 'has too many'),
  items: (wants: unknown, value, path) =>
    inList(value).flatMap((item, index) => schemaOffences(wants, item, `${path}[${index}]`)),
  required: (wants: readonly string[], value, path) =>
    wants.flatMap((name) => one(isTable(value) && name in value, path, `lacks ${name}`)),
  properties: (wants: Schema, value, path) =>
    inTable(value).flatMap(([name, part]) =>
      name in wants ? schemaOffences(wants[name], part, `${path}.${name}`) : [],
    ),
  propertyNames: (wants: unknown, value, path) =>
    inTable(value).flatMap(([name]) => schemaOffences(wants, name, `${path}.${name}, the name`)),
  additionalProperties: (wants: unknown, value, path, { properties }) =>
    inTable(value)
      .filter(([name]) => !(isTable(properties) && name in properties))
      .flatMap(([name, part]) => {
        if (typeof wants === 'boolean') return one(wants, `${path}.${name}`, 'nobody knows it');
        return schemaOffences(wants, part, `${path}.${name}`);
      }),
  anyOf: (wants: readonly unknown[], value, path) => {
    const isFitting = wants.some((choice) => schemaOffences(choice, value, path).length === 0);
    return one(isFitting, path, `fits none of ${wants.length} choices`);
  },
  oneOf: (wants: readonly unknown[], value, path) => {
    const fitting = wants.filter((choice) => schemaOffences(choice, value, path).length === 0);
    return one(fitting.length === 1, path, `fits ${fitting.length} of ${wants.length} choices`);
  },
};
