import type { z } from 'zod';
import type { Config } from '../app/config/source-config.ts';
import type { DecidingParts } from '../app/findings/decide-finding.ts';
import type { Now } from '../app/now.ts';
import type { ReadSpace } from '../app/workspace.ts';
import type { Role, Viewer } from '../facts/viewer.ts';

export type { Role, Viewer } from '../facts/viewer.ts';

/**
 * Who may ask, and how much a viewer of one team sees of the answer. Every route declares it; one that does not fails the build.
 * `open`: anybody, without a token. `totals`: any viewer, since nothing in it names a team, a job or a person. `team`: the answer takes
 * a team, and a viewer of one team only ever asks about that one. `fleet`: only who may see the whole fleet.
 */
export interface Access {
  readonly role: Role;
  readonly sees: 'open' | 'totals' | 'team' | 'fleet';
}

/** What a route has in hand: one state of the ledger, the moment it is asked at, and what was asked. */
export interface Asked<Query, Params> {
  readonly space: ReadSpace;
  readonly now: Now;
  readonly clock: Date;
  /** What the viewer may see, and not who it is: viewers who may see the same share one answer. */
  readonly viewer: Pick<Viewer, 'team'>;
  readonly query: Query;
  readonly params: Params;
  /** bursar.yaml as it is in force; undefined where there is none. */
  readonly config: Config | undefined;
}

/**
 * A question over HTTP: a value, so that the router, the OpenAPI document, the authorisation matrix and the tests all read the same list.
 *
 * The answer is what the command of the same name prints with `--json`, so that both give the same figures. For routes that see a `team`
 * and are asked by a viewer of one, `query.team` is that team already when `answer` runs.
 */
export interface Route<
  Query extends z.ZodObject = z.ZodObject,
  Params extends z.ZodObject = z.ZodObject,
  Reply extends z.ZodType = z.ZodType,
> {
  /** In OpenAPI's spelling: `/api/v1/jobs/{job}`. */
  readonly path: string;
  /** The operation's name, camelCase: `listJobs`. */
  readonly name: string;
  /** One line that begins with a verb or a question. */
  readonly summary: string;
  readonly page: 'overview' | 'spend' | 'fleet' | 'jobs' | 'findings' | 'teams' | 'sources' | 'service';
  readonly access: Access;
  readonly query: Query;
  readonly params: Params;
  readonly reply: Reply;
  /** Set where the outside world is asked too: its answers are not kept. */
  readonly fresh?: true;
  /** The words to type for the same figures. */
  readonly command?: (query: z.output<Query>, params: z.output<Params>) => string;
  readonly answer: (asked: Asked<z.output<Query>, z.output<Params>>) => Promise<z.output<Reply>>;
  /** Where a table can be had of it: `?format=csv`. */
  readonly csv?: (reply: z.output<Reply>) => string;
  /** Where the answer is bytes and no JSON: `reply` describes the header of it in words. */
  readonly bytes?: (asked: Asked<z.output<Query>, z.output<Params>>) => Promise<Uint8Array>;
}

/** Keeps the types of a route's parts together; the list holds them without. */
export function route<Query extends z.ZodObject, Params extends z.ZodObject, Reply extends z.ZodType>(
  value: Route<Query, Params, Reply>,
): Route {
  return value;
}

/** What changes something of Bursar's own (never of the fleet): accept, exempt, dismiss. The same as the command does. */
export interface Deed<
  Params extends z.ZodObject = z.ZodObject,
  Body extends z.ZodType = z.ZodType,
  Reply extends z.ZodType = z.ZodType,
> extends Pick<Route, 'path' | 'name' | 'summary' | 'page' | 'access'> {
  readonly params: Params;
  readonly body: Body;
  readonly reply: Reply;
  readonly act: (asked: {
    readonly parts: DecidingParts;
    readonly viewer: Viewer;
    readonly params: z.output<Params>;
    readonly body: z.output<Body>;
  }) => Promise<z.output<Reply>>;
}

export function deed<Params extends z.ZodObject, Body extends z.ZodType, Reply extends z.ZodType>(
  value: Deed<Params, Body, Reply>,
): Deed {
  return value;
}
