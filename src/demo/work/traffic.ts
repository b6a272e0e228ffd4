import { hashOf, noiseAt, valueAt } from '../chance.ts';
import type { Part, Seconds, Traffic } from '../timeline.ts';
import type { Serving } from '../world/habit-schema.ts';
import { permilleShares } from './shares.ts';
import { DAY_S, isWorkday } from './working-hours.ts';

export const HOUR_S = 3600;

/** A replica fuller than this in an hour would make requests wait in its worst minutes, so people keep this distance. */
const FULL = 0.85;

/** Traffic swells and ebbs for so long at a time. */
const SWELL_S = 600;
const DRAWS = 4_294_967_296;

/** All replicas of a service see the same swell: the key of `swellAt`. */
export const swellKey = (seed: number, service: string): number => hashOf([seed, 'burst', service]);

/** What the traffic of a moment is of that of its hour. */
export const swellAt = (burst: Traffic['burst'], key: number, moment: Seconds): number =>
  valueAt(burst, noiseAt(key, Math.floor(moment / SWELL_S), 0) / DRAWS);

/** Traffic of the hour a moment lies in, of that in the busiest hour of a working day: 0 to 1. */
export function trafficAt(habit: Serving, moment: Seconds): number {
  const most = habit.requests_by_hour.reduce((a, b) => Math.max(a, b), 0);
  if (most === 0) return 0;
  const hour = Math.floor((moment % DAY_S) / HOUR_S);
  const ofDay = isWorkday(Math.floor(moment / DAY_S)) ? 1 : habit.weekend_percent / 100;
  return (habit.requests_by_hour[hour]! / most) * ofDay;
}

/**
 * Replicas the traffic of an hour needs, of so many that were planned for the busiest one. In the busiest hour all of
 * them are needed, that is what they were planned for; in another as many as its traffic is of that, and the distance
 * to full on top.
 */
export function neededReplicas(habit: Serving, replicas: number, moment: Seconds): number {
  return Math.min(replicas, Math.max(1, Math.ceil((replicas * trafficAt(habit, moment)) / FULL)));
}

/** What an hour is for one replica. */
export interface ServingHour {
  readonly parts: readonly Part[];
  readonly traffic: Traffic;
}

/**
 * What the hour of a moment is for one of `inService` replicas that share the traffic planned for `replicas`.
 *
 * Requests follow the hours as the world says. A replica works on more of them at once the busier it is: on 1 when it
 * is nearly idle, on `batch` when it is busy all the time. So with a busy share b it answers b × (1 + (batch − 1) × b)
 * times what it could one by one, and half the requests keep it busy for more than half the time.
 * A second with a request in flight is serving: in a swell a replica is busy all the time at most, so the more traffic swells and ebbs, the
 * more of the hour is left without any; of the others, so many replicas' worth as the hour does not need are
 * sized for the peak, and the rest lies between requests.
 */
export function servingHour(
  habit: Serving,
  replicas: number,
  inService: number,
  moment: Seconds,
  seed: number,
): ServingHour {
  const requestS = Math.max(0.001, habit.request_s);
  const peak = habit.peak_load_percent / 100;
  const atOnce = (busy: number): number => 1 + (habit.batch - 1) * busy;
  const oneByOne = (trafficAt(habit, moment) * peak * atOnce(peak) * replicas) / inService;
  const busy = Math.min(1, busyFor(oneByOne, habit.batch));
  const spare = Math.max(0, inService - neededReplicas(habit, replicas, moment)) / inService;
  const inFlight = inFlightShare(habit, busy, moment, seed);
  const idleSpare = Math.min(1 - inFlight, spare);
  const [serving, sizedForPeak, between] = permilleShares([inFlight, idleSpare, 1 - inFlight - idleSpare]);
  const parts: readonly Part[] = [
    { reason: 'serving', permille: serving! },
    { reason: 'sized-for-peak', permille: sizedForPeak! },
    { reason: 'between-requests', permille: between! },
  ];
  return {
    parts: parts.filter(({ permille }) => permille > 0),
    traffic: {
      perHour: (busy * HOUR_S * atOnce(busy)) / requestS,
      busyS: requestS / atOnce(busy),
      burst: habit.burst,
    },
  };
}

/** The part of an hour with a request in flight, if its traffic would keep a replica busy for so much of it. */
function inFlightShare({ burst, name }: Serving, busy: number, moment: Seconds, seed: number): number {
  const key = swellKey(seed, name);
  const begin = moment - (moment % HOUR_S);
  const swells = Array.from({ length: HOUR_S / SWELL_S }, (_, place) => swellAt(burst, key, begin + place * SWELL_S));
  return swells.reduce((sum, swell) => sum + Math.min(1, busy * swell), 0) / swells.length;
}

/** The busy share b with b × (1 + (batch − 1) × b) = load. */
function busyFor(load: number, batch: number): number {
  if (batch === 1) return load;
  return (Math.sqrt(1 + 4 * (batch - 1) * load) - 1) / (2 * (batch - 1));
}
