import { z } from 'zod';

/** A place in a file: names of fields, places in lists. */
export type Path = readonly (string | number)[];

/** What a field is when it is there. */
export function presentSchema(schema: unknown): z.ZodType {
  const isWrapped = schema instanceof z.ZodOptional || schema instanceof z.ZodNullable;
  return isWrapped ? presentSchema(schema.unwrap()) : (schema as z.ZodType);
}

/** Fields that are read as one, so that the sentence above all of them counts. */
export type IsOne = (schema: z.ZodType) => boolean;

/** What a list or a table of names holds. */
export function memberSchema(schema: z.ZodType): z.ZodType | undefined {
  if (schema instanceof z.ZodArray) return presentSchema(schema.element);
  return schema instanceof z.ZodRecord ? presentSchema(schema.valueType) : undefined;
}

/** Of forms that may stand in one place, the one that was meant: a text, a list or a map, by what stands there. */
export function meantOption(schema: z.ZodType, value: unknown): z.ZodType {
  if (!(schema instanceof z.ZodUnion) || schema instanceof z.ZodDiscriminatedUnion) return schema;
  const options = (schema.options as readonly z.ZodType[]).map(presentSchema);
  return options.find((option) => shapeOf(option) === kindOf(value)) ?? schema;
}

function shapeOf(schema: z.ZodType): string {
  if (schema instanceof z.ZodArray) return 'list';
  return schema instanceof z.ZodObject || schema instanceof z.ZodRecord ? 'map' : 'scalar';
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'list';
  return typeof value === 'object' && value !== null ? 'map' : 'scalar';
}

/** The fields of an object, which may depend on its kind; undefined for anything else. */
export function fieldsOf(schema: z.ZodType, value: unknown): Readonly<Record<string, z.ZodType>> | undefined {
  if (schema instanceof z.ZodObject) return schema.shape;
  if (!(schema instanceof z.ZodDiscriminatedUnion)) return undefined;
  const name = schema.def.discriminator;
  return (schema.options as readonly z.ZodObject[])
    .map((option) => option.shape as Record<string, z.ZodType>)
    .find((shape) => shape[name]?.safeParse(childOf(value, name)).success === true);
}

/** The sentence a field has, with that of the numbers it holds. */
export function sentenceOfField(field: z.ZodType, isOne: IsOne = nothingIsOne): string | undefined {
  const present = presentSchema(field);
  const member = memberSchema(present);
  const ofMember = member === undefined || isBlock(member, isOne) ? undefined : member.description;
  const sentences = [field.description ?? present.description, ofMember].filter((sentence) => sentence !== undefined);
  return sentences.length === 0 ? undefined : sentences.join(' ');
}

/** Whether it has fields with sentences of their own. */
export function isBlock(schema: z.ZodType, isOne: IsOne = nothingIsOne): boolean {
  return schema instanceof z.ZodDiscriminatedUnion || (schema instanceof z.ZodObject && !isOne(schema));
}

const nothingIsOne: IsOne = () => false;

/** What the schema says about a place: the fields that may stand there, and the sentence of the field it is in. */
export function schemaAt(
  root: z.ZodType,
  path: Path,
  whole: unknown,
  isOne: IsOne = nothingIsOne,
): { readonly fields: readonly string[]; readonly sentence: string | undefined } {
  let schema = root;
  let value = whole;
  let sentence: string | undefined;
  for (const key of path) {
    const fields = fieldsOf(schema, value);
    const next = fields === undefined ? memberSchema(schema) : ownField(fields, String(key));
    if (next === undefined) return { fields: [], sentence };
    if (fields !== undefined && !isOne(schema)) sentence = sentenceOfField(next, isOne) ?? sentence;
    value = childOf(value, key);
    schema = meantOption(presentSchema(next), value);
  }
  return { fields: Object.keys(fieldsOf(schema, value) ?? {}), sentence };
}

/** What stands at a place of a value that may be anything; undefined where there is nothing. */
export function valueAt(path: Path, whole: unknown): unknown {
  return path.reduce(childOf, whole);
}

function childOf(value: unknown, key: string | number): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Record<string | number, unknown>)[key];
}

function ownField(fields: Readonly<Record<string, z.ZodType>>, name: string): z.ZodType | undefined {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}
