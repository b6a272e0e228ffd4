import { dollars, isoTime, minute, percentOfPermille } from './figures.ts';
import { safeText } from './safe-text.ts';
import { textTable } from './table.ts';

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

/** What the figures rest on, for the page and for programs. */
export function coverageJson(tables: readonly LoadedTable[], freshness: Freshness): object {
  return { tables: loadedTablesJson(tables), freshness: freshnessJson(freshness) };
}

/** The same for people: cluster by cluster how much was measured, then what is in the folder. */
export function coverageLines(tables: readonly LoadedTable[], { until, clusters }: Freshness): string[] {
  return [
    ...(clusters.length === 0 ? [] : ['', ...clusterTable(clusters), coverageNote(until)]),
    ...(tables.length === 0 ? [] : ['', ...loadedTable(tables)]),
  ];
}

function clusterTable(clusters: readonly FreshCluster[]): string[] {
  return textTable(
    [
      { align: 'left', title: 'CLUSTER' },
      { align: 'right', title: 'GPUS' },
      { align: 'right', title: 'MEASURED' },
      { align: 'left', title: 'TO' },
      { align: 'right', title: 'NOT KNOWN' },
    ],
    clusters.map(({ cluster, gpus, hours, knownUntil, unknownUsdMicros }) => {
      const known = knownPermille(hours);
      return [
        cluster === null ? 'no cluster' : safeText(cluster),
        gpus.toLocaleString('en-US'),
        known === null ? 'not held' : percentOfPermille(known),
        knownUntil === null ? 'never' : minute(knownUntil),
        dollars(unknownUsdMicros),
      ];
    }),
  );
}

function coverageNote(until: Date): string {
  return `Held GPU time that was measured in the 48 hours to ${minute(until)} UTC, to when, and what the rest costs.`;
}

/** Mean of the hours in which something was held; null where nothing was. */
function knownPermille(hours: FreshCluster['hours']): number | null {
  const held = hours.filter((each) => each !== null);
  return held.length === 0 ? null : Math.floor(held.reduce((sum, each) => sum + each, 0) / held.length);
}

function loadedTable(tables: readonly LoadedTable[]): string[] {
  const time = (text: string | null): string => text?.slice(0, 16) ?? '';
  return textTable(
    [
      { align: 'left', title: 'TABLE' },
      { align: 'right', title: 'ROWS' },
      { align: 'right', title: 'PARTS' },
      { align: 'left', title: 'FROM' },
      { align: 'left', title: 'TO' },
    ],
    tables.map(({ table, rows, batches, firstAt, newestAt }) => [
      table,
      rows.toLocaleString('en-US'),
      batches.toLocaleString('en-US'),
      time(firstAt),
      time(newestAt),
    ]),
  );
}

const utc = (text: string | null): string | null => (text === null ? null : `${text.slice(0, 19).replace(' ', 'T')}Z`);

function freshnessJson({ from, until, clusters }: Freshness): object {
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

function loadedTablesJson(tables: readonly LoadedTable[]): object[] {
  return tables.map(({ firstAt, newestAt, ...table }) => ({
    ...table,
    firstAt: utc(firstAt),
    newestAt: utc(newestAt),
  }));
}
