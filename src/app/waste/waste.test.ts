import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FleetFolder } from '../../../test/fleet-folder.ts';
import { csv, fleetFolder } from '../../../test/fleet-folder.ts';
import { SMALL_FLEET } from '../../../test/small-fleet.ts';
import type { Category } from '../../ledger/waterfall.ts';
import type { WasteAnswer } from '../../report/waste/waste-answer.ts';
import { lookParts } from '../../report/look-screen.ts';
import { readConfig } from '../config/config-file.ts';
import { wasteMarkdown } from '../../report/waste/waste-markdown.ts';
import { wastePage } from '../../report/waste/waste-page.ts';
import { parseDimensions, parseFilters } from '../filter.ts';
import { look } from '../look.ts';
import { NO_RULES } from '../rules/rule.ts';
import { spend } from '../spend.ts';
import { ledgerWindow } from '../window.ts';
import { withReader } from '../workspace.ts';
import { waste } from './waste.ts';

const NOON = new Date('2026-03-02T12:00:00Z');

let fleet: FleetFolder;
beforeAll(async () => {
  fleet = await fleetFolder(SMALL_FLEET);
});
afterAll(() => fleet.remove());

interface Asked {
  readonly window?: string;
  readonly filter?: string;
  readonly by?: string;
  readonly open?: Category;
  readonly now?: Date;
  readonly of?: FleetFolder;
  /** As they stand in bursar.yaml. */
  readonly rules?: string;
}

const ask = ({
  window = '2026-03-02',
  filter = '',
  by = '',
  open,
  now = NOON,
  ...asked
}: Asked): Promise<WasteAnswer> =>
  withReader(
    (asked.of ?? fleet).dataDir,
    (space) =>
      waste(space, {
        window: ledgerWindow(window, now, space.scope),
        now: { at: now, by: 'asked' },
        filters: parseFilters([filter]),
        by: parseDimensions(by),
        ...(open !== undefined && { open }),
      }),
    { rules: readConfig(asked.rules ?? '{}').rules ?? NO_RULES },
  );

const usd = (micros: bigint | null | undefined): number | null =>
  micros === null || micros === undefined ? null : Number(micros) / 1e6;

describe('waste', () => {
  it('puts each dollar of the small fleet where it went', async () => {
    const { categories, sum } = await ask({});
    const shown = Object.fromEntries(categories.map((each) => [each.category, usd(each.sum.usdMicros)]));
    expect(shown).toMatchObject({ stranded: 1, unallocated: 9.75, idle: 1.625, beside: 1.45 });
    expect(usd(sum.usdMicros)).toBe(categories.reduce((total, each) => total + (usd(each.sum.usdMicros) ?? 0), 0));
  });

  const scopes = ['', 'team=nlp', 'cluster=a', 'team=', 'purchase=committed', 'node=a1', 'model=Zorg'];
  for (const filter of scopes) {
    it(`adds up to what spend says, reasons and groups too: ${filter === '' ? 'everything' : filter}`, async () => {
      const answer = await ask({ filter, by: 'team,class' });
      const paid = await withReader(
        fleet.dataDir,
        (space) =>
          spend(space, {
            by: [],
            window: ledgerWindow('2026-03-02', NOON, space.scope),
            filters: parseFilters([filter]),
          }),
        { rules: NO_RULES },
      );
      const total = (sums: readonly { readonly usdMicros: bigint | null; readonly gpuUnits: bigint }[]): unknown => ({
        usdMicros: sums.reduce((whole, { usdMicros }) => whole + (usdMicros ?? 0n), 0n),
        gpuUnits: sums.reduce((whole, { gpuUnits }) => whole + gpuUnits, 0n),
      });
      const want = total([{ usdMicros: paid.totalUsdMicros, gpuUnits: paid.heldUnits }]);
      expect(total(answer.categories.map(({ sum }) => sum))).toEqual(want);
      expect(total(answer.categories.flatMap(({ reasons }) => reasons.map(({ sum }) => sum)))).toEqual(want);
      expect(total(answer.groups.flatMap(({ categories }) => [...categories.values()]))).toEqual(want);
    });
  }

  it('states the compute share with both its numbers: computing of all that is known', async () => {
    const { computeShare, categories } = await ask({ filter: 'job=101' });
    expect(categories.find(({ category }) => category === 'computing')?.sum.usdMicros).toBe(computeShare.money.part);
    expect(computeShare.money).toEqual({ part: 1_462_500n, whole: 3_250_000n, permille: 450 });
    expect(computeShare.hours.permille).toBe(450);
  });

  it('counts neither what is unknown nor what stands beside the GPU into it', async () => {
    const { computeShare } = await ask({});
    // $1 stranded, $9.75 unallocated, $1.625 idle, $0.1625 starved, $3.0875 computing.
    expect(computeShare.money).toEqual({ part: 3_087_500n, whole: 15_625_000n, permille: 198 });
  });

  it.each([
    [
      'everything',
      '',
      [
        ['tax', 1.2],
        ['storage', 0.5],
        ['credit', -0.25],
      ],
    ],
    ['storage alone', 'component=storage', [['storage', 0.5]]],
    ['of one team nothing', 'team=nlp', []],
  ])('takes apart what stands beside the GPU, tax and credits too: %s', async (_, filter, want) => {
    const { categories } = await ask({ filter });
    const beside = categories.find(({ category }) => category === 'beside');
    expect(beside?.reasons.map(({ reason, sum }) => [reason, usd(sum.usdMicros)])).toEqual(want);
  });

  it('makes up no change where the facts do not reach back', async () => {
    const { before, categories, sumBefore } = await ask({});
    expect(before.isKnown).toBe(false);
    expect(sumBefore).toBeUndefined();
    expect(categories.every((each) => each.before === undefined)).toBe(true);
  });

  it('compares with as much time before', async () => {
    const answer = await ask({ window: '2026-03-02T09:00:00Z/2026-03-02T10:00:00Z', filter: 'job=101' });
    expect(answer.before).toMatchObject({ isKnown: true, from: new Date('2026-03-02T08:00:00Z') });
    const idle = answer.categories.find(({ category }) => category === 'idle');
    expect([usd(idle?.sum.usdMicros), usd(idle?.before?.usdMicros)]).toEqual([1.625, 0]);
  });

  const opened: Record<string, Asked & { readonly want: readonly unknown[] }> = {
    'idle, down to the job': { open: 'idle', want: [['job slurm/101/0', 'nlp', '101', 'a1-0', 1.625]] },
    'only of a team': { open: 'idle', filter: 'team=asr', want: [] },
    'where a filter asks for what only entries have': {
      open: 'idle',
      filter: 'component=gpu,basis=billed',
      want: [['job slurm/101/0', 'nlp', '101', 'a1-0', 1.625]],
    },
    'whatever category a filter asks for': {
      open: 'idle',
      filter: 'category=computing',
      want: [['job slurm/101/0', 'nlp', '101', 'a1-0', 1.625]],
    },
    'of a part of a day': {
      open: 'idle',
      window: '2026-03-02T08:00:00Z/2026-03-02T09:00:00Z',
      want: [],
    },
  };
  for (const [name, { want, ...asked }] of Object.entries(opened)) {
    it(`opens a category: ${name}`, async () => {
      const { opened: open } = await ask(asked);
      const rows = open?.rows.map((row) => [row.subject, row.team, row.jobId, row.deviceId, usd(row.sum.usdMicros)]);
      expect(rows).toEqual(want);
      expect(open?.subjects).toBe(want.length);
    });
  }

  it('opens to rows and teams that add up to the category', async () => {
    const { opened: open, categories } = await ask({ open: 'unallocated' });
    const whole = categories.find(({ category }) => category === 'unallocated')?.sum.gpuUnits;
    const units = (groups: readonly { readonly sum: { readonly gpuUnits: bigint } }[] = []): bigint =>
      groups.reduce((total, { sum }) => total + sum.gpuUnits, 0n);
    expect([units(open?.byTeam), units(open?.byClass), units(open?.rows)]).toEqual([whole, whole, whole]);
  });
});

describe('what stands spare on purpose', () => {
  const hour = (at: number): string => `2026-03-02T${String(at).padStart(2, '0')}:00:00Z`;
  const spares = (model: string) => ({
    nodes: csv(`
      node_id|present_from|present_until|purchase|cluster|state|gpu_count|model
      used   |${hour(0)}  |${hour(10)}  |owned   |a      |up   |1        |${model}
      empty  |${hour(0)}  |${hour(10)}  |owned   |a      |up   |1        |${model}
      warm   |${hour(0)}  |${hour(10)}  |owned   |a      |spare|2        |${model}`),
    allocations: csv(`
      source|allocation_id|node_id|held_from|held_until|gpu_count|cluster
      slurm |1            |used   |${hour(0)}|${hour(10)}|1       |a`),
    rates: csv('model|usd_per_gpu_hour\nA100|4.00'),
  });
  it.each([
    ['in money', 'A100', /^Wasted: \$120 of \$160 paid \(75 %\), \$80 of it spare on purpose, everything, /],
    [
      'in time',
      'Zorg',
      /^Wasted: 30\.0 GPU-hours of 40\.0 GPU-hours \(75 %\), 20\.0 GPU-hours of it spare on purpose, /,
    ],
  ])('is named beside the sum of waste, %s, on the screen and where it is pasted', async (_, model, want) => {
    const own = await fleetFolder(spares(model));
    const answer = await withReader(
      own.dataDir,
      (space) => {
        const now = new Date(hour(10));
        const window = ledgerWindow('2026-03-02', now, space.scope);
        return waste(space, { window, now: { at: now, by: 'asked' }, filters: [], by: [] });
      },
      { rules: NO_RULES },
    );
    await own.remove();
    const page = wastePage(answer, { width: 200, dataFlag: '', asked: '', askedOfFindings: '', scopeFlags: '' });
    expect(page[0]).toMatch(want);
    const [pasted = ''] = wasteMarkdown(answer, { command: 'bursar waste', madeAt: new Date(hour(10)) });
    expect(pasted.replaceAll(/\*\*|\\/g, '')).toMatch(want);
  });
});

describe('a job of three days that nobody measured, at $2 an hour', () => {
  let long: FleetFolder;
  beforeAll(async () => {
    long = await fleetFolder({
      nodes: csv(`
        node_id|present_from        |present_until       |purchase|cluster|gpu_count|model
        n1     |2026-03-01T12:00:00Z|2026-03-03T12:00:00Z|owned   |a      |1        |H100`),
      devices: 'device_id,node_id,model\nn1-0,n1,H100\n',
      allocations: csv(`
        source|allocation_id|node_id|device_id|held_from           |held_until          |gpu_count|cluster|account
        slurm |7            |n1     |n1-0     |2026-03-01T12:00:00Z|2026-03-03T12:00:00Z|1        |a      |nlp`),
      rates: 'model,usd_per_gpu_hour\nH100,2.00\n',
    });
  });
  afterAll(() => long.remove());
  const open = 'unknown';
  const now = new Date('2026-03-04T00:00:00Z');

  it.each([
    { name: 'whole', window: 'all', filter: '', want: 96 },
    { name: 'cut at both ends', window: '2026-03-01T18:00Z/2026-03-03T06:00Z', filter: '', want: 72 },
    {
      name: 'cut, by what only entries have',
      window: '2026-03-01T18:00Z/2026-03-03T06:00Z',
      filter: 'component=gpu',
      want: 72,
    },
  ])('each hour of a window is in its rows once: $name', async ({ window, filter, want }) => {
    const answer = await ask({ of: long, now, open, window, filter });
    expect([usd(answer.sum.usdMicros), ...(answer.opened?.rows ?? []).map(({ sum }) => usd(sum.usdMicros))]).toEqual([
      want,
      want,
    ]);
  });

  it('its row is whose it was on the last day', async () => {
    const rules = `rules: [{when: {account: nlp}, from: 2026-03-03, set: {team: asr}}]`;
    const { opened } = await ask({ of: long, now, open, window: 'all', rules });
    expect(opened?.rows.map(({ team }) => team)).toEqual(['asr']);
    expect(opened?.byTeam.map(({ value, sum }) => [value, usd(sum.usdMicros)])).toEqual([
      ['nlp', 72],
      ['asr', 24],
    ]);
  });
});

it('opens what stands beside the GPU in the words and figures of `bursar look`', async () => {
  const charges = Object.entries({
    '3271.60': 'Usage|Storage|EBS|',
    '2945.60': 'Usage|Other|AWS Support|',
    '1560.60': 'Tax|||',
    '1213.60': 'Usage|Networking|EC2|egress',
    '-1617.30': 'Credit|||',
  }).map(
    ([amount, what]) =>
      `AWS|222|2026-03-01T00:00:00Z|2026-04-01T00:00:00Z|2026-03-02T08:00:00Z|2026-03-02T09:00:00Z|USD|${amount}|${amount}|${what}`,
  );
  const big = await fleetFolder({
    ...SMALL_FLEET,
    'charges 2': csv(`
      ProviderName|BillingAccountId|BillingPeriodStart|BillingPeriodEnd|ChargePeriodStart|ChargePeriodEnd|BillingCurrency|EffectiveCost|BilledCost|ChargeCategory|ServiceCategory|ServiceName|SkuId
      ${charges.join('\n')}`),
  });
  const [answer, looked] = await withReader(
    big.dataDir,
    async (space) => {
      const window = ledgerWindow('2026-03-02', NOON, space.scope);
      const now = { at: NOON, by: 'asked' as const };
      return [
        await waste(space, { window, now, filters: [], by: [], open: 'beside' }),
        await look(space, { window: '2026-03-02', asOf: NOON, clock: NOON }),
      ] as const;
    },
    { rules: NO_RULES },
  );
  await big.remove();
  const [head = '', why] = wastePage(answer, {
    width: 200,
    dataFlag: '',
    asked: '',
    askedOfFindings: '',
    scopeFlags: '',
  });
  const line = lookParts(looked)?.lines.find(({ category }) => category === 'beside');
  expect(why).toBe(`of it ${line?.note}`);
  expect(why).toMatch(/^of it storage \$3,27\d, support \$2,94\d, tax \$1,56\d, egress \$1,21\d, credits −\$1,61\d$/);
  expect(head).toContain(`beside the GPU: ${line?.amount} (${line?.percent} of `);
});
