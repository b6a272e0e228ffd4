import { z } from 'zod';
import { detector, type Claim, type JudgeContext } from '../facts/detector.ts';
import { nameWord } from '../facts/shell-word.ts';
import { sqlCount, sqlDay, sqlTexts, sqlTime } from '../facts/sql-row.ts';
import { addedSpark, spentDays } from './day-spark.ts';
import { LIVES, LIVES_READ } from './runs-sql.ts';
import { commentLine, stopCommand } from './stop-command.ts';
import { countWords, gpuHourWords, modelWords, someWords, spanWords, timeWords } from './wording.ts';

/** An attempt of a job some of whose GPUs never computed. */
const UntouchedRun = z.object({
  subject: z.string(),
  source: z.string(),
  allocationId: z.string(),
  cluster: z.string().nullable(),
  home: z.string(),
  namespace: z.string().nullable(),
  kind: z.string().nullable(),
  userName: z.string().nullable(),
  name: z.string().nullable(),
  stem: z.string().nullable(),
  model: z.string().nullable(),
  hasEnded: z.boolean(),
  /** Still there, by news of the last hour. */
  isLive: z.boolean(),
  /** Computed on its other GPUs within that hour. */
  isComputing: z.boolean(),
  days: sqlTexts.nullable(),
  heldSince: sqlTime,
  heldS: sqlCount,
  gpus: sqlCount,
  touched: sqlCount,
  /** It has slices of GPUs, which are asked for by their profile. */
  isSliced: z.boolean(),
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
  WITH ${LIVES}, suspect AS (
    SELECT DISTINCT subject_key FROM stint_day WHERE manner = 'job' AND allocation_id IS NOT NULL
      AND computing_s * 1000 <= held_s * $touchedPermille AND held_s > 600
  ), lasting AS (
    SELECT subject_key, subject, source, allocation_id, last_day, date_diff('second', held_since, first_computing_at) AS start_s, cluster, home, namespace, user_name, stem, model,
           last_computing_at
    FROM life WHERE wall_s >= $heldSecondsMin
  ), device AS (
    SELECT s.subject_key, s.device_id, min(s.node_id) AS node_id, CAST(sum(s.held_s) AS BIGINT) AS held_s,
           CAST(sum(s.computing_s) AS BIGINT) AS computing_s, CAST(sum(s.unknown_s) AS BIGINT) AS unknown_s,
           min(s.day) AS first_day, max(s.known_until) AS known_until, max(s.fb_used_mib_max) AS fb_used_mib_max,
           min(s.workload_name) AS name, min(s.workload_kind) AS kind,
           min(s.held_since) AS held_since, count(s.ended_at) AS ends,
           max(CASE WHEN s.device_id <> s.root_device_id THEN 1 ELSE 0 END) AS is_slice
    FROM stint_day s JOIN suspect u ON s.subject_key = u.subject_key JOIN lasting l ON s.subject_key = l.subject_key GROUP BY s.subject_key, s.device_id
  ), judged AS (
    SELECT device.*, computing_s > $touchedSeconds OR computing_s * 1000 > held_s * $touchedPermille AS is_touched FROM device
  ), attempt AS (
    SELECT subject_key, min(name) AS name, min(kind) AS kind, max(ends) > 0 AS has_ended, max(known_until) AS known_until,
           min(held_since) AS held_since, max(held_s) AS held_s, count(*) AS gpus, max(is_slice) = 1 AS is_sliced,
           count(*) FILTER (WHERE is_touched) AS touched, count(DISTINCT node_id) AS nodes,
           count(DISTINCT CASE WHEN is_touched THEN node_id END) AS touched_nodes, min(first_day) AS first_day,
           array_agg(device_id ORDER BY device_id) FILTER (WHERE NOT is_touched) AS untouched,
           CAST(sum(CASE WHEN is_touched THEN 0 ELSE held_s END) AS BIGINT) AS untouched_s,
           CAST(sum(CASE WHEN is_touched THEN 0 ELSE unknown_s END) AS BIGINT) AS unknown_s,
           max(CASE WHEN is_touched THEN 0 ELSE computing_s END) AS computing_s_max,
           max(CASE WHEN NOT is_touched THEN fb_used_mib_max END) AS memory_mib_max
    FROM judged GROUP BY subject_key HAVING max(held_s) >= $heldSecondsMin AND count(known_until) = count(*)
  ), found AS (
    SELECT a.*, l.subject, l.source, l.allocation_id, l.last_day FROM attempt a JOIN lasting l ON a.subject_key = l.subject_key
    WHERE touched < gpus AND (touched > 0 OR computing_s_max = 0) AND unknown_s * 1000 <= untouched_s * $unknownPermilleMax
  ), known AS (
    SELECT subject_key, cluster, home, namespace, user_name, stem, model, start_s, last_computing_at FROM lasting
  ), kind_runs AS (
    SELECT COALESCE(cluster, '') AS cluster, home, COALESCE(stem, '') AS stem, COALESCE(user_name, '') AS user_name,
           count(*) AS runs, max(start_s) AS start_s
    FROM known GROUP BY COALESCE(cluster, ''), home, COALESCE(stem, ''), COALESCE(user_name, '')
  )
  SELECT f.subject, f.source, f.allocation_id AS "allocationId", k.cluster, k.home, k.namespace, f.kind, k.user_name AS "userName",
         f.name, k.stem, k.model, f.has_ended AS "hasEnded",
         NOT f.has_ended AND date_diff('second', f.known_until, $now) <= $freshSeconds AS "isLive",
         COALESCE(date_diff('second', k.last_computing_at, $now) <= $freshSeconds, FALSE) AS "isComputing", z.days, f.held_since AS "heldSince", f.held_s AS "heldS", f.gpus, f.touched,
         f.is_sliced AS "isSliced", f.nodes, f.touched_nodes AS "touchedNodes", f.first_day AS "firstDay", f.last_day AS "lastDay", f.untouched,
         f.untouched_s AS "untouchedGpuS", f.computing_s_max AS "computingSMax", f.memory_mib_max AS "memoryMibMax",
         COALESCE(r.runs, 1) AS runs, COALESCE(r.start_s, 0) AS "longestStartS"
  FROM found f JOIN known k ON f.subject_key = k.subject_key
  LEFT JOIN (${spentDays('SELECT subject_key FROM found')}) z ON f.subject_key = z.subject_key
  LEFT JOIN kind_runs r ON COALESCE(k.cluster, '') = r.cluster AND k.home = r.home AND COALESCE(k.stem, '') = r.stem
    AND COALESCE(k.user_name, '') = r.user_name
  ORDER BY f.subject`;

/**
 * Question: which jobs hold GPUs on which they never start a kernel, while they compute on others, or on none at all?
 *
 * The same script asks for too much in every run, so that the runs of one name and person are one finding. A job that has touched
 * nothing yet may still be loading: while it is there it is named only after more time than its kind has ever needed to start.
 * A job that computed a little and then stood still is one of the finished holders; of one that is older than the window nobody looked at what it did before, and it says so. Holders by count have no GPU of their own, and nothing is said of theirs.
 *
 * Reads: life_day, stint_day.
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
    freshMinutes: z.number().int().default(60), // Older news say nothing about now.
    unknownPermilleMax: z.number().int().default(50), // Beyond this nothing is said: telemetry-gaps does.
  }),
  ask: (options) => ({
    runs: {
      row: UntouchedRun,
      tables: [...LIVES_READ, 'stint_day'],
      params: {
        heldSecondsMin: Math.round(options.heldHoursMin * 3600),
        touchedSeconds: Math.round(options.touchedMinutes * 60),
        touchedPermille: options.touchedPermille,
        freshSeconds: options.freshMinutes * 60,
        unknownPermilleMax: options.unknownPermilleMax,
      },
      sql: SQL,
    },
  }),
  judge: ({ runs }, context) => {
    const kinds = new Map<string, UntouchedRun[]>();
    for (const run of runs.filter((each) => !mayStillStart(each, context))) {
      const key = [run.cluster, run.home, run.stem ?? run.allocationId, run.userName].join('/');
      kinds.set(key, [...(kinds.get(key) ?? []), run]);
    }
    return [...kinds].map(([about, group]) => ({
      ...claimOf(about, group, context),
      spark: addedSpark(
        group.map(({ days }) => days),
        context,
      ),
    }));
  },
});

type Span = Pick<JudgeContext<unknown>, 'from' | 'now'>;

const isOlder = ({ heldSince }: UntouchedRun, { from }: Span): boolean => heldSince < from;

const mayStillStart = (run: UntouchedRun, span: Span): boolean =>
  !run.hasEnded && run.touched === 0 && !isOlder(run, span) && run.heldS <= run.longestStartS;

/** Device memory from which a program has been on the GPU: it has seen it. */
const SEEN_MIB_MIN = 500;

const worseOf = (a: UntouchedRun, b: UntouchedRun): UntouchedRun => (b.untouchedGpuS > a.untouchedGpuS ? b : a);

function claimOf(about: string, group: readonly UntouchedRun[], span: Span): Claim {
  const worst = group.reduce(worseOf);
  const runs = Math.max(worst.runs, group.length);
  const model = worst.model === null ? '' : ` (${modelWords(worst.model)})`;
  const live = group.filter(({ isLive }) => isLive);
  const some = group.filter(({ touched }) => touched > 0);
  const none = group.filter(({ touched }) => touched === 0);
  const others = runs - group.length;
  const isSome = worst.touched > 0;
  return {
    about,
    ownerSubject: worst.subject,
    what: `asks for ${rangeOf(group.map(({ gpus }) => gpus))} ${worst.gpus === 1 ? 'GPU' : 'GPUs'}${model}, touches ${touchedWords(group, span)}, in ${group.length} of ${countWords(runs, 'run')}`,
    because: evidenceOf(worst, group, span),
    fix: [
      ...(some.length === 0 ? [] : fixOfSome(some, others)),
      ...(none.length === 0 ? [] : fixOfNone(none.reduce(worseOf), span)),
      ...stopLines(live),
    ],
    unless: isSome
      ? 'All of them were meant to work: then the launcher starts too few processes.'
      : 'The GPUs are needed later than this run lived.',
    ...(live.length > 0 && {
      liveSince: live.map(({ heldSince }) => heldSince).reduce((a, b) => (a < b ? a : b)),
    }),
    ...(some.length > 0 &&
      others > 0 && {
        blastRadius: 3,
        blast:
          'Runs of this name that work on all they ask for would be slower with fewer: only the asks of the others change.',
      }),
    takes: group.flatMap((run) => {
      const take = { subject: run.subject, firstDay: run.firstDay, lastDay: run.lastDay, category: 'idle' } as const;
      return run.touched === 0 ? [take] : run.untouched.map((deviceId) => ({ ...take, deviceId }));
    }),
  };
}

function rangeOf(counts: readonly number[]): string {
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  return least === most ? String(most) : `${least} to ${most}`;
}

function evidenceOf(worst: UntouchedRun, group: readonly UntouchedRun[], span: Span): string[] {
  const { gpus, touched, computingSMax } = worst;
  const name = worst.name ?? worst.allocationId;
  const gpuSeconds = group.reduce((sum, each) => sum + each.untouchedGpuS, 0);
  const live = group.filter(({ isLive }) => isLive);
  const kernels =
    computingSMax === 0
      ? 'no kernel'
      : `at most ${computingSMax < 90 ? `${computingSMax} s` : spanWords(computingSMax)} of kernels`;
  const within = isOlder(worst, span) ? ' of this window; what it did before was not looked at' : '';
  return [
    `${name}, from ${timeWords(worst.heldSince, span.now)}: ${kernels} on ${gpus - touched} of ${countWords(gpus, 'GPU')} in ${spanWords(worst.heldS)} (engine, else SM, else utilisation)${within}.`,
    `${gpuHourWords(gpuSeconds)} on GPUs that computed ${group.every((each) => each.computingSMax === 0) ? 'nothing' : 'next to nothing'}${memoryWords(group)}.`,
    ...(live.length > 0
      ? [
          `${countWords(live.length, 'such run')} now: ${someWords(live.map((each) => each.name ?? each.allocationId))}.`,
        ]
      : []),
  ];
}

/** Memory without kernels is a process that loaded and does nothing. */
function memoryWords(group: readonly UntouchedRun[]): string {
  const memories = group.flatMap((each) => each.memoryMibMax ?? []);
  if (memories.length === 0) return '';
  const most = Math.max(...memories);
  const told = `${most.toLocaleString('en-US')} MiB`;
  return most >= SEEN_MIB_MIN
    ? `, and held up to ${told} of device memory: a process loaded there`
    : `; device memory there at most ${told}`;
}

function touchedWords(group: readonly UntouchedRun[], span: Span): string {
  if (group.some(({ touched }) => touched > 0)) return rangeOf(group.map(({ touched }) => touched));
  return group.some((run) => isOlder(run, span)) ? 'none in the window' : 'none';
}

/** So many lines are pasted at once; the rest are named as evidence. */
const STOPPED_MAX = 4;

/** Those that go on. One that computes on its other GPUs loses what it has not saved: its command is there to be read, not to be pasted along. */
function stopLines(live: readonly UntouchedRun[]): string[] {
  const lines = (runs: readonly UntouchedRun[], why: string, lineOf = stopCommand): string[] =>
    runs.length === 0 ? [] : [commentLine(why), ...runs.slice(0, STOPPED_MAX).map(lineOf)];
  return [
    ...lines(
      live.filter(({ isComputing }) => !isComputing),
      'goes on now, and computes on nothing:',
    ),
    ...lines(
      live.filter(({ isComputing }) => isComputing),
      'goes on now, and computes on its other GPUs: after its next checkpoint, to start again with fewer:',
      (run) => commentLine(stopCommand(run)),
    ),
  ];
}

/**
 * A program that filled memory has found its GPU, and has hung or had nothing to do; one that did not may not have seen it. One that is older
 * than the window may have computed before: then it has finished, and holds on.
 */
function fixOfNone(run: UntouchedRun, span: Span): string[] {
  const { gpus, memoryMibMax, isLive, allocationId } = run;
  if (isOlder(run, span)) return [`bursar job ${nameWord(allocationId)}   # what it did before the window`];
  if ((memoryMibMax ?? 0) >= SEEN_MIB_MIN)
    return [
      ...(isLive
        ? [
            commentLine('it loaded and then did nothing; where it stands says, on its machine:'),
            'py-spy dump --pid PID',
          ]
        : [
            commentLine(
              'it loaded and then did nothing; where such a run stands says, while it is there: py-spy dump --pid PID',
            ),
          ]),
      ...(gpus > 1
        ? [
            commentLine('a collective waits for a peer for ever; a limit makes it fail, and its GPUs are free:'),
            'torch.distributed.init_process_group(timeout=datetime.timedelta(minutes=30))',
          ]
        : []),
    ];
  return [
    commentLine('ask for no GPU, if it needs none; if it should compute, see what the program finds:'),
    'python -c "import torch; print(torch.cuda.is_available(), torch.cuda.device_count())"',
  ];
}

/** Asks are written by node: of a job that leaves whole nodes alone, fewer nodes. One script is asked by all its runs: what none of them went beyond. */
function fixOfSome(group: readonly UntouchedRun[], others: number): string[] {
  const { source = '' } = group[0] ?? {};
  const most = (of: (run: UntouchedRun) => number): number => Math.max(...group.map(of));
  const perNode = most(({ touched, touchedNodes }) => Math.ceil(touched / Math.max(1, touchedNodes)));
  const meant = most(({ gpus, nodes }) => Math.ceil(gpus / Math.max(1, nodes)));
  const [gpus, touchedNodes] = [most((run) => run.gpus), most((run) => run.touchedNodes)];
  const fewer = group.every((run) => run.touchedNodes < run.nodes);
  const isAlike = new Set(group.map((run) => `${run.gpus} ${run.touched}`)).size === 1;
  const scope = [
    ...(isAlike ? [] : [`the most that any of these ${group.length} runs touched`]),
    ...(others > 0
      ? [`not for its ${countWords(others, 'other run')}, of which no GPU is known to have stood alone`]
      : []),
  ];
  const comment = scope.length === 0 ? [] : [commentLine(scope.join('; '))];
  if (source !== 'slurm' && source !== 'kubernetes') {
    const few = Array.from({ length: perNode }, (_, gpu) => gpu).join(',');
    return [
      ...comment,
      `CUDA_VISIBLE_DEVICES=${few} python train.py`,
      commentLine('and ask for as many; a rented machine may be a smaller one'),
      commentLine(`or, if all ${gpus} were meant:`),
      `torchrun --nproc-per-node=${meant} train.py`,
    ];
  }
  const asked =
    source === 'slurm'
      ? `#SBATCH${fewer ? ` --nodes=${touchedNodes}` : ''} --gres=gpu:${perNode}`
      : `resources: {limits: {${resourceOf(group)}: ${perNode}}}${fewer ? `  # and ${touchedNodes} workers` : ''}`;
  return [
    ...comment,
    asked,
    commentLine(`or, if all ${gpus} were meant:`),
    `torchrun --nproc-per-node=${meant} train.py`,
  ];
}

/** What a manifest calls them: slices by their profile, which is the one it asks for now. */
function resourceOf(group: readonly UntouchedRun[]): string {
  if (group.some(({ isSliced }) => isSliced)) return 'nvidia.com/mig-PROFILE';
  return group.some(({ model }) => /\bamd\b|instinct|\bmi\d{2,3}/i.test(model ?? ''))
    ? 'amd.com/gpu'
    : 'nvidia.com/gpu';
}
