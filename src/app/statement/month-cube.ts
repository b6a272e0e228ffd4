import { DIMENSIONS, parseDimensions, parseFilters } from '../filter.ts';
import type { Dimension, Filter } from '../filter.ts';
import { spend } from '../spend.ts';
import type { LedgerWindow } from '../window.ts';
import type { ReadSpace } from '../workspace.ts';

/** One sum of a month: all that statements group by. */
export interface CubeRow {
  readonly team: string | null;
  readonly project: string | null;
  readonly class: string | null;
  readonly model: string | null;
  readonly component: string;
  readonly category: string;
  readonly basis: string;
  /** The rule that gave it its team, where that can be asked. */
  readonly rule: string | null;
  readonly usdMicros: bigint | null;
  readonly gpuUnits: bigint;
  readonly unpricedUnits: bigint;
}

const BY = parseDimensions('team,project,class,model,component,category,basis');
const RULE = DIMENSIONS.filter(({ name }) => name === 'rule');
const TEAM = parseDimensions('team');

/**
 * Question: what did each team pay for in a window?
 *
 * Asked of `spend`, so that a statement and `bursar spend` cannot differ: rules, aliases and shared cost are applied there.
 */
export async function monthCube(space: ReadSpace, window: LedgerWindow): Promise<CubeRow[]> {
  const { rows } = await spend(space, { by: [...BY, ...RULE], window, filters: [] });
  return rows.map(({ values, costUsdMicros, heldUnits, unpricedUnits }) => {
    const [team = null, project = null, klass = null, model = null, component, category, basis, rule = null] = values;
    return {
      team,
      project,
      class: klass,
      model,
      component: component ?? 'other',
      category: category ?? 'unknown',
      basis: basis ?? 'unpriced',
      rule,
      usdMicros: costUsdMicros,
      gpuUnits: heldUnits,
      unpricedUnits,
    };
  });
}

/** Money of each team in a window, for months that are closed. */
export async function teamSums(space: ReadSpace, window: LedgerWindow): Promise<Map<string | null, bigint>> {
  const { rows } = await spend(space, { by: TEAM, window, filters: [] });
  return new Map(
    rows.flatMap(({ values, costUsdMicros }) => (costUsdMicros === null ? [] : [[values[0] ?? null, costUsdMicros]])),
  );
}

/** Only single entries know these. */
const DISPOSITION: Dimension = { name: 'disposition', entryColumn: 'w.disposition' };
const WORKLOAD: Dimension = { name: 'workload', entryColumn: 'o.workload_name' };

export interface NamedSum {
  readonly team: string | null;
  readonly name: string | null;
  readonly usdMicros: bigint | null;
  readonly gpuUnits: bigint;
  readonly unpricedUnits: bigint;
}

/** What stands on the component `other`, by team and kind: tax, credits, support and rounding have lines of their own. */
export async function otherKinds(space: ReadSpace, window: LedgerWindow): Promise<NamedSum[]> {
  return sumsBy(space, window, DISPOSITION, parseFilters(['component=other']));
}

/** Work by team and its name, the dearest first. */
export async function workloads(space: ReadSpace, window: LedgerWindow): Promise<NamedSum[]> {
  return (await sumsBy(space, window, WORKLOAD, [])).filter(({ name }) => name !== null);
}

async function sumsBy(
  space: ReadSpace,
  window: LedgerWindow,
  dimension: Dimension,
  filters: readonly Filter[],
): Promise<NamedSum[]> {
  if (window.days.length === 0) return [];
  const { rows } = await spend(space, { by: [...TEAM, dimension], window, filters });
  return rows.map(({ values, costUsdMicros, heldUnits, unpricedUnits }) => ({
    team: values[0] ?? null,
    name: values[1] ?? null,
    usdMicros: costUsdMicros,
    gpuUnits: heldUnits,
    unpricedUnits,
  }));
}
