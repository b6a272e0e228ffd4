import type { BillFacts, Snapshot } from '../facts/manifest.ts';
import { providerKey } from '../facts/provider-name.ts';
import { addDays, dayOf, daysBetween, parseTime } from './calendar.ts';

/** What the facts as a whole say before a single row is read: how far they reach, and who speaks for what. */
export interface Scope {
  /** The newest fact: the ledger's "now", so that the same facts always give the same ledger. */
  readonly horizon: Date;
  /** The first fact about the fleet: where a node or device without a date begins. */
  readonly begin: Date;
  readonly days: readonly string[];
  /** Clusters that allocation sources speak for, each between two unit separators (U+001F, which no name has); `*` is all
   * of them, '' none. */
  readonly spoken: string;
  /** Of those, the ones whose scheduler was heard in a span only: cluster, from and until between separators (U+001F, U+001E). */
  readonly heard: string;
  readonly bills: readonly BillFacts[];
}

/** Undefined while there is no fact with a time. */
export function scopeOf(snapshot: Snapshot): Scope | undefined {
  const bills = snapshot.batches.flatMap((batch) => (batch.bill === undefined ? [] : [batch.bill]));
  const firsts = snapshot.batches.flatMap((batch) => (batch.firstAt === null ? [] : [batch.firstAt]));
  const newest = snapshot.batches.flatMap((batch) => (batch.newestAt === null ? [] : [batch.newestAt]));
  if (firsts.length === 0) return undefined;
  const first = firsts.reduce((a, b) => (a < b ? a : b));
  const horizon = parseTime([...newest, `${first.slice(0, 10)} 00:00:00`].reduce((a, b) => (a > b ? a : b)));
  const lastDays = [dayOf(new Date(horizon.getTime() - 1000)), ...bills.map((bill) => bill.lastDay)];
  const firstDay = [first.slice(0, 10), ...bills.map((bill) => bill.firstDay)].reduce((a, b) => (a < b ? a : b));
  const lastDay = [...lastDays, firstDay].reduce((a, b) => (a > b ? a : b));
  const ofFleet = snapshot.batches.filter(({ table }) => table !== 'charge').flatMap(({ firstAt }) => firstAt ?? []);
  const begin = parseTime([...ofFleet, ...(ofFleet.length === 0 ? firsts : [])].reduce((a, b) => (a < b ? a : b)));
  return {
    horizon,
    begin,
    days: daysBetween(firstDay, lastDay),
    spoken: spokenClusters(snapshot),
    heard: heardSpans(snapshot),
    bills,
  };
}

function spokenClusters(snapshot: Snapshot): string {
  const clusters = new Set(snapshot.batches.flatMap((batch) => batch.clusters ?? []));
  if (clusters.has(null)) return '*';
  return clusters.size === 0 ? '' : ['', ...[...clusters].map(String).toSorted(), ''].join('\u001f');
}

/**
 * The span each cluster's scheduler was heard in. A scheduler that is collected speaks by the one batch that says so, and not by its
 * rows, of which an empty cluster has none; one whose holdings came as files has said all it will say.
 */
function heardSpans({ batches }: Snapshot): string {
  const heard = batches.flatMap(({ name, clusters = [], spoken }) =>
    spoken === undefined ? [] : [{ name, clusters, spoken }],
  );
  const isCollected = (name: string): boolean => heard.some((each) => name.startsWith(sourcePrefix(each.name)));
  const forEver = new Set(batches.filter(({ name }) => !isCollected(name)).flatMap(({ clusters }) => clusters ?? []));
  if (forEver.has(null)) return '';
  const spans = new Map<string, { from: string; until: string }>();
  for (const { clusters, spoken } of heard) {
    for (const cluster of clusters) {
      if (cluster === null || forEver.has(cluster)) continue;
      const { from, until } = spans.get(cluster) ?? spoken;
      spans.set(cluster, {
        from: from < spoken.from ? from : spoken.from,
        until: until > spoken.until ? until : spoken.until,
      });
    }
  }
  return [...spans]
    .map(([cluster, { from, until }]) => `\u001f${cluster}\u001e${from}\u001e${until}`)
    .toSorted()
    .join('');
}

/** `hpc/` of `hpc/spoken`. */
function sourcePrefix(name: string): string {
  return name.slice(0, name.lastIndexOf('/') + 1);
}

/** The spans that do not cover a day, cut to it: how far the others reach changes nothing in it. */
export function heardOn(day: string, heard: string): string {
  const [start, end] = [`${day} 00:00:00`, `${addDays(day, 1)} 00:00:00`];
  const within = (time: string): string => (time < start ? start : time > end ? end : time);
  return heard
    .split('\u001f')
    .flatMap((entry) => {
      const [cluster = '', from = '', until = ''] = entry.split('\u001e');
      const isWhole = entry === '' || (from <= start && until >= end);
      return isWhole ? [] : [[cluster, within(from), within(until)].join('\u001e')];
    })
    .join('\u001f');
}

/** What bills say of a day: who is covered, up to which moment of it. */
export function coverageOn(day: string, bills: readonly BillFacts[]): string {
  const end = `${addDays(day, 1)} 00:00:00`;
  return bills
    .map(({ provider, billingAccount, coveredUntil }) => {
      const until = coveredUntil === null || coveredUntil < day ? '-' : coveredUntil < end ? coveredUntil : end;
      return `${providerKey(provider)}|${billingAccount}|${until}`;
    })
    .toSorted()
    .filter((line, index, lines) => line !== lines[index - 1])
    .join('\n');
}
