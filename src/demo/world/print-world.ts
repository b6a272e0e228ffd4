import { strict as assert } from 'node:assert';
import { Document, isMap, Pair, Scalar, YAMLMap, YAMLSeq, type Node } from 'yaml';
import { z } from 'zod';
import { fieldsOf, isBlock, memberSchema, presentSchema, sentenceOfField } from '../../facts/yaml/schema-walk.ts';
import { isSpread, quantiles } from './field.ts';
import { worldSchema, type World } from './world-schema.ts';

const COMMENT_COLUMNS_MAX = 110;

/**
 * The world as a file people can change. A field carries its sentence where a section first names it; further members
 * of a list do without, or the sentences would drown the numbers.
 */
export function printWorld(world: World): string {
  const sections = new YAMLMap();
  for (const [index, [name, section]] of Object.entries(worldSchema.shape).entries()) {
    const key = commented(new Scalar(name), section);
    key.spaceBefore = index > 0;
    const value = (world as Readonly<Record<string, unknown>>)[name];
    sections.add(new Pair(key, nodeOf(section, value, new Set())));
  }
  const document = new Document(sections);
  document.commentBefore = head(world.name);
  return document.toString({ lineWidth: 0 });
}

/** The JSON Schema of a world file, for editors: draft 7, which they all read. */
export function worldJsonSchema(): object {
  return {
    title: 'A world of bursar demo',
    ...z.toJSONSchema(worldSchema, { target: 'draft-7' }),
  };
}

function head(name: string): string {
  const places = Object.entries(quantiles.shape).map(
    ([place, { description }]) => `   ${place.padEnd(5)}${description}`,
  );
  return [
    ' yaml-language-server: $schema=world.schema.json',
    '',
    ` The world ${JSON.stringify(name)}: a made-up organisation, its machines, its people and what they do, its bills.`,
    ' Change what you like, then run it:',
    '',
    '   bursar demo --world my-world.yaml',
    '',
    ' The sentence above a field says what it means; in a list it stands where the field comes first.',
    ' Editors check the file while you write, once the schema lies beside it:',
    '',
    '   bursar demo --print-schema > world.schema.json',
    '',
    ' Things that vary are given by six numbers, with straight lines between them:',
    '',
    ...places,
  ].join('\n');
}

function nodeOf(schema: z.ZodType, value: unknown, told: Set<z.ZodType>): Node {
  const present = presentSchema(schema);
  const fields = fieldsOf(present, value);
  if (fields !== undefined) return isSpread(present) ? onOneLine(value) : fieldsNode(fields, value, told);
  const member = memberSchema(present);
  if (member === undefined) return new Scalar(value);
  return isBlock(member, isSpread) ? membersNode(member, value, told) : onOneLine(value);
}

function fieldsNode(fields: Readonly<Record<string, z.ZodType>>, value: unknown, told: Set<z.ZodType>): YAMLMap {
  const map = new YAMLMap();
  for (const [name, field] of Object.entries(fields)) {
    const part = (value as Readonly<Record<string, unknown>>)[name];
    if (part === undefined) continue;
    const key = told.has(field) ? new Scalar(name) : commented(new Scalar(name), field);
    told.add(field);
    map.add(new Pair(key, nodeOf(field, part, told)));
  }
  return map;
}

function membersNode(member: z.ZodType, value: unknown, told: Set<z.ZodType>): Node {
  if (Array.isArray(value)) {
    const list = new YAMLSeq();
    for (const [index, one] of value.entries()) {
      const node = nodeOf(member, one, told);
      liftFirstComment(node);
      node.spaceBefore = index > 0;
      list.add(node);
    }
    return list;
  }
  const table = new YAMLMap();
  for (const [index, [name, one]] of Object.entries(value as object).entries()) {
    const key = new Scalar(name);
    key.spaceBefore = index > 0;
    table.add(new Pair(key, nodeOf(member, one, told)));
  }
  return table;
}

/** The comment of a member's first field stands above its dash, not behind it. */
function liftFirstComment(node: Node): void {
  const first = isMap(node) ? node.items[0]?.key : undefined;
  if (!(first instanceof Scalar)) return;
  node.commentBefore = first.commentBefore ?? null;
  first.commentBefore = null;
}

/** For what has no sentences inside. */
function onOneLine(value: unknown): Node {
  const node = Array.isArray(value) ? listNode(value) : tableNode(value as object);
  node.flow = true;
  return node;
}

function listNode(values: readonly unknown[]): YAMLSeq {
  const list = new YAMLSeq();
  for (const value of values) list.add(new Scalar(value));
  return list;
}

function tableNode(values: object): YAMLMap {
  const table = new YAMLMap();
  for (const [name, value] of Object.entries(values)) {
    // Sizes are written as the numbers they look like; every key is read as text.
    const key = new Scalar(/^[1-9]\d{0,14}$/.test(name) ? Number(name) : name);
    table.add(new Pair(key, new Scalar(value)));
  }
  return table;
}

function commented(key: Scalar, field: z.ZodType): Scalar {
  const sentence = sentenceOfField(field, isSpread);
  assert(sentence !== undefined, `the field ${String(key.value)} has no sentence`);
  key.commentBefore = linesOf(sentence);
  return key;
}

function linesOf(sentence: string): string {
  const lines: string[] = [];
  for (const word of sentence.split(' ')) {
    const line = lines.at(-1);
    if (line !== undefined && line.length + 1 + word.length <= COMMENT_COLUMNS_MAX)
      lines.push(`${lines.pop()} ${word}`);
    else lines.push(` ${word}`);
  }
  return lines.join('\n');
}
