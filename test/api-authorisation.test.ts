import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Api } from '../src/api/http.ts';
import { openApiDocument } from '../src/api/document/openapi.ts';
import type { ApiMethod, ApiOperation } from '../src/api/document/openapi-document.ts';
import { ROLES } from '../src/facts/viewer.ts';
import type { Role } from '../src/api/route.ts';
import { DEEDS, ROUTES } from '../src/api/routes.ts';
import { createToken, revokeToken } from '../src/app/serve/tokens.ts';
import { fleetFolder } from './fleet-folder.ts';
import type { FleetFolder } from './fleet-folder.ts';
import { runServer } from './running-server.ts';
import type { RunningServer } from './running-server.ts';
import { TWO_TEAMS } from './two-teams.ts';

const OWN = 'nlp';
const OTHER = 'zeta';
/** What a viewer of nlp has no business with, wherever it would stand: team, people and jobs of zeta, and what only zeta pays. */
const NAMES = 'zeta zulu zoe sketchbook m3-0 slurm/102 slurm/104 kubernetes/106 "102" "104" "106"';
/** Of 102, 104 and 106, what of them is lost and idle, and together; then both teams' runs. As micro-dollars and as dollars. */
const AMOUNTS =
  '33000000 27000000 51000000 31251000 25569000 56820000 45000000 111000000 31.251 56.82 107958000 107.958';
const NOT_OF_NLP = `${NAMES} ${AMOUNTS}`.split(' ');
const BAD_TRIES_AT_ONCE = 15;
/** Sixty questions on a busy machine. */
const ROUTE_MS_MAX = 240_000;

/** One's own thing and one of the other team, for each name in a path. */
const THINGS: Readonly<Record<string, readonly [string, string]>> = {
  team: [OWN, OTHER],
  job: ['101', '102'],
  // The idle notebooks; which numbers they have is seen in the list.
  finding: ['', ''],
  gpu: ['m2-0', 'm3-0'],
  dimension: ['team', 'user'],
};
/** A name that is no thing of anybody: whatever it says is looked through. */
const NOT_A_THING = new Set(['dimension']);

/** What tries to look past the team. */
const HOSTILE: Readonly<Record<string, readonly string[]>> = {
  filter: ['team=zeta', 'team=nlp|zeta', 'user=zulu', 'job=102', 'cluster=a,team='],
  search: ['z', '102'],
  by: ['team', 'user', 'job', 'team,user,job,node,device'],
  aggregate: ['team', 'pod', 'label:team', 'node'],
  state: ['open,accepted,back,exempt,dismissed,fixed'],
  detector: ['lost-work'],
};

interface Bearer {
  readonly who: string;
  readonly token: string | undefined;
  /** Undefined: nobody, by a token that is none. */
  readonly role: Role | undefined;
  readonly team: string | undefined;
}

interface Operation {
  readonly path: string;
  readonly method: ApiMethod;
  readonly operation: ApiOperation;
}

const document = openApiDocument({ routes: ROUTES, deeds: DEEDS, version: '0' });
const OPERATIONS: readonly Operation[] = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method: method as ApiMethod, operation })),
);

describe('who may ask what', () => {
  let fleet: FleetFolder;
  let server: RunningServer;
  const bearers: Bearer[] = [];
  let things = THINGS;

  const tokenOf = (who: string): string => bearers.find((each) => each.who === who)?.token ?? '';
  const findingOf = async (team: string, by = 'idle-sessions'): Promise<string> => {
    const asked = { path: '/api/v1/findings', query: { window: 'all', team }, token: tokenOf('admin') };
    const { text } = await send(server.api, { method: 'get', ...asked });
    const { findings } = JSON.parse(text) as { findings: readonly { id: string; detector: string }[] };
    return findings.find(({ detector }) => detector === by)?.id ?? 'none';
  };

  beforeAll(async () => {
    fleet = await fleetFolder(TWO_TEAMS);
    const now = new Date();
    const made = async (name: string, role: Role, team?: string, at = now, expires = '1d'): Promise<string> =>
      (await createToken(fleet.dataDir, { name, role, expires, ...(team !== undefined && { team }) }, at)).token;
    for (const role of ROLES) {
      bearers.push({ who: role, token: await made(role, role), role, team: undefined });
      bearers.push({ who: `${role} of ${OWN}`, token: await made(`${role} ${OWN}`, role, OWN), role, team: OWN });
    }
    const nobody = { role: undefined, team: undefined };
    const lastWeek = new Date(now.getTime() - 7 * 86_400_000);
    bearers.push({ who: 'nobody', token: undefined, ...nobody });
    bearers.push({ who: 'a guess', token: 'bsr_guessed', ...nobody });
    bearers.push({ who: 'an expired admin', token: await made('expired', 'admin', undefined, lastWeek), ...nobody });
    bearers.push({ who: 'a revoked admin', token: await made('revoked', 'admin'), ...nobody });
    await revokeToken(fleet.dataDir, 'revoked', now);
    server = await runServer(fleet.dataDir, { needsToken: true });
    things = { ...THINGS, finding: [await findingOf(OWN), await findingOf(OTHER)] };
  });
  afterAll(async () => {
    await server.close();
    await fleet.remove();
  });

  it('is declared for every path the server has, and nothing else is declared', () => {
    const had = server.api.app.routes
      .filter(({ method, path }) => method !== 'ALL' && !path.includes('*'))
      .map(({ method, path }) => `${method.toLowerCase()} ${path.replaceAll(/:(\w+)/g, '{$1}')}`);
    const declared = OPERATIONS.map(({ method, path }) => `${method} ${path}`);
    expect([...new Set(had)].toSorted()).toEqual(declared.toSorted());
    for (const { path, operation } of OPERATIONS) {
      expect(ROLES, path).toContain(operation['x-bursar-access'].role);
      expect(['open', 'totals', 'team', 'fleet'], path).toContain(operation['x-bursar-access'].sees);
    }
  });

  it('is told for a team only where a team can be asked for', () => {
    const wrong = OPERATIONS.filter(
      ({ method, operation }) => method === 'get' && operation['x-bursar-access'].sees === 'team',
    ).filter(({ operation }) => !operation.parameters.some(({ name }) => name === 'team'));
    expect(wrong.map(({ path }) => path)).toEqual([]);
  });

  it.each(OPERATIONS.map((each) => [`${each.method} ${each.path}`, each] as const))(
    '%s lets in whom it says, and answers',
    async (_, each) => {
      const seen: Record<string, string> = {};
      const want: Record<string, string> = {};
      const statuses = new Set<number>();
      const read: string[] = [];
      let tries = 0;
      let api = server.again();
      for (const bearer of bearers) {
        for (const asked of askedTeams(each.operation)) {
          if (bearer.role === undefined && tries++ % BAD_TRIES_AT_ONCE === 0) api = server.again();
          const team = each.path.includes('{team}') || asked === undefined ? {} : { team: asked };
          const whose = asked === OTHER ? 1 : 0;
          const request = requestOf(each, things, whose, team);
          const { status, text } = await send(api, { ...request, token: bearer.token, ofSignIn: tokenOf('viewer') });
          const label = `${bearer.who}${asked === undefined ? '' : ` asks for ${asked}`}`;
          seen[label] =
            status === 401 || status === 403 ? String(status) : status < 300 ? 'let in' : `${status} ${text}`;
          want[label] = wanted(each.operation, bearer, asked);
          statuses.add(status);
          if (bearer.team === OWN) read.push(...leaks(text, request).map((word) => `${label} reads of ${word}`));
        }
      }
      expect(seen).toEqual(want);
      expect(read).toEqual([]);
      expect([...statuses].some((status) => status < 300)).toBe(true);
    },
    ROUTE_MS_MAX,
  );

  const NAMING = OPERATIONS.filter(
    ({ path, operation }) =>
      operation['x-bursar-access'].sees === 'team' &&
      [...path.matchAll(/\{(\w+)\}/g)].some(([, name]) => !NOT_A_THING.has(name ?? '')),
  );
  it.each(NAMING.map((each) => [`${each.method} ${each.path}`, each] as const))(
    '%s is told of one’s own thing, and of another’s it is as if there were none',
    async (_, each) => {
      const api = server.again();
      const ask = async (who: string, whose: 0 | 1) =>
        send(api, { ...requestOf(each, things, whose), token: tokenOf(who) });
      expect((await ask('admin', 1)).status).toBe(200);
      expect((await ask(`operator of ${OWN}`, 0)).status).toBe(200);
      const { status, text } = await ask(`operator of ${OWN}`, 1);
      expect([403, 404]).toContain(status);
      expect(leaks(text, requestOf(each, things, 1))).toEqual([]);
    },
    ROUTE_MS_MAX,
  );

  const OF_TEAMS = OPERATIONS.filter(
    ({ method, operation }) => method === 'get' && ['team', 'totals'].includes(operation['x-bursar-access'].sees),
  );
  it.each(OF_TEAMS.map((each) => [each.path, each] as const))(
    '%s tells a team nothing of another, whatever it asks and in whatever format',
    async (_, each) => {
      const api = server.again();
      const names = each.operation.parameters.map(({ name }) => name);
      const read: string[] = [];
      const asked = Object.entries(HOSTILE)
        .filter(([name]) => names.includes(name))
        .flatMap(([name, values]) => values.map((value) => ({ [name]: value })));
      const formats = names.includes('format') ? [{}, { format: 'csv' }] : [{}];
      const queries = [{}, ...asked].flatMap((one) => formats.map((format) => ({ ...one, ...format })));
      // The runs that both teams lose are one finding, and nlp's.
      const both = each.path.includes('{finding}')
        ? [{ finding: [await findingOf(OWN, 'lost-work'), ''] as const }]
        : [];
      for (const named of [things, ...both.map((more) => ({ ...things, ...more }))]) {
        for (const query of queries) {
          const request = requestOf(each, named, 0, query);
          const { status, text } = await send(api, { ...request, token: tokenOf(`viewer of ${OWN}`) });
          expect(status, JSON.stringify(query)).toBeLessThan(500);
          read.push(...leaks(text, request).map((word) => `${JSON.stringify(query)} is told of ${word}`));
        }
      }
      expect(read).toEqual([]);
    },
    ROUTE_MS_MAX,
  );

  it('would see it: whoever sees the fleet is told of all of it', async () => {
    const { text } = await send(server.api, {
      method: 'get',
      path: '/api/v1/jobs',
      query: { window: 'all' },
      token: tokenOf('admin'),
    });
    const request = { method: 'get' as const, path: '', query: {} };
    expect(leaks(text, request)).toEqual(expect.arrayContaining(['zeta', 'zulu', 'zoe', '"102"', '33000000']));
  });
});

/** What the declaration in the document means. */
function wanted({ 'x-bursar-access': access }: ApiOperation, bearer: Bearer, asked: string | undefined): string {
  if (access.sees === 'open') return 'let in';
  if (bearer.role === undefined) return '401';
  if (ROLES.indexOf(bearer.role) < ROLES.indexOf(access.role)) return '403';
  if (bearer.team === undefined || access.sees === 'totals') return 'let in';
  if (access.sees === 'fleet') return '403';
  return asked === undefined || asked === bearer.team ? 'let in' : '403';
}

function askedTeams({ parameters }: ApiOperation): readonly (string | undefined)[] {
  return parameters.some(({ name }) => name === 'team') ? [undefined, OWN, OTHER] : [undefined];
}

interface Sent {
  readonly method: ApiMethod;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
}

/** A name that nobody has would be asked for nothing, and nothing leaks. */
function thingOf(name: string, things: typeof THINGS): readonly [string, string] {
  const thing = things[name];
  if (thing === undefined) throw new Error(`say in THINGS what one's own ${name} is called, and one of another team`);
  return thing;
}

/** What answers over all days, with names in its path that are there. */
function requestOf(
  { path, method, operation }: Operation,
  things: typeof THINGS,
  whose: 0 | 1,
  query: Readonly<Record<string, string>> = {},
): Sent {
  const takes = (name: string): boolean =>
    operation.parameters.some((each) => each.in === 'query' && each.name === name);
  return {
    method,
    path: path.replaceAll(/\{(\w+)\}/g, (_, name: string) => thingOf(name, things)[whose]),
    query: {
      ...(takes('window') && { window: path.startsWith('/api') ? 'all' : '2026-03-02T00:00:00Z,2026-03-03T00:00:00Z' }),
      ...(takes('month') && { month: '2026-03' }),
      ...query,
    },
  };
}

/** Words of others in what was told; those of the question are the asker's own. */
function leaks(text: string, { path, query }: Sent): string[] {
  const said = `${path} ${Object.values(query).join(' ')}`;
  return NOT_OF_NLP.filter((word) => text.includes(word) && !said.includes(word.replaceAll('"', '')));
}

async function send(
  { app }: Api,
  {
    path,
    method,
    query,
    token,
    ofSignIn = '',
  }: Sent & { readonly token?: string | undefined; readonly ofSignIn?: string },
): Promise<{ status: number; text: string }> {
  const body = { reason: 'why not', until: '2999-01-01', to: 'kim', token: ofSignIn };
  const response = await app.request(`http://127.0.0.1${path}?${new URLSearchParams(query).toString()}`, {
    method: method.toUpperCase(),
    headers: {
      host: '127.0.0.1',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(method === 'post' && { 'content-type': 'application/json' }),
    },
    ...(method === 'post' && { body: JSON.stringify(body) }),
  });
  if (response.headers.get('content-type')?.startsWith('text/event-stream') === true) {
    await response.body?.cancel();
    return { status: response.status, text: '' };
  }
  return { status: response.status, text: await response.text() };
}
