import type { Stage } from '../facts/stage.ts';
import { splitMoney } from './held.ts';
import { ENTRY_DIMENSIONS } from './ledger-entry.ts';
import { withLostPart } from './lost-part.ts';

/** The places a dollar can be in, in the order in which each keeps what it holds. */
export const CATEGORIES = [
  'stranded',
  'unallocated',
  'unknown',
  'idle',
  'starved',
  'lost',
  'computing',
  'beside',
] as const;
export type Category = (typeof CATEGORIES)[number];

/** The categories of time that somebody held, whatever it was used for, as a list for SQL. */
export const HELD_CATEGORIES = "'unknown', 'idle', 'starved', 'lost', 'computing'";

/** Both prices are divided the same way, each by itself. */
const PRICES = ['usd_micros', 'marginal_usd_micros'] as const;
type Price = (typeof PRICES)[number];

/** What of an entry falls to the first `units` of its unit-seconds. */
const upTo = (price: Price, units: string): string => splitMoney(price, units, units, 'split_weight');

/** The parts of a held entry, in the order in which they are split off; the rest is `computing`. */
const PARTS = [
  {
    name: 'unknown',
    category: 'unknown',
    reason: 'CAST(NULL AS VARCHAR)',
    units: 'split_weight - split_computing - split_idle',
  },
  { name: 'still', category: 'idle', reason: 'idle_reason', units: 'split_idle - split_pause' },
  {
    name: 'unasked',
    category: 'idle',
    reason: "'between-requests'",
    units: "CASE WHEN manner = 'serving' THEN split_gap ELSE 0 END",
  },
  { name: 'paused', category: 'starved', reason: "'pause'", units: 'split_pause' },
  {
    name: 'gapped',
    category: 'starved',
    reason: "'gap'",
    units: "CASE WHEN manner = 'serving' THEN 0 ELSE split_gap END",
  },
  { name: 'exchanged', category: 'starved', reason: "'exchange'", units: 'split_exchange' },
] as const satisfies readonly { name: string; category: Category; reason: string; units: string }[];

const DIMENSIONS = [
  ...ENTRY_DIMENSIONS.map(([column]) => column).filter((column) => column !== 'reason'),
  'subject',
].join(', ');

/** One part of the entries that have it: from where the parts before it end to where they end with it. */
const part = (
  category: Category,
  reason: string,
  units: string,
  before: string | null,
  upto: string | null,
): string => `
  SELECT ${DIMENSIONS}, '${category}' AS category, ${reason} AS reason,
         ${PRICES.map((price) => `${upto === null ? price : upTo(price, upto)}${before === null ? '' : ` - ${upTo(price, before)}`} AS ${price}`).join(', ')},
         CASE WHEN gpu_units = 0 THEN 0 ELSE ${units} END AS gpu_units
  FROM held_entry WHERE ${units} > 0`;

/**
 * Question: where did each entry's dollars go?
 *
 * Held time is divided by what the device did in it: unknown first, so that what we cannot know is never the remainder
 * of a rounding. One dollar, one place: the rows of an entry add up to it.
 *
 * Reads: ledger_entry, fate.
 */
export const waterfall: Stage = {
  name: 'waterfall',
  version: 4,
  unit: 'day',
  reads: [
    { table: 'ledger_entry', days: [0] },
    { table: 'fate', days: [0] },
  ],
  params: [],
  writes: [
    ...ENTRY_DIMENSIONS,
    ['subject', 'VARCHAR'],
    ['category', 'VARCHAR'],
    ['usd_micros', 'BIGINT'],
    ['marginal_usd_micros', 'BIGINT'],
    ['gpu_units', 'BIGINT'],
  ],
  orderBy: 'subject, hour_start, device_id, bill_id, component, category, reason',
  sql: `
    WITH weighed AS (
      SELECT ${DIMENSIONS}, idle_reason, computing_reason, usd_micros, marginal_usd_micros, gpu_units, split_weight,
             ${PARTS.map(({ name, units }) => `${units} AS ${name}`).join(', ')}
      FROM ledger_entry WHERE disposition = 'held'
    ), held_entry AS (
      SELECT weighed.*, ${PARTS.map(
        ({ name }, index) =>
          `${PARTS.slice(0, index + 1)
            .map((each) => each.name)
            .join(' + ')} AS upto_${name}`,
      ).join(', ')},
             split_weight - (${PARTS.map(({ name }) => name).join(' + ')}) AS computed
      FROM weighed
    ), divided AS (
      ${PARTS.map(({ name, category, reason }, index) => {
        const before = PARTS[index - 1];
        return part(category, reason, name, before === undefined ? null : `upto_${before.name}`, `upto_${name}`);
      }).join(' UNION ALL ')}
      UNION ALL
      ${part('computing', 'computing_reason', 'computed', `upto_${PARTS.at(-1)?.name}`, null)}
      UNION ALL
      SELECT ${DIMENSIONS},
             CASE disposition WHEN 'stranded' THEN 'stranded' WHEN 'unallocated' THEN 'unallocated'
               WHEN 'unmatched' THEN 'unknown' ELSE 'beside' END,
             reason, usd_micros, marginal_usd_micros, gpu_units
      FROM ledger_entry WHERE disposition <> 'held'
    ${withLostPart(DIMENSIONS)}`,
};
