import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { PRESETS } from './presets.ts';
import { printWorld, worldJsonSchema } from './print-world.ts';
import { memberSchema, presentSchema } from '../../facts/yaml/schema-walk.ts';
import { readWorld } from './world-file.ts';
import { worldSchema, type World } from './world-schema.ts';

interface Field {
  readonly path: string;
  readonly schema: z.ZodType;
  readonly sentence: string | undefined;
}

/** Every field and every number of the schema, by a walk of its own. */
function allFields(schema: z.ZodType, path: string): Field[] {
  const present = presentSchema(schema);
  const own = { path, schema: present, sentence: schema.description ?? present.description };
  if (present instanceof z.ZodObject) {
    const parts = Object.entries(present.shape).flatMap(([name, field]) =>
      allFields(field as z.ZodType, `${path}.${name}`),
    );
    return path === '' ? parts : [own, ...parts];
  }
  if (present instanceof z.ZodDiscriminatedUnion) {
    return present.options.flatMap((option, place) => allFields(option as z.ZodType, `${path}<${place}>`).slice(1));
  }
  const member = memberSchema(present);
  return member === undefined ? [own] : [own, ...allFields(member, `${path}[]`)];
}

/** What a list of names or a table of texts holds is told by the sentence of the list. */
const fields = allFields(worldSchema, '').filter(
  ({ schema, path }) => !path.endsWith('[]') || schema instanceof z.ZodNumber,
);

/** The text with its comments unwrapped, so that a sentence can be found in it. */
const sentencesIn = (text: string) => text.replaceAll(/\n\s*# /g, ' ');

describe.each(Object.entries(PRESETS))('the printed world %s', (_, world) => {
  const text = printWorld(world);

  it('is read back as it was', () => expect(readWorld(text, 'printed.yaml')).toEqual(world));

  it('prints the same once more', () => expect(printWorld(readWorld(text, 'printed.yaml'))).toBe(text));

  it('is no wider than a screen where a sentence stands, and names how to run it', () => {
    expect(text.split('\n').filter((line) => /^\s*#/.test(line) && line.length > 120)).toEqual([]);
    expect(text).toContain('bursar demo --world my-world.yaml');
    expect(text.split('\n')[0]).toBe('# yaml-language-server: $schema=world.schema.json');
  });

  it('puts what varies on one line', () => {
    const lines = text.split('\n');
    const trainings = world.habits.filter((habit) => habit.kind === 'training');
    expect(trainings).not.toEqual([]);
    for (const { name, hours, gpus } of trainings) {
      const { p0, p10, p50, p90, p99, p100 } = hours;
      const habit = lines.slice(lines.indexOf(`    name: ${name}`));
      const sizes = Object.entries(gpus).map(([size, weight]) => `${size}: ${weight}`);
      expect(habit.find((line) => line.startsWith('    hours:'))).toBe(
        `    hours: { p0: ${p0}, p10: ${p10}, p50: ${p50}, p90: ${p90}, p99: ${p99}, p100: ${p100} }`,
      );
      expect(habit.find((line) => line.startsWith('    gpus:'))).toBe(`    gpus: { ${sizes.join(', ')} }`);
    }
  });
});

describe('the sentences', () => {
  it('are there for every field and every number', () => {
    expect(fields.length).toBeGreaterThan(200);
    expect(fields.filter(({ sentence }) => sentence === undefined || sentence === '').map(({ path }) => path)).toEqual(
      [],
    );
  });

  it('all stand in the printed world', () => {
    const text = sentencesIn(printWorld(PRESETS.unmanaged));
    expect(fields.filter(({ sentence }) => !text.includes(sentence!)).map(({ path }) => path)).toEqual([]);
  });

  it('stand in the section of their number, above it', () => {
    const text = sentencesIn(printWorld(PRESETS.unmanaged));
    const pools = text.slice(text.indexOf('\npools:'), text.indexOf('\nteams:'));
    const sentence = 'For spot pools: hours a machine lasts on average before it is taken away.';
    expect(pools.indexOf(sentence)).toBeGreaterThan(0);
    expect(pools.indexOf(sentence)).toBeLessThan(pools.indexOf('spot_hours_between_interruptions:'));
  });

  it('are not repeated for the next member of a list', () => {
    expect(printWorld(PRESETS.unmanaged).split('# Which of the pools above.')).toHaveLength(2);
  });
});

it('reads back names that look like something else', () => {
  const odd: World = structuredClone(PRESETS.unmanaged);
  odd.name = 'yes: "no"\n# 1e3';
  odd.providers[0]!.account = '0x10';
  odd.pools[1]!.tags = { '017': 'true', null: '~', '<<': '*a', 'a b': '- x', 12: '3.50' };
  odd.teams[0]!.users = ['007', 'null', '@ada', '#1'];
  expect(readWorld(printWorld(odd), 'odd.yaml')).toEqual(odd);
});

describe('the JSON Schema', () => {
  interface Schema {
    readonly description?: string;
    readonly properties?: Readonly<Record<string, Schema>>;
    readonly items?: Schema;
    readonly required?: readonly string[];
    readonly additionalProperties?: unknown;
  }
  const schema = worldJsonSchema() as Schema;

  it('carries the sentences', () => {
    const pool = schema.properties?.['pools']?.items;
    expect(pool?.properties?.['gpus_per_node']?.description).toBe('GPUs in each machine.');
    expect(pool?.properties?.['provider']?.description).toContain('left out for hardware one owns');
    const text = JSON.stringify(schema);
    expect(fields.filter(({ sentence }) => !text.includes(JSON.stringify(sentence))).map(({ path }) => path)).toEqual(
      [],
    );
  });

  it('knows what is missing and what is too much', () => {
    expect(schema.required).toEqual(Object.keys(worldSchema.shape));
    expect(schema.additionalProperties).toBe(false);
    expect(schema.properties?.['pools']?.items?.required).not.toContain('provider');
  });
});
