import type { IncomingPart } from '../../facts/incoming.ts';
import { storedColumns } from '../../facts/incoming.ts';
import { priceTable } from '../../facts/price.ts';
import type { Engine } from '../../lake/engine.ts';
import { feedPrices } from '../../sources/prices/feed-prices.ts';
import { rejectedLines } from '../../sources/prices/price-feed.ts';
import { FEED_ROWS } from './read-feed.ts';
import type { ReadFeed } from './read-feed.ts';

const FEED_PRICES = 'price_feed';
const SAME_AGAIN = 'the same price again';

interface SkippedRows {
  readonly reason: string;
  readonly rows: number;
  readonly example: string;
}

/** What became of the rows of one file: `taken + withoutPrice + flagged + skipped` are its rows. */
export interface FeedReport {
  readonly file: string;
  readonly shape: string;
  readonly provider: string | null;
  readonly asOf: string | null;
  readonly rows: number;
  readonly taken: number;
  readonly withoutPrice: number;
  /** Rows of which a price is kept, and not believed. */
  readonly flagged: number;
  readonly skipped: readonly SkippedRows[];
  /** Prices the rows hold, one for each way to buy. */
  readonly prices: number;
  readonly flags: readonly { readonly flag: string; readonly prices: number; readonly example: string }[];
  readonly notes: readonly string[];
}

export interface JudgedFeed {
  readonly source: string;
  readonly report: FeedReport;
  readonly part: IncomingPart;
}

/** Question: which prices do the files hold that were read, and what became of each of their rows? */
export async function judgeFeeds(engine: Engine, feeds: readonly ReadFeed[]): Promise<JudgedFeed[]> {
  const names = await engine.rows<{ name: string }>(
    `SELECT DISTINCT accelerator AS name FROM ${FEED_ROWS} WHERE accelerator <> ''`,
  );
  const select = feedPrices(
    FEED_ROWS,
    names.map(({ name }) => name),
    { has: (role) => feeds.some(({ roles }) => roles.has(role)) },
  );
  await engine.run(`CREATE OR REPLACE TEMP TABLE ${FEED_PRICES} AS ${select}`);
  const classes = await rowClasses(engine);
  const flags = await priceFlags(engine);
  const judged: JudgedFeed[] = [];
  for (const { feed, source, roles: _roles, rejectsOf, ...about } of feeds) {
    const own = classes.filter((each) => each.feed === feed);
    const rejected = rejectsOf === undefined ? undefined : await rejects(engine, rejectsOf);
    const of = (what: string): number =>
      own.filter((each) => each.what === what).reduce((sum, { rows }) => sum + Number(rows), 0);
    const skipped = own.filter(({ what }) => what === 'skipped');
    const ownFlags = flags.filter((each) => each.feed === feed);
    judged.push({
      source,
      part: partOf(about.file, feed),
      report: {
        ...about,
        rows: own.reduce((sum, each) => sum + Number(each.rows), 0) + (rejected?.rows ?? 0),
        taken: of('taken'),
        withoutPrice: of('without'),
        flagged: of('flagged'),
        skipped: [
          ...skipped.map(({ reason, rows, example }) => ({ reason: reason ?? '', rows: Number(rows), example })),
          ...(rejected === undefined ? [] : [rejected]),
        ],
        prices: ownFlags.reduce((sum, each) => sum + Number(each.prices), 0),
        flags: ownFlags.flatMap(({ flag, prices, example }) =>
          flag === null ? [] : [{ flag, prices: Number(prices), example }],
        ),
      },
    });
  }
  return judged;
}

interface RowClass {
  readonly feed: number;
  readonly what: 'taken' | 'without' | 'flagged' | 'skipped';
  readonly reason: string | null;
  readonly rows: bigint;
  readonly example: string;
}

function rowClasses(engine: Engine): Promise<RowClass[]> {
  return engine.rows<RowClass>(`
    SELECT feed, what, reason, count(*) AS rows, 'row ' || min(feed_row) || ' ' || min_by(example, feed_row) AS example FROM (
      SELECT r.feed, r.feed_row, CASE WHEN r.skip IS NOT NULL THEN r.skip WHEN p.kept = 0 THEN '${SAME_AGAIN}' END AS reason,
             CASE WHEN r.skip IS NOT NULL THEN 'skipped' WHEN p.kept IS NULL THEN 'without' WHEN p.kept = 0 THEN 'skipped'
                  WHEN p.flagged > 0 THEN 'flagged' ELSE 'taken' END AS what,
             concat_ws(' ', nullif(r.instance_type, ''), nullif(r.accelerator, ''), r.region) AS example
      FROM ${FEED_ROWS} r LEFT JOIN (
        SELECT feed, feed_row, count(*) FILTER (WHERE is_kept) AS kept, count(flag) FILTER (WHERE is_kept) AS flagged
        FROM ${FEED_PRICES} GROUP BY feed, feed_row) p ON r.feed = p.feed AND r.feed_row = p.feed_row)
    GROUP BY feed, what, reason ORDER BY rows DESC, reason`);
}

function priceFlags(engine: Engine): Promise<{ feed: number; flag: string | null; prices: bigint; example: string }[]> {
  return engine.rows(`
    SELECT feed, CAST(NULL AS VARCHAR) AS flag, count(*) AS prices, '' AS example
    FROM ${FEED_PRICES} WHERE is_kept AND flag IS NULL GROUP BY feed
    UNION ALL
    SELECT feed, flag, count(*), min_by(concat_ws(' ', nullif(instance_type, ''), nullif(accelerator, ''), region, purchase,
             '$' || rtrim(rtrim(CAST(usd AS VARCHAR), '0'), '.')), feed_row)
    FROM ${FEED_PRICES} WHERE is_kept AND flag IS NOT NULL GROUP BY feed, flag ORDER BY prices DESC, flag`);
}

async function rejects(engine: Engine, path: string): Promise<SkippedRows | undefined> {
  const [found] = await engine.rows<{ rows: bigint; example: string | null; line: bigint | null }>(rejectedLines(path));
  if (found === undefined || found.rows === 0n) return undefined;
  return {
    reason: 'its fields are not those of the header',
    rows: Number(found.rows),
    example: `line ${found.line}: ${(found.example ?? '').slice(0, 60)}`,
  };
}

/** The prices of a feed as rows of the lake. They were judged already, so there is nothing left to refuse. */
function partOf(label: string, feed: number): IncomingPart {
  const columns = storedColumns(priceTable).map(({ name, type }) => {
    const from = name === 'usd_per_hour' ? 'usd' : name === 'observed_at' ? 'as_of' : name;
    return `CAST(${from} AS ${type}) AS ${name}`;
  });
  return {
    label,
    select: `SELECT ${columns.join(', ')} FROM ${FEED_PRICES} WHERE feed = ${feed} AND is_kept`,
    rereadable: true,
    isTable: true,
    clean: true,
    known: new Set(['observed_at', 'usd_per_hour']),
    inRange: new Set(),
    given: new Set(),
    origins: new Map(),
    place: (row) => Promise.resolve(`${label}, price ${row}`),
    explain: (failure) => Promise.resolve(failure),
  };
}
