import { split } from '../decimal.ts';
import { HOUR_S } from '../organisation.ts';
import type { OracleEntry } from './entry.ts';
import type { Fate } from './fate.ts';

export type Category = 'stranded' | 'unallocated' | 'unknown' | 'idle' | 'starved' | 'lost' | 'computing' | 'beside';

/** A category's part of an entry. */
export interface OracleWaterfall {
  readonly entry: OracleEntry;
  readonly category: Category;
  readonly reason: string | null;
  readonly usd_micros: bigint | null;
  readonly marginal_usd_micros: bigint | null;
  readonly gpu_units: bigint;
}

function rowsOf(entry: OracleEntry): OracleWaterfall[] {
  const { usd_micros, marginal_usd_micros, gpu_units, reason } = entry;
  switch (entry.disposition) {
    case 'stranded':
    case 'unallocated':
      return [{ entry, category: entry.disposition, reason, usd_micros, marginal_usd_micros, gpu_units }];
    case 'unmatched':
      return [{ entry, category: 'unknown', reason, usd_micros, marginal_usd_micros, gpu_units }];
    case 'tax':
    case 'credit':
    case 'support':
    case 'rounding':
    case 'beside':
      return [{ entry, category: 'beside', reason, usd_micros, marginal_usd_micros, gpu_units }];
    case 'held':
      return partsOf(entry);
  }
}

/** The parts of a held entry, in the order in which its money is split. */
function partsOf(entry: OracleEntry): OracleWaterfall[] {
  const { split_weight, split_computing, split_idle, split_pause, split_gap, split_exchange } = entry;
  const isServing = entry.manner === 'serving';
  const parts: readonly { category: Category; reason: string | null; weight: bigint }[] = [
    { category: 'unknown', reason: null, weight: split_weight - split_idle - split_computing },
    { category: 'idle', reason: entry.idle_reason, weight: split_idle - split_pause },
    { category: 'idle', reason: 'between-requests', weight: isServing ? split_gap : 0n },
    { category: 'starved', reason: 'pause', weight: split_pause },
    { category: 'starved', reason: 'gap', weight: isServing ? 0n : split_gap },
    { category: 'starved', reason: 'exchange', weight: split_exchange },
    { category: 'computing', reason: entry.computing_reason, weight: split_computing - split_gap - split_exchange },
  ];
  // Without seconds behind it the money is unknown, not split evenly.
  const weights = parts.map(({ weight }, index) => (split_weight === 0n && index === 0 ? 1n : weight));
  const moneyOf = (micros: bigint | null): (bigint | null)[] =>
    split(micros ?? 0n, weights).map((part) => (micros === null ? null : part.part));
  const [prices, marginals] = [moneyOf(entry.usd_micros), moneyOf(entry.marginal_usd_micros)];
  return parts.map(({ category, reason, weight }, index) => ({
    entry,
    category,
    reason,
    usd_micros: prices[index] ?? null,
    marginal_usd_micros: marginals[index] ?? null,
    gpu_units: entry.gpu_units === 0n ? 0n : weight,
  }));
}

/** A computing row in two where its attempt's work is lost from some moment on, by the attempt's seconds in the hour. */
function byFate(row: OracleWaterfall, fateOf: FateOf): OracleWaterfall[] {
  const { source, allocation_id, attempt, hour_start } = row.entry;
  if (row.category !== 'computing' || source === null || allocation_id === null || attempt === null) return [row];
  const fate = fateOf({ source, allocation_id, attempt }, hour_start);
  const hour_end = hour_start + HOUR_S;
  if (fate === undefined || fate.lost_from >= hour_end || fate.until <= hour_start) return [row];
  const [from, until] = [Math.max(hour_start, fate.from), Math.min(hour_end, fate.until)];
  const weights = [until - Math.max(from, fate.lost_from), Math.max(from, fate.lost_from) - from].map(BigInt);
  const parts = (total: bigint): bigint[] => split(total, weights).map(({ part }) => part);
  const prices = row.usd_micros === null ? [] : parts(row.usd_micros);
  const marginals = row.marginal_usd_micros === null ? [] : parts(row.marginal_usd_micros);
  const units = parts(row.gpu_units);
  const part = (index: number) => ({
    usd_micros: prices[index] ?? null,
    marginal_usd_micros: marginals[index] ?? null,
    gpu_units: units[index] ?? 0n,
  });
  return [
    { ...row, category: 'lost', reason: fate.outcome, ...part(0) },
    { ...row, ...part(1) },
  ];
}

type FateOf = (
  holder: { readonly source: string; readonly allocation_id: string; readonly attempt: number },
  time: number,
) => Fate | undefined;

/** Each entry's micros and units by category; rows that carry nothing are left out. */
export function waterfallOf(entries: readonly OracleEntry[], fateOf: FateOf): OracleWaterfall[] {
  const carries = (row: OracleWaterfall): boolean =>
    row.gpu_units !== 0n || (row.usd_micros ?? 0n) !== 0n || (row.marginal_usd_micros ?? 0n) !== 0n;
  return entries
    .flatMap(rowsOf)
    .flatMap((row) => byFate(row, fateOf))
    .filter(carries);
}
