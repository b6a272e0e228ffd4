import { OperationError } from '../../facts/operation-error.ts';
import { httpJson } from '../http/http-get.ts';
import { accountedJob, queuedJob } from './parse/job-json.ts';
import { at, listOf, numberOf, objectOf, textOf } from './parse/json-value.ts';
import { nodeFromJson } from './parse/slurm-node.ts';
import { NO_ACCOUNTING, sorted } from './slurm-reader.ts';
import type { SlurmReader } from './slurm-reader.ts';

export interface RestOptions {
  /** `http(s)://host:port` or `unix:///path/of/the.sock`. */
  readonly url: string;
  readonly user?: string;
  readonly token?: string;
}

export interface SlurmRest extends SlurmReader {
  /** The newest version of the interface both daemons speak, e.g. 42 for v0.0.42. */
  version(signal: AbortSignal): Promise<number>;
  /** The release of Slurm: `24.11.5`. */
  release(signal: AbortSignal): Promise<string | undefined>;
  /** Whether every life of a requeued job is told, or only its last. */
  tellsEveryLife(version: number): boolean;
}

const NEWEST_KNOWN = 44;
const OLDEST_KNOWN = 36;
/** From here on times are epochs, and duplicates can be asked for. */
const MODERN = 40;
const QUICK_MS = 30_000;
const SLOW_MS = 180_000;
const BYTES_MAX = 256 * 1024 * 1024;
const NOTHING_FOUND = 9003;
/** Older versions read times in their own zone, which they do not tell. */
const ZONE_WIDEST_S = 14 * 3600;

/** A reader over slurmrestd, by a token over HTTP or over its socket. */
export function restReader(options: RestOptions): SlurmRest {
  const get = getter(options);
  let known: Promise<number> | undefined;
  const version = async (signal: AbortSignal): Promise<number> => {
    known ??= newestVersion(get, signal).catch((failure: unknown) => {
      known = undefined;
      throw failure;
    });
    return known;
  };
  /** A reply of slurmctld. Newer versions want the slash at the end. */
  const live = async (what: string, signal: AbortSignal, timeoutMs: number): Promise<unknown> => {
    const number = await version(signal);
    return get(`/slurm/v0.0.${number}/${what}${number >= MODERN ? '/' : ''}`, signal, timeoutMs);
  };
  const accounts = async (from: number, until: number, signal: AbortSignal): Promise<readonly unknown[]> =>
    listOf(at(await get(accountsPath(await version(signal), from, until), signal, SLOW_MS), 'jobs'));

  return {
    version,
    tellsEveryLife: (number) => number >= MODERN,
    async release(signal) {
      const meta = at(await live('ping', signal, QUICK_MS), 'meta');
      return textOf(at(meta, 'slurm', 'release')) ?? textOf(at(meta, 'Slurm', 'release'));
    },
    async cluster(signal) {
      return textOf(at(await live('ping', signal, QUICK_MS), 'meta', 'slurm', 'cluster'));
    },
    async queue(signal) {
      const jobs = listOf(at(await live('jobs', signal, SLOW_MS), 'jobs'));
      return sorted(jobs.map((job) => ({ item: queuedJob(job), example: exampleOf(job) })));
    },
    async nodes(signal) {
      const nodes = listOf(at(await live('nodes', signal, SLOW_MS), 'nodes'));
      return sorted(nodes.map((node) => ({ item: nodeFromJson(node), example: exampleOf(node) })));
    },
    // slurmrestd does not tell past outages; states of nodes are known from now on.
    events: () => Promise.resolve({ items: [], skipped: [] }),
    async accounted(from, until, signal) {
      const jobs = await accounts(from, until, signal);
      return sorted(jobs.map((job) => ({ item: accountedJob(job), example: exampleOf(job) })));
    },
    hasJobs: async (from, until, signal) => (await accounts(from, until, signal)).length > 0,
  };
}

type Get = (path: string, signal: AbortSignal, timeoutMs: number) => Promise<unknown>;

function getter({ url, user, token }: RestOptions): Get {
  const socketPath = url.startsWith('unix:') ? url.replace(/^unix:(?:\/\/)?/, '') : undefined;
  const base = socketPath === undefined ? url.replace(/\/+$/, '') : 'http://localhost';
  return async (path, signal, timeoutMs) => {
    const { value } = await httpJson(`${base}${path}`, {
      signal,
      idleTimeoutMs: timeoutMs,
      totalTimeoutMs: timeoutMs * 2,
      bytesMax: BYTES_MAX,
      expects: 'JSON of slurmrestd',
      ...(socketPath !== undefined && { socketPath }),
      headers: {
        accept: 'application/json',
        ...(user !== undefined && { 'x-slurm-user-name': user }),
        ...(token !== undefined && { 'x-slurm-user-token': token }),
      },
    }).catch((failure: unknown) => {
      throw restFailure(failure, path, token !== undefined);
    });
    // "Nothing found" is an answer: there are no such jobs.
    const trouble = listOf(at(value, 'errors')).find((each) => numberOf(at(each, 'error_number')) !== NOTHING_FOUND);
    if (trouble !== undefined) throw troubleOf(trouble, path);
    return value;
  };
}

function accountsPath(version: number, from: number, until: number): string {
  if (version >= MODERN) {
    // Without the last one the times of a job are cut to the window asked for.
    return `/slurmdb/v0.0.${version}/jobs/?start_time=${from}&end_time=${until}&skip_steps=true&show_duplicates=true&disable_truncate_usage_time=true`;
  }
  const text = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(0, 19).replaceAll(':', '%3A');
  return `/slurmdb/v0.0.${version}/jobs?start_time=${text(from - ZONE_WIDEST_S)}&end_time=${text(until + ZONE_WIDEST_S)}&skip_steps=1`;
}

function exampleOf(entry: unknown): string {
  return JSON.stringify(entry)?.slice(0, 100) ?? '';
}

async function newestVersion(get: Get, signal: AbortSignal): Promise<number> {
  const reply = await get('/openapi/v3', signal, QUICK_MS);
  const paths = Object.keys(objectOf(at(reply, 'paths')) ?? {});
  const offered = (daemon: string): Set<number> =>
    new Set(
      paths.flatMap((path) => {
        const number = new RegExp(String.raw`^/${daemon}/v0\.0\.(\d+)/jobs/?$`).exec(path)?.[1];
        return number === undefined ? [] : [Number(number)];
      }),
    );
  const [live, database] = [offered('slurm'), offered('slurmdb')];
  const both = [...live].filter((number) => database.has(number) && number >= OLDEST_KNOWN && number <= NEWEST_KNOWN);
  const newest = both.toSorted((a, b) => b - a)[0];
  if (newest !== undefined) return newest;
  throw new OperationError('no-slurmrestd', 'slurmrestd offers no version of its interface that Bursar knows', {
    hint:
      live.size > 0
        ? 'Start slurmrestd with both the slurmctld and the slurmdbd plugin (-s slurmctld,slurmdbd).'
        : 'Is this the address of slurmrestd? It is http://host:6820 or unix:///path/slurmrestd.sock.',
  });
}

function troubleOf(trouble: unknown, path: string): OperationError {
  const words = (textOf(at(trouble, 'error')) ?? textOf(at(trouble, 'description')) ?? 'an error').slice(0, 200);
  const what = path.split('?', 1)[0] ?? path;
  if (/accounting.*disabled|No accounting/i.test(words)) {
    return new OperationError(NO_ACCOUNTING, `this Slurm keeps no accounts: ${words}`, {
      hint: 'Set AccountingStorageType=accounting_storage/slurmdbd in slurm.conf and run slurmdbd.',
    });
  }
  return new OperationError('slurmrestd-failed', `slurmrestd answers ${what} with: ${words}`, {
    hint: 'See the log of slurmrestd; the user may lack permission.',
  });
}

/** A token that is wrong or has expired is refused with 401 by some versions, and by others is an internal error. */
function restFailure(failure: unknown, path: string, hasToken: boolean): unknown {
  if (!(failure instanceof OperationError)) return failure;
  const isRefused = /\b40[13]\b|authenti/i.test(failure.message);
  if (!isRefused && !(hasToken && /\b500\b/.test(failure.message))) return failure;
  const what = path.split('?', 1)[0] ?? '';
  const means = hasToken ? 'does not accept the token' : 'wants a token';
  return new OperationError('no-permission', `slurmrestd ${means}, it seems (${what})`, {
    hint: 'Get a new one: scontrol token username=NAME lifespan=86400. slurmrestd itself must run with SLURM_JWT=daemon.',
    cause: failure,
  });
}
