import { z } from 'zod';
import { detector, type Claim } from '../facts/detector.ts';
import { nameWord } from '../facts/shell-word.ts';
import { sqlCount, sqlDay } from '../facts/sql-row.ts';
import { SCHEDULERS } from './placed-sql.ts';
import { commentLine } from './stop-command.ts';
import { countWords, gpuHourWords, modelWords, someWords } from './wording.ts';

/** A node that was out of service for days on end. */
const UnavailableNode = z.object({
  subject: z.string(),
  nodeId: z.string(),
  cluster: z.string().nullable(),
  model: z.string().nullable(),
  purchase: z.string().nullable(),
  state: z.enum(['down', 'drained']),
  firstDay: sqlDay,
  lastDay: sqlDay,
  gpus: sqlCount,
  units: z.bigint(),
  isNow: z.boolean(),
  /** The scheduler that hands out the cluster's nodes. */
  source: z.string().nullable(),
});
type UnavailableNode = z.infer<typeof UnavailableNode>;

const GPU_DAY_UNITS = 63_000n * 86_400n;

const stateDay = (state: string): string => `
    SELECT day, node_id, '${state}' AS state, min(subject) AS subject, min(cluster) AS cluster, min(model) AS model, min(purchase) AS purchase,
           CAST(sum(${state}_gpus) AS BIGINT) AS gpus, CAST(sum(${state}_units) AS BIGINT) AS units
    FROM node_day WHERE ${state}_units > 0 AND node_id IS NOT NULL GROUP BY day, node_id`;

const SQL = `
  WITH state_day AS (
    ${['down', 'drained'].map(stateDay).join(' UNION ALL ')}
  ), placed AS (
    SELECT state_day.*, date_diff('day', DATE '2000-01-01', day)
             - row_number() OVER (PARTITION BY node_id, state ORDER BY day) AS stretch_no
    FROM state_day
  ), stretch AS (
    SELECT node_id, state, stretch_no, min(subject) AS subject, min(cluster) AS cluster, min(model) AS model,
           min(purchase) AS purchase, max(gpus) AS gpus, CAST(sum(units) AS BIGINT) AS units, min(day) AS first_day, max(day) AS last_day
    FROM placed GROUP BY node_id, state, stretch_no
  ), ${SCHEDULERS}
  SELECT s.subject, s.node_id AS "nodeId", s.cluster, s.model, s.purchase, s.state, s.first_day AS "firstDay",
         s.last_day AS "lastDay", s.gpus, s.units, s.last_day = (SELECT max(day) FROM node_day) AS "isNow", c.source
  FROM stretch s LEFT JOIN scheduler c ON s.cluster = c.cluster
  WHERE s.units >= s.gpus * CAST($daysMin AS BIGINT) * ${GPU_DAY_UNITS} ORDER BY s.node_id, s.first_day`;

/**
 * Question: which machines are paid for and out of service longer than a repair takes?
 *
 * A drain for maintenance is over in days; what stays is forgotten, or waits for a part nobody ordered. Spares are spares, and not named.
 *
 * Reads: node_day, subject.
 */
export const unavailableNodes = detector({
  name: 'unavailable-nodes',
  title: 'machines that have been down or drained for days',
  category: 'unallocated',
  factor: 'utilisation',
  basis: 'measured',
  blastRadius: 2,
  blast: 'Jobs land on the machine again; if it is broken, they fail there.',
  effort: 'a look at why it was taken out',
  options: z.object({
    daysMin: z.number().int().min(1).default(3), // Updates and changes of parts are done within that.
  }),
  ask: (options) => ({
    nodes: {
      row: UnavailableNode,
      tables: ['node_day', 'subject'],
      params: { daysMin: options.daysMin },
      sql: SQL,
    },
  }),
  judge: ({ nodes }) => {
    const groups = new Map<string, UnavailableNode[]>();
    for (const node of nodes) {
      const key = [node.cluster, node.model, node.purchase, node.state].map((part) => part ?? '').join('/');
      groups.set(key, [...(groups.get(key) ?? []), node]);
    }
    return [...groups].map(([about, group]) => claimOf(about, group));
  },
});

function claimOf(about: string, group: readonly UnavailableNode[]): Claim {
  const worst = group.reduce((a, b) => (b.units > a.units ? b : a));
  const { cluster, model, purchase, state } = worst;
  const units = group.reduce((sum, node) => sum + node.units, 0n);
  const names = [...new Set(group.map(({ nodeId }) => nodeId))];
  const now = [...new Set(group.filter(({ isNow }) => isNow).map(({ nodeId }) => nodeId))];
  return {
    about,
    ownerSubject: null,
    what: `${countWords(names.length, `${modelWords(model)} node`)}${cluster === null ? '' : ` of ${cluster}`}${purchase === null ? '' : ` (${purchase})`} ${state} for days`,
    because: [
      `Longest: ${worst.nodeId}, ${state} from ${worst.firstDay} to ${worst.lastDay}; ${gpuHourWords(Number(units / 63_000n))} in all.`,
      now.length === 0 ? `All are back: ${someWords(names)}.` : `Still ${state}: ${someWords(now)}.`,
    ],
    fix: now.length === 0 ? [] : fixOf(state, now, worst),
    unless: 'A repair is under way and its date is known.',
    takes: group.map((node) => ({
      subject: node.subject,
      firstDay: node.firstDay,
      lastDay: node.lastDay,
      category: 'unallocated',
      reason: node.state,
    })),
  };
}

function fixOf(state: string, now: readonly string[], { source, purchase }: UnavailableNode): string[] {
  const rented =
    purchase === 'on-demand' || purchase === 'spot'
      ? [commentLine('or give it back: a rented machine that is not repaired is replaced')]
      : [];
  const [first = ''] = now;
  if (source === 'slurm')
    return [
      `scontrol show node ${nameWord(first)} | grep -i reason`,
      `scontrol update nodename=${nameWord(now.join(','))} state=resume`,
      ...rented,
    ];
  if (source === 'kubernetes')
    return [
      `kubectl describe node ${nameWord(first)}`,
      ...(state === 'drained' ? [`kubectl uncordon ${now.map(nameWord).join(' ')}`] : []),
      ...rented,
    ];
  return rented;
}
