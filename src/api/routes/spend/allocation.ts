import { z } from 'zod';
import { allocations } from '../../../app/allocation/allocations.ts';
import { openCostStep, openCostWindow } from '../../../app/allocation/opencost-window.ts';
import { moneyWindow } from '../../../app/window.ts';
import { openCostSets } from '../../../report/opencost-allocation.ts';
import { route } from '../../route.ts';
import type { Route } from '../../route.ts';
import { AsOf, Instant, NoParams, Team } from '../question.ts';

const Flag = z.enum(['true', 'false']).default('false');
const NotHere = z.literal('false').default('false');

const Query = z.object({
  window: z
    .string()
    .default('7d')
    .meta({ description: 'today, yesterday, week, lastmonth, 12h, 7d, FROM,UNTIL as RFC 3339 or Unix seconds' }),
  aggregate: z.string().default('namespace').meta({
    description: 'cluster, node, namespace, controllerKind, controller, pod, team, label:NAME; several with commas',
  }),
  step: z.string().optional().meta({ description: 'One set for each step: 1h, 1d; left out, one set for the window' }),
  accumulate: Flag.meta({ description: 'true: one set for the window whatever step says' }),
  includeIdle: Flag.meta({ description: 'true: also __idle__, capacity that nobody claimed' }),
  shareIdle: NotHere.meta({ description: 'Bursar does not spread idle money over those who did not cause it' }),
  idleByNode: NotHere.meta({ description: 'aggregate=node tells it by node' }),
  resolution: z.string().optional().meta({ description: 'Taken and not needed: the ledger knows every second' }),
  asOf: AsOf,
  team: Team,
});

const Usd = z.number().nullable().meta({ description: 'USD, a float as in OpenCost; null where nothing has a price' });

const Allocation = z.object({
  name: z.string(),
  properties: z.record(z.string(), z.union([z.string(), z.record(z.string(), z.string())])),
  window: z.object({ start: Instant, end: Instant }),
  start: Instant,
  end: Instant,
  minutes: z.number(),
  cpuCost: Usd.meta({ description: 'The host without its GPUs: CPU and memory together' }),
  cpuEfficiency: z.null(),
  gpuCount: z.number(),
  gpuHours: z.number(),
  gpuCost: Usd,
  gpuCostIdle: Usd.meta({ description: 'Of gpuCost: time in which the GPU stood still' }),
  gpuEfficiency: z.number().nullable().meta({ description: 'Computing share of the held time that was measured' }),
  networkCost: z.number(),
  loadBalancerCost: z.number(),
  pvCost: z.number(),
  pvs: z.null(),
  ramCost: z.number(),
  ramEfficiency: z.null(),
  sharedCost: z.number(),
  externalCost: z.number().meta({ description: 'Support, tax, credits and what else is on a bill beside machines' }),
  totalCost: Usd,
  totalEfficiency: z.number().nullable(),
  bursarUnpricedGpuHours: z.number().meta({ description: 'GPU-hours without a price: in no cost here' }),
});

const Reply = z.object({
  code: z.literal(200),
  status: z.literal('success'),
  data: z.array(z.record(z.string(), Allocation)),
});

const at = (path: string, name: string): Route =>
  route({
    path,
    name,
    summary: "What was allocated to whom, in OpenCost's shape",
    page: 'service',
    access: { role: 'viewer', sees: 'team' },
    query: Query,
    params: NoParams,
    reply: Reply,
    answer: async ({ space, now, clock, query }) => {
      // Facts that end at midnight are about the day that ends there.
      const seenFrom = now.by === 'newest fact' ? new Date(now.at.getTime() - 1) : now.at;
      const window = moneyWindow(openCostWindow(query.window, seenFrom), now, clock, space.scope);
      const isOneSet = query.step === undefined || query.accumulate === 'true';
      const answer = await allocations(space, {
        window,
        aggregate: query.aggregate
          .split(',')
          .map((each) => each.trim())
          .filter((each) => each !== ''),
        stepSeconds: isOneSet ? undefined : openCostStep(query.step ?? ''),
        team: query.team,
      });
      const data = openCostSets(answer, { includeIdle: query.includeIdle === 'true' });
      return { code: 200 as const, status: 'success' as const, data: data.map((set) => ({ ...set })) };
    },
  });

/** Both names OpenCost answers to, so that panels made for it need another address and nothing else. */
export const allocationRoutes: readonly Route[] = [
  at('/allocation', 'getAllocation'),
  at('/allocation/compute', 'computeAllocation'),
];
