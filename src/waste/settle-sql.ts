import type { WasteCategory } from '../facts/detector.ts';
import { CATEGORY_ORDER, WHOLE_PERMILLE } from './settle.ts';

/** Time somebody holds; the rest is nobody's. */
const HELD_CATEGORIES: readonly WasteCategory[] = ['unknown', 'idle', 'starved', 'lost', 'computing'];
const HELD = `(${HELD_CATEGORIES.map((category) => `'${category}'`).join(', ')})`;
/** What is known of held time only by its sensors. */
const MEASURED = `('idle', 'starved', 'lost', 'computing')`;

const upTo = (amount: string, permille: string): string =>
  `CAST((${amount} * ${permille} - (${amount} * ${permille}) % ${WHOLE_PERMILLE}) / ${WHOLE_PERMILLE} AS BIGINT)`;

/** Below zero (a credit) nothing is claimed; what has no price stays without one. Most claims are of the whole row, which need not be divided. */
const part = (amount: string, permille: string): string => `
  CASE WHEN ${amount} <= 0 THEN 0 WHEN ${permille} = ${WHOLE_PERMILLE} THEN ${amount} ELSE ${upTo(amount, permille)} END`;
/** The part between two places in the row, so that parts that follow each other add up to it. */
const slice = (amount: string, before: string, after: string): string =>
  `CASE WHEN ${amount} <= 0 THEN 0 ELSE ${upTo(amount, after)} - ${upTo(amount, before)} END`;

const AMOUNTS = ['usd_micros', 'marginal_usd_micros', 'gpu_units'] as const;
/** Takes have their category as its place in the order. */
const categoryName = (rows: string): string =>
  `CASE ${rows}.category_no ${CATEGORY_ORDER.map((category, place) => `WHEN ${place} THEN '${category}'`).join(' ')} END`;
const HELD_NOS = `(${HELD_CATEGORIES.map((category) => CATEGORY_ORDER.indexOf(category)).join(', ')})`;
const CATEGORY_NAME = categoryName('p');
const CELL = 'c.subject_no, c.day, c.place_no, c.category_no, c.reason';

/**
 * Question: which devices are there, on which nodes? Millions of rows are claimed of some thousand: they carry its number. Reads: subject_day.
 */
export const CLAIM_PLACES = `
  SELECT device_id, node_id, row_number() OVER () AS place_no FROM (SELECT DISTINCT device_id, node_id FROM subject_day) place`;

/**
 * Question: which rows does each take speak of? Of a row that no other take can speak of it has its part at once; of the others the amounts
 * are whole, and `SHARED_PARTS` cuts them.
 *
 * Days on which a device's sensors were silent are nobody's to claim, whatever the detector: a claim keeps the devices and days that were
 * measured, and is dropped where none is left. Reads: subject_day, what `claimTables` gives, and `CLAIM_PLACES` as `claim_place`.
 */
export const CLAIM_ROWS = `
  WITH cell AS (
    SELECT c.subject_key, c.day, c.device_id, c.node_id, c.category, c.reason, ${AMOUNTS.map((name) => `c.${name}`).join(', ')}, row_number() OVER () AS cell_no
    FROM subject_day c WHERE (NOT c.is_silent OR c.category NOT IN ${MEASURED})
      AND c.category IN (SELECT DISTINCT ${categoryName('t')} FROM claim_take t)
  ), take AS (
    SELECT t.claim_no, t.take_no, t.permille, t.is_shared, t.subject_no, t.category_no, text_digest(s.subject) AS subject_key, ${categoryName('t')} AS category,
           DATE '1970-01-01' + t.first_day AS first_day, DATE '1970-01-01' + t.last_day AS last_day, d.name AS device_id, r.name AS reason
    FROM claim_take t JOIN claim_subject s ON t.subject_no = s.subject_no
    LEFT JOIN claim_name d ON t.device_no = d.name_no LEFT JOIN claim_name r ON t.reason_no = r.name_no WHERE t.permille > 0
  )
  SELECT t.claim_no, t.take_no, t.permille, t.is_shared, c.cell_no, t.subject_no, c.day, p.place_no, t.category_no, c.reason,
         ${AMOUNTS.map((name) => `CASE WHEN t.is_shared = 1 THEN c.${name} ELSE ${part(`c.${name}`, 't.permille')} END AS ${name}`).join(', ')}
  FROM cell c JOIN take t ON c.subject_key = t.subject_key AND c.category = t.category AND c.day >= t.first_day AND c.day <= t.last_day
    AND (t.device_id IS NULL OR t.device_id = c.device_id) AND (t.reason IS NULL OR t.reason = c.reason)
  LEFT JOIN claim_place p ON c.device_id IS NOT DISTINCT FROM p.device_id AND c.node_id IS NOT DISTINCT FROM p.node_id`;

const capped = (permille: string): string =>
  `CASE WHEN ${permille} > ${WHOLE_PERMILLE} THEN ${WHOLE_PERMILLE} ELSE ${permille} END`;

/**
 * Promise: no dollar is claimed twice, and none that was not paid.
 *
 * Claims are settled in the waterfall's order of categories, then in the order of the detectors (together the `turn`), then the dearest
 * first. Each takes of a row what is left of it, in thousandths; the thousandths of a row add up to it exactly. Reads what
 * `CLAIM_ROWS` answered, as `claim_row`.
 */
export const SHARED_PARTS = `
  WITH gross AS (
    SELECT c.claim_no, CAST(sum(CASE WHEN c.is_shared = 0 THEN c.usd_micros ELSE ${part('c.usd_micros', 'c.permille')} END) AS BIGINT) AS usd_micros
    FROM claim_row c GROUP BY c.claim_no
  ), ranked AS (
    SELECT n.claim_no, row_number() OVER (ORDER BY n.turn, COALESCE(g.usd_micros, 0) DESC, n.claim_no) AS rank_no
    FROM claim n LEFT JOIN gross g ON n.claim_no = g.claim_no
  ), queued AS (
    SELECT c.*, COALESCE(CAST(sum(c.permille) OVER (PARTITION BY c.cell_no ORDER BY r.rank_no, c.take_no
             ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS BIGINT), 0) AS gone
    FROM claim_row c JOIN ranked r ON c.claim_no = r.claim_no WHERE c.is_shared = 1
  ), c AS (
    SELECT queued.*, ${capped('gone')} AS before_permille, ${capped('gone + permille')} AS after_permille FROM queued
  )
  SELECT c.claim_no, ${CELL}, c.after_permille - c.before_permille AS permille,
         ${AMOUNTS.map((name) => `${slice(`c.${name}`, 'c.before_permille', 'c.after_permille')} AS ${name}`).join(', ')}
  FROM c WHERE c.after_permille > c.before_permille`;

const PARTS = `(
  SELECT c.claim_no, ${CELL}, c.permille, ${AMOUNTS.join(', ')} FROM claim_row c WHERE c.is_shared = 0
  UNION ALL
  SELECT * FROM claim_part)`;

/** Time of which no bill falls: of a row that is partly on demand, by its money that is not. What has no price is all of it such time. */
const UNPAID_SHARE = 'CAST(gpu_units AS DECIMAL(38,0)) * (usd_micros - marginal_usd_micros)';
const UNPAID_UNITS = `CASE WHEN marginal_usd_micros IS NULL OR marginal_usd_micros <= 0 THEN gpu_units
    WHEN usd_micros IS NULL OR marginal_usd_micros >= usd_micros THEN 0
    ELSE CAST((${UNPAID_SHARE} - (${UNPAID_SHARE}) % usd_micros) / usd_micros AS BIGINT) END`;

/**
 * Question: what did each claim get? Cash is what the bill would fall by: at most all that has a marginal price, at least what stands on
 * machines of which everything that is held that day is the claim's own, for a machine in use is paid for whole. Of machines nobody says how they
 * are bought it is not known whether a bill falls: their money stands by itself, and their time with what no bill falls by.
 *
 * Reads: stint_day, `claim_place`, what `CLAIM_ROWS` answered as `claim_row`, and `SHARED_PARTS` as `claim_part`.
 */
export const CLAIM_SUMS = `
  WITH total AS (
    SELECT claim_no, CAST(sum(usd_micros) AS BIGINT) AS usd_micros, COALESCE(CAST(sum(marginal_usd_micros) AS BIGINT), 0) AS cash_usd_micros,
           CAST(sum(gpu_units) AS BIGINT) AS gpu_units,
           CAST(sum(${UNPAID_UNITS}) AS BIGINT) AS unpaid_units,
           COALESCE(CAST(sum(CASE WHEN marginal_usd_micros IS NULL THEN usd_micros END) AS BIGINT), 0) AS unsaid_usd_micros,
           count(*) FILTER (WHERE category_no <> ${CATEGORY_ORDER.indexOf('unknown')}) AS known_parts
    FROM ${PARTS} part GROUP BY claim_no
  ), paid AS (
    SELECT claim_no, day, place_no, CAST(sum(marginal_usd_micros) AS BIGINT) AS usd_micros,
           max(CASE WHEN category_no IN ${HELD_NOS} THEN 1 ELSE 0 END) AS is_held
    FROM ${PARTS} part WHERE marginal_usd_micros > 0 GROUP BY claim_no, day, place_no, subject_no
  ), own AS (
    SELECT p.claim_no, p.day, d.node_id, CAST(sum(p.usd_micros) AS BIGINT) AS usd_micros,
           CAST(sum(CASE WHEN d.device_id IS NULL THEN 0 ELSE p.is_held END) AS BIGINT) AS pairs
    FROM paid p JOIN claim_place d ON p.place_no = d.place_no GROUP BY p.claim_no, p.day, d.node_id
  ), standing AS (
    SELECT day, node_id, count(*) AS pairs FROM stint_day GROUP BY day, node_id
  ), freed AS (
    SELECT o.claim_no, CAST(sum(o.usd_micros) AS BIGINT) AS usd_micros
    FROM own o LEFT JOIN standing s ON o.day = s.day AND o.node_id = s.node_id
    WHERE o.node_id IS NULL OR o.pairs = COALESCE(s.pairs, 0) GROUP BY o.claim_no
  )
  SELECT t.claim_no AS "claimNo", t.usd_micros AS "usdMicros", t.cash_usd_micros AS "cashUsdMicros",
         COALESCE(f.usd_micros, 0) AS "freedUsdMicros", t.gpu_units AS "gpuUnits", t.unpaid_units AS "unpaidUnits",
         t.unsaid_usd_micros AS "unsaidUsdMicros",
         t.known_parts AS "knownParts"
  FROM total t LEFT JOIN freed f ON t.claim_no = f.claim_no ORDER BY t.claim_no`;

/**
 * Question: what does an hour of all that is claimed and goes on cost its holders now? From the last day: its money by the seconds
 * they had of it. A GPU that several claims speak of is the rate of the one whose turn comes first: an hour is paid once. A run of that day that is over by `$until`
 * costs nothing any more, whatever goes on beside it.
 *
 * Reads: subject_day and stint_day of the last day, and the parts.
 */
export const claimRates = (shareUnits: number): string => `
  WITH over AS (
    SELECT subject FROM stint_day GROUP BY subject HAVING count(*) = count(ended_at) AND max(ended_at) <= $until
  ), live AS (
    SELECT min(p.claim_no) AS claim_no, s.subject, d.device_id, p.category_no IN ${HELD_NOS} AS is_held
    FROM ${PARTS} p JOIN claim n ON p.claim_no = n.claim_no JOIN claim_subject s ON p.subject_no = s.subject_no
    JOIN claim_place d ON p.place_no = d.place_no WHERE n.is_live = 1 AND s.subject NOT IN (SELECT subject FROM over)
    GROUP BY s.subject, d.device_id, p.category_no IN ${HELD_NOS}
  ), paid AS (
    SELECT subject, device_id, category IN ${HELD} AS is_held, CAST(sum(usd_micros) AS BIGINT) AS usd_micros,
           CAST(sum(gpu_units) AS BIGINT) AS units
    FROM subject_day WHERE category IN ('unallocated', 'unknown', 'idle', 'starved', 'lost', 'computing')
      AND subject IN (SELECT subject FROM live)
    GROUP BY subject, device_id, category IN ${HELD}
  ), had AS (
    SELECT subject, device_id, CAST(sum(held_s) AS BIGINT) AS held_s FROM stint_day
    WHERE subject IN (SELECT subject FROM live) GROUP BY subject, device_id
  ), timed AS (
    SELECT p.subject, p.device_id, p.is_held, p.usd_micros * 3600 AS usd_micros,
           CASE WHEN p.is_held AND h.held_s > 0 THEN h.held_s
                ELSE CAST((p.units - p.units % ${shareUnits}) / ${shareUnits} AS BIGINT) END AS seconds
    FROM paid p LEFT JOIN had h ON p.subject = h.subject AND p.device_id = h.device_id WHERE p.usd_micros IS NOT NULL
  )
  SELECT l.claim_no AS "claimNo", CAST(sum(CAST((r.usd_micros - r.usd_micros % r.seconds) / r.seconds AS BIGINT)) AS BIGINT) AS "usdMicrosPerHour"
  FROM live l JOIN timed r ON l.subject = r.subject AND l.is_held = r.is_held AND l.device_id IS NOT DISTINCT FROM r.device_id
  WHERE r.seconds > 0 GROUP BY l.claim_no`;

const PART_COLUMNS = `CAST(p.day AS VARCHAR) AS day, s.subject, d.device_id AS "deviceId", ${CATEGORY_NAME} AS category, p.reason,
         CAST(p.permille AS BIGINT) AS permille, p.usd_micros AS "usdMicros", p.marginal_usd_micros AS "marginalUsdMicros",
         p.gpu_units AS "gpuUnits"`;
const NAMED_PARTS = `${PARTS} p JOIN claim_subject s ON p.subject_no = s.subject_no JOIN claim_place d ON p.place_no = d.place_no`;
const PART_ORDER = `p.day, s.subject, d.device_id, ${CATEGORY_NAME}, p.reason, d.node_id`;

/** The rows behind a claim (`$claimNo`). */
export const CLAIM_PARTS = `SELECT ${PART_COLUMNS} FROM ${NAMED_PARTS} WHERE p.claim_no = $claimNo ORDER BY ${PART_ORDER}`;

/** The rows behind all claims, by the name each has in `claim_key`. */
export const ALL_CLAIM_PARTS = `
  SELECT k.finding_key, ${PART_COLUMNS} FROM ${NAMED_PARTS} JOIN claim_key k ON p.claim_no = k.claim_no ORDER BY k.finding_key, ${PART_ORDER}`;
