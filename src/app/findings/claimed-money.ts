import { SHARE_UNITS } from '../../facts/column.ts';
import { quote } from '../../lake/engine.ts';
import type { Cell } from '../../waste/settle.ts';
import type { ReadSpace } from '../workspace.ts';
import type { DetectorClaim, JudgedSpan } from './ask-detectors.ts';

/** Time somebody holds; the rest is nobody's. */
const HELD = `('unknown', 'idle', 'starved', 'lost', 'computing')`;
export const isHeld = (category: string): boolean => HELD.includes(`'${category}'`);

/** What is known of held time only by its sensors. */
const MEASURED = `('idle', 'starved', 'lost', 'computing')`;
/** A GPU of which more than this was unknown in a day, in permille of the time held, is not spoken of: telemetry-gaps does. */
const UNKNOWN_PERMILLE_MAX = 50;

const listed = (texts: Iterable<string>): string => `(${[...texts].map(quote).join(', ')})`;

/**
 * Question: what money do the claims speak of? Only of claimed subjects and categories, within the window.
 *
 * Days on which a device's sensors were silent are nobody's to claim, whatever the detector: a claim keeps the devices and days that were
 * measured, and is dropped where none is left.
 */
export async function claimedCells(
  space: ReadSpace,
  claims: readonly DetectorClaim[],
  span: JudgedSpan,
): Promise<readonly Cell[]> {
  const takes = claims.flatMap(({ claim }) => (claim.isQuestion ? [] : claim.takes));
  if (takes.length === 0) return [];
  return space.ask<Cell>({
    tables: ['subject_day', 'stint_day'].map((table) => ({ table, first: span.first, last: span.last })),
    sql: `
      SELECT CAST(day AS VARCHAR) AS day, subject, device_id AS "deviceId", node_id AS "nodeId", category, reason,
             CAST(sum(usd_micros) AS BIGINT) AS "usdMicros", CAST(sum(marginal_usd_micros) AS BIGINT) AS "marginalUsdMicros",
             CAST(sum(gpu_units) AS BIGINT) AS "gpuUnits"
      FROM subject_day c
      WHERE category IN ${listed(new Set(takes.map(({ category }) => category)))}
        AND subject IN ${listed(new Set(takes.map(({ subject }) => subject)))}
        AND NOT (category IN ${MEASURED} AND EXISTS (
          SELECT 1 FROM stint_day s WHERE s.day = c.day AND s.subject = c.subject AND s.device_id = c.device_id
            AND s.unknown_s * 1000 > s.held_s * ${UNKNOWN_PERMILLE_MAX}))
      GROUP BY day, subject, device_id, node_id, category, reason
      ORDER BY day, subject, device_id, node_id, category, reason`,
  });
}

export const nodeDayKey = (day: string, nodeId: string): string => `${day} ${nodeId}`;

/** Question: how many holders' devices stand on each machine on a day? A finding frees a machine if all of them are its own. */
export async function heldPairs(
  space: ReadSpace,
  nodeIds: ReadonlySet<string>,
  span: JudgedSpan,
): Promise<ReadonlyMap<string, number>> {
  if (nodeIds.size === 0) return new Map();
  const rows = await space.ask<{ day: string; nodeId: string; pairs: bigint }>({
    tables: [{ table: 'subject_day', first: span.first, last: span.last }],
    sql: `
      SELECT CAST(day AS VARCHAR) AS day, node_id AS "nodeId", count(*) AS pairs
      FROM (SELECT DISTINCT day, node_id, subject, device_id FROM subject_day
            WHERE category IN ${HELD} AND device_id IS NOT NULL AND node_id IN ${listed(nodeIds)}) held
      GROUP BY day, node_id`,
  });
  return new Map(rows.map(({ day, nodeId, pairs }) => [nodeDayKey(day, nodeId), Number(pairs)]));
}

export const rateKey = (subject: string, deviceId: string | null, isHeldTime: boolean): string =>
  JSON.stringify([subject, deviceId, isHeldTime]);

/**
 * Question: what does an hour of each of these devices cost their holders now? From the last day: its money by the seconds they
 * had of it.
 */
export async function hourlyRates(
  space: ReadSpace,
  subjects: ReadonlySet<string>,
  span: JudgedSpan,
): Promise<ReadonlyMap<string, bigint>> {
  if (subjects.size === 0) return new Map();
  const tables = ['subject_day', 'stint_day'].map((table) => ({ table, first: span.last, last: span.last }));
  const rows = await space.ask<{
    subject: string;
    deviceId: string | null;
    isHeld: boolean;
    usdMicros: bigint;
    seconds: bigint | null;
  }>({
    tables,
    sql: `
      WITH paid AS (
        SELECT subject, device_id, category IN ${HELD} AS is_held, CAST(sum(usd_micros) AS BIGINT) AS usd_micros,
               CAST(sum(gpu_units) AS BIGINT) AS units
        FROM subject_day WHERE category IN ('unallocated', 'unknown', 'idle', 'starved', 'lost', 'computing')
          AND subject IN ${listed(subjects)}
        GROUP BY subject, device_id, category IN ${HELD}
      ), had AS (
        SELECT subject, device_id, CAST(sum(held_s) AS BIGINT) AS held_s FROM stint_day
        WHERE subject IN ${listed(subjects)} GROUP BY subject, device_id
      )
      SELECT p.subject, p.device_id AS "deviceId", p.is_held AS "isHeld", p.usd_micros AS "usdMicros",
             CASE WHEN p.is_held AND h.held_s > 0 THEN h.held_s
                  ELSE CAST((p.units - p.units % ${SHARE_UNITS}) / ${SHARE_UNITS} AS BIGINT) END AS seconds
      FROM paid p LEFT JOIN had h ON p.subject = h.subject AND p.device_id = h.device_id
      WHERE p.usd_micros IS NOT NULL`,
  });
  return new Map(
    rows.flatMap(({ subject, deviceId, isHeld: held, usdMicros, seconds }) =>
      seconds === null || seconds <= 0n
        ? []
        : [[rateKey(subject, deviceId, held), (usdMicros * 3600n) / seconds] as const],
    ),
  );
}

export interface Owner {
  readonly team: string | null;
  readonly user: string | null;
}

/** Question: whose are these subjects, by the rules in force, on the last day on which they are known? */
export async function subjectOwners(
  space: ReadSpace,
  subjects: ReadonlySet<string>,
  span: JudgedSpan,
): Promise<ReadonlyMap<string, Owner>> {
  if (subjects.size === 0) return new Map();
  const rows = await space.ask<{ subject: string; team: string | null; user: string | null }>({
    tables: [{ table: 'ownership', first: span.first, last: span.last }],
    sql: `
      SELECT subject, team, user_name AS "user" FROM (
        SELECT o.*, row_number() OVER (PARTITION BY subject ORDER BY day DESC) AS recency FROM ownership o
        WHERE subject IN ${listed(subjects)}
      ) ranked WHERE recency = 1`,
  });
  return new Map(rows.map(({ subject, team, user }) => [subject, { team, user }]));
}
