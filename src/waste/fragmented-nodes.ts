import { z } from 'zod';
import { detector, type Claim } from '../facts/detector.ts';
import { sqlCount, sqlDay } from '../facts/sql-row.ts';
import { NODE_GAP_READS, NODE_GAPS, tenureOf, WHOLE_UNITS } from './node-gaps.ts';
import { commentLine } from './stop-command.ts';
import { WAITED, WAITED_READS } from './waiting-jobs.ts';
import { countWords, gpuHourWords, modelWords, someWords } from './wording.ts';

/** A node some of whose GPUs were free while others were held. */
const FragmentedNode = z.object({
  subject: z.string(),
  nodeId: z.string(),
  cluster: z.string().nullable(),
  model: z.string().nullable(),
  purchase: z.string().nullable(),
  provider: z.string().nullable(),
  firstDay: sqlDay,
  lastDay: sqlDay,
  gpus: sqlCount,
  emptyUnits: z.bigint(),
  /** Of these, beside GPUs of the same node that somebody held. */
  besideUnits: z.bigint(),
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
});
type Blocked = z.infer<typeof Blocked>;

const BESIDE = `${NODE_GAPS}, alone AS (
    SELECT node_id, day, CAST(sum(met_s) AS BIGINT) AS alone_s FROM met GROUP BY node_id, day
  ), beside AS (
    SELECT n.*, CASE WHEN n.empty_units > COALESCE(a.alone_s, 0) * n.gpus * ${WHOLE_UNITS}
             THEN n.empty_units - COALESCE(a.alone_s, 0) * n.gpus * ${WHOLE_UNITS} ELSE 0 END AS beside_units
    FROM node_day n LEFT JOIN alone a ON n.node_id = a.node_id AND n.day = a.day
    WHERE n.is_held
  )`;

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
           min(provider) AS provider, min(day) AS first_day, max(day) AS last_day, max(gpus) AS gpus, CAST(sum(empty_units) AS BIGINT) AS empty_units,
           CAST(sum(beside_units) AS BIGINT) AS beside_units
    FROM beside GROUP BY node_id HAVING max(gpus) > 1 AND sum(beside_units) > 0
  )
  SELECT n.subject, n.node_id AS "nodeId", n.cluster, n.model, n.purchase, n.provider, n.first_day AS "firstDay", n.last_day AS "lastDay", n.gpus,
         n.empty_units AS "emptyUnits", n.beside_units AS "besideUnits", p.beside_units AS "poolBesideUnits",
         p.packed_units AS "poolPackedUnits"
  FROM node n JOIN pool p ON COALESCE(n.cluster, '') = p.cluster AND COALESCE(n.model, '') = p.model
    AND COALESCE(n.purchase, '') = p.purchase
  ORDER BY n.node_id`;

/** A day on which a job waited while, on average, at least as many GPUs as it asked for were free beside others. */
const BLOCKED = `${POOL_DAYS}, ${WAITED}, met_job AS (
    SELECT p.cluster, p.model, p.purchase, w.source, w.allocation_id, max(CASE WHEN w.is_now THEN 1 ELSE 0 END) AS is_now
    FROM pool_day p JOIN waited w ON COALESCE(p.cluster, '') = COALESCE(w.cluster, '') AND (w.model IS NULL OR w.model = p.model)
      AND w.gpus >= p.node_gpus AND w.gpus * ${86_400n * WHOLE_UNITS} <= p.beside_units
      AND w.from_at < CAST(p.day AS TIMESTAMP) + INTERVAL '1' DAY AND w.until_at >= CAST(p.day AS TIMESTAMP)
    GROUP BY p.cluster, p.model, p.purchase, w.source, w.allocation_id
  )
  SELECT cluster, model, purchase, CAST(sum(is_now) AS BIGINT) AS now, count(*) AS jobs FROM met_job
  GROUP BY cluster, model, purchase ORDER BY cluster, model, purchase`;

/**
 * Question: where are GPUs free that nobody can use, because jobs that need a whole node find a part of each?
 *
 * Free GPUs beside a small job are no fault of a cluster that nobody waits for. They are named where jobs waited for whole nodes on days on
 * which as many GPUs were free in parts, or where the nodes are rented and fewer of them would do. What packing gains is modelled: at least the whole
 * nodes that the free GPUs of a day make up on average, at most all of them. Whole empty nodes are those of empty-nodes.
 *
 * Reads: subject_day, stint_day, presence, waiting.
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
    poolGpuHoursMin: z.number().default(100), // Below this a change of the scheduler is not worth its risk.
  }),
  ask: () => ({
    nodes: { row: FragmentedNode, tables: [...NODE_GAP_READS], params: { gapSecondsMin: 1 }, sql: NODES },
    blocked: {
      row: Blocked,
      tables: ['subject_day', 'presence', ...WAITED_READS],
      params: { gapSecondsMin: 1 },
      sql: BLOCKED,
    },
  }),
  judge: ({ nodes, blocked }, { options }) => {
    const pools = new Map<string, FragmentedNode[]>();
    for (const node of nodes) pools.set(poolOf(node), [...(pools.get(poolOf(node)) ?? []), node]);
    return [...pools].flatMap(([pool, group]) => {
      const [first] = group;
      if (first === undefined || Number(first.poolBesideUnits / WHOLE_UNITS) < options.poolGpuHoursMin * 3600)
        return [];
      const waited = blocked.find((each) => poolOf(each) === pool);
      const isWorth = waited !== undefined || (tenureOf(group) === 'rented' && first.poolPackedUnits > 0n);
      return isWorth ? [claimOf(pool, group, waited)] : [];
    });
  },
});

const poolOf = ({ cluster, model, purchase }: Pick<FragmentedNode, 'cluster' | 'model' | 'purchase'>): string =>
  [cluster, model, purchase].map((part) => part ?? '').join('/');

function claimOf(pool: string, group: readonly FragmentedNode[], waited: Blocked | undefined): Claim {
  const [first] = group;
  const perNode = Math.max(...group.map(({ gpus }) => gpus));
  const { cluster = null, model = null, purchase = null } = first ?? {};
  const { poolBesideUnits: besideUnits = 1n, poolPackedUnits: packedUnits = 0n } = first ?? {};
  const named = modelWords(model);
  return {
    about: pool,
    ownerSubject: null,
    what: `${gpuHourWords(Number(besideUnits / WHOLE_UNITS))} free beside other jobs on ${countWords(group.length, `${named} node`)}${cluster === null ? '' : ` of ${cluster}`}${purchase === null ? '' : ` (${purchase})`}`,
    because: [
      `Part of a node each, beside GPUs that were held: ${someWords(group.map(({ nodeId }) => nodeId))}, up to ${perNode} GPUs a node.`,
      waited === undefined
        ? 'Nobody waits for whole nodes here: packed, fewer of them would do.'
        : `${countWords(waited.jobs, 'job')} for ${perNode} GPUs and more waited on days on which as many were free in parts; ${waited.now} of them now.`,
      `Packed, the free GPUs of a day make ${gpuHourWords(Number(packedUnits / WHOLE_UNITS))} of whole nodes over the window (from daily means).`,
    ],
    fix: [
      commentLine('slurm.conf: small jobs go where others are; no LLN=YES on the partition'),
      'SchedulerParameters=bf_busy_nodes,pack_serial_at_end',
      commentLine(
        'Kubernetes: NodeResourcesFit, scoringStrategy: {type: MostAllocated, resources: [{name: nvidia.com/gpu, weight: 10}]}',
      ),
    ],
    unless: 'Small jobs are spread on purpose, for bandwidth or memory of the host.',
    takes: group.map((node) => ({
      subject: node.subject,
      firstDay: node.firstDay,
      lastDay: node.lastDay,
      category: 'unallocated',
      reason: 'empty',
      permille: Number((node.besideUnits * 1000n) / node.emptyUnits),
    })),
    reachable: { lowPermille: Number((packedUnits * 1000n) / besideUnits), highPermille: 1000 },
  };
}
