import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Context } from 'hono';
import { OperationError } from '../../facts/operation-error.ts';
import { isKnown, takesGzip } from './answer.ts';

interface Page {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly zipped: Uint8Array<ArrayBuffer> | undefined;
  readonly type: string;
  readonly etag: string;
  /** Its name changes with its content. */
  readonly isForEver: boolean;
}

export interface StaticPages {
  has(path: string): boolean;
  reply(context: Context): Response;
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.json': 'application/json',
  '.webmanifest': 'application/manifest+json',
  '.txt': 'text/plain; charset=utf-8',
  '.woff2': 'font/woff2',
};
/** These are small already. */
const PACKED = new Set(['.png', '.woff2']);

/**
 * The built pages, read once: an address is looked up in the list of them and never becomes a path. Addresses that name no file are the
 * page itself, which reads the rest of them.
 */
export function staticPages(webDir: string): StaticPages {
  const pages = new Map(filesUnder(webDir).map((path) => [addressOf(webDir, path), pageOf(webDir, path)]));
  const pageAt = (path: string): Page | undefined =>
    pages.get(path) ?? (isFileName(path) ? undefined : pages.get('/index.html'));
  const reply = (context: Context): Response => {
    const { path } = context.req;
    const page = pageAt(path);
    if (page === undefined) throw pages.size === 0 ? notBuilt() : noSuchPage(path);
    const headers = {
      ETag: page.etag,
      'Cache-Control': page.isForEver ? 'public, max-age=31536000, immutable' : 'no-cache',
      Vary: 'Accept-Encoding',
    };
    if (isKnown(context.req.header('if-none-match'), page.etag)) return context.body(null, 304, headers);
    const isZipped = page.zipped !== undefined && takesGzip(context);
    return context.body(isZipped ? page.zipped.buffer : page.body.buffer, 200, {
      ...headers,
      'Content-Type': page.type,
      ...(isZipped && { 'Content-Encoding': 'gzip' }),
    });
  };
  return { has: (path) => pageAt(path) !== undefined, reply };
}

/** Files lie in /assets and at the top. A dot further down is of a name: `/teams/ml.research` is a page. */
function isFileName(path: string): boolean {
  return path.startsWith('/assets/') || /^\/[^/]*\.[^/]*$/.test(path);
}

function filesUnder(folder: string): string[] {
  if (statSync(folder, { throwIfNoEntry: false }) === undefined) return [];
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

function addressOf(webDir: string, path: string): string {
  return `/${relative(webDir, path).split(sep).join('/')}`;
}

function pageOf(webDir: string, path: string): Page {
  const body = new Uint8Array(readFileSync(path));
  const ending = extname(path);
  return {
    body,
    zipped: PACKED.has(ending) ? undefined : new Uint8Array(gzipSync(body, { level: 9 })),
    type: TYPES[ending] ?? 'application/octet-stream',
    etag: `W/"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`,
    isForEver: addressOf(webDir, path).startsWith('/assets/'),
  };
}

function noSuchPage(path: string): OperationError {
  return new OperationError('no-such-page', `there is no ${path}`, { hint: 'The dashboard begins at /.' });
}

function notBuilt(): OperationError {
  return new OperationError('no-such-page', 'the dashboard is not built', {
    hint: 'npm run build makes it; the API works without: /api/v1/spend',
  });
}
