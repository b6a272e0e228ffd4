import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { csv, fleetFolder } from '../../../test/fleet-folder.ts';
import type { FleetFolder } from '../../../test/fleet-folder.ts';
import { suggestionYaml } from '../../report/rules-suggestion.ts';
import { readConfig } from '../config/config-file.ts';
import { NO_RULES } from '../rules/rule.ts';
import type { RuleBook } from '../rules/rule.ts';
import { ledgerWindow } from '../window.ts';
import { withReader } from '../workspace.ts';
import { suggestRules } from './suggest-rules.ts';
import { testRules } from './test-rules.ts';

/** Jobs of three people, some of which say whose they are; `?` in a name is what a label can hold and a rule must not obey. */
const FLEET = {
  nodes: csv(`
    node_id|gpu_count|model|cluster
    n1|8|H100|a`),
  rates: csv(`
    model|usd_per_gpu_hour
    H100|2.00`),
  allocations: csv(`
    source|allocation_id|node_id|held_from|held_until|gpu_count|cluster|account|namespace|user_name|workload_kind|workload_name|labels
    slurm|1|n1|2026-03-02T00:00:00Z|2026-03-03T00:00:00Z|1|a|nlp||ada|Job|train-1|{"class": "training"}
    slurm|2|n1|2026-03-02T00:00:00Z|2026-03-03T00:00:00Z|1|a|||ada|Job|scratch|
    kube|3|n1|2026-03-02T00:00:00Z|2026-03-03T00:00:00Z|1|a||default|bob|Job|train-2|
    kube|4|n1|2026-03-02T00:00:00Z|2026-03-03T00:00:00Z|1|a||vision|b*b: {x}|Job|detect|
    kube|5|n1|2026-03-02T00:00:00Z|2026-03-03T00:00:00Z|1|a||default|b*b: {x}|Job|other|
    kube|6|n1|2026-03-02T00:00:00Z|2026-03-03T00:00:00Z|1|a||default|eve|Job|nobody|
    kube|7|n1|2026-03-02T00:00:00Z|2026-03-03T00:00:00Z|1|a||{user}|kim|Job|own|
    kube|8|n1|2026-03-02T00:00:00Z|2026-03-03T00:00:00Z|1|a||default|kim|Job|more|`),
};

/** A dollar of a commitment to GPUs that nobody used, and no tag that says who bought it. */
const UNUSED_COMMITMENT = csv(`
  ProviderName|BillingAccountId|BillingPeriodStart|BillingPeriodEnd|ChargePeriodStart|ChargePeriodEnd|ChargeCategory|BillingCurrency|EffectiveCost|BilledCost|ServiceCategory|ServiceName|ChargeDescription|ResourceId|CommitmentDiscountId|CommitmentDiscountStatus
  AWS|111|2026-03-01T00:00:00Z|2026-04-01T00:00:00Z|2026-03-02T08:00:00Z|2026-03-02T09:00:00Z|Usage|USD|1.00|0|Compute|Savings Plans|p5.48xlarge, H100||sp-1|Unused`);

let fleet: FleetFolder;
beforeAll(async () => {
  fleet = await fleetFolder(FLEET);
});
afterAll(() => fleet.remove());

async function suggested(rules: RuleBook): Promise<string> {
  return withReader(
    fleet.dataDir,
    async (space) => {
      const window = ledgerWindow('all', space.scope?.horizon ?? new Date(0), space.scope);
      return suggestionYaml(await suggestRules(space, window, { top: 10 })).join('\n');
    },
    { rules },
  );
}

describe('rules that would catch the rest', () => {
  test('come from the other work of the same people and names, and parse as they are', async () => {
    const yaml = await suggested(NO_RULES);
    const { rules } = readConfig(yaml).rules ?? NO_RULES;
    const said = rules.map(({ when, set }) => [
      when
        .map(({ attribute, patterns }) => `${attribute.name} ${patterns.map(({ text }) => text).join('|')}`)
        .join(', '),
      JSON.stringify([...set]),
    ]);
    expect(said).toEqual(
      expect.arrayContaining([
        ['name train-*', JSON.stringify([['team', [{ literal: 'nlp' }]]])],
        ['user ada', JSON.stringify([['team', [{ literal: 'nlp' }]]])],
        ['user ^b\\*b\\: \\{x\\}$', JSON.stringify([['team', [{ literal: 'vision' }]]])],
        ['name train-*', JSON.stringify([['class', [{ literal: 'training' }]]])],
      ]),
    );
    expect(yaml).not.toContain('eve');
    // The team of kim is called {user}, which a rule would not take for a name.
    expect(yaml).not.toContain('kim');
  });

  test('and what they catch is what testing them says', async () => {
    const book = readConfig(await suggested(NO_RULES)).rules ?? NO_RULES;
    await withReader(
      fleet.dataDir,
      async (space) => {
        const window = ledgerWindow('all', space.scope?.horizon ?? new Date(0), space.scope);
        const before = await testRules(space, window, { book: NO_RULES });
        const after = await testRules(space, window, { book });
        // A GPU costs $48 a day; all eight are held, three by somebody with a team.
        expect(before).toMatchObject({ totalUsdMicros: 384_000_000n, ownedUsdMicros: 144_000_000n, moves: [] });
        expect(after.ownedUsdMicros).toBe(288_000_000n);
        expect(after.moves).toEqual([
          { from: null, to: 'nlp', usdMicros: 96_000_000n },
          { from: null, to: 'vision', usdMicros: 48_000_000n },
        ]);
        expect(after.unowned.map(({ text, usdMicros }) => [text, usdMicros])).toEqual([
          ['job, cluster a, namespace default, user eve', 48_000_000n],
          ['job, cluster a, namespace default, user kim', 48_000_000n],
        ]);
        expect(after.rules.every(({ usdMicros, subjects }) => usdMicros > 0n && subjects > 0)).toBe(true);
      },
      { rules: NO_RULES },
    );
  });

  test('propose what nobody used of a commitment as shared where no tag names its buyer', async () => {
    const billed = await fleetFolder({ ...FLEET, charges: UNUSED_COMMITMENT });
    try {
      const { shared } = await withReader(billed.dataDir, async (space) => {
        const window = ledgerWindow('all', space.scope?.horizon ?? new Date(0), space.scope);
        return suggestRules(space, window, { top: 10 });
      });
      expect(shared).toContainEqual(
        expect.objectContaining({
          name: 'unused sp-1',
          when: { what: 'resource', resource: 'sp-1' },
          usdMicros: 1_000_000n,
        }),
      );
    } finally {
      await billed.remove();
    }
  });
});
