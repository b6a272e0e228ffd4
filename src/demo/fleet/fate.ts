import { type Chance, meanOf } from '../chance.ts';
import type { Node, NodeState } from '../organisation.ts';
import type { Seconds } from '../timeline.ts';
import type { Pool, Quantiles } from '../world/world-schema.ts';

const HOUR_S = 3600;
const DAY_S = 24 * HOUR_S;

/** Days somebody looks at a machine before it is back: an afternoon, or until the spare part has come. */
const DRAINED_DAYS: Quantiles = { p0: 0.2, p10: 0.4, p50: 2, p90: 4, p99: 7, p100: 10 };

/** A machine that broke or vanished in its first moments would never have been handed out. */
const UP_S_MIN = HOUR_S;
const DOWN_S_MIN = 60;

type Stretch = Node['states'][number];
interface Period {
  readonly from: Seconds;
  readonly until: Seconds;
}

/** How long does a spot machine last that appears now? Infinity where nobody takes machines away. */
export function spotLifeS(pool: Pool, chance: Chance): number {
  const meanHours = pool.spot_hours_between_interruptions ?? 0;
  return meanHours > 0 ? Math.max(300, Math.round(chance.wait(meanHours * HOUR_S))) : Infinity;
}

/** How long does its place stay empty before another machine takes it? */
export function spotGapS(pool: Pool, chance: Chance): number {
  const hours = pool.spot_hours_until_replaced;
  return hours === undefined ? DOWN_S_MIN : Math.max(DOWN_S_MIN, Math.round(chance.from(hours) * HOUR_S));
}

/**
 * In which state is a machine, from its first second to its last?
 *
 * A broken machine is down, whoever looked at it before. Spot machines do not break: they are taken away long before.
 */
export function statesOf(pool: Pool, chance: Chance, from: Seconds, until: Seconds): readonly Stretch[] {
  const drained = drains(pool, chance, from, until);
  const down = pool.purchase === 'spot' ? [] : breakdowns(pool, chance, from, until);
  const cuts = [from, until, ...[...drained, ...down].flatMap((period) => [period.from, period.until])]
    .filter((cut) => cut >= from && cut <= until)
    .sort((a, b) => a - b);
  const states: { from: Seconds; until: Seconds; state: NodeState }[] = [];
  for (let index = 1; index < cuts.length; index += 1) {
    const [begin, end] = [cuts[index - 1]!, cuts[index]!];
    if (begin === end) continue;
    const state = covers(down, begin) ? 'down' : covers(drained, begin) ? 'drained' : 'up';
    const last = states.at(-1);
    if (last?.state === state) last.until = end;
    else states.push({ from: begin, until: end, state });
  }
  return states;
}

/** What of the states lies at or after a moment. */
export function statesSince(states: readonly Stretch[], moment: Seconds): readonly Stretch[] {
  return states
    .filter(({ until }) => until > moment)
    .map((stretch) => (stretch.from < moment ? { ...stretch, from: moment } : stretch));
}

/** Waits have no memory, so that a machine is as likely to break on its first day as on any other. */
function breakdowns(pool: Pool, chance: Chance, from: Seconds, until: Seconds): readonly Period[] {
  if (pool.days_between_failures === 0) return [];
  const periods: Period[] = [];
  for (let at = from; ;) {
    const begin = at + Math.max(UP_S_MIN, Math.round(chance.wait(pool.days_between_failures * DAY_S)));
    if (begin >= until) return periods;
    at = begin + Math.max(DOWN_S_MIN, Math.round(chance.from(pool.hours_broken) * HOUR_S));
    periods.push({ from: begin, until: Math.min(at, until) });
  }
}

/** In and out of service by turns, so that at any time so many in a hundred are out, the first day included. */
function drains(pool: Pool, chance: Chance, from: Seconds, until: Seconds): readonly Period[] {
  const percent = pool.drained_percent;
  if (percent === 0) return [];
  if (percent >= 100) return [{ from, until }];
  const meanInServiceS = (meanOf(DRAINED_DAYS) * DAY_S * (100 - percent)) / percent;
  const periods: Period[] = [];
  const isOutAtFirst = chance.happens(percent);
  for (let at = from; at < until;) {
    const isFirst = at === from;
    const begin = isFirst && isOutAtFirst ? at : at + Math.max(1, Math.round(chance.wait(meanInServiceS)));
    const days = chance.from(DRAINED_DAYS) * (begin === from ? chance.fraction() : 1);
    at = begin + Math.max(DOWN_S_MIN, Math.round(days * DAY_S));
    if (begin < until) periods.push({ from: begin, until: Math.min(at, until) });
  }
  return periods;
}

function covers(periods: readonly Period[], moment: Seconds): boolean {
  return periods.some(({ from, until }) => from <= moment && moment < until);
}
