import type { Context } from 'hono';
import { getCookie } from 'hono/cookie';
import type { Standing } from '../../app/serve/standing.ts';
import { hashOf, viewerOf } from '../../app/serve/tokens.ts';
import { OperationError } from '../../facts/operation-error.ts';
import { tokenState } from '../../facts/token-record.ts';
import type { TokenRecord } from '../../facts/token-record.ts';
import { ROLES } from '../../facts/viewer.ts';
import type { Viewer } from '../../facts/viewer.ts';
import type { Access } from '../route.ts';
import { addressOf, isForwarded } from './client-address.ts';
import type { Rate, RateLimit } from './rate-limit.ts';
import { rateLimit } from './rate-limit.ts';
import type { Sessions } from './sessions.ts';
import { SESSION_COOKIE } from './sessions.ts';

/** Who asks without a token where none is needed. */
const LOOPBACK: Viewer = { name: 'loopback', role: 'admin', team: undefined };

/** A page asks for a dozen answers at once; a script of a colleague may not keep all others waiting. */
const RATE: Rate = { perSecond: 20, burst: 200 };
const LOOPBACK_RATE: Rate = { perSecond: 1000, burst: 5000 };
/** Tokens that were tried and are none. */
const FAILURE_RATE: Rate = { perSecond: 0.2, burst: 20 };

export interface AuthorityOptions {
  /** True: nobody is anybody without a token. */
  readonly needsToken: boolean;
  /** True: a proxy stands in front that says whom a request is of. */
  readonly trustsProxy: boolean;
  readonly tokens: () => Promise<Standing['stores']['tokens']>;
  readonly sessions: Sessions;
  readonly now: () => Date;
  readonly passedMs: () => number;
}

/** Who asks, and by what it is known. */
export interface Identity {
  readonly viewer: Viewer;
  /** By which its requests are counted: a token, or an address. */
  readonly who: string;
  /** Undefined for whoever needs none. */
  readonly tokenHash: string | undefined;
}

export interface Authority {
  /** Who sends this; refused where nobody may, and where it asks too much. */
  identify(context: Context): Promise<Identity>;
  /** The token of this hash where it is in force. */
  inForce(tokenHash: string): Promise<TokenRecord | undefined>;
  /** Opens a session for a token that is in force. */
  signIn(context: Context, token: string): Promise<{ readonly session: string; readonly viewer: Viewer }>;
  needsToken(context: Context): boolean;
}

export function authorityOf(options: AuthorityOptions): Authority {
  const { needsToken, trustsProxy, tokens, sessions, now, passedMs } = options;
  const asked: Record<'loopback' | 'token', RateLimit> = {
    loopback: rateLimit(LOOPBACK_RATE, passedMs),
    token: rateLimit(RATE, passedMs),
  };
  const failures = rateLimit(FAILURE_RATE, passedMs);
  const inForce = async (tokenHash: string): Promise<TokenRecord | undefined> => {
    const record = (await tokens()).byHash(tokenHash);
    return record !== undefined && tokenState(record, now()) === 'in force' ? record : undefined;
  };
  const tried = async (context: Context, tokenHash: string): Promise<TokenRecord> => {
    const record = await inForce(tokenHash);
    // Whoever has a token is let in, whatever others of the same address have tried.
    if (record !== undefined) return record;
    failures.take(addressOf(context, trustsProxy));
    throw new OperationError('bad-token', 'the token is unknown, has expired or was revoked', {
      hint: 'An admin makes a new one: bursar token create --name NAME --role viewer',
    });
  };
  // Where a proxy of this machine stands in front, everybody comes from loopback.
  const isNeeded = (context: Context): boolean => needsToken || isForwarded(context);

  return {
    inForce,
    needsToken: isNeeded,
    async identify(context) {
      const bearer = bearerOf(context);
      if (bearer !== undefined) {
        const record = await tried(context, hashOf(bearer));
        const who = `token ${record.number}`;
        asked.token.take(who);
        return { viewer: viewerOf(record), who, tokenHash: hashOf(bearer) };
      }
      const hash = sessions.tokenHash(getCookie(context, SESSION_COOKIE) ?? '');
      const record = hash === undefined ? undefined : await inForce(hash);
      if (record !== undefined) {
        const who = `token ${record.number}`;
        asked.token.take(who);
        return { viewer: viewerOf(record), who, tokenHash: hash };
      }
      const who = addressOf(context, trustsProxy);
      asked[isNeeded(context) ? 'token' : 'loopback'].take(who);
      if (!isNeeded(context) && hash === undefined) return { viewer: LOOPBACK, who, tokenHash: undefined };
      throw new OperationError('no-token', 'this needs a token', {
        hint: 'Sign in, or send it: Authorization: Bearer bsr_… (bursar token create makes one).',
      });
    },
    async signIn(context, token) {
      const record = await tried(context, hashOf(token));
      return { session: sessions.open(hashOf(token)), viewer: viewerOf(record) };
    },
  };
}

/** The one place where a viewer is let in, or is not, and where a viewer of one team is held to it. */
export function authorise(access: Access, viewer: Viewer, askedTeam: unknown): { readonly team?: string } {
  if (ROLES.indexOf(viewer.role) < ROLES.indexOf(access.role)) {
    throw new OperationError('role-too-low', `this needs the role ${access.role}; ${viewer.name} is ${viewer.role}`, {
      hint: `An admin makes a token for it: bursar token create --name NAME --role ${access.role}`,
    });
  }
  if (viewer.team === undefined || access.sees === 'totals' || access.sees === 'open') return {};
  if (access.sees === 'fleet') {
    throw new OperationError(
      'forbidden',
      `this is about the whole fleet; ${viewer.name} sees the team ${viewer.team}`,
      {
        hint: 'Ask for the team’s own figures, or for a token without --team.',
      },
    );
  }
  if (askedTeam !== undefined && askedTeam !== viewer.team) {
    throw new OperationError('other-team', `${viewer.name} sees the team ${viewer.team}, and no other`, {
      hint: `Leave team out, or say team=${viewer.team}.`,
    });
  }
  return { team: viewer.team };
}

function bearerOf(context: Context): string | undefined {
  const header = context.req.header('authorization');
  if (header === undefined) return undefined;
  return /^Bearer +(\S+)$/i.exec(header)?.[1] ?? '';
}
