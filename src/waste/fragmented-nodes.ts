import { z } from 'zod';
import { detector, type Claim } from '../facts/detector.ts';
import { filterValue } from '../facts/filter-value.ts';
import { nameWord, shellWord } from '../facts/shell-word.ts';
import { sqlCount } from '../facts/sql-row.ts';
import { dayParts, dayTakes, NODE_GAP_READS, NODE_GAPS, tenureOf, WHOLE_UNITS } from './node-gaps.ts';
import type { Dispensable, RentedDay as RentedDayRow } from './own-room.ts';
import { dispensable, OWN_ROOM, OwnRoom, RentedDay, rentedDays, Room } from './own-room.ts';
import { SCHEDULERS } from './placed-sql.ts';
import { commentLine } from './stop-command.ts';
import { WAITED, WAITED_READS } from './waiting-jobs.ts';
import { countWords, daysWords, gpuHourWords, modelWords, someWords } from './wording.ts';

/** A node some of whose GPUs were free while others were held. */
const FragmentedNode = z.object({
  subject: z.string(),
  nodeId: z.string(),
  cluster: z.string().nullable(),
  model: z.string().nullable(),
  purchase: z.string().nullable(),
  provider: z.string().nullable(),
  /** The scheduler that hands out the cluster's nodes. */
  scheduler: z.string().nullable(),
  gpus: sqlCount,
  /** Of each day's empty time what was beside GPUs of the same node that somebody held. */
  dayParts: z.array(z.string()),
  /** All of its pool, and what of it would be whole nodes if each day's were packed. */
  poolBesideUnits: z.bigint(),
  poolPackedUnits: z.bigint(),
});
type FragmentedNode = z.infer<typeof FragmentedNode>;

/** Jobs that asked for a whole node and more while as many GPUs were free in parts: those that wait now, and all of the window. */
const Blocked = z.object({
  cluster: z.string().nullable(),
  model: z.string().nullable(),
  purchase: z.string().nullable(),
  now: sqlCount,
  jobs: sqlCount,
  /** When, what was free beside others on these days, and what of it would be whole nodes. */
  days: z.array(z.string()),
  besideUnits: z.bigint(),
  packedUnits: z.bigint(),
});
type Blocked = z.infer<typeof Blocked>;

/**
 * Of each node's empty time on a day what was neither in a stretch of all its GPUs, which is another detector's, nor at work for somebody nobody
 * knows: that is not free.
 */
const BESIDE = `${NODE_GAPS}, alone AS (
    SELECT node_id, day, CAST(sum(met_s) AS BIGINT) AS alone_s FROM met GROUP BY node_id, day
  ), at_work AS (
    SELECT node_id, day, CAST(sum(computing_s) AS BIGINT) AS computing_s FROM unheld_hour GROUP BY node_id, day
  ), used AS (
    SELECT n.*, COALESCE(a.alone_s, 0) * n.gpus * ${WHOLE_UNITS} + COALESCE(w.computing_s, 0) * ${WHOLE_UNITS} AS other_units
    FROM empty_day n LEFT JOIN alone a ON n.node_id = a.node_id AND n.day = a.day
    LEFT JOIN at_work w ON n.node_id = w.node_id AND n.day = w.day
    WHERE n.is_held
  ), beside AS (
    SELECT used.*, CASE WHEN empty_units > other_units THEN empty_units - other_units ELSE 0 END AS beside_units FROM used
  )`;
/** The tables `BESIDE` reads. */
const BESIDE_READS = [...NODE_GAP_READS, 'unheld_hour'] as const;

const POOL_DAYS = `${BESIDE}, pool_day AS (
    SELECT cluster, model, purchase, day, CAST(sum(beside_units) AS BIGINT) AS beside_units, max(gpus) AS node_gpus,
           max(gpus) * ${86_400n * WHOLE_UNITS} AS node_units
    FROM beside GROUP BY cluster, model, purchase, day HAVING max(gpus) > 1
  )`;

const NODES = `${POOL_DAYS}, pool AS (
    SELECT COALESCE(cluster, '') AS cluster, COALESCE(model, '') AS model, COALESCE(purchase, '') AS purchase,
           CAST(sum(beside_units) AS BIGINT) AS beside_units,
           CAST(sum(beside_units - beside_units % node_units) AS BIGINT) AS packed_units
    FROM pool_day GROUP BY COALESCE(cluster, ''), COALESCE(model, ''), COALESCE(purchase, '')
  ), node AS (
    SELECT min(subject) AS subject, node_id, min(cluster) AS cluster, min(model) AS model, min(purchase) AS purchase,
           min(provider) AS provider, max(gpus) AS gpus, ${dayParts('beside_units')} AS day_parts
    FROM beside GROUP BY node_id HAVING max(gpus) > 1 AND sum(beside_units) > 0
  ), ${SCHEDULERS}
  SELECT n.subject, n.node_id AS "nodeId", n.cluster, n.model, n.purchase, n.provider, c.source AS scheduler, n.gpus, n.day_parts AS "dayParts",
         p.beside_units AS "poolBesideUnits",
         p.packed_units AS "poolPackedUnits"
  FROM node n JOIN pool p ON COALESCE(n.cluster, '') = p.cluster AND COALESCE(n.model, '') = p.model
    AND COALESCE(n.purchase, '') = p.purchase
  LEFT JOIN scheduler c ON n.cluster = c.cluster
  ORDER BY n.node_id`;

/** A day on which a job waited while, on average, at least as many GPUs as it asked for were free beside others. */
const BLOCKED = `${POOL_DAYS}, ${WAITED}, met_day AS (
    SELECT p.cluster, p.model, p.purchase, p.day, p.beside_units, p.node_units, w.source, w.allocation_id, max(CASE WHEN w.is_now THEN 1 ELSE 0 END) AS is_now
    FROM pool_day p JOIN waited w ON COALESCE(p.cluster, '') = COALESCE(w.cluster, '') AND (w.model IS NULL OR w.model = p.model)
      AND w.gpus >= p.node_gpus AND w.gpus * ${86_400n * WHOLE_UNITS} <= p.beside_units
      AND w.from_at < CAST(p.day AS TIMESTAMP) + INTERVAL '1' DAY AND w.until_at >= CAST(p.day AS TIMESTAMP)
    GROUP BY p.cluster, p.model, p.purchase, p.day, p.beside_units, p.node_units, w.source, w.allocation_id
  ), met_job AS (
    SELECT cluster, model, purchase, source, allocation_id, max(is_now) AS is_now FROM met_day GROUP BY cluster, model, purchase, source, allocation_id
  ), job AS (
    SELECT cluster, model, purchase, CAST(sum(is_now) AS BIGINT) AS now, count(*) AS jobs FROM met_job GROUP BY cluster, model, purchase
  ), blocked_day AS (
    SELECT DISTINCT cluster, model, purchase, day, beside_units, beside_units - beside_units % node_units AS packed_units FROM met_day
  ), blocked AS (
    SELECT cluster, model, purchase, array_agg(CAST(day AS VARCHAR) ORDER BY day) AS days, CAST(sum(beside_units) AS BIGINT) AS beside_units,
           CAST(sum(packed_units) AS BIGINT) AS packed_units
    FROM blocked_day GROUP BY cluster, model, purchase
  )
  SELECT j.cluster, j.model, j.purchase, j.now, j.jobs, b.days, b.beside_units AS "besideUnits", b.packed_units AS "packedUnits"
  FROM job j JOIN blocked b ON j.cluster IS NOT DISTINCT FROM b.cluster AND j.model IS NOT DISTINCT FROM b.model
    AND j.purchase IS NOT DISTINCT FROM b.purchase
  ORDER BY j.cluster, j.model, j.purchase`;

/**
 * Question: where are GPUs free that nobody can use, because jobs that need a whole node find a part of each?
 *
 * Free GPUs beside a small job are no fault of a cluster that nobody waits for. Those of days are named on which jobs waited for whole nodes and
 * as many GPUs were free in parts, and those of all days where the nodes are rented and fewer of them would do. What packing gains is modelled: at least the whole
 * nodes that the free GPUs of a day make up on average, at most all of them; of rented nodes only whole ones can be given back. Whole empty nodes are those of empty-nodes. A rented node that is free in part is
 * named too where its jobs would have fitted into empty GPUs that are owned or committed: no packing among the rented ones says that.
 *
 * Reads: node_day, bare_time, unheld_hour, presence, waiting, life_day, holding, subject.
 */
export const fragmentedNodes = detector({
  name: 'fragmented-nodes',
  title: 'free GPUs scattered over nodes so that nobody can use them',
  category: 'unallocated',
  factor: 'utilisation',
  basis: 'modelled',
  blastRadius: 3,
  blast: 'New jobs are placed elsewhere than before, and share hosts more often; what runs is not touched.',
  effort: 'a setting of the scheduler',
  options: z.object({
    rentedDaysMin: z.number().int().default(3), // A machine that is needed for a day is rented for a day.
    rentedFitPermilleMin: z.number().int().default(900), // For one day in ten it can be rented again.
    rentedEmptyPermilleMin: z.number().int().default(250), // A machine of eight of which two are free is used.
    poolGpuHoursMin: z.number().default(100), // Below this a change of the scheduler is not worth its risk.
  }),
  ask: () => ({
    nodes: { row: FragmentedNode, tables: [...BESIDE_READS, 'subject'], params: { gapSecondsMin: 1 }, sql: NODES },
    blocked: {
      row: Blocked,
      tables: [...BESIDE_READS, ...WAITED_READS],
      params: { gapSecondsMin: 1 },
      sql: BLOCKED,
    },
    room: { row: OwnRoom, tables: ['node_day'], sql: OWN_ROOM },
    rented: {
      row: RentedDay,
      tables: [...BESIDE_READS],
      params: { gapSecondsMin: 1 },
      sql: rentedDays(BESIDE),
    },
  }),
  judge: ({ nodes, blocked, room, rented }, { options }) => {
    const left = new Room(room);
    const daysOf = new Map<string, RentedDayRow[]>();
    for (const row of rented) daysOf.set(row.nodeId, [...(daysOf.get(row.nodeId) ?? []), row]);
    const isEnough = (units: bigint): boolean => Number(units / WHOLE_UNITS) >= options.poolGpuHoursMin * 3600;
    const pools = new Map<string, FragmentedNode[]>();
    for (const node of nodes) pools.set(poolOf(node), [...(pools.get(poolOf(node)) ?? []), node]);
    return [...pools].flatMap(([pool, group]) => {
      const [first] = group;
      if (first === undefined || !isEnough(first.poolBesideUnits)) return [];
      const waited = blocked.find((each) => poolOf(each) === pool);
      const isRented = tenureOf(group) === 'rented';
      const free = isRented && first.poolPackedUnits > 0n ? wholeWindow(first) : waited;
      if (free !== undefined && isEnough(free.besideUnits)) return [claimOf(pool, group, free, waited)];
      if (!isRented) return [];
      const gone = dispensable(group, daysOf, left, {
        daysMin: options.rentedDaysMin,
        fitPermilleMin: options.rentedFitPermilleMin,
        emptyPermilleMin: options.rentedEmptyPermilleMin,
      });
      return isEnough(sumOf(gone)) ? [rentedClaim(pool, group, gone)] : [];
    });
  },
});

/** Of `2026-03-02 800`. */
const dayOf = (part: string): string => part.slice(0, 10);

/** From the first of some days to the last, in whatever order they are. */
function spanOf(days: readonly string[]): string {
  const inOrder = days.toSorted();
  return daysWords(inOrder.at(0) ?? '', inOrder.at(-1) ?? '');
}

const poolOf = ({ cluster, model, purchase }: Pick<FragmentedNode, 'cluster' | 'model' | 'purchase'>): string =>
  [cluster, model, purchase].map((part) => part ?? '').join('/');

/** What is free beside others, on some days or on all. */
interface Free {
  readonly days?: readonly string[];
  readonly besideUnits: bigint;
  readonly packedUnits: bigint;
}

const wholeWindow = ({ poolBesideUnits, poolPackedUnits }: FragmentedNode): Free => ({
  besideUnits: poolBesideUnits,
  packedUnits: poolPackedUnits,
});

function claimOf(pool: string, nodes: readonly FragmentedNode[], free: Free, waited: Blocked | undefined): Claim {
  const { days, besideUnits, packedUnits } = free;
  const group = nodes
    .map((node) => ({ ...node, parts: node.dayParts.filter((part) => days?.includes(dayOf(part)) ?? true) }))
    .filter(({ parts }) => parts.length > 0);
  const perNode = Math.max(...nodes.map(({ gpus }) => gpus));
  const { cluster = null, model = null, purchase = null } = nodes[0] ?? {};
  const named = modelWords(model);
  const packedPermille = Number((packedUnits * 1000n) / besideUnits);
  return {
    about: pool,
    ownerSubject: null,
    what: `${gpuHourWords(Number(besideUnits / WHOLE_UNITS))} free beside other jobs on ${countWords(group.length, `${named} node`)}${cluster === null ? '' : ` of ${cluster}`}${purchase === null ? '' : ` (${purchase})`}`,
    because: [
      `Part of a node each, beside GPUs that were held: ${someWords(group.map(({ nodeId }) => nodeId))}, up to ${perNode} GPUs a node, ${spanOf(group.flatMap(({ parts }) => parts).map(dayOf))}.`,
      waited === undefined
        ? 'Nobody waits for whole nodes here: packed, fewer of them would do.'
        : `${countWords(waited.jobs, 'job')} for ${perNode} GPUs and more waited on ${countWords(waited.days.length, 'day')} on which as many were free in parts; ${waited.now} of them now.`,
      `Packed, the free GPUs of ${days === undefined ? 'a day' : 'these days'} make ${gpuHourWords(Number(packedUnits / WHOLE_UNITS))} of whole nodes${days === undefined ? ' over the window' : ''} (from daily means).`,
    ],
    fix: packing(nodes[0]?.scheduler ?? null),
    unless: 'Small jobs are spread on purpose, for bandwidth or memory of the host.',
    takes: group.flatMap(({ subject, parts }) => dayTakes(subject, parts)),
    reachable: { lowPermille: packedPermille, highPermille: days === undefined ? packedPermille : 1000 },
  };
}

const SLURM_PACKING: readonly string[] = [
  commentLine(
    'slurm.conf: small jobs go where others are; no LLN=YES on the partition. Add to the SchedulerParameters that are there:',
  ),
  'SchedulerParameters=bf_busy_nodes,pack_serial_at_end',
];
const KUBERNETES_PACKING: readonly string[] = [
  commentLine('KubeSchedulerConfiguration, pluginConfig of NodeResourcesFit:'),
  'scoringStrategy: {type: MostAllocated, resources: [{name: nvidia.com/gpu, weight: 10}]}',
];

/** How small jobs are placed where others are already, by who places them. */
function packing(scheduler: string | null): readonly string[] {
  if (scheduler === 'slurm') return SLURM_PACKING;
  return scheduler === 'kubernetes' ? KUBERNETES_PACKING : [...SLURM_PACKING, ...KUBERNETES_PACKING];
}

const sumOf = (gone: readonly Dispensable[]): bigint => gone.reduce((sum, { besideUnits }) => sum + besideUnits, 0n);

/** Of nodes that could have gone: their jobs run where GPUs stand empty anyway. */
function rentedClaim(pool: string, group: readonly FragmentedNode[], gone: readonly Dispensable[]): Claim {
  const { cluster = null, model = null, purchase = null } = group[0] ?? {};
  const names = gone.map(({ nodeId }) => nodeId);
  const clusters = [...new Set(gone.flatMap((each) => each.clusters))].toSorted();
  const isNear = gone.every((each) => each.isNear);
  const days = Math.max(...gone.map((each) => each.days.size));
  const free = sumOf(gone);
  const where = clusters.length === 0 ? '' : ` in ${someWords(clusters)}`;
  const its = gone.length === 1 ? 'Its' : 'Their';
  return {
    about: pool,
    ownerSubject: null,
    what: `${gpuHourWords(Number(free / WHOLE_UNITS))} free on ${countWords(gone.length, `${modelWords(model)} node`)}${cluster === null ? '' : ` of ${cluster}`}${purchase === null ? '' : ` (${purchase})`}, and room for ${its.toLowerCase()} jobs on own ones`,
    because: [
      `Part of a node each, beside GPUs that were held: ${someWords(names)}, ${spanOf(gone.flatMap((each) => [...each.days]))}.`,
      `${its} jobs held at most ${countWords(Math.max(...gone.map((each) => each.heldGpusMax)), 'GPU')} of a node on a day; on ${countWords(days, 'day')} at least as many ${modelWords(model)} that are owned or committed stood empty${where}, never fewer than ${Math.min(...gone.map((each) => each.roomMin))} (daily means).`,
      ...(isNear ? [] : ['That is another cluster: data, accounts and quotas have to be there.']),
    ],
    fix: [
      ...names.map(
        (name) => `bursar spend --by team,user --filter ${shellWord(`node=${filterValue(name)}`)}   # whose jobs`,
      ),
      commentLine(
        `send them${clusters.length === 0 ? '' : ` to ${clusters.map(nameWord).join(', ')}`} first (partition, queue, node selector); then give back ${names.map(nameWord).join(' ')}`,
      ),
    ],
    unless: 'They are rented for their region, for a burst with a date, or for people who may not use the others.',
    takes: group.flatMap(({ subject, nodeId, dayParts: parts }) => {
      const fitting = gone.find((each) => each.nodeId === nodeId)?.days;
      return fitting === undefined
        ? []
        : dayTakes(
            subject,
            parts.filter((part) => fitting.has(dayOf(part))),
          );
    }),
    reachable: {
      lowPermille: Number((sumOf(gone.filter((each) => each.isNear)) * 1000n) / free),
      highPermille: 1000,
    },
    ...(!isNear && { blast: 'Jobs run in another place: data has to be there, and quotas have to allow it.' }),
    effort: 'a talk with who rents, and a change of their queue or node selector',
  };
}
