import { z } from 'zod';
import { demoMark } from '../../../app/demo/demo-mark.ts';
import { receipt } from '../../../app/receipt.ts';
import { dataFlag } from '../../../report/data-flag.ts';
import { receiptJson, receiptLines } from '../../../report/receipt-page.ts';
import type { ReceiptStyle } from '../../../report/receipt-page.ts';
import { shellWord } from '../../../report/shell-word.ts';
import { route } from '../../route.ts';
import { askedJob, JobParams } from './job.ts';
import { plainJson } from '../../plain-json.ts';
import { AsOf, Instant, Micros, Team } from '../question.ts';

/** What `bursar receipt --json` prints. */
const ReceiptAlone = z.object({
  asOf: Instant,
  source: z.string(),
  allocationId: z.string(),
  job: z.string().nullable(),
  user: z.string().nullable(),
  team: z.string().nullable(),
  from: Instant,
  until: Instant,
  isRunning: z.boolean(),
  outcome: z.string().nullable(),
  lives: z.number(),
  gpus: z.number(),
  costUsdMicros: Micros.nullable(),
  components: z.record(z.string(), Micros.nullable()),
  basisUsdMicros: z.record(z.string(), Micros),
  computingSeconds: z.number(),
  idleSeconds: z.number(),
  starvedSeconds: z.number(),
  lostSeconds: z.number(),
  unknownSeconds: z.number(),
  unpricedSeconds: z.number(),
  idleUsdMicros: Micros.nullable(),
  starvedUsdMicros: Micros.nullable(),
  lostUsdMicros: Micros.nullable(),
  kind: z.object({ others: z.number(), medianUsdMicros: Micros }).nullable(),
  work: z.array(z.object({ unit: z.string(), quantity: z.string(), usdMicrosPerMillion: Micros.nullable() })),
});
const Receipt = ReceiptAlone.extend({
  text: z.string().meta({ description: 'As `bursar receipt` prints it' }),
  slack: z.string().meta({ description: 'As text of a Slack message' }),
  markdown: z.string(),
});
export type ReceiptReply = z.infer<typeof Receipt>;

export const receiptRoute = route({
  path: '/api/v1/jobs/{job}/receipt',
  name: 'getReceipt',
  summary: 'What a job cost and computed, beside what others of its kind cost',
  page: 'jobs',
  access: { role: 'viewer', sees: 'team' },
  query: z.object({ asOf: AsOf, team: Team }),
  params: JobParams,
  reply: Receipt,
  command: (_, { job }) => `bursar receipt ${shellWord(job)}`,
  answer: async ({ space, clock, query, params }) => {
    const answer = await receipt(space, askedJob(params.job, clock, query));
    const mark = demoMark(space.snapshot);
    const textOf = (style: ReceiptStyle): string =>
      receiptLines(answer, style, dataFlag(space.dataDir))
        .map((line) => (line === '' ? '' : mark + line))
        .join('\n');
    return {
      ...plainJson<z.infer<typeof ReceiptAlone>>(receiptJson(answer)),
      text: textOf('plain'),
      slack: textOf('slack'),
      markdown: textOf('markdown'),
    };
  },
});
