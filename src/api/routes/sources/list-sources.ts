import { z } from 'zod';
import { freshness, loadedTables } from '../../../app/freshness.ts';
import { sourcesJson } from '../../../report/collect-report.ts';
import { coverageJson } from '../../../report/freshness.ts';
import { plainJson } from '../../plain-json.ts';
import { route } from '../../route.ts';
import { Instant, Micros, NoParams } from '../question.ts';

const Sources = z.object({
  sources: z
    .array(
      z.object({
        name: z.string(),
        kind: z.string(),
        state: z.enum(['ok', 'late', 'failing', 'never']),
        reads: z.string(),
        coveredUntil: Instant.nullable(),
        lastOkAt: Instant.nullable(),
        lastTriedAt: Instant.nullable(),
        error: z.object({ at: Instant, code: z.string(), message: z.string(), hint: z.string().optional() }).nullable(),
        rows: z.record(z.string(), z.number()),
        skipped: z.array(z.object({ reason: z.string(), count: z.number(), example: z.string() })),
        gaps: z.array(z.object({ from: Instant, until: Instant, reason: z.string() })),
        gpus: z.object({ seen: z.number(), notRead: z.number() }).nullable(),
      }),
    )
    .meta({ description: 'What is collected; none where everything was imported' }),
  tables: z
    .array(
      z.object({
        table: z.string(),
        batches: z.number().int(),
        rows: z.number().int(),
        firstAt: z.string().nullable(),
        newestAt: z.string().nullable(),
      }),
    )
    .meta({ description: 'What is in the folder, table by table' }),
  freshness: z.object({
    from: Instant,
    until: Instant,
    clusters: z.array(
      z.object({
        cluster: z.string().nullable(),
        gpus: z.number().int(),
        hours: z.array(z.number().nullable()),
        knownUntil: Instant.nullable(),
        unknownUsdMicros: Micros,
      }),
    ),
  }),
  asOf: Instant,
});
export type SourcesReply = z.infer<typeof Sources>;

/** How each source is. */
export const sourcesRoute = route({
  path: '/api/v1/sources',
  name: 'listSources',
  summary: 'What is collected from where: freshness, gaps, rows, errors; and what the gaps of 48 hours are worth',
  page: 'sources',
  // Errors and examples of what was left out may name jobs and people.
  access: { role: 'viewer', sees: 'fleet' },
  query: z.object({}),
  params: NoParams,
  reply: Sources,
  command: () => 'bursar sources',
  answer: async ({ space, clock }) =>
    plainJson<SourcesReply>({
      ...sourcesJson(space.sources, clock),
      ...coverageJson(loadedTables(space), await freshness(space)),
      asOf: `${clock.toISOString().slice(0, 19)}Z`,
    }),
});
