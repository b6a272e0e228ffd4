import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Context } from 'hono';
import { checkTeam } from '../../app/known-owners.ts';
import type { Now } from '../../app/now.ts';
import type { Desk, DeskAnswer } from '../../app/serve/desk.ts';
import { OperationError } from '../../facts/operation-error.ts';
import { dataFlag } from '../../report/data-flag.ts';
import { shellWord } from '../../report/shell-word.ts';
import { ROWS_MAX } from '../cursor.ts';
import type { Route } from '../route.ts';
import { authorise } from './authority.ts';
import type { Identity } from './authority.ts';
import { queryKey, sentQuery, understood } from './read-asked.ts';
import type { Format } from './read-asked.ts';

const gzipped = promisify(gzip);
const GZIP_BYTES_MIN = 1400;

/** An answer as it is sent, and as it is kept. */
export interface Reply {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly zipped: Uint8Array<ArrayBuffer> | undefined;
  readonly type: string;
  readonly digest: string;
  readonly bytes: number;
  /** Of a table that is one page of more. */
  readonly nextCursor?: string;
}

export interface AnswerParts {
  readonly desk: Desk<Reply>;
  /** As it was named on the command line: commands to copy name it too. */
  readonly dataDir: string;
}

/** Answers a question over HTTP. */
export async function answerRoute(
  each: Route,
  { desk, dataDir }: AnswerParts,
  { viewer, who }: Identity,
  context: Context,
): Promise<Response> {
  const { query: sent, format, isWhole } = sentQuery(each, context);
  const query = understood(each.query, { ...sent, ...authorise(each.access, viewer, sent['team']) }, 'query');
  const params = understood(each.params, context.req.param(), 'path');
  const asOf = typeof query['asOf'] === 'string' ? new Date(query['asOf']) : undefined;
  const seen = { team: viewer.team };
  const told = await desk.ask({
    name: each.name,
    // A file that would be cut is refused, and the page of as many rows is not.
    key: queryKey(each, query, params, seen, format, isWhole),
    asOf,
    who,
    signal: context.req.raw.signal,
    isKept: each.fresh !== true,
    answer: async ({ space, now, clock, config }) => {
      const team = typeof query['team'] === 'string' ? query['team'] : undefined;
      await checkTeam(space, { team, config, tellsOthers: viewer.team === undefined });
      const asked = { space, now, clock, config, viewer: seen, query, params };
      if (each.bytes !== undefined) return replyOf(await each.bytes(asked), 'application/octet-stream');
      const answer = await each.answer(asked);
      if (format === 'csv') {
        const nextCursor = cursorOf(answer);
        if (isWhole && nextCursor !== undefined) throw tooLong();
        const reply = await replyOf(each.csv?.(answer) ?? '', 'text/csv; charset=utf-8');
        return nextCursor === undefined ? reply : { ...reply, nextCursor };
      }
      return replyOf(JSON.stringify(answer), 'application/json');
    },
  });
  return send(context, told, {
    ...(format === 'csv' && { 'Content-Disposition': `attachment; filename="${fileName(each, format)}"` }),
    ...(each.command !== undefined && {
      'X-Bursar-Command': headerText(
        wholeCommand(each.command(query, params), dataDir, momentOf(each, sent['asOf'], told.now)),
      ),
    }),
  });
}

/** An answer, ready to be sent and kept. */
export async function replyOf(content: string | Uint8Array, type: string): Promise<Reply> {
  const body = typeof content === 'string' ? new TextEncoder().encode(content) : new Uint8Array(content);
  const zipped = body.byteLength < GZIP_BYTES_MIN ? undefined : new Uint8Array(await gzipped(body, { level: 5 }));
  const digest = createHash('sha256').update(body).digest('base64url').slice(0, 22);
  return { body, zipped, type, digest, bytes: body.byteLength + (zipped?.byteLength ?? 0) };
}

/** Where the next page of a list begins. */
function cursorOf(answer: unknown): string | undefined {
  if (typeof answer !== 'object' || answer === null || !('nextCursor' in answer)) return undefined;
  return typeof answer.nextCursor === 'string' ? answer.nextCursor : undefined;
}

/** Nobody sees of a file that it was cut. */
function tooLong(): OperationError {
  return new OperationError('too-many-rows', `the table has more than ${ROWS_MAX.toLocaleString('en-US')} rows`, {
    hint:
      'Ask for less with filter or window, for pages with limit (X-Bursar-Next-Cursor is the cursor of the next), ' +
      'or on the command line, which has no limit.',
  });
}

function send(context: Context, told: DeskAnswer<Reply>, more: Readonly<Record<string, string>>): Response {
  const { value, generation } = told;
  // Weak: zipped or not, it is the same answer.
  const etag = `W/"${generation}-${value.digest}"`;
  const headers = {
    ETag: etag,
    'Cache-Control': 'private, no-cache',
    Vary: 'Accept-Encoding, Authorization, Cookie',
    'X-Bursar-Generation': String(generation),
    ...(value.nextCursor !== undefined && { 'X-Bursar-Next-Cursor': value.nextCursor }),
    ...more,
  };
  if (isKnown(context.req.header('if-none-match'), etag)) return context.body(null, 304, headers);
  const isZipped = value.zipped !== undefined && takesGzip(context);
  return context.body(isZipped ? value.zipped.buffer : value.body.buffer, 200, {
    ...headers,
    'Content-Type': value.type,
    ...(isZipped && { 'Content-Encoding': 'gzip' }),
  });
}

export function takesGzip(context: Context): boolean {
  return /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(context.req.header('accept-encoding') ?? '');
}

export function isKnown(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  const plain = (tag: string): string => tag.trim().replace(/^W\//, '');
  return header.split(',').some((tag) => tag.trim() === '*' || plain(tag) === plain(etag));
}

/** `getSpend` is told in bursar-spend.csv. */
function fileName({ name }: Route, format: Format): string {
  const words = name.replace(/^(get|list)/, '').replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return `bursar${words.startsWith('-') ? '' : '-'}${words}.${format}`;
}

/** Where now is the clock, the command is typed later than it is copied: it says which moment the figures are of. */
function momentOf(each: Route, asOf: string | undefined, { at, by }: Now): string | undefined {
  if (asOf !== undefined || by !== 'clock' || !('asOf' in each.query.shape)) return asOf;
  return `${at.toISOString().slice(0, 19)}Z`;
}

/** With the moment and the folder, where a route has not said them itself. */
function wholeCommand(command: string, dataDir: string, asOf: string | undefined): string {
  const moment = asOf === undefined || command.includes(' --as-of ') ? '' : ` --as-of ${shellWord(asOf)}`;
  const data = command.includes(' --data ') ? '' : dataFlag(dataDir);
  return `${command}${moment}${data}`;
}

/** A header holds ASCII: other letters, and the per cent sign, as in an address; decodeURIComponent gives the words back. */
function headerText(text: string): string {
  return text.replaceAll(/[^ -$&-~]/gu, (letter) => encodeURIComponent(letter));
}
