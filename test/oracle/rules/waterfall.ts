import { split } from '../decimal.ts';
import type { OracleEntry } from './entry.ts';

export type Category = 'stranded' | 'unallocated' | 'unknown' | 'idle' | 'computing' | 'beside';

/** A category's part of an entry. */
export interface OracleWaterfall {
  readonly entry: OracleEntry;
  readonly category: Category;
  readonly usd_micros: bigint | null;
  readonly marginal_usd_micros: bigint | null;
  readonly gpu_units: bigint;
}

function rowsOf(entry: OracleEntry): OracleWaterfall[] {
  const { usd_micros, marginal_usd_micros, gpu_units } = entry;
  switch (entry.disposition) {
    case 'stranded':
    case 'unallocated':
      return [{ entry, category: entry.disposition, usd_micros, marginal_usd_micros, gpu_units }];
    case 'unmatched':
      return [{ entry, category: 'unknown', usd_micros, marginal_usd_micros, gpu_units }];
    case 'tax':
    case 'credit':
    case 'support':
    case 'rounding':
    case 'beside':
      return [{ entry, category: 'beside', usd_micros, marginal_usd_micros, gpu_units }];
    case 'held': {
      const { split_weight, split_computing, split_idle } = entry;
      // Without seconds behind it the money is unknown, not split evenly.
      const unknownWeight = split_weight === 0n ? 1n : split_weight - split_idle - split_computing;
      const byActivity = [unknownWeight, split_idle, split_computing];
      const partsOf = (micros: bigint | null): (bigint | null)[] =>
        split(micros ?? 0n, byActivity).map((part) => (micros === null ? null : part.part));
      const [prices, marginals] = [partsOf(usd_micros), partsOf(marginal_usd_micros)];
      const units = [entry.unknown_units, entry.idle_units, entry.computing_units];
      return (['unknown', 'idle', 'computing'] as const).map((category, index) => ({
        entry,
        category,
        usd_micros: prices[index] ?? null,
        marginal_usd_micros: marginals[index] ?? null,
        gpu_units: units[index] ?? 0n,
      }));
    }
  }
}

/** Each entry's micros and units by category; rows that carry nothing are left out. */
export function waterfallOf(entries: readonly OracleEntry[]): OracleWaterfall[] {
  const carries = (row: OracleWaterfall): boolean =>
    row.gpu_units !== 0n || (row.usd_micros ?? 0n) !== 0n || (row.marginal_usd_micros ?? 0n) !== 0n;
  return entries.flatMap(rowsOf).filter(carries);
}
