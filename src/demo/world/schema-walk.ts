import { z } from 'zod';
import { quantiles } from './field.ts';
import { worldSchema } from './world-schema.ts';

/** A place in a world: names of fields, places in lists. */
export type Path = readonly (string | number)[];

/** What a field is when it is there. */
export function presentSchema(schema: unknown): z.ZodType {
  return schema instanceof z.ZodOptional ? presentSchema(schema.unwrap()) : (schema as z.ZodType);
}

/** Six numbers that are read as one: the sentence stands above all of them. */
export function isSpread(schema: z.ZodType): schema is typeof quantiles {
  return schema instanceof z.ZodObject && Object.keys(schema.shape).join() === Object.keys(quantiles.shape).join();
}

/** What a list or a table of names holds. */
export function memberSchema(schema: z.ZodType): z.ZodType | undefined {
  if (schema instanceof z.ZodArray) return presentSchema(schema.element);
  return schema instanceof z.ZodRecord ? presentSchema(schema.valueType) : undefined;
}

/** The fields of an object, which for a habit depend on its kind; undefined for anything else. */
export function fieldsOf(schema: z.ZodType, value: unknown): Readonly<Record<string, z.ZodType>> | undefined {
  if (schema instanceof z.ZodObject) return schema.shape;
  if (!(schema instanceof z.ZodDiscriminatedUnion)) return undefined;
  const name = schema.def.discriminator;
  return (schema.options as readonly z.ZodObject[])
    .map((option) => option.shape as Record<string, z.ZodType>)
    .find((shape) => shape[name]?.safeParse(childOf(value, name)).success === true);
}

/** The sentence a field has, with that of the numbers it holds. */
export function sentenceOfField(field: z.ZodType): string | undefined {
  const present = presentSchema(field);
  const member = memberSchema(present);
  const ofMember = member === undefined || isBlock(member) ? undefined : member.description;
  const sentences = [field.description ?? present.description, ofMember].filter((sentence) => sentence !== undefined);
  return sentences.length === 0 ? undefined : sentences.join(' ');
}

/** Whether it has fields with sentences of their own. */
export function isBlock(schema: z.ZodType): boolean {
  return schema instanceof z.ZodDiscriminatedUnion || (schema instanceof z.ZodObject && !isSpread(schema));
}

/** What the schema says about a place: the fields that may stand there, and the sentence of the field it is in. */
export function schemaAt(
  path: Path,
  world: unknown,
): { readonly fields: readonly string[]; readonly sentence: string | undefined } {
  let schema: z.ZodType = worldSchema;
  let value = world;
  let sentence: string | undefined;
  for (const key of path) {
    const fields = fieldsOf(schema, value);
    const next = fields === undefined ? memberSchema(schema) : ownField(fields, String(key));
    if (next === undefined) return { fields: [], sentence };
    if (fields !== undefined && !isSpread(schema)) sentence = sentenceOfField(next) ?? sentence;
    schema = presentSchema(next);
    value = childOf(value, key);
  }
  return { fields: Object.keys(fieldsOf(schema, value) ?? {}), sentence };
}

/** What stands at a place of a value that may be anything; undefined where there is nothing. */
export function valueAt(path: Path, world: unknown): unknown {
  return path.reduce(childOf, world);
}

function childOf(value: unknown, key: string | number): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Record<string | number, unknown>)[key];
}

function ownField(fields: Readonly<Record<string, z.ZodType>>, name: string): z.ZodType | undefined {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}
