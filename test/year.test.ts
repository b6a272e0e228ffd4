import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseDimensions, parseFilters } from '../src/app/filter.ts';
import { checkLedger } from '../src/app/ledger-check.ts';
import { spend } from '../src/app/spend.ts';
import { ledgerWindow } from '../src/app/window.ts';
import { withReader } from '../src/app/workspace.ts';
import type { FleetFolder } from './fleet-folder.ts';
import { fleetFolder } from './fleet-folder.ts';
import { billsOf, daysOf, FX, heldIn, MONTHS, nodesBy, RATES } from './year/made-year.ts';
import type { BillChange } from './year/made-year.ts';

/*
 * Worked out on paper, in dollars; D is the number of days of a month.
 *
 * AWS, a day:    reserved machine 96, on demand 240, savings plan 24 + 48 + 72 and 12 unused     = 492
 * AWS, a month:  492·D − 500 credit + 100 tax; in March a capacity block of 3,360 besides
 * Lambda:        48 a day
 * Nebius:        24 euros a day, at 1.10 up to June and at 1.20 from July (the rate of 15 July is the newest by the end of July)
 * Own machine:   4 GPUs at 1.50 = 6 an hour = 144 a day, also for the ten hours it was away
 * By rate, while there is no bill: seven machines of two GPUs at 3.00 = 42 an hour = 1,008 a day; the block's machine 13 days of 144
 */
const DAY = { aws: 492, lambda: 48, euros: 24, own: 144, byRate: 1008 };
/** Where it says what is estimated, that is asked before the bills come. */
const WANT: Readonly<Record<string, { estimated?: number; billed: number }>> = {
  '2025-01': { estimated: 31_248, billed: 17_158.4 }, // 14,852 + 1,488 + 744 · 1.10
  '2025-02': { estimated: 28_224, billed: 15_459.2 }, // 13,376 + 1,344 + 672 · 1.10
  '2025-03': { estimated: 33_120, billed: 20_518.4 }, // 14,852 + 3,360 + 1,488 + 818.40; estimated 31,248 + 13 · 144
  '2025-04': { billed: 16_592 }, // 14,360 + 1,440 + 720 · 1.10
  '2025-05': { billed: 17_158.4 },
  '2025-06': { billed: 16_592 },
  '2025-07': { estimated: 31_248, billed: 17_232.8 }, // 14,852 + 1,488 + 744 · 1.20
  '2025-08': { billed: 17_232.8 },
  '2025-09': { billed: 16_664 }, // 14,360 + 1,440 + 720 · 1.20
  '2025-10': { billed: 17_232.8 },
  '2025-11': { billed: 16_664 },
  '2025-12': { billed: 17_232.8 },
};

const dollars = (usdMicros: bigint | null): number => Number(usdMicros ?? 0n) / 1_000_000;

describe('a year, month by month', { timeout: 300_000 }, () => {
  let fleet: FleetFolder;
  beforeAll(async () => {
    fleet = await fleetFolder({
      nodes: nodesBy('2025-01'),
      rates: RATES,
      fx: FX,
      [`allocations 2025-01`]: heldIn('2025-01'),
    });
  }, 60_000);
  afterAll(() => fleet.remove());

  async function take(files: Readonly<Record<string, string>>): Promise<void> {
    await fleet.import(files);
    await fleet.derive();
  }

  /** That the ledger adds up to the bills, by the second path. */
  async function balances(): Promise<void> {
    const { faults, differenceUsdMicros } = await withReader(fleet.dataDir, checkLedger);
    expect({ faults, differenceUsdMicros }).toEqual({ faults: [], differenceUsdMicros: 0n });
  }

  /** What the ledger says of a window, by a dimension. */
  async function paid(window: string, by = 'basis', filter: readonly string[] = [], price?: 'marginal') {
    return withReader(fleet.dataDir, async (space) => {
      const answer = await spend(space, {
        by: parseDimensions(by),
        filters: parseFilters(filter),
        window: ledgerWindow(window, space.scope?.horizon ?? new Date(0), space.scope),
        ...(price !== undefined && { price }),
      });
      return Object.fromEntries(answer.rows.map((row) => [row.values.join('/'), dollars(row.costUsdMicros)]));
    });
  }

  const bills = (month: string, change?: BillChange): Record<string, string> => {
    const { aws, lambda, nebius } = billsOf(month, change);
    return { [`charges aws ${month}`]: aws, [`charges lambda ${month}`]: lambda, [`charges nebius ${month}`]: nebius };
  };

  const ofMonth = (month: string): Record<string, string> => ({
    nodes: nodesBy(month),
    [`allocations ${month}`]: heldIn(month),
  });

  it.each(MONTHS)('%s is what the bills say, and before they come an estimate', async (month) => {
    const { billed, estimated } = WANT[month] ?? {};
    const own = DAY.own * daysOf(month).length;
    const bases = [];
    if (estimated !== undefined) {
      await take(ofMonth(month));
      bases.push(await paid(month));
      await balances();
    }
    await take({ ...ofMonth(month), ...bills(month) });
    bases.push(await paid(month));
    await balances();
    // Until there is a first bill of a provider, its machines are paid by the stated rate; then it is an estimate.
    const before = month === '2025-01' ? { rate: (estimated ?? 0) + own } : { rate: own, estimated };
    expect(bases).toEqual([...(estimated === undefined ? [] : [before]), { rate: own, billed }]);
  });

  it('March is issued again with a greater credit, July with a greater price, and nothing else moves', async () => {
    await take(bills('2025-03', { credit: -800 }));
    expect(await paid('2025-03')).toEqual({ rate: 31 * 144, billed: 20_218.4 });
    await take(bills('2025-07', { euros: 800 })); // 56 euros more, at 1.20
    expect(await paid('2025-07')).toEqual({ rate: 31 * 144, billed: 17_300 });
    expect(await paid('2025-06')).toEqual({ rate: 30 * 144, billed: 16_592 });
    await balances();
  });

  it('the year is the sum of its bills and the own machine', async () => {
    // 365 · 492 + 12 · (100 − 500) + 3,360 − 300 = 177,840; 365 · 48 = 17,520; (181 · 24 · 1.1) + (184 · 24 + 56) · 1.2 = 10,144.80.
    expect(await paid('2025-01-01/2026-01-01')).toEqual({ rate: 52_560, billed: 205_504.8 });
    expect(await paid('2025-01-01/2026-01-01', 'provider')).toEqual({
      AWS: 177_840,
      Lambda: 17_520,
      Nebius: 10_144.8,
      own: 52_560,
    });
  });

  it('a floating reservation is one blended rate: 7 dollars an hour for either machine, on whichever day it paid for it', async () => {
    expect(await paid('2025-01-01/2026-01-01', 'node', ['node=a1|a2'])).toEqual({ a1: 61_320, a2: 61_320 });
    expect(await paid('2025-01-04', 'node', ['node=a1|a2'])).toEqual({ a1: 168, a2: 168 });
  });

  it('a savings plan costs each SKU its own, and its unused part stays with who bought it', async () => {
    const year = '2025-01-01/2026-01-01';
    expect(await paid(year, 'node', ['node=s1|s2|s3'])).toEqual({ s1: 8760, s2: 17_520, s3: 26_280 });
    expect(await paid(year, 'team', ['category=stranded'])).toEqual({ platform: 4380, research: 240, '': 60 });
  });

  it('a capacity block is paid over its dates, also on the day nothing ran', async () => {
    expect(await paid('2025-03-10/2025-03-24', 'category', ['node=cb1'])).toEqual({ unallocated: 3120 });
    expect(await paid('2025-03-23', 'team', ['category=stranded', 'team=research'])).toEqual({ research: 240 });
  });

  it('each team pays for what it held, and tax and credits are beside', async () => {
    const year = await paid('2025-01-01/2026-01-01', 'team', ['category=unknown']);
    expect(year).toEqual({ nlp: 61_320, vision: 52_560 });
    expect(await paid('2025-01-01/2026-01-01', 'category', ['category=beside'])).toEqual({ beside: 12 * -400 - 300 });
  });

  // Of two machines that float one is on demand at $87,600 a year; nlp has one of them, and without both the bill falls by that.
  it('a floating machine has its part of what is on demand in its pool; a committed or owned one nothing', async () => {
    const year = '2025-01-01/2026-01-01';
    expect(await paid(year, 'team', ['category=unknown'], 'marginal')).toEqual({ nlp: 43_800, vision: 0 });
    expect(await paid(year, 'node', ['node=own1'], 'marginal')).toEqual({ own1: 0 });
  });
});
