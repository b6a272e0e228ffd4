import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { stagesOn } from '../../test/stage-on.ts';
import { waterfall } from './waterfall.ts';

interface Parts {
  readonly unknown: number;
  readonly idle: number;
  readonly pause: number;
  readonly computing: number;
  readonly gap: number;
  readonly exchange: number;
}

const NOTHING: Parts = { unknown: 0, idle: 0, pause: 0, computing: 0, gap: 0, exchange: 0 };

/** An entry of that many unit-seconds; `pause` is within idle, `gap` and `exchange` within computing. */
function entryOf(parts: Parts, more: Readonly<Record<string, string | number | null>>) {
  const weight = parts.unknown + parts.idle + parts.computing;
  return {
    day: '2026-03-02',
    hour_start: '2026-03-02 09:00:00',
    disposition: 'held',
    device_id: 'g',
    subject: 'job a',
    component: 'gpu',
    basis: 'billed',
    manner: 'job',
    idle_reason: null,
    gpu_units: weight,
    split_weight: weight,
    split_computing: parts.computing,
    split_idle: parts.idle,
    split_pause: parts.pause,
    split_gap: parts.gap,
    split_exchange: parts.exchange,
    usd_micros: 0,
    marginal_usd_micros: 0,
    ...more,
  };
}

const told = (row: Readonly<Record<string, unknown>>): string =>
  [row['category'], row['reason'], row['usd_micros'], row['marginal_usd_micros'], row['gpu_units']]
    .map(String)
    .join(' ');

const all: Parts = { unknown: 100, idle: 300, pause: 100, computing: 600, gap: 200, exchange: 100 };

const cases: Readonly<
  Record<string, { readonly entry: ReturnType<typeof entryOf>; readonly want: readonly string[] }>
> = {
  'a job: unknown, idle, pause, gap, exchange, computing': {
    entry: entryOf(all, {
      usd_micros: 1000,
      marginal_usd_micros: 100,
      idle_reason: 'parked',
      computing_reason: 'busy',
    }),
    want: [
      'computing busy 300 30 300',
      'idle parked 200 20 200',
      'starved exchange 100 10 100',
      'starved gap 200 20 200',
      'starved pause 100 10 100',
      'unknown null 100 10 100',
    ],
  },
  'a service stands between requests instead': {
    entry: entryOf(
      { ...all, pause: 0, exchange: 0 },
      { usd_micros: 1000, marginal_usd_micros: 0, manner: 'serving', idle_reason: 'bare' },
    ),
    want: [
      'computing null 400 0 400',
      'idle bare 300 0 300',
      'idle between-requests 200 0 200',
      'unknown null 100 0 100',
    ],
  },
  'a cent that cannot be halved goes to the later part': {
    entry: entryOf(
      { ...NOTHING, idle: 10, pause: 5, computing: 10, gap: 5 },
      { usd_micros: 3, marginal_usd_micros: 1 },
    ),
    want: ['computing null 1 1 5', 'idle null 0 0 5', 'starved gap 1 0 5', 'starved pause 1 0 5'],
  },
  'time that is counted on another bill has money here and no time': {
    entry: entryOf(all, { usd_micros: 1000, gpu_units: 0 }),
    want: [
      'computing null 300 0 0',
      'idle null 200 0 0',
      'starved exchange 100 0 0',
      'starved gap 200 0 0',
      'starved pause 100 0 0',
      'unknown null 100 0 0',
    ],
  },
  'what has no price has its time in the same places': {
    entry: entryOf(
      { ...NOTHING, idle: 30, pause: 10, computing: 50, gap: 20 },
      { usd_micros: null, marginal_usd_micros: null },
    ),
    want: [
      'computing null null null 30',
      'idle null null null 20',
      'starved gap null null 20',
      'starved pause null null 10',
    ],
  },
  'what nobody held keeps its reason': {
    entry: entryOf(NOTHING, {
      disposition: 'unallocated',
      reason: 'drained',
      usd_micros: 7,
      gpu_units: 9,
      split_weight: 9,
    }),
    want: ['unallocated drained 7 0 9'],
  },
  'and what is no device has none': {
    entry: entryOf(NOTHING, { disposition: 'tax', usd_micros: 7, split_weight: 1 }),
    want: ['beside null 7 0 0'],
  },
};

describe('an entry in the waterfall', () => {
  test.each(Object.entries(cases))('%s', async (_, { entry, want }) => {
    const rows = await stagesOn([waterfall], { ledger_entry: [entry], fate: [] });
    expect(rows.map(told).toSorted()).toEqual(want);
  });

  test('adds up, money and time, whatever its parts', async () => {
    const parts = fc
      .record({ unknown: fc.nat(9999), idle: fc.nat(9999), computing: fc.nat(9999) })
      .chain((whole) =>
        fc
          .record({ pause: fc.nat(whole.idle), gap: fc.nat(whole.computing) })
          .chain((within) =>
            fc.nat(whole.computing - within.gap).map((exchange) => ({ ...whole, ...within, exchange })),
          ),
      );
    const money = fc.oneof(fc.integer({ min: -9999, max: 9999 }), fc.integer({ min: -(10 ** 12), max: 10 ** 12 }));
    const entries = fc.array(fc.tuple(parts, money, money, fc.constantFrom('job', 'serving')), {
      minLength: 60,
      maxLength: 60,
    });
    await fc.assert(
      fc.asyncProperty(entries, async (drawn) => {
        const held = drawn
          .filter(([each]) => each.unknown + each.idle + each.computing > 0)
          .map(([each, usd_micros, marginal_usd_micros, manner], place) =>
            entryOf(manner === 'job' ? each : { ...each, pause: 0, exchange: 0 }, {
              usd_micros,
              marginal_usd_micros,
              manner,
              subject: `job ${place}`,
            }),
          );
        const rows = await stagesOn([waterfall], { ledger_entry: held, fate: [] });
        for (const entry of held) {
          const own = rows.filter((row) => row['subject'] === entry['subject']);
          for (const measure of ['usd_micros', 'marginal_usd_micros', 'gpu_units'] as const)
            expect(own.reduce((sum, row) => sum + Number(row[measure]), 0)).toBe(entry[measure]);
        }
      }),
      { numRuns: 3 },
    );
  });
});
