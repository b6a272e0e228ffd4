import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FleetFolder } from '../../../test/fleet-folder.ts';
import { csv, fleetFolder } from '../../../test/fleet-folder.ts';
import type { FocusRow } from '../../../test/focus-conformance.ts';
import { focusOffences } from '../../../test/focus-conformance.ts';
import { EURO_BILL, SMALL_FLEET } from '../../../test/small-fleet.ts';
import { parseDimensions } from '../filter.ts';
import { spend } from '../spend.ts';
import { ledgerWindow } from '../window.ts';
import { withReader } from '../workspace.ts';
import type { ReadSpace } from '../workspace.ts';
import { exportFocus } from './export-focus.ts';
import type { FocusExport } from './export-focus.ts';
import type { FocusFormat, FocusGrain } from './focus-rows.ts';

const ALL_TIME = new Date('2027-01-01T00:00:00Z');

/** What people name things, to hurt. */
const HOSTILE = csv(`
  source|allocation_id|node_id|device_id|held_from|held_until|gpu_count|cluster|account|namespace|user_name|workload_kind|workload_name|labels
  kube  |301|a1  |a1-0|2026-03-02T10:00:00Z|2026-03-02T12:00:00Z|1|a|=cmd()|     |@sum(1)|Job|-2+3|{"project": "a\\"b; DROP TABLE x", "environment": "+1"}
  kube  |302|new1|    |2026-03-02T08:00:00Z|2026-03-02T10:00:00Z|1|c|\u0001=cmd()|     |\u200b@sum(1)|Job|\u0007\ufeff-2+3|{"project": "\u009bred", "environment": "\uff1d1"}`);

const EURO_RATE = csv(`
  currency|as_of|usd_per_unit
  EUR|2026-03-01T00:00:00Z|1.1`);

let fleet: FleetFolder;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bursar-export-test-'));
  fleet = await fleetFolder({ ...SMALL_FLEET, 'allocations 2': HOSTILE, 'charges 2': EURO_BILL, fx: EURO_RATE });
});
afterAll(async () => {
  await fleet.remove();
  await rm(folder, { recursive: true });
});

const all = (space: ReadSpace) => ledgerWindow('all', ALL_TIME, space.scope);

async function exported(name: string, format: FocusFormat, grain: FocusGrain): Promise<FocusExport> {
  return withReader(fleet.dataDir, (space) =>
    exportFocus(space, { window: all(space), format, grain, out: join(folder, name) }),
  );
}

/** The file's columns and rows, as text, by the engine. */
async function readRows(name: string): Promise<{ columns: string[]; rows: FocusRow[] }> {
  const path = join(folder, name);
  const header = (await readFile(path, 'utf8')).split('\n', 1)[0] ?? '';
  const rows = await withReader(fleet.dataDir, (space) =>
    space.ask<FocusRow>({ tables: [], sql: `SELECT * FROM read_csv('${path}', all_varchar = true, header = true)` }),
  );
  return { columns: header.split(','), rows };
}

describe('a FOCUS export', () => {
  it.each(['day', 'hour'] as const)('by the %s has nothing the specification refuses', async (grain) => {
    await exported(`conform-${grain}.csv`, 'csv', grain);
    const { columns, rows } = await readRows(`conform-${grain}.csv`);
    expect(rows.length).toBeGreaterThan(10);
    expect(focusOffences(columns, rows)).toEqual([]);
  });

  it('adds up to the ledger, to the micro, in both forms', async () => {
    const ledger = await withReader(fleet.dataDir, (space) =>
      spend(space, { by: [], window: all(space), filters: [] }),
    );
    const day = await exported('a.csv', 'csv', 'day');
    const hour = await exported('a.parquet', 'parquet', 'hour');
    expect(day.effectiveUsdMicros).toBe(ledger.totalUsdMicros);
    expect(hour.effectiveUsdMicros).toBe(ledger.totalUsdMicros);
    expect(hour.rows).toBeGreaterThan(day.rows);
    expect(day.unpricedUnits).toBe(ledger.unpricedUnits);
  });

  it('has every kind of money: unused commitments, tax, credits, beside the GPU', async () => {
    await exported('kinds.csv', 'csv', 'day');
    const { rows } = await readRows('kinds.csv');
    const of = (name: string, value: string) => rows.filter((row) => row[name] === value);
    expect(of('ChargeCategory', 'Tax').map((row) => row['EffectiveCost'])).toEqual(['1.200000']);
    expect(of('ChargeCategory', 'Credit').map((row) => row['EffectiveCost'])).toEqual(['-0.250000']);
    expect(
      of('CommitmentDiscountStatus', 'Unused').map((row) => [row['CommitmentDiscountId'], row['EffectiveCost']]),
    ).toEqual([['sp-1', '1.000000']]);
    expect(of('ServiceCategory', 'Storage').length).toBeGreaterThan(0);
    expect(
      of('x_Subject', 'job slurm/101/0').map((row) => [row['x_Category'], row['x_Team'], row['x_GpuHours']]),
    ).toEqual([
      ['computing', 'nlp', '0.900000000'],
      ['idle', 'nlp', '1.000000000'],
      ['starved', 'nlp', '0.100000000'],
    ]);
  });

  it('keeps spreadsheets from running names, and quotes from ending cells', async () => {
    await exported('hostile.csv', 'csv', 'day');
    const { rows } = await readRows('hostile.csv');
    const hostile = rows.find((row) => row['x_Subject'] === 'job kube/301/0');
    expect(hostile).toMatchObject({
      x_Team: "'=cmd()",
      x_User: "'@sum(1)",
      x_Workload: "'-2+3",
      x_Environment: "'+1",
      x_Project: 'a"b; DROP TABLE x',
    });
    expect(rows.find((row) => row['x_Subject'] === 'job kube/302/0')).toMatchObject({
      x_Team: "' =cmd()",
      x_User: "'@sum(1)",
      x_Workload: "' -2+3",
      x_Environment: "'\uff1d1",
      x_Project: ' red',
    });
    expect(JSON.parse(hostile?.['Tags'] ?? '{}')).toMatchObject({ team: '=cmd()', project: 'a"b; DROP TABLE x' });
  });

  it('comes back through our own import with the same totals by provider, account and month', async () => {
    await exported('again.csv', 'csv', 'day');
    const again = await fleetFolder({ charges: await readFile(join(folder, 'again.csv'), 'utf8') });
    try {
      const [before, after] = [await totals(fleet.dataDir), await totals(again.dataDir)];
      expect(after).toEqual(before);
      expect(before.size).toBeGreaterThan(2);
    } finally {
      await again.remove();
    }
  });

  it('has names whole, also where they make a line of megabytes', async () => {
    const name = 'x'.repeat(600_000);
    const long = csv(`
      source|allocation_id|node_id|device_id|held_from|held_until|gpu_count|cluster|account|user_name|workload_name
      kube|303|a1|a1-0|2026-03-02T10:00:00Z|2026-03-02T12:00:00Z|1|a|${name}|${name}|${name}`);
    const named = await fleetFolder({ ...SMALL_FLEET, 'allocations 2': long });
    const out = join(folder, 'long.csv');
    const report = await withReader(named.dataDir, (space) =>
      exportFocus(space, { window: all(space), format: 'csv', grain: 'day', out }),
    );
    expect(report.rows).toBeGreaterThan(10);
    expect((await readFile(out, 'utf8')).split('\n').some((line) => line.length > 2_500_000)).toBe(true);
    await named.remove();
  });

  it('leaves nothing but the file, and a clear word where it cannot be written', async () => {
    await exported('only.csv', 'csv', 'day');
    expect((await readdir(folder)).filter((name) => name.startsWith('.'))).toEqual([]);
    await expect(exported('no/such/folder.csv', 'csv', 'day')).rejects.toMatchObject({ code: 'cannot-write' });
  });

  it('of a window without data is a header', async () => {
    let text = '';
    const report = await withReader(fleet.dataDir, (space) =>
      exportFocus(space, {
        window: ledgerWindow('2020-01', ALL_TIME, space.scope),
        format: 'csv',
        grain: 'day',
        sink: (part) => (text += part),
      }),
    );
    expect(report.rows).toBe(0);
    expect(text.trim().split('\n')).toHaveLength(1);
  });
});

describe('the checker of exports', () => {
  const good = async () => {
    await exported('good.csv', 'csv', 'day');
    return readRows('good.csv');
  };
  const broken: Record<string, { change: (row: FocusRow) => FocusRow; want: RegExp }> = {
    'a null where none may be': { change: (row) => ({ ...row, BilledCost: null }), want: /BilledCost is null/ },
    'an exponent': { change: (row) => ({ ...row, EffectiveCost: '1e-7' }), want: /EffectiveCost is no decimal/ },
    'a local time': { change: (row) => ({ ...row, ChargePeriodEnd: '2026-03-03 00:00:00' }), want: /no datetime/ },
    'a word of its own': { change: (row) => ({ ...row, ServiceCategory: 'GPU' }), want: /not one of its values/ },
    'a status without a commitment': {
      change: (row) => ({ ...row, CommitmentDiscountStatus: 'Used', CommitmentDiscountId: null }),
      want: /CommitmentDiscountStatus is null where/,
    },
    'a unit without a quantity': {
      change: (row) => ({ ...row, ConsumedQuantity: null }),
      want: /ConsumedUnit is there/,
    },
    'a price that does not multiply': {
      change: (row) => ({ ...row, ListUnitPrice: '1.000001', ListCost: '5', PricingQuantity: '5' }),
      want: /ListCost is ListUnitPrice/,
    },
    'a subcategory of another category': {
      change: (row) => ({ ...row, ServiceCategory: 'Storage', ServiceSubcategory: 'Support' }),
      want: /ServiceSubcategory belongs/,
    },
  };
  it.each(Object.entries(broken))('finds %s', async (_, { change, want }) => {
    const { columns, rows } = await good();
    expect(focusOffences(columns, rows.map(change)).join('\n')).toMatch(want);
  });

  it('finds a column that is missing, of its own, or in the wrong place', async () => {
    const { columns, rows } = await good();
    const odd = ['Surplus', ...columns.filter((name) => name !== 'Tags')];
    expect(focusOffences(odd, rows)).toEqual([
      'Conditional Tags is missing',
      'Surplus is neither of FOCUS nor x_…',
      'Surplus stands among the columns of FOCUS',
    ]);
  });
});

/** Money by provider and account. What has no provider gets one in an export, because a bill has to have one. */
async function totals(dataDir: string): Promise<Map<string, bigint>> {
  const found = new Map<string, bigint>();
  await withReader(dataDir, async (space) => {
    const by = parseDimensions('provider,account,bill');
    const { rows } = await spend(space, { by, window: all(space), filters: [] });
    for (const { values, costUsdMicros } of rows) {
      const [provider = null, account = null] = values;
      const name = provider === 'On-premises' || provider === 'Unknown' ? null : provider;
      const key = `${name ?? 'none'} ${account ?? 'unbilled'}`;
      found.set(key, (found.get(key) ?? 0n) + (costUsdMicros ?? 0n));
    }
  });
  return found;
}
