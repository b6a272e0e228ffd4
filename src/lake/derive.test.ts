import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { importFiles } from '../app/import.ts';
import { ledgerHash } from '../app/ledger-hash.ts';
import { deriveLedger, withReader, withWriter } from '../app/workspace.ts';

interface Import {
  readonly table: string;
  readonly batch: string;
  readonly rows: string;
  readonly priority?: number;
}
type Step = 'derive' | Import;

const SAMPLES = 'device_id,ts,step_s,util_permille';
const HELD = 'allocation_id,device_id,held_from,held_until,observed_at,user';
const day = (time: string): string => `2026-03-02T${time}Z`;

/** Takes steps in a folder of its own and says what the ledger then is. */
async function ledgerAfter(steps: readonly Step[]): Promise<{ hash: string; holders: string[]; categories: string[] }> {
  const folder = await mkdtemp(join(tmpdir(), 'bursar-derive-'));
  try {
    const dataDir = join(folder, 'data');
    await withWriter(dataDir, 'test', async (space) => {
      for (const step of steps) {
        if (step === 'derive') {
          await deriveLedger(space);
          continue;
        }
        const file = join(folder, `${step.batch}.csv`);
        await writeFile(file, step.rows);
        await importFiles({ ...space, ...step, files: [file] });
      }
      await deriveLedger(space);
    });
    return await withReader(dataDir, async (space) => {
      const { hash } = await ledgerHash(space);
      const rows = await space.ask<{ holder: string; category: string }>({
        tables: [{ table: 'waterfall' }, { table: 'ownership' }],
        sql: `SELECT DISTINCT COALESCE(w.allocation_id, '-') || ' ' || COALESCE(o.user_name, '-') AS holder, w.category
              FROM waterfall w LEFT JOIN ownership o ON w.day = o.day AND w.subject = o.subject ORDER BY 1, 2`,
      });
      return {
        hash,
        holders: [...new Set(rows.map(({ holder }) => holder))],
        categories: [...new Set(rows.map(({ category }) => category))].toSorted(),
      };
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const samples: Step = {
  table: 'samples',
  batch: 'duty',
  rows: `${SAMPLES}\ng1,${day('08:00:00')},3600,900\ng1,${day('09:00:00')},3600,0\n`,
};
const held = (batch: string, observedAt: string, user: string, priority = 0): Step => ({
  table: 'allocations',
  batch,
  priority,
  rows: `${HELD}\n7,g1,${day('08:00:00')},${day('10:00:00')},${observedAt},${user}\n`,
});

describe('batches that share a key', () => {
  const [earlier, later] = [day('11:00:00'), day('12:00:00')];
  const cases: Readonly<Record<string, { batches: readonly [Step, Step]; want: string }>> = {
    'the newer observation wins': { batches: [held('b', earlier, 'old'), held('a', later, 'new')], want: '7 new' },
    'of equal observations the greater name wins': {
      batches: [held('a', later, 'anna'), held('b', later, 'ben')],
      want: '7 ben',
    },
    'a higher priority goes before both': {
      batches: [held('a', earlier, 'first', 1), held('b', later, 'second')],
      want: '7 first',
    },
  };
  test.each(Object.entries(cases))(
    '%s, in any order, derived in between or not',
    async (_, { batches: [a, b], want }) => {
      const orders = [
        [samples, a, b],
        [samples, b, 'derive', a],
        [a, 'derive', b, 'derive', samples],
      ] as const;
      const ledgers = await Promise.all(orders.map((steps) => ledgerAfter(steps)));
      expect(ledgers.map(({ holders }) => holders)).toEqual(orders.map(() => [want]));
      expect(new Set(ledgers.map(({ hash }) => hash)).size).toBe(1);
    },
  );

  test('an import that only changes who goes first is derived again', async () => {
    const [low, high] = [held('a', later, 'anna', 0), held('a', later, 'anna', 1)];
    const other = held('b', later, 'ben');
    expect((await ledgerAfter([samples, low, other])).holders).toEqual(['7 ben']);
    expect((await ledgerAfter([samples, low, other, 'derive', high])).holders).toEqual(['7 anna']);
  });

  test('of rows of one key in one file the newest observation wins', async () => {
    const rows = [
      ['10:30:00', 'old'],
      ['10:45:00', 'new'],
      ['10:40:00', 'older'],
    ]
      .map(([at = '', user]) => `7,g1,${day('08:00:00')},${day('10:00:00')},${day(at)},${user}`)
      .join('\n');
    const { holders } = await ledgerAfter([samples, { table: 'allocations', batch: 'a', rows: `${HELD}\n${rows}\n` }]);
    expect(holders).toEqual(['7 new']);
  });
});

test('what the next day brings is seen on the day before it', async () => {
  // Two jobs on one GPU from 23:59:00: for two minutes the later one has it, from then on it is a conflict of both.
  const open = (job: string, from: string): string => `${job},g1,${day(from)},,,x`;
  const jobs: Step = {
    table: 'allocations',
    batch: 'jobs',
    rows: `${HELD}\n${open('1', '23:00:00')}\n${open('2', '23:59:00')}\n`,
  };
  const until = (time: string): Step => ({ table: 'samples', batch: time, rows: `${SAMPLES}\ng1,${time},60,900\n` });
  const night = [until(day('23:58:00')), until(day('23:59:30')), until('2026-03-03T00:10:00Z')];
  const atOnce = await ledgerAfter([jobs, ...night]);
  const inSteps = await ledgerAfter([jobs, ...night.flatMap((step) => [step, 'derive' as const])]);
  expect(inSteps.hash).toBe(atOnce.hash);
});

describe('an earlier state leaves nothing behind', () => {
  const days = (...times: readonly string[]): Step => ({
    table: 'samples',
    batch: 'duty',
    rows: `${SAMPLES}\n${times.map((time) => `g1,${time},3600,900`).join('\n')}\n`,
  });
  const node = (batch: string, from: string, purchase: string): Step => ({
    table: 'nodes',
    batch,
    rows: `node_id,present_from,gpu_count,purchase,model\nn1,${from},2,${purchase},H100\n`,
  });
  const rate: Step = {
    table: 'rates',
    batch: 'rates',
    rows: 'node_id,valid_from,usd_per_gpu_hour\nn1,2026-03-02T00:00:00Z,2\n',
  };
  const bill = (rows: readonly string[]): Step => ({
    table: 'charges',
    batch: 'bill',
    rows: `ProviderName,BillingAccountId,BillingPeriodStart,BillingPeriodEnd,ChargePeriodStart,ChargePeriodEnd,ChargeCategory,BillingCurrency,EffectiveCost,BilledCost\n${rows
      .map((time) => `A,1,2026-03-01T00:00:00Z,2026-04-01T00:00:00Z,${time},${time},Usage,USD,1,1`)
      .join('\n')}\n`,
  });
  const cases: Readonly<Record<string, { before: readonly Step[]; after: readonly Step[] }>> = {
    'a batch that is replaced by fewer days': {
      before: [days(day('08:00:00'), '2026-03-05T08:00:00Z')],
      after: [days(day('08:00:00'))],
    },
    'a bill that is re-issued with fewer days': {
      before: [samples, bill([day('08:00:00'), '2026-03-20T08:00:00Z'])],
      after: [bill([day('08:00:00')])],
    },
    'a node that turns out to be owned': {
      before: [samples, rate, node('nodes', '2026-03-02T09:00:00Z', 'on-demand')],
      after: [node('nodes', '2026-03-02T09:00:00Z', 'owned')],
    },
    'a node whose first row comes later than its stranded hours': {
      before: [days(day('08:00:00'), '2026-03-05T08:00:00Z'), rate],
      after: [node('nodes', '2026-03-04T00:00:00Z', 'owned')],
    },
  };
  test.each(Object.entries(cases))('%s', async (_, { before, after }) => {
    const replaced = new Set(after.map((step) => (step === 'derive' ? step : step.batch)));
    const fresh = [...before.filter((step) => step === 'derive' || !replaced.has(step.batch)), ...after];
    expect((await ledgerAfter([...before, 'derive', ...after])).hash).toBe((await ledgerAfter(fresh)).hash);
    expect((await ledgerAfter(before)).hash).not.toBe((await ledgerAfter(fresh)).hash);
  });
});

describe('a machine of no cluster', () => {
  const node = (rows: readonly string[]): Import => ({
    table: 'nodes',
    batch: 'nodes',
    rows: `node_id,gpu_count,present_from\n${rows.join('\n')}\n`,
  });
  const jobs = (batch: string, nodeId: string, date: string): Import => ({
    table: 'allocations',
    batch,
    rows: `allocation_id,node_id,held_from,held_until,cluster\n${batch},${nodeId},${date}T08:00:00Z,${date}T09:00:00Z,lab\n`,
  });

  test('is free on all its days once a job was on it, in any order, derived in between or not', async () => {
    const fleet = node(['norda,1,', 'boxb,1,']);
    const [first, last] = [jobs('first', 'norda', '2026-03-01'), jobs('last', 'boxb', '2026-03-03')];
    const orders = [
      [fleet, first, last],
      [fleet, first, 'derive', last],
      [last, 'derive', first, 'derive', fleet],
    ] as const;
    const ledgers = await Promise.all(orders.map((steps) => ledgerAfter(steps)));
    expect(new Set(ledgers.map(({ hash }) => hash)).size).toBe(1);
    // What jobs held has no samples; whatever else there is was free.
    expect(ledgers[0]?.holders).toEqual(['- -', 'first -', 'last -']);
    expect(ledgers[0]?.categories).toEqual(['unallocated', 'unknown']);
    const without = await ledgerAfter([fleet, first, last, 'derive', jobs('last', 'norda', '2026-03-03')]);
    expect(without.hash).toBe((await ledgerAfter([fleet, first, jobs('last', 'norda', '2026-03-03')])).hash);
    expect(without.hash).not.toBe(ledgers[0]?.hash);
  });

  test('that comes later changes no day before it by its first job', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'bursar-derive-'));
    try {
      await withWriter(join(folder, 'data'), 'test', async (space) => {
        const take = async (step: Import): Promise<void> => {
          const file = join(folder, `${step.batch}.csv`);
          await writeFile(file, step.rows);
          await importFiles({ ...space, ...step, files: [file] });
        };
        await take(node(['norda,1,', 'boxb,1,2026-03-03T00:00:00Z']));
        await take(jobs('first', 'norda', '2026-03-01'));
        await take(jobs('second', 'norda', '2026-03-03'));
        await deriveLedger(space);
        await take(jobs('third', 'boxb', '2026-03-03'));
        expect((await deriveLedger(space)).computed['held']).toBe(1);
      });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
