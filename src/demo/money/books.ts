import type { Node, OrganisationDay, Scope } from '../organisation.ts';
import type { World } from '../world/world-schema.ts';
import { type Charge, billAt } from './bill.ts';
import { committedGpusOf } from './commitment.ts';
import { postMonth } from './monthly-charges.ts';
import { correctionsOf, postUsage } from './node-charges.ts';
import type { PeriodCost, Month, Page, Totals } from './page.ts';
import { addNodeTruth } from './truth.ts';

export { CHARGE_HEADER, type Charge } from './bill.ts';
export type { Totals } from './page.ts';
export { FX_HEADER, fxLines, RATE_HEADER, rateLines } from './rates.ts';
export { TRUTH_HEADER } from './truth.ts';

/** What the organisation is billed, and what for. */
export interface Books {
  /**
   * The rows that this day adds to the bills, and the truth about them as CSV lines; what they cost adds up to the same
   * micros, with the owned machines at their rate. Days come in their order, each once.
   */
  day(day: OrganisationDay): { readonly charges: readonly Charge[]; readonly truth: readonly string[] };
  /** What the days so far come to. */
  totals(): Readonly<Totals>;
}

export function createBooks(world: World, scope: Scope): Books {
  const months = new Map<string, Month>();
  const totals: Totals = { billedUsdMicros: 0, rateUsdMicros: 0, truthUsdMicros: 0, truthUsdMicrosByCategory: {} };
  let committedGpus: ReadonlyMap<string, number> | undefined;
  return {
    day: (day) => {
      committedGpus ??= committedGpusOf(day);
      const page: Page = { world, charges: [], truth: [], costs: new Map<Node, PeriodCost>(), totals };
      for (const provider of world.providers) {
        const key = `${provider.name}\n${provider.account}`;
        let month = months.get(key);
        if (month === undefined || month.bill.until <= day.from) {
          const bill = billAt(world, scope, provider, day.from);
          const corrections = correctionsOf(scope.seed, bill);
          month = { bill, corrections, billedMicros: 0, machinesMicros: 0, feeMicros: new Map() };
          months.set(key, month);
        }
        postUsage(page, month, day, committedGpus);
        if (day.until === month.bill.until) postMonth(page, month);
      }
      for (const node of day.nodes) addNodeTruth(page, day, node);
      return { charges: page.charges, truth: page.truth };
    },
    totals: () => ({ ...totals, truthUsdMicrosByCategory: { ...totals.truthUsdMicrosByCategory } }),
  };
}
