import { z } from 'zod';
import { billDifference } from '../../../app/gauges/bill-difference.ts';
import { fleetGauges } from '../../../app/gauges/fleet-gauges.ts';
import { fleetGaugesJson } from '../../../report/fleet-gauges.ts';
import { route } from '../../route.ts';
import { AsOf, Instant, Micros, NoParams } from '../question.ts';

const Gauges = z.object({
  generation: z.number(),
  staleRows: z.number().meta({ description: 'Rows of facts that are not in the ledger yet' }),
  horizon: Instant.nullable().meta({ description: 'The newest fact' }),
  sources: z.array(
    z.object({
      name: z.string(),
      kind: z.string(),
      pollSeconds: z.number(),
      lastOkAt: Instant.nullable().meta({ description: 'When it last answered; null where it never has' }),
      isFailing: z.boolean(),
    }),
  ),
  day: z.iso.date().nullable().meta({ description: 'The last day that is over: what teams is about' }),
  teams: z.array(
    z.object({
      team: z.string().meta({ description: 'The 50 dearest; __other__ the rest, __unattributed__ what is nobody’s' }),
      category: z.string(),
      costUsdMicros: Micros.nullable(),
      gpuSeconds: z.number(),
      unpricedSeconds: z.number(),
    }),
  ),
  unknownPermille: z.number().nullable().meta({ description: 'Of the time held on that day' }),
  heldGpus: z.number().nullable(),
  silentGpus: z.number().nullable().meta({ description: 'Held now, and nothing is known of them' }),
  idleGpus: z.number().nullable(),
  idleUsdMicrosPerHour: Micros.nullable(),
  openFindings: z.array(z.object({ kind: z.string(), count: z.number() })),
  billDifferenceUsdMicros: Micros.nullable().meta({ description: 'Null without bills, and while facts wait' }),
});
export type GaugesReply = z.infer<typeof Gauges>;

const differenceOf = billDifference();

export const gaugesRoute = route({
  path: '/api/v1/gauges',
  name: 'getGauges',
  summary: 'The figures of /metrics: what should be on a wall, and raise an alarm',
  page: 'service',
  access: { role: 'viewer', sees: 'fleet' },
  query: z.object({ asOf: AsOf }),
  params: NoParams,
  reply: Gauges,
  answer: async ({ space, now, clock }) =>
    fleetGaugesJson(await fleetGauges(space, now, clock, differenceOf)) as GaugesReply,
});
