import type { Manifest } from '../../facts/manifest.ts';
import { ask } from '../../lake/ask.ts';
import type { Engine } from '../../lake/engine.ts';
import { quote } from '../../lake/engine.ts';
import type { JudgedFeed } from './judge-feeds.ts';

/** The last list of the same name and provider: what it was of, and how many prices it had. */
export interface FeedBefore {
  readonly provider: string;
  readonly asOf: string;
  readonly source: string;
  readonly prices: bigint;
}

/**
 * Question: what did the lists of these names hold before?
 *
 * Reads: price.
 */
export async function feedsBefore(
  space: { readonly engine: Engine; readonly dataDir: string; readonly manifest: Manifest },
  feeds: readonly JudgedFeed[],
): Promise<FeedBefore[]> {
  const snapshot = space.manifest.snapshot();
  const sources = [...new Set(feeds.filter(({ report }) => report.asOf !== null).map(({ source }) => source))];
  if (sources.length === 0 || !snapshot.batches.some(({ table }) => table === 'price')) return [];
  return ask<FeedBefore>(space.engine, space.dataDir, snapshot, [], {
    tables: [{ table: 'price' }],
    sql: `SELECT provider, price_source AS source, CAST(as_of AS VARCHAR) AS "asOf", count(*) AS prices FROM price
      WHERE price_source IN (${sources.map(quote).join(', ')}) GROUP BY provider, price_source, as_of ORDER BY as_of`,
  });
}

/** A feed that is empty or lost more than half broke; what it no longer lists keeps its last known price, with its age. */
export function lossNote({ report, source }: JudgedFeed, before: readonly FeedBefore[]): string | undefined {
  const { asOf, provider, prices } = report;
  const last = before.findLast(
    (each) => each.provider === provider && each.source === source && (asOf === null || each.asOf < asOf),
  );
  if (prices === 0) {
    const kept =
      last === undefined ? 'nothing was known before' : `the prices of ${last.asOf.slice(0, 10)} stay, with their age`;
    return `the feed is empty: ${kept}`;
  }
  if (last === undefined || BigInt(prices) * 2n >= last.prices) return undefined;
  return `the feed lost more than half: ${prices} prices, ${last.prices} on ${last.asOf.slice(0, 10)}; what is missing keeps its last known price`;
}
