import { Hono } from 'hono';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { AtDesk, Desk } from '../../app/serve/desk.ts';
import type { Route } from '../route.ts';
import { route } from '../route.ts';
import { answerRoute } from './answer.ts';
import type { Reply } from './answer.ts';

/** Answers what the viewer sees, and how often it was asked. */
const counting = (more: Pick<Route, 'fresh'> = {}): Route => {
  let asked = 0;
  return route({
    path: '/api/v1/totals',
    name: 'totals',
    summary: 'Tells totals',
    page: 'service',
    access: { role: 'viewer', sees: 'totals' },
    query: z.object({}),
    params: z.object({}),
    reply: z.string(),
    answer: async ({ viewer }) => `${viewer.team ?? 'all'} ${(asked += 1)}`,
    ...more,
  });
};

/** Keeps what it may keep for as long as it is there, by its key and by nothing else. */
const plainDesk = (): Desk<Reply> => {
  const kept = new Map<string, Reply>();
  return {
    ask: async ({ key, isKept = true, answer }) => {
      const value = kept.get(key) ?? (await answer({} as AtDesk));
      if (isKept) kept.set(key, value);
      return { value, key, generation: 1, now: { at: new Date(0), by: 'clock' }, from: 'asked' };
    },
    look: async (_, work) => work({} as AtDesk),
    state: () => ({ waiting: 0, running: 0, keptBytes: 0 }),
    close: async () => undefined,
  };
};

/** What viewers of these teams are told, one after the other. */
async function told(each: Route, teams: readonly (string | undefined)[]): Promise<Response[]> {
  const desk = plainDesk();
  const replies: Response[] = [];
  for (const team of teams) {
    const viewer = { name: 'ann', role: 'viewer' as const, team };
    const app = new Hono().get('/', async (context) =>
      answerRoute(each, { desk, dataDir: './bursar-data' }, { viewer, who: 'ann', tokenHash: undefined }, context),
    );
    replies.push(await app.request('/'));
  }
  return replies;
}

describe('an answer', () => {
  const cases: Record<string, { more?: Pick<Route, 'fresh'>; teams: (string | undefined)[]; want: string[] }> = {
    'is kept for those who may see the same': { teams: ['nlp', 'nlp'], want: ['nlp 1', 'nlp 1'] },
    'is not that of those who may see more, or less': {
      teams: [undefined, 'nlp', 'asr', undefined],
      want: ['all 1', 'nlp 2', 'asr 3', 'all 1'],
    },
    'for which the outside world is asked is not kept': {
      more: { fresh: true },
      teams: ['nlp', 'nlp'],
      want: ['nlp 1', 'nlp 2'],
    },
  };
  it.each(Object.entries(cases))('%s', async (_, { more, teams, want }) => {
    const replies = await told(counting(more), teams);
    expect(await Promise.all(replies.map(async (reply) => reply.json()))).toEqual(want);
  });

  it('says by what it differs, so that no cache between gives it to somebody else', async () => {
    const [reply] = await told(counting(), ['nlp']);
    const varies = reply?.headers.get('vary')?.split(/, */);
    expect(varies).toEqual(expect.arrayContaining(['Authorization', 'Cookie', 'Accept-Encoding']));
    expect(reply?.headers.get('cache-control')).toBe('private, no-cache');
  });
});
