import type { ApiDocument, ApiOperation } from './openapi-document.ts';
import type { JsonSchema } from './openapi-schema.ts';

/** One field of a reply, by its path: `rows[].costUsdMicros`. */
export interface Field {
  readonly name: string;
  readonly type: string;
  readonly meaning: string;
}

const DEPTH_MAX = 6;

/** The fields of an operation's good answer, in the order of its schema. */
export function fieldsOf(document: ApiDocument, operation: ApiOperation): Field[] {
  const good = operation.responses['200'];
  if (good === undefined || '$ref' in good) return [];
  const schema = Object.values(good.content ?? {})[0]?.schema;
  return schema === undefined ? [] : fieldsIn(document, schema, '', 0);
}

function fieldsIn(document: ApiDocument, given: JsonSchema, name: string, depth: number): Field[] {
  const schema = resolved(document, given);
  if (depth > DEPTH_MAX) return [];
  const below = [
    ...Object.entries(schema.properties ?? {}).flatMap(([key, each]) => {
      const path = name === '' ? key : `${name}.${key}`;
      const full = resolved(document, each);
      const field = { name: path, type: typeWords(full), meaning: each.description ?? full.description ?? '' };
      return [field, ...fieldsIn(document, each, path, depth + 1)];
    }),
    ...(typeof schema.additionalProperties === 'object'
      ? [
          { name: name === '' ? '*' : `${name}.*`, type: typeWords(schema.additionalProperties), meaning: '' },
          ...fieldsIn(document, schema.additionalProperties, name === '' ? '*' : `${name}.*`, depth + 1),
        ]
      : []),
    ...(schema.items === undefined ? [] : fieldsIn(document, schema.items, `${name}[]`, depth)),
    ...(schema.anyOf ?? schema.oneOf ?? schema.allOf ?? []).flatMap((each) => fieldsIn(document, each, name, depth)),
  ];
  const seen = new Set<string>();
  return below.filter((field) => !seen.has(field.name) && seen.add(field.name));
}

function resolved(document: ApiDocument, schema: JsonSchema): JsonSchema {
  const name = schema.$ref?.split('/').at(-1);
  return name === undefined ? schema : (document.components.schemas[name] ?? {});
}

/** What a value is, for people. */
export function typeWords(schema: JsonSchema): string {
  if (schema.enum !== undefined) return schema.enum.map(String).join(' | ');
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return [...new Set(choices.map(typeWords))].join(' or ');
  if (schema.format === 'date-time') return asList(schema.type).includes('null') ? 'time or null' : 'time';
  if (schema.items !== undefined) return `list of ${typeWords(schema.items)}`;
  return asList(schema.type).join(' or ') || 'object';
}

function asList(type: JsonSchema['type']): readonly string[] {
  return type === undefined ? [] : typeof type === 'string' ? [type] : type;
}
