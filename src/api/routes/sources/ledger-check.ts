import { z } from 'zod';
import { checkLedger } from '../../../app/ledger-check.ts';
import type { CheckedDays } from '../../../app/ledger-check.ts';
import { ledgerCheckJson } from '../../../report/ledger-check-page.ts';
import { plainJson } from '../../plain-json.ts';
import { route } from '../../route.ts';
import { Micros, NoParams } from '../question.ts';

const Check = z.object({
  bills: z.array(
    z.looseObject({
      billId: z.string(),
      posted: z.boolean(),
      currency: z.string(),
      effectiveExact: z.string(),
      postedUsdMicros: Micros,
      differenceUsdMicros: Micros,
    }),
  ),
  differenceUsdMicros: Micros,
  rates: z.object({ rateUsdMicros: Micros, estimatedUsdMicros: Micros }),
  unattributedUsdMicros: Micros,
  unknownUsdMicros: Micros,
  unpricedSeconds: z.number(),
  rowsNotDerived: z.number().int(),
  faults: z.array(
    z.object({
      check: z.string(),
      cases: z.number().int(),
      examples: z.array(z.object({ place: z.string(), want: z.string(), got: z.string() })),
    }),
  ),
});
export type LedgerCheckReply = z.infer<typeof Check>;

/** A long history takes longer to check than a question may: what was checked when its time was up stays, and the next one goes on from there. */
const checked: CheckedDays = new Map();
const STEP_MS = 10_000;

export const ledgerCheckRoute = route({
  path: '/api/v1/ledger/check',
  name: 'checkLedger',
  summary: 'Does the ledger add up to the bills, and do its parts add up to it?',
  page: 'sources',
  access: { role: 'viewer', sees: 'fleet' },
  query: z.object({}),
  params: NoParams,
  reply: Check,
  command: () => 'bursar ledger check',
  answer: async ({ space }) => {
    const began = performance.now();
    const check = await checkLedger(space, { checked, isTimeUp: () => performance.now() - began > STEP_MS });
    return plainJson<LedgerCheckReply>(ledgerCheckJson(check));
  },
});
