import { Document, Pair, Scalar, YAMLMap, YAMLSeq } from 'yaml';
import { z } from 'zod';
import { OperationError } from '../../facts/operation-error.ts';
import { configSchema } from './config-schema.ts';
import { KINDS } from './check-config.ts';
import { readConfig } from './config-file.ts';
import { urlHoldsSecret } from './secret.ts';
import type { SourceConfig } from './source-config.ts';

/** A source to keep, how it was found, and what it said of itself. */
export interface SourceToKeep {
  readonly config: SourceConfig;
  readonly by: string;
}

const HEAD = ` yaml-language-server: $schema=bursar.schema.json

 What Bursar reads, and nothing else; it only ever reads. docs/CONFIG.md has every field.

   bursar doctor             how each source is, what is missing, what to do
   bursar collect            bring the data up to date once; --follow keeps at it
   bursar init --print-schema > bursar.schema.json    for editors that check while you write

 Secrets never stand here: headers: {Authorization: {env: NAME, prefix: "Bearer "}} or {file: PATH}.`;

const RATES = ` What an hour of a GPU costs you, where no bill says so; without it list prices are assumed.
 rates:
   - model: H100
     usd_per_gpu_hour: 1.95`;

/** What was found as a short bursar.yaml, each source with how it was found. */
export function printConfig(sources: readonly SourceToKeep[], data: string): string {
  const list = new YAMLSeq();
  for (const [index, { config, by }] of sources.entries()) {
    const node = sourceNode(config);
    node.commentBefore = ` Found by ${oneLine(by)}.`;
    node.spaceBefore = index > 0;
    list.add(node);
  }
  const map = new YAMLMap();
  map.add(new Pair(new Scalar('data'), new Scalar(data)));
  const key = new Scalar('sources');
  key.spaceBefore = true;
  map.add(new Pair(key, list));
  const document = new Document(map);
  document.commentBefore = HEAD;
  document.comment = RATES;
  const text = document.toString({ lineWidth: 0 });
  // What is written must be read again; a name or an address from outside could be anything.
  readConfig(text);
  return text;
}

/** What a server says of itself may have line ends, which would end the comment. */
function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ').replace(/[.\s]+$/, '');
}

function sourceNode(config: SourceConfig): YAMLMap {
  const map = new YAMLMap();
  map.add(new Pair(new Scalar('name'), new Scalar(config.name)));
  map.add(new Pair(new Scalar(config.kind), formNode(config)));
  return map;
}

function formNode(config: SourceConfig): YAMLMap | Scalar {
  if (config.kind === 'prometheus') {
    if (urlHoldsSecret(config.url)) throw secretInAddress();
    return new Scalar(config.url);
  }
  const fields = new YAMLMap();
  for (const [name, value] of Object.entries(config)) {
    const isOwn = !['kind', 'name', 'everyS', 'backfillS'].includes(name);
    if (isOwn && (typeof value === 'string' || typeof value === 'boolean')) {
      fields.add(new Pair(new Scalar(snakeCase(name)), new Scalar(value)));
    }
  }
  if (fields.items.length === 0) fields.flow = true;
  return fields;
}

function secretInAddress(): OperationError {
  return new OperationError(
    'secret-in-address',
    'the address holds a password or a token, which bursar.yaml must not',
    {
      hint:
        'Give the address without it, then add to the source: headers: {Authorization: {env: NAME, prefix: "Basic "}}; ' +
        'for Basic the variable holds base64 of user:password.',
    },
  );
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** The JSON Schema of bursar.yaml, for editors: draft 7, which they all read. */
export function configSchemaText(): string {
  const schema = z.toJSONSchema(configSchema, { target: 'draft-7' }) as {
    properties?: { sources?: { items?: Record<string, unknown> } };
  };
  const source = schema.properties?.sources?.items;
  // That a source is of exactly one kind no single field says.
  if (source !== undefined) source['oneOf'] = KINDS.map((kind) => ({ required: [kind] }));
  return `${JSON.stringify({ title: 'bursar.yaml', ...schema }, null, 2)}\n`;
}
