import type { AllocationRow, Organisation, WorkRow } from '../organisation.ts';
import { DAY_S, dayOf, hourOf } from '../organisation.ts';
import { groupedBy } from '../order.ts';
import type { Period } from '../order.ts';
import type { GpuHour } from './gpu-hour.ts';
import { mannerOfRow } from './manner.ts';

/** From when on the work of an attempt is lost on a day; `from` and `until` are the attempt's on that day. */
export interface Fate extends Period {
  readonly outcome: string;
  readonly lost_from: number;
}

/** What of an allocation tells which job it is of. */
type Named = Pick<
  AllocationRow,
  | 'source'
  | 'allocation_id'
  | 'attempt'
  | 'cluster'
  | 'namespace'
  | 'workload_kind'
  | 'workload_name'
  | 'labels'
  | 'account'
  | 'user_name'
  | 'submitted_at'
>;

interface Attempt<Row extends Named = AllocationRow> {
  readonly rows: readonly Row[];
  readonly begun_at: number;
}

const FORTNIGHT_S = 14 * DAY_S;
const BAD_ENDS = ['failed', 'out-of-memory', 'node-fail', 'preempted', 'timeout'];

const keyOf = (row: Pick<AllocationRow, 'source' | 'allocation_id' | 'attempt'>): string =>
  JSON.stringify([row.source, row.allocation_id, row.attempt]);

function least(values: readonly (string | null)[]): string | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((a, b) => (a < b ? a : b));
}

/** The fates of an organisation's attempts: asked for a holder and a moment, the fate of that day. */
export function fatesOf(
  org: Organisation,
  horizon: number,
  gpuHours: readonly GpuHour[],
): (holder: Pick<AllocationRow, 'source' | 'allocation_id' | 'attempt'>, time: number) => Fate | undefined {
  const endOf = (row: AllocationRow): number =>
    row.held_until ?? Math.min(horizon, row.observed_at === null ? horizon : row.observed_at + 2 * row.poll_s);
  const rows = org.allocations.filter((row) => row.gpu_count > 0);
  const attempts = groupedBy(rows, keyOf);
  const onDay = (of: readonly AllocationRow[], day: number): Attempt => {
    const there = of.filter((row) => row.held_from < day + DAY_S && endOf(row) > day);
    return { rows: there, begun_at: Math.min(...there.map((row) => row.held_from)) };
  };
  /** Attempts as they are on the day on which they begin, which are jobs then. */
  const begun = [...attempts.values()].flatMap((of) => {
    const days = [...new Set(of.map((row) => dayOf(row.held_from)))];
    return days
      .map((day) => ({ day, attempt: onDay(of, day) }))
      .filter(({ day, attempt }) => attempt.begun_at >= day && isJob(attempt))
      .map(({ attempt }) => attempt);
  });
  /** Who waits goes on as a life after every other. */
  const waits: Attempt<Named>[] = org.waiting
    .filter((row) => row.waited_until === null)
    .map((row) => ({ rows: [{ ...row, attempt: Infinity, labels: {} }], begun_at: row.submitted_at }))
    .filter(isJob);
  const heldHours = gpuHours.filter((row) => row.source !== null);
  const hoursOf = groupedBy(heldHours, (row) => JSON.stringify([row.source, row.allocation_id, row.attempt]));
  const told = new Map<string, Fate | undefined>();
  return (holder, time) => {
    const name = `${keyOf(holder)} ${dayOf(time)}`;
    if (!told.has(name)) told.set(name, fateOf(dayOf(time)));
    return told.get(name);

    function hadRested(day: number): boolean {
      const { rows: there } = onDay(attempts.get(keyOf(holder)) ?? [], day);
      return isTakenAtRest(there, hoursOf.get(keyOf(holder)) ?? [], day);
    }

    function begunAt(day: number): number {
      return onDay(attempts.get(keyOf(holder)) ?? [], day).begun_at;
    }

    function fateOf(day: number): Fate | undefined {
      const attempt = onDay(attempts.get(keyOf(holder)) ?? [], day);
      const outcome = least(attempt.rows.map((row) => row.outcome));
      const ends = attempt.rows.map((row) => row.held_until);
      const ended_at = ends.includes(null) ? Infinity : Math.max(...ends.map(Number));
      if (outcome === null || !BAD_ENDS.includes(outcome) || !isJob(attempt)) return undefined;
      if (ended_at > day + DAY_S + FORTNIGHT_S) return undefined;
      const isAgain = [...begun, ...waits].some((later) => continues(attempt, later, ended_at));
      const isByHand = !isAgain && [...begun, ...waits].some((later) => isHandedInAgain(attempt, later, ended_at));
      const resumed = isAgain || isByHand;
      if (!resumed && (outcome === 'timeout' || hadRested(dayOf(ended_at - 1)))) return undefined;
      const givenUp = begun.some(
        ({ rows: of, begun_at }) =>
          of[0]?.source === holder.source && begun_at >= ended_at + DAY_S && begun_at < ended_at + FORTNIGHT_S,
      );
      const isNear = (at: number): boolean => at > day - FORTNIGHT_S && at <= day + DAY_S + FORTNIGHT_S;
      const recorded = savedBy(org.work, attempts.get(keyOf(holder)) ?? [], endOf).filter(isNear);
      const near = recorded.length > 0 ? recorded : seenBy(hoursOf.get(keyOf(holder)) ?? [], begunAt).filter(isNear);
      if (isByHand && outcome === 'timeout' && near.length === 0) return undefined;
      const hasSavedAtLast = recorded.some((at) => at >= ended_at - 600);
      const isKept = near.length > 0 && (resumed || !givenUp || hasSavedAtLast);
      const kept_at = isKept ? Math.max(...near) : -Infinity;
      const [from, until] = [Math.max(day, attempt.begun_at), Math.min(day + DAY_S, ended_at)];
      return kept_at >= until ? undefined : { outcome, from, until, lost_from: Math.max(from, kept_at) };
    }
  };
}

/** Taken away from outside on its last day, when all of it had been idle for hours. */
function isTakenAtRest(there: readonly AllocationRow[], hours: readonly GpuHour[], day: number): boolean {
  const isOver = there.every((row) => row.held_until !== null && row.held_until <= day + DAY_S);
  if (!isOver || !['node-fail', 'preempted'].includes(least(there.map((row) => row.outcome)) ?? '')) return false;
  const own = hours.filter((row) => dayOf(row.hour) === day);
  const last = [...new Set(own.map((row) => row.hour))].toSorted((a, b) => b - a).slice(0, 3);
  const isIdle = (row: GpuHour): boolean => row.computing_units === 0n && row.unknown_units === 0n;
  return last.length === 3 && own.filter((row) => last.includes(row.hour)).every(isIdle);
}

function isJob({ rows }: Attempt<Named>): boolean {
  return least(rows.map(mannerOfRow)) === 'job';
}

/** A later life of the same job, or another pod of the same workload. */
function continues(earlier: Attempt, later: Attempt<Named>, ended_at: number): boolean {
  const [a, b] = [earlier.rows[0], later.rows[0]];
  if (a === undefined || b === undefined || a.source !== b.source) return false;
  if (later.begun_at < ended_at - 120 || later.begun_at >= ended_at + FORTNIGHT_S) return false;
  if (a.allocation_id === b.allocation_id) return b.attempt > a.attempt;
  const namesOf = ({ rows }: Attempt<Named>): (string | null)[] =>
    (['namespace', 'workload_kind', 'workload_name'] as const).map((column) => least(rows.map((row) => row[column])));
  const [names, others] = [namesOf(earlier), namesOf(later)];
  const clusters = [earlier, later].map(({ rows }) => least(rows.map((row) => row.cluster)) ?? '');
  return (
    clusters[0] === clusters[1] &&
    names[1] !== 'CronJob' &&
    names.every((value, index) => value !== null && value === others[index])
  );
}

/** Another job of the same person, account and name, handed in within three days, where there are no namespaces. */
function isHandedInAgain(earlier: Attempt, later: Attempt<Named>, ended_at: number): boolean {
  const [a, b] = [earlier.rows[0], later.rows[0]];
  if (a === undefined || b === undefined || a.source !== b.source || a.allocation_id === b.allocation_id) return false;
  if (later.begun_at < ended_at - 120 || later.begun_at >= ended_at + FORTNIGHT_S) return false;
  const submits = later.rows.flatMap((row) => row.submitted_at ?? []);
  const submitted = submits.length === 0 ? later.begun_at : Math.min(...submits);
  if (submitted < ended_at - 120 || submitted >= ended_at + 3 * DAY_S) return false;
  const toldOf = (
    { rows }: Attempt<Named>,
    column: 'namespace' | 'cluster' | 'account' | 'user_name' | 'workload_kind' | 'workload_name',
  ) => least(rows.map((row) => row[column]));
  if (toldOf(earlier, 'namespace') !== null || toldOf(later, 'namespace') !== null) return false;
  const isSame = (['cluster', 'account', 'user_name', 'workload_kind'] as const).every(
    (column) => (toldOf(earlier, column) ?? '') === (toldOf(later, column) ?? ''),
  );
  const kind = toldOf(earlier, 'workload_kind');
  const isKnown = toldOf(earlier, 'user_name') !== null && kind !== null && kind !== 'CronJob';
  const name = toldOf(earlier, 'workload_name');
  return isSame && isKnown && name !== null && name === toldOf(later, 'workload_name');
}

/** When checkpoints were written that meet a row of the attempt. */
function savedBy(
  work: readonly WorkRow[],
  rows: readonly AllocationRow[],
  endOf: (row: AllocationRow) => number,
): number[] {
  const agrees = (one: string | null, other: string | null): boolean => one === null || other === null || one === other;
  return work
    .filter((each) => each.unit === 'checkpoint' && Number(each.quantity) > 0)
    .flatMap((each) => {
      const at = each.window_until ?? each.window_from;
      const isOf = (row: AllocationRow): boolean =>
        each.allocation_id === null
          ? each.run !== null && [row.workload_name, row.labels['run']].includes(each.run)
          : [row.allocation_id, `${row.source}/${row.allocation_id}`].includes(each.allocation_id);
      const meets = (row: AllocationRow): boolean =>
        isOf(row) &&
        row.held_from < at &&
        at <= endOf(row) &&
        agrees(each.cluster, row.cluster) &&
        agrees(each.namespace, row.namespace);
      // A window that began more than a day before it ended is not looked for.
      const isFound = dayOf(each.window_from) >= dayOf(at - 1) - DAY_S;
      return isFound && rows.some(meets) ? [at] : [];
    });
}

/** When all devices of an attempt that computed on a day had paused within an hour: the last end of these pauses. */
function seenBy(rows: readonly GpuHour[], begunAt: (day: number) => number): number[] {
  return [...groupedBy(rows, (row) => String(dayOf(row.hour))).values()].flatMap((ofDay) => {
    const day = dayOf(ofDay[0]?.hour ?? 0);
    const worked = new Set(ofDay.filter((row) => row.computing_units > 0n).map((row) => row.device_id));
    const pauses = ofDay
      .flatMap(({ device_id, pauses: own }) => own.map((pause) => ({ device_id, pause })))
      .map(({ device_id, pause }) => ({
        device_id,
        from: Math.max(day, pause.from),
        until: Math.min(day + DAY_S, pause.until),
      }))
      .filter(({ from }) => from > begunAt(day));
    return [...groupedBy(pauses, ({ until }) => String(hourOf(until - 1))).values()]
      .filter((ended) => new Set(ended.map(({ device_id }) => device_id)).size === worked.size)
      .map((ended) => Math.max(...ended.map(({ until }) => until)));
  });
}
