import { isIP } from 'node:net';
import type { Context } from 'hono';
import { getConnInfo } from '@hono/node-server/conninfo';
import { isLoopbackHost } from './guard.ts';

/** Headers that proxies send and browsers and programs do not. */
const PROXY_HEADERS = [
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-proto',
  'x-forwarded-server',
  'x-real-ip',
  'x-client-ip',
  'x-original-host',
  'true-client-ip',
  'cf-connecting-ip',
  'forwarded',
  'via',
];

/**
 * Question: does this come by way of a proxy? By its headers, by a name that is none of loopback's, or by HTTP/1.0, which nothing but old
 * proxies speaks (nginx, unless it is told otherwise). One that says nothing of itself, names loopback and speaks HTTP/1.1 cannot be told
 * from a program of this machine: for that there is --require-token.
 */
export function isForwarded(context: Context): boolean {
  const { req } = context;
  return (
    PROXY_HEADERS.some((name) => req.header(name) !== undefined) ||
    !isLoopbackHost(req.header('host') ?? '') ||
    incomingOf(context)?.httpVersion === '1.0'
  );
}

/**
 * Question: from which address does this come? Where a proxy is trusted, from the one that it says, which is the last of the list: those
 * before it are whatever the client wrote. Without a socket, as in tests, from here.
 */
export function addressOf(context: Context, trustsProxy: boolean): string {
  const said = trustsProxy ? context.req.header('x-forwarded-for')?.split(',').at(-1)?.trim() : undefined;
  if (said !== undefined && isIP(said) !== 0) return clientOf(said);
  return incomingOf(context) === undefined ? 'here' : clientOf(getConnInfo(context).remote.address ?? 'unknown');
}

const IPV6_GROUPS = 8;
const IPV6_NETWORK_GROUPS = 4;

/** By which a client is counted: of IPv6 the first 64 bits, since whoever has one address there has as many as he likes. */
export function clientOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (isIP(address) !== 6) return address;
  const [head = '', tail] = (address.split('%')[0] ?? '').toLowerCase().split('::');
  const groups = (text: string): string[] => text.split(':').filter((group) => group !== '');
  const zeros = tail === undefined ? 0 : IPV6_GROUPS - groups(head).length - groups(tail).length;
  const whole = [...groups(head), ...Array.from({ length: Math.max(0, zeros) }, () => '0'), ...groups(tail ?? '')];
  return `${whole.slice(0, IPV6_NETWORK_GROUPS).join(':')}::/64`;
}

function incomingOf(context: Context): { readonly httpVersion?: string } | undefined {
  return (context.env as { readonly incoming?: { readonly httpVersion?: string } } | undefined)?.incoming;
}
