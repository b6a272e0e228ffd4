import { SHARE_UNITS } from '../facts/column.ts';
import type { BillFacts } from '../facts/manifest.ts';
import { providerKey } from '../facts/provider-name.ts';
import { parseTime } from '../lake/calendar.ts';
import { parseDecimal } from '../money/usd.ts';
import type { DayChunk } from './ledger-days.ts';
import type { ReadSpace } from './workspace.ts';

const HOUR_S = 3600;
const NANO_DIGITS = 9;
/** A nano-dollar an hour, in micro-dollars a second. */
const NANO_HOURS_PER_MICRO = 3_600_000n;

/** What stands in for a bill, by a path of its own: rates and estimates of devices that were there. */
export interface RateSums {
  readonly rate: bigint;
  readonly estimated: bigint;
}

interface PresentHours {
  readonly provider: string | null;
  readonly account: string | null;
  readonly hour: string;
  readonly pricedBy: string | null;
  readonly nanos: bigint | null;
  readonly seconds: bigint;
  readonly roots: bigint;
}

/**
 * Question: what do rates and list prices come to where no bill speaks?
 *
 * Device-hours are counted by price and seconds, not split over holders, and which of them a bill covers is decided here.
 *
 * Reads: estimate_hour, charge_hour.
 */
export async function rateSums(space: ReadSpace, chunk: DayChunk, bills: readonly BillFacts[]): Promise<RateSums> {
  const rows = await space.ask<PresentHours>({
    tables: [
      { table: 'estimate_hour', ...chunk },
      { table: 'charge_hour', ...chunk },
    ],
    sql: `
      SELECT lower(e.provider) AS provider, e.billing_account AS account, e.hour_start AS hour, e.priced_by AS "pricedBy",
             e.usd_nanos_per_hour AS nanos, e.present_s AS seconds, count(*) AS roots
      FROM estimate_hour e
      LEFT JOIN (SELECT DISTINCT node_id, hour_start FROM charge_hour WHERE kind = 'node') c
        ON e.node_id = c.node_id AND e.hour_start = c.hour_start
      WHERE c.node_id IS NULL
      GROUP BY lower(e.provider), e.billing_account, e.hour_start, e.priced_by, e.usd_nanos_per_hour, e.present_s`,
  });
  const sums = { rate: 0n, estimated: 0n };
  for (const { provider, account, hour, pricedBy, nanos, seconds, roots } of rows) {
    const own = bills.filter(
      (bill) =>
        provider !== null &&
        providerKey(bill.provider) === providerKey(provider) &&
        (account === null || bill.billingAccount === account),
    );
    const isCovered = own.some(({ coveredUntil }) => coveredUntil !== null && coveredUntil > hour);
    if (isCovered || nanos === null) continue;
    sums[pricedBy === 'rate' && own.length === 0 ? 'rate' : 'estimated'] += microsFor(nanos, seconds) * roots;
  }
  return sums;
}

/** Paid for and not there: rates of owned and committed machines in hours in which the machine is absent. */
export interface StrandedSum {
  readonly usdMicros: bigint;
  readonly units: bigint;
}

interface Span {
  readonly from: number;
  readonly until: number;
}

/** Reads: node, rate. */
export async function strandedSum(space: ReadSpace): Promise<StrandedSum> {
  const { scope } = space;
  const sum = { usdMicros: 0n, units: 0n };
  if (scope === undefined) return sum;
  const horizon = scope.horizon.getTime() / 1000;
  const ledgerFrom = parseTime(`${scope.days[0] ?? ''} 00:00:00`).getTime() / 1000;
  const present = await presentSpans(space, horizon);
  for (const rate of await nodeRates(space)) {
    const node = present.get(rate.nodeId);
    if (node === undefined || !node.isKept || node.gpus === 0n) continue;
    const first = Math.max(Math.ceil(rate.from / HOUR_S) * HOUR_S, ledgerFrom);
    for (let hour = first; hour < Math.min(rate.until, horizon); hour += HOUR_S) {
      const end = Math.min(hour + HOUR_S, horizon);
      const there = node.spans.reduce((total, span) => total + overlap(span, { from: hour, until: hour + HOUR_S }), 0);
      const absent = BigInt(Math.max(0, end - hour - there)) * node.gpus;
      sum.usdMicros += absent === 0n ? 0n : microsFor(rate.nanos, absent);
      sum.units += absent * BigInt(SHARE_UNITS);
    }
  }
  return sum;
}

interface NodePresence {
  readonly isKept: boolean;
  readonly gpus: bigint;
  readonly spans: readonly Span[];
}

async function presentSpans(space: ReadSpace, horizon: number): Promise<ReadonlyMap<string, NodePresence>> {
  const rows = await space.ask<{
    nodeId: string;
    from: string;
    until: string | null;
    purchase: string | null;
    gpus: bigint | null;
  }>({
    tables: [{ table: 'node' }],
    sql: `
      SELECT node_id AS "nodeId", present_from AS "from", present_until AS until, purchase, gpu_count AS gpus
      FROM node ORDER BY node_id, present_from`,
  });
  const nodes = new Map<string, NodePresence>();
  for (const [place, row] of rows.entries()) {
    const next = rows[place + 1];
    const ends = [horizon, row.until === null ? horizon : secondsOf(row.until)];
    if (next?.nodeId === row.nodeId) ends.push(secondsOf(next.from));
    const known = nodes.get(row.nodeId);
    nodes.set(row.nodeId, {
      isKept: (known?.isKept ?? false) || row.purchase === 'owned' || row.purchase === 'committed',
      gpus: (known?.gpus ?? 0n) > (row.gpus ?? 0n) ? (known?.gpus ?? 0n) : (row.gpus ?? 0n),
      spans: [...(known?.spans ?? []), { from: secondsOf(row.from), until: Math.min(...ends) }],
    });
  }
  return nodes;
}

async function nodeRates(space: ReadSpace): Promise<{ nodeId: string; from: number; until: number; nanos: bigint }[]> {
  const rows = await space.ask<{ nodeId: string; model: string; from: string; until: string | null; usd: string }>({
    tables: [{ table: 'rate' }],
    sql: `
      SELECT node_id AS "nodeId", model, valid_from AS "from", valid_until AS until, usd_per_gpu_hour AS usd
      FROM rate WHERE node_id <> '' ORDER BY node_id, model, valid_from`,
  });
  return rows.flatMap((row, place) => {
    const next = rows[place + 1];
    const isFollowed = next?.nodeId === row.nodeId && next.model === row.model;
    const ends = [
      Infinity,
      row.until === null ? Infinity : secondsOf(row.until),
      isFollowed ? secondsOf(next.from) : Infinity,
    ];
    const from = secondsOf(row.from);
    // A rate that has no beginning strands nothing: nobody said since when the machine is paid for.
    if (from === 0) return [];
    return [{ nodeId: row.nodeId, from, until: Math.min(...ends), nanos: parseDecimal(row.usd, NANO_DIGITS) ?? 0n }];
  });
}

/** Nano-dollars an hour for so many seconds, in micros, half up. */
function microsFor(nanosPerHour: bigint, forSeconds: bigint): bigint {
  return (nanosPerHour * forSeconds + NANO_HOURS_PER_MICRO / 2n) / NANO_HOURS_PER_MICRO;
}

function overlap(a: Span, b: Span): number {
  return Math.max(0, Math.min(a.until, b.until) - Math.max(a.from, b.from));
}

function secondsOf(time: string): number {
  return parseTime(time).getTime() / 1000;
}
