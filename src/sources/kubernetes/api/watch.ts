import type { IncomingMessage } from 'node:http';
import { OperationError } from '../../../facts/operation-error.ts';
import { firstWords } from '../../http/http-failure.ts';
import type { Connection } from './connection.ts';
import { connectionProblem, statusProblem, tooMuch } from './problem.ts';
import { bodyOf, open, stopped } from './request.ts';
import type { Ask } from './request.ts';
import { watchEvent } from './watch-event.ts';
import type { WatchEvent } from './watch-event.ts';

export interface WatchAsk {
  readonly path: string;
  readonly what: string;
  readonly resourceVersion: string;
  readonly signal: AbortSignal;
  readonly onEvent: (event: Extract<WatchEvent, { readonly type: 'seen' | 'deleted' }>) => void;
}

/** How far a watch got. `expired`: list again; what was told until then was true, but not all. */
export type Watched =
  { readonly state: 'caught-up' | 'behind'; readonly resourceVersion: string } | { readonly state: 'expired' };

/** A server sends a bookmark two seconds before it ends a watch: with three, we hear after one that nothing is missing. */
const WATCH_SECONDS = 3;
const ROUNDS_MAX = 12;
const LINE_BYTES_MAX = 8 * 1_048_576;
const BYTES_MAX = 512 * 1_048_576;

/**
 * Reads what happened since a version, and stops when the server has told everything up to now.
 *
 * A bookmark proves that. A server that sends none ends the watch by itself, and one round without news counts as caught up. `behind`
 * means that there was more than one pull takes; the next goes on from the version that was reached.
 */
export async function catchUp(connection: Connection, ask: WatchAsk): Promise<Watched> {
  let { resourceVersion } = ask;
  let bytesLeft = BYTES_MAX;
  for (let round = 0; round < ROUNDS_MAX && bytesLeft > 0; round += 1) {
    const progress = await watchOnce(connection, { ...ask, resourceVersion }, bytesLeft);
    if (progress.state === 'expired') return progress;
    ({ resourceVersion } = progress);
    bytesLeft -= progress.bytes;
    if (progress.state === 'bookmark' || progress.events === 0) return { state: 'caught-up', resourceVersion };
  }
  return { state: 'behind', resourceVersion };
}

type Progress =
  | { readonly state: 'expired' }
  | {
      readonly state: 'bookmark' | 'ended';
      readonly resourceVersion: string;
      readonly events: number;
      readonly bytes: number;
    };

async function watchOnce(connection: Connection, watch: WatchAsk, bytesMax: number): Promise<Progress> {
  const query = {
    watch: 'true',
    allowWatchBookmarks: 'true',
    timeoutSeconds: String(WATCH_SECONDS),
    resourceVersion: watch.resourceVersion,
  };
  const ask: Ask = { path: watch.path, what: watch.what, query, signal: watch.signal };
  const response = await open(connection, ask);
  if (response.statusCode !== 200) {
    const body = await bodyOf(connection, ask, response);
    // Some servers, and old ones, say it as a status.
    if (response.statusCode === 410) return { state: 'expired' };
    throw statusProblem(connection, ask.what, response.statusCode ?? 0, body);
  }
  return readEvents(connection, ask, response, watch, bytesMax);
}

async function readEvents(
  connection: Connection,
  ask: Ask,
  response: IncomingMessage,
  watch: WatchAsk,
  bytesMax: number,
): Promise<Progress> {
  let { resourceVersion } = watch;
  let events = 0;
  let bytes = 0;
  try {
    for await (const line of lines(response, () => tooMuch(connection, ask.what, 'one object may be'))) {
      bytes += line.length;
      const event = watchEvent(line);
      if (event.type === 'expired') return { state: 'expired' };
      if (event.type === 'error') throw watchFailure(connection, event.message);
      ({ resourceVersion } = event);
      if (event.type === 'bookmark') return { state: 'bookmark', resourceVersion, events, bytes };
      events += 1;
      watch.onEvent(event);
      if (bytes > bytesMax) break;
    }
  } catch (cause) {
    if (watch.signal.aborted) throw stopped(ask);
    // A watch that is cut goes on from the last event; only one that never said anything is a failure.
    if (cause instanceof OperationError || events === 0) throw connectionProblem(connection, cause);
  } finally {
    response.destroy();
  }
  return { state: 'ended', resourceVersion, events, bytes };
}

/** Lines of a stream, none longer than an object of Kubernetes can be. */
async function* lines(stream: AsyncIterable<Buffer>, tooLong: () => OperationError): AsyncGenerator<string> {
  let rest: Buffer[] = [];
  let restBytes = 0;
  for await (const piece of stream) {
    let from = 0;
    for (let end = piece.indexOf(10); end >= 0; end = piece.indexOf(10, from)) {
      const line = Buffer.concat([...rest, piece.subarray(from, end)])
        .toString('utf8')
        .trim();
      [rest, restBytes, from] = [[], 0, end + 1];
      if (line !== '') yield line;
    }
    rest.push(piece.subarray(from));
    restBytes += piece.length - from;
    if (restBytes > LINE_BYTES_MAX) throw tooLong();
  }
  const last = Buffer.concat(rest).toString('utf8').trim();
  // What comes after the last line break is a line that was cut, unless it is whole by chance.
  if (last.endsWith('}') && watchEvent(last).type !== 'error') yield last;
}

function watchFailure(connection: Connection, message: string): OperationError {
  return new OperationError('kubernetes-watch', `${connection.server}: the watch ended with: ${firstWords(message)}`, {
    hint: 'a new list is read instead',
  });
}
