import { createHash, randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { S3Client, _Object as S3Object } from '@aws-sdk/client-s3';
import { OperationError } from '../../facts/operation-error.ts';
import type { ExportStore, StoredFile } from './find-exports.ts';

export interface S3Options {
  readonly endpoint?: string;
  readonly region?: string;
  readonly profile?: string;
  /** How long a server may say nothing. */
  readonly timeoutMs?: number;
}

interface S3File extends StoredFile {
  readonly etag: string;
}

const OBJECTS_MAX = 100_000;
const TEXT_BYTES_MAX = 20_000_000;
const TIMEOUT_MS = 30_000;
const CONNECT_MS = 5_000;
const ATTEMPTS = 3;

/**
 * Bills below a prefix of an S3 bucket. Objects are downloaded whole into a cache, by key and ETag, so that a second command reads
 * nothing twice; one that changes while it is read is noticed. Asked: s3:ListBucket and s3:GetObject, nothing else.
 */
export async function s3Store(place: string, cacheDir: string, options: S3Options): Promise<ExportStore> {
  const { bucket, prefix } = addressOf(place);
  // It would speak of Node versions on the user's terminal.
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true';
  const sdk = await import('@aws-sdk/client-s3');
  const client = await openClient(sdk.S3Client, options);
  const patienceMs = options.timeoutMs ?? TIMEOUT_MS;
  const guarded = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work();
    } catch (failure) {
      throw explain(failure, place, bucket);
    }
  };
  const get = (file: S3File): Promise<Readable> =>
    guarded(async () => {
      const { Body: body } = await client.send(
        new sdk.GetObjectCommand({ Bucket: bucket, Key: prefix.folder + file.key, IfMatch: file.etag }),
      );
      if (!(body instanceof Readable)) throw new Error('the answer of S3 is not a stream');
      return Readable.from(flowing(body, patienceMs), { objectMode: false });
    });
  const files = new Map<string, S3File>();
  const known = ({ key }: StoredFile): S3File => {
    const file = files.get(key);
    if (file === undefined) throw new Error(`${key} was not listed`);
    return file;
  };
  return {
    place,
    list: () =>
      guarded(async () => {
        let token: string | undefined;
        do {
          const page = await client.send(
            new sdk.ListObjectsV2Command({
              Bucket: bucket,
              Prefix: prefix.whole,
              ...(token !== undefined && { ContinuationToken: token }),
            }),
            // The handler's own limit ends with the headers: a list that stalls after them would be waited for without end.
            { abortSignal: AbortSignal.timeout(patienceMs * ATTEMPTS) },
          );
          for (const object of page.Contents ?? []) keep(files, object, prefix.folder);
          if (files.size > OBJECTS_MAX) throw tooMany(place);
          token = page.NextContinuationToken;
        } while (token !== undefined);
        return [...files.values()];
      }),
    text: async (file) => {
      if (file.bytes > TEXT_BYTES_MAX) throw new Error(`${file.key} is too large for a text`);
      const chunks: Buffer[] = [];
      const body = await get(known(file));
      await guarded(async () => {
        for await (const chunk of body) chunks.push(Buffer.from(chunk as Uint8Array));
      });
      return Buffer.concat(chunks).toString('utf8');
    },
    fetch: (file) => download(known(file), `${bucket}/${prefix.folder}${file.key}`, cacheDir, get, guarded),
  };
}

/** The chunks of a body; one that nothing comes from any more is given up. */
async function* flowing(body: Readable, patienceMs: number): AsyncGenerator<Uint8Array> {
  const stalled = Object.assign(new Error(`nothing came for ${patienceMs / 1000} s`), { name: 'TimeoutError' });
  const timer = setTimeout(() => body.destroy(stalled), patienceMs);
  try {
    for await (const chunk of body) {
      yield chunk as Uint8Array;
      timer.refresh();
    }
  } finally {
    clearTimeout(timer);
  }
}

/** `s3://bucket/a/b` may be an object, or the beginning of keys; keys are told below the last slash of it. */
function addressOf(place: string): { bucket: string; prefix: { whole: string; folder: string } } {
  const match = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,62})(?:\/(.*))?$/i.exec(place);
  const [, bucket, whole = ''] = match ?? [];
  if (bucket === undefined) {
    throw new OperationError('bad-address', `${place} is not an address like s3://bucket/prefix/`, {
      hint: 'Name the bucket and the prefix.',
    });
  }
  return { bucket, prefix: { whole, folder: whole.slice(0, whole.lastIndexOf('/') + 1) } };
}

function keep(files: Map<string, S3File>, object: S3Object, folder: string): void {
  const { Key: full, Size: bytes = 0, ETag: etag = '', LastModified: modifiedAt = new Date(0) } = object;
  if (full === undefined || full.endsWith('/')) return;
  const key = full.slice(folder.length);
  files.set(key, { key, bytes, etag, modifiedAt });
}

async function openClient(Client: typeof S3Client, options: S3Options): Promise<S3Client> {
  const endpoint = options.endpoint ?? process.env['AWS_ENDPOINT_URL_S3'] ?? process.env['AWS_ENDPOINT_URL'];
  const { fromNodeProviderChain } = await import('@aws-sdk/credential-providers');
  return new Client({
    region: options.region ?? process.env['AWS_REGION'] ?? process.env['AWS_DEFAULT_REGION'] ?? 'us-east-1',
    // A bucket of another region than the one that is set is followed there.
    followRegionRedirects: true,
    maxAttempts: ATTEMPTS,
    credentials: fromNodeProviderChain({
      ...(options.profile !== undefined && { profile: options.profile }),
      timeout: CONNECT_MS,
    }),
    requestHandler: {
      connectionTimeout: CONNECT_MS,
      requestTimeout: options.timeoutMs ?? TIMEOUT_MS,
      throwOnRequestTimeout: true,
    },
    // Servers that are not AWS have no address of their own for each bucket.
    ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
  });
}

/** Written aside and renamed: what is under its name is whole. Other versions of the object go. */
async function download(
  file: S3File,
  name: string,
  cacheDir: string,
  get: (file: S3File) => Promise<Readable>,
  guarded: <Result>(work: () => Promise<Result>) => Promise<Result>,
): Promise<string> {
  const folder = join(cacheDir, createHash('sha256').update(name).digest('hex').slice(0, 32));
  const version = file.etag.replaceAll(/[^0-9a-z-]/gi, '') || 'no-etag';
  const path = join(folder, version, basename(file.key));
  const there = await stat(path).catch(() => undefined);
  if (there?.size === file.bytes && version !== 'no-etag') return path;
  await mkdir(join(folder, version), { recursive: true });
  const aside = join(folder, `${randomBytes(6).toString('hex')}.part`);
  try {
    const body = await get(file);
    await guarded(() => pipeline(body, createWriteStream(aside)));
    const { size } = await stat(aside);
    if (size !== file.bytes) {
      throw new OperationError('truncated-file', `s3://${name} came with ${size} of ${file.bytes} bytes`, {
        hint: 'Try again: the connection was cut.',
      });
    }
    await utimes(aside, file.modifiedAt, file.modifiedAt);
    await rename(aside, path);
  } finally {
    await rm(aside, { force: true });
  }
  for (const other of await readdir(folder)) {
    if (other !== version) await rm(join(folder, other), { recursive: true, force: true });
  }
  return path;
}

function tooMany(place: string): OperationError {
  return new OperationError('too-many-files', `${place} has more than ${OBJECTS_MAX} objects`, {
    hint: 'Name the prefix of one export: s3://bucket/prefix/export-name/.',
  });
}

/** What the failure means to a person; credentials and addresses with secrets are not told. */
function explain(failure: unknown, place: string, bucket: string): unknown {
  if (failure instanceof OperationError) return failure;
  const name = failure instanceof Error ? failure.name : '';
  const code = failure instanceof Error && 'code' in failure ? String(failure.code) : '';
  const status = httpStatus(failure);
  const told = (kind: string, what: string, hint: string): OperationError =>
    new OperationError(kind, `${place}: ${what}`, { hint, cause: failure });
  if (name === 'CredentialsProviderError' || /credential/i.test(failure instanceof Error ? failure.message : '')) {
    return told(
      'no-credentials',
      'no AWS credentials were found',
      'Set AWS_PROFILE or --profile, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.',
    );
  }
  if (name === 'NoSuchBucket')
    return told('no-such-bucket', `there is no bucket ${bucket}`, 'Check its name and --region.');
  if (name === 'PreconditionFailed' || status === 412) {
    return told(
      'changed-while-read',
      'an object was replaced while it was read',
      'Run the command again: a new delivery has just come.',
    );
  }
  if (name === 'NoSuchKey')
    return told('missing-part', 'an object vanished while it was read', 'Run the command again.');
  if (
    ['AccessDenied', 'Forbidden', 'InvalidAccessKeyId', 'SignatureDoesNotMatch', 'ExpiredToken'].includes(name) ||
    status === 403
  ) {
    return told(
      'denied',
      `these credentials may not read it (${name || 'denied'})`,
      'They need s3:ListBucket and s3:GetObject; docs/sources/bills.md has the policy.',
    );
  }
  if (
    name === 'TimeoutError' ||
    name === 'AbortError' ||
    ['ECONNREFUSED', 'ENOTFOUND', 'ETIMEDOUT', 'ECONNRESET', 'EHOSTUNREACH'].includes(code)
  ) {
    return told('unreachable', `S3 does not answer (${code || name})`, 'Check the network, --region and --endpoint.');
  }
  // A proxy or another server may answer with a bare status, in words that are not those of S3.
  if (status !== undefined && status >= 400) {
    const hint = status >= 500 ? 'Try again later.' : 'Check the bucket, --region and --endpoint.';
    return told('refused-by-server', `the server answered with HTTP ${status}`, hint);
  }
  return failure;
}

function httpStatus(failure: unknown): number | undefined {
  if (!(failure instanceof Error) || !('$metadata' in failure)) return undefined;
  const metadata = failure.$metadata;
  return typeof metadata === 'object' && metadata !== null && 'httpStatusCode' in metadata
    ? Number(metadata.httpStatusCode)
    : undefined;
}
