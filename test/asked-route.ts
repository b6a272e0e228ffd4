import { clockOf } from '../src/app/demo/demo-mark.ts';
import { decideNow } from '../src/app/now.ts';
import { withReader } from '../src/app/workspace.ts';
import type { Deed, Route, Viewer } from '../src/api/route.ts';
import { dispatch } from '../src/cli/dispatch.ts';
import type { CommandEntry } from '../src/cli/dispatch.ts';
import { served } from './served.ts';

type Words = Readonly<Record<string, string>>;

const FLEET_VIEWER: Viewer = { name: 'tester', role: 'admin', team: undefined };

export interface AskedBy {
  readonly query?: Words;
  readonly params?: Words;
  /** A viewer of one team asks about that one, as the edge makes it. */
  readonly viewer?: Viewer;
}

/** What a route answers on a folder, held against its own schema: a reply it does not describe fails here. */
export async function askRoute<Reply>(dataDir: string, route: Route, asked: AskedBy = {}): Promise<Reply> {
  const viewer = asked.viewer ?? FLEET_VIEWER;
  const team = viewer.team === undefined ? {} : { team: viewer.team };
  const query = route.query.parse({ ...asked.query, ...team });
  const params = route.params.parse(asked.params ?? {});
  return withReader(dataDir, async (space) => {
    const clock = clockOf(space);
    const now = decideNow(undefined, space.scope?.horizon, clock);
    const question = { space, now, clock, viewer, query, params, config: undefined };
    return route.reply.parse(await route.answer(question)) as Reply;
  });
}

/** What a deed does on a folder. */
export async function doDeed<Reply>(
  dataDir: string,
  deed: Deed | undefined,
  finding: string,
  body: object = {},
  viewer: Viewer = FLEET_VIEWER,
): Promise<Reply> {
  if (deed === undefined) throw new Error('there is no such deed');
  const params = deed.params.parse({ finding });
  const server = await served(dataDir);
  try {
    const parts = { dataDir, standing: server.standing, desk: server.desk };
    return deed.reply.parse(await deed.act({ parts, viewer, params, body: deed.body.parse(body) })) as Reply;
  } finally {
    await server.close();
  }
}

const COMMANDS: readonly CommandEntry[] = [
  { name: 'bills', summary: '', load: () => import('../src/cli/commands/bills.ts') },
  { name: 'doctor', summary: '', load: () => import('../src/cli/commands/doctor.ts') },
  { name: 'finding', summary: '', load: () => import('../src/cli/commands/finding.ts') },
  { name: 'findings', summary: '', load: () => import('../src/cli/commands/findings.ts') },
  { name: 'job', summary: '', load: () => import('../src/cli/commands/job.ts') },
  { name: 'jobs', summary: '', load: () => import('../src/cli/commands/jobs.ts') },
  { name: 'ledger', summary: '', load: () => import('../src/cli/commands/ledger.ts') },
  { name: 'outcomes', summary: '', load: () => import('../src/cli/commands/outcomes.ts') },
  { name: 'queue', summary: '', load: () => import('../src/cli/commands/queue.ts') },
  { name: 'rules', summary: '', load: () => import('../src/cli/commands/rules.ts') },
  { name: 'runaway', summary: '', load: () => import('../src/cli/commands/runaway.ts') },
  { name: 'sources', summary: '', load: () => import('../src/cli/commands/sources.ts') },
  { name: 'spend', summary: '', load: () => import('../src/cli/commands/spend.ts') },
  { name: 'statement', summary: '', load: () => import('../src/cli/commands/statement.ts') },
  { name: 'waste', summary: '', load: () => import('../src/cli/commands/waste.ts') },
];

/** What the words that a route gives for the command line print there. */
export async function printed(dataDir: string, route: Route, query: Words, ...flags: string[]): Promise<string> {
  return printedBy(dataDir, route.command?.(route.query.parse(query), {}) ?? '', flags);
}

/** The same as JSON. */
export async function printedJson(
  dataDir: string,
  route: Route,
  { query = {}, params = {} }: AskedBy = {},
): Promise<unknown> {
  const words = route.command?.(route.query.parse(query), route.params.parse(params)) ?? '';
  return JSON.parse(await printedBy(dataDir, words, ['--json']));
}

async function printedBy(dataDir: string, words: string, flags: readonly string[]): Promise<string> {
  const args = [...words.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '').slice(1);
  let data = '';
  let talk = '';
  const exitCode = await dispatch([...args, ...flags, '--data', dataDir], '0', COMMANDS, {
    stdout: { write: (text) => (data += text) },
    stderr: { write: (text) => (talk += text) },
  });
  if (exitCode !== 0) throw new Error(`${words}: ${talk}`);
  return data;
}

/** A question over HTTP, without a socket. */
export async function request(dataDir: string, path: string, query: Words = {}): Promise<Response> {
  const server = await served(dataDir);
  try {
    return await server.request(`${path}?${new URLSearchParams(query).toString()}`);
  } finally {
    await server.close();
  }
}

/** What the server answers, held against the route's own schema. */
export async function reply<Reply>(
  dataDir: string,
  route: Route,
  query: Words = {},
  path = route.path,
): Promise<Reply> {
  const response = await request(dataDir, path, query);
  const body: unknown = await response.json();
  if (!response.ok) throw new Error(JSON.stringify(body));
  return route.reply.parse(body) as Reply;
}
