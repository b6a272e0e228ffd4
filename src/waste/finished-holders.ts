import { z } from 'zod';
import { detector, type Claim, type Take } from '../facts/detector.ts';
import { sqlCount, sqlDay, sqlTime } from '../facts/sql-row.ts';
import { commentLine, stopCommand } from './stop-command.ts';
import { countWords, gpuHourWords, gpuWords, spanWords, timeWords, wholeWords } from './wording.ts';

/** A job whose GPUs have all stopped, and what it held after its last kernel. */
const FinishedHolder = z.object({
  subject: z.string(),
  source: z.string(),
  allocationId: z.string(),
  cluster: z.string().nullable(),
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
  lastComputingAt: sqlTime,
  heldUntil: sqlTime,
  firstDay: sqlDay,
  lastDay: sqlDay,
  /** Of the day of its last kernel: idle GPU-seconds, and those of them that came after it. */
  firstDayIdleS: sqlCount,
  firstDayTailS: sqlCount,
  tailGpuS: sqlCount,
  unknownTailS: sqlCount,
  /** Attempts of the same name in the window that computed at all. */
  runs: sqlCount,
  /** The longest idle time after which a job of this name is known to have gone on. */
  longestPauseS: sqlCount,
});
type FinishedHolder = z.infer<typeof FinishedHolder>;

const lesser = (a: string, b: string): string => `CASE WHEN ${a} < ${b} THEN ${a} ELSE ${b} END`;
/** Idle time whose money is idle: a pause is starved. */
const IDLE_S = '(s.idle_s - COALESCE(s.pause_s, 0))';
const TAIL_S = `CASE WHEN s.held_from >= a.last_at THEN s.held_s
  ELSE ${lesser('s.held_s', "date_diff('second', a.last_at, s.held_until)")} END`;

const SQL = `
  WITH attempt AS (
    SELECT subject, max(last_computing_at) AS last_at, max(held_until) AS held_until, count(ended_at) > 0 AS has_ended,
           max(day) AS last_day
    FROM stint_day WHERE manner = 'job' AND allocation_id IS NOT NULL GROUP BY subject
  ), stopped AS (
    SELECT * FROM attempt WHERE date_diff('second', last_at, held_until) >= $tailSecondsMin
  ), tail AS (
    SELECT s.subject, min(s.source) AS source, min(s.allocation_id) AS allocation_id, min(s.workload_kind) AS kind,
           min(s.workload_name) AS name, max(s.outcome) AS outcome, count(DISTINCT s.device_id) AS gpus,
           count(DISTINCT s.node_id) AS nodes, min(s.day) AS first_day, CAST(sum(${TAIL_S}) AS BIGINT) AS tail_s,
           CASE WHEN count(s.engine_permille) > 0 THEN 'engine' WHEN count(s.sm_permille) > 0 THEN 'SM' ELSE 'utilisation' END
             || CASE WHEN count(s.power_w_max) > 0 THEN ' and power' ELSE '' END AS signal,
           CAST(sum(${lesser('s.unknown_s', `(${TAIL_S})`)}) AS BIGINT) AS unknown_s,
           CAST(sum(CASE WHEN s.day = CAST(a.last_at AS DATE) THEN ${IDLE_S} ELSE 0 END) AS BIGINT) AS first_idle_s,
           CAST(sum(CASE WHEN s.day = CAST(a.last_at AS DATE) THEN
             ${lesser(IDLE_S, `(${TAIL_S}) - (${lesser('s.unknown_s', `(${TAIL_S})`)})`)} ELSE 0 END) AS BIGINT) AS first_tail_s,
           min(s.known_until) AS known_until
    FROM stint_day s JOIN stopped a ON s.subject = a.subject WHERE s.held_until > a.last_at GROUP BY s.subject
  ), known AS (
    SELECT j.subject, j.cluster, j.namespace, j.user_name, j.workload_stem AS stem FROM subject j
    JOIN attempt a ON j.day = a.last_day AND j.subject = a.subject WHERE a.last_at IS NOT NULL
  ), kind_runs AS (
    SELECT COALESCE(cluster, '') AS cluster, COALESCE(stem, '') AS stem, count(*) AS runs
    FROM known GROUP BY COALESCE(cluster, ''), COALESCE(stem, '')
  ), live_stem AS (
    SELECT DISTINCT k.stem FROM known k JOIN stopped a ON k.subject = a.subject WHERE NOT a.has_ended
  ), worked AS (
    SELECT k.stem, j.first_computing_at,
           lag(j.last_computing_at) OVER (PARTITION BY j.subject, j.device_id ORDER BY j.day) AS before_at,
           j.idle_s - COALESCE(date_diff('second', j.idle_from, j.known_until), 0) AS inner_idle_s
    FROM known k JOIN live_stem l ON k.stem = l.stem JOIN stint_day j ON j.subject = k.subject
    WHERE j.first_computing_at IS NOT NULL
  ), paused AS (
    SELECT stem, max(inner_idle_s) AS inner_s, max(date_diff('second', before_at, first_computing_at)) AS across_s
    FROM worked GROUP BY stem
  ), priced AS (
    SELECT m.subject, min(m.model) AS model FROM subject_day m JOIN stopped a ON m.day = a.last_day AND m.subject = a.subject
    GROUP BY m.subject
  )
  SELECT t.subject, t.source, t.allocation_id AS "allocationId", k.cluster, k.namespace, k.user_name AS "userName", t.kind,
         t.name, k.stem, p.model, t.outcome, t.signal,
         NOT a.has_ended AND date_diff('second', t.known_until, $now) <= $freshSeconds AS "isLive", a.has_ended AS "hasEnded",
         t.gpus, t.nodes, a.last_at AS "lastComputingAt", a.held_until AS "heldUntil", t.first_day AS "firstDay",
         a.last_day AS "lastDay", t.first_idle_s AS "firstDayIdleS", t.first_tail_s AS "firstDayTailS", t.tail_s AS "tailGpuS",
         t.unknown_s AS "unknownTailS", COALESCE(r.runs, 0) AS runs,
         COALESCE(CASE WHEN u.inner_s > COALESCE(u.across_s, 0) THEN u.inner_s ELSE u.across_s END, 0) AS "longestPauseS"
  FROM tail t JOIN stopped a ON t.subject = a.subject LEFT JOIN known k ON t.subject = k.subject
  LEFT JOIN priced p ON t.subject = p.subject LEFT JOIN paused u ON k.stem = u.stem
  LEFT JOIN kind_runs r ON COALESCE(k.cluster, '') = r.cluster AND COALESCE(k.stem, '') = r.stem
  WHERE t.unknown_s * 1000 <= t.tail_s * $unknownPermilleMax
  ORDER BY t.subject`;

/**
 * Question: which jobs have computed, have stopped on all their GPUs, and hold them still, or held them until they ended?
 *
 * Teardown and the upload of a last checkpoint take minutes, so that an hour is asked for. Of a job that is still there nobody knows
 * whether it goes on: it is named only after a time longer than any pause after which its kind is known to have gone on. One that
 * has ended did not go on; what runs of one name repeat is one finding, because one script mends it. A job of which one GPU computes has not stopped.
 *
 * Reads: stint_day, subject, subject_day.
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
      tables: ['stint_day', 'subject', 'subject_day'],
      params: {
        tailSecondsMin: Math.round(options.tailHoursMin * 3600),
        freshSeconds: options.freshMinutes * 60,
        unknownPermilleMax: options.unknownPermilleMax,
      },
      sql: SQL,
    },
  }),
  judge: ({ holders }, { options, now }) => {
    const live = holders.filter(
      (holder) =>
        holder.isLive && liveSeconds(holder, now) > Math.max(options.liveHoursMin * 3600, holder.longestPauseS),
    );
    const past = new Map<string, FinishedHolder[]>();
    for (const holder of holders.filter((each) => each.hasEnded && !mayHavePaused(each, options.liveHoursMin))) {
      const key = `${holder.cluster ?? ''}/${holder.stem ?? holder.allocationId}`;
      past.set(key, [...(past.get(key) ?? []), holder]);
    }
    return [
      ...live.map((holder) => liveClaim(holder, now)),
      ...[...past].map(([about, group]) => pastClaim(about, group, now)),
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

function liveClaim(holder: FinishedHolder, now: Date): Claim {
  const name = holder.name ?? holder.allocationId;
  const paused = holder.longestPauseS;
  return {
    about: holder.subject,
    ownerSubject: holder.subject,
    what: `finished job still holds ${gpuWords(holder.gpus, holder.model)}`,
    because: [
      `Last kernel of ${name} ${timeWords(holder.lastComputingAt, now)}; ${countWords(holder.gpus, 'GPU')} on ${countWords(holder.nodes, 'node')} held for ${spanWords(liveSeconds(holder, now))} since (${holder.signal} of every GPU).`,
      paused > 60
        ? `No job of its name went on after more than ${spanWords(paused)} of standing still.`
        : 'No job of its name stood still and went on.',
    ],
    fix: [stopCommand(holder)],
    unless: 'Its last step works on the CPU alone and will use the GPUs again, or is writing its result.',
    liveSince: holder.lastComputingAt,
    takes: takesOf(holder),
  };
}

function pastClaim(about: string, group: readonly FinishedHolder[], now: Date): Claim {
  const longest = group.reduce((a, b) => (b.tailGpuS > a.tailGpuS ? b : a));
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
      ...(group.length === 1 ? [] : [`${gpuHourWords(gpuSeconds)} in all, in runs of ${peopleText(group)}.`]),
    ],
    fix: endCleanly(longest),
    unless: 'What ran on the CPU at the end needs the GPUs once more.',
    takes: group.flatMap(takesOf),
    effort: 'a line of the job script',
  };
}

function peopleText(group: readonly FinishedHolder[]): string {
  const people = new Set(group.map(({ userName }) => userName)).size;
  return people === 1 ? 'one person' : `${people} people`;
}

/** How a job of this scheduler gives its GPUs back when its work is done. */
function endCleanly({ source, kind }: FinishedHolder): string[] {
  if (source === 'slurm')
    return [
      commentLine('last line of the job script: a process that hangs at the end keeps the GPUs no longer'),
      'scancel "$SLURM_JOB_ID"',
      commentLine('work on the CPU that follows goes into a job of its own: sbatch --dependency=afterok:$SLURM_JOB_ID'),
    ];
  if (kind === 'PyTorchJob' || kind === 'MPIJob' || kind === 'TFJob')
    return [
      commentLine('in the manifest: pods go when the launcher ends'),
      'spec: {runPolicy: {cleanPodPolicy: All, ttlSecondsAfterFinished: 600}}',
    ];
  return [
    commentLine('in the manifest: a sidecar or a shell after the work keeps the pod; end the pod with it'),
    'spec: {ttlSecondsAfterFinished: 600, template: {spec: {restartPolicy: Never}}}',
  ];
}

/** The idle money after the last kernel: of its day a part by seconds, of later days all. */
function takesOf({ subject, firstDay, lastDay, lastComputingAt, ...holder }: FinishedHolder): Take[] {
  const kernelDay = lastComputingAt.toISOString().slice(0, 10);
  const take = { subject, category: 'idle' } as const;
  const later = firstDay > kernelDay ? firstDay : nextDay(kernelDay);
  const permille = holder.firstDayIdleS === 0 ? 0 : Math.floor((holder.firstDayTailS * 1000) / holder.firstDayIdleS);
  return [
    ...(permille > 0 ? [{ ...take, firstDay: kernelDay, lastDay: kernelDay, permille }] : []),
    ...(later <= lastDay ? [{ ...take, firstDay: later, lastDay }] : []),
  ];
}

function nextDay(day: string): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + 86_400_000).toISOString().slice(0, 10);
}
