import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dispatch } from '../src/cli/dispatch.ts';
import { divideRounded, parseDecimal } from '../src/money/usd.ts';
import { csv, fleetFolder } from './fleet-folder.ts';
import type { FleetFolder } from './fleet-folder.ts';
import { randomOrganisation } from './oracle/random-organisation.ts';
import { seedsOf } from './oracle/seeds.ts';
import { toFiles } from './oracle/to-files.ts';
import { recompute } from './outside/recompute.mjs';
import { EURO_BILL, SMALL_FLEET } from './small-fleet.ts';

/** Of what `bursar ledger explain --json` prints, what is looked at here. */
interface ExplainJson {
  readonly figure: { readonly usdMicros: string | null; readonly gpuSeconds: number; readonly unpricedSeconds: number };
  readonly truncated: boolean;
  readonly truncatedParts: readonly string[];
  readonly entries: readonly {
    readonly deviceId: string;
    readonly hourStart: string;
    readonly usdMicros: string;
    readonly counted: string | null;
    readonly split: { readonly weight: string };
    readonly categories: readonly { readonly usdMicros: string }[];
  }[];
  readonly held: readonly {
    readonly deviceId: string;
    readonly allocationId: string;
    readonly from: string;
    readonly seconds: number;
    readonly shareUnits: number;
  }[];
  readonly runs: readonly {
    readonly deviceId: string;
    readonly class: string;
    readonly from: string;
    readonly until: string;
  }[];
  readonly samples: readonly unknown[];
  readonly charges: readonly { readonly usd: string; readonly usdUpto: string; readonly usdMicros: string }[];
}

/** Half away from zero, as all money is rounded; of 10⁻¹⁸ dollars. */
const microsOf = (usd: bigint): bigint => divideRounded(usd, 10n ** 12n);

async function explain(dataDir: string, ...args: string[]): Promise<ExplainJson> {
  let printed = '';
  const commands = [{ name: 'ledger', summary: '', load: () => import('../src/cli/commands/ledger.ts') }];
  const write = (text: string): void => void (printed += text);
  await dispatch(['ledger', 'explain', '--json', '--window', 'all', '--data', dataDir, ...args], '0', commands, {
    stdout: { write },
    stderr: { write },
  });
  return JSON.parse(printed) as ExplainJson;
}

describe('a script outside works a figure out again', () => {
  let fleet: FleetFolder;
  beforeAll(async () => {
    const fx = csv('currency|as_of|usd_per_unit\nEUR|2026-03-31T00:00:00Z|1.0842');
    fleet = await fleetFolder({ ...SMALL_FLEET, 'charges 2': EURO_BILL, fx });
  });
  afterAll(() => fleet.remove());

  const cases: Record<string, { args: string[]; category?: string; want: string }> = {
    'billed, from a pool of two nodes': { args: ['--job', '101'], want: '3250000' },
    'held by count, on one of two GPUs': { args: ['--job', '103'], want: '6500000' },
    'by a rate': { args: ['--job', '201'], want: '4000000' },
    'by a list price': { args: ['--filter', 'basis=estimated'], want: '1610000' },
    'one category': { args: ['--category', 'idle'], category: 'idle', want: '1625000' },
    'what is unknown of a job': {
      args: ['--job', '103', '--category', 'unknown'],
      category: 'unknown',
      want: '4875000',
    },
    'beside the GPU, credit and all': { args: ['--category', 'beside', '--filter', 'provider=AWS'], want: '1450000' },
    'one hour of one device': { args: ['--device', 'a2-0', '--hour', '2026-03-02T10:00Z'], want: '1625000' },
    'a whole bill': { args: ['--bill', 'AWS|111|2026-03'], want: '28450000' },
    'a bill in another currency': { args: ['--bill', 'OVH|9|2026-03'], want: '10842000' },
    everything: { args: [], want: '44902000' },
  };
  test.each(Object.entries(cases))('%s', async (_, { args, category, want }) => {
    const json = await explain(fleet.dataDir, ...args);
    expect(json.figure.usdMicros).toBe(want);
    expect(String(recompute(json, category))).toBe(want);
    expect(json.truncated).toBe(false);
  });

  test('the parts of an entry stand beside it, and add up', async () => {
    const { entries, held, runs, samples } = await explain(fleet.dataDir, '--job', '103');
    for (const entry of entries) {
      const parts = entry.categories.map(({ usdMicros }) => BigInt(usdMicros));
      expect(String(parts.reduce((a, b) => a + b, 0n))).toBe(entry.usdMicros);
      const pieces = held.filter(
        (piece) => piece.deviceId === entry.deviceId && piece.allocationId === '103' && piece.from === entry.hourStart,
      );
      const units = pieces.reduce((total, { seconds, shareUnits }) => total + seconds * shareUnits, 0);
      expect(String(units)).toBe(entry.split.weight);
    }
    expect(runs.map((run) => `${run.deviceId} ${run.class} ${run.from} ${run.until}`)).toEqual([
      'a2-0 computing 2026-03-02T08:00:00Z 2026-03-02T10:00:00Z',
      'a2-1 computing 2026-03-02T08:00:00Z 2026-03-02T09:00:00Z',
      'a2-1 idle 2026-03-02T09:00:00Z 2026-03-02T10:00:00Z',
    ]);
    expect(samples).toHaveLength(24);
  });

  test('the micros of a charge are the step the rounded running sum makes', async () => {
    for (const charge of (await explain(fleet.dataDir)).charges) {
      const upto = parseDecimal(charge.usdUpto, 18) ?? 0n;
      const usd = parseDecimal(charge.usd, 18) ?? 0n;
      expect(String(microsOf(upto) - microsOf(upto - usd))).toBe(charge.usdMicros);
    }
  });

  test('what has no price stays without one', async () => {
    const json = await explain(fleet.dataDir, '--filter', 'basis=unpriced');
    expect(json.figure).toEqual({
      usdMicros: null,
      marginalUsdMicros: null,
      gpuSeconds: 7200,
      unpricedSeconds: 7200,
    });
    expect(json.entries.map((entry) => entry.counted)).toEqual([null, null]);
  });

  test('a limit keeps the largest, and the figure whole', async () => {
    const json = await explain(fleet.dataDir, '--limit', '2');
    expect(json.entries).toHaveLength(2);
    expect([json.truncated, json.truncatedParts]).toEqual([true, ['entries']]);
    expect(json.figure.usdMicros).toBe('44902000');
  });
});

describe('whatever the organisation', () => {
  test.each(seedsOf('EXPLAIN_SEEDS', 4))('%i', { timeout: 120_000 }, async (seed) => {
    const fleet = await fleetFolder(toFiles(randomOrganisation(seed)));
    try {
      for (const category of [
        undefined,
        'unknown',
        'idle',
        'starved',
        'lost',
        'computing',
        'unallocated',
        'beside',
        'stranded',
      ]) {
        const json = await explain(
          fleet.dataDir,
          '--as-of',
          '2030-01-01',
          ...(category === undefined ? [] : ['--category', category]),
        );
        expect(recompute(json, category), category).toBe(BigInt(json.figure.usdMicros ?? '0'));
      }
    } finally {
      await fleet.remove();
    }
  });
});
