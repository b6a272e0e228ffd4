import { isIP } from 'node:net';
import { hostname } from 'node:os';
import type { Context, MiddlewareHandler } from 'hono';
import { getCookie } from 'hono/cookie';
import { OperationError } from '../../facts/operation-error.ts';
import { SESSION_COOKIE } from './sessions.ts';

export interface GuardOptions {
  /** True where only this machine can reach the server. */
  readonly isLoopback: boolean;
  /** Names the server is reached by beside its addresses. */
  readonly hosts: readonly string[];
}

const HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'X-Frame-Options': 'DENY',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
};

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** What browsers are told with every reply. */
export function safeHeaders(): MiddlewareHandler {
  return async (context, next) => {
    await next();
    for (const [name, value] of Object.entries(HEADERS)) context.res.headers.set(name, value);
  };
}

/**
 * Refuses what a page of somebody else made a browser send: under a name that is not ours (a name that was rebound to this address), or
 * from another origin.
 */
export function guard(options: GuardOptions): MiddlewareHandler {
  return async (context, next) => {
    const host = context.req.header('host') ?? '';
    if (!isOwnHost(host, options)) throw unknownHost(host, options);
    if (SAFE_METHODS.has(context.req.method)) refuseStrangers(context);
    else refuseOtherOrigins(context, host);
    await next();
  };
}

export function isOwnHost(host: string, { isLoopback, hosts }: GuardOptions): boolean {
  const name = hostName(host);
  if (name === undefined) return false;
  if (hosts.some((own) => own.toLowerCase() === name)) return true;
  if (isLoopbackHost(host)) return true;
  // An address cannot be rebound, and nothing but names can be made to point here.
  return !isLoopback && (isIP(name) !== 0 || name === hostname().toLowerCase());
}

/** True where it is asked for under a name or an address of this machine that no other machine can use. */
export function isLoopbackHost(host: string): boolean {
  const name = hostName(host);
  return name !== undefined && (name === 'localhost' || isLoopbackAddress(name));
}

/** The name in a Host header, in small letters and without port and brackets; undefined where it is none. */
function hostName(host: string): string | undefined {
  const match = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::\d{1,5})?$/i.exec(host);
  return (match?.[1] ?? match?.[2])?.toLowerCase();
}

export function isLoopbackAddress(address: string): boolean {
  return address === '::1' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(address);
}

/** A page of another site has no business here; whoever follows a link to us does. */
function refuseStrangers(context: Context): void {
  const isCrossSite = context.req.header('sec-fetch-site') === 'cross-site';
  const isLink = context.req.header('sec-fetch-mode') === 'navigate';
  if (isCrossSite && !isLink) throw otherOrigin('another site');
}

/** Programs send no origin; browsers always do when they change something. */
function refuseOtherOrigins(context: Context, host: string): void {
  const origin = context.req.header('origin');
  if (origin === undefined) {
    const site = context.req.header('sec-fetch-site');
    const isOfBrowser = site !== undefined || getCookie(context, SESSION_COOKIE) !== undefined;
    if (isOfBrowser && site !== 'same-origin') throw otherOrigin('a page that does not say whose it is');
    return;
  }
  const own = URL.canParse(origin) ? new URL(origin).host.toLowerCase() : '';
  if (own !== host.toLowerCase()) throw otherOrigin(origin);
}

function otherOrigin(whose: string): OperationError {
  return new OperationError('other-origin', `a request of ${whose} is refused`, {
    hint: 'Open the dashboard itself; programs send a token and no Origin.',
  });
}

function unknownHost(host: string, { isLoopback }: GuardOptions): OperationError {
  return new OperationError('unknown-host', `this server is not called ${host === '' ? 'nothing' : `"${host}"`}`, {
    hint: isLoopback
      ? 'Use http://127.0.0.1 or http://localhost; behind a proxy say --allow-host NAME when it is started.'
      : 'Say --allow-host NAME when it is started, or use its address.',
  });
}
