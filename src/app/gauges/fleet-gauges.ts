import { dayOf } from '../../lake/calendar.ts';
import { idleTotal } from '../../report/idle-list.ts';
import type { FleetGauges, TeamGauge } from '../../report/fleet-gauges.ts';
import { parseDimensions } from '../filter.ts';
import { idleNow } from '../idle.ts';
import type { Now } from '../now.ts';
import { spend } from '../spend.ts';
import { moneyWindow } from '../window.ts';
import type { LedgerWindow } from '../window.ts';
import type { ReadSpace } from '../workspace.ts';

/** More teams than this are one: a metric with a series for each of thousands of names breaks the server that keeps it. */
const TEAMS_MAX = 50;
const OTHER = '__other__';
const NOBODY = '__unattributed__';
const OPEN = new Set(['open', 'back']);

/**
 * Question: what of the fleet should be on a wall, and raise an alarm?
 *
 * Money and time are those of the last day that is over, so that a figure ties to `bursar spend --window DAY`; what is idle is so now.
 *
 * Reads: spend_day, what `idle` reads, charge.
 */
export async function fleetGauges(
  space: ReadSpace,
  now: Now,
  clock: Date,
  differenceOf: (space: ReadSpace) => Promise<bigint | null>,
): Promise<FleetGauges> {
  const { scope } = space;
  const day = scope === undefined ? undefined : lastWholeDay(scope.days, now.by === 'newest fact' ? clock : now.at);
  const idle = scope === undefined ? undefined : await idleNow(space, now, { soFar: false });
  const total = idle === undefined ? undefined : idleTotal(idle.holdings);
  return {
    generation: space.snapshot.generation,
    staleRows: space.staleRows,
    horizon: scope?.horizon ?? null,
    sources: space.sources.map(({ name, kind, pollS, lastOkAt, error }) => ({
      name,
      kind,
      pollSeconds: pollS,
      lastOkAt: lastOkAt ?? null,
      isFailing: error !== undefined,
    })),
    day: day ?? null,
    teams: day === undefined ? [] : await teamsOn(space, moneyWindow(day, now, clock, scope)),
    heldGpus: idle?.heldGpus ?? null,
    silentGpus: idle?.silentGpus ?? null,
    idleGpuUnits: total?.shareUnits ?? null,
    idleUsdMicrosPerHour: total?.shareUnits === 0n ? 0n : (total?.usdMicrosPerHour ?? null),
    openFindings: openFindings(space),
    billDifferenceUsdMicros: await differenceOf(space),
  };
}

/** The newest day of the ledger that is over; where facts are history, by the clock. */
function lastWholeDay(days: readonly string[], now: Date): string | undefined {
  const today = dayOf(now);
  return days.findLast((day) => day < today);
}

async function teamsOn(space: ReadSpace, window: LedgerWindow): Promise<TeamGauge[]> {
  const { rows } = await spend(space, {
    by: parseDimensions('team,category'),
    filters: [],
    window,
  });
  const moneyOf = new Map<string | null, bigint>();
  for (const { values, costUsdMicros } of rows) {
    const team = values[0] ?? null;
    moneyOf.set(team, (moneyOf.get(team) ?? 0n) + (costUsdMicros ?? 0n));
  }
  const named = [...moneyOf].filter((entry): entry is [string, bigint] => entry[0] !== null);
  const ranked = named.toSorted(([a, x], [b, y]) => (x === y ? (a < b ? -1 : 1) : x > y ? -1 : 1));
  const shown = new Set(ranked.slice(0, TEAMS_MAX).map(([team]) => team));
  const gauges = new Map<string, TeamGauge>();
  for (const { values, costUsdMicros, heldUnits, unpricedUnits } of rows) {
    const [team = null, category = null] = values;
    const label = team === null ? NOBODY : shown.has(team) ? team : OTHER;
    const key = JSON.stringify([label, category]);
    const other = gauges.get(key);
    gauges.set(key, {
      team: label,
      category: category ?? 'unknown',
      usdMicros: costUsdMicros === null ? (other?.usdMicros ?? null) : (other?.usdMicros ?? 0n) + costUsdMicros,
      gpuUnits: (other?.gpuUnits ?? 0n) + heldUnits,
      unpricedUnits: (other?.unpricedUnits ?? 0n) + unpricedUnits,
    });
  }
  return [...gauges.values()];
}

/** As of when somebody last looked: numbers are kept then. */
function openFindings({ findings }: ReadSpace): FleetGauges['openFindings'] {
  const records = findings.records();
  const kinds = new Map(records.map(({ key }) => [kindOf(key), 0]));
  for (const { key, state } of records) {
    if (OPEN.has(state)) kinds.set(kindOf(key), (kinds.get(kindOf(key)) ?? 0) + 1);
  }
  return [...kinds].map(([kind, count]) => ({ kind, count }));
}

function kindOf(key: string): string {
  return key.slice(0, key.indexOf(':'));
}
