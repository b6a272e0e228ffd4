import { COST_PARTS } from '../../report/hidden-costs-page.ts';
import type {
  CostPart,
  CostPartName,
  HiddenCosts,
  ServedWaiting,
  SharedBeside,
} from '../../report/hidden-costs-page.ts';
import type { Dimension, Filter } from '../filter.ts';
import { filterOn, filterText, parseDimensions, parseFilters } from '../filter.ts';
import { spend } from '../spend.ts';
import type { LedgerWindow } from '../window.ts';
import type { ReadSpace } from '../workspace.ts';
import { apartMoney } from './apart-money.ts';
import { servedWaiting } from './served-waiting.ts';
import { waitingHours } from './waiting-hours.ts';

/** Not for people's `--by`: which resource a dollar is of. */
const RESOURCE: Dimension = { name: 'resource', entryColumn: 'w.resource_id' };
const DEAREST_SHOWN = 3;

/**
 * Question: what stands beside the GPU for a job, a team or anything else, and who waited while its GPUs were idle?
 *
 * The parts are those of the ledger's entries and add up to what `spend` says of the same scope.
 *
 * Reads: what `spend` reads, and what `waitingHours` reads.
 */
export async function hiddenCosts(
  space: ReadSpace,
  filters: readonly Filter[],
  window: LedgerWindow,
): Promise<HiddenCosts> {
  const by = await spend(space, { by: parseDimensions('component'), window, filters });
  const money = new Map(by.rows.map(({ values, costUsdMicros }) => [values[0] ?? 'other', costUsdMicros]));
  return {
    window: { asked: window.asked, from: window.from, until: window.until, ledgerDays: window.days.length },
    filter: filterText(filters),
    parts: await partsOf(space, filters, window, money),
    usdMicros: by.totalUsdMicros,
    unpricedUnits: by.unpricedUnits,
    usdMicrosByBasis: by.usdMicrosByBasis,
    waiting: await idleWhileWaiting(space, filters, window),
  };
}

async function partsOf(
  space: ReadSpace,
  filters: readonly Filter[],
  window: LedgerWindow,
  money: ReadonlyMap<string, bigint | null>,
): Promise<CostPart[]> {
  const parts = new Map<CostPartName, bigint | null>();
  for (const name of COST_PARTS) {
    const micros = money.get(name);
    if (micros !== undefined) parts.set(name, micros);
  }
  let other = money.get('other') ?? 0n;
  if (other !== 0n || money.has('other')) {
    for (const [name, usdMicros] of await apartMoney(space, window, filters)) {
      parts.set(name, usdMicros);
      other -= usdMicros;
    }
    if (other === 0n) parts.delete('other');
    else parts.set('other', other);
  }
  return COST_PARTS.flatMap((part) => {
    const usdMicros = parts.get(part);
    return usdMicros === undefined ? [] : [{ part, usdMicros }];
  });
}

/** What stands between two requests of a service is nobody else's to use. */
const NOT_SERVING: Filter = { dimension: filterOn('reason', 'bare').dimension, values: ['parked', 'bare', null] };

async function idleWhileWaiting(
  space: ReadSpace,
  filters: readonly Filter[],
  window: LedgerWindow,
): Promise<ServedWaiting | undefined> {
  const waiting = await waitingHours(space, window);
  if (waiting === undefined) return undefined;
  const { rows } = await spend(space, {
    by: parseDimensions('hour,cluster,model'),
    window,
    filters: [
      ...filters.filter(({ dimension }) => dimension.name !== 'category'),
      filterOn('category', 'idle'),
      NOT_SERVING,
    ],
  });
  const idle = rows.map(({ values: [hour, cluster, model], heldUnits, costUsdMicros, unpricedUnits }) => ({
    hour: hour ?? '',
    cluster: cluster ?? null,
    model: model ?? null,
    units: heldUnits,
    usdMicros: costUsdMicros,
    unpricedUnits,
  }));
  return servedWaiting(idle, waiting);
}

/**
 * Question: which storage, transfer and network money belongs to nobody, by tag, resource or job?
 *
 * Reads: what `spend` reads.
 */
export async function sharedBeside(space: ReadSpace, window: LedgerWindow): Promise<SharedBeside[]> {
  const { rows } = await spend(space, {
    by: [...parseDimensions('component'), RESOURCE],
    window,
    filters: parseFilters(['component=storage|transfer|network', 'team=']),
  });
  const components = [...new Set(rows.map(({ values }) => values[0] ?? ''))];
  return components
    .map((component) => {
      const own = rows
        .filter(
          ({ values, costUsdMicros }) => values[0] === component && costUsdMicros !== null && costUsdMicros !== 0n,
        )
        .map(({ values, costUsdMicros }) => ({ resourceId: values[1] ?? null, usdMicros: costUsdMicros ?? 0n }));
      return {
        component,
        usdMicros: own.reduce((sum, { usdMicros }) => sum + usdMicros, 0n),
        resources: own.length,
        dearest: own
          .toSorted((a, b) => (a.usdMicros > b.usdMicros ? -1 : a.usdMicros < b.usdMicros ? 1 : 0))
          .slice(0, DEAREST_SHOWN),
      };
    })
    .filter(({ resources }) => resources > 0)
    .toSorted((a, b) => (a.usdMicros > b.usdMicros ? -1 : a.usdMicros < b.usdMicros ? 1 : 0));
}
