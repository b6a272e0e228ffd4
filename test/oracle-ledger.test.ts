import { describe, expect, test } from 'vitest';
import { ACCELERATOR_NAMES } from '../src/facts/accelerators.ts';
import { LIST_PRICES } from '../src/facts/list-price.ts';
import { derivedLedger, rowText } from './oracle/derived-ledger.ts';
import { oracle } from './oracle/oracle.ts';
import { diceOf } from './oracle/random/dice.ts';
import { flavoursOf, randomOrganisation } from './oracle/random-organisation.ts';
import { seedsOf } from './oracle/seeds.ts';

/** `ORACLE_SEEDS=100-400 npx vitest run test/oracle-ledger.test.ts` tries others. */
const seeds = seedsOf('ORACLE_SEEDS', 24);

describe('the ledger agrees with the oracle, row for row, whatever the order of imports', () => {
  test.each(seeds)('organisation %i', { timeout: 120_000 }, async (seed) => {
    const org = randomOrganisation(seed);
    const told = oracle(org, LIST_PRICES, ACCELERATOR_NAMES);
    const { entries, waterfall } = await derivedLedger(org, diceOf(seed + 1));
    const flavours = flavoursOf(seed).join(', ');
    expect(
      differences(
        entries,
        told.entries.map((entry) => rowText('ledger_entry', { ...entry })),
      ),
      flavours,
    ).toEqual([]);
    const toldWaterfall = told.waterfall.map(({ entry, ...row }) => rowText('waterfall', { ...entry, ...row }));
    expect(differences(waterfall, toldWaterfall), flavours).toEqual([]);
  });
});

/** Rows that only one side has, as a multiset. */
function differences(got: readonly string[], want: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const row of want) counts.set(row, (counts.get(row) ?? 0) + 1);
  for (const row of got) counts.set(row, (counts.get(row) ?? 0) - 1);
  return [...counts]
    .filter(([, count]) => count !== 0)
    .map(([row, count]) => `${count > 0 ? 'missing' : 'extra'} ${row}`);
}
