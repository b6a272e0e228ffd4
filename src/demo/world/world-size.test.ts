import { describe, expect, it } from 'vitest';
import { PRESETS } from './presets.ts';
import { printWorld } from './print-world.ts';
import { readWorld } from './world-file.ts';
import type { World } from './world-schema.ts';

const { unmanaged } = PRESETS;
/** A generous share of what a reader waits for; what is quadratic takes minutes. */
const READS_WITHIN_MS = 20_000;

const numbered = (times: number, line: (number: number) => string) =>
  Array.from({ length: times }, (_, number) => line(number)).join('');

/** As many pools as asked for, and twice as many habits, each of them like one of the preset. */
function largeWorld(poolCount: number): World {
  const { pools, habits } = unmanaged;
  const rounds = Math.floor(poolCount / pools.length);
  return {
    ...unmanaged,
    pools: Array.from({ length: poolCount }, (_, index) => ({
      ...pools[index % pools.length]!,
      name: `pool-${index}`,
      share_percent: 100 / poolCount,
    })),
    habits: Array.from({ length: 2 * poolCount }, (_, index) => {
      const habit = habits[index % habits.length]!;
      const kind = pools.findIndex(({ name }) => name === habit.pool);
      const changed = { name: `habit-${index}`, pool: `pool-${kind + pools.length * (index % rounds)}` };
      return 'load_percent' in habit
        ? { ...habit, ...changed, load_percent: 1 }
        : { ...habit, ...changed, share_percent: 1 };
    }),
  };
}

const refused: Record<string, { readonly text: string; readonly want: RegExp }> = {
  'aliases without end': {
    text: `name: &a x\ngpus: [${'*a,'.repeat(20_000)}]\n`,
    want: /^my\.yaml:2:308: more than 100 aliases; write out what they stand for$/,
  },
  'names without end': {
    text: numbered(40_000, (number) => `key${number}: 1\n`),
    want: /^my\.yaml:10001:1: more than 10000 names in one map$/,
  },
  'names without end further in': {
    text: `gpus: {${numbered(40_000, (number) => `key${number}: 1,`)}}\n`,
    want: /^my\.yaml:1:\d+: more than 10000 names in one map$/,
  },
  'ten thousand wrong names': {
    text: numbered(10_000, (number) => `key${number}: 1\n`),
    want: /^my\.yaml:1:1: key0: is not known here/m,
  },
  'the same name without end': {
    text: 'a: 1\n'.repeat(10_000),
    want: /^my\.yaml:2:1: not YAML: this name stands twice in the same map\n/,
  },
  'lines without end': {
    text: '\n'.repeat(60_000),
    want: /^my\.yaml:50001:1: more than 50000 lines; a world has at most that$/,
  },
  'more than a megabyte': {
    text: `# ${'x'.repeat(1_000_000)}`,
    want: /^my\.yaml:1:1: the file has 1000002 characters; a world has at most 1000000$/,
  },
  'dashes after a bracket that opens nothing': {
    text: `# [\nname: "["\nx: '{'\ny: a [ b\nz:\n${'- '.repeat(100_000)}`,
    want: /^my\.yaml:6:\d+: nested more than 100 deep$/,
  },
  'names in names without end': {
    text: '? '.repeat(100_000),
    want: /^my\.yaml:1:\d+: nested more than 100 deep$/,
  },
};

describe('a file that would take its reader with it', () => {
  it.each(Object.entries(refused))(
    '%s',
    (_, { text, want }) => {
      expect(() => readWorld(text, 'my.yaml')).toThrow(want);
    },
    READS_WITHIN_MS,
  );
});

describe('a right world, however it is written', () => {
  const inOneLine = JSON.stringify(unmanaged, undefined, 1).replaceAll(/\n */g, ' ');
  const bracketed = { ...unmanaged, name: `a ${'[{'.repeat(200)} b` };
  const written: Record<string, { readonly text: string; readonly world: World }> = {
    'JSON in one line': { text: inOneLine, world: unmanaged },
    'JSON in one line without spaces': { text: JSON.stringify(unmanaged), world: unmanaged },
    'JSON in many lines': { text: JSON.stringify(unmanaged, undefined, 2), world: unmanaged },
    'brackets in a name': { text: printWorld(bracketed), world: bracketed },
    'dashes and colons in a comment': { text: `# ${'- : '.repeat(300)}\n${printWorld(unmanaged)}`, world: unmanaged },
  };

  it.each(Object.entries(written))('%s', (_, { text, world }) => {
    expect(readWorld(text, 'my.yaml')).toEqual(world);
  });

  it(
    'five hundred pools and a thousand habits',
    () => {
      const world = largeWorld(500);
      expect(readWorld(printWorld(world), 'my.yaml')).toEqual(world);
    },
    READS_WITHIN_MS,
  );
});
