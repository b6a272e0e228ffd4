import { strict as assert } from 'node:assert';
import { describe, expect, it } from 'vitest';
import { OperationError } from '../../facts/operation-error.ts';
import type { Habit } from './habit-schema.ts';
import { PRESETS } from './presets.ts';
import { printWorld } from './print-world.ts';
import { readWorld } from './world-file.ts';
import type { Pool, World } from './world-schema.ts';

/** What a file with the changed world is told, without the place in the file and the sentences of the fields. */
function toldOf(change: (world: World) => void): string[] {
  const world = structuredClone(PRESETS.unmanaged);
  change(world);
  try {
    readWorld(printWorld(world), 'my.yaml');
    return [];
  } catch (error) {
    assert(error instanceof OperationError);
    return error.message.split('\n').map((line) => line.replace(/^my\.yaml:\d+:\d+: /, '').split(';')[0]!);
  }
}

function poolWith(world: World, field: keyof Pool, value: string): Pool {
  const pool = world.pools.find((one) => one[field] === value);
  assert(pool !== undefined, `no pool with ${field} ${value}`);
  return pool;
}

function habitOf<Kind extends Habit['kind']>(world: World, kind: Kind): Extract<Habit, { kind: Kind }> {
  type Wanted = Extract<Habit, { kind: Kind }>;
  const habit = world.habits.find((one): one is Wanted => one.kind === kind);
  assert(habit !== undefined, `no habit of kind ${kind}`);
  return habit;
}

interface Limit {
  readonly set: (world: World, value: number) => void;
  /** The last that is let through, and one beyond it. */
  readonly allowed: number;
  readonly refused: number;
  readonly want: RegExp;
}

const limits: Record<string, Limit> = {
  'corrections of more rows than a month has': {
    set: (world, value) => void (world.providers[0]!.corrected_hours = value),
    allowed: 1000,
    refused: 1001,
    want: /^providers\[0\]\.corrected_hours: must be at most 1000, but is 1001$/,
  },
  'a GPU cut into crumbs of time': {
    set: (world, value) => void (poolWith(world, 'sharing', 'time-slice').time_slices = value),
    allowed: 32,
    refused: 33,
    want: /^pools\[\d+\]\.time_slices: must be at most 32, but is 33$/,
  },
  'machines as large as a fleet': {
    set: (world, value) => void (poolWith(world, 'purchase', 'on-demand').gpus_per_node = value),
    allowed: 1000,
    refused: 1001,
    want: /^pools\[\d+\]\.gpus_per_node: must be at most 1000, but is 1001$/,
  },
  'runs that are never given up': {
    set: (world, value) => void (habitOf(world, 'training').retries = value),
    allowed: 1000,
    refused: 1001,
    want: /^habits\[\d+\]\.retries: must be at most 1000, but is 1001$/,
  },
  'sweeps without end': {
    set: (world, value) => void (habitOf(world, 'sweep').trials.p100 = value),
    allowed: 10_000,
    refused: 10_001,
    want: /^habits\[\d+\]\.trials\.p100: must be at most 10000, but is 10001$/,
  },
  'runs that crash before they begin': {
    set: (world, value) => void (habitOf(world, 'training').gpu_days_between_crashes = value),
    allowed: 0.001,
    refused: 0.0009,
    want: /^habits\[\d+\]\.gpu_days_between_crashes: must be 0 or at least 0\.001, but is 0\.0009$/,
  },
  'sessions stopped sooner than anybody could touch a key': {
    set: (world, value) => void (habitOf(world, 'notebook').stopped_idle_hours = value),
    allowed: 0.02,
    refused: 0.000_01,
    want: /^habits\[\d+\]\.stopped_idle_hours: must be 0 or at least 0\.02, but is 0\.00001$/,
  },
  'a price nobody pays': {
    set: (world, value) => void (poolWith(world, 'purchase', 'on-demand').price_per_gpu_hour = value),
    allowed: 10_000,
    refused: 10_000.5,
    want: /^pools\[\d+\]\.price_per_gpu_hour: must be at most 10000, but is 10000\.5$/,
  },
  'a list price nobody asks': {
    set: (world, value) => void (poolWith(world, 'purchase', 'on-demand').list_price_per_gpu_hour = value),
    allowed: 10_000,
    refused: 10_001,
    want: /^pools\[\d+\]\.list_price_per_gpu_hour: must be at most 10000, but is 10001$/,
  },
  'a commitment nobody uses': {
    set: (world, value) => void (poolWith(world, 'purchase', 'committed').commitment_used_percent = value),
    allowed: 1,
    refused: 0.5,
    want: /^pools\[\d+\]\.commitment_used_percent: must be at least 1 for purchase committed, but is 0\.5$/,
  },
  'a whole number no double holds': {
    set: (world, value) => void (habitOf(world, 'training').step_ms = value),
    allowed: 100_000_000,
    refused: 1e23,
    want: /^habits\[\d+\]\.step_ms: must be at most 100000000, but is 1e\+23$/,
  },
  'a whole number no double holds, below zero': {
    set: (world, value) => void (habitOf(world, 'training').checkpoint_s = value),
    allowed: 0,
    refused: -1e23,
    want: /^habits\[\d+\]\.checkpoint_s: must be at least 0, but is -1e\+23$/,
  },
};

describe('numbers that would not end are refused, and the last before them are not', () => {
  it.each(Object.entries(limits))('%s', (_, { set, allowed, refused, want }) => {
    expect(toldOf((world) => set(world, allowed))).toEqual([]);
    expect(toldOf((world) => set(world, refused))).toEqual([expect.stringMatching(want)]);
  });
});

describe('money of a currency', () => {
  const other = (world: World) => world.providers.findIndex(({ currency }) => currency !== 'USD');

  it('is worth at most ten thousand dollars', () => {
    expect(toldOf((world) => void (world.providers[other(world)]!.usd_per_unit = 10_001))).toEqual([
      expect.stringMatching(/^providers\[\d+\]\.usd_per_unit: must be at most 10000, but is 10001$/),
    ]);
  });

  it('makes no price of more than ten thousand dollars either', () => {
    const told = toldOf((world) => {
      const provider = world.providers[other(world)]!;
      provider.usd_per_unit = 1000;
      const pool = poolWith(world, 'provider', provider.name);
      Object.assign(pool, { price_per_gpu_hour: 10, list_price_per_gpu_hour: 10.01 });
    });
    expect(told).toEqual([
      expect.stringMatching(
        /^pools\[\d+\]\.list_price_per_gpu_hour: must be worth at most 10000 dollars, but 10\.01 EUR are worth 10010$/,
      ),
    ]);
  });

  it('has one worth, whoever bills in it', () => {
    const add = (world: World, usd_per_unit: number) =>
      world.providers.push({ ...world.providers[other(world)]!, name: 'Another', usd_per_unit });
    const { providers } = PRESETS.unmanaged;
    const first = providers[other(PRESETS.unmanaged)]!;
    expect(toldOf((world) => void add(world, first.usd_per_unit))).toEqual([]);
    expect(toldOf((world) => void add(world, 1.2))).toEqual([
      `providers[${providers.length}].usd_per_unit: one EUR is worth ${first.usd_per_unit} at ` +
        `providers[${other(PRESETS.unmanaged)}], but is 1.2 here`,
    ]);
  });
});
