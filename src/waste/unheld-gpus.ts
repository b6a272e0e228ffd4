import { z } from 'zod';
import { detector, type Claim } from '../facts/detector.ts';
import { nameWord } from '../facts/shell-word.ts';
import { sqlCount, sqlDay, sqlTime } from '../facts/sql-row.ts';
import { commentLine } from './stop-command.ts';
import { countWords, daysWords, gpuHourWords, moneyWords, someWords, timeWords } from './wording.ts';

/** A node whose GPUs computed while nobody is known to have held them. */
const UnheldNode = z.object({
  nodeId: z.string().nullable(),
  cluster: z.string().nullable(),
  gpus: sqlCount,
  devices: z.array(z.string()),
  computingS: sqlCount,
  firstDay: sqlDay,
  lastDay: sqlDay,
  lastHour: sqlTime,
  /** What the ledger has of them as unallocated, by their time; null where nothing has a price. */
  usdMicros: z.bigint().nullable(),
});
type UnheldNode = z.infer<typeof UnheldNode>;

const SQL = `
  WITH device_day AS (
    SELECT day, node_id, device_id, min(root_device_id) AS root_device_id, CAST(sum(computing_s) AS BIGINT) AS computing_s, max(hour_start) AS last_hour
    FROM unheld_hour GROUP BY day, node_id, device_id
  ), paid AS (
    SELECT u.day, u.device_id, CAST(sum(d.usd_micros) AS BIGINT) AS usd_micros, CAST(sum(d.gpu_units) AS BIGINT) AS units
    FROM subject_day d JOIN device_day u ON d.day = u.day AND d.device_id = u.device_id
    WHERE d.category = 'unallocated' AND d.reason = 'empty' AND d.gpu_units > 0 GROUP BY u.day, u.device_id
  ), spent AS (
    SELECT u.*, CASE WHEN p.units <= u.computing_s * 63000 THEN p.usd_micros
             ELSE CAST((CAST(p.usd_micros AS DECIMAL(38,0)) * u.computing_s * 63000 - (CAST(p.usd_micros AS DECIMAL(38,0)) * u.computing_s * 63000) % p.units) / p.units AS BIGINT)
             END AS usd_micros
    FROM device_day u LEFT JOIN paid p ON u.day = p.day AND u.device_id = p.device_id
  ), placed AS (
    SELECT node_id, min(cluster) AS cluster FROM node_day GROUP BY node_id
  )
  SELECT s.node_id AS "nodeId", min(n.cluster) AS cluster, count(DISTINCT s.root_device_id) AS gpus,
         array_agg(DISTINCT s.device_id ORDER BY s.device_id) AS devices, CAST(sum(s.computing_s) AS BIGINT) AS "computingS",
         min(s.day) AS "firstDay", max(s.day) AS "lastDay", max(s.last_hour) AS "lastHour", CAST(sum(s.usd_micros) AS BIGINT) AS "usdMicros"
  FROM spent s LEFT JOIN placed n ON s.node_id = n.node_id
  GROUP BY s.node_id HAVING CAST(sum(s.computing_s) AS BIGINT) >= $computingSecondsMin ORDER BY s.node_id`;

/**
 * Question: which GPUs compute for somebody whom no scheduler knows?
 *
 * A process beside the scheduler, or a scheduler nobody collects: the ledger has the time as unallocated, for nobody is known to hold it, and yet the machine must not
 * be stopped (`empty-nodes` leaves these hours out). It asks and claims nothing: whose work it is decides what it is worth.
 *
 * Reads: unheld_hour, subject_day, node_day.
 */
export const unheldGpus = detector({
  name: 'unheld-gpus',
  title: 'GPUs that compute and that no job holds',
  category: 'unallocated',
  factor: 'utilisation',
  basis: 'measured',
  blastRadius: 0,
  blast: 'Looking changes nothing; whoever ends a process of somebody unknown asks first.',
  effort: 'a look at the machine',
  options: z.object({
    gpuHoursMin: z.number().default(4), // A test after a repair takes an hour or two.
  }),
  ask: ({ gpuHoursMin }) => ({
    nodes: {
      row: UnheldNode,
      tables: ['unheld_hour', 'subject_day', 'node_day'],
      params: { computingSecondsMin: Math.round(gpuHoursMin * 3600) },
      sql: SQL,
    },
  }),
  judge: ({ nodes }, { now }) => {
    const clusters = new Map<string, UnheldNode[]>();
    for (const node of nodes) {
      const place = node.cluster ?? node.nodeId ?? '';
      clusters.set(place, [...(clusters.get(place) ?? []), node]);
    }
    return [...clusters].map(([place, group]) => questionOf(place, group, now));
  },
});

/** So many machines are pasted at once. */
const PASTED_MAX = 3;
/** A process whose last hour began so shortly ago may still be there to be looked at. */
const LIVE_MS = 2 * 3_600_000;

function questionOf(place: string, group: readonly UnheldNode[], now: Date): Claim {
  const gpus = group.reduce((sum, node) => sum + node.gpus, 0);
  const computingS = group.reduce((sum, node) => sum + node.computingS, 0);
  const names = group.flatMap(({ nodeId }) => nodeId ?? []);
  const prices = group.flatMap(({ usdMicros }) => usdMicros ?? []);
  const last = group.reduce((a, b) => (b.lastHour > a.lastHour ? b : a)).lastHour;
  const first = group.map(({ firstDay }) => firstDay).toSorted()[0] ?? '';
  const lastDay =
    group
      .map((node) => node.lastDay)
      .toSorted()
      .at(-1) ?? '';
  return {
    about: place,
    ownerSubject: null,
    what: `${countWords(gpus, 'GPU')} of ${place === '' ? 'no known machine' : place} ${gpus === 1 ? 'computes' : 'compute'} and no job holds ${gpus === 1 ? 'it' : 'them'}: whose work is it?`,
    because: [
      `${gpuHourWords(computingS)} of kernels ${daysWords(first, lastDay)}, last in the hour of ${timeWords(last, now)} (engine, else SM, else utilisation), in hours that no holder is known for.`,
      ...(names.length === 0 ? [] : [`On ${someWords(names)}: ${someWords(group.flatMap(({ devices }) => devices))}.`]),
      `The ledger has ${prices.length === 0 ? 'them' : `${moneyWords(prices.reduce((a, b) => a + b, 0n))} of them`} as unallocated until somebody says whose they are; no advice counts them as empty.`,
    ],
    fix: looksAt(group, now),
    unless: 'Another scheduler hands these GPUs out, whose jobs are not collected: then bursar init should know it.',
    takes: [],
    isQuestion: true,
  };
}

/** A process is asked for on the machines on which one is there; of what is over only who was logged in is known. */
function looksAt(group: readonly UnheldNode[], now: Date): string[] {
  const isLive = ({ lastHour }: UnheldNode): boolean => now.getTime() - lastHour.getTime() <= LIVE_MS;
  const live = group.filter(isLive);
  const names = (live.length === 0 ? group : live).flatMap(({ nodeId }) => nodeId ?? []).slice(0, PASTED_MAX);
  if (live.length === 0)
    return [
      commentLine('none of it runs now; who was logged in then:'),
      ...names.map((node) => `ssh ${nameWord(node)} last -F`),
      commentLine('next time a source nvidia-smi sees the processes by itself (docs/sources/nvidia-smi.md)'),
    ];
  return [
    ...names.map(
      (node) => `ssh ${nameWord(node)} nvidia-smi --query-compute-apps=gpu_uuid,pid,used_memory --format=csv`,
    ),
    commentLine(
      'then ps -o user= -p PID says whose; a source nvidia-smi sees processes by itself (docs/sources/nvidia-smi.md)',
    ),
  ];
}
