import { z } from 'zod';
import { demoMark } from '../../../app/demo/demo-mark.ts';
import { fleetSize } from '../../../app/freshness.ts';
import { sourceState } from '../../../report/collect-report.ts';
import { isoTime } from '../../../report/figures.ts';
import { route } from '../../route.ts';
import { Instant, NoParams } from '../question.ts';

const Status = z.object({
  generation: z.number().int(),
  isDemo: z.boolean(),
  gpus: z.number().int().meta({ description: 'At the newest fact' }),
  clusters: z.number().int(),
  newestFactAt: Instant.nullable(),
  ageSeconds: z.number().nullable().meta({ description: 'How old the newest fact is; null where there is none' }),
  isHistory: z.boolean().meta({ description: 'Nothing is collected here: facts were imported and do not grow old' }),
  billedUntil: Instant.nullable().meta({ description: 'Up to where every account has a bill; null without one' }),
  rowsNotDerived: z.number().int(),
  sources: z.object({
    total: z.number().int(),
    attention: z.number().int().meta({ description: 'Late: not asked for two of their own rounds' }),
    wrong: z.number().int().meta({ description: 'Failing, or never answered' }),
    silentSince: Instant.nullable().meta({ description: 'Up to where the one that is furthest behind has told' }),
  }),
});
export type StatusReply = z.infer<typeof Status>;

/** What the frame of every page says: how large, how fresh, billed up to when. It names nobody. */
export const statusRoute = route({
  path: '/api/v1/status',
  name: 'getStatus',
  summary: 'How large the fleet is, how fresh its facts are, and up to when bills cover it',
  page: 'service',
  access: { role: 'viewer', sees: 'totals' },
  query: z.object({}),
  params: NoParams,
  reply: Status,
  answer: async ({ space, clock }) => {
    const { scope, snapshot, sources } = space;
    const states = sources.map((record) => ({ record, state: sourceState(record, clock) }));
    const behind = states
      .filter(({ state }) => state !== 'ok')
      .flatMap(({ record }) => record.coveredUntil ?? [])
      .toSorted((a, b) => a.getTime() - b.getTime())[0];
    return {
      generation: snapshot.generation,
      isDemo: demoMark(snapshot) !== '',
      ...(await fleetSize(space)),
      newestFactAt: scope === undefined ? null : isoTime(scope.horizon),
      ageSeconds: scope === undefined ? null : Math.round((clock.getTime() - scope.horizon.getTime()) / 1000),
      isHistory: sources.length === 0,
      billedUntil: billedUntil(scope?.bills ?? []),
      rowsNotDerived: space.staleRows,
      sources: {
        total: sources.length,
        attention: states.filter(({ state }) => state === 'late').length,
        wrong: states.filter(({ state }) => state === 'failing' || state === 'never').length,
        silentSince: behind === undefined ? null : isoTime(behind),
      },
    };
  },
});

interface CoveringBill {
  readonly provider: string;
  readonly billingAccount: string;
  readonly coveredUntil: string | null;
}

/** The newest bill of each account speaks up to some moment; all of them speak up to the earliest of those. */
function billedUntil(bills: readonly CoveringBill[]): string | null {
  const newest = new Map<string, string>();
  for (const { provider, billingAccount, coveredUntil } of bills) {
    const account = JSON.stringify([provider, billingAccount]);
    if (coveredUntil !== null && coveredUntil > (newest.get(account) ?? '')) newest.set(account, coveredUntil);
  }
  const [first] = [...newest.values()].toSorted();
  return first === undefined ? null : `${first.slice(0, 19).replace(' ', 'T')}Z`;
}
