/**
 * Money Bursar puts in a place against money that belongs there, for each holder, device and hour. What is arguable is
 * neither right nor wrong: it counts for nobody and against nobody. The bar of precision is on all hours. Hours in which some of the
 * standing still is arguable (somebody thinks, a replica waits for its next request) have no sharp truth about idling, so beside it
 * stands the precision of the others.
 */

/** @typedef {import('../demo/duck.mjs').Duck} Duck */
/** @typedef {import('../demo/duck.mjs').Row} Row */

/**
 * @typedef {object} Scores
 * @property {number} idlePrecision in all hours: right arguable money counts for nobody, and noise about it against us
 * @property {number} idlePrecisionSharp in hours without arguable standing still
 * @property {number} calledRight of all we call idle, what is idle or arguable
 * @property {number} naiveCalledRight the same of the naive rule
 * @property {number} idleRecall of all idle money of GPUs whose exporter lived
 * @property {number} idleRecallSent of those that sent a reading of activity at all: a slice without profiling fields sends none
 * @property {number} naivePrecision in all hours
 * @property {number} naivePrecisionSharp
 * @property {number} naiveRecall
 * @property {number} starvedPrecision
 * @property {number} starvedRecall
 * @property {number} starvedRecallSent of GPUs that sent a reading of activity at all
 * @property {number} rightCause of the starved money that is found, the share that has its true cause
 * @property {number} lostRatio lost money we count, of what was lost in hours of which activity was sent
 * @property {number} lostUsd what was lost in those
 * @property {number} lostAstray of it, what is counted too little of one holder and too much of another: in the ratio they cancel
 * @property {number} unknownShare of held money, what we say nothing about
 * @property {number} lossInjected of held money, by the samples that never came
 * @property {readonly { reason: string, usd: number, found: number, right: number }[]} causes
 * @property {readonly { reason: string, usd: number, found: number, naive: number }[]} idleReasons
 */

/** Which reason of ours is a true reason's: what `reason` of the waterfall means is told in src/ledger/README.md. */
const CAUSES = { 'waiting-for-data': 'gap', 'all-reduce': 'exchange', 'validating-on-cpu': 'pause' };

/** What is arguable about these is whether their work was of use; that they computed is not. */
const ARGUABLE_WORK = `reason IN ('cancelled-work', 'sweep-loser')`;

const PLACES = ['unallocated', 'stranded', 'beside', 'unknown'].map((name) => `'${name}'`).join(', ');

/** GPU_UTIL, of slices the engine's activity, below 5 % on average for an hour: the whole hour of the device is idle, whoever holds it. */
const NAIVE_PERMILLE = 50;

/** @param {Duck} duck as `openTold` gives it @returns {Promise<Scores>} */
export async function scoresOf(duck) {
  await duck.run(COMPARED);
  const money = await duck.one(`
    SELECT ${measures('idle', 'ours_idle', 'true_idle', 'arguable_rest')}, ${measures('naive', 'naive_idle', 'true_idle', 'arguable_rest')},
      ${measures('starved', 'ours_starved', 'true_starved', 'arguable_rest + arguable_work')},
      ${sharp('idle', 'ours_idle')}, ${sharp('naive', 'naive_idle')}, sum(ours_idle) AS idle_called, sum(naive_idle) AS naive_called,
      ${sent('idle', 'ours_idle', 'true_idle')}, ${sent('starved', 'ours_starved', 'true_starved')},
      sum(ours_unknown) AS unknown, sum(held) AS held, sum(held * lost_part) AS injected
    FROM compared`);
  const lost = await duck.one(LOST);
  const causes = await causesOf(duck);
  const idleReasons = await idleReasonsOf(duck);
  const of = (/** @type {string} */ name) => Number(money[name] ?? Number.NaN);
  const precision = (/** @type {string} */ name) => of(`${name}_hit`) / (of(`${name}_hit`) + of(`${name}_false`));
  const recall = (/** @type {string} */ name) => of(`${name}_alive_hit`) / of(`${name}_alive`);
  const right = causes.reduce((sum, cause) => sum + cause.right, 0);
  return {
    idlePrecision: precision('idle'),
    idlePrecisionSharp: precision('idle_sharp'),
    calledRight: 1 - of('idle_false') / of('idle_called'),
    naiveCalledRight: 1 - of('naive_false') / of('naive_called'),
    idleRecall: recall('idle'),
    idleRecallSent: of('idle_sent_hit') / of('idle_sent'),
    naivePrecision: precision('naive'),
    naivePrecisionSharp: precision('naive_sharp'),
    naiveRecall: recall('naive'),
    starvedPrecision: precision('starved'),
    starvedRecall: recall('starved'),
    starvedRecallSent: of('starved_sent_hit') / of('starved_sent'),
    rightCause: right / of('starved_alive_hit'),
    lostRatio: Number(lost['ours_lost']) / Number(lost['lost']),
    lostUsd: Number(lost['lost']),
    lostAstray: Number(lost['astray']) / Number(lost['lost']),
    unknownShare: of('unknown') / of('held'),
    lossInjected: of('injected') / of('held'),
    causes,
    idleReasons,
  };
}

/** Hits and false claims everywhere; recall only where the exporter lived. @param {string} name @param {string} ours @param {string} truth @param {string} arguable */
const measures = (name, ours, truth, arguable) => `
  sum(least(${ours}, ${truth})) AS ${name}_hit, sum(greatest(0, ${ours} - ${truth} - (${arguable}))) AS ${name}_false,
  sum(least(${ours}, ${truth})) FILTER (is_alive) AS ${name}_alive_hit, sum(${truth}) FILTER (is_alive) AS ${name}_alive`;

/** Idle money in hours without arguable standing still. @param {string} name @param {string} ours */
const sharp = (name, ours) => `
  sum(least(${ours}, true_idle)) FILTER (arguable_rest = 0) AS ${name}_sharp_hit,
  sum(greatest(0, ${ours} - true_idle)) FILTER (arguable_rest = 0) AS ${name}_sharp_false`;

/** Recall where activity was sent at all. @param {string} name @param {string} ours @param {string} truth */
const sent = (name, ours, truth) => `
  sum(least(${ours}, ${truth})) FILTER (is_sent) AS ${name}_sent_hit, sum(${truth}) FILTER (is_sent) AS ${name}_sent`;

/**
 * Lost money by holder: within an hour a sample more or less of a short run is chance, and over a life it evens out. Hours in which no
 * activity was sent are unknown, which comes before lost. Waits within lost steps are starved in the truth as in the ledger.
 */
const LOST = `
  SELECT sum(true_lost) AS lost, sum(least(ours_lost, true_lost) + greatest(0, ours_lost - true_lost - arguable_work)) AS ours_lost,
    sum(greatest(0, true_lost - ours_lost) + greatest(0, ours_lost - true_lost - arguable_work)) AS astray
  FROM (SELECT holder, sum(true_lost) AS true_lost, sum(ours_lost) AS ours_lost, sum(arguable_work) AS arguable_work
        FROM compared WHERE is_sent GROUP BY holder) h`;

const sumOf = (/** @type {string} */ place) => `coalesce(sum(usd) FILTER (category = '${place}'), 0)`;

/** One row for each holder, device and hour, with everybody's opinion of its money. */
const COMPARED = `
  CREATE OR REPLACE TABLE compared AS
  WITH truth AS (
    SELECT device_id, holder, hour, ${sumOf('idle')} AS true_idle, ${sumOf('starved')} AS true_starved, ${sumOf('lost')} AS true_lost,
      coalesce(sum(usd) FILTER (category = 'arguable' AND NOT ${ARGUABLE_WORK}), 0) AS arguable_rest,
      coalesce(sum(usd) FILTER (category = 'arguable' AND ${ARGUABLE_WORK}), 0) AS arguable_work, sum(usd) AS held
    FROM true_hour WHERE category NOT IN (${PLACES}) GROUP BY ALL
  ), ours AS (
    SELECT device_id, holder, hour, ${sumOf('idle')} AS ours_idle, ${sumOf('starved')} AS ours_starved,
      ${sumOf('lost')} AS ours_lost, ${sumOf('unknown')} AS ours_unknown
    FROM ours_hour GROUP BY ALL
  ), there AS (
    -- Of the hour, the part in which the device was up: a broken machine owes no samples.
    SELECT device_id, hour, least(1, sum(unit_s) / any_value(share_units) / 3600) AS up_part
    FROM true_hour JOIN device USING (device_id) WHERE reason <> 'down' GROUP BY device_id, hour
  )
  SELECT device_id, holder, hour, coalesce(true_idle, 0) AS true_idle, coalesce(true_starved, 0) AS true_starved,
    coalesce(true_lost, 0) AS true_lost, coalesce(arguable_rest, 0) AS arguable_rest,
    coalesce(arguable_work, 0) AS arguable_work, coalesce(held, 0) AS held,
    coalesce(ours_idle, 0) AS ours_idle, coalesce(ours_starved, 0) AS ours_starved, coalesce(ours_lost, 0) AS ours_lost,
    coalesce(ours_unknown, 0) AS ours_unknown,
    CASE WHEN naive_permille < ${NAIVE_PERMILLE} THEN coalesce(held, 0) ELSE 0 END AS naive_idle,
    (device.node_id, hour) NOT IN (SELECT (node_id, hour) FROM dead_hour) AS is_alive, coalesce(steps_seen, 0) > 0 AS is_sent,
    greatest(0, 1 - coalesce(steps_seen, 0) / nullif(up_part * 3600 / (SELECT max(step_s) FROM sensor_hour), 0)) AS lost_part
  FROM truth FULL JOIN ours USING (device_id, holder, hour) JOIN device USING (device_id)
  LEFT JOIN there USING (device_id, hour) LEFT JOIN sensor_hour USING (device_id, hour)`;

/** @param {Duck} duck @returns {Promise<Scores['causes']>} */
async function causesOf(duck) {
  const cases = Object.entries(CAUSES).map(([reason, ours]) => `WHEN '${reason}' THEN '${ours}'`);
  const rows = await duck.rows(`
    WITH truth AS (
      SELECT device_id, holder, hour, reason, CASE reason ${cases.join(' ')} END AS ours_reason, sum(usd) AS usd
      FROM true_hour WHERE category = 'starved' GROUP BY ALL
    ), ours AS (
      SELECT device_id, holder, hour, reason AS ours_reason, sum(usd) AS ours_usd
      FROM ours_hour WHERE category = 'starved' GROUP BY ALL
    )
    SELECT reason, sum(usd) AS usd, sum(least(usd, ours_starved)) AS found, sum(least(usd, coalesce(ours_usd, 0))) AS right
    FROM truth JOIN compared USING (device_id, holder, hour) LEFT JOIN ours USING (device_id, holder, hour, ours_reason)
    WHERE is_alive GROUP BY reason ORDER BY reason`);
  return rows.map(({ reason, usd, found, right }) => ({
    reason: String(reason),
    usd: Number(usd),
    found: Number(found),
    right: Number(right),
  }));
}

/** Which true reasons of idle money are found, by us and by the naive rule. @param {Duck} duck @returns {Promise<Scores['idleReasons']>} */
async function idleReasonsOf(duck) {
  const rows = await duck.rows(`
    WITH truth AS (SELECT device_id, holder, hour, reason, sum(usd) AS usd FROM true_hour WHERE category = 'idle' GROUP BY ALL)
    SELECT reason, sum(usd) AS usd, sum(least(usd, ours_idle)) AS found, sum(least(usd, naive_idle)) AS naive
    FROM truth JOIN compared USING (device_id, holder, hour) WHERE is_alive GROUP BY reason ORDER BY reason`);
  return rows.map(({ reason, usd, found, naive }) => ({
    reason: String(reason),
    usd: Number(usd),
    found: Number(found),
    naive: Number(naive),
  }));
}
