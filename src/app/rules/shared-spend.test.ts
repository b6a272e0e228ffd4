import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { FleetFolder } from '../../../test/fleet-folder.ts';
import { fleetFolder } from '../../../test/fleet-folder.ts';
import { SMALL_FLEET } from '../../../test/small-fleet.ts';
import { readConfig } from '../config/config-file.ts';
import { explanationText } from '../../report/ledger-explain-page.ts';
import { parseDimensions, parseFilters } from '../filter.ts';
import { explainLedger } from '../ledger-explain.ts';
import { explainShared } from '../ownership/explain-shared.ts';
import { spend } from '../spend.ts';
import { ledgerWindow } from '../window.ts';
import { withReader } from '../workspace.ts';
import type { ReadSpace } from '../workspace.ts';
import { NO_RULES } from './rule.ts';
import type { RuleBook } from './rule.ts';

let fleet: FleetFolder;
beforeAll(async () => {
  fleet = await fleetFolder(SMALL_FLEET);
});
afterAll(() => fleet.remove());

function bookOf(yaml: string): RuleBook {
  return readConfig(yaml).rules ?? NO_RULES;
}

function reading<Result>(rules: RuleBook, work: (space: ReadSpace) => Promise<Result>): Promise<Result> {
  return withReader(fleet.dataDir, work, { rules });
}

/** Micros and unit-seconds by the values of dimensions, `-` for nobody. */
async function sums(space: ReadSpace, by: string): Promise<Map<string, readonly [bigint, bigint]>> {
  const window = ledgerWindow('all', space.scope?.horizon ?? new Date(0), space.scope);
  const { rows } = await spend(space, { by: parseDimensions(by), window, filters: [] });
  return new Map(
    rows.map(({ values, costUsdMicros, heldUnits }) => [
      values.map((value) => value ?? '-').join(' '),
      [costUsdMicros ?? 0n, heldUnits],
    ]),
  );
}

const POOLS = `
shared:
  - {name: storage, when: {what: resource, service: S3}, split: cost}
  - {name: spares, when: {what: node}, split: gpu-hours}
  - {name: bill, when: {what: bill}, split: {nlp: 2, asr: 1}}`;

describe('money that is shared', () => {
  test('goes to teams by the key of the day, and nothing is lost', async () => {
    const before = await reading(NO_RULES, (space) => sums(space, 'team'));
    const after = await reading(bookOf(POOLS), (space) => sums(space, 'team'));
    const total = (all: ReadonlyMap<string, readonly [bigint, bigint]>): readonly bigint[] =>
      [0, 1].map((place) => [...all.values()].reduce((sum, each) => sum + (each[place] ?? 0n), 0n));
    expect(total(after)).toEqual(total(before));
    // By hand, asr before nlp: of $0.95 of tax and credit 316,666 and 633,334 micros. What is unused of a commitment is a resource's.
    const bill = await reading(bookOf(POOLS.replace(/ {2}- \{name: s.*\n/g, '')), (space) => sums(space, 'team'));
    expect((bill.get('nlp')?.[0] ?? 0n) - (before.get('nlp')?.[0] ?? 0n)).toBe(633_334n);
    expect((bill.get('asr')?.[0] ?? 0n) - (before.get('asr')?.[0] ?? 0n)).toBe(316_666n);
  });

  test('has the same parts whatever one groups by', async () => {
    await reading(bookOf(POOLS), async (space) => {
      const byTeam = await sums(space, 'team');
      for (const by of ['team,component', 'team,cluster,model', 'team,class,user,day', 'team,bill,category,region']) {
        const summed = new Map<string, bigint>();
        for (const [key, [micros]] of await sums(space, by)) {
          const team = key.split(' ')[0] ?? '';
          summed.set(team, (summed.get(team) ?? 0n) + micros);
        }
        expect(summed).toEqual(new Map([...byTeam].map(([team, [micros]]) => [team, micros])));
      }
    });
  });

  test('is with its pool, and nobody’s, where single machines are asked for', async () => {
    const rows = await reading(bookOf(POOLS), (space) => sums(space, 'team,node'));
    const ofNodes = [...rows.keys()].filter((key) => key.startsWith('- ') && key !== '- -');
    expect(ofNodes).not.toEqual([]);
  });

  test('stays with its pool where nobody has a part in its key', async () => {
    const book = bookOf(`rules: [{when: {}, set: {team: none}}]${POOLS.replace('{nlp: 2, asr: 1}', 'even')}`);
    expect([...(await reading(book, (space) => sums(space, 'team'))).keys()]).toEqual(['-']);
  });

  test('can be asked why: the key, the weights and the day it was', async () => {
    await reading(bookOf(POOLS), async (space) => {
      const window = ledgerWindow('all', space.scope?.horizon ?? new Date(0), space.scope);
      const parts = await explainShared(space, window, 'nlp');
      const bill = parts.find(({ pool }) => pool === 'bill');
      expect(bill).toMatchObject({ key: 'nlp 2, asr 1', poolUsdMicros: 950_000n, usdMicros: 633_334n });
      expect(bill?.days).toMatchObject([{ weight: 2n, total: 3n, poolUsdMicros: 950_000n, usdMicros: 633_334n }]);
      for (const part of parts) {
        expect(part.days.reduce((sum, { usdMicros }) => sum + usdMicros, 0n)).toBe(part.usdMicros);
      }
    });
  });

  test('stands beside the entries of a team, and both are what spend says of it', async () => {
    await reading(bookOf(POOLS), async (space) => {
      const window = ledgerWindow('all', space.scope?.horizon ?? new Date(0), space.scope);
      const limits = { entriesMax: 3, detailedMax: 1, detailRowsMax: 10 };
      const explained = await explainLedger(space, { window, filters: parseFilters(['team=nlp']), ...limits });
      const part = explained.shared.reduce((sum, { usdMicros }) => sum + usdMicros, 0n);
      expect((explained.figure.usdMicros ?? 0n) + part).toBe((await sums(space, 'team')).get('nlp')?.[0]);
      const text = explanationText(explained, 1).join('\n');
      expect(text).toContain('$0.950000 × 2 of 3 = $0.633334');
      for (const filter of [['team=nlp|asr'], ['team=nlp', 'class=training'], []]) {
        const other = await explainLedger(space, { window, filters: parseFilters(filter), ...limits });
        expect(other.shared).toEqual([]);
      }
    });
  });

  test('whatever the pools and their keys, the total is the same to the micro', async () => {
    const when = fc.constantFrom(
      { what: 'node' },
      { what: 'bill' },
      { what: 'job' },
      { account: 'nlp' },
      { cluster: 'a' },
      {},
    );
    const split = fc.oneof(
      fc.constantFrom('gpu-hours', 'cost', 'even'),
      fc.dictionary(fc.constantFrom('nlp', 'asr', 'x'), fc.integer({ min: 1, max: 97 }), { minKeys: 1 }),
    );
    const whole = await reading(NO_RULES, (space) => sums(space, 'basis'));
    await fc.assert(
      fc.asyncProperty(when, split, when, split, async (when1, split1, when2, split2) => {
        const shared = [{ name: 'p', when: when1, split: split1 }];
        const both = JSON.stringify(when1) === JSON.stringify(when2) || Object.keys(when1).length === 0;
        const config = { shared: both ? shared : [...shared, { name: 'q', when: when2, split: split2 }] };
        const got = await reading(bookOf(JSON.stringify(config)), (space) => sums(space, 'basis'));
        expect(got).toEqual(whole);
      }),
      { numRuns: 12 },
    );
  }, 120_000);
});
