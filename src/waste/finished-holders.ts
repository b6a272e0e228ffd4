import { z } from 'zod';
import { detector, type Claim, type Take } from '../facts/detector.ts';
import { sqlCount, sqlDay, sqlTexts, sqlTime } from '../facts/sql-row.ts';
import { addedSpark, dayAfter, spentDays } from './day-spark.ts';
import { permilleOf } from './run-words.ts';
import { LIVES, LIVES_READ } from './runs-sql.ts';
import { commentLine, stopCommand } from './stop-command.ts';
import { countWords, gpuHourWords, gpuHoursOfWords, gpuWords, spanWords, timeWords, wholeWords } from './wording.ts';

/** A job whose GPUs have all stopped, and what it held after its last kernel. */
const FinishedHolder = z.object({
  subject: z.string(),
  source: z.string(),
  allocationId: z.string(),
  cluster: z.string().nullable(),
  home: z.string(),
  namespace: z.string().nullable(),
  userName: z.string().nullable(),
  kind: z.string().nullable(),
  name: z.string().nullable(),
  stem: z.string().nullable(),
  model: z.string().nullable(),
  outcome: z.string().nullable(),
  signal: z.string(),
  /** Still there, by news of the last hour. */
  isLive: z.boolean(),
  hasEnded: z.boolean(),
  gpus: sqlCount,
  nodes: sqlCount,
  heldSince: sqlTime,
  lastComputingAt: sqlTime,
  heldUntil: sqlTime,
  firstDay: sqlDay,
  lastDay: sqlDay,
  /** Of the day of its last kernel: idle GPU-seconds, and those of them that came after it. */
  firstDayIdleS: sqlCount,
  firstDayTailS: sqlCount,
  /** The same of each device: idle seconds, tail seconds, device. */
  firstDayDevices: z.array(z.string()).nullable(),
  tailGpuS: sqlCount,
  unknownTailS: sqlCount,
  /** Attempts of the same person and name in the window that computed at all. */
  runs: sqlCount,
  /** The longest such a run took to its last kernel. */
  activeS: sqlCount,
  /** Attempts of the same name and home, whoever's. */
  namesakes: sqlCount,
  days: sqlTexts.nullable(),
  /** The longest idle time after which a job of this name and home is known to have gone on. */
  longestPauseS: sqlCount,
});
type FinishedHolder = z.infer<typeof FinishedHolder>;

const greater = (a: string, b: string): string => `CASE WHEN ${a} > ${b} THEN ${a} ELSE ${b} END`;
const lesser = (a: string, b: string): string => `CASE WHEN ${a} < ${b} THEN ${a} ELSE ${b} END`;
/** Idle time whose money is idle: a pause is starved. */
const IDLE_S = '(s.idle_s - COALESCE(s.pause_s, 0))';
const TAIL_S = `CASE WHEN s.held_from >= a.last_at THEN s.held_s
  ELSE ${lesser('s.held_s', "date_diff('second', a.last_at, s.held_until)")} END`;

const TAIL_IDLE_S = lesser(IDLE_S, `(${TAIL_S}) - (${lesser('s.unknown_s', `(${TAIL_S})`)})`);
const ON_KERNEL_DAY = 's.day = CAST(a.last_at AS DATE)';

const SQL = `
  WITH ${LIVES}, stopped AS (
    SELECT subject_key, subject, source, allocation_id, held_since, last_computing_at AS last_at, held_until, ended_at IS NOT NULL AS has_ended, last_day,
           cluster, home, namespace, user_name, stem, model
    FROM life WHERE date_diff('second', last_computing_at, held_until) >= $tailSecondsMin
  ), tail AS (
    SELECT s.subject_key, min(s.workload_kind) AS kind, min(s.workload_name) AS name, max(s.outcome) AS outcome, count(DISTINCT s.device_id) AS gpus,
           count(DISTINCT s.node_id) AS nodes, min(s.day) AS first_day, CAST(sum(${TAIL_S}) AS BIGINT) AS tail_s,
           CASE WHEN count(s.engine_permille) > 0 THEN 'engine' WHEN count(s.sm_permille) > 0 THEN 'SM' ELSE 'utilisation' END
             || CASE WHEN count(s.power_w_max) > 0 THEN ' and power' ELSE '' END AS signal,
           CAST(sum(${lesser('s.unknown_s', `(${TAIL_S})`)}) AS BIGINT) AS unknown_s,
           CAST(sum(CASE WHEN ${ON_KERNEL_DAY} THEN ${IDLE_S} ELSE 0 END) AS BIGINT) AS first_idle_s,
           CAST(sum(CASE WHEN ${ON_KERNEL_DAY} THEN ${TAIL_IDLE_S} ELSE 0 END) AS BIGINT) AS first_tail_s,
           array_agg(CAST(${IDLE_S} AS VARCHAR) || ' ' || CAST(${TAIL_IDLE_S} AS VARCHAR) || ' ' || s.device_id ORDER BY s.device_id)
             FILTER (WHERE ${ON_KERNEL_DAY} AND ${IDLE_S} > 0) AS first_devices,
           min(CASE WHEN s.day = a.last_day THEN s.known_until END) AS known_until
    FROM stint_day s JOIN stopped a ON s.subject_key = a.subject_key WHERE s.held_until > a.last_at GROUP BY s.subject_key
  ), kind_runs AS (
    SELECT COALESCE(cluster, '') AS cluster, home, COALESCE(stem, '') AS stem, COALESCE(user_name, '') AS user_name, count(*) AS runs,
           max(date_diff('second', held_since, last_computing_at)) AS active_s
    FROM life WHERE last_computing_at IS NOT NULL GROUP BY COALESCE(cluster, ''), home, COALESCE(stem, ''), COALESCE(user_name, '')
  ), named AS (
    SELECT home, stem, CAST(sum(runs) AS BIGINT) AS runs FROM kind_runs GROUP BY home, stem
  ), spent AS (${spentDays('SELECT subject_key FROM stopped')}
  ), live_kind AS (
    SELECT DISTINCT home, stem FROM stopped WHERE NOT has_ended
  ), worked AS (
    SELECT v.home, v.stem, j.subject_key, j.day, j.first_computing_at, j.last_computing_at, CAST(j.held_since AS DATE) < j.day AS is_later,
           ${greater('j.inner_idle_s', "date_diff('second', j.held_from, j.first_computing_at)")} AS inner_s
    FROM life_day j JOIN live_kind v ON COALESCE(j.account, j.namespace, '') = v.home AND j.workload_stem = v.stem
    WHERE j.manner = 'job' AND j.allocation_id IS NOT NULL AND j.first_computing_at IS NOT NULL
      AND j.unknown_s * 1000 <= j.held_s * $unknownPermilleMax
  ), resumed AS (
    SELECT home, stem, max(date_diff('second', before_at, first_computing_at)) AS across_s
    FROM (SELECT w.*, lag(last_computing_at) OVER (PARTITION BY subject_key ORDER BY day) AS before_at
          FROM worked w WHERE subject_key IN (SELECT subject_key FROM worked WHERE is_later)) pair
    GROUP BY home, stem
  ), paused AS (
    SELECT w.home, w.stem, max(w.inner_s) AS inner_s, max(r.across_s) AS across_s
    FROM worked w LEFT JOIN resumed r ON w.home = r.home AND w.stem = r.stem GROUP BY w.home, w.stem
  )
  SELECT a.subject, a.source, a.allocation_id AS "allocationId", a.cluster, a.home, a.namespace, a.user_name AS "userName", t.kind,
         t.name, a.stem, a.model, t.outcome, t.signal,
         NOT a.has_ended AND date_diff('second', t.known_until, $now) <= $freshSeconds AS "isLive", a.has_ended AS "hasEnded",
         t.gpus, t.nodes, a.held_since AS "heldSince", a.last_at AS "lastComputingAt", a.held_until AS "heldUntil", t.first_day AS "firstDay",
         a.last_day AS "lastDay", t.first_idle_s AS "firstDayIdleS", t.first_tail_s AS "firstDayTailS", t.first_devices AS "firstDayDevices", t.tail_s AS "tailGpuS",
         t.unknown_s AS "unknownTailS", COALESCE(r.runs, 0) AS runs,
         COALESCE(r.active_s, 0) AS "activeS", CASE WHEN a.stem IS NULL THEN 1 ELSE COALESCE(e.runs, 1) END AS namesakes, z.days,
         COALESCE(CASE WHEN u.inner_s > COALESCE(u.across_s, 0) THEN u.inner_s ELSE u.across_s END, 0) AS "longestPauseS"
  FROM tail t JOIN stopped a ON t.subject_key = a.subject_key
  LEFT JOIN paused u ON a.home = u.home AND a.stem = u.stem
  LEFT JOIN kind_runs r ON COALESCE(a.cluster, '') = r.cluster AND a.home = r.home AND COALESCE(a.stem, '') = r.stem
    AND COALESCE(a.user_name, '') = r.user_name
  LEFT JOIN named e ON a.home = e.home AND COALESCE(a.stem, '') = e.stem LEFT JOIN spent z ON t.subject_key = z.subject_key
  WHERE t.unknown_s * 1000 <= t.tail_s * $unknownPermilleMax
  ORDER BY a.subject`;

/**
 * Question: which jobs have computed, have stopped on all their GPUs, and hold them still, or held them until they ended?
 *
 * Teardown and the upload of a last checkpoint take minutes, so that an hour is asked for. Of a job that is still there nobody knows
 * whether it goes on: it is named only after a time longer than any pause after which its kind is known to have gone on. One that
 * has ended did not go on; what a person's runs of one name repeat is one finding, because one script mends it: a name is
 * nobody's own, `train` is in every account. A job of which one GPU computes has not stopped.
 *
 * Reads: life_day, stint_day.
 */
export const finishedHolders = detector({
  name: 'finished-holders',
  title: 'jobs that have finished and still hold their GPUs',
  category: 'idle',
  factor: 'utilisation',
  basis: 'measured',
  blastRadius: 1,
  blast: 'Nothing runs on these GPUs; what the script may still write from the CPU is cut off.',
  effort: 'one command',
  options: z.object({
    tailHoursMin: z.number().min(0.1).default(1), // Ten minutes of teardown and a checkpoint's upload are normal.
    liveHoursMin: z.number().min(0.1).default(2), // The longest pause that counts as one: before it a job may go on.
    freshMinutes: z.number().int().default(60), // Older news say nothing about now.
    unknownPermilleMax: z.number().int().default(50), // Beyond this nothing is said: telemetry-gaps does.
  }),
  ask: (options) => ({
    holders: {
      row: FinishedHolder,
      tables: [...LIVES_READ, 'stint_day'],
      params: {
        tailSecondsMin: Math.round(options.tailHoursMin * 3600),
        freshSeconds: options.freshMinutes * 60,
        unknownPermilleMax: options.unknownPermilleMax,
      },
      sql: SQL,
    },
  }),
  judge: ({ holders }, { options, now, until }) => {
    const live = holders.filter(
      (holder) =>
        holder.isLive && liveSeconds(holder, now) > Math.max(options.liveHoursMin * 3600, holder.longestPauseS),
    );
    const past = new Map<string, FinishedHolder[]>();
    for (const holder of holders.filter((each) => each.hasEnded && !mayHavePaused(each, options.liveHoursMin))) {
      const key = [holder.cluster, holder.home, holder.stem ?? holder.allocationId, holder.userName].join('/');
      past.set(key, [...(past.get(key) ?? []), holder]);
    }
    return [
      ...live.map((holder) => ({ ...liveClaim(holder, now), spark: addedSpark([holder.days], { until }) })),
      ...[...past].map(([about, group]) => ({
        ...pastClaim(about, group, now),
        spark: addedSpark(
          group.map(({ days }) => days),
          { until },
        ),
      })),
    ];
  },
});

const liveSeconds = ({ lastComputingAt }: FinishedHolder, now: Date): number =>
  (now.getTime() - lastComputingAt.getTime()) / 1000;

const tailSeconds = ({ heldUntil, lastComputingAt }: FinishedHolder): number =>
  (heldUntil.getTime() - lastComputingAt.getTime()) / 1000;

/** A job that was stopped while it stood still may have been about to go on; one that came to its own end was not. */
const mayHavePaused = (holder: FinishedHolder, liveHoursMin: number): boolean =>
  holder.outcome !== 'completed' && tailSeconds(holder) <= liveHoursMin * 3600;

/**
 * Whether it is finished is known where its scheduler says of a part of it how it ended; else it is inferred from its GPUs, and its process
 * may be at something long on the CPU.
 */
function liveClaim(holder: FinishedHolder, now: Date): Claim {
  const name = holder.name ?? holder.allocationId;
  const hasEndedInPart = holder.outcome !== null;
  const gpus = gpuWords(holder.gpus, holder.model);
  const since = timeWords(holder.lastComputingAt, now);
  return {
    about: holder.subject,
    ownerSubject: holder.subject,
    what: hasEndedInPart ? `finished job still holds ${gpus}` : `no kernel since ${since}, ${gpus} still held`,
    because: [
      `Last kernel of ${name} ${since}; ${countWords(holder.gpus, 'GPU')} on ${countWords(holder.nodes, 'node')} held for ${spanWords(liveSeconds(holder, now))} since (${holder.signal} of every GPU).`,
      hasEndedInPart
        ? `A part of it has ended: ${holder.outcome}.`
        : 'No scheduler says that it has ended: that it is finished is inferred.',
      pauseWords(holder),
    ],
    fix: [stopCommand(holder)],
    unless: 'Its last step works on the CPU alone and will use the GPUs again, or is writing its result.',
    liveSince: holder.lastComputingAt,
    takes: takesOf(holder),
    ...(!hasEndedInPart && {
      blastRadius: 3,
      blast:
        'Its process is there: a long phase on the CPU, or a result that is being written, is cut off. Ask its owner first.',
    }),
  };
}

/** What its namesakes did: of one run alone nothing can be compared. */
function pauseWords({ longestPauseS, namesakes }: FinishedHolder): string {
  const paused = longestPauseS > 60;
  if (namesakes <= 1)
    return `No other run of its name is known${paused ? `; it has gone on before, after ${spanWords(longestPauseS)} at most` : ''}.`;
  return paused
    ? `Of ${wholeWords(namesakes)} runs of its name none went on after more than ${spanWords(longestPauseS)} of standing still.`
    : `Of ${wholeWords(namesakes)} runs of its name none stood still and went on.`;
}

function pastClaim(about: string, group: readonly FinishedHolder[], now: Date): Claim {
  const longest = group.reduce((a, b) => (tailSeconds(b) > tailSeconds(a) ? b : a));
  const runs = Math.max(longest.runs, group.length);
  const gpuSeconds = group.reduce((sum, { tailGpuS }) => sum + tailGpuS, 0);
  const name = longest.stem?.replace(/[-_.]0$/, '') ?? longest.name ?? longest.allocationId;
  return {
    about,
    ownerSubject: longest.subject,
    what:
      group.length === 1
        ? `held ${gpuWords(longest.gpus, longest.model)} for ${spanWords(tailSeconds(longest))} after its last kernel: ${longest.name ?? longest.allocationId}`
        : `${name}: GPUs held after the last kernel in ${wholeWords(group.length)} of ${countWords(runs, 'run')}`,
    because: [
      `${group.length === 1 ? 'Last' : `Longest: ${longest.name ?? longest.allocationId}, last`} kernel ${timeWords(longest.lastComputingAt, now)}, ${countWords(longest.gpus, 'GPU')} held until ${timeWords(longest.heldUntil, now)} (${spanWords(tailSeconds(longest))}; ${longest.signal} of every GPU).`,
      ...(group.length === 1 ? [] : [`${gpuHourWords(gpuSeconds)} in all.`]),
    ],
    fix: endCleanly(longest, group),
    unless: 'What ran on the CPU at the end needs the GPUs once more.',
    takes: group.flatMap(takesOf),
    effort: 'a line of the job script',
  };
}

/** Above the longest it has worked, a quarter more: a limit that what hangs runs into, and what works does not. */
const limitHours = (activeS: number): number => Math.max(1, Math.ceil((activeS * 1.25) / 3600));

/** GPU-seconds of a tail that a limit on the whole run would have cut off. */
function cutBy(limitS: number, { heldSince, heldUntil, tailGpuS, gpus }: FinishedHolder): number {
  const overS = (heldUntil.getTime() - heldSince.getTime()) / 1000 - limitS;
  return Math.min(tailGpuS, Math.max(0, overS) * gpus);
}

interface Limit {
  readonly hours: number;
  /** What it would have cut off of what is told, in words. */
  readonly words: string;
  /** By itself it would have cut off at least half. */
  readonly isEnough: boolean;
  readonly isOfUse: boolean;
}

function limitOf(group: readonly FinishedHolder[]): Limit {
  const activeS = Math.max(...group.map((each) => each.activeS));
  const hours = limitHours(activeS);
  const tailS = group.reduce((sum, { tailGpuS }) => sum + tailGpuS, 0);
  const cutS = group.reduce((sum, holder) => sum + cutBy(hours * 3600, holder), 0);
  return {
    hours,
    words: `the longest worked for ${spanWords(activeS)}; of these runs it would have cut off ${gpuHoursOfWords(cutS, tailS)}`,
    isEnough: cutS * 2 >= tailS,
    isOfUse: cutS * 20 >= tailS,
  };
}

/**
 * How a job of this scheduler gives its GPUs back when its work is done. What hangs reaches no last line: a limit ends it, but one that the longest run of a
 * name can live with cuts off little where runs differ, so that what it would have cut off is said, and the script's own end comes first.
 */
function endCleanly({ source, kind }: FinishedHolder, group: readonly FinishedHolder[]): string[] {
  const limit = limitOf(group);
  if (source === 'slurm') return endOfScript(group, limit);
  if (source !== 'kubernetes') return endOfProgram(limit);
  if (kind === 'PyTorchJob' || kind === 'MPIJob' || kind === 'TFJob')
    return [
      commentLine('in the manifest: pods go when the launcher ends'),
      'spec: {runPolicy: {cleanPodPolicy: All, ttlSecondsAfterFinished: 600}}',
    ];
  return [
    commentLine(
      'in the manifest: a sidecar keeps a pod alive; as an init container that restarts it ends with the work',
    ),
    'initContainers: [{name: SIDECAR, restartPolicy: Always, image: IMAGE}]',
    ...(limit.isOfUse
      ? [`spec: {activeDeadlineSeconds: ${limit.hours * 3600}}   # of the Job: what hangs is ended; ${limit.words}`]
      : []),
  ];
}

/** No scheduler takes anything back: what holds the GPUs is what still runs. */
function endOfProgram(limit: Limit): string[] {
  return [
    commentLine('the script ends with its program, and ends what runs beside it (a logger, a sync):'),
    `trap 'kill $(jobs -p) 2>/dev/null' EXIT; python train.py; exit`,
    ...(limit.isOfUse ? [`timeout ${limit.hours}h python train.py   # what hangs is ended; ${limit.words}`] : []),
    commentLine('on a rented machine that has nothing else to do, as the last line: sudo shutdown -h now'),
  ];
}

function endOfScript(group: readonly FinishedHolder[], limit: Limit): string[] {
  const time = `#SBATCH --time=${String(limit.hours).padStart(2, '0')}:00:00   # ${limit.words}`;
  const tailS = (holders: readonly FinishedHolder[]): number =>
    holders.reduce((sum, { tailGpuS }) => sum + tailGpuS, 0);
  const hasPeers = tailS(group.filter(({ gpus }) => gpus > 1)) * 2 > tailS(group);
  return [
    ...(limit.isEnough ? [time] : []),
    ...(hasPeers
      ? [
          commentLine('when a task fails, or the first has ended for a minute, the others are ended:'),
          'srun --kill-on-bad-exit=1 --wait=60 python train.py',
        ]
      : [
          commentLine('the script ends with its program, and ends what runs beside it (a logger, a sync):'),
          `trap 'kill $(jobs -p) 2>/dev/null' EXIT; python train.py; exit`,
        ]),
    ...(limit.isEnough
      ? []
      : [
          limit.isOfUse
            ? time
            : commentLine('a program that hangs: --time by what this run needs, not by the longest of its name'),
        ]),
    commentLine('work on the CPU that follows: a job of its own, sbatch --dependency=afterok:JOBID'),
  ];
}

/** The idle money after the last kernel: of its day a part by seconds, of later days all. Of devices that idled before it, too, each has its own part. */
function takesOf({ subject, firstDay, lastDay, lastComputingAt, ...holder }: FinishedHolder): Take[] {
  const kernelDay = lastComputingAt.toISOString().slice(0, 10);
  const take = { subject, category: 'idle' } as const;
  const later = firstDay > kernelDay ? firstDay : dayAfter(kernelDay);
  const onKernelDay = { ...take, firstDay: kernelDay, lastDay: kernelDay };
  const devices = (holder.firstDayDevices ?? []).map((text) => {
    const [idleS = '0', tailS = '0', ...device] = text.split(' ');
    return { deviceId: device.join(' '), permille: permilleOf(Number(tailS), Number(idleS)) };
  });
  const isAlike = devices.every(({ permille }) => permille === devices[0]?.permille);
  const whole = { permille: permilleOf(holder.firstDayTailS, holder.firstDayIdleS) };
  return [
    ...(isAlike ? [whole] : devices)
      .filter(({ permille }) => permille > 0)
      .map((part) => ({ ...onKernelDay, ...part })),
    ...(later <= lastDay ? [{ ...take, firstDay: later, lastDay }] : []),
  ];
}
