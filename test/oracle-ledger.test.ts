import { describe, expect, test } from 'vitest';
import { ACCELERATOR_NAMES } from '../src/facts/accelerators.ts';
import { LIST_PRICES } from '../src/facts/list-price.ts';
import { derivedLedger, rowText } from './oracle/derived-ledger.ts';
import { differences } from './oracle/differences.ts';
import { oracle } from './oracle/oracle.ts';
import { diceOf } from './oracle/random/dice.ts';
import { SOME_COMPONENT_PRICES, flavoursOf, randomOrganisation } from './oracle/random-organisation.ts';
import { seedsOf } from './oracle/seeds.ts';

/** `ORACLE_SEEDS=100-400 npx vitest run test/oracle-ledger.test.ts` tries others. */
const seeds = seedsOf('ORACLE_SEEDS', 24);

const PRICES = SOME_COMPONENT_PRICES.map((price) => ({ ...price, asOf: '2026-03-01', source: 'made up' }));

describe('the ledger agrees with the oracle, row for row, whatever the order of imports', () => {
  test.each(seeds)('organisation %i', { timeout: 120_000 }, async (seed) => {
    const org = randomOrganisation(seed);
    const told = oracle(org, LIST_PRICES, ACCELERATOR_NAMES, PRICES);
    const { entries, waterfall } = await derivedLedger(org, diceOf(seed + 1), PRICES);
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
