import { Hono } from 'hono';
import type { Context, MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import type { Desk } from '../app/serve/desk.ts';
import type { StandingKeeper } from '../app/serve/standing.ts';
import { OperationError } from '../facts/operation-error.ts';
import type { Viewer } from '../facts/viewer.ts';
import { mountDocuments } from './document/documents.ts';
import { answerRoute } from './edge/answer.ts';
import type { Reply } from './edge/answer.ts';
import { authorise, authorityOf } from './edge/authority.ts';
import type { Identity } from './edge/authority.ts';
import { addressOf } from './edge/client-address.ts';
import type { EventHub } from './edge/events.ts';
import { eventHub } from './edge/events.ts';
import { guard, safeHeaders } from './edge/guard.ts';
import type { GuardOptions } from './edge/guard.ts';
import type { HealthParts } from './edge/health.ts';
import { openReadiness } from './edge/health.ts';
import { problemReply } from './edge/problem.ts';
import { rateLimit } from './edge/rate-limit.ts';
import type { Rate } from './edge/rate-limit.ts';
import { sentBody, understood } from './edge/read-asked.ts';
import { memorySessions, SESSION_COOKIE, SESSION_SECONDS } from './edge/sessions.ts';
import { staticPages } from './edge/static-pages.ts';
import { measured, mountMetrics, newMetrics } from './mount-metrics.ts';
import type { Deed, Route } from './route.ts';
import { DEEDS, ROUTES } from './routes.ts';
import { SERVICE_PATHS, servicePath, SignIn } from './service.ts';
import type { Serves, ServicePath, SessionReply } from './service.ts';

export interface ServerParts extends GuardOptions, Pick<HealthParts, 'writer'> {
  readonly dataDir: string;
  readonly desk: Desk<Reply>;
  readonly standing: StandingKeeper;
  /** Where the built pages are. */
  readonly webDir: string;
  readonly needsToken: boolean;
  /** True: a proxy stands in front that says whom a request is of (X-Forwarded-For). */
  readonly trustsProxy?: boolean;
  readonly now: () => Date;
  /** By which requests are counted: a clock that nobody sets back. */
  readonly passedMs?: () => number;
  /** Told of mistakes of ours, which clients are not told. */
  readonly onMistake: (failure: unknown) => void;
  readonly routes?: readonly Route[];
  readonly deeds?: readonly Deed[];
}

/** Everything the server answers, without a socket. */
export interface Api {
  readonly app: Hono<Env>;
  readonly events: EventHub;
}

export interface Env {
  readonly Variables: { identity: Identity };
}

const BODY_BYTES_MAX = 64 * 1024;

export function apiOf(parts: ServerParts): Api {
  const { routes = ROUTES, deeds = DEEDS, now, passedMs = () => performance.now(), trustsProxy = false } = parts;
  const app = new Hono<Env>();
  const sessions = memorySessions(now);
  const tokens = async () => (await parts.standing.current()).stores.tokens;
  const authority = authorityOf({ needsToken: parts.needsToken, trustsProxy, tokens, sessions, now, passedMs });
  const events = eventHub({
    standing: parts.standing,
    isAllowed: async (hash) => (await authority.inForce(hash)) !== undefined,
  });
  const identified: MiddlewareHandler<Env> = async (context, next) => {
    context.set('identity', await authority.identify(context));
    await next();
  };
  const asked = rateLimit(OPEN_RATE, passedMs);
  const unidentified: MiddlewareHandler<Env> = async (context, next) => {
    const who = addressOf(context, trustsProxy);
    asked.take(who);
    context.set('identity', { viewer: ANYBODY, who, tokenHash: undefined });
    await next();
  };
  const metrics = newMetrics();
  app.use(measured(metrics));
  app.use(safeHeaders());
  app.onError((failure, context) => {
    if (isCutOff(failure)) return problemReply(context, cutOff(failure));
    if (!(failure instanceof OperationError)) parts.onMistake(failure);
    return problemReply(context, failure);
  });
  // Whoever looks whether it lives comes under any name.
  app.get('/healthz', unidentified, (context) => context.json({ status: 'alive' }));
  app.get('/readyz', unidentified, async (context) => context.json(await openReadiness(parts)));
  app.use(guard(parts));
  app.use(bodyLimit({ maxSize: BODY_BYTES_MAX, onError: (context) => problemReply(context, bodyTooLarge()) }));
  app.on(['POST', 'DELETE'], '/api/v1/session', unidentified);
  mountSessions(app, authority, sessions);
  app.get('/api/v1/events', identified, async (context) => {
    const { who, tokenHash } = context.get('identity');
    return events.listen(context, who, tokenHash);
  });
  const serves: Serves = (name, answer) => {
    const { path, access } = servicePath(name);
    app.get(path, access.sees === 'open' ? unidentified : identified, async (context) => {
      authorise(access, context.get('identity').viewer, undefined);
      return answer(context);
    });
  };
  mountDocuments(serves, routes, deeds);
  mountMetrics(serves, metrics, { ...parts, eventClients: () => events.listeners() });
  for (const each of routes) {
    const who = each.access.sees === 'open' ? unidentified : identified;
    app.get(honoPath(each.path), who, async (context) => answerRoute(each, parts, context.get('identity'), context));
  }
  for (const each of deeds) {
    app.post(honoPath(each.path), identified, async (context) => act(each, parts, context));
  }
  // Questions are read; what changes something is sent.
  const known: readonly Place[] = [
    ...SERVICE_PATHS,
    ...routes.map(({ path }) => ({ path, method: 'get' as const })),
    ...deeds.map(({ path }) => ({ path, method: 'post' as const })),
  ];
  app.all('/api/*', identified, (context) => {
    throw noSuchRoute(context, known);
  });
  const pages = staticPages(parts.webDir);
  app.get('*', unidentified, (context) => pages.reply(context));
  app.all('*', (context) => {
    throw pages.has(context.req.path) ? wrongMethod(context, [{ method: 'get' }]) : noSuchRoute(context, known);
  });
  return { app, events };
}

const honoPath = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ':$1');

/** Who asks an open question is nobody in particular. */
const ANYBODY: Viewer = { name: 'anybody', role: 'viewer', team: undefined };
/** Pages and health, for each address: a dashboard is a dozen files. */
const OPEN_RATE: Rate = { perSecond: 50, burst: 500 };

async function act(each: Deed, parts: ServerParts, context: Context<Env>): Promise<Response> {
  const { viewer } = context.get('identity');
  authorise(each.access, viewer, undefined);
  const params = understood(each.params, context.req.param(), 'path');
  const body = understood(each.body, await sentBody(context), 'body');
  const reply = await each.act({ parts, viewer, params, body });
  return context.body(JSON.stringify(reply), 200, {
    'Content-Type': 'application/json',
    'Cache-Control': 'no-store',
  });
}

/** Who one is here, signing in and signing out. */
function mountSessions(
  app: Hono<Env>,
  authority: ReturnType<typeof authorityOf>,
  sessions: ReturnType<typeof memorySessions>,
): void {
  app.get('/api/v1/session', async (context) => {
    const { viewer, tokenHash } = await authority.identify(context);
    return context.json(sessionOf(viewer, tokenHash !== undefined), 200, { 'Cache-Control': 'no-store' });
  });
  app.post('/api/v1/session', async (context) => {
    const { token } = understood(SignIn, await sentBody(context), 'body');
    const { session, viewer } = await authority.signIn(context, token);
    setCookie(context, SESSION_COOKIE, session, {
      httpOnly: true,
      sameSite: 'Strict',
      path: '/',
      maxAge: SESSION_SECONDS,
      secure: context.req.header('x-forwarded-proto') === 'https',
    });
    return context.json(sessionOf(viewer, true), 200, { 'Cache-Control': 'no-store' });
  });
  app.delete('/api/v1/session', (context) => {
    sessions.end(getCookie(context, SESSION_COOKIE) ?? '');
    deleteCookie(context, SESSION_COOKIE, { path: '/' });
    return context.body(null, 204);
  });
}

function sessionOf({ name, role, team }: Viewer, signedIn: boolean): SessionReply {
  return { name, role, team: team ?? null, signedIn };
}

/** A path and a method it takes. */
type Place = Pick<ServicePath, 'path' | 'method'>;

function noSuchRoute(context: Context, known: readonly Place[]): OperationError {
  const { method, path } = context.req;
  const there = known.filter((each) => patternOf(each.path).test(path));
  if (there.length > 0) return wrongMethod(context, there);
  return new OperationError('no-such-route', `there is no ${method} ${path}`, {
    hint: 'The reference at /api lists what can be asked.',
  });
}

/** RFC 9110: who refuses a method says which there are. Whatever is read can be asked for its head. */
function wrongMethod(context: Context, there: readonly Pick<Place, 'method'>[]): OperationError {
  const { method, path } = context.req;
  const methods = there.flatMap((each) => (each.method === 'get' ? ['GET', 'HEAD'] : [each.method.toUpperCase()]));
  const allowed = [...new Set(methods)].toSorted().join(', ');
  context.header('Allow', allowed);
  return new OperationError('wrong-method', `${path} is not for ${method}`, {
    hint: `It takes ${allowed}; the reference at /api says what each does.`,
  });
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
}

/** Who asked went away before the body was whole: Node's own words for it, and no mistake of ours. */
function isCutOff(failure: unknown): boolean {
  if (!(failure instanceof Error)) return false;
  return failure.message === 'aborted' && 'code' in failure && failure.code === 'ECONNRESET';
}

function cutOff(cause: unknown): OperationError {
  return new OperationError('bad-body', 'the request ended before its body did', { hint: 'Send it again.', cause });
}

function bodyTooLarge(): OperationError {
  return new OperationError('body-too-large', `the body is larger than ${BODY_BYTES_MAX / 1024} kB`, {
    hint: 'Nothing that can be asked for here needs as much.',
  });
}
