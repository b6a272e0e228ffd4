import { z } from 'zod';
import { job } from '../../../app/job.ts';
import { jobHours } from '../../../app/jobs/job-hours.ts';
import { jobHoursJson } from '../../../report/job-hours.ts';
import { jobJson } from '../../../report/job-page.ts';
import { csvLine } from '../../../report/safe-text.ts';
import { shellWord } from '../../../report/shell-word.ts';
import { route } from '../../route.ts';
import { microsOf, plainJson } from '../../plain-json.ts';
import { AsOf, Instant, Micros, Team } from '../question.ts';

const Category = z.object({ usdMicros: Micros.nullable(), gpuSeconds: z.number() });

/** What `bursar job --json` prints. */
const Job = z.object({
  asOf: Instant,
  source: z.string(),
  allocationId: z.string(),
  job: z.string().nullable(),
  user: z.string().nullable(),
  team: z.string().nullable(),
  project: z.string().nullable(),
  class: z.string().nullable(),
  cluster: z.string().nullable(),
  attempts: z.array(
    z.object({
      attempt: z.number(),
      heldFrom: Instant,
      heldUntil: Instant.nullable(),
      outcome: z.string().nullable(),
      gpus: z.number(),
    }),
  ),
  usdMicros: Micros.nullable(),
  basisUsdMicros: z.record(z.string(), Micros),
  gpuSeconds: z.number(),
  unpricedSeconds: z.number(),
  conflictSeconds: z.number(),
  sharedSeconds: z.number(),
  categories: z.record(z.string(), Category),
  computingBy: z
    .array(z.object({ reason: z.string().nullable(), usdMicros: Micros.nullable(), gpuSeconds: z.number() }))
    .meta({ description: 'What bound the time that computed; null where profiling fields are missing' }),
  devices: z.array(
    z.object({
      deviceId: z.string(),
      node: z.string().nullable(),
      model: z.string().nullable(),
      usdMicros: Micros.nullable(),
      computingSeconds: z.number(),
      idleSeconds: z.number(),
      starvedSeconds: z.number(),
      lostSeconds: z.number(),
      unknownSeconds: z.number(),
    }),
  ),
  parts: z.unknown().meta({ description: 'What its machines cost beside the GPU, as `bursar beside --json` has it' }),
  waiting: z.unknown().meta({ description: 'Who waited while its GPUs were idle' }),
  findings: z.array(z.object({ number: z.number(), what: z.string(), state: z.string() })),
  rule: z.string().nullable().meta({ description: 'By which rule it is its team’s' }),
  hours: z
    .array(
      z.object({
        hour: Instant,
        category: z.string(),
        costUsdMicros: Micros.nullable(),
        gpuSeconds: z.number(),
        unpricedSeconds: z.number().meta({ description: 'Of these; beside an amount they make it a lower bound' }),
      }),
    )
    .meta({ description: 'Its money by the hour and by what became of it; what stands beside its GPUs is `beside`' }),
  activity: z.object({
    from: Instant,
    until: Instant,
    stepSeconds: z.number(),
    rows: z.array(z.object({ deviceId: z.string(), node: z.string().nullable(), cells: z.string() })).meta({
      description: 'A letter for each step and GPU: 0–6 a level, x not measured, - not held; 64 GPUs at most',
    }),
  }),
});
export type JobReply = z.infer<typeof Job>;

export const JobParams = z.object({ job: z.string().min(1).meta({ description: 'Its id, or source/id' }) });

/** Which job is asked for, as of when, and by whom. */
export function askedJob(
  id: string,
  clock: Date,
  { asOf, team }: { asOf?: string | undefined; team?: string | undefined },
) {
  return { id, clock, ...(asOf !== undefined && { asOf: new Date(asOf) }), ...(team !== undefined && { team }) };
}

export const jobRoute = route({
  path: '/api/v1/jobs/{job}',
  name: 'getJob',
  summary: 'What one job cost by the hour, and what its GPUs did meanwhile',
  page: 'jobs',
  access: { role: 'viewer', sees: 'team' },
  query: z.object({ asOf: AsOf, team: Team }),
  params: JobParams,
  reply: Job,
  command: (_, { job: id }) => `bursar job ${shellWord(id)}`,
  answer: async ({ space, clock, query, params }) => {
    const answer = await job(space, askedJob(params.job, clock, query));
    return plainJson<JobReply>({
      ...(jobJson(answer) as object),
      ...jobHoursJson(await jobHours(space, answer)),
    });
  },
  csv: ({ hours }) =>
    [
      csvLine(['hour', 'category', 'costUsdMicros', 'gpuSeconds', 'unpricedSeconds']),
      ...hours.map((row) =>
        csvLine([row.hour, row.category, microsOf(row.costUsdMicros), row.gpuSeconds, row.unpricedSeconds]),
      ),
    ].join(''),
});
