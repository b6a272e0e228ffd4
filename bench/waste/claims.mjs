/**
 * Are findings right? What they take, held against the truth of the same cells (holder, device, hour) as the waterfall is: up to what the
 * truth has of that category it is true, beyond it what is arguable there is neither, and the rest is wrong. Findings that take of one cell
 * share its truth by what they take.
 */

/** @typedef {import('../demo/duck.mjs').Duck} Duck */
/** @typedef {{ finding: number, category: string, usd: number, trueUsd: number, arguableUsd: number }} Claim */

/** Hours of the waterfall that a take is about; money of nobody's GPUs is not asked, its machines owe nobody work. */
export const MET = `t.subject = o.subject AND (t.device_id IS NULL OR t.device_id = o.device_id) AND CAST(o.hour AS DATE) BETWEEN t.first_day AND t.last_day`;

/** The categories in which the truth and the ledger say the same of an hour; `taken` of others is of the platform. */
const JUDGED = `('idle', 'starved', 'lost')`;

/** A question claims nothing, so it can be no wrong claim. */
const CLAIMED = `
  CREATE OR REPLACE TABLE claimed AS
  WITH met AS (
    SELECT t.finding, t.category, o.device_id, o.holder, o.hour, sum(o.usd * t.part) AS usd FROM taken t
    JOIN ours_hour o ON ${MET} AND t.category = o.category AND (t.reason IS NULL OR t.reason = o.reason)
    WHERE t.category IN ${JUDGED} AND NOT t.is_question GROUP BY ALL
  ), cell AS (
    SELECT *, CASE category WHEN 'idle' THEN true_idle WHEN 'starved' THEN true_starved ELSE true_lost END AS truth,
      CASE category WHEN 'lost' THEN 0 ELSE arguable_rest END + CASE category WHEN 'idle' THEN 0 ELSE arguable_work END AS arguable
    FROM (SELECT category, device_id, holder, hour, sum(usd) AS cell_usd FROM met GROUP BY ALL) m
    JOIN compared USING (device_id, holder, hour)
  )
  SELECT finding, category, device_id, holder, hour, usd, is_alive,
    usd / cell_usd * least(cell_usd, truth) AS true_usd, usd / cell_usd * least(greatest(0, cell_usd - truth), arguable) AS arguable_usd
  FROM met JOIN cell USING (category, device_id, holder, hour) WHERE cell_usd > 0`;

/** @param {Duck} duck with `taken`, and as `scoresOf` leaves it @returns {Promise<readonly Claim[]>} */
export async function claimsOf(duck) {
  await duck.run(CLAIMED);
  const rows = await duck.rows(`
    SELECT finding, category, sum(usd) AS usd, sum(true_usd) AS true_usd, sum(arguable_usd) AS arguable_usd
    FROM claimed GROUP BY ALL ORDER BY finding, category`);
  return rows.map(({ finding, category, usd, true_usd: trueUsd, arguable_usd: arguableUsd }) => ({
    finding: Number(finding),
    category: String(category),
    usd: Number(usd),
    trueUsd: Number(trueUsd),
    arguableUsd: Number(arguableUsd),
  }));
}

/** What of the true money of each reason findings claim, as `idle: forgotten`; where exporters lived, as what is found. @param {Duck} duck after `claimsOf` @returns {Promise<ReadonlyMap<string, number>>} */
export async function claimedReasonsOf(duck) {
  const rows = await duck.rows(`
    WITH truth AS (
      SELECT device_id, holder, hour, category, reason, usd / sum(usd) OVER (PARTITION BY device_id, holder, hour, category) AS part
      FROM true_hour WHERE category IN ${JUDGED} AND usd > 0
    )
    SELECT category || ': ' || reason AS name, sum(true_usd * part) AS usd
    FROM claimed JOIN truth USING (device_id, holder, hour, category) WHERE is_alive GROUP BY name`);
  return new Map(rows.map(({ name, usd }) => [String(name), Number(usd)]));
}
