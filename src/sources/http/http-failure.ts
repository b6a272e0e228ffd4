import { OperationError } from '../../facts/operation-error.ts';

/** An address as it may be shown to people: credentials, query and fragment can hold secrets and stay out. */
export function shownUrl(url: string | URL): string {
  const parsed = typeof url === 'string' ? parseUrl(url) : url;
  return `${parsed.protocol}//${parsed.host}${parsed.pathname === '/' ? '' : parsed.pathname}`;
}

/** An http or https address, or an error that says how one looks, without repeating what may hold a password. */
export function parseUrl(text: string): URL {
  const hint = 'write it with its protocol, for example http://prometheus.example:9090';
  if (!URL.canParse(text)) throw new OperationError('bad-url', 'the address is not a URL', { hint });
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new OperationError('bad-url', `the address begins with ${url.protocol}, not with http: or https:`, { hint });
  }
  return url;
}

const TLS_CODES = /^(CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_|ERR_SSL_|EPROTO$|HOSTNAME_MISMATCH$)/;
const NO_CONNECTION = new Map([
  ['ECONNREFUSED', 'refused: nothing listens there'],
  ['EHOSTUNREACH', 'no way to that machine'],
  ['ENETUNREACH', 'no way to that network'],
  ['ECONNRESET', 'the other side closed the connection'],
  ['EPIPE', 'the other side closed the connection'],
  ['ETIMEDOUT', 'no answer to the connection'],
  ['EACCES', 'this user may not open it'],
  ['ENOENT', 'there is no such socket'],
]);

/** What went wrong with a connection, in words, and what to do about it. */
export function connectionFailure(shown: string, cause: unknown): OperationError {
  if (cause instanceof OperationError) return cause;
  const code = codeOf(cause);
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return new OperationError('unknown-host', `${shown}: the name is not known`, {
      hint: 'check the spelling; a name inside a cluster is known only there: try kubectl port-forward',
      cause,
    });
  }
  if (TLS_CODES.test(code)) {
    return new OperationError('tls', `${shown}: no secure connection (${code})`, {
      hint:
        code === 'EPROTO' || code.startsWith('ERR_SSL_')
          ? 'the port may speak plain http: try http:// instead of https://'
          : 'if the certificate is your own authority’s, set NODE_EXTRA_CA_CERTS to its file',
      cause,
    });
  }
  if (code.startsWith('HPE_')) {
    return new OperationError('not-http', `${shown}: what answers there does not speak HTTP (${code})`, {
      hint: 'check the port, and whether it should be https://',
      cause,
    });
  }
  const words = NO_CONNECTION.get(code);
  if (words !== undefined) {
    return new OperationError(
      code === 'ECONNRESET' || code === 'EPIPE' ? 'cut-off' : 'unreachable',
      `${shown}: ${words}`,
      {
        hint: 'check that it runs, and that this machine may reach its port',
        cause,
      },
    );
  }
  if (code.startsWith('Z_') || code === 'ERR_STREAM_PREMATURE_CLOSE' || code === 'ABORT_ERR') {
    return cutOff(shown, cause);
  }
  return new OperationError('http-failed', `${shown}: ${cause instanceof Error ? cause.message : 'failed'}`, { cause });
}

export function cutOff(shown: string, cause?: unknown): OperationError {
  return new OperationError('cut-off', `${shown}: the answer ended before it was complete`, {
    hint: 'it may have been restarted, or a proxy in between gives up early; try again',
    ...(cause === undefined ? {} : { cause }),
  });
}

export function timedOut(shown: string, what: string, limitMs: number): OperationError {
  return new OperationError('timeout', `${shown}: ${what} within ${seconds(limitMs)}`, {
    hint: 'it may be overloaded or behind a firewall that drops silently; try again, or check the address',
  });
}

export function tooLarge(shown: string, bytesMax: number): OperationError {
  return new OperationError('too-large', `${shown}: the answer is larger than ${Math.ceil(bytesMax / 1e6)} MB`, {
    hint: 'this does not look like what was asked for; check the address',
  });
}

export function stopped(shown: string, signal: AbortSignal): OperationError {
  return new OperationError('aborted', `${shown}: stopped before the answer was complete`, { cause: signal.reason });
}

/** The code of an error status is `http-503`, so that a caller can tell what is worth another try. */
export function statusFailure(shown: string, status: number, words: string): OperationError {
  const said = words === '' ? '' : `: ${words}`;
  return new OperationError(`http-${status}`, `${shown} answers ${status}${said}`, { hint: statusHint(status) });
}

export function webPage(shown: string, expects: string): OperationError {
  return new OperationError('web-page', `${shown} answers with a web page, not with ${expects}`, {
    hint: 'is there a login in front, or does the address lack a path such as /prometheus?',
  });
}

/** The beginning of an answer on one line, without what a terminal would obey. */
export function firstWords(text: string): string {
  const line = text.replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
  return line.length > 160 ? `${line.slice(0, 160)}…` : line;
}

function statusHint(status: number): string {
  if (status === 401) return 'it wants credentials: give a header such as Authorization, by environment or file';
  if (status === 403) return 'these credentials may not read this';
  if (status === 404) return 'check the path of the address';
  if (status === 429) return 'it asks for fewer requests; try again later';
  if (status >= 500) return 'it has trouble of its own; look at its log, and try again';
  return 'check the address';
}

function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('code' in error)) return '';
  return typeof error.code === 'string' ? error.code : '';
}

function seconds(ms: number): string {
  return ms < 1000 ? `${ms} ms` : `${Math.round(ms / 100) / 10} s`;
}
