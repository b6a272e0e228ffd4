import { afterAll, beforeAll, expect, it } from 'vitest';
import { csv, fleetFolder } from '../../../test/fleet-folder.ts';
import type { FleetFolder } from '../../../test/fleet-folder.ts';
import { NO_RULES } from '../rules/rule.ts';
import { withReader, withWriter } from '../workspace.ts';
import { issue, planClosing, withdraw } from './close-statements.ts';

let fleet: FleetFolder;
beforeAll(async () => {
  fleet = await fleetFolder({
    charges: csv(`
      ProviderName|BillingAccountId|BillingPeriodStart|BillingPeriodEnd|ChargePeriodStart|ChargePeriodEnd|EffectiveCost|BilledCost|BillingCurrency|ChargeCategory|ServiceName
      AWS|1|2026-01-01T00:00:00Z|2026-02-01T00:00:00Z|2026-01-03T00:00:00Z|2026-01-04T00:00:00Z|96.00|96.00|USD|Usage|EC2`),
  });
});
afterAll(() => fleet.remove());

const clock = new Date('2026-02-02T09:00:00Z');
const options = { month: '2026-01', clock, isFirst: false, config: undefined };
const write = (work: Parameters<typeof withWriter<void>>[2]): Promise<void> => withWriter(fleet.dataDir, 'test', work);

it('a closing that was planned before another command closed or reopened the month is refused, and no number is used twice', async () => {
  const plan = await withReader(fleet.dataDir, (space) => planClosing(space, options), { rules: NO_RULES });
  const issuePlanned = (): Promise<void> => write(async (space) => issue(space, options, plan));
  await issuePlanned();
  await expect(issuePlanned()).rejects.toMatchObject({ code: 'closed-meanwhile' });
  await write(async (space) => withdraw(space, '2026-01', clock));
  await expect(issuePlanned()).rejects.toMatchObject({ code: 'closed-meanwhile' });
  const again = await withReader(fleet.dataDir, (space) => planClosing(space, options), { rules: NO_RULES });
  expect([plan, again].map(({ statements }) => statements.map(({ number }) => number))).toEqual([
    ['2026-01-001'],
    ['2026-01-002'],
  ]);
});
