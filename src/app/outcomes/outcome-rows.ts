import { SERVING_UNITS } from '../../facts/work.ts';
import {
  COUNTED_PERMILLE_MIN,
  GROWTH_PERMILLE_MAX,
  GROWTH_USD_MICROS_MIN,
  unitUsdMicros,
} from '../../report/outcomes-answer.ts';
import type { CostGrowth, OutcomeFigures, OutcomeRow } from '../../report/outcomes-answer.ts';
import { kindOfName } from './finished-runs.ts';
import type { Achieved } from './meet-work.ts';
import { paidTogether } from './paid-holdings.ts';

export type OutcomeBy = 'model' | 'team' | 'run' | 'unit';

const PER: Readonly<Record<string, bigint>> = {
  token: 1_000_000n,
  prompt_token: 1_000_000n,
  generation_token: 1_000_000n,
  request: 1000n,
  inference: 1000n,
};
/** A price below a cent is told of a thousand or a million instead. */
const CENT_MICROS = 10_000n;
const UNIT_ORDER: readonly string[] = ['token', 'prompt_token', 'generation_token', 'request', 'inference'];
/** What an alarm is about: the first of these that a model has. */
const TRAFFIC_UNITS = ['token', 'inference', 'request'];

interface Sum {
  readonly name: string | null;
  readonly unit: string;
  readonly figures: OutcomeFigures;
  readonly sharedBy: string | null;
}

/** Rows by name and unit, with the window before beside each; the dearest first. */
export function outcomeRows(
  by: OutcomeBy,
  now: readonly Achieved[],
  before: readonly Achieved[],
  /** What was achieved in each week of the window, oldest first. */
  weeks: readonly (readonly Achieved[])[] = [],
): readonly OutcomeRow[] {
  const earlier = sumsOf(by, before);
  const weekly = weeks.map((week) => sumsOf(by, week));
  const priceOf = (figures: OutcomeFigures | undefined, per: bigint): bigint | null =>
    figures === undefined ? null : unitUsdMicros(figures.paid.usdMicros, figures.quantityMillionths, per);
  const sums = sumsOf(by, now);
  const pers = new Map([...sumsOf('unit', now).values()].map(({ unit, figures }) => [unit, perOf(unit, figures)]));
  return [...sums]
    .map(([key, { name, unit, figures, sharedBy }]) => ({
      name,
      unit,
      per: pers.get(unit) ?? 1n,
      now: figures,
      before: earlier.get(key)?.figures ?? null,
      sharedBy,
      weeks: weekly.map((week) => priceOf(week.get(key)?.figures, pers.get(unit) ?? 1n)),
    }))
    .toSorted(compareRows);
}

function sumsOf(by: OutcomeBy, achieved: readonly Achieved[]): ReadonlyMap<string, Sum> {
  const members = new Map<string, { readonly name: string | null; readonly unit: string; readonly of: Achieved[] }>();
  for (const each of achieved) {
    if (each.paid === undefined) continue;
    const name = nameOf(by, each);
    for (const [unit, quantity] of each.units) {
      if (quantity === 0n && each.units.size > 1) continue;
      const key = JSON.stringify([name, unit]);
      const known = members.get(key) ?? { name, unit, of: [] };
      known.of.push(each);
      members.set(key, known);
    }
  }
  return new Map(
    [...members].map(([key, { name, unit, of }]) => [
      key,
      { name, unit, figures: figuresOf(unit, of), sharedBy: of.find(({ sharedBy }) => sharedBy)?.sharedBy ?? null },
    ]),
  );
}

/** The name work goes by in a table. */
export function nameOf(by: OutcomeBy, { modelName, run, team }: Achieved): string | null {
  switch (by) {
    case 'model':
      // Runs are many, and what tells them apart is mostly a number.
      return modelName ?? (run === undefined ? null : kindOfName(run));
    case 'run':
      return run ?? modelName ?? null;
    case 'team':
      return team;
    case 'unit':
      return null;
  }
}

function figuresOf(unit: string, of: readonly Achieved[]): OutcomeFigures {
  const held = of.reduce((sum, { heldSeconds }) => sum + heldSeconds, 0n);
  const counted = of.reduce((sum, { countedSeconds }) => sum + countedSeconds, 0n);
  return {
    quantityMillionths: of.reduce((sum, { units }) => sum + (units.get(unit) ?? 0n), 0n),
    paid: paidTogether(of.flatMap(({ paid }) => paid ?? [])),
    countedPermille: held === 0n || counted === 0n ? null : Math.min(1000, Number((counted * 1000n) / held)),
  };
}

function perOf(unit: string, { quantityMillionths, paid }: OutcomeFigures): bigint {
  const fixed = PER[unit];
  if (fixed !== undefined) return fixed;
  const isReadable = (per: bigint): boolean => {
    const price = unitUsdMicros(paid.usdMicros, quantityMillionths, per);
    return price === null || price >= CENT_MICROS;
  };
  return [1n, 1000n].find(isReadable) ?? 1_000_000n;
}

function compareRows(a: OutcomeRow, b: OutcomeRow): number {
  const isServing = (row: OutcomeRow): boolean => SERVING_UNITS.some((unit) => unit === row.unit);
  if (isServing(a) !== isServing(b)) return isServing(a) ? -1 : 1;
  const cost = (b.now.paid.usdMicros ?? -1n) - (a.now.paid.usdMicros ?? -1n);
  if (cost !== 0n && a.name !== b.name) return cost < 0n ? -1 : 1;
  if (a.name !== b.name) return (a.name ?? '') < (b.name ?? '') ? -1 : 1;
  const place = (unit: string): number => (UNIT_ORDER.includes(unit) ? UNIT_ORDER.indexOf(unit) : UNIT_ORDER.length);
  return place(a.unit) - place(b.unit) || (a.unit < b.unit ? -1 : 1);
}

/**
 * Which served models became dearer by more than their traffic explains?
 *
 * The rule: a unit costs more than a fifth more than in the window before (allocation basis), the cost itself rose by at least $100, and
 * counters cover nine tenths of the held time in both windows. What is unknown raises no alarm.
 */
export function costGrowth(now: readonly Achieved[], before: readonly Achieved[]): readonly CostGrowth[] {
  const rows = outcomeRows('model', now, before);
  const names = [...new Set(rows.map(({ name }) => name))];
  return names.flatMap((name) => {
    const of = rows.filter((row) => row.name === name);
    const row = TRAFFIC_UNITS.map((unit) => of.find((each) => each.unit === unit)).find((each) => each !== undefined);
    return row !== undefined && row.before !== null && isGrowth(row.now, row.before)
      ? [{ name, unit: row.unit, per: row.per, now: row.now, before: row.before }]
      : [];
  });
}

function isGrowth(now: OutcomeFigures, before: OutcomeFigures): boolean {
  const [cost, earlier] = [now.paid.usdMicros, before.paid.usdMicros];
  if (cost === null || earlier === null || cost - earlier < GROWTH_USD_MICROS_MIN) return false;
  if (now.paid.unpricedUnits > 0n || before.paid.unpricedUnits > 0n) return false;
  const areCounted = [now, before].every(({ countedPermille }) => (countedPermille ?? 0) >= COUNTED_PERMILLE_MIN);
  // Multiplied out, so that no quotient is rounded before it is compared, and traffic that stopped is growth too.
  const grew =
    cost * before.quantityMillionths * 1000n > earlier * now.quantityMillionths * (1000n + GROWTH_PERMILLE_MAX);
  return areCounted && grew && before.quantityMillionths > 0n;
}
