import { WASTE_CATEGORIES } from '../../report/category-words.ts';
import { isoTime } from '../../report/figures.ts';
import type { OutcomesAnswer, RunRow } from '../../report/outcomes-answer.ts';
import { parseDimensions } from '../filter.ts';
import { spend } from '../spend.ts';
import { ledgerWindow, windowBefore } from '../window.ts';
import type { LedgerWindow } from '../window.ts';
import type { ReadSpace } from '../workspace.ts';
import { runGroups } from './finished-runs.ts';
import type { RunGroup } from './finished-runs.ts';
import { meetWork } from './meet-work.ts';
import type { Achieved, Meeting } from './meet-work.ts';
import { costGrowth, nameOf, outcomeRows } from './outcome-rows.ts';
import type { OutcomeBy } from './outcome-rows.ts';
import { findOwnJobs, ownWork } from './own-jobs.ts';
import { paidHoldings, paidTogether, subjectsOnNodes } from './paid-holdings.ts';
import { countWork, otherWork } from './work-done.ts';

export interface OutcomesRequest {
  readonly window: LedgerWindow;
  readonly now: Date;
  readonly by: OutcomeBy;
  /** Only this unit; undefined: all. */
  readonly unit?: string;
}

/**
 * Question: what was achieved in a window, and what did a unit of it cost?
 *
 * Reads: work, allocation, holding, the waterfall or its sums by day, and ownership of the window and of the one before it, which has the same length.
 */
export async function outcomes(space: ReadSpace, request: OutcomesRequest): Promise<OutcomesAnswer> {
  const { window, now, by, unit } = request;
  const end = window.until < now ? window.until : now;
  const { window: earlier, isKnown } = windowBefore(window, now, space.scope);
  const meeting = await meetingIn(space, window, end, by);
  const before = await meetingIn(space, earlier, window.from, by);
  const weeks = await weeksOf(space, window, end, { now, by });
  const runs = await runGroups(space, window.from, end, by);
  const runsBefore = earlier.days.length === 0 ? [] : await runGroups(space, earlier.from, window.from, by);
  const isAsked = (row: { readonly unit: string }): boolean => unit === undefined || row.unit === unit;
  const classed = ({ isClassed }: RunGroup): boolean => isClassed;
  const unclassed = runs.filter(({ isClassed }) => !isClassed);
  const { byBasis, teams, unpricedUnits } = await teamShares(space, window);
  return {
    asOf: now,
    by,
    unit,
    window: { asked: window.asked, from: window.from, until: window.until, ledgerDays: window.days.length },
    before: { from: earlier.from, until: window.from, isKnown },
    rows: outcomeRows(by, meeting.achieved, before.achieved, weeks).filter(isAsked),
    runs: unit === undefined || unit === 'run' ? runRows(runs.filter(classed), runsBefore.filter(classed)) : [],
    unclassified: {
      runs: unclassed.reduce((sum, { together }) => sum + together.runs, 0),
      usdMicros: paidTogether(unclassed.map(({ together }) => together.paid)).usdMicros,
    },
    alarms: isKnown ? costGrowth(meeting.achieved, before.achieved) : [],
    uncounted: meeting.uncounted
      .map(({ name, team, paid }) => ({ name, team, usdMicros: paid.usdMicros, gpuUnits: paid.gpuUnits }))
      .toSorted((a, b) => Number((b.usdMicros ?? 0n) - (a.usdMicros ?? 0n))),
    unpaid: unpaidWork(meeting).filter(isAsked),
    teams,
    basisUsdMicros: byBasis,
    unpricedUnits,
  };
}

const WEEK_MS = 7 * 86_400_000;
const WEEKS_MAX = 13;

/** The whole weeks of a window, counted back from its end; none where there is but one. */
async function weeksOf(
  space: ReadSpace,
  { from }: LedgerWindow,
  end: Date,
  { now, by }: Pick<OutcomesRequest, 'now' | 'by'>,
): Promise<readonly (readonly Achieved[])[]> {
  const count = Math.min(WEEKS_MAX, Math.floor((end.getTime() - from.getTime()) / WEEK_MS));
  if (count < 2) return [];
  const weeks: (readonly Achieved[])[] = [];
  for (let back = count; back > 0; back -= 1) {
    const begin = new Date(end.getTime() - back * WEEK_MS);
    const until = new Date(begin.getTime() + WEEK_MS);
    const week = ledgerWindow(`${isoTime(begin)}/${isoTime(until)}`, now, space.scope);
    weeks.push((await meetingIn(space, week, until, by)).achieved);
  }
  return weeks;
}

async function meetingIn(space: ReadSpace, window: LedgerWindow, end: Date, by: OutcomeBy): Promise<Meeting> {
  await countWork(space, window.from, end);
  await findOwnJobs(space, window, by);
  const own = await ownWork(space, window, end);
  const work = await otherWork(space);
  const holdings = await paidHoldings(space, window, end);
  const nodeIds = work.flatMap(({ nodeId, pod, allocationId }) =>
    nodeId !== null && pod === null && allocationId === null ? [nodeId] : [],
  );
  const { achieved, uncounted } = meetWork(work, holdings, await subjectsOnNodes(space, window, [...new Set(nodeIds)]));
  return { achieved: [...own, ...achieved], uncounted };
}

function runRows(now: readonly RunGroup[], before: readonly RunGroup[]): RunRow[] {
  const earlier = new Map(before.map(({ name, together }) => [name, together]));
  return now
    .map(({ name, together }) => ({ name, now: together, before: earlier.get(name) ?? null }))
    .toSorted((a, b) => Number((b.now.paid.usdMicros ?? 0n) - (a.now.paid.usdMicros ?? 0n)));
}

function unpaidWork({ achieved }: Meeting): OutcomesAnswer['unpaid'] {
  const sums = new Map<string, { name: string | null; unit: string; quantityMillionths: bigint }>();
  for (const each of achieved) {
    if (each.paid !== undefined) continue;
    for (const [unit, quantity] of each.units) {
      // Under its own name: it is to be found and tied to a job.
      const name = nameOf('run', each);
      const key = JSON.stringify([name, unit]);
      const known = sums.get(key) ?? { name, unit, quantityMillionths: 0n };
      sums.set(key, { ...known, quantityMillionths: known.quantityMillionths + quantity });
    }
  }
  return [...sums.values()];
}

interface Shares {
  readonly teams: OutcomesAnswer['teams'];
  readonly byBasis: Readonly<Record<string, bigint>>;
  readonly unpricedUnits: bigint;
}

/** The same figures as `spend --by team,category`. */
async function teamShares(space: ReadSpace, window: LedgerWindow): Promise<Shares> {
  const answer = await spend(space, { by: parseDimensions('team,category'), window, filters: [] });
  const byTeam = new Map<string | null, Map<string, { micros: bigint | null; units: bigint }>>();
  for (const { values, costUsdMicros, heldUnits } of answer.rows) {
    const team = byTeam.get(values[0] ?? null) ?? new Map<string, { micros: bigint | null; units: bigint }>();
    team.set(values[1] ?? '', { micros: costUsdMicros, units: heldUnits });
    byTeam.set(values[0] ?? null, team);
  }
  const teams = [...byTeam].map(([team, categories]) => {
    const all = [...categories.values()];
    const known = ['computing', ...WASTE_CATEGORIES].reduce(
      (sum, category) => sum + (categories.get(category)?.micros ?? 0n),
      0n,
    );
    return {
      team,
      usdMicros: all.every(({ micros }) => micros === null)
        ? null
        : all.reduce((sum, { micros }) => sum + (micros ?? 0n), 0n),
      gpuUnits: all.reduce((sum, { units }) => sum + units, 0n),
      computePermille:
        known <= 0n ? null : Number(((categories.get('computing')?.micros ?? 0n) * 1000n + known / 2n) / known),
    };
  });
  return {
    teams: teams.toSorted((a, b) => Number((b.usdMicros ?? 0n) - (a.usdMicros ?? 0n))),
    byBasis: Object.fromEntries(answer.usdMicrosByBasis),
    unpricedUnits: answer.unpricedUnits,
  };
}
