import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tableOf } from '../../test/stage-on.ts';
import type { Row } from '../../test/stage-on.ts';
import { openEngine } from '../lake/engine.ts';
import type { Engine } from '../lake/engine.ts';
import { chargeHour } from './charge-hour.ts';

const at = (minutes: number): string => new Date(Date.UTC(2026, 2, 2, 9, minutes)).toISOString().slice(0, 19);

let engine: Engine;
beforeAll(async () => {
  engine = await openEngine({ threads: 1, memoryLimitMb: 200 });
  await engine.run(`CREATE TABLE calendar_hour AS SELECT DATE '2026-03-02' AS day, TIMESTAMP '2026-03-02 00:00:00' + to_hours(h) AS hour_start,
    TIMESTAMP '2026-03-02 00:00:00' + to_hours(h + 1) AS hour_end FROM (SELECT CAST(range AS INTEGER) AS h FROM range(24)) g`);
  await engine.run(`CREATE TABLE bill AS SELECT 'b' AS bill_id, 'AWS' AS provider, '111' AS billing_account,
    CAST(NULL AS TIMESTAMP) AS covered_until, TIMESTAMP '2026-03-03 00:00:00' AS ends_at`);
  for (const name of ['fx_rate', 'device']) await engine.run(tableOf(name, []));
});
afterAll(() => engine.close());

interface Posted {
  readonly kind: string;
  readonly node_id: string | null;
  readonly usd_micros: bigint;
  readonly marginal_usd_micros: bigint;
}

/** Posts a bill of the nodes; a charge without a node is for the resource it names. */
async function posted(nodes: readonly Row[], charges: readonly Row[]): Promise<readonly Posted[]> {
  const said = {
    bill_id: 'b',
    part: 0,
    provider: 'AWS',
    billing_account: '111',
    currency: 'USD',
    charge_category: 'Usage',
  };
  const rows = charges.map((row, ordinal) => ({ ...said, ordinal, row_hash: String(ordinal), ...row }));
  for (const name of ['node', 'charge']) await engine.run(`DROP TABLE IF EXISTS ${name}`);
  await engine.run(tableOf('node', nodes));
  await engine.run(tableOf('charge', rows));
  return engine.rows<Posted>(`SELECT * FROM (${chargeHour.sql}) s ORDER BY ${chargeHour.orderBy}`);
}

describe('a pool of machines, some of them paid by a commitment', () => {
  const machine = fc.record({
    micros: fc.bigInt({ min: 0n, max: 10n ** 9n }),
    isCommitted: fc.boolean(),
    sku: fc.constantFrom('P5', 'P4'),
    minutes: fc.integer({ min: 0, max: 60 }),
  });
  const sum = (rows: readonly bigint[]): bigint => rows.reduce((a, b) => a + b, 0n);

  it('has on all of its nodes together what is on demand in it, and on none more than the node costs', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(machine, { minLength: 1, maxLength: 6 }), async (machines) => {
        const nodes = machines.map(({ minutes }, n) => ({
          node_id: `n${n}`,
          provider: 'AWS',
          present_from: at(0),
          present_until: at(minutes),
        }));
        const charges = machines.map(({ micros, isCommitted, sku }, n) => ({
          charge_from: at(0),
          charge_until: at(60),
          effective: `${micros / 1_000_000n}.${String(micros % 1_000_000n).padStart(6, '0')}`,
          resource_id: `n${n}`,
          resource_key: `n${n}`,
          sku_id: sku,
          ...(isCommitted && { commitment_id: 'sp', commitment_status: 'Used' }),
        }));
        const rows = await posted(nodes, charges);
        for (const sku of ['P5', 'P4']) {
          const own = machines.filter((each) => each.sku === sku);
          const ofPool = rows.filter((row) => machines[Number(row.node_id?.slice(1))]?.sku === sku);
          expect(sum(ofPool.map((row) => row.usd_micros))).toBe(sum(own.map(({ micros }) => micros)));
          expect(sum(ofPool.map((row) => row.marginal_usd_micros))).toBe(
            sum(own.map(({ micros, isCommitted }) => (isCommitted ? 0n : micros))),
          );
        }
        for (const row of rows) expect(row.marginal_usd_micros).toBeLessThanOrEqual(row.usd_micros + 1n);
      }),
      { numRuns: 25 },
    );
  });
});

describe('a charge', () => {
  const hour = { charge_from: at(0), charge_until: at(60), effective: '3.25' };
  const n0 = { resource_id: 'n0', resource_key: 'n0' };
  const volume = { resource_id: 'v', resource_key: 'v' };
  const plan = { commitment_id: 'sp', commitment_status: 'Unused' };
  const block = { ...hour, charge_category: 'Purchase', capacity_reservation_id: 'cr', sku_id: 'p5.48xlarge' };
  const [onNode, besideIt] = [{ nodeId: 'n0' }, { nodeId: null }];
  const [paid, sunk] = [{ marginal: 3_250_000n }, { marginal: 0n }];
  const cases: Record<string, { charge: Row; want: { kind: string; nodeId: string | null; marginal: bigint } }> = {
    'of a node': { charge: n0, want: { kind: 'node', ...onNode, ...paid } },
    'of a node that a commitment paid for': {
      charge: { ...n0, commitment_id: 'sp', commitment_status: 'Used' },
      want: { kind: 'node', ...onNode, ...sunk },
    },
    'of tax, on a node': { charge: { ...n0, charge_category: 'Tax' }, want: { kind: 'tax', ...besideIt, ...sunk } },
    'of a credit, on a node': {
      charge: { ...n0, charge_category: 'Credit' },
      want: { kind: 'credit', ...besideIt, ...sunk },
    },
    'of a commitment for GPUs that nobody used': {
      charge: { ...plan, sku_id: 'p5.48xlarge' },
      want: { kind: 'stranded', ...besideIt, ...sunk },
    },
    'of a reservation for GPUs that nobody used': {
      charge: { capacity_reservation_id: 'cr', capacity_reservation_status: 'Unused', sku_id: 'p5.48xlarge' },
      want: { kind: 'stranded', ...besideIt, ...sunk },
    },
    'of a commitment for anything else that nobody used': {
      charge: { ...plan, sku_id: 'm5.large', service_category: 'Compute' },
      want: { kind: 'unused', ...besideIt, ...sunk },
    },
    'of a reservation for anything else that nobody used': {
      charge: {
        capacity_reservation_id: 'cr',
        capacity_reservation_status: 'Unused',
        sku_id: 'm5.large',
        service_category: 'Compute',
      },
      want: { kind: 'unused', ...besideIt, ...sunk },
    },
    'of support': {
      charge: { service_name: 'Premium Support', service_category: 'Compute' },
      want: { kind: 'support', ...besideIt, ...sunk },
    },
    'of a disk on a node': {
      charge: { ...n0, service_category: 'Storage' },
      want: { kind: 'storage', ...onNode, ...paid },
    },
    'of a disk of its own': {
      charge: { ...volume, service_category: 'Storage' },
      want: { kind: 'storage', ...besideIt, ...paid },
    },
    'of what a node sends': {
      charge: { ...n0, service_category: 'Networking', charge_description: 'Egress to the internet' },
      want: { kind: 'transfer', ...onNode, ...paid },
    },
    'of an address of a node': {
      charge: { ...n0, service_category: 'Networking', charge_description: 'Public IPv4 address' },
      want: { kind: 'network', ...onNode, ...paid },
    },
    'of a block of capacity of which no node is known': {
      charge: block,
      want: { kind: 'stranded', ...besideIt, ...sunk },
    },
    'of a GPU machine that nobody has listed': {
      charge: { ...volume, sku_id: 'p5.48xlarge', service_category: 'Compute' },
      want: { kind: 'unmatched', ...besideIt, ...paid },
    },
    'of any other machine': {
      charge: { ...volume, sku_id: 'm5.large', service_category: 'Compute' },
      want: { kind: 'host', ...besideIt, ...paid },
    },
    'of anything else': {
      charge: { ...volume, service_category: 'Databases' },
      want: { kind: 'other', ...besideIt, ...paid },
    },
  };
  const node = (id: string, more: Row = {}): Row => ({
    node_id: id,
    provider: 'AWS',
    present_from: at(0),
    present_until: at(60),
    ...more,
  });

  it.each(Object.entries(cases))('%s', async (_, { charge, want }) => {
    const rows = await posted([node('n0')], [{ ...hour, ...charge }]);
    expect(
      rows.map((row) => ({
        kind: row.kind,
        nodeId: row.node_id,
        marginal: row.marginal_usd_micros,
        usd: row.usd_micros,
      })),
    ).toEqual([{ ...want, usd: 3_250_000n }]);
  });

  it('of a block of capacity is its node’s, which its own charge names', async () => {
    const used = { ...hour, ...n0, effective: '0', capacity_reservation_id: 'cr', sku_id: 'p5.48xlarge' };
    const rows = await posted([node('n0')], [block, used]);
    expect(rows).toMatchObject([{ kind: 'node', node_id: 'n0', usd_micros: 3_250_000n, marginal_usd_micros: 0n }]);
  });

  const providers: Record<string, { provider: string; want: string | null }> = {
    'one of them': { provider: 'AWS', want: 'a-on-aws' },
    'the other, by its long name': { provider: 'Google Cloud', want: 'b-on-gcp' },
    neither: { provider: 'OVH', want: null },
  };
  it.each(Object.entries(providers))(
    'for a resource id that two providers have is of %s',
    async (_, { provider, want }) => {
      const resource = { resource_id: 'gpu-1', resource_key: 'gpu-1' };
      const nodes = [
        node('a-on-aws', { resource_id: 'gpu-1' }),
        node('b-on-gcp', { provider: 'gcp', resource_id: 'gpu-1' }),
      ];
      const rows = await posted(nodes, [{ ...hour, ...resource, provider }]);
      expect(rows.map((row) => row.node_id)).toEqual([want]);
    },
  );

  it('is of a node whose provider nobody has said', async () => {
    const rows = await posted([node('n0', { provider: null })], [{ ...hour, ...n0, provider: 'OVH' }]);
    expect(rows).toMatchObject([{ kind: 'node', node_id: 'n0' }]);
  });
});
