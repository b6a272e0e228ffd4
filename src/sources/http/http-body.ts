import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { createGunzip, createInflate } from 'node:zlib';
import { OperationError } from '../../facts/operation-error.ts';
import { connectionFailure, cutOff, timedOut, tooLarge } from './http-failure.ts';

/**
 * Promise: the body, decompressed, piece by piece; silence, excess and a broken end are errors.
 *
 * The clock of silence runs only while we wait for the other side: a reader that takes its time holds the sender back and
 * is no fault of the sender.
 */
export async function* decodedBody(
  answer: IncomingMessage,
  shown: string,
  limits: { readonly idleTimeoutMs: number; readonly bytesMax: number },
): AsyncGenerator<Buffer, void, undefined> {
  const stream = decoder(answer, shown);
  let waiting = true;
  let bytes = 0;
  const idle = setTimeout(() => {
    if (waiting)
      stream.destroy(timedOut(shown, 'silence in the middle of the answer; nothing more', limits.idleTimeoutMs));
  }, limits.idleTimeoutMs);
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      waiting = false;
      bytes += chunk.length;
      if (bytes > limits.bytesMax) throw tooLarge(shown, limits.bytesMax);
      yield chunk;
      waiting = true;
      idle.refresh();
    }
    if (!answer.complete) throw cutOff(shown);
  } catch (error) {
    if (error instanceof OperationError) throw error;
    // Node tells an answer that broke off as a reset of the connection.
    throw codeOf(error) === 'ECONNRESET' ? cutOff(shown, error) : connectionFailure(shown, error);
  } finally {
    clearTimeout(idle);
    if (!answer.complete || stream !== answer) answer.destroy();
    stream.destroy();
  }
}

function decoder(answer: IncomingMessage, shown: string): Readable {
  const encoding = (answer.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  if (encoding === 'identity' || encoding === '') return answer;
  if (encoding !== 'gzip' && encoding !== 'x-gzip' && encoding !== 'deflate') {
    answer.destroy();
    throw new OperationError(
      'unknown-encoding',
      `${shown} answers in the encoding ${encoding.slice(0, 40)}, which was not asked for`,
      {
        hint: 'a proxy in between may do this; go around it',
      },
    );
  }
  const unpacked = encoding === 'deflate' ? createInflate() : createGunzip();
  answer.on('error', (error) => unpacked.destroy(error));
  answer.on('close', () => {
    if (!answer.complete) unpacked.destroy(cutOff(shown));
  });
  return answer.pipe(unpacked);
}

function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}
