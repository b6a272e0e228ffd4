/**
 * What `bursar findings` says of a demo, held against its files: does any of it rest on a GPU that sent nothing, does it
 * call something waste that is none, and does it claim more than was wasted?
 */
import { fileURLToPath } from 'node:url';
import { csv } from '../demo/duck.mjs';
import { measured } from '../demo/run.mjs';
import { claimedReasonsOf, claimsOf, MET } from './claims.mjs';

/** @typedef {import('../demo/duck.mjs').Duck} Duck */
/**
 * @typedef {{ subject: string, deviceId?: string, firstDay: string, lastDay: string, category: string, reason?: string, permille?: number }} Take
 * @typedef {{ key: string, detector: string, category: string, kind: string, what: string, because: string[], fix: string[], usdMicros: string | null, takes: Take[] }} Finding
 */
/** @typedef {{ category: string, claimedUsd: number, oursUsd: number, trueUsd: number }} ByCategory what findings claim, what the waterfall has and what was truly spent so */
/** @typedef {{ detector: string, findings: number, usd: number, claimedUsd: number, trueUsd: number, arguableUsd: number, rest: Map<string, number> }} ByDetector `claimed`: of `usd`, what is of hours whose truth is known */
/**
 * @typedef {object} Said
 * @property {readonly Finding[]} findings
 * @property {readonly string[]} overclaimed categories of which more is claimed than there is
 * @property {readonly string[]} onMissing findings on a GPU whose telemetry is missing in their stretch
 * @property {readonly string[]} hardNegatives findings of idle money most of which is standby, thinking or an evaluation on the CPU
 * @property {number} hardNegativePart of all idle money that findings take, what is of these
 * @property {number} betweenRequestsPart of all idle money that findings take, what a replica was needed for that had no request in flight: arguable, so no hard negative
 * @property {ReadonlyMap<string, number>} byReason true money that findings claim, by its category and reason: `idle: forgotten`
 * @property {readonly ByCategory[]} byCategory
 * @property {readonly ByDetector[]} byDetector
 */

const ALL_FINDINGS = fileURLToPath(new URL('all-findings.mjs', import.meta.url));

/** More of a stretch than this without samples, and nothing may be said of the GPU; nor may more of a finding's money be on such GPUs. */
const MISSING_PART_MAX = 0.05;
/** What is not idle however it looks; the categories of a world file put these among the arguable or the starved. */
const HARD_NEGATIVES = new Set(['standby', 'thinking', 'validating-on-cpu']);

/** @param {Duck} duck as `scoresOf` leaves it @param {string} data @returns {Promise<Said>} */
export async function saidOf(duck, data) {
  const { stdout } = await measured(process.execPath, [ALL_FINDINGS, data]);
  /** @type {{ findings: Finding[] }} */
  const { findings } = JSON.parse(stdout);
  await duck.run(`CREATE OR REPLACE TABLE taken (finding BIGINT, subject VARCHAR, device_id VARCHAR, first_day DATE, last_day DATE,
    category VARCHAR, reason VARCHAR, part DOUBLE, is_question BOOLEAN)`);
  const rows = findings.flatMap(({ takes, kind }, finding) =>
    takes.map(
      (take) =>
        `(${finding}, ${text(take.subject)}, ${text(take.deviceId)}, ${text(take.firstDay)}, ${text(take.lastDay)}, ` +
        `${text(take.category)}, ${text(take.reason)}, ${(take.permille ?? 1000) / 1000}, ${kind === 'question'})`,
    ),
  );
  for (let from = 0; from < rows.length; from += 1000) {
    await duck.run(`INSERT INTO taken VALUES ${rows.slice(from, from + 1000).join(', ')}`);
  }
  const missing = await duck.rows(ON_MISSING);
  const rests = await duck.rows(RESTS_ON);
  const claims = await claimsOf(duck);
  const categories = await categoriesOf(duck, data, findings);
  const name = (/** @type {unknown} */ finding) => {
    const { detector, what } = findings[Number(finding)] ?? { detector: '?', what: '?' };
    return `${detector}: ${what}`;
  };
  const first = new Map();
  for (const row of rests) if (!first.has(row['finding'])) first.set(row['finding'], row);
  return {
    findings,
    overclaimed: categories
      .filter(({ claimed, ours }) => claimed > ours)
      .map(({ category, claimed, ours }) => `${category}: ${claimed} claimed of ${ours}`),
    onMissing: missing.map(({ finding, part }) => `${name(finding)} (${percentOf(part)})`),
    hardNegatives: [...first.values()]
      .filter(({ category, reason }) => category === 'idle' && HARD_NEGATIVES.has(String(reason)))
      .map(({ finding, reason }) => `${name(finding)} (${String(reason)})`),
    hardNegativePart: partOf(rests, ({ reason }) => HARD_NEGATIVES.has(String(reason))),
    betweenRequestsPart: partOf(rests, ({ reason }) => reason === 'between-requests'),
    byReason: await claimedReasonsOf(duck),
    byCategory: categories.map(({ category, claimed, ours, truth }) => ({
      category,
      claimedUsd: Number(claimed) / 1e6,
      oursUsd: Number(ours) / 1e6,
      trueUsd: Number(truth) / 1e6,
    })),
    byDetector: byDetector(findings, rests, claims),
  };
}

/** @param {readonly import('../demo/duck.mjs').Row[]} rests @param {(row: import('../demo/duck.mjs').Row) => boolean} isMeant @returns {number} */
function partOf(rests, isMeant) {
  const idle = rests.filter(({ category }) => category === 'idle');
  const sum = (/** @type {typeof idle} */ rows) => rows.reduce((total, { usd }) => total + Number(usd), 0);
  return idle.length === 0 ? 0 : sum(idle.filter(isMeant)) / sum(idle);
}

/** @param {string | undefined} value */
const text = (value) => (value === undefined || value === null ? 'NULL' : `'${value.replaceAll("'", "''")}'`);
/** @param {unknown} part */
const percentOf = (part) => `${Math.round(Number(part) * 100)} % of its money on such GPUs`;

/**
 * Of each finding, the part of its stretch's money on GPUs that were silent for more than a little of it. A kind of a hundred runs may have met
 * one GPU that fell silent; a finding that rests on such GPUs may not be.
 */
const ON_MISSING = `
  WITH held AS (SELECT subject, life, device_id, hour, sum(usd) AS usd FROM ours_hour GROUP BY ALL),
  stretch AS (
    SELECT DISTINCT t.finding, o.device_id, o.life, o.hour, o.usd FROM taken t JOIN held o ON ${MET}
    WHERE t.category IN ('idle', 'starved', 'lost', 'computing')
  ), silent AS (
    SELECT finding, device_id, life, sum(usd) AS usd, coalesce(sum(missing_s) / sum(held_s), 0) AS missing
    FROM stretch LEFT JOIN missing_hour USING (device_id, life, hour) GROUP BY ALL
  )
  SELECT finding, coalesce(sum(usd) FILTER (missing > ${MISSING_PART_MAX}), 0) / sum(usd) AS part FROM silent
  GROUP BY finding HAVING part > ${MISSING_PART_MAX} ORDER BY finding`;

/** What the money of each finding was really spent on, the largest reason first. Of an hour, what computed is left out where anything else was there. */
const RESTS_ON = `
  WITH met AS (
    SELECT t.finding, t.category, o.device_id, o.holder, o.hour, max(o.usd * t.part) AS usd FROM taken t
    JOIN ours_hour o ON ${MET} AND t.category = o.category AND (t.reason IS NULL OR t.reason = o.reason)
    WHERE t.category IN ('idle', 'starved', 'lost') GROUP BY ALL
  ), reasons AS (
    SELECT device_id, holder, hour, reason, usd / sum(usd) OVER (PARTITION BY device_id, holder, hour) AS part
    FROM true_hour WHERE category IN ('idle', 'starved', 'lost', 'arguable') AND usd > 0
  )
  SELECT finding, category, coalesce(reason, 'computing') AS reason, sum(usd * coalesce(part, 1)) AS usd
  FROM met LEFT JOIN reasons USING (device_id, holder, hour) GROUP BY ALL ORDER BY finding, usd DESC, reason`;

/** What is claimed of each category, beside what the waterfall has of it and what the truth has. @param {Duck} duck @param {string} data @param {readonly Finding[]} findings */
async function categoriesOf(duck, data, findings) {
  const sums = async (/** @type {string} */ micros, /** @type {string} */ from) => {
    const rows = await duck.rows(
      `SELECT category, CAST(sum(${micros}) AS VARCHAR) AS micros FROM ${from} GROUP BY category`,
    );
    return new Map(rows.map(({ category, micros: sum }) => [String(category), BigInt(String(sum))]));
  };
  const ours = await sums('usd_micros', `'${data}/tables/subject_day/**/*.parquet'`);
  const truth = await sums('CAST(CAST(usd AS DECIMAL(18, 6)) * 1000000 AS HUGEINT)', csv(`${data}/files/truth.csv`));
  /** @type {Map<string, bigint>} */
  const claimed = new Map();
  for (const { category, kind, usdMicros } of findings) {
    if (kind === 'question' || usdMicros === null) continue;
    claimed.set(category, (claimed.get(category) ?? 0n) + BigInt(usdMicros));
  }
  return [...claimed].map(([category, micros]) => ({
    category,
    claimed: micros,
    ours: ours.get(category) ?? 0n,
    truth: truth.get(category) ?? 0n,
  }));
}

/** @param {readonly Finding[]} findings @param {readonly import('../demo/duck.mjs').Row[]} rests @param {readonly import('./claims.mjs').Claim[]} claims @returns {Said['byDetector']} */
function byDetector(findings, rests, claims) {
  /** @type {Map<string, ByDetector>} */
  const told = new Map();
  for (const { detector, usdMicros } of findings) {
    const row = told.get(detector) ?? {
      detector,
      findings: 0,
      usd: 0,
      claimedUsd: 0,
      trueUsd: 0,
      arguableUsd: 0,
      rest: new Map(),
    };
    row.findings += 1;
    row.usd += Number(usdMicros ?? 0) / 1e6;
    told.set(detector, row);
  }
  for (const { finding, reason, usd } of rests) {
    const rest = told.get(findings[Number(finding)]?.detector ?? '')?.rest;
    rest?.set(String(reason), (rest.get(String(reason)) ?? 0) + Number(usd));
  }
  for (const { finding, usd, trueUsd, arguableUsd } of claims) {
    const row = told.get(findings[finding]?.detector ?? '');
    if (row === undefined) continue;
    row.claimedUsd += usd;
    row.trueUsd += trueUsd;
    row.arguableUsd += arguableUsd;
  }
  return [...told.values()];
}
