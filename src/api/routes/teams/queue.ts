import { z } from 'zod';
import { queue } from '../../../app/queue/queue.ts';
import { queueJson } from '../../../report/queue-page.ts';
import { shellWord } from '../../../report/shell-word.ts';
import { plainJson } from '../../plain-json.ts';
import { route } from '../../route.ts';
import { AsOf, Instant, Micros, NoParams, Team } from '../question.ts';

const Query = z.object({
  window: z.string().default('7d').meta({ description: '7d, lastweek, 2026-11, all or FROM/UNTIL; UTC' }),
  asOf: AsOf,
  team: Team,
});

const Stood = z.object({ gpuSeconds: z.number(), usdMicros: Micros.nullable() });
const Place = z.object({
  complete: z.boolean(),
  nodes: z.array(z.string()),
  emptyGpus: z.number(),
  idleGpus: z.number(),
  gpusOnOneNode: z.number(),
  partsFit: z.number(),
  partsNeeded: z.number(),
  heldBy: z.array(
    z.object({ allocationId: z.string().nullable(), team: z.string().nullable(), user: z.string().nullable() }),
  ),
});

const Queue = z.object({
  asOf: Instant,
  asOfBy: z.enum(['asked', 'newest fact', 'clock']),
  window: z.object({ from: Instant, until: Instant }),
  waiting: z
    .array(
      z.object({
        source: z.string(),
        allocationId: z.string(),
        parts: z.number(),
        gpus: z.number(),
        gpusOfOnePart: z.number(),
        model: z.string().nullable(),
        heldBackBy: z.string().nullable(),
        cluster: z.string().nullable(),
        team: z.string().nullable(),
        user: z.string().nullable(),
        name: z.string().nullable(),
        since: Instant,
        waitedSeconds: z.number(),
        place: Place.nullable(),
      }),
    )
    .nullable()
    .meta({ description: 'The longest waiting first; null where no scheduler says who waits' }),
  emptyGpus: z.number(),
  idleGpus: z.number(),
  silentGpus: z.number(),
  models: z
    .array(z.object({ model: z.string().nullable(), waitedGpuSeconds: z.number(), idle: Stood, unallocated: Stood }))
    .nullable()
    .meta({
      description:
        "What stood idle and empty beside who waited, of the whole fleet; null where one team's is asked for",
    }),
  teams: z.array(
    z.object({
      team: z.string().nullable(),
      jobs: z.number().int(),
      medianSeconds: z.number(),
      p90Seconds: z.number(),
      medianSecondsBySize: z.record(z.string(), z.number().nullable()),
    }),
  ),
});
export type QueueReply = z.infer<typeof Queue>;

/** Who waits for a GPU, and which stand idle meanwhile. */
export const queueRoute = route({
  path: '/api/v1/queue',
  name: 'getQueue',
  summary: 'Who waits for GPUs and for how long, beside the GPUs that stand idle or empty meanwhile',
  page: 'teams',
  access: { role: 'viewer', sees: 'team' },
  query: Query,
  params: NoParams,
  reply: Queue,
  command: ({ window, team }) =>
    `bursar queue --all --window ${shellWord(window)}${team === undefined ? '' : ` --team ${shellWord(team)}`}`,
  answer: async ({ space, clock, query }) => {
    const { window, asOf, team } = query;
    const scope = { ...(asOf !== undefined && { asOf: new Date(asOf) }), ...(team !== undefined && { team }) };
    return plainJson<QueueReply>(queueJson(await queue(space, { window, clock, ...scope })));
  },
});
