import { z } from 'zod';
import { detector, type Claim } from '../facts/detector.ts';
import { filterValue } from '../facts/filter-value.ts';
import { nameWord, shellWord } from '../facts/shell-word.ts';
import { sqlCount, sqlDay, sqlTime } from '../facts/sql-row.ts';
import { dayParts, dayTakes, NODE_GAP_READS, NODE_GAPS, tenureOf, WHOLE_UNITS } from './node-gaps.ts';
import { SCHEDULERS } from './placed-sql.ts';
import { commentLine } from './stop-command.ts';
import { stopMachines } from './stop-machines.ts';
import {
  isFor,
  WAIT_SECONDS_MIN,
  WAITED,
  WAITED_READS,
  WAITING_NOW,
  WAITING_READS,
  WaitingJob,
} from './waiting-jobs.ts';
import { countWords, gpuHourWords, modelWords, someWords, spanWords, timeWords } from './wording.ts';

/** A node that stood empty, as a whole, for hours. */
const EmptyNode = z.object({
  subject: z.string(),
  nodeId: z.string(),
  cluster: z.string().nullable(),
  model: z.string().nullable(),
  purchase: z.string().nullable(),
  provider: z.string().nullable(),
  resourceId: z.string().nullable(),
  region: z.string().nullable(),
  zone: z.string().nullable(),
  /** The scheduler that hands out the cluster's nodes. */
  scheduler: z.string().nullable(),
  gpus: sqlCount,
  /** Unit-seconds in which it was empty as a whole in stretches of hours, and in stretches of a day and more. */
  quietUnits: z.bigint(),
  longUnits: z.bigint(),
  longestS: sqlCount,
  /** Since when it is empty now; null where somebody holds it, or it is not there any more. */
  emptySince: sqlTime.nullable(),
  dayParts: z.array(z.string()),
});
type EmptyNode = z.infer<typeof EmptyNode>;

/** Empty GPUs of a pool on a day, in unit-seconds. */
const PoolDay = z.object({
  pool: z.string(),
  day: sqlDay,
  emptyUnits: z.bigint(),
  heldUnits: z.bigint(),
  allUnits: z.bigint(),
});

/** Jobs of the window that waited for GPUs of a cluster and model while a whole node of these stood empty. */
const WaitedMeanwhile = z.object({
  cluster: z.string().nullable(),
  model: z.string().nullable(),
  jobs: sqlCount,
  /** Those of them that asked for no more than one such node has. */
  fitting: sqlCount,
});
type WaitedMeanwhile = z.infer<typeof WaitedMeanwhile>;

const most = (a: string, b: string): string => `CASE WHEN ${a} > ${b} THEN ${a} ELSE ${b} END`;
const least = (a: string, b: string): string => `CASE WHEN ${a} < ${b} THEN ${a} ELSE ${b} END`;

const NODES = `${NODE_GAPS}, quiet_day AS (
    SELECT node_id, day, max(gap_s) AS gap_s, max(CASE WHEN is_open THEN from_at END) AS open_from,
           min(empty_units) AS empty_units,
           ${least('min(empty_units)', `CAST(sum(met_s) AS BIGINT) * min(gpus) * ${WHOLE_UNITS}`)} AS quiet_units,
           ${least('min(empty_units)', `CAST(sum(CASE WHEN gap_s >= 86400 THEN met_s ELSE 0 END) AS BIGINT) * min(gpus) * ${WHOLE_UNITS}`)} AS long_units
    FROM met GROUP BY node_id, day
  ), quiet AS (
    SELECT node_id, CAST(sum(quiet_units) AS BIGINT) AS quiet_units, CAST(sum(long_units) AS BIGINT) AS long_units,
           max(gap_s) AS longest_s, max(open_from) AS open_from, ${dayParts('quiet_units')} AS day_parts
    FROM quiet_day GROUP BY node_id
  ), whole AS (
    SELECT node_id, min(subject) AS subject, min(cluster) AS cluster, min(model) AS model, min(purchase) AS purchase,
           min(provider) AS provider, max(gpus) AS gpus
    FROM empty_day GROUP BY node_id
  ), named AS (
    SELECT subject, max(resource_id) AS resource_id, max(region) AS region FROM subject WHERE what = 'node' GROUP BY subject
  ), placed AS (
    SELECT node_id, max(zone) AS zone FROM node GROUP BY node_id
  ), ${SCHEDULERS}
  SELECT w.subject, w.node_id AS "nodeId", w.cluster, w.model, w.purchase, w.provider, r.resource_id AS "resourceId", r.region,
         p.zone, c.source AS scheduler, w.gpus, q.quiet_units AS "quietUnits", q.long_units AS "longUnits", q.longest_s AS "longestS", q.open_from AS "emptySince",
         q.day_parts AS "dayParts"
  FROM whole w JOIN quiet q ON w.node_id = q.node_id LEFT JOIN named r ON w.subject = r.subject
  LEFT JOIN placed p ON w.node_id = p.node_id LEFT JOIN scheduler c ON w.cluster = c.cluster
  WHERE q.quiet_units > 0 ORDER BY w.node_id`;

const POOL_DAYS = `
  SELECT COALESCE(cluster, '') || '/' || COALESCE(model, '') || '/' || COALESCE(purchase, '') AS pool, day,
         empty_units AS "emptyUnits", held_units AS "heldUnits", all_units AS "allUnits"
  FROM (
    SELECT cluster, model, purchase, day, CAST(sum(unallocated_units + held_units + stranded_units) AS BIGINT) AS all_units,
           CAST(sum(held_units + stranded_units) AS BIGINT) AS held_units, CAST(sum(empty_units) AS BIGINT) AS empty_units
    FROM node_day WHERE node_id IS NOT NULL GROUP BY cluster, model, purchase, day
  ) summed ORDER BY pool, day`;

/** Stretches of one cluster and model are joined first: there are few of them, and a year's jobs meet them. */
const MEANWHILE = `${NODE_GAPS}, ${WAITED}, ordered_gap AS (
    SELECT cluster, model, from_at, until_at, gpus,
           max(until_at) OVER (PARTITION BY cluster, model ORDER BY from_at, until_at ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS reached
    FROM (SELECT DISTINCT cluster, model, from_at, until_at, gpus FROM met) stretch
  ), empty_time AS (
    SELECT cluster, model, min(from_at) AS from_at, max(until_at) AS until_at, max(gpus) AS gpus FROM (
      SELECT ordered_gap.*, sum(CASE WHEN reached >= from_at THEN 0 ELSE 1 END) OVER (PARTITION BY cluster, model ORDER BY from_at, until_at
               ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS time_no
      FROM ordered_gap
    ) numbered GROUP BY cluster, model, time_no
  ), met_job AS (
    SELECT e.cluster, e.model, w.source, w.allocation_id, max(CASE WHEN w.gpus <= e.gpus THEN 1 ELSE 0 END) AS fits
    FROM waited w JOIN empty_time e ON COALESCE(w.cluster, '') = COALESCE(e.cluster, '') AND (w.model IS NULL OR w.model = e.model)
      AND w.from_at < e.until_at AND w.until_at > e.from_at
      AND date_diff('second', ${most('w.from_at', 'e.from_at')}, ${least('w.until_at', 'e.until_at')}) >= ${WAIT_SECONDS_MIN}
    GROUP BY e.cluster, e.model, w.source, w.allocation_id
  )
  SELECT cluster, model, count(*) AS jobs, CAST(sum(fits) AS BIGINT) AS fitting FROM met_job GROUP BY cluster, model ORDER BY cluster, model`;

/**
 * Question: which machines stood there, up and paid for, and nobody asked for them?
 *
 * Only time in which a whole node was empty for hours on end: single free GPUs beside other jobs, and the minutes between two jobs,
 * are how a cluster works. One finding for each pool (cluster, model, way of buying), because that is what somebody can change. What
 * is down, drained or spare is not empty, and what was not there is not either. Rented nodes can go; of owned and committed ones the hours can be used; where
 * nobody has said which they are, both are offered.
 *
 * Reads: node_day, bare_time, presence, subject, node, waiting, life_day, holding.
 */
export const emptyNodes = detector({
  name: 'empty-nodes',
  title: 'machines that nobody asked for',
  category: 'unallocated',
  factor: 'utilisation',
  basis: 'measured',
  blastRadius: 2,
  blast: 'Nothing runs there; the next job that wants one waits until a machine has started.',
  effort: 'a setting of the autoscaler',
  options: z.object({
    emptyHoursMin: z.number().min(0.1).default(2), // An autoscaler takes ten minutes; between two jobs of a queue lie less.
    poolGpuHoursMin: z.number().default(24), // A GPU-day a month is not worth a setting.
  }),
  ask: (options) => {
    const params = { gapSecondsMin: Math.round(options.emptyHoursMin * 3600) };
    return {
      nodes: {
        row: EmptyNode,
        tables: [...NODE_GAP_READS, 'subject', { table: 'node', daysBefore: 36_500 }],
        params,
        sql: NODES,
      },
      days: { row: PoolDay, tables: ['node_day'], sql: POOL_DAYS },
      waiting: { row: WaitingJob, tables: [...WAITING_READS], sql: WAITING_NOW },
      meanwhile: {
        row: WaitedMeanwhile,
        tables: [...NODE_GAP_READS, ...WAITED_READS],
        params,
        sql: MEANWHILE,
      },
    };
  },
  judge: ({ nodes, days, waiting, meanwhile }, { options, now }) => {
    const pools = new Map<string, EmptyNode[]>();
    for (const node of nodes) {
      const pool = [node.cluster, node.model, node.purchase].map((part) => part ?? '').join('/');
      pools.set(pool, [...(pools.get(pool) ?? []), node]);
    }
    return [...pools]
      .filter(([, group]) => Number(sumOf(group, 'quietUnits') / WHOLE_UNITS) >= options.poolGpuHoursMin * 3600)
      .map(([pool, group]) =>
        poolClaim(
          pool,
          group,
          days.filter((day) => day.pool === pool),
          {
            now: waiting.filter((job) => group[0] !== undefined && isFor(job, group[0])),
            meanwhile: meanwhile.find((each) => each.cluster === group[0]?.cluster && each.model === group[0].model),
          },
          now,
        ),
      );
  },
});

const sumOf = (group: readonly EmptyNode[], units: 'quietUnits' | 'longUnits'): bigint =>
  group.reduce((sum, node) => sum + node[units], 0n);

interface Queue {
  readonly now: readonly WaitingJob[];
  readonly meanwhile: WaitedMeanwhile | undefined;
}

function poolClaim(
  pool: string,
  group: readonly EmptyNode[],
  days: readonly z.infer<typeof PoolDay>[],
  queue: Queue,
  now: Date,
): Claim {
  const { cluster, model, purchase } = group[0] ?? { cluster: null, model: null, purchase: null };
  const quiet = sumOf(group, 'quietUnits');
  const all = days.reduce((sum, day) => sum + day.allUnits, 0n);
  const empty = group.filter(({ emptySince }) => emptySince !== null);
  const longest = group.reduce((a, b) => (b.longestS > a.longestS ? b : a));
  const named = modelWords(model);
  const tenure = tenureOf(group);
  const share = all === 0n ? '' : `, ${Number((quiet * 100n) / all)} % of the pool's hours`;
  const free = days.map((day) => Number(day.emptyUnits / WHOLE_UNITS) / 86_400);
  return {
    about: pool,
    ownerSubject: null,
    what: `${countWords(group.length, `${named} node`)}${cluster === null ? '' : ` of ${cluster}`}${purchase === null ? '' : ` (${purchase})`} empty for ${gpuHourWords(Number(quiet / WHOLE_UNITS))}${share}`,
    because: [
      `No holder on any GPU of the node for hours on end, longest on ${longest.nodeId} (${spanWords(longest.longestS)}); nodes: ${someWords(group.map(({ nodeId }) => nodeId))}.`,
      ...waitingWords(queue, empty),
      `Free GPUs by day: least ${gpuCount(Math.min(...free))}, most ${gpuCount(Math.max(...free))}.`,
      ...(empty.length === 0
        ? []
        : [`${empty.length} empty now, since ${timeWords(earliest(empty), now)} at the earliest.`]),
    ],
    fix: tenure === 'own' ? lendingLines(group, queue) : FIXES[tenure](empty, group[0]?.scheduler ?? null),
    unless:
      tenure === 'rented'
        ? 'They are kept warm for a peak: then their state is spare, or the finding exempt.'
        : 'They are kept free on purpose: then their state is spare. What they cost is spent either way.',
    spark: days.map((day) => (day.allUnits === 0n ? null : Number((day.heldUnits * 1000n) / day.allUnits))),
    takes: group.flatMap(({ subject, dayParts: parts }) => dayTakes(subject, parts)),
    reachable: {
      lowPermille: quiet === 0n ? 0 : Number((sumOf(group, 'longUnits') * 1000n) / quiet),
      highPermille: 1000,
    },
    ...(tenure === 'own' && {
      blastRadius: 1,
      blast: 'Nothing runs there, and nothing stops.',
      effort: 'a word with who rents the same model, or the queue’s settings',
    }),
  };
}

const gpuCount = (gpus: number): string => gpus.toFixed(1).replace(/\.0$/, '');
const earliest = (nodes: readonly EmptyNode[]): Date =>
  nodes.flatMap(({ emptySince }) => emptySince ?? []).reduce((a, b) => (a < b ? a : b));

/** Whether somebody waits who could have them, or waited who could have had them. */
function waitingWords({ now: waiting, meanwhile }: Queue, empty: readonly EmptyNode[]): string[] {
  const before =
    meanwhile === undefined
      ? []
      : [
          `${countWords(meanwhile.jobs, 'job')} of the window waited for this model while a whole node stood empty, ${meanwhile.fitting} of them for no more than a node has.`,
        ];
  if (waiting.length === 0) return before.length > 0 ? before : ['Nobody is known to have waited for it.'];
  const free = empty.reduce((sum, { gpus }) => sum + gpus, 0);
  const reasons = [...new Set(waiting.flatMap(({ heldBackBy }) => heldBackBy ?? []))].toSorted();
  const why = reasons.length === 0 ? '' : `, held back by ${someWords(reasons)}`;
  const asked = waiting.reduce((sum, { gpus }) => sum + gpus, 0);
  const queue = `${countWords(waiting.length, 'job')} for ${countWords(asked, 'GPU')} ${waiting.length === 1 ? 'waits' : 'wait'} for this pool now${why}`;
  if (free === 0) return [`${queue}; no node of it is empty now.`, ...before];
  return [
    `${queue}; ${fittingWords(fittingTogether(waiting, free))} on the ${free} GPUs of nodes that are empty now.`,
    ...before,
  ];
}

/** In the order in which they asked, each in what those before it leave: not every one alone in all of it. */
function fittingTogether(waiting: readonly WaitingJob[], free: number): number {
  let left = free;
  return waiting.filter(({ gpus }) => {
    const isFitting = gpus <= left;
    if (isFitting) left -= gpus;
    return isFitting;
  }).length;
}

const fittingWords = (fitting: number): string =>
  fitting === 0 ? 'none of them would fit' : `${fitting} of them would fit together`;

type Fix = (now: readonly EmptyNode[], scheduler: string | null) => string[];

const FIXES: Readonly<Record<Exclude<ReturnType<typeof tenureOf>, 'own'>, Fix>> = {
  rented: releaseCommands,
  unknown: () => [
    commentLine('how they were bought is not known (purchase, provider of bursar import nodes):'),
    commentLine('if they are rented, give them back; an autoscaler does so after ten minutes without a job'),
    commentLine('if they are yours, lend them out, or let jobs of a lower priority have them'),
  ],
};

/** No bill falls by one's own machines: whoever waits, rents the same elsewhere or gives way to others can have their hours. */
function lendingLines(group: readonly EmptyNode[], { now: waiting, meanwhile }: Queue): string[] {
  const { model = null, scheduler = null } = group[0] ?? {};
  return [
    ...(waiting.length === 0 && meanwhile === undefined ? [] : ['bursar queue   # who waits, and held back by what']),
    ...(model === null
      ? []
      : [
          `bursar spend --by purchase,team --filter ${shellWord(`model=${filterValue(model)}`)}   # who rents the same: they can move in`,
        ]),
    ...givingWay(
      scheduler,
      group.map(({ nodeId }) => nodeId),
    ),
  ];
}

/** Told and not run: it is a setting for everybody. */
function givingWay(scheduler: string | null, names: readonly string[]): string[] {
  switch (scheduler) {
    case 'slurm':
      return [
        commentLine('for work that gives way to others, with PreemptType=preempt/partition_prio in slurm.conf:'),
        commentLine(
          `scontrol create partitionname=lent nodes=${nameWord(names.join(','))} prioritytier=0 preemptmode=requeue`,
        ),
      ];
    case 'kubernetes':
      return [
        commentLine('for work that gives way to others, by priorityClassName: lent in its pods:'),
        commentLine('kubectl create priorityclass lent --value=-1000'),
      ];
    default:
      return [];
  }
}

/** Takes the machines that are empty now from their scheduler and stops them, and tells the autoscaler to do so next time. */
function releaseCommands(now: readonly EmptyNode[], scheduler: string | null): string[] {
  return [
    ...(now.length === 0
      ? []
      : [
          ...drainLines(now, scheduler),
          ...stopMachines(now, { isSpot: now[0]?.purchase === 'spot' }),
          commentLine(
            'what a group of an autoscaler started comes again when it stops: lower the size of the group instead',
          ),
        ]),
    ...nextTime(scheduler),
  ];
}

function nextTime(scheduler: string | null): string[] {
  const slurm = 'SuspendTime=600 in slurm.conf, with a SuspendProgram and a ResumeProgram';
  if (scheduler === 'slurm') return [commentLine(`for next time: ${slurm}`)];
  return [
    commentLine('for next time: Karpenter consolidationPolicy: WhenEmpty, consolidateAfter: 10m;'),
    commentLine('or cluster-autoscaler --scale-down-unneeded-time=10m'),
    ...(scheduler === 'kubernetes' ? [] : [commentLine(`or, of Slurm, ${slurm}`)]),
  ];
}

/** A job may have come since: first nothing new is placed there, then somebody looks. */
function drainLines(now: readonly EmptyNode[], scheduler: string | null): string[] {
  const names = now.map(({ nodeId }) => nodeId);
  const look = 'then see that still nothing runs there:';
  switch (scheduler) {
    case 'slurm': {
      const list = nameWord(names.join(','));
      return [
        `scontrol update nodename=${list} state=drain reason=empty`,
        commentLine(`${look} squeue --nodelist=${list}`),
      ];
    }
    case 'kubernetes': {
      const list = names.map(nameWord).join(' ');
      return [
        `kubectl cordon ${list}`,
        commentLine(`${look} kubectl describe nodes ${list}   (nvidia.com/gpu under Allocated resources)`),
      ];
    }
    default:
      return [commentLine('first keep the scheduler from placing jobs there, and see that nothing runs')];
  }
}
