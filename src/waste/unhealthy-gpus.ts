import { z } from 'zod';
import { detector, type Claim } from '../facts/detector.ts';
import { nameWord } from '../facts/shell-word.ts';
import { sqlCount, sqlDay } from '../facts/sql-row.ts';
import { placed } from './placed-sql.ts';
import { commentLine } from './stop-command.ts';
import { countWords, someWords } from './wording.ts';

/**
 * What NVIDIA's list of XID errors says of the GPU itself; the others come from the program that ran. Most ask for a GPU that takes no more
 * work; those below were dealt with by the GPU, which goes on with the next job, and only a reset is due.
 */
const HARDWARE_XIDS: ReadonlyMap<number, string> = new Map([
  [48, 'double-bit memory error'],
  [62, 'internal controller halted'],
  [63, 'memory row to be remapped at the next reset'],
  [64, 'memory row could not be remapped'],
  [74, 'NVLink error'],
  [79, 'fell off the bus'],
  [92, 'many single-bit memory errors'],
  [94, 'memory error, contained'],
  [95, 'memory error, not contained'],
  [119, 'system processor does not answer'],
  [120, 'system processor error'],
  [140, 'memory error that was not recovered'],
]);
/** While a row waits to be remapped, new work may start (NVIDIA, GPU memory error management); a contained error ended one program. */
const RESET_XIDS: ReadonlySet<number> = new Set([63, 92, 94]);
const SOFTWARE_XIDS: ReadonlyMap<number, string> = new Map([
  [13, 'exception in a kernel'],
  [31, 'access to memory that is not there'],
  [32, 'invalid command'],
  [43, 'a kernel was stopped'],
  [45, 'the program was ended'],
  [68, 'video processor exception'],
]);

const XidDay = z.object({
  xid: sqlCount,
  deviceId: z.string(),
  nodeId: z.string().nullable(),
  cluster: z.string().nullable(),
  source: z.string().nullable(),
  subject: z.string(),
  stem: z.string().nullable(),
  userName: z.string().nullable(),
  days: sqlCount,
  lastDay: sqlDay,
  /** Whether the attempt it happened in did not come to its end. */
  isBroken: z.boolean(),
});
type XidDay = z.infer<typeof XidDay>;

const HotDevice = z.object({
  deviceId: z.string(),
  nodeId: z.string().nullable(),
  cluster: z.string().nullable(),
  samples: sqlCount,
  throttled: sqlCount,
  /** SM activity while computing, and that of GPUs of the same jobs and days that were not throttled. */
  smPermille: sqlCount.nullable(),
  peerSmPermille: sqlCount.nullable(),
  peers: sqlCount,
});
type HotDevice = z.infer<typeof HotDevice>;

const XIDS = `
  WITH told AS (
    SELECT subject, device_id, xid, min(node_id) AS node_id, min(source) AS source, count(*) AS days, max(day) AS last_day, min(cluster) AS cluster,
           min(workload_stem) AS stem, min(user_name) AS user_name,
           max(CASE WHEN outcome IN ('failed', 'node-fail', 'out-of-memory', 'timeout') THEN 1 ELSE 0 END) = 1 AS is_broken
    FROM stint_day WHERE xid IS NOT NULL GROUP BY subject, device_id, xid
  ), ${placed('told')}
  SELECT t.xid, t.device_id AS "deviceId", t.node_id AS "nodeId", k.cluster, t.source, t.subject, t.stem, t.user_name AS "userName",
         t.days, t.last_day AS "lastDay", t.is_broken AS "isBroken"
  FROM told t LEFT JOIN known k ON t.subject = k.subject ORDER BY t.device_id, t.subject`;

const HOT = `
  WITH hot AS (
    SELECT device_id, CAST(sum(samples) AS BIGINT) AS samples, CAST(sum(throttled_samples) AS BIGINT) AS throttled
    FROM stint_day WHERE samples > 0 GROUP BY device_id
    HAVING CAST(sum(samples) AS BIGINT) >= $samplesMin
      AND CAST(sum(throttled_samples) AS BIGINT) * 1000 >= CAST(sum(samples) AS BIGINT) * $throttledPermilleMin
  ), hot_day AS (
    SELECT s.day, s.subject, s.device_id, CASE WHEN s.samples > 0 THEN s.node_id END AS node_id, s.cluster, s.sm_permille, s.computing_s, h.samples, h.throttled
    FROM stint_day s JOIN hot h ON s.device_id = h.device_id
  ), device AS (
    SELECT device_id, min(samples) AS samples, min(throttled) AS throttled, min(node_id) AS node_id, min(cluster) AS cluster FROM hot_day GROUP BY device_id
  ), own AS (
    SELECT day, subject, device_id, sm_permille FROM hot_day WHERE sm_permille IS NOT NULL AND computing_s > 0
  ), peer AS (
    SELECT o.day, o.subject, o.device_id, count(*) AS peers, CAST(sum(p.sm_permille) AS BIGINT) AS sm_sum
    FROM own o JOIN stint_day p ON p.day = o.day AND p.subject = o.subject AND p.device_id <> o.device_id
    WHERE p.sm_permille IS NOT NULL AND p.throttled_samples * 1000 < p.samples * 50
    GROUP BY o.day, o.subject, o.device_id
  ), compared AS (
    SELECT o.device_id, CAST(sum(o.sm_permille * p.peers) AS BIGINT) AS own_sum, CAST(sum(p.sm_sum) AS BIGINT) AS peer_sum,
           CAST(sum(p.peers) AS BIGINT) AS peers
    FROM own o JOIN peer p ON o.day = p.day AND o.subject = p.subject AND o.device_id = p.device_id GROUP BY o.device_id
  )
  SELECT d.device_id AS "deviceId", d.node_id AS "nodeId", d.cluster, d.samples, d.throttled,
         CAST((c.own_sum - c.own_sum % c.peers) / c.peers AS BIGINT) AS "smPermille",
         CAST((c.peer_sum - c.peer_sum % c.peers) / c.peers AS BIGINT) AS "peerSmPermille", COALESCE(c.peers, 0) AS peers
  FROM device d LEFT JOIN compared c ON d.device_id = c.device_id ORDER BY d.device_id`;

/**
 * Question: which GPUs report errors or are slowed down, and is it the GPU or the program?
 *
 * These are questions: what a slow GPU computed was computed, and is not waste until the same job on a healthy one is seen to be
 * faster. Errors of the GPU are the platform's, one finding for a cluster; errors of a program are its owner's, if they repeat.
 *
 * Reads: stint_day, subject.
 */
export const unhealthyGpus = detector({
  name: 'unhealthy-gpus',
  title: 'GPUs that report errors or are slowed down',
  category: 'computing',
  factor: 'efficiency',
  basis: 'measured',
  blastRadius: 3,
  blast: 'A drained node takes no new jobs; what runs on it ends first.',
  effort: 'one command, then a check of the machine',
  options: z.object({
    throttledPermilleMin: z.number().int().default(100), // A moment of heat after a burst is normal, a tenth of the time is not.
    samplesMin: z.number().int().default(100), // Fewer are a few hours.
    recentDays: z.number().int().default(7), // What has shown nothing since was reset or replaced,
    repeatedDaysMin: z.number().int().default(3), // unless it comes again and again.
    programRunsMin: z.number().int().default(3), // A crash is a crash; three of a kind are a bug.
  }),
  ask: ({ throttledPermilleMin, samplesMin }) => ({
    xids: { row: XidDay, tables: ['stint_day', 'subject'], sql: XIDS },
    hot: { row: HotDevice, tables: ['stint_day'], params: { throttledPermilleMin, samplesMin }, sql: HOT },
  }),
  judge: ({ xids, hot }, { options, until }) => [
    ...groupedBy(stillIll(xids, options, until), ({ cluster }) => cluster ?? '').map(([cluster, group]) =>
      hardwareClaim(cluster, group),
    ),
    ...groupedBy(
      xids.filter(({ xid }) => SOFTWARE_XIDS.has(xid)),
      ({ cluster, stem, userName, subject }) => [cluster, stem ?? subject, userName].join('/'),
    )
      .filter(([, group]) => new Set(group.map(({ subject }) => subject)).size >= options.programRunsMin)
      .map(([about, group]) => programClaim(about, group)),
    ...groupedBy(hot, ({ cluster }) => cluster ?? '').map(([cluster, group]) => hotClaim(cluster, group)),
  ],
});

/** Hardware errors of GPUs that had one lately, or on many days. */
function stillIll(
  xids: readonly XidDay[],
  { recentDays, repeatedDaysMin }: { readonly recentDays: number; readonly repeatedDaysMin: number },
  until: Date,
): XidDay[] {
  const since = new Date(until.getTime() - recentDays * 86_400_000).toISOString().slice(0, 10);
  const byDevice = groupedBy(
    xids.filter(({ xid }) => HARDWARE_XIDS.has(xid)),
    ({ deviceId }) => deviceId,
  );
  return byDevice.flatMap(([, rows]) =>
    rows.some(({ lastDay }) => lastDay >= since) || rows.reduce((sum, { days }) => sum + days, 0) >= repeatedDaysMin
      ? rows
      : [],
  );
}

function groupedBy<Row>(rows: readonly Row[], keyOf: (row: Row) => string): [string, Row[]][] {
  const groups = new Map<string, Row[]>();
  for (const row of rows) groups.set(keyOf(row), [...(groups.get(keyOf(row)) ?? []), row]);
  return [...groups];
}

const unique = (texts: readonly (string | null)[]): string[] =>
  [...new Set(texts.flatMap((text) => text ?? []))].toSorted();

function kindsOf(group: readonly XidDay[], meanings: ReadonlyMap<number, string>): string {
  const counts = groupedBy(group, ({ xid }) => String(xid)).toSorted(([, a], [, b]) => b.length - a.length);
  return someWords(
    counts.map(
      ([xid, rows]) =>
        `XID ${xid} (${meanings.get(Number(xid))}) on ${countWords(unique(rows.map(({ deviceId }) => deviceId)).length, 'GPU')}`,
    ),
  );
}

function hardwareClaim(cluster: string, group: readonly XidDay[]): Claim {
  const nodesOf = (rows: readonly XidDay[]): string[] => unique(rows.map(({ nodeId }) => nodeId));
  const nodes = nodesOf(group);
  const devices = unique(group.map(({ deviceId }) => deviceId));
  const broken = new Set(group.filter(({ isBroken }) => isBroken).map(({ subject }) => subject)).size;
  const [source] = unique(group.map((each) => each.source));
  const drained = nodesOf(group.filter(({ xid }) => !RESET_XIDS.has(xid)));
  const isIll = group.some(({ xid }) => !RESET_XIDS.has(xid));
  return {
    about: `xid/${cluster}`,
    ownerSubject: null,
    what: `${countWords(devices.length, 'GPU')}${cluster === '' ? '' : ` of ${cluster}`} reported errors of ${isIll ? 'the hardware' : 'memory; a reset is due'}`,
    because: [
      `${kindsOf(group, HARDWARE_XIDS)} (DCGM_FI_DEV_XID_ERRORS).`,
      `On ${someWords(nodes.length > 0 ? nodes : devices)}; last ${group
        .map(({ lastDay }) => lastDay)
        .toSorted()
        .at(-1)}.`,
      broken === 0
        ? 'No attempt that held them on such a day ended badly.'
        : `${countWords(broken, 'attempt')} that held them on such a day did not come to an end.`,
    ],
    fix: [
      'nvidia-smi -q -d ROW_REMAPPER,ECC',
      ...drainLines(drained, source),
      ...resetLines(nodes.filter((node) => !drained.includes(node))),
    ],
    unless: 'The node has been reset since and has shown none.',
    isQuestion: true,
    takes: [],
    ...(isIll
      ? {}
      : {
          blastRadius: 1,
          blast: 'What runs goes on; a reset waits until nothing holds the GPU.',
          effort: 'one command in the next gap',
        }),
  };
}

/** So many nodes are pasted at once; the rest are named as evidence. */
const PASTED_MAX = 3;

function drainLines(nodes: readonly string[], source: string | undefined): string[] {
  if (nodes.length === 0) return [];
  return [
    ...nodes
      .slice(0, PASTED_MAX)
      .map((node) =>
        source === 'slurm'
          ? `scontrol update nodename=${nameWord(node)} state=drain reason=xid`
          : `kubectl cordon ${nameWord(node)}`,
      ),
    commentLine('dcgmi diag -r 3 on the drained node says whether the GPU goes back to its maker'),
  ];
}

function resetLines(nodes: readonly string[]): string[] {
  if (nodes.length === 0) return [];
  return [
    commentLine(
      `on ${someWords(nodes.map(nameWord), PASTED_MAX)}, when no job holds it (with NVLink all its GPUs at once): no drain, it computes on until then`,
    ),
    'nvidia-smi --gpu-reset',
    commentLine('a GPU that reports it again and again after resets: dcgmi diag -r 3'),
  ];
}

function programClaim(about: string, group: readonly XidDay[]): Claim {
  const runs = unique(group.map(({ subject }) => subject));
  const stem = (group[0]?.stem ?? group[0]?.subject ?? '').replace(/[-_.]0$/, '');
  return {
    about: `program/${about}`,
    ownerSubject: runs.at(-1) ?? null,
    what: `${countWords(runs.length, 'run')} of ${stem} made the GPU report an error of the program`,
    because: [
      `${kindsOf(group, SOFTWARE_XIDS)} (DCGM_FI_DEV_XID_ERRORS).`,
      `On ${countWords(unique(group.map(({ deviceId }) => deviceId)).length, 'different GPU')}: the program, not the machine.`,
    ],
    fix: [commentLine('one run with'), 'CUDA_LAUNCH_BLOCKING=1 compute-sanitizer --tool memcheck python train.py'],
    unless: 'The same program runs without it elsewhere.',
    isQuestion: true,
    takes: [],
    blastRadius: 1,
    blast: 'One slow test run.',
    effort: 'an afternoon',
  };
}

function hotClaim(cluster: string, group: readonly HotDevice[]): Claim {
  const worst = group.reduce((a, b) => (b.throttled * a.samples > a.throttled * b.samples ? b : a));
  const slower = group.filter(
    ({ smPermille, peerSmPermille }) =>
      smPermille !== null && peerSmPermille !== null && smPermille * 10 < peerSmPermille * 9,
  );
  const [first] = slower;
  return {
    about: `throttled/${cluster}`,
    ownerSubject: null,
    what: `${countWords(group.length, 'GPU')}${cluster === '' ? '' : ` of ${cluster}`} slowed down by heat or power`,
    because: [
      `Clocks held back in ${Math.round((worst.throttled * 100) / worst.samples)} % of the samples of ${worst.deviceId}${worst.nodeId === null ? '' : ` on ${worst.nodeId}`} (clock throttle reasons: thermal, power brake or hardware slowdown).`,
      first === undefined
        ? group.every(({ peers }) => peers === 0)
          ? 'No GPU of the same jobs to compare with: no slow-down is measured, and none is claimed.'
          : 'SM activity is that of the GPUs beside them in the same jobs: no slow-down is measured, and none is claimed.'
        : `${first.deviceId}: SM ${Math.round((first.smPermille ?? 0) / 10)} % beside ${Math.round((first.peerSmPermille ?? 0) / 10)} % of GPUs of the same jobs; so ${slower.length} of ${group.length}.`,
    ],
    fix: [
      'nvidia-smi -q -d TEMPERATURE,PERFORMANCE,POWER',
      commentLine(`airflow and power limits of ${someWords(unique(group.map(({ nodeId }) => nodeId)).map(nameWord))}`),
    ],
    unless: 'A power limit was set on purpose.',
    isQuestion: true,
    takes: [],
    blastRadius: 0,
    blast: 'Looking changes nothing.',
    effort: 'a look at the machine',
  };
}
