import type { OrganisationDay } from '../organisation.ts';
import { gpuTimeMicros } from './currency.ts';
import { type Month, type Page, post } from './page.ts';
import { gpusOf, type Period } from './period.ts';
import { commitmentIdOf } from './tariff.ts';

/** What the machines of a pool used of their commitment in a period. */
export interface Used {
  readonly gpuSeconds: number;
  readonly micros: number;
}

/** GPUs committed to, by the name of the pool: signed for the machines of the first day, and for more than those. */
export function committedGpusOf(firstDay: OrganisationDay): ReadonlyMap<string, number> {
  const committed = new Map<string, number>();
  for (const pool of firstDay.world.pools) {
    if (pool.purchase !== 'committed') continue;
    const nodes = firstDay.nodes.filter((node) => node.pool.name === pool.name);
    const gpus = nodes.reduce((sum, node) => sum + gpusOf(node), 0);
    // Nothing used at all would be a commitment without bounds.
    const usedPercent = Math.max(1, pool.commitment_used_percent ?? 100);
    committed.set(pool.name, Math.round((gpus * 100) / usedPercent));
  }
  return committed;
}

/** The rest of each commitment: what it costs in the period, less what machines used of it. */
export function postUnused(
  page: Page,
  month: Month,
  { from, until, tariffs }: Period,
  committedGpus: ReadonlyMap<string, number>,
  used: ReadonlyMap<string, Used>,
): void {
  for (const { pool, priceMicros, cells } of tariffs.values()) {
    if (pool.purchase !== 'committed') continue;
    const gpus = committedGpus.get(pool.name) ?? 0;
    const { gpuSeconds, micros } = used.get(pool.name) ?? { gpuSeconds: 0, micros: 0 };
    const leftS = gpus * (until - from) - gpuSeconds;
    const leftMicros = gpuTimeMicros(month.bill.currency, gpus, priceMicros, until - from) - micros;
    // Machines that use all of it leave at most a crumb of rounding, for which nobody writes a row.
    const unusedMicros = leftS > 0 ? Math.max(0, leftMicros) : 0;
    month.feeMicros.set(pool.name, (month.feeMicros.get(pool.name) ?? 0) + micros + unusedMicros);
    if (unusedMicros === 0) continue;
    const row = {
      ...cells,
      from,
      until,
      commitmentId: commitmentIdOf(pool),
      commitmentStatus: 'Unused',
      billedMicros: 0,
      effectiveMicros: unusedMicros,
      listMicros: 0,
      contractedMicros: 0,
      quantityMicros: Math.round((leftS * 1_000_000) / 3600),
      unit: 'GPU-Hours',
    } as const;
    post(page, month, row, 'commitment-unused');
  }
}
