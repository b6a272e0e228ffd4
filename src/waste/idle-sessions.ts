import { z } from 'zod';
import type { Claim, JudgeContext, Take } from '../facts/detector.ts';
import { detector } from '../facts/detector.ts';
import { FORGOTTEN_DAYS } from '../facts/forgotten-after.ts';
import type { BoxPlace, NightsOfSessions, Session } from './idle-stretches.ts';
import { BOX_PLACES_SQL, boxPlace, NIGHTS_SQL, nightsOfSessions, session, SESSIONS_SQL } from './idle-stretches.ts';
import { addedSpark, dayAfter } from './day-spark.ts';
import { commentLine, stopCommand } from './stop-command.ts';
import { stopMachines } from './stop-machines.ts';
import { stemWords } from './run-words.ts';
import { countWords, daysWords, gpuWords, someWords, spanWords, timeWords, wholeWords } from './wording.ts';

const options = z.object({
  /**
   * Ski rental: who stops after as long as a restart costs never pays more than twice the best choice. To get a notebook back to
   * where it was (pod, imports, data, the thread of thought) takes people an hour or two.
   */
  idleHoursMin: z.number().positive().default(2),
  /** A box nobody has put in a queue has nobody to ask: a working day without a kernel is long enough. */
  boxIdleHoursMin: z.number().positive().default(8),
  /** A meeting and a lunch are shorter than this, a night is longer. */
  nightHoursMin: z.number().positive().default(5),
  /** Above this share of unknown time nothing is said: `telemetry-gaps` speaks of it. */
  unknownPermilleMax: z.number().min(0).max(1000).default(50),
  /** The newest sample may be so old, else nobody knows what the thing does now. */
  currentHours: z.number().positive().default(1),
});
type Options = z.output<typeof options>;

/**
 * Question: which notebooks, shells and boxes does nobody use, now or night after night?
 *
 * The template for detectors: `ask` says which rows it needs and groups them in SQL, `judge` says what they mean and names the money.
 */
export const idleSessions = detector({
  name: 'idle-sessions',
  title: 'notebooks, shells and boxes nobody uses',
  category: 'idle',
  factor: 'utilisation',
  basis: 'measured',
  blastRadius: 2,
  blast: 'What is only in the memory of the session is lost; files stay.',
  effort: 'one command',
  options,
  ask: ({ idleHoursMin, boxIdleHoursMin, nightHoursMin, unknownPermilleMax }) => ({
    sessions: {
      row: session,
      tables: ['life_day', 'subject', { table: 'node', daysBefore: 36_500 }],
      params: { idleSeconds: Math.min(idleHoursMin, boxIdleHoursMin) * 3600 },
      sql: SESSIONS_SQL,
    },
    nights: {
      row: nightsOfSessions,
      tables: ['life_day', 'subject'],
      params: { nightSeconds: nightHoursMin * 3600, unknownPermille: unknownPermilleMax },
      sql: NIGHTS_SQL,
    },
    places: {
      row: boxPlace,
      tables: ['life_day', 'subject', { table: 'node', daysBefore: 36_500 }],
      sql: BOX_PLACES_SQL,
    },
  }),
  judge: ({ sessions, nights, places }, context) => [
    ...sessions.filter((each) => isIdleNow(each, context)).map((each) => liveClaim(each, context)),
    ...nights.map((each) => nightClaim(each, places, context)),
  ],
});

const isBox = ({ allocationId }: Pick<Session, 'allocationId'>): boolean => allocationId === null;

function isIdleNow(each: Session, { options: set, now }: JudgeContext<Options>): boolean {
  const hours = isBox(each) ? set.boxIdleHoursMin : set.idleHoursMin;
  const ageMs = each.knownUntil === null ? Infinity : now.getTime() - each.knownUntil.getTime();
  return (
    each.idleSeconds >= hours * 3600 &&
    each.unknownPermille <= set.unknownPermilleMax &&
    ageMs <= set.currentHours * 3_600_000
  );
}

function liveClaim(each: Session, { now, from }: JudgeContext<Options>): Claim {
  const gpus = gpuWords(each.gpuTenths / 10, each.model);
  const isUsed = each.heldSince === null || each.idleFrom > each.heldSince;
  // At the begin of the window nobody knows how long it has been so.
  const isOlder = each.idleFrom <= from && (each.heldSince === null || each.heldSince < from);
  const begin = isOlder ? `before ${each.idleFrom.toISOString().slice(0, 10)}` : timeWords(each.idleFrom, now);
  const since = `${isUsed ? 'idle' : 'never used'} since ${begin}`;
  return {
    about: each.subject,
    ownerSubject: each.subject,
    what: `${thing(each)} ${since}, ${gpus}`,
    because: [evidence(each, now), ...(isBox(each) ? ['No scheduler says who holds it.'] : [])],
    fix: stopCommands(each),
    unless: isBox(each)
      ? 'Somebody uses it for something other than its GPU, or keeps it warm for a reason.'
      : 'Its user is about to go on, or it serves as a warm standby.',
    liveSince: each.idleFrom,
    spark: each.spark,
    takes: liveTakes(each),
    ...(isBox(each) && { blastRadius: 3, blast: 'Nobody is known to ask; what runs beside the GPU stops too.' }),
  };
}

/** After so long a session is forgotten: forgotten-resources has it first. */
const FORGOTTEN_S = FORGOTTEN_DAYS * 86_400;

/** Two detectors that each take a part of one day are given both: of what may be the other's only whole days are taken. */
function liveTakes({ subject, firstDay, lastDay, firstDayPermille, idleSeconds, allocationId }: Session): Take[] {
  const first: Take = { subject, firstDay, lastDay: firstDay, category: 'idle', permille: firstDayPermille };
  if (firstDay === lastDay) return [first];
  const rest: Take = { subject, firstDay: dayAfter(firstDay), lastDay, category: 'idle' };
  return idleSeconds >= FORGOTTEN_S && !isBox({ allocationId }) ? [rest] : [first, rest];
}

function nightClaim(
  each: NightsOfSessions,
  places: readonly BoxPlace[],
  { options: set, now, until }: JudgeContext<Options>,
): Claim {
  const { nights, nightSeconds: seconds } = each;
  const takes = (each.takes ?? []).map(nightTake);
  const boxes = isBox(each) ? [...new Set(takes.map(({ subject }) => subject))] : [];
  // Who stops a pool of boxes by a schedule is who runs it, unless all are one person's.
  const isPool = isBox(each) && each.sessions > 1 && !each.isOnes;
  return {
    about: `nights of ${each.kin}`,
    ownerSubject: isPool ? null : each.latest,
    what: `${things(each)} left on unused ${nights === 1 ? 'once' : `${nights} times`}, ${gpuWords(each.gpuTenths / 10, each.model)}${each.sessions === 1 ? '' : ' each'}`,
    because: [
      `${nights === 1 ? 'One stretch' : `${nights} stretches`} of ${set.nightHoursMin} h or more without a kernel, ${spanWords(seconds)} in all, on ${countWords(each.days, 'day')} of use (engine, else SM, else utilisation below 1 %${each.hasPower ? ', power at rest' : ''}).`,
      ...longestWords(each, takes, now),
      ...(boxes.length > 1 ? [`Boxes: ${someWords(boxes.map(boxName), 3)}.`] : []),
      'Pauses by day are not counted.',
    ],
    fix: endingCommands(each, boxes, places),
    unless: 'It had to be ready at once when its user came back.',
    blast: 'A session that is stopped loses what is only in its memory; files stay.',
    effort: 'a setting, once',
    spark: addedSpark([each.spent], { until }),
    takes,
    reachable: { lowPermille: afterCulling(seconds, nights, set), highPermille: 1000 },
  };
}

/** What ends by itself ends only after it has stood still for a while; who ends it when he leaves saves all of it. */
function afterCulling(seconds: number, nights: number, { idleHoursMin }: Options): number {
  return Math.floor((Math.max(0, seconds - nights * idleHoursMin * 3600) * 1000) / Math.max(1, seconds));
}

/** One of them by its date, and the days of all where they are several. */
function longestWords(each: NightsOfSessions, takes: readonly Take[], now: Date): string[] {
  const { nights, longestSeconds, longestFrom } = each;
  const isMoment = longestFrom.length > 10;
  const begin = isMoment
    ? `from ${timeWords(new Date(`${longestFrom.replace(' ', 'T')}Z`), now)} on`
    : `on ${longestFrom}`;
  if (nights === 1) return [`It was ${spanWords(longestSeconds)}, ${begin}.`];
  const days = takes.flatMap(({ firstDay, lastDay }) => [firstDay, lastDay]).toSorted();
  const span = days.length === 0 ? '' : ` They lie ${daysWords(days.at(0) ?? '', days.at(-1) ?? '')}.`;
  return [`The longest was ${spanWords(longestSeconds)}, ${begin}.${span}`];
}

/** Of `2026-03-02 2026-03-05 800 node box 1`. */
function nightTake(text: string): Take {
  const [firstDay = '', lastDay = '', permille = '', ...subject] = text.split(' ');
  return { subject: subject.join(' '), firstDay, lastDay, category: 'idle', permille: Number(permille) };
}

function things(each: NightsOfSessions): string {
  if (each.sessions === 1) return thing(each);
  if (isBox(each)) return `${each.sessions} boxes of ${each.cluster ?? 'one pool'}`;
  return `${each.sessions} sessions of ${stemWords(each.stem)}`;
}

interface Thing extends Pick<Session, 'workloadKind' | 'workloadName' | 'allocationId' | 'nodeId' | 'source'> {
  readonly subject: string | null;
}

function thing({ workloadKind, workloadName, allocationId, nodeId, source, subject }: Thing): string {
  if (allocationId === null) return nodeId === null ? `box with ${deviceOf(subject) ?? 'GPUs'}` : `box ${nodeId}`;
  const kind = workloadKind === null || workloadKind === 'Job' ? 'session' : workloadKind.toLowerCase();
  return `${kind} ${workloadName ?? `${source}/${allocationId}`}`;
}

/** Where only samples speak a GPU is all that is known of its machine. */
const nodeOf = (subject: string): string | null => /^node (.+)$/s.exec(subject)?.[1] ?? null;
const deviceOf = (subject: string | null): string | null => /^device (.+)$/s.exec(subject ?? '')?.[1] ?? null;

function evidence({ idleSeconds, knownUntil, powerW, memoryMib }: Session, now: Date): string {
  const watts = powerW === null ? '' : `, at most ${powerW} W on its last day`;
  const memory =
    memoryMib === null ? '' : memoryMib >= 500 ? `, ${wholeWords(memoryMib)} MiB of memory held` : ', no memory held';
  const until = knownUntil === null ? '' : ` up to ${timeWords(knownUntil, now)}`;
  return `No kernel in ${spanWords(idleSeconds)}${until}${watts}${memory}. Measured (engine, else SM, else utilisation${powerW === null ? '' : '; power'}).`;
}

function stopCommands(each: Session): string[] {
  if (!isBox(each)) return [stopCommand({ ...each, kind: each.workloadKind, name: each.workloadName })];
  return stopMachines([{ ...each, deviceId: deviceOf(each.subject) }]);
}

const boxName = (subject: string): string => subject.replace(/^(node|device) /, '');

/** What its user can do; a setting for everybody's sessions is of who runs the cluster, and only told. */
function endingCommands(each: NightsOfSessions, boxes: readonly string[], places: readonly BoxPlace[]): string[] {
  const { source, provider } = each;
  if (source === 'slurm')
    return ['salloc --time=10:00:00  # or #SBATCH --time=10:00:00: it ends by itself in the evening'];
  if (source === 'kubernetes')
    return [
      commentLine(each.sessions === 1 ? 'in the evening:' : 'in the evening, as of the last one:'),
      stopCommand({ ...each, kind: each.workloadKind, name: each.workloadName }),
      commentLine(
        'whoever runs the cluster can do it for all: ENABLE_CULLING=true, CULL_IDLE_TIME=120 of the notebook controller; jupyterhub-idle-culler --timeout=7200',
      ),
    ];
  if (provider === null) return ['shutdown +600  # in the morning: it ends by itself in the evening'];
  const placed = new Map(places.map((place) => [place.subject, place]));
  const nowhere = { provider, region: null, zone: null, resourceId: null };
  return [
    commentLine('by a schedule of its cloud or by cron, in the evening and before weekends:'),
    ...stopMachines(
      boxes.map((subject) => ({
        ...(placed.get(subject) ?? nowhere),
        nodeId: nodeOf(subject),
        deviceId: deviceOf(subject),
      })),
    ),
  ];
}
