import { conditionText, filterText } from '../../filter-words.ts';
import type { FleetReply } from '../../../../src/api/routes/fleet/fleet.ts';

/** GPU machines on a bill that no inventory has: nothing of them is measured, not even which GPU it is. */
export const NO_INVENTORY = 'model=,category=unknown';

interface GpuMoney {
  readonly all: string;
  readonly active: string;
  readonly idle: string;
  readonly unallocated: string;
  readonly unknown: string;
}

/** What a figure of the sentence is of, in words; undefined where its filter says it well. */
export function gpuMoneyWords(
  groups: FleetReply['groups'],
  filter: string | undefined,
  of: string,
): string | undefined {
  const money = gpuMoney(groups, filter);
  if (of === money.all) return 'GPU time in the map';
  if (of === money.active) return 'with activity';
  return of === money.unknown ? 'unknown, in the map' : undefined;
}

/**
 * What each figure of the map is of, as a filter of the ledger.
 *
 * Unknown money is that of the models in the map: what a bill has for machines that no inventory knows is in no row.
 */
export function gpuMoney(groups: FleetReply['groups'], filter: string | undefined): GpuMoney {
  const models = [...new Set(groups.map(({ model }) => model))];
  const named = models.flatMap((model) => model ?? []);
  const inMap =
    named.length === models.length && named.length > 0
      ? `model=${named.map((value) => conditionText({ name: '', value }).slice(1)).join('|')}`
      : undefined;
  const of = (...parts: readonly (string | undefined)[]): string => filterText(filter, ...parts) ?? '';
  return {
    all: of('category=computing|starved|lost|idle|unallocated|unknown', inMap),
    active: of('category=computing|starved|lost'),
    idle: of('category=idle'),
    unallocated: of('category=unallocated'),
    unknown: of('category=unknown', inMap),
  };
}
