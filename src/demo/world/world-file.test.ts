import { strict as assert } from 'node:assert';
import { describe, expect, it } from 'vitest';
import { OperationError } from '../../facts/operation-error.ts';
import { PRESETS } from './presets.ts';
import { printWorld } from './print-world.ts';
import { readWorld } from './world-file.ts';
import type { Habit } from './habit-schema.ts';
import type { Pool, World } from './world-schema.ts';

const { unmanaged } = PRESETS;

function named<Member extends { readonly name: string }>(members: readonly Member[], name: string): Member {
  const member = members.find((one) => one.name === name);
  assert(member !== undefined, `nothing is called ${name}`);
  return member;
}

function ofKind<Kind extends Habit['kind']>(kind: Kind, name: string): Extract<Habit, { kind: Kind }> {
  const habit = named(unmanaged.habits, name);
  assert(habit.kind === kind, `${name} is ${habit.kind}`);
  return habit as Extract<Habit, { kind: Kind }>;
}

const trainH100: Pool = {
  ...named(unmanaged.pools, 'train-h100'),
  share_percent: 60,
  hours_broken: { p0: 0.5, p10: 2, p50: 9, p90: 40, p99: 120, p100: 200 },
};
const pool = trainH100.name;

/** The members that the cases name, in an order of their own, so that the presets can be tuned. */
const WORLD: World = {
  ...unmanaged,
  providers: [named(unmanaged.providers, 'AWS'), named(unmanaged.providers, 'Polar Compute')],
  pools: [trainH100, { ...named(unmanaged.pools, 'spot-a100'), share_percent: 40 }],
  habits: [
    { ...ofKind('training', 'llm-pretrain'), pool, load_percent: 62, gpus: { '8': 70, '16': 30 } },
    { ...ofKind('sweep', 'asr-sweep'), pool, load_percent: 16 },
    { ...ofKind('notebook', 'interactive'), pool, load_percent: 16 },
  ],
};

const GOOD = printWorld(WORLD);

function failureOf(text: string): OperationError {
  try {
    readWorld(text, 'my.yaml');
  } catch (error) {
    if (error instanceof OperationError) return error;
    throw error;
  }
  throw new Error('the world was read');
}

const linesOf = (text: string) => failureOf(text).message.split('\n');

/** The number of the first line that begins so, at or below the first that begins with `after`. */
function lineOf(start: string, after = 'name:'): number {
  const lines = GOOD.split('\n').map((line) => line.trim());
  const from = lines.findIndex((line) => line.startsWith(after));
  assert(from !== -1, `no line begins with ${after}`);
  const found = lines.findIndex((line, index) => index >= from && line.startsWith(start));
  assert(found !== -1, `no line below ${after} begins with ${start}`);
  return found + 1;
}

/** The good world, or another text, with one line changed. */
function broken(number: number, change: (line: string) => string, text = GOOD): string {
  return text
    .split('\n')
    .map((line, index) => (index === number - 1 ? change(line) : line))
    .join('\n');
}

const value = (text: string) => (line: string) => line.replace(/: .*/, `: ${text}`);

interface LineCase {
  /** The line that is changed: how it begins, and below which line to look. */
  readonly line: readonly [start: string, after?: string];
  readonly change: (line: string) => string;
  /** Where the problem is shown, if not in the changed line. */
  readonly shownAt?: readonly [start: string, after?: string];
  readonly linesBelow?: number;
  readonly column: number;
  readonly want: string;
}

const lineCases: Record<string, LineCase> = {
  'a share above a hundred': {
    line: ['share_percent:', '- name: train-h100'],
    change: value('126'),
    column: 20,
    want: 'pools[0].share_percent: must be at most 100, but is 126; Its part of the GPUs of the fleet; the pools add up to 100.',
  },
  'a negative number': {
    line: ['rest_w:', 'h100:'],
    change: value('-70'),
    column: 13,
    want: 'gpus.h100.rest_w: must be at least 0, but is -70; Watts it draws when nothing runs.',
  },
  'half a GPU': {
    line: ['gpus_per_node:', '- name: train-h100'],
    change: value('7.5'),
    column: 20,
    want: 'pools[0].gpus_per_node: must be a whole number, but is 7.5; GPUs in each machine.',
  },
  'a number that is text': {
    line: ['step_ms:', 'name: llm-pretrain'],
    change: value('620ms'),
    column: 14,
    want: 'habits[0].step_ms: must be a number, but is "620ms"; Milliseconds one step computes.',
  },
  'a number left out': {
    line: ['step_ms:', 'name: llm-pretrain'],
    change: () => '    step_ms:',
    column: 13,
    want: 'habits[0].step_ms: must be a number, but is empty; Milliseconds one step computes.',
  },
  'not a number at all': {
    line: ['step_ms:', 'name: llm-pretrain'],
    change: value('.nan'),
    column: 14,
    want: 'habits[0].step_ms: must be a number, but is NaN; Milliseconds one step computes.',
  },
  'no such way to buy': {
    line: ['purchase:', '- name: spot-a100'],
    change: value('spott'),
    column: 15,
    want: 'pools[1].purchase: must be one of on-demand, spot, committed, owned, but is "spott"; nearest: spot; How its machines are bought.',
  },
  'a kind of habit nobody knows': {
    line: ['- kind: sweep'],
    change: value('sweeep'),
    column: 11,
    want: 'habits[1].kind: must be one of training, sweep, notebook, serving, box, but is "sweeep"; nearest: sweep; What people and services do with GPUs.',
  },
  'a name misspelt, told once and not also as missing': {
    line: ['gpus_per_node:', '- name: train-h100'],
    change: (line) => line.replace('gpus_per_node', 'gpu_per_node'),
    column: 5,
    want: 'pools[0].gpu_per_node: is not known here; nearest: gpus_per_node; Machines of one kind, bought and handed out in one way.',
  },
  'a line too many in a habit': {
    line: ['step_ms:', 'name: llm-pretrain'],
    change: (line) => `${line}\n    xyz: red`,
    linesBelow: 1,
    column: 5,
    want: 'habits[0].xyz: is not known here; What people and services do with GPUs.',
  },
  'a field that is missing is shown where its machine begins': {
    line: ['region:', '- name: train-h100'],
    change: () => '',
    shownAt: ['- name: train-h100'],
    column: 5,
    want: 'pools[0].region: is missing; Where (FOCUS RegionId).',
  },
  'a section that is missing is shown at the beginning': {
    line: ['name:'],
    change: () => '',
    shownAt: ['gpus:'],
    column: 1,
    want: 'name: is missing; What this world is called.',
  },
  'a currency in small letters': {
    line: ['currency:', '- name: Polar Compute'],
    change: value('eur'),
    column: 15,
    want: 'providers[1].currency: must be three capital letters, like USD, but is "eur"; ISO 4217 code of its bills.',
  },
  'a size that is no number': {
    line: ['gpus:', 'name: llm-pretrain'],
    change: (line) => line.replace('8: 70', 'eight: 70'),
    column: 13,
    want: 'habits[0].gpus.eight: must be named by a number of GPUs; How many GPUs a run asks for, and how often against the others. Weight.',
  },
  'quantiles that fall': {
    line: ['hours_broken:', '- name: train-h100'],
    change: (line) => line.replace('p10: 2', 'p10: 200'),
    column: 19,
    want: 'pools[0].hours_broken: must not fall from p0 to p100, but is a map; Hours a broken machine is down. Half of them stay below p50, 90 of 100 below p90; p0 is the least, p100 the most.',
  },
  'a place of a spread below zero': {
    line: ['hours_broken:', '- name: train-h100'],
    change: (line) => line.replace('p0: 0.5', 'p0: -0.5'),
    column: 25,
    want: 'pools[0].hours_broken.p0: must be at least 0, but is -0.5; Hours a broken machine is down. Half of them stay below p50, 90 of 100 below p90; p0 is the least, p100 the most.',
  },
  'a day of twenty-three hours': {
    line: ['submissions_by_hour:'],
    change: (line) => line.replace(/, \d+ \]/, ' ]'),
    column: 24,
    want: 'calendar.submissions_by_hour: must have exactly 24 members, but is a list of 23; How many jobs people submit in each local hour, from midnight on, against the others. Weight of one hour.',
  },
  'a team of nobody': {
    line: ['users:', 'teams:'],
    change: value('[]'),
    column: 12,
    want: 'teams[0].users: must have at least 1 member, but is a list of 0; Its people; a larger fleet has more of them, numbered. A login.',
  },
  'an empty name': {
    line: ['instance_type:', '- name: train-h100'],
    change: value('""'),
    column: 20,
    want: 'pools[0].instance_type: must not be empty, but is an empty text; The machine type.',
  },
  'maybe is no answer': {
    line: ['reissued:', '- name: AWS'],
    change: value('maybe'),
    column: 15,
    want: 'providers[0].reissued: must be true or false, but is "maybe"; Whether it sends a first bill without the last three days, and the full one later.',
  },
  'a reason put where there is no category': {
    line: ['thinking:', 'reasons:'],
    change: value('argueable'),
    column: 13,
    want: 'reasons.thinking: must be one of computing, starved, idle, lost, unallocated, stranded, beside, unknown, arguable, but is "argueable"; nearest: arguable; somebody was there, and read or wrote between two runs.',
  },
  'a pool that does not exist': {
    line: ['pool:', 'name: llm-pretrain'],
    change: value('train-h10'),
    column: 11,
    want: 'habits[0].pool: there is no pool "train-h10"; there are train-h100, spot-a100; nearest: train-h100; Which of the pools above.',
  },
  'more jobs than anyone could run': {
    line: ['load_percent:', 'name: llm-pretrain'],
    change: value('300'),
    column: 19,
    want: 'habits[0].load_percent: more jobs than anyone could run: the habits of pool train-h100 ask for 332 % of its GPU-hours (llm-pretrain 300, asr-sweep 16, interactive 16); at most 130; GPU-hours it asks for, of all the pool has; the habits of a pool together may ask for at most 130.',
  },
  'a bracket that is not closed': {
    line: ['users:', 'teams:'],
    change: (line) => line.replace(' ]', ''),
    shownAt: ['utc_offset_hours:', 'teams:'],
    column: 5,
    want: 'not YAML: Flow sequence in block collection must be sufficiently indented and end with a ]',
  },
  'a tab': {
    line: ['weekend_submissions_percent:'],
    change: (line) => line.replace('  ', '\t'),
    column: 1,
    want: 'not YAML: Tabs are not allowed as indentation',
  },
  'a name that stands twice': {
    line: ['rest_w:', 'h100:'],
    change: (line) => line.replace('rest_w', 'memory_mib'),
    column: 5,
    want: 'not YAML: this name stands twice in the same map',
  },
  'an alias of nothing': {
    line: ['rest_w:', 'h100:'],
    change: value('*watts'),
    column: 13,
    want: '*watts stands for nothing: no &watts before it',
  },
  'a tag of some program': {
    line: ['rest_w:', 'h100:'],
    change: value('!vault 70'),
    column: 13,
    want: 'not YAML: Unresolved tag: !vault',
  },
};

describe('an error in a line is told with its line and column', () => {
  it.each(Object.entries(lineCases))('%s', (_, { line, change, shownAt, linesBelow = 0, column, want }) => {
    const text = broken(lineOf(...line), change);
    expect(text).not.toBe(GOOD);
    const shown = lineOf(...(shownAt ?? line)) + linesBelow;
    expect(linesOf(text)).toEqual([`my.yaml:${shown}:${column}: ${want}`]);
  });
});

const laughs = (rounds: number) =>
  Array.from(
    { length: rounds },
    (_, round) =>
      `l${round}: &l${round} [${Array(9)
        .fill(round === 0 ? 'ha' : `*l${round - 1}`)
        .join(', ')}]`,
  ).join('\n');

const wholeCases: Record<string, { readonly text: string; readonly want: RegExp }> = {
  'an empty file': { text: '', want: /^my\.yaml:1:1: the file is empty$/ },
  'only blank lines and comments': { text: '\n# nothing yet\n\n', want: /^my\.yaml:1:1: the file is empty$/ },
  'a list': { text: '\n- a\n- b\n', want: /^my\.yaml:2:1: a world is a map of name, gpus, .*, but this is a list$/ },
  'a sentence': { text: 'hello world', want: /^my\.yaml:1:1: a world is a map of .*, but this is just "hello world"$/ },
  'a picture': { text: '\u0089PNG\r\n\u001a\n\0\0', want: /^my\.yaml:2:1: this is not text in UTF-8/ },
  'bytes that are no UTF-8': { text: 'name: caf\ufffd\n', want: /^my\.yaml:1:10: this is not text in UTF-8/ },
  'two worlds in one file': {
    text: `${GOOD}---\n${GOOD}`,
    want: /^my\.yaml:\d+:1: not YAML: a second document begins here/,
  },
  'a billion laughs': { text: laughs(12), want: /^my\.yaml:2:10: aliases stand for more than 100 copies/ },
  'an alias that holds itself': {
    text: 'name: &a [*a]\n',
    want: /^my\.yaml:1:10: name: must be text, but is a list of 1/m,
  },
  'brackets without end': { text: '['.repeat(100_000), want: /^my\.yaml:1:101: nested more than 100 deep$/ },
  'dashes without end': { text: '- '.repeat(100_000), want: /^my\.yaml:1:201: nested more than 100 deep$/ },
  'steps without end': {
    text: Array.from({ length: 900 }, (_, depth) => `${'  '.repeat(depth)}a:`).join('\n'),
    want: /^my\.yaml:101:202: nested more than 100 deep$/,
  },
  'a file as large as a book': { text: `${GOOD}${'# more\n'.repeat(300_000)}`, want: /the file has \d+ characters/ },
  'a name every object has': {
    text: '__proto__: { a: 1 }\nconstructor: 1\n',
    want: /my\.yaml:2:1: constructor: is not known/,
  },
};

describe('a file that is no world at all', () => {
  it.each(Object.entries(wholeCases))('%s', (_, { text, want }) => {
    const failure = failureOf(text);
    expect(failure.message).toMatch(want);
    expect(failure.code).toBe('bad-world');
    expect(failure.hint).toContain('--print-world');
  });
});

describe('several problems', () => {
  it('are told at once, in the order of the file', () => {
    const first = lineOf('rest_w:', 'h100:');
    const second = lineOf('share_percent:', '- name: train-h100');
    const text = broken(first, value('warm'), broken(second, value('126')));
    expect(linesOf(text).map((line) => line.split(': ')[0])).toEqual([`my.yaml:${first}:13`, `my.yaml:${second}:20`]);
  });

  it('are counted where they are too many to show', () => {
    const lines = linesOf(GOOD.replaceAll(/permille: \d+/g, 'permille: 2000'));
    expect(lines).toHaveLength(21);
    expect(lines.at(-1)).toMatch(/^and \d+ more$/);
  });
});

it('reads a file from an editor on Windows, with a byte order mark', () => {
  expect(readWorld(`\ufeff${GOOD.replaceAll('\n', '\r\n')}`, 'my.yaml')).toEqual(WORLD);
});

it('reads a few aliases', () => {
  const text = GOOD.replace('model: NVIDIA L4', 'model: &card NVIDIA L4').replace('model: Tesla T4', 'model: *card');
  expect(readWorld(text, 'my.yaml').gpus['t4']?.model).toBe('NVIDIA L4');
});
