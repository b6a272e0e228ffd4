import { z } from 'zod';
import { detector } from '../../facts/detector.ts';
import type { Claim, JudgeContext, Take } from '../../facts/detector.ts';
import { DAYS_SQL, HOURS_SQL, Service, ServiceDay, SERVICES_SQL, ServiceHours } from './oversized-rows.ts';
import { daySpark } from '../day-spark.ts';
import { clockText, isWithin, quietHours } from './quiet-hours.ts';
import type { QuietHours } from './quiet-hours.ts';
import { scalingFix } from './serving-fix.ts';
import { isStandby, silentQuestion, standbyQuestion } from './standby-questions.ts';
import { commentLine } from '../stop-command.ts';
import { countWords, figureWords, percentWords, wholeWords } from '../wording.ts';

const Options = z.object({
  loadPermille: z.number().int().min(100).max(1000).default(600), // What is busy 60 % of an hour has room for its busier minutes.
  loadPermilleMax: z.number().int().min(100).max(1000).default(850), // Beyond this requests wait for each other.
  reserve: z.number().int().min(0).default(1), // One more carries a rise in traffic while another starts, and the death of one.
  unknownPermilleMax: z.number().int().default(50), // Of an hour of which more is unknown nothing is said.
  daysMin: z.number().default(3), // Fewer say nothing about nights, and nothing at all about weekends.
  excessReplicaHoursMin: z.number().default(24), // Less than a replica and day is not worth a change.
  quietPermilleMin: z.number().int().default(900), // "Nights" are quiet on nine days of ten.
});
type Options = z.infer<typeof Options>;

/**
 * Question: which services hold more replicas than the traffic of their hours needs, and when?
 *
 * Judged by how long replicas were busy, never by how full the GPU was meanwhile: decoding is slow by nature. What is named or
 * labelled a standby, and what serves nothing while its siblings do, is asked about. A service that nobody calls is
 * `forgotten-resources`.
 *
 * Reads: service_hour, service_day.
 */
export const oversizedServing = detector({
  name: 'oversized-serving',
  title: 'services with more replicas than their traffic needs',
  category: 'idle',
  factor: 'utilisation',
  basis: 'modelled',
  blastRadius: 3,
  blast: 'Callers wait longer if traffic rises faster than a replica starts; nothing is lost.',
  effort: 'a manifest, and a day to watch latency',
  options: Options,
  ask: ({ loadPermille, loadPermilleMax, reserve, unknownPermilleMax }) => {
    const params = { loadPermille, loadPermilleMax, reserve, unknownPermilleMax };
    return {
      services: { row: Service, tables: ['service_day'], sql: SERVICES_SQL },
      hours: { row: ServiceHours, tables: ['service_hour'], params, sql: HOURS_SQL },
      days: { row: ServiceDay, tables: ['service_hour', 'service_day'], params, sql: DAYS_SQL },
    };
  },
  judge: ({ services, hours, days }, context) =>
    services.flatMap((service): Claim[] => {
      if (isStandby(service, services)) return [standbyQuestion(service)];
      const silent = service.silentReplicas === 0 ? [] : [silentQuestion(service)];
      const of = hours.filter((hour) => hour.service === service.service);
      const claim = excessClaim(
        service,
        of,
        days.filter((day) => day.service === service.service),
        context,
      );
      return claim === undefined ? silent : [claim, ...silent];
    }),
});

interface Totals {
  readonly knownHours: number;
  readonly held: number;
  readonly heldMax: number;
  readonly busy: number;
  readonly busyMax: number;
  readonly excessLow: number;
  readonly excessHigh: number;
  readonly static: number;
  readonly neededLowMax: number;
  readonly neededHighMax: number;
  readonly models: number;
  readonly requests: number | null;
  /** Of a replica while it is busy. */
  readonly inFlight: number | null;
}

/** Replicas and replica-hours of all hours together. */
function totalsOf(hours: readonly ServiceHours[]): Totals {
  const sum = (value: (hour: ServiceHours) => number): number => hours.reduce((all, hour) => all + value(hour), 0);
  const most = (value: (hour: ServiceHours) => number): number =>
    hours.reduce((all, hour) => Math.max(all, value(hour)), 0);
  const known = (value: (hour: ServiceHours) => number | null): number | null =>
    hours.some((hour) => value(hour) !== null) ? sum((hour) => value(hour) ?? 0) : null;
  const all = sum((hour) => hour.hours);
  const busyHours = sum((hour) => hour.busyMilli) / 1000;
  const requestMs = known((hour) => hour.requestMs);
  return {
    knownHours: sum((hour) => hour.knownHours),
    held: sum((hour) => hour.heldMilli) / 1000 / Math.max(1, all),
    heldMax: most((hour) => hour.heldMilliMax) / 1000,
    busy: busyHours / Math.max(1, all),
    busyMax: most((hour) => hour.busyMilliMax) / 1000,
    excessLow: sum((hour) => hour.excessLowMilli) / 1000,
    excessHigh: sum((hour) => hour.excessHighMilli) / 1000,
    static: sum((hour) => hour.staticMilli) / 1000,
    neededLowMax: most((hour) => hour.neededLowMax),
    neededHighMax: most((hour) => hour.neededHighMax),
    models: most((hour) => hour.models),
    requests: known((hour) => hour.requests),
    inFlight: requestMs === null || busyHours === 0 ? null : requestMs / 3_600_000 / busyHours,
  };
}

function excessClaim(
  service: Service,
  hours: readonly ServiceHours[],
  days: readonly ServiceDay[],
  { options, until }: JudgeContext<Options>,
): Claim | undefined {
  const totals = totalsOf(hours);
  if (totals.knownHours < options.daysMin * 24 || totals.excessLow < options.excessReplicaHoursMin) return undefined;
  // Nothing computed in the window: whether anybody calls it is another question.
  if (totals.busy === 0) return undefined;
  const workdays = hours
    .filter(({ isWeekend }) => !isWeekend)
    .map((each) => ({
      hour: each.hour,
      days: each.knownHours,
      quietDays: each.quietHours,
      neededMost: each.neededLowMost,
    }));
  const quiet = quietHours(workdays, options.quietPermilleMin);
  const held = Math.round(totals.held);
  const most = totals.neededLowMax;
  const known = hours.filter(({ knownHours }) => knownHours > 0);
  const replicasMin = Math.min(most, ...known.map(({ neededLowMost }) => neededLowMost));
  const isScaled = Math.round(totals.heldMax) > held;
  const when =
    quiet === undefined ? '' : `; ${quiet.neededMost} would do ${clockText(quiet)} on nine working days of ten`;
  return {
    about: service.service,
    ownerSubject: service.lastSubject,
    what: `${service.name} ${isScaled ? scaledWords(totals) : `holds ${countWords(held, 'replica')}, its hours need ${replicasMin === most ? most : `${replicasMin} to ${most}`}`}${when}`,
    because: evidenceOf(totals, hours, quiet === undefined ? [] : quietText(quiet, hours), options),
    fix: [
      ...(isScaled ? [ALREADY_SCALED] : []),
      ...scalingFix({ ...service, replicas: held, replicasMin, replicasMax: most, inFlight: totals.inFlight }),
    ],
    unless:
      'Minutes much busier than their hour, a latency target that only idle replicas meet, or a start that takes longer than traffic takes to rise.',
    spark: daySpark(
      days.map(({ day, busyPermille }) => ({ day, permille: busyPermille })),
      { until },
    ),
    takes: days.flatMap(takesOf),
    // Nobody scales as exactly as the hours are told: the least is what a fixed number of replicas frees.
    reachable: {
      lowPermille: Math.min(1000, Math.floor((totals.static * 1000) / totals.excessHigh)),
      highPermille: 1000,
    },
    ...(totals.models > 1 && { isQuestion: true }),
  };
}

const ALREADY_SCALED = commentLine(
  'its replicas vary already: if a scaler does that, look at its minimum and at how long it waits before it scales in',
);

/** Where replicas come and go, a mean beside the range of what hours need would compare what cannot be compared. */
function scaledWords({ held, heldMax, excessLow, knownHours }: Totals): string {
  const needed = held - excessLow / Math.max(1, knownHours);
  return `holds ${figureWords(held)} replicas on average (${wholeWords(heldMax)} at most), its hours need ${figureWords(needed)} of them`;
}

function takesOf({ day, excessPermille, subjects }: ServiceDay): Take[] {
  const permille = Math.min(1000, excessPermille);
  if (permille === 0) return [];
  return subjects.map((subject) => ({ subject, firstDay: day, lastDay: day, category: 'idle', permille }));
}

/** Of the replicas that were there in these hours, not of those of the whole day. */
function quietText(quiet: QuietHours, hours: readonly ServiceHours[]): string[] {
  const within = hours.filter(({ isWeekend, hour }) => !isWeekend && isWithin(quiet, hour));
  const held = Math.round(totalsOf(within).held);
  const spare = held - quiet.neededMost;
  if (spare <= 0) return [];
  const when = clockText(quiet).replace(/^[a-z]/, (letter) => letter.toUpperCase());
  return [
    `${when}: ${spare} of ${countWords(held, 'replica')} ${spare === 1 ? 'was' : 'were'} not needed, on nine working days of ten or more.`,
  ];
}

function evidenceOf(
  totals: Totals,
  hours: readonly ServiceHours[],
  quiet: readonly string[],
  { loadPermille, loadPermilleMax, reserve }: Options,
): readonly string[] {
  const [held, heldMax] = [Math.round(totals.held), Math.round(totals.heldMax)];
  const weekend = hours.filter(({ isWeekend, knownHours }) => isWeekend && knownHours > 0);
  const weekendMax = Math.max(0, ...weekend.map(({ neededLowMax }) => neededLowMax));
  const beyond = totals.neededLowMax > heldMax ? ` (it held ${heldMax})` : '';
  return [
    `Busy: ${figureWords(totals.busy)} of ${countWords(held, 'replica')} on average, ${figureWords(totals.busyMax)} in the busiest hour, of ${wholeWords(totals.knownHours)} known hours (GPU activity: computing less gaps between requests).`,
    ...quiet,
    ...(weekend.length === 0 ? [] : [`At weekends the busiest hour needs ${countWords(weekendMax, 'replica')}.`]),
    `Needed at ${percentWords(loadPermille)} load with ${reserve} in reserve: ${totals.neededLowMax} at most${beyond}; at ${percentWords(loadPermilleMax)}: ${totals.neededHighMax}.`,
    `Freed at least: what ${countWords(totals.neededLowMax, 'replica')} at all hours would leave over; at most: what no hour needs at ${percentWords(loadPermilleMax)} load.`,
    totals.requests === null
      ? 'No counter of its requests is known; what it needs rests on GPU activity alone.'
      : `${wholeWords(totals.requests)} requests counted${totals.inFlight === null ? '' : `, ${figureWords(totals.inFlight)} in flight in a busy replica`}.`,
    ...(totals.models > 1
      ? [
          `It serves ${totals.models} models: are its replicas alike? Then this is a finding, else each model needs its own.`,
        ]
      : []),
  ];
}
