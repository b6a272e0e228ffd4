import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { csv, fleetFolder } from '../../test/fleet-folder.ts';
import type { FleetFolder } from '../../test/fleet-folder.ts';
import { EURO_BILL, SMALL_FLEET } from '../../test/small-fleet.ts';
import { lookJson, lookScreen } from '../report/look-screen.ts';
import type { LookAnswer } from '../report/look-screen.ts';
import { look } from './look.ts';
import { withReader } from './workspace.ts';

const HOUR = 63_000n * 3600n;
const clock = new Date('2026-11-01T00:00:00Z');

describe('the first screen, figures worked out by hand', () => {
  let fleet: FleetFolder;
  const ask = (window: string, asOf?: Date): Promise<LookAnswer> =>
    withReader(fleet.dataDir, (space) => look(space, { window, clock, ...(asOf && { asOf }) }));
  beforeAll(async () => {
    fleet = await fleetFolder({ ...SMALL_FLEET, 'charges 2': EURO_BILL });
  });
  afterAll(() => fleet.remove());

  it('each dollar is in one category, and they add up to what was paid', async () => {
    const answer = await ask('all');
    expect(answer.paidUsdMicros).toBe(34_060_000n);
    expect(Object.fromEntries(Object.entries(answer.categories).map(([name, sum]) => [name, sum.usdMicros]))).toEqual({
      stranded: 1_000_000n,
      unallocated: 9_750_000n,
      unknown: 16_985_000n,
      idle: 1_625_000n,
      starved: 162_500n, // Job 101 left a tenth of a full engine (855 of 950 ‰).
      lost: 0n,
      computing: 3_087_500n,
      beside: 1_450_000n,
    });
    expect(answer.categories.unknown.unpricedUnits).toBe(2n * HOUR);
    expect(answer.basisUsdMicros).toEqual({ billed: 28_450_000n, rate: 4_000_000n, estimated: 1_610_000n });
    expect(answer.beside).toEqual([
      { what: 'tax', usdMicros: 1_200_000n },
      { what: 'storage', usdMicros: 500_000n },
      { what: 'credits', usdMicros: -250_000n },
    ]);
    expect(answer.computeSharePermille).toBe(198); // 3.0875 ÷ (34.06 − 1.45 − 16.985)
    expect(answer.computeShareHoursPermille).toBe(211); // 1.9 of 9 known GPU-hours
    expect(answer.starvedBy).toEqual([{ reason: 'gap', usdMicros: 162_500n, gpuUnits: HOUR / 10n }]);
    expect(lookScreen(answer).join('\n')).toMatch(/starved +\$0\.16 +<1 % +gaps 100 %/);
    expect(answer.unpriced).toEqual([{ model: 'Zorg', billedBy: null, wantsRateOf: null, gpuUnits: 2n * HOUR }]);
    expect(answer.notPosted).toEqual([{ billId: expect.stringContaining('OVH|9|') as string, currency: 'EUR' }]);
  });

  it('counts hours that began before now', async () => {
    const answer = await ask('today', new Date('2026-03-02T09:00:00Z'));
    expect(answer.categories.idle.usdMicros).toBe(0n);
    expect(answer.categories.computing.usdMicros).toBe(3_087_500n);
    expect(answer.categories.unallocated.usdMicros).toBe(1_625_000n);
  });

  it('says what keeps it from being whole, and the command that helps', async () => {
    const screen = lookScreen(await ask('all')).join('\n');
    expect(screen).toContain('as of 2026-03-02 12:00 UTC, the newest fact');
    expect(screen).toContain("printf 'model,usd_per_gpu_hour\\nZorg,USD\\n' | bursar import rates - --batch rates");
    expect(screen).toContain('Not posted: 1 bill in EUR, for want of an exchange rate.');
    expect(screen).not.toMatch(/\$0(?![\d.,])|NaN|undefined|null/);
  });

  it('without anything in the window says where the facts are', async () => {
    const screen = lookScreen(await ask('30d', new Date('2026-02-01T00:00:00Z'))).join('\n');
    expect(screen).toContain('The facts reach from 2026-03-02 to 2026-03-02: bursar look --window all');
  });
});

describe('names that do not meet', () => {
  const day = '2026-03-02';
  const job = (id: number, node: string, hours: number): string =>
    `slurm|${id}|${node}|${day}T08:00:00Z|${day}T${String(8 + hours).padStart(2, '0')}:00:00Z|1`;
  const NODES = 'node_id|present_from|gpu_count|model\ngpu-01|2026-03-02T08:00:00Z|2|L4';
  const asked = async (files: Record<string, string>, window = 'all'): Promise<LookAnswer> => {
    const fleet = await fleetFolder(
      Object.fromEntries(Object.entries(files).map(([word, text]) => [word, csv(text)] as const)),
    );
    try {
      return await withReader(fleet.dataDir, (space) => look(space, { window, clock }));
    } finally {
      await fleet.remove();
    }
  };
  const allocations = [
    'source|allocation_id|node_id|held_from|held_until|gpu_count',
    job(1, 'gpu-01', 4),
    job(2, 'gpu-[01-02]', 3),
    job(3, 'gpu-01.example.com', 2),
    job(4, 'gpu-02.example.com', 1),
    job(5, '', 1),
  ].join('\n');

  it('holdings on nodes that the inventory does not list are told, the most of them first', async () => {
    const answer = await asked({ nodes: NODES, allocations });
    expect(answer.unlistedNodes).toEqual([
      { nodeId: 'gpu-[01-02]', gpuUnits: 3n * HOUR },
      { nodeId: 'gpu-01.example.com', gpuUnits: 2n * HOUR },
      { nodeId: 'gpu-02.example.com', gpuUnits: HOUR },
    ]);
    expect(lookScreen(answer).join('\n')).toContain(
      'Not in the inventory: 6.0 GPU-hours held on 3 nodes, e.g. gpu-[01-02], gpu-01.example.com.',
    );
    expect(lookJson(answer)).toMatchObject({ unlistedNodes: [{ nodeId: 'gpu-[01-02]', gpuSeconds: 10_800 }, {}, {}] });
  });

  it('only those of the hours asked for count', async () => {
    const answer = await asked({ nodes: NODES, allocations }, `${day}T10:00:00Z/${day}T11:00:00Z`);
    expect(answer.unlistedNodes).toEqual([{ nodeId: 'gpu-[01-02]', gpuUnits: HOUR }]);
  });

  it('devices list their nodes too; and where nothing is listed, nothing is missing from the list', async () => {
    const devices = ['gpu-01', 'gpu-[01-02]', 'gpu-01.example.com', 'gpu-02.example.com'].map(
      (node) => `G ${node}|${node}`,
    );
    expect((await asked({ devices: ['device_id|node_id', ...devices].join('\n'), allocations })).unlistedNodes).toEqual(
      [],
    );
    expect((await asked({ allocations })).unlistedNodes).toEqual([]);
  });

  const BILL =
    'ProviderName|BillingAccountId|BillingPeriodStart|BillingPeriodEnd|ChargePeriodStart|ChargePeriodEnd|ChargeCategory|BillingCurrency|EffectiveCost|BilledCost|ServiceCategory|ServiceName|ResourceId';
  const charge = (currency: string, resource: string): string =>
    `OVH|9|2026-03-01T00:00:00Z|2026-04-01T00:00:00Z|${day}T08:00:00Z|${day}T10:00:00Z|Usage|${currency}|10|10|Compute|VM|${resource}`;
  const node = 'node_id|present_from|present_until|provider|billing_account|gpu_count|model\n';

  it('hours of a bill without exchange rate want the rate, not another resource_id', async () => {
    const nodes = `${node}n1|${day}T08:00:00Z|${day}T10:00:00Z|OVH|9|1|L4`;
    const answer = await asked({ nodes, charges: `${BILL}\n${charge('EUR', 'n1')}` });
    expect(answer.unpriced).toEqual([{ model: 'L4', billedBy: 'OVH 9', wantsRateOf: 'EUR', gpuUnits: 2n * HOUR }]);
    const screen = lookScreen(answer).join('\n');
    expect(screen).toContain(
      'Not posted: 1 bill in EUR, for want of an exchange rate; 2.0 GPU-hours have no price without it.',
    );
    expect(screen).not.toContain('resource_id');
  });

  it('each hour asks the bill of its own month', async () => {
    const nodes = `${node}n1|2026-03-31T22:00:00Z|2026-04-01T01:00:00Z|OVH|9|1|L4`;
    const march = charge('EUR', 'n1').replaceAll(day, '2026-03-31');
    const april = charge('USD', 'elsewhere')
      .replace(/03-01(.*)04-01/, '04-01$105-01')
      .replaceAll(day, '2026-04-01');
    const answer = await asked({ nodes, charges: `${BILL}\n${march}\n${april}` });
    expect(answer.unpriced).toEqual([
      { model: 'L4', billedBy: 'OVH 9', wantsRateOf: 'EUR', gpuUnits: 2n * HOUR },
      { model: 'L4', billedBy: 'OVH 9', wantsRateOf: null, gpuUnits: HOUR },
    ]);
  });

  it('hours that a posted bill covers and does not charge want a look at resource_id', async () => {
    const nodes = `${node}n1|${day}T08:00:00Z|${day}T10:00:00Z|OVH|9|1|L4`;
    const answer = await asked({ nodes, charges: `${BILL}\n${charge('USD', 'elsewhere')}` });
    expect(answer.unpriced).toEqual([{ model: 'L4', billedBy: 'OVH 9', wantsRateOf: null, gpuUnits: 2n * HOUR }]);
    expect(lookScreen(answer).join('\n')).toContain('Check their resource_id');
  });
});

describe('the first screen without prices', () => {
  it('is in GPU-hours, and says so', async () => {
    const { nodes = '', samples = '' } = SMALL_FLEET;
    const fleet = await fleetFolder({ nodes: nodes.replaceAll(/H100|A100|L4/g, 'Zorg'), samples });
    const answer = await withReader(fleet.dataDir, (space) => look(space, { window: 'all', clock }));
    await fleet.remove();
    expect(answer.paidUsdMicros).toBeNull();
    expect(answer.categories.idle).toEqual({ usdMicros: null, gpuUnits: 2n * HOUR, unpricedUnits: 2n * HOUR });
    const screen = lookScreen(answer).join('\n');
    expect(screen).toContain('no price known for any of it');
    expect(screen).toContain('No allocations yet');
    expect(screen).not.toContain('$');
  });
});
