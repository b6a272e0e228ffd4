import { tmpdir } from 'node:os';
import { z } from 'zod';
import type { Access, Deed, Route } from '../src/api/route.ts';
import { deed, route } from '../src/api/route.ts';
import { AsOf, NoParams, Team } from '../src/api/routes/question.ts';
import { OperationError } from '../src/facts/operation-error.ts';
import { csvLine } from '../src/report/safe-text.ts';

/** What a spreadsheet would run. */
export const HOSTILE = '=cmd|calc';

function made(name: string, access: Access, more: Partial<Route> = {}): Route {
  return {
    ...route({
      path: `/api/v1/${name}`,
      name,
      summary: `Tells ${name}`,
      page: 'service',
      access,
      query: z.object({
        team: Team,
        step: z.enum(['1h', '1d']).optional().meta({ description: '1h or 1d' }),
        fail: z.string().optional(),
        asOf: AsOf,
      }),
      params: NoParams,
      reply: z.object({ team: z.string().nullable() }),
      command: ({ team }) => `bursar spend --filter 'team=${team ?? ''}'`,
      answer: async ({ query, viewer }) => {
        if (query.fail === 'ours') throw new Error(`a secret of ${tmpdir()}`);
        if (query.fail !== undefined) throw new OperationError(query.fail, 'it failed', { hint: 'do this' });
        return { team: query.team ?? null, sees: viewer.team ?? 'all', long: 'x'.repeat(5000) };
      },
      csv: () => csvLine(['name']) + csvLine([HOSTILE]),
    }),
    ...more,
  };
}

/** One route for each rule there is. */
export const MADE_ROUTES = [
  made('anybody', { role: 'viewer', sees: 'open' }),
  made('totals', { role: 'viewer', sees: 'totals' }),
  made('money', { role: 'viewer', sees: 'team' }),
  made('fleet', { role: 'viewer', sees: 'fleet' }),
  made('settings', { role: 'admin', sees: 'fleet' }),
];
export const MADE_DEEDS: readonly Deed[] = [
  deed({
    path: '/api/v1/findings/{finding}/accept',
    name: 'acceptFinding',
    summary: 'Accepts a finding',
    page: 'findings',
    access: { role: 'operator', sees: 'team' },
    params: z.object({ finding: z.string() }),
    body: z.object({ reason: z.string().min(1).meta({ description: 'Why' }) }),
    reply: z.object({ by: z.string() }),
    act: async ({ viewer, params, body }) => ({ by: viewer.name, finding: params.finding, reason: body.reason }),
  }),
];
