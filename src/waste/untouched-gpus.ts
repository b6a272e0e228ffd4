import { z } from 'zod';
import { detector, type Claim } from '../facts/detector.ts';
import { sqlCount, sqlDay, sqlTime } from '../facts/sql-row.ts';
import { commentLine } from './stop-command.ts';
import { countWords, gpuHourWords, modelWords, someWords, spanWords, timeWords } from './wording.ts';

/** An attempt of a job some of whose GPUs never computed. */
const UntouchedRun = z.object({
  subject: z.string(),
  source: z.string(),
  allocationId: z.string(),
  cluster: z.string().nullable(),
  namespace: z.string().nullable(),
  account: z.string().nullable(),
  userName: z.string().nullable(),
  name: z.string().nullable(),
  stem: z.string().nullable(),
  model: z.string().nullable(),
  hasEnded: z.boolean(),
  heldSince: sqlTime,
  heldS: sqlCount,
  gpus: sqlCount,
  touched: sqlCount,
  nodes: sqlCount,
  touchedNodes: sqlCount,
  firstDay: sqlDay,
  lastDay: sqlDay,
  untouched: z.array(z.string()),
  untouchedGpuS: sqlCount,
  /** The longest any of them computed all the same: the sample in which it was handed over, a test at the start. */
  computingSMax: sqlCount,
  /** The most device memory any of them held; null where it is not measured. */
  memoryMibMax: sqlCount.nullable(),
  /** Attempts of the same name and person that are old enough to be judged. */
  runs: sqlCount,
  /** The longest a job of this name is known to have needed until its first kernel. */
  longestStartS: sqlCount,
});
type UntouchedRun = z.infer<typeof UntouchedRun>;

/** A GPU that was not touched has a day on which it was not: only jobs with such a day are looked at GPU by GPU. */
const SQL = `
  WITH suspect AS (
    SELECT DISTINCT subject FROM stint_day WHERE manner = 'job' AND allocation_id IS NOT NULL
      AND computing_s * 1000 <= held_s * $touchedPermille AND held_s > 600
  ), lasting AS (
    SELECT subject, max(day) AS last_day, date_diff('second', min(held_since), min(first_computing_at)) AS start_s FROM stint_day
    WHERE manner = 'job' AND allocation_id IS NOT NULL GROUP BY subject
    HAVING date_diff('second', min(held_from), max(held_until)) >= $heldSecondsMin
  ), device AS (
    SELECT s.subject, s.device_id, min(s.node_id) AS node_id, CAST(sum(s.held_s) AS BIGINT) AS held_s,
           CAST(sum(s.computing_s) AS BIGINT) AS computing_s, CAST(sum(s.unknown_s) AS BIGINT) AS unknown_s,
           min(s.day) AS first_day, max(s.known_until) AS known_until, max(s.fb_used_mib_max) AS fb_used_mib_max,
           min(s.source) AS source, min(s.allocation_id) AS allocation_id, min(s.workload_name) AS name,
           min(s.held_since) AS held_since, count(s.ended_at) AS ends
    FROM stint_day s JOIN suspect u ON s.subject = u.subject JOIN lasting l ON s.subject = l.subject GROUP BY s.subject, s.device_id
  ), judged AS (
    SELECT device.*, computing_s > $touchedSeconds OR computing_s * 1000 > held_s * $touchedPermille AS is_touched FROM device
  ), attempt AS (
    SELECT subject, min(source) AS source, min(allocation_id) AS allocation_id, min(name) AS name, max(ends) > 0 AS has_ended,
           min(held_since) AS held_since, max(held_s) AS held_s, count(*) AS gpus,
           count(*) FILTER (WHERE is_touched) AS touched, count(DISTINCT node_id) AS nodes,
           count(DISTINCT CASE WHEN is_touched THEN node_id END) AS touched_nodes, min(first_day) AS first_day,
           array_agg(device_id ORDER BY device_id) FILTER (WHERE NOT is_touched) AS untouched,
           CAST(sum(CASE WHEN is_touched THEN 0 ELSE held_s END) AS BIGINT) AS untouched_s,
           CAST(sum(CASE WHEN is_touched THEN 0 ELSE unknown_s END) AS BIGINT) AS unknown_s,
           max(CASE WHEN is_touched THEN 0 ELSE computing_s END) AS computing_s_max,
           max(CASE WHEN NOT is_touched THEN fb_used_mib_max END) AS memory_mib_max
    FROM judged GROUP BY subject HAVING max(held_s) >= $heldSecondsMin AND count(known_until) = count(*)
  ), found AS (
    SELECT a.*, l.last_day FROM attempt a JOIN lasting l ON a.subject = l.subject
    WHERE touched < gpus AND (touched > 0 OR computing_s_max = 0) AND unknown_s * 1000 <= untouched_s * $unknownPermilleMax
  ), known AS (
    SELECT j.subject, j.cluster, j.namespace, j.account, j.user_name, j.workload_stem AS stem, l.start_s FROM subject j
    JOIN lasting l ON j.day = l.last_day AND j.subject = l.subject
  ), kind_runs AS (
    SELECT COALESCE(cluster, '') AS cluster, COALESCE(stem, '') AS stem, COALESCE(user_name, '') AS user_name,
           count(*) AS runs, max(start_s) AS start_s
    FROM known GROUP BY COALESCE(cluster, ''), COALESCE(stem, ''), COALESCE(user_name, '')
  ), priced AS (
    SELECT m.subject, min(m.model) AS model FROM subject_day m JOIN found f ON m.day = f.last_day AND m.subject = f.subject
    GROUP BY m.subject
  )
  SELECT f.subject, f.source, f.allocation_id AS "allocationId", k.cluster, k.namespace, k.account, k.user_name AS "userName",
         f.name, k.stem, p.model, f.has_ended AS "hasEnded", f.held_since AS "heldSince", f.held_s AS "heldS", f.gpus, f.touched,
         f.nodes, f.touched_nodes AS "touchedNodes", f.first_day AS "firstDay", f.last_day AS "lastDay", f.untouched,
         f.untouched_s AS "untouchedGpuS", f.computing_s_max AS "computingSMax", f.memory_mib_max AS "memoryMibMax",
         COALESCE(r.runs, 1) AS runs, COALESCE(r.start_s, 0) AS "longestStartS"
  FROM found f LEFT JOIN known k ON f.subject = k.subject LEFT JOIN priced p ON f.subject = p.subject
  LEFT JOIN kind_runs r ON COALESCE(k.cluster, '') = r.cluster AND COALESCE(k.stem, '') = r.stem
    AND COALESCE(k.user_name, '') = r.user_name
  ORDER BY f.subject`;

/**
 * Question: which jobs hold GPUs on which they never start a kernel, while they compute on others, or on none at all?
 *
 * The same script asks for too much in every run, so that the runs of one name and person are one finding. A job that has touched
 * nothing yet may still be loading: while it is there it is named only after more time than its kind has ever needed to start.
 * A job that computed a little and then stood still is one of the finished holders. Holders by count have no GPU of their own, and nothing is said of theirs.
 *
 * Reads: stint_day, subject, subject_day.
 */
export const untouchedGpus = detector({
  name: 'untouched-gpus',
  title: 'jobs that ask for more GPUs than they touch',
  category: 'idle',
  factor: 'utilisation',
  basis: 'measured',
  blastRadius: 2,
  blast: 'The next run starts with fewer GPUs; if the others were meant to work, it stays as slow as it is now.',
  effort: 'a line of the job script',
  options: z.object({
    heldHoursMin: z.number().min(0.1).default(2), // Images, data and models load within that.
    touchedMinutes: z.number().default(10), // Less is the sample in which the GPU was handed over, or a test at the start,
    touchedPermille: z.number().int().default(20), // unless the job was so short that it is a part of it.
    unknownPermilleMax: z.number().int().default(50), // Beyond this nothing is said: telemetry-gaps does.
  }),
  ask: (options) => ({
    runs: {
      row: UntouchedRun,
      tables: ['stint_day', 'subject', 'subject_day'],
      params: {
        heldSecondsMin: Math.round(options.heldHoursMin * 3600),
        touchedSeconds: Math.round(options.touchedMinutes * 60),
        touchedPermille: options.touchedPermille,
        unknownPermilleMax: options.unknownPermilleMax,
      },
      sql: SQL,
    },
  }),
  judge: ({ runs }, { now }) => {
    const kinds = new Map<string, UntouchedRun[]>();
    for (const run of runs.filter((each) => !mayStillStart(each))) {
      const key = [run.cluster, run.namespace ?? run.account, run.stem ?? run.allocationId, run.userName].join('/');
      kinds.set(key, [...(kinds.get(key) ?? []), run]);
    }
    return [...kinds].map(([about, group]) => claimOf(about, group, now));
  },
});

const mayStillStart = ({ hasEnded, touched, heldS, longestStartS }: UntouchedRun): boolean =>
  !hasEnded && touched === 0 && heldS <= longestStartS;

/** Device memory from which a program has been on the GPU: it has seen it. */
const SEEN_MIB_MIN = 500;

function claimOf(about: string, group: readonly UntouchedRun[], now: Date): Claim {
  const worst = group.reduce((a, b) => (b.untouchedGpuS > a.untouchedGpuS ? b : a));
  const { gpus, touched } = worst;
  const runs = Math.max(worst.runs, group.length);
  const model = worst.model === null ? '' : ` (${modelWords(worst.model)})`;
  return {
    about,
    ownerSubject: worst.subject,
    what: `asks for ${countWords(gpus, 'GPU')}${model}, touches ${touchedWords(group)}, in ${group.length} of ${countWords(runs, 'run')}`,
    because: evidenceOf(worst, group, now),
    fix: touched === 0 ? fixOfNone(worst) : fixOfSome(worst),
    unless:
      touched === 0
        ? 'The GPUs are needed later than this run lived.'
        : 'All of them were meant to work: then the launcher starts too few processes.',
    takes: group.flatMap((run) => {
      const take = { subject: run.subject, firstDay: run.firstDay, lastDay: run.lastDay, category: 'idle' } as const;
      return run.touched === 0 ? [take] : run.untouched.map((deviceId) => ({ ...take, deviceId }));
    }),
  };
}

function evidenceOf(worst: UntouchedRun, group: readonly UntouchedRun[], now: Date): string[] {
  const { gpus, touched, memoryMibMax, computingSMax } = worst;
  const name = worst.name ?? worst.allocationId;
  const gpuSeconds = group.reduce((sum, each) => sum + each.untouchedGpuS, 0);
  const live = group.filter(({ hasEnded }) => !hasEnded);
  const kernels = computingSMax === 0 ? 'no kernel' : `at most ${spanWords(computingSMax)} of kernels`;
  const memory =
    memoryMibMax === null ? '' : `; device memory there at most ${memoryMibMax.toLocaleString('en-US')} MiB`;
  return [
    `${name}, from ${timeWords(worst.heldSince, now)}: ${kernels} on ${gpus - touched} of ${countWords(gpus, 'GPU')} in ${spanWords(worst.heldS)} (engine, else SM, else utilisation).`,
    `${gpuHourWords(gpuSeconds)} on GPUs that were not used${memory}.`,
    ...(live.length > 0
      ? [
          `${countWords(live.length, 'such run')} now: ${someWords(live.map((each) => each.name ?? each.allocationId))}.`,
        ]
      : []),
  ];
}

function touchedWords(group: readonly UntouchedRun[]): string {
  const counts = group.map(({ touched }) => touched);
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  if (most === 0) return 'none';
  return least === most ? String(most) : `${least} to ${most}`;
}

/** A program that filled memory has found its GPU, and has hung or had nothing to do; one that did not may not have seen it. */
function fixOfNone({ source, memoryMibMax }: UntouchedRun): string[] {
  if ((memoryMibMax ?? 0) >= SEEN_MIB_MIN)
    return [
      commentLine('it loaded and then did nothing: let it end by itself when it hangs'),
      ...(source === 'slurm'
        ? ['timeout 30m srun python warm_up.py || exit 1']
        : ['spec: {activeDeadlineSeconds: 1800}']),
    ];
  return [
    commentLine('ask for no GPU, if it needs none; if it should compute, see what the program finds:'),
    'python -c "import torch; print(torch.cuda.is_available(), torch.cuda.device_count())"',
  ];
}

/** Asks are written by node: of a job that leaves whole nodes alone, fewer nodes. */
function fixOfSome({ source, gpus, touched, nodes, touchedNodes }: UntouchedRun): string[] {
  const perNode = Math.ceil(touched / Math.max(1, touchedNodes));
  const fewer = touchedNodes < nodes;
  const asked =
    source === 'slurm'
      ? `#SBATCH${fewer ? ` --nodes=${touchedNodes}` : ''} --gres=gpu:${perNode}`
      : `resources: {limits: {nvidia.com/gpu: ${perNode}}}${fewer ? `  # and ${touchedNodes} workers` : ''}`;
  const meant = Math.ceil(gpus / Math.max(1, nodes));
  return [asked, commentLine(`or, if all ${gpus} were meant:`), `torchrun --nproc-per-node=${meant} train.py`];
}
