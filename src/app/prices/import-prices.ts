import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { priceTable } from '../../facts/price.ts';
import type { IncomingBatch } from '../../facts/incoming.ts';
import type { Manifest } from '../../facts/manifest.ts';
import { OperationError } from '../../facts/operation-error.ts';
import { providerKey } from '../../facts/provider-name.ts';
import { append } from '../../lake/append.ts';
import type { OnStep } from '../../lake/durable-file.ts';
import type { Engine } from '../../lake/engine.ts';
import { FEED_ROW_COLUMNS } from '../../sources/prices/feed-rows.ts';
import { storageFailure } from '../../state/storage-failure.ts';
import { makeWorkDir } from '../import.ts';
import type { FeedReport, JudgedFeed } from './judge-feeds.ts';
import { judgeFeeds } from './judge-feeds.ts';
import { FEED_ROWS, isNoPriceList, readFeed } from './read-feed.ts';
import type { ReadFeed } from './read-feed.ts';
import { feedsBefore, lossNote } from './price-feed-loss.ts';
import { priceFiles } from './price-files.ts';

export interface ImportPricesOptions {
  readonly dataDir: string;
  /** Files and folders; `-` is stdin. */
  readonly paths: readonly string[];
  readonly provider?: string;
  /** The day of lists that do not say theirs. */
  readonly asOf?: Date;
  readonly batch?: string;
  readonly dryRun?: boolean;
  readonly engine: Engine;
  readonly manifest: Manifest;
  readonly stdin?: NodeJS.ReadableStream;
  readonly onStep?: OnStep;
}

export interface PriceImportReport {
  readonly dryRun: boolean;
  readonly files: readonly FeedReport[];
  /** Files of a folder that are no price lists, with the reason. */
  readonly notPriceLists: readonly { readonly file: string; readonly reason: string }[];
  readonly batches: readonly string[];
  readonly rowsReplaced: number;
}

/**
 * Takes price lists into the lake, in whatever format they come. What was taken, what has no price, what is not believed
 * and what was left out adds up to the rows of each file.
 */
export async function importPrices(options: ImportPricesOptions): Promise<PriceImportReport> {
  // A second thread over lists as small as these costs half as much CPU again, and saves next to no time.
  const [threads] = await options.engine.rows<{ now: bigint }>(
    `SELECT CAST(current_setting('threads') AS BIGINT) AS now`,
  );
  await options.engine.run('SET threads = 1');
  try {
    return await takeLists(options);
  } finally {
    await options.engine.run(`SET threads = ${threads?.now ?? 1n}`);
  }
}

async function takeLists(options: ImportPricesOptions): Promise<PriceImportReport> {
  const dryRun = options.dryRun ?? false;
  try {
    const workDir = await makeWorkDir(options.dataDir, dryRun);
    try {
      await options.engine.run(`CREATE OR REPLACE TEMP TABLE ${FEED_ROWS} (${FEED_ROW_COLUMNS})`);
      const { read, notPriceLists } = await readFeeds(options, workDir);
      const feeds = await judgeFeeds(options.engine, read);
      const before = await feedsBefore(options, feeds);
      const files = feeds.map((feed) => {
        const note = lossNote(feed, before);
        return note === undefined ? feed.report : { ...feed.report, notes: [...feed.report.notes, note] };
      });
      const batches = groupBatches(feeds, options.batch);
      const { rowsReplaced } = await append(options.engine, options.dataDir, options.manifest, {
        table: priceTable,
        batches,
        workDir,
        dryRun,
        ...(options.onStep !== undefined && { onStep: options.onStep }),
      });
      return { dryRun, files, notPriceLists, batches: batches.map(({ name }) => name), rowsReplaced };
    } finally {
      await rm(workDir, { recursive: true, force: true });
    }
  } catch (failure) {
    throw storageFailure(failure, options.dataDir);
  }
}

async function readFeeds(
  options: ImportPricesOptions,
  workDir: string,
): Promise<{ read: ReadFeed[]; notPriceLists: PriceImportReport['notPriceLists'] }> {
  const read: ReadFeed[] = [];
  const notPriceLists: { file: string; reason: string }[] = [];
  for (const [feed, { path, isNamed }] of (await priceFiles(options.paths)).entries()) {
    try {
      read.push(
        await readFeed({
          path,
          feed,
          workDir,
          engine: options.engine,
          stdin: options.stdin ?? process.stdin,
          writeFlat: async (csv) => {
            const flat = join(workDir, `flat-${feed}.csv`);
            await writeFile(flat, csv);
            return flat;
          },
          ...(options.provider !== undefined && { provider: providerKey(options.provider) }),
          ...(options.asOf !== undefined && { asOf: options.asOf }),
        }),
      );
    } catch (failure) {
      // A folder of catalogs has images, quotas and notes beside the prices; a file somebody named is meant to be one.
      if (isNamed || !isNoPriceList(failure)) throw failure;
      notPriceLists.push({ file: path, reason: failure.message });
    }
  }
  if (read.length === 0) {
    throw new OperationError('not-a-price-list', `no price list in ${options.paths.join(', ')}`, {
      hint: 'bursar import prices FILE|DIR…; docs/sources/prices.md has the formats.',
    });
  }
  return { read, notPriceLists };
}

/** A list without dates is a batch for each day, so that the next one adds to it; an empty one replaces nothing. */
function groupBatches(feeds: readonly JudgedFeed[], name: string | undefined): IncomingBatch[] {
  const filled = feeds.filter(({ report }) => report.prices > 0);
  const whole = (batch: string, members: readonly JudgedFeed[]): IncomingBatch => ({
    name: batch,
    importedFrom: members.map(({ report }) => report.file).join(', '),
    priority: 0,
    parts: members.map(({ part }) => part),
  });
  if (name !== undefined) return filled.length === 0 ? [] : [whole(name, filled)];
  const byName = new Map<string, JudgedFeed[]>();
  for (const feed of filled) {
    const { report, source } = feed;
    const day = report.asOf === null ? '' : `@${report.asOf.slice(0, 10)}`;
    const batch = `${report.provider ?? 'prices'} ${source}${day}`;
    byName.set(batch, [...(byName.get(batch) ?? []), feed]);
  }
  return [...byName].map(([batch, members]) => whole(batch, members));
}
