import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { printed, reply, request } from '../../../../test/asked-route.ts';
import { fleetFolder } from '../../../../test/fleet-folder.ts';
import type { FleetFolder } from '../../../../test/fleet-folder.ts';
import { EURO_BILL, SMALL_FLEET } from '../../../../test/small-fleet.ts';
import { outcomesRoute } from '../spend/outcomes.ts';
import { overviewFindingsRoute } from './overview-findings.ts';
import type { FirstFindingsReply } from './overview-findings.ts';
import { overviewRoute } from './overview.ts';
import type { OverviewReply } from './overview.ts';
import { runawayRoute } from '../findings/runaway.ts';
import { wasteRoute } from '../spend/waste.ts';
import type { WasteReply } from '../spend/waste.ts';
import { spendRoute } from '../spend/spend.ts';
import type { SpendReply } from '../spend/spend.ts';
import { teamsRoute } from '../teams/list-teams.ts';
import type { TeamsReply } from '../teams/list-teams.ts';
import { withWriter } from '../../../app/workspace.ts';

const MARCH = '2026-03-01/2026-04-01';

let fleet: FleetFolder;
beforeAll(async () => {
  fleet = await fleetFolder(SMALL_FLEET);
});
afterAll(() => fleet.remove());

const stateOf = ({ verdict }: OverviewReply, name: string): string | undefined =>
  verdict.inputs.find((input) => input.name === name)?.state;

describe('overview', () => {
  test('its figures are those of waste, and its days add up to them', async () => {
    const overview = await reply<OverviewReply>(fleet.dataDir, overviewRoute, { window: MARCH });
    const waste = JSON.parse(await printed(fleet.dataDir, overviewRoute, { window: MARCH }, '--json')) as WasteReply;
    expect(overview.paidUsdMicros).toBe(waste.usdMicros);
    expect(overview.computedPermille).toBe(waste.computeShare.permille);
    const days = overview.steps.reduce((sum, { paidUsdMicros }) => sum + BigInt(paidUsdMicros ?? '0'), 0n);
    expect(String(days)).toBe(waste.usdMicros);
  });

  test('the ledger of the small fleet equals its bill, and nobody can compare it with a month before', async () => {
    const overview = await reply<OverviewReply>(fleet.dataDir, overviewRoute, { window: MARCH });
    expect(overview.books).toMatchObject({ bills: 1, differenceUsdMicros: '0', notPosted: 0 });
    expect([stateOf(overview, 'books'), stateOf(overview, 'trend')]).toEqual(['good', 'none']);
    // An L4 at its list price, and a Zorg without any.
    expect(overview.steps.some(({ isEstimated }) => isEstimated)).toBe(true);
    expect(stateOf(overview, 'unpriced')).toBe('bad');
    expect(overview.verdict.grade).toBe('not-fine');
  });

  test('of one team nobody asks what is unattributed', async () => {
    const overview = await reply<OverviewReply>(fleet.dataDir, overviewRoute, { window: MARCH, team: 'nlp' });
    expect(overview.unattributedPermille).toBeNull();
    expect(stateOf(overview, 'unattributed')).toBeUndefined();
  });

  test('an empty window is no verdict, and no zero', async () => {
    const overview = await reply<OverviewReply>(fleet.dataDir, overviewRoute, { window: '2026-01' });
    expect(overview).toMatchObject({ computedPermille: null, steps: [], verdict: { grade: 'not-known' } });
  });

  test('facts that are not in the ledger yet are not known, and no zero', async () => {
    const fresh = await fleetFolder({});
    try {
      await fresh.import(SMALL_FLEET);
      const asked = [fresh.dataDir, { window: MARCH }] as const;
      const overview = await reply<OverviewReply>(asked[0], overviewRoute, asked[1]);
      expect(overview).toMatchObject({ paidUsdMicros: null, verdict: { grade: 'not-known' } });
      expect(overview.window.ledgerDays).toBeGreaterThan(0);
      expect((await reply<WasteReply>(asked[0], wasteRoute, asked[1])).usdMicros).toBeNull();
      expect((await reply<SpendReply>(asked[0], spendRoute, asked[1])).totalUsdMicros).toBeNull();
      expect((await reply<TeamsReply>(asked[0], teamsRoute, { month: '2026-03' })).total.usdMicros).toBeNull();
      // Beside a writer the command derives nothing for itself.
      const words = await withWriter(asked[0], 'test', async () =>
        Promise.all([wasteRoute, spendRoute].map((route) => printed(asked[0], route, asked[1]))),
      );
      for (const said of words) expect(said).toContain('not known yet, as these days are not in the ledger');
      await fresh.derive();
      expect((await reply<OverviewReply>(asked[0], overviewRoute, asked[1])).paidUsdMicros).toBe('34060000');
    } finally {
      await fresh.remove();
    }
  });

  test('a bill in a currency without a rate wants attention; with one it is compared', async () => {
    const foreign = await fleetFolder({ ...SMALL_FLEET, 'charges 2': EURO_BILL });
    try {
      const without = await reply<OverviewReply>(foreign.dataDir, overviewRoute, { window: MARCH });
      expect([without.books.notPosted, stateOf(without, 'books')]).toEqual([1, 'warn']);
      await foreign.import({ fx: 'currency,as_of,usd_per_unit\nEUR,2026-03-01,1.1\n' });
      await foreign.derive();
      const posted = await reply<OverviewReply>(foreign.dataDir, overviewRoute, { window: MARCH });
      expect(posted.books).toMatchObject({ bills: 2, notPosted: 0, differenceUsdMicros: '0' });
    } finally {
      await foreign.remove();
    }
  });
});

describe('the questions beside it give what their commands print', () => {
  test.each([
    ['waste', wasteRoute, { window: MARCH }],
    ['waste by class, opened', wasteRoute, { window: MARCH, by: 'class', open: 'idle' }],
    ['outcomes', outcomesRoute, { window: MARCH, by: 'team' }],
    ['runaway', runawayRoute, { window: '90d' }],
  ] as const)('%s', async (_, route, query) => {
    expect(await reply(fleet.dataDir, route, query)).toEqual(
      JSON.parse(await printed(fleet.dataDir, route, query, '--json')),
    );
  });

  test('waste as CSV is what the command prints', async () => {
    const response = await request(fleet.dataDir, wasteRoute.path, { window: MARCH, format: 'csv' });
    expect(await response.text()).toBe(await printed(fleet.dataDir, wasteRoute, { window: MARCH }, '--csv'));
  });

  test('the first findings are those of the command, and categories add up to their sum', async () => {
    const query = { window: MARCH };
    const first = await reply<FirstFindingsReply>(fleet.dataDir, overviewFindingsRoute, query);
    const told = JSON.parse(await printed(fleet.dataDir, overviewFindingsRoute, query, '--json', '--all')) as {
      findings: FirstFindingsReply['first'];
      sum: FirstFindingsReply['sum'];
    };
    expect(first.count).toBeGreaterThan(0);
    expect(first.first.map(({ key }) => key)).toEqual(
      told.findings.filter(({ key }) => first.first.some((each) => each.key === key)).map(({ key }) => key),
    );
    const high = Object.values(first.byCategory).reduce((sum, each) => sum + BigInt(each.cashUsdMicros.high), 0n);
    expect(String(high)).toBe(told.sum.cashUsdMicros.high);
  });
});
