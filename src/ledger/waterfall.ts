import type { Stage } from '../facts/stage.ts';
import { splitMoney } from './held.ts';
import { ENTRY_DIMENSIONS } from './ledger-entry.ts';

/** The places a dollar can be in, in the order in which each keeps what it holds. */
export const CATEGORIES = ['stranded', 'unallocated', 'unknown', 'idle', 'computing', 'beside'] as const;
export type Category = (typeof CATEGORIES)[number];

const DIMENSIONS = [...ENTRY_DIMENSIONS.map(([column]) => column), 'subject'].join(', ');

/** Both prices are divided the same way, each by itself. */
const PRICES = ['usd_micros', 'marginal_usd_micros'] as const;
type Price = (typeof PRICES)[number];

/** What of an entry falls to the first `units` of its unit-seconds. */
const upTo = (price: Price, units: string): string => splitMoney(price, units, units, 'split_weight');

/** Unit-seconds of an entry of which nothing is known; and those together with the idle ones. */
const UNKNOWN = '(split_weight - split_computing - split_idle)';
const UNKNOWN_OR_IDLE = '(split_weight - split_computing)';

const activityPart = (category: Category, units: string, micros: (price: Price) => string, counted: string): string => `
  SELECT ${DIMENSIONS}, '${category}' AS category, ${PRICES.map((price) => `${micros(price)} AS ${price}`).join(', ')},
         ${counted} AS gpu_units
  FROM ledger_entry WHERE disposition = 'held' AND ${units} > 0`;

/**
 * Question: where did each entry's dollars go?
 *
 * Held time is divided by what the device did in it: unknown first, so that what we cannot know is never the remainder
 * of a rounding. One dollar, one place: the rows of an entry add up to it.
 *
 * Reads: ledger_entry.
 */
export const waterfall: Stage = {
  name: 'waterfall',
  version: 2,
  unit: 'day',
  reads: [{ table: 'ledger_entry', days: [0] }],
  params: [],
  writes: [
    ...ENTRY_DIMENSIONS,
    ['subject', 'VARCHAR'],
    ['category', 'VARCHAR'],
    ['usd_micros', 'BIGINT'],
    ['marginal_usd_micros', 'BIGINT'],
    ['gpu_units', 'BIGINT'],
  ],
  orderBy: 'subject, hour_start, device_id, bill_id, component, category',
  sql: `
    WITH divided AS (
      ${activityPart('unknown', UNKNOWN, (price) => upTo(price, UNKNOWN), 'unknown_units')}
      UNION ALL
      ${activityPart('idle', 'split_idle', (price) => `${upTo(price, UNKNOWN_OR_IDLE)} - ${upTo(price, UNKNOWN)}`, 'idle_units')}
      UNION ALL
      ${activityPart('computing', 'split_computing', (price) => `${price} - ${upTo(price, UNKNOWN_OR_IDLE)}`, 'computing_units')}
      UNION ALL
      SELECT ${DIMENSIONS},
             CASE disposition WHEN 'stranded' THEN 'stranded' WHEN 'unallocated' THEN 'unallocated'
               WHEN 'unmatched' THEN 'unknown' ELSE 'beside' END,
             usd_micros, marginal_usd_micros, gpu_units
      FROM ledger_entry WHERE disposition <> 'held'
    )
    SELECT ${DIMENSIONS}, category, usd_micros, marginal_usd_micros, gpu_units FROM divided
    WHERE gpu_units <> 0 OR usd_micros <> 0 OR marginal_usd_micros <> 0`,
};
