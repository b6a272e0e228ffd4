import { isoTime } from './figures.ts';

/** How much of a cluster's held GPU time was measured, hour by hour. */
export interface FreshCluster {
  readonly cluster: string | null;
  readonly gpus: number;
  /** Permille of the held time that is known; null where nothing was held. */
  readonly hours: readonly (number | null)[];
  /** The end of the last hour of which something is known. */
  readonly knownUntil: Date | null;
  /** What the time costs of which nothing is known. */
  readonly unknownUsdMicros: bigint;
}

export interface Freshness {
  readonly from: Date;
  readonly until: Date;
  readonly clusters: readonly FreshCluster[];
}

/** What is in the folder of one table. Times are as the manifest has them: UTC, without saying so. */
export interface LoadedTable {
  readonly table: string;
  readonly batches: number;
  readonly rows: number;
  readonly firstAt: string | null;
  readonly newestAt: string | null;
}

const utc = (text: string | null): string | null => (text === null ? null : `${text.slice(0, 19).replace(' ', 'T')}Z`);

export function freshnessJson({ from, until, clusters }: Freshness): object {
  return {
    from: isoTime(from),
    until: isoTime(until),
    clusters: clusters.map(({ knownUntil, unknownUsdMicros, ...cluster }) => ({
      ...cluster,
      knownUntil: knownUntil === null ? null : isoTime(knownUntil),
      unknownUsdMicros: String(unknownUsdMicros),
    })),
  };
}

export function loadedTablesJson(tables: readonly LoadedTable[]): object[] {
  return tables.map(({ firstAt, newestAt, ...table }) => ({
    ...table,
    firstAt: utc(firstAt),
    newestAt: utc(newestAt),
  }));
}
