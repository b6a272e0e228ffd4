import { addDays, startOf } from '../../lake/calendar.ts';
import { CATEGORIES } from '../../ledger/waterfall.ts';
import type { Breakdown, BreakdownRow, BreakdownSum, StepSums } from '../../report/breakdown/breakdown-answer.ts';
import type { Spend, SpendPrice, SpendRow } from '../../report/spend-table.ts';
import { parseDimensions } from '../filter.ts';
import type { Dimension, Filter } from '../filter.ts';
import type { Now } from '../now.ts';
import { spend } from '../spend.ts';
import { shareOf, sumOf } from '../waste/category-sum.ts';
import { windowBefore } from '../window.ts';
import type { LedgerWindow } from '../window.ts';
import type { ReadSpace } from '../workspace.ts';
import { stepsOf } from './steps.ts';

export interface BreakdownRequest {
  readonly by: readonly Dimension[];
  readonly window: LedgerWindow;
  readonly now: Now;
  readonly filters: readonly Filter[];
  readonly stepSeconds: number;
  readonly price?: SpendPrice;
  /** So many groups are told each by itself, the dearest first; the others together. */
  readonly groupsMax: number;
}

/** One group's rows of each question. */
interface Group {
  readonly values: readonly (string | null)[];
  readonly whole: SpendRow[];
  readonly before: SpendRow[];
  readonly steps: SpendRow[];
}

/**
 * Question: what did each group cost, what was it before, where did its money go, and when?
 *
 * The same figures as `spend --by …`, of which the page's table, bars and lines are made. Reads: what `spend` reads, of the window and
 * of the one before.
 */
export async function breakdown(space: ReadSpace, request: BreakdownRequest): Promise<Breakdown> {
  const { by, window, filters, stepSeconds, price = 'amortised' } = request;
  const earlier = windowBefore(window, request.now.at, space.scope);
  const ask = (dimensions: readonly Dimension[], over: LedgerWindow, step?: number): Promise<Spend> =>
    spend(space, { by: dimensions, window: over, filters, price, ...(step !== undefined && { stepSeconds: step }) });
  const steps = knownSteps(window, stepSeconds);
  const whole = await ask([...by, ...parseDimensions('category')], window);
  const stepped = await ask([...by, ...parseDimensions('basis')], window, stepSeconds);
  const before = earlier.isKnown ? await ask([...by, ...parseDimensions('category')], earlier.window) : undefined;
  const beforeSteps = earlier.isKnown ? await ask([], earlier.window, stepSeconds) : undefined;
  const groups = groupsOf(by.length, whole, before, stepped);
  const [told, others] = [groups.slice(0, request.groupsMax), groups.slice(request.groupsMax)];
  const sum = (some: readonly Group[]): BreakdownSum => sumGroups(some, steps, before !== undefined);
  return {
    by: by.map(({ name }) => name),
    window,
    before: { from: earlier.window.from, until: window.from, isKnown: earlier.isKnown },
    price,
    filter: whole.filter,
    stepSeconds,
    steps: steps.map(({ from }) => from),
    estimated: estimatedSteps(stepped, steps),
    stepsBefore:
      beforeSteps === undefined
        ? { usdMicros: [], gpuUnits: [] }
        : stepSums(beforeSteps.rows, knownSteps(earlier.window, stepSeconds)),
    rows: told.map((group): BreakdownRow => ({ values: group.values, ...sum([group]) })),
    others: others.length === 0 ? undefined : { groups: others.length, ...sum(others) },
    total: sum(groups),
  };
}

/** The dearest first, what is nobody's last. What was there only before is a group too: nothing may drop out of a comparison. */
function groupsOf(count: number, whole: Spend, before: Spend | undefined, stepped: Spend): Group[] {
  const groups = new Map<string, Group>();
  const groupOf = (row: SpendRow): Group => {
    const values = row.values.slice(0, count);
    const key = JSON.stringify(values);
    const group = groups.get(key) ?? { values, whole: [], before: [], steps: [] };
    groups.set(key, group);
    return group;
  };
  for (const row of whole.rows) groupOf(row).whole.push(row);
  for (const row of before?.rows ?? []) groupOf(row).before.push(row);
  for (const row of stepped.rows) groupOf(row).steps.push(row);
  const isNobodys = ({ values }: Group): boolean => values[0] === null;
  const cost = (group: Group): bigint => sumOf(group.whole).usdMicros ?? 0n;
  const costs = new Map([...groups.values()].map((group) => [group, cost(group)]));
  return [...groups.values()].toSorted((a, b) => {
    if (isNobodys(a) !== isNobodys(b)) return isNobodys(a) ? 1 : -1;
    const [left, right] = [costs.get(a) ?? 0n, costs.get(b) ?? 0n];
    if (left !== right) return left > right ? -1 : 1;
    return JSON.stringify(a.values) < JSON.stringify(b.values) ? -1 : 1;
  });
}

function sumGroups(groups: readonly Group[], steps: readonly KnownStep[], isBeforeKnown: boolean): BreakdownSum {
  const rows = groups.flatMap(({ whole }) => whole);
  const before = groups.flatMap((group) => group.before);
  return {
    sum: sumOf(rows),
    beforeUsdMicros: isBeforeKnown ? sumOf(before).usdMicros : null,
    computedPermille: computed(rows),
    computedBeforePermille: computed(before),
    categories: new Map(
      CATEGORIES.flatMap((category) => {
        const own = inCategory(rows, category);
        return own.length === 0 ? [] : [[category, sumOf(own)] as const];
      }),
    ),
    steps: stepSums(
      groups.flatMap((group) => group.steps),
      steps,
    ),
  };
}

function inCategory(rows: readonly SpendRow[], ...categories: readonly string[]): SpendRow[] {
  return rows.filter(({ values }) => categories.includes(values.at(-1) ?? ''));
}

/** Computing ÷ (paid − beside − unknown); null where nothing is known. */
function computed(rows: readonly SpendRow[]): number | null {
  const micros = (some: readonly SpendRow[]): bigint => sumOf(some).usdMicros ?? 0n;
  const known = micros(rows) - micros(inCategory(rows, 'beside', 'unknown'));
  return shareOf(micros(inCategory(rows, 'computing')), known).permille;
}

interface KnownStep {
  readonly from: Date;
  /** False of what lies wholly outside the ledger's days: nobody knows what it cost. */
  readonly isKnown: boolean;
}

function knownSteps(window: LedgerWindow, stepSeconds: number): KnownStep[] {
  const spans = window.days.map((day) => ({ from: startOf(day), until: startOf(addDays(day, 1)) }));
  return stepsOf(window, stepSeconds).map((from) => {
    const until = new Date(from.getTime() + stepSeconds * 1000);
    return { from, isKnown: spans.some((day) => day.from < until && from < day.until) };
  });
}

function stepSums(rows: readonly SpendRow[], steps: readonly KnownStep[]): StepSums {
  const byStep = new Map<number, SpendRow[]>();
  for (const row of rows) {
    const at = row.step?.getTime() ?? 0;
    const own = byStep.get(at);
    if (own === undefined) byStep.set(at, [row]);
    else own.push(row);
  }
  const sums = steps.map(({ from, isKnown }) => (isKnown ? sumOf(byStep.get(from.getTime()) ?? []) : undefined));
  return { usdMicros: sums.map((sum) => sum?.usdMicros ?? null), gpuUnits: sums.map((sum) => sum?.gpuUnits ?? null) };
}

function estimatedSteps({ rows }: Spend, steps: readonly KnownStep[]): boolean[] {
  const estimated = new Set(
    rows
      .filter(({ values, costUsdMicros }) => values.at(-1) === 'estimated' && (costUsdMicros ?? 0n) !== 0n)
      .map(({ step }) => step?.getTime()),
  );
  return steps.map(({ from }) => estimated.has(from.getTime()));
}
