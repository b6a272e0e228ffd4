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
