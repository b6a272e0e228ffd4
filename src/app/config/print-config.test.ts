import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { schemaOffences } from '../../../test/demo/json-schema.ts';
import { readConfig } from './config-file.ts';
import { initConfig } from './init-config.ts';
import { configSchemaText, printConfig } from './print-config.ts';

describe('bursar.yaml as init writes it', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bursar-init-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const sources = [{ config: { kind: 'slurm', name: 'slurm' }, by: 'sinfo in PATH' }] as const;

  it('is short, and says what each line is', () => {
    expect(printConfig(sources, './bursar-data')).toMatchInlineSnapshot(`
      "# yaml-language-server: $schema=bursar.schema.json

      # What Bursar reads, and nothing else; it only ever reads. docs/CONFIG.md has every field.

      #   bursar doctor             how each source is, what is missing, what to do
      #   bursar collect            bring the data up to date once; --follow keeps at it
      #   bursar init --print-schema > bursar.schema.json    for editors that check while you write

      # Secrets never stand here: headers: {Authorization: {env: NAME, prefix: "Bearer "}} or {file: PATH}.

      data: ./bursar-data

      sources:
        # Found by sinfo in PATH.
        - name: slurm
          slurm: {}

      # What an hour of a GPU costs you, where no bill says so; without it list prices are assumed.
      # rates:
      #   - model: H100
      #     usd_per_gpu_hour: 1.95
      "
    `);
  });

  it('never replaces what somebody wrote, unless told to', async () => {
    const path = join(folder, 'bursar.yaml');
    await initConfig({ sources, data: './a', path, force: false });
    await expect(initConfig({ sources, data: './b', path, force: false })).rejects.toMatchObject({
      code: 'config-exists',
      hint: expect.stringContaining('--force'),
    });
    expect(await readFile(path, 'utf8')).toContain('data: ./a');
    await initConfig({ sources, data: './b', path, force: true });
    expect(await readFile(path, 'utf8')).toContain('data: ./b');
  });

  it('holds no password', () => {
    const config = { kind: 'prometheus', name: 'p', url: 'http://kim:hunter2@p:9090' } as const;
    expect(() => printConfig([{ config, by: '--prometheus' }], './a')).toThrow(
      expect.objectContaining({ code: 'secret-in-address', message: expect.not.stringContaining('hunter2') }),
    );
  });
});

const repo = (path: string): URL => new URL(`../../../${path}`, import.meta.url);

describe('the JSON Schema', () => {
  it('in docs is what init prints: bursar init --print-schema > docs/bursar.schema.json', async () => {
    const published: unknown = JSON.parse(await readFile(repo('docs/bursar.schema.json'), 'utf8'));
    expect(published).toEqual(JSON.parse(configSchemaText()));
  });

  it('has a sentence for every field', () => {
    expect(fieldsWithoutSentence(JSON.parse(configSchemaText()))).toEqual([]);
  });

  it.each([
    ['no kind', { sources: [{ name: 'a' }] }],
    ['two kinds', { sources: [{ name: 'a', local: {}, aws: {} }] }],
    ['a word nobody knows', { sources: [{ name: 'a', promethius: 'http://p' }] }],
    ['a length without unit', { sources: [{ name: 'a', local: {}, every: 60 }] }],
  ])('refuses %s', (_, value) => {
    expect(schemaOffences(JSON.parse(configSchemaText()), value)).not.toEqual([]);
  });
});

function fieldsWithoutSentence(schema: unknown, path = '$'): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const {
    properties = {},
    description: _,
    ...rest
  } = schema as { properties?: Record<string, object>; description?: string };
  const own = Object.entries(properties).flatMap(([name, field]) =>
    'description' in field ? [] : [`${path}.${name}`],
  );
  const inner = [...Object.entries(properties), ...Object.entries(rest)];
  return [...own, ...inner.flatMap(([name, each]) => fieldsWithoutSentence(each, `${path}.${name}`))];
}

describe('every example of docs/CONFIG.md', async () => {
  const page = await readFile(repo('docs/CONFIG.md'), 'utf8');
  const examples = [...page.matchAll(/```yaml\n(.*?)```/gs)].map(([, text]) => text ?? '');

  it('is there', () => expect(examples.length).toBeGreaterThanOrEqual(7));

  it.each(examples)('is read, and passes the JSON Schema: %s', (text) => {
    const { sources, rates } = readConfig(text);
    expect(sources.length + rates.length).toBeGreaterThan(0);
    expect(schemaOffences(JSON.parse(configSchemaText()), parse(text))).toEqual([]);
  });
});
