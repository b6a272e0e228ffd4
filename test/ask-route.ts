import { expect } from 'vitest';
import { decideNow } from '../src/app/now.ts';
import { withReader } from '../src/app/workspace.ts';
import type { Route } from '../src/api/route.ts';

interface Question {
  readonly query?: Readonly<Record<string, string>>;
  readonly params?: Readonly<Record<string, string>>;
}

const CLOCK = new Date('2026-03-10T00:00:00Z');

/** What every route is handed, of a folder whose facts are older than the clock. */
async function askedOf<Result>(
  dataDir: string,
  route: Route,
  { query = {}, params = {} }: Question,
  work: (asked: Parameters<Route['answer']>[0]) => Promise<Result>,
): Promise<Result> {
  return withReader(dataDir, async (space) => {
    const parsed = route.query.parse(query);
    const asOf = typeof parsed['asOf'] === 'string' ? new Date(parsed['asOf']) : undefined;
    const asked = {
      space,
      now: decideNow(asOf, space.scope?.horizon, CLOCK),
      clock: CLOCK,
      viewer: { name: 'test', role: 'admin', team: undefined } as const,
      config: undefined,
      query: parsed,
      params: route.params.parse(params),
    };
    return work(asked);
  });
}

/** The answer of a route as a client gets it; it has to be exactly what its schema says. */
export async function askRoute<Reply>(dataDir: string, route: Route, question: Question = {}): Promise<Reply> {
  const reply = JSON.parse(
    JSON.stringify(await askedOf(dataDir, route, question, async (asked) => route.answer(asked))),
  ) as Reply;
  expect(route.reply.parse(reply)).toEqual(reply);
  return reply;
}

/** The bytes of a route that has no JSON. */
export async function askRouteBytes(dataDir: string, route: Route, question: Question = {}): Promise<ArrayBuffer> {
  const bytes = await askedOf(dataDir, route, question, async (asked) => route.bytes?.(asked) ?? new Uint8Array());
  return new Uint8Array(bytes).buffer;
}
