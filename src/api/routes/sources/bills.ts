import { z } from 'zod';
import { listBills } from '../../../app/bills/list-bills.ts';
import { billListJson } from '../../../report/bills-list.ts';
import { plainJson } from '../../plain-json.ts';
import { route } from '../../route.ts';
import { Instant, Micros, NoParams } from '../question.ts';

const Exact = z.string().meta({ description: 'An exact amount of the bill’s currency' });

const Bills = z.object({
  bills: z.array(
    z.looseObject({
      billId: z.string(),
      provider: z.string(),
      billingAccount: z.string(),
      currency: z.string(),
      periodStart: Instant,
      periodEnd: Instant,
      coveredUntil: Instant.nullable(),
      rows: z.number().int(),
      billedExact: Exact,
      effectiveExact: Exact,
      postedUsdMicros: Micros.nullable().meta({ description: 'Null where nothing of it stands in the ledger' }),
      invoices: z.array(z.string()),
      issue: z.number().int().meta({ description: 'How often it came in' }),
      importedAt: z.string().nullable(),
    }),
  ),
});
export type BillsReply = z.infer<typeof Bills>;

export const billsRoute = route({
  path: '/api/v1/bills',
  name: 'listBills',
  summary: 'The bills that are here: provider, account, period, what they come to, how often each came in',
  page: 'sources',
  access: { role: 'viewer', sees: 'fleet' },
  query: z.object({}),
  params: NoParams,
  reply: Bills,
  command: () => 'bursar bills',
  answer: async ({ space }) => plainJson<BillsReply>(billListJson(await listBills(space))),
});
