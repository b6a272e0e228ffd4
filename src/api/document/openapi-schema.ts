import { z } from 'zod';

/** The part of JSON Schema 2020-12 that our replies need. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly format?: string;
  readonly pattern?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: string | number | boolean;
  readonly examples?: readonly unknown[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: JsonSchema | boolean;
  readonly items?: JsonSchema;
  readonly prefixItems?: readonly JsonSchema[];
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly [other: string]: unknown;
}

const PLACE = '#/components/schemas/';

/**
 * The schema of a value, kept under its name among those of the document, and the reference to it; without a name, the schema
 * itself.
 *
 * Objects stay open: that a later version adds a field is no break, and a client must not refuse it.
 */
export function hoistedSchema(
  value: z.ZodType,
  name: string,
  schemas: Record<string, JsonSchema>,
  io: 'input' | 'output' = 'output',
): JsonSchema {
  const made = z.toJSONSchema(value, { io, unrepresentable: 'any', override: ({ jsonSchema }) => soften(jsonSchema) });
  const { $defs = {}, ...schema } = made as JsonSchema & { readonly $defs?: Readonly<Record<string, JsonSchema>> };
  delete (schema as { $schema?: string }).$schema;
  if (name === '') return schema;
  const placed = (each: JsonSchema): JsonSchema => withReferences(each, name);
  for (const [inner, each] of Object.entries($defs)) schemas[`${name}.${inner}`] = placed(each);
  schemas[name] = placed(schema);
  return { $ref: `${PLACE}${name}` };
}

/** Formats say it better than the expressions zod checks them by. */
function soften(schema: Record<string, unknown>): void {
  if (schema['additionalProperties'] === false) delete schema['additionalProperties'];
  if (schema['format'] === 'date-time' || schema['format'] === 'date') delete schema['pattern'];
  if (schema['minimum'] === Number.MIN_SAFE_INTEGER) delete schema['minimum'];
  if (schema['maximum'] === Number.MAX_SAFE_INTEGER) delete schema['maximum'];
  delete schema['propertyNames'];
}

/** What refers to itself refers to its new place. */
function withReferences(schema: JsonSchema, name: string): JsonSchema {
  return JSON.parse(
    JSON.stringify(schema, (key, value: unknown) => {
      if (key !== '$ref' || typeof value !== 'string') return value;
      if (value === '#') return `${PLACE}${name}`;
      return value.replace(/^#\/\$defs\//, `${PLACE}${name}.`);
    }),
  ) as JsonSchema;
}
