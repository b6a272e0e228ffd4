import { CHARGED_NODE_ROW, POSTED_CHARGE, USD_UPTO } from '../ledger/charge-hour.ts';
import { addDays } from '../lake/calendar.ts';
import { quote } from '../lake/engine.ts';
import type { ChargeHourLine, ExplainedCharge, ExplainedPool, PostedRow, SplitNumbers } from '../report/explanation.ts';
import type { ReadSpace } from './workspace.ts';

/** A row of a bill in one of the hours it lies in. */
interface ChargePiece extends PostedRow {
  readonly region: string | null;
  readonly skuId: string | null;
  readonly isSpot: boolean;
  readonly reservationId: string | null;
  readonly hour: string;
  readonly isLong: boolean;
  readonly nodeBefore: bigint;
  readonly nodeWeight: bigint;
  readonly nodeTotal: bigint;
  readonly nodeSeconds: bigint;
}

/** A node of a reservation in an hour in which it is there. */
interface Reserved {
  readonly billId: string;
  readonly reservationId: string;
  readonly hour: string;
  readonly nodeId: string;
  readonly seconds: bigint;
}

export interface ExplainedCharges {
  readonly charges: readonly ExplainedCharge[];
  readonly pools: readonly ExplainedPool[];
  readonly truncated: boolean;
}

/**
 * Question: which rows of the bill are in these charge-hours, and how were they split over hours and nodes?
 *
 * The rows are posted by the ledger's own SQL; hours and pools are worked out here once more, with the numbers of every split.
 *
 * Reads: charge, fx_rate, node, device; `detailed_charge_hour`.
 */
export async function explainCharges(
  space: ReadSpace,
  chargeHours: readonly ChargeHourLine[],
  rowsMax: number,
): Promise<ExplainedCharges> {
  const ids = new Set(chargeHours.filter(({ kind }) => kind !== 'rounding').map(({ billId }) => billId));
  const { scope } = space;
  if (ids.size === 0 || scope === undefined) return { charges: [], pools: [], truncated: false };
  const bills = scope.bills.filter(({ billId }) => ids.has(billId));
  const values = bills.map(
    ({ billId, lastDay }) => `(${quote(billId)}, TIMESTAMP ${quote(`${addDays(lastDay, 1)} 00:00:00`)})`,
  );
  const tables = ['charge', 'fx_rate', 'node', 'device'].map((table) => ({ table }));
  const posted = `
    WITH bill AS (SELECT * FROM (VALUES ${values.join(', ')}) AS v(bill_id, ends_at)
    ), charge AS (SELECT * FROM charge WHERE bill_id IN (${bills.map(({ billId }) => quote(billId)).join(', ')})
    ), node_row AS (${CHARGED_NODE_ROW}
    ), ${POSTED_CHARGE}, ${HOUR_ASKED}`;
  const params = { rowsMax: rowsMax + 1 };
  const rows = await space.ask<ChargePiece>({ tables, params, sql: `${posted}, ${PIECES}` });
  const hasBlocks = rows.some(({ kind }) => kind === 'block');
  const reserved = hasBlocks ? await space.ask<Reserved>({ tables, sql: `${posted} ${RESERVED}` }) : [];
  const pieces = settled(rows.slice(0, rowsMax), reserved);
  const pools = poolsOf(pieces, reserved, chargeHours);
  return { charges: chargesOf(pieces, pools), pools, truncated: rows.length > rowsMax };
}

const later = (a: string, b: string): string => `CASE WHEN ${a} > ${b} THEN ${a} ELSE ${b} END`;
const sooner = (a: string, b: string): string => `CASE WHEN ${a} < ${b} THEN ${a} ELSE ${b} END`;

/** Seconds for which node row `n` is there between two times; none for a node that has no row. */
const there = (from: string, until: string): string => {
  const [begins, ends] = [later('n.present_from', from), sooner('n.ends_at', until)];
  return `COALESCE(CAST(sum(CASE WHEN n.node_id IS NOT NULL AND ${begins} < ${ends} THEN date_diff('second', ${begins}, ${ends}) ELSE 0 END) AS BIGINT), 0)`;
};

const HOUR_ASKED = `
  hour_asked AS (
    SELECT DISTINCT bill_id, hour_start, hour_start + INTERVAL '1' HOUR AS hour_end, kind,
           CASE WHEN kind <> 'node' THEN node_id END AS node_id,
           CASE WHEN node_id IS NULL THEN resource_id END AS resource_id
    FROM detailed_charge_hour
  )`;

/** The nodes of each reservation that are there in the hours asked for. */
const RESERVED = `
  SELECT r.bill_id AS "billId", r.capacity_reservation_id AS "reservationId", h.hour_start AS hour, r.node_id AS "nodeId",
         ${there('h.hour_start', 'h.hour_end')} AS seconds
  FROM reservation_node r JOIN (SELECT DISTINCT bill_id, hour_start, hour_end FROM hour_asked) h ON r.bill_id = h.bill_id
  JOIN node_row n ON r.node_id = n.node_id AND n.present_from < h.hour_end AND n.ends_at > h.hour_start
  GROUP BY r.bill_id, r.capacity_reservation_id, h.hour_start, r.node_id
  ORDER BY r.bill_id, r.capacity_reservation_id, h.hour_start, r.node_id`;

/** Each charge in each of the hours asked for: what lies before the hour, in it, and in all of it, by the node's presence. */
const PIECES = `
  summed AS (
    SELECT bill_id, part, ordinal, effective, currency, charge_category, charge_description,
           ${USD_UPTO} AS usd_upto
    FROM dollar
  ), piece AS (
    SELECT DISTINCT c.*, h.hour_start, h.hour_end, ${later('c.charge_from', 'h.hour_start')} AS piece_from,
           ${sooner('c.charge_until', 'h.hour_end')} AS piece_until
    FROM posted_charge c JOIN hour_asked h ON c.bill_id = h.bill_id
      AND (c.kind = h.kind OR (c.kind = 'block' AND h.kind IN ('node', 'stranded')))
      AND (h.kind = 'node' OR c.node_id = h.node_id
        OR (h.node_id IS NULL AND c.node_id IS NULL AND c.resource_id IS NOT DISTINCT FROM h.resource_id))
      AND c.charge_from < h.hour_end AND (c.charge_until > h.hour_start OR c.charge_from >= h.hour_start)
  ), presence_of AS (
    SELECT p.bill_id, p.part, p.ordinal, p.hour_start, ${there('p.charge_from', 'p.piece_from')} AS before_s,
           ${there('p.piece_from', 'p.piece_until')} AS weight_s, ${there('p.charge_from', 'p.charge_until')} AS total_s,
           ${there('p.hour_start', 'p.hour_end')} AS hour_s
    FROM piece p LEFT JOIN node_row n ON p.node_id = n.node_id
    GROUP BY p.bill_id, p.part, p.ordinal, p.hour_start
  )
  SELECT p.bill_id AS "billId", p.part, p.ordinal, p.kind, p.node_id AS "nodeId", p.resource_id AS "resourceId",
         p.region, p.sku_id AS "skuId", COALESCE(lower(p.pricing_category), '') = 'dynamic' AS "isSpot",
         CASE WHEN p.kind = 'block' THEN p.capacity_reservation_id END AS "reservationId",
         s.charge_category AS "chargeCategory", s.charge_description AS description, s.currency, s.effective,
         CAST(p.usd AS DECIMAL(38,18)) AS usd, s.usd_upto AS "usdUpto", p.usd_micros AS "usdMicros",
         p.charge_from AS "from", p.charge_until AS until, p.hour_start AS hour,
         date_trunc('hour', p.charge_from) <> date_trunc('hour', CASE WHEN p.charge_until > p.charge_from
           THEN p.charge_until - INTERVAL '1' SECOND ELSE p.charge_from END) AS "isLong",
         CASE WHEN t.total_s > 0 THEN t.before_s ELSE date_diff('second', p.charge_from, p.piece_from) END AS "nodeBefore",
         CASE WHEN t.total_s > 0 THEN t.weight_s ELSE date_diff('second', p.piece_from, p.piece_until) END AS "nodeWeight",
         CASE WHEN t.total_s > 0 THEN t.total_s ELSE date_diff('second', p.charge_from, p.charge_until) END AS "nodeTotal",
         t.hour_s AS "nodeSeconds"
  FROM piece p
  JOIN presence_of t ON p.bill_id = t.bill_id AND p.part = t.part AND p.ordinal = t.ordinal AND p.hour_start = t.hour_start
  JOIN summed s ON p.bill_id = s.bill_id AND p.part = s.part AND p.ordinal = s.ordinal
  ORDER BY p.bill_id, p.hour_start, p.kind, p.node_id, p.resource_id, p.part, p.ordinal LIMIT $rowsMax`;

/** A charge within one hour is all in it. */
function hourSplit(piece: ChargePiece): SplitNumbers {
  if (!piece.isLong) return { before: 0n, weight: 1n, total: 1n };
  return { before: piece.nodeBefore, weight: piece.nodeWeight, total: piece.nodeTotal };
}

function partOf(of: bigint, { before, weight, total }: SplitNumbers): bigint {
  return (of * (before + weight)) / total - (of * before) / total;
}

/** A block is its nodes' in the hours in which one of them is there, and stranded in the others. */
function settled(pieces: readonly ChargePiece[], reserved: readonly Reserved[]): ChargePiece[] {
  const used = new Set(reserved.map((row) => reservationKey(row, row.reservationId)));
  return pieces.map((piece) =>
    piece.kind === 'block'
      ? { ...piece, kind: used.has(reservationKey(piece, piece.reservationId)) ? 'node' : 'stranded' }
      : piece,
  );
}

function reservationKey({ billId, hour }: { billId: string; hour: string }, id: string | null): string {
  return JSON.stringify([billId, hour, id]);
}

function poolName(piece: ChargePiece): string {
  if (piece.reservationId !== null) return `reservation ${piece.reservationId}`;
  const what = piece.skuId === null ? `node ${piece.nodeId ?? ''}` : `sku ${piece.skuId}`;
  return [what, piece.region ?? '', piece.isSpot ? 'spot' : 'not spot'].join(', ');
}

/** The pools that nodes in question are in, with every node of them. */
function poolsOf(
  pieces: readonly ChargePiece[],
  reserved: readonly Reserved[],
  chargeHours: readonly ChargeHourLine[],
): ExplainedPool[] {
  const byReservation = new Map<string, Reserved[]>();
  for (const row of reserved) {
    const key = reservationKey(row, row.reservationId);
    byReservation.set(key, [...(byReservation.get(key) ?? []), row]);
  }
  const asked = new Set(chargeHours.map(({ billId, hour, nodeId }) => JSON.stringify([billId, hour, nodeId])));
  const pools = new Map<string, { first: ChargePiece; usdMicros: bigint; seconds: Map<string, bigint> }>();
  for (const piece of pieces.filter(({ kind }) => kind === 'node')) {
    const key = JSON.stringify([piece.billId, piece.hour, poolName(piece)]);
    const pool = pools.get(key) ?? { first: piece, usdMicros: 0n, seconds: new Map<string, bigint>() };
    pool.usdMicros += partOf(piece.usdMicros, hourSplit(piece));
    if (piece.reservationId !== null) {
      const nodes = byReservation.get(reservationKey(piece, piece.reservationId)) ?? [];
      for (const { nodeId, seconds } of nodes) pool.seconds.set(nodeId, seconds);
    } else if (hourSplit(piece).weight > 0n) pool.seconds.set(piece.nodeId ?? '', piece.nodeSeconds);
    pools.set(key, pool);
  }
  return [...pools.values()]
    .filter(({ first, seconds }) =>
      [...seconds.keys()].some((node) => asked.has(JSON.stringify([first.billId, first.hour, node]))),
    )
    .map(({ first, usdMicros, seconds }) => {
      const isEven = seconds.size === 1 || [...seconds.values()].every((present) => present === 0n);
      const total = isEven ? BigInt(seconds.size) : [...seconds.values()].reduce((a, b) => a + b, 0n);
      let before = 0n;
      const nodes = [...seconds].map(([nodeId, present]) => {
        const split = { before, weight: isEven ? 1n : present, total };
        before += split.weight;
        return { nodeId, ...split, usdMicros: partOf(usdMicros, split) };
      });
      return { billId: first.billId, hour: first.hour, pool: poolName(first), usdMicros, nodes };
    });
}

function chargesOf(pieces: readonly ChargePiece[], pools: readonly ExplainedPool[]): ExplainedCharge[] {
  const pooled = new Set(pools.map(({ billId, hour, pool }) => JSON.stringify([billId, hour, pool])));
  const charges = new Map<string, ExplainedCharge & { hours: ExplainedCharge['hours'][number][] }>();
  for (const piece of pieces) {
    const isNode = piece.kind === 'node';
    if (isNode && !pooled.has(JSON.stringify([piece.billId, piece.hour, poolName(piece)]))) continue;
    const key = JSON.stringify([piece.billId, piece.part, String(piece.ordinal), piece.kind]);
    const charge = charges.get(key) ?? {
      billId: piece.billId,
      part: piece.part,
      ordinal: piece.ordinal,
      kind: piece.kind,
      nodeId: piece.nodeId,
      resourceId: piece.resourceId,
      chargeCategory: piece.chargeCategory,
      description: piece.description,
      currency: piece.currency,
      effective: piece.effective,
      usd: piece.usd,
      usdUpto: piece.usdUpto,
      usdMicros: piece.usdMicros,
      from: piece.from,
      until: piece.until,
      pool: isNode ? poolName(piece) : null,
      hours: [],
    };
    const split = hourSplit(piece);
    if (split.weight > 0n) charge.hours.push({ hour: piece.hour, ...split, usdMicros: partOf(piece.usdMicros, split) });
    charges.set(key, charge);
  }
  return [...charges.values()].filter(({ hours }) => hours.length > 0);
}
