import { split } from '../decimal.ts';
import type { OracleEntry } from './entry.ts';

export type Category = 'stranded' | 'unallocated' | 'unknown' | 'idle' | 'computing' | 'beside';

/** A category's part of an entry. */
export interface OracleWaterfall {
  readonly entry: OracleEntry;
  readonly category: Category;
  readonly usd_micros: bigint | null;
  readonly gpu_units: bigint;
}

function rowsOf(entry: OracleEntry): OracleWaterfall[] {
  const { usd_micros, gpu_units } = entry;
  switch (entry.disposition) {
    case 'stranded':
    case 'unallocated':
      return [{ entry, category: entry.disposition, usd_micros, gpu_units }];
    case 'unmatched':
      return [{ entry, category: 'unknown', usd_micros, gpu_units }];
    case 'tax':
    case 'credit':
    case 'support':
    case 'rounding':
    case 'beside':
      return [{ entry, category: 'beside', usd_micros, gpu_units }];
    case 'held': {
      const { split_weight, split_computing, split_idle } = entry;
      // Without seconds behind it the money is unknown, not split evenly.
      const unknownWeight = split_weight === 0n ? 1n : split_weight - split_idle - split_computing;
      const byActivity = [unknownWeight, split_idle, split_computing];
      const [unknown, idle, computing] = split(usd_micros ?? 0n, byActivity).map((part) =>
        usd_micros === null ? null : part.part,
      );
      return [
        { entry, category: 'unknown', usd_micros: unknown ?? null, gpu_units: entry.unknown_units },
        { entry, category: 'idle', usd_micros: idle ?? null, gpu_units: entry.idle_units },
        { entry, category: 'computing', usd_micros: computing ?? null, gpu_units: entry.computing_units },
      ];
    }
  }
}

/** Each entry's micros and units by category; rows that carry nothing are left out. */
export function waterfallOf(entries: readonly OracleEntry[]): OracleWaterfall[] {
  return entries.flatMap(rowsOf).filter((row) => row.gpu_units !== 0n || (row.usd_micros ?? 0n) !== 0n);
}
