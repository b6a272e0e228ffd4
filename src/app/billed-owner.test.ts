import { describe, expect, test } from 'vitest';
import { fleetFolder } from '../../test/fleet-folder.ts';
import type { ChargeRow } from '../../test/oracle/organisation.ts';
import { charge, organisation } from '../../test/oracle/rows.ts';
import { toFiles } from '../../test/oracle/to-files.ts';
import { nine, ten } from '../../test/oracle/told.ts';
import { parseDimensions } from './filter.ts';
import { spend } from './spend.ts';
import { ledgerWindow } from './window.ts';
import { withReader } from './workspace.ts';

const row = (effective: string, rest: Partial<ChargeRow>): ChargeRow =>
  charge({ charge_from: nine, charge_until: ten, effective, ...rest });
const bought = (rest: Partial<ChargeRow>): ChargeRow => row('0', { charge_category: 'Purchase', ...rest });
const used = (rest: Partial<ChargeRow>): ChargeRow => row('1', { commitment_status: 'Used', ...rest });
const unused = (rest: Partial<ChargeRow>): ChargeRow => row('2', { commitment_status: 'Unused', ...rest });

const cases: Record<string, { charges: ChargeRow[]; want: string[] }> = {
  'what a commitment left unused is of who bought it': {
    charges: [
      bought({ commitment_id: 'sp-1', tags: { team: 'platform' } }),
      bought({ commitment_id: 'sp-2', tags: { team: 'nlp' } }),
      unused({ commitment_id: 'sp-1' }),
      unused({ commitment_id: 'sp-2', tags: { 'cost-center': '7' } }),
    ],
    want: ['nlp 2', 'platform 2'],
  },
  'unless it says itself whose it is': {
    charges: [
      bought({ commitment_id: 'sp-1', tags: { team: 'platform' } }),
      unused({ commitment_id: 'sp-1', tags: { team: 'vision', project: 'x' } }),
    ],
    want: ['vision 2'],
  },
  'those who used it are not its buyers': {
    charges: [
      used({ commitment_id: 'sp-1', resource_id: 'i-1', tags: { team: 'nlp' } }),
      unused({ commitment_id: 'sp-1' }),
    ],
    want: ['nlp 1', '– 2'],
  },
  'what names no resource is of whom its tags name': {
    charges: [
      row('4', { service_category: 'Storage', service_name: 'Objects', tags: { team: 'nlp' } }),
      row('5', { service_category: 'Storage', service_name: 'Objects', tags: { team: 'vision' } }),
      row('6', { service_category: 'Storage', service_name: 'Objects' }),
    ],
    want: ['nlp 4', 'vision 5', '– 6'],
  },
  'a reservation has its own buyer': {
    charges: [
      bought({ capacity_reservation_id: 'cr-1', tags: { team: 'vision' } }),
      row('3', { capacity_reservation_id: 'cr-1', capacity_reservation_status: 'Unused' }),
    ],
    want: ['vision 3'],
  },
  'a block in which nothing ran is of who bought it': {
    charges: [bought({ effective: '5', capacity_reservation_id: 'cr-1', tags: { team: 'vision' } })],
    want: ['vision 5'],
  },
};

describe('whose money is by what the bill says', () => {
  test.each(Object.entries(cases))('%s', async (_, { charges, want }) => {
    const fleet = await fleetFolder(toFiles(organisation({ charges })));
    try {
      const { rows } = await withReader(fleet.dataDir, (space) =>
        spend(space, {
          by: parseDimensions('team'),
          window: ledgerWindow('2026-03-01/2026-04-01', new Date('2026-03-03T00:00:00Z'), space.scope),
          filters: [],
        }),
      );
      const told = rows.map(({ values, costUsdMicros }) => `${values[0] ?? '–'} ${Number(costUsdMicros) / 1e6}`);
      expect(told.sort()).toEqual([...want].sort());
    } finally {
      await fleet.remove();
    }
  });
});

test('which of two names a resource has does not depend on the order of the rows', async () => {
  const named = ['b', 'a'].map((resource_name) =>
    row('1', { service_category: 'Storage', resource_id: 'disk-1', resource_name }),
  );
  const names = [];
  for (const charges of [named, named.toReversed()]) {
    const fleet = await fleetFolder(toFiles(organisation({ charges })));
    const sql = `SELECT resource_name AS name FROM resource_day`;
    names.push(await withReader(fleet.dataDir, (space) => space.ask({ tables: [{ table: 'resource_day' }], sql })));
    await fleet.remove();
  }
  expect(names).toEqual([[{ name: 'a' }], [{ name: 'a' }]]);
});
