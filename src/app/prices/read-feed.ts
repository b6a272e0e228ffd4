import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { OperationError } from '../../facts/operation-error.ts';
import type { Engine } from '../../lake/engine.ts';
import type { InputFile } from '../../sources/files/incoming-part.ts';
import { explainReadFailure } from '../../sources/files/read-failure.ts';
import { dayOfFile, providerOfFile } from '../../sources/prices/feed-origin.ts';
import { feedRows } from '../../sources/prices/feed-rows.ts';
import type { PriceRole } from '../../sources/prices/price-columns.ts';
import type { PriceFeed } from '../../sources/prices/price-feed.ts';
import { openPriceFeed } from '../../sources/prices/price-feed.ts';
import { takeInput } from '../import-input.ts';

/** The table of the engine that the rows of all files of a command are read into. */
export const FEED_ROWS = 'price_feed_row';

export interface ReadFeedRequest {
  readonly path: string;
  /** The place of the file among those of the command. */
  readonly feed: number;
  readonly workDir: string;
  readonly engine: Engine;
  readonly stdin: NodeJS.ReadableStream;
  readonly writeFlat: (csv: string) => Promise<string>;
  readonly provider?: string;
  readonly asOf?: Date;
}

/** A price list whose rows were read. */
export interface ReadFeed {
  readonly feed: number;
  readonly file: string;
  readonly shape: string;
  /** Null where the rows name theirs. */
  readonly provider: string | null;
  /** The moment the list is of; null where the rows carry their own. */
  readonly asOf: string | null;
  /** What the prices of this list go by: the name of the file. */
  readonly source: string;
  readonly roles: { has(role: PriceRole): boolean };
  /** The file, where lines of it may have been set aside. */
  readonly rejectsOf: string | undefined;
  readonly notes: readonly string[];
}

/** Codes of files that are no price list, whatever else they are. */
const NO_LIST = new Set(['not-a-price-list', 'not-a-table', 'no-header', 'empty-file', 'not-what-its-name-says']);

export function isNoPriceList(failure: unknown): failure is OperationError {
  return failure instanceof OperationError && NO_LIST.has(failure.code);
}

/** Reads one price list into a table of the engine, beside those before it. */
export async function readFeed(request: ReadFeedRequest): Promise<ReadFeed> {
  const { engine, feed } = request;
  const input = await takeInput(request.path, request.workDir, feed, request.stdin);
  const opened = await openPriceFeed(input, request.writeFlat, (sql) => engine.rows(sql));
  const provider = providerFor(request, opened, input);
  const dated = await dateFor(request, opened, input);
  const source = basename(input.label).replace(/\.gz$/i, '');
  const select = feedRows(opened.file, opened.columns, {
    feed,
    asOf: dated.asOf,
    priceSource: source,
    ...(provider !== undefined && { provider }),
  });
  try {
    await engine.run(`INSERT INTO ${FEED_ROWS} ${select}`);
  } catch (failure) {
    throw await explainReadFailure(failure, input.path, input.label, opened.file);
  }
  return {
    feed,
    file: input.label,
    shape: opened.shape,
    provider: provider ?? null,
    asOf: opened.columns.byRole.has('as_of') ? null : dated.asOf,
    source,
    roles: opened.columns.byRole,
    rejectsOf: opened.setsAside ? input.path : undefined,
    notes: [...opened.notes, ...dated.notes],
  };
}

function providerFor(request: ReadFeedRequest, feed: PriceFeed, input: InputFile): string | undefined {
  if (request.provider !== undefined) return request.provider;
  if (feed.columns.byRole.has('provider')) return undefined;
  const provider = feed.provider ?? (input.isPiped ? undefined : providerOfFile(request.path));
  if (provider !== undefined) return provider;
  throw new OperationError('no-provider', `${input.label} does not say whose prices they are`, {
    hint: 'Name the provider: --provider aws.',
  });
}

/** When a list is from: what the person says, the list itself, its name, at last the day the file was written. */
async function dateFor(
  request: ReadFeedRequest,
  feed: PriceFeed,
  input: InputFile,
): Promise<{ asOf: string; notes: string[] }> {
  const text = (time: Date): string => time.toISOString().slice(0, 19).replace('T', ' ');
  const stated = request.asOf ?? feed.asOf;
  if (stated !== undefined) return { asOf: text(stated), notes: [] };
  const day = input.isPiped ? undefined : dayOfFile(request.path);
  if (day !== undefined) return { asOf: `${day} 00:00:00`, notes: [] };
  const written = text(input.isPiped ? new Date() : (await stat(request.path)).mtime);
  const isAsked = !feed.columns.byRole.has('as_of');
  const note = `dated by when the file was written, ${written.slice(0, 10)}; --as-of DATE says otherwise`;
  return { asOf: written, notes: isAsked ? [note] : [] };
}
