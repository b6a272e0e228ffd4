import { csvLine, timeText } from '../csv.ts';
import type { Node, OrganisationDay } from '../organisation.ts';
import { pausedSeconds, type Seconds } from '../timeline.ts';
import type { Reason } from '../world/world-schema.ts';
import { addTruth, type Page, type PeriodCost, whereText } from './page.ts';
import { type Piece, piecesOf } from './pieces.ts';
import { nanosPerGpuHour, ownedMicros } from './rates.ts';
import { cut } from './whole-number.ts';

export const TRUTH_HEADER = csvLine([
  'from',
  'until',
  'source',
  'allocation_id',
  'attempt',
  'node_id',
  'device_id',
  'share_units',
  'reason',
  'category',
  'seconds',
  'usd',
]);

const HOUR_S = 3600;
const NO_COST: PeriodCost = { periodS: HOUR_S, usdMicros: [] };

/**
 * Why each second of a machine's GPUs was spent on this day and what it cost: rows that add up to what was paid for
 * the machine, to the micro. Every amount is split without a rest, first over GPUs, then over the pieces of a GPU, then
 * over the reasons of a piece.
 */
export function addNodeTruth(page: Page, day: OrganisationDay, node: Node): void {
  const gpus = node.devices.filter(({ parent }) => parent === undefined);
  const isOwned = node.pool.provider === undefined;
  const { periodS, usdMicros } = isOwned ? ownedCost(day, node) : (page.costs.get(node) ?? NO_COST);
  for (const [place, gpu] of gpus.entries()) {
    const slices = gpu.isCut ? node.devices.filter(({ parent }) => parent === gpu) : [];
    const pieces = piecesOf(day, gpu, slices);
    let start = 0;
    for (const [index, ofPeriod = 0] of usdMicros.entries()) {
      const from = day.from + index * periodS;
      while (start < pieces.length && pieces[start]!.until <= from) start += 1;
      const micros = isOwned ? ofPeriod : partOf(ofPeriod, place, gpus.length);
      if (isOwned) page.totals.rateUsdMicros += micros;
      if (micros !== 0) spread(pieces, start, from, from + periodS, micros);
    }
    for (const piece of pieces) addPiece(page, piece);
  }
}

function partOf(micros: number, place: number, of: number): number {
  return cut(micros, place + 1, of) - cut(micros, place, of);
}

/** What each GPU of an owned machine cost in each hour, as the ledger prices it by the stated rate. */
function ownedCost(day: OrganisationDay, { pool, presentFrom, presentUntil }: Node): PeriodCost {
  const usdMicros: number[] = [];
  for (let from = day.from; from < day.until; from += HOUR_S) {
    const seconds = Math.min(from + HOUR_S, presentUntil) - Math.max(from, presentFrom);
    usdMicros.push(seconds <= 0 ? 0 : ownedMicros(nanosPerGpuHour(pool), seconds));
  }
  return { periodS: HOUR_S, usdMicros };
}

/** Splits what a GPU cost in a period over its pieces there, by time and share. */
function spread(pieces: readonly Piece[], start: number, from: Seconds, until: Seconds, micros: number): void {
  let whole = 0;
  for (let index = start; index < pieces.length && pieces[index]!.from < until; index += 1) {
    whole += weightOf(pieces[index]!, from, until);
  }
  if (whole === 0) throw new RangeError('a GPU costs money while it is not there');
  let [before, spent] = [0, 0];
  for (let index = start; index < pieces.length && pieces[index]!.from < until; index += 1) {
    const piece = pieces[index]!;
    const weight = weightOf(piece, from, until);
    if (weight === 0) continue;
    before += weight;
    const upTo = cut(micros, before, whole);
    addMicros(piece, Math.max(from, piece.from), Math.min(until, piece.until), upTo - spent);
    spent = upTo;
  }
}

function weightOf({ from: start, until: end, shareUnits }: Piece, from: Seconds, until: Seconds): number {
  return Math.max(0, Math.min(until, end) - Math.max(from, start)) * shareUnits;
}

/** Splits what a piece cost in [from, until) over its reasons, by time. */
function addMicros({ span, usdMicros }: Piece, from: Seconds, until: Seconds, micros: number): void {
  if (span.pause === undefined && span.parts.length === 1) {
    usdMicros[0] = (usdMicros[0] ?? 0) + micros;
    return;
  }
  const paused = pausedSeconds(span, from, until);
  const whole = (until - from) * 1000;
  let [slot, before, spent] = [0, 0, 0];
  const add = (weight: number): void => {
    before += weight;
    const upTo = cut(micros, before, whole);
    usdMicros[slot] = (usdMicros[slot] ?? 0) + upTo - spent;
    spent = upTo;
    slot += 1;
  };
  if (span.pause !== undefined) add(paused * 1000);
  for (const { permille } of span.parts) add((until - from - paused) * permille);
}

/** A line for each reason of a piece; one that comes up twice, as a pause and as a part, has one line. */
function addPiece(page: Page, piece: Piece): void {
  const { device, span, shareUnits, from, until, usdMicros } = piece;
  const paused = pausedSeconds(span, from, until);
  const reasons: Reason[] = [];
  const [millis, micros]: [number[], number[]] = [[], []];
  const add = (reason: Reason, reasonMillis: number, slot: number): void => {
    const found = reasons.indexOf(reason);
    const place = found === -1 ? reasons.push(reason) - 1 : found;
    millis[place] = (millis[place] ?? 0) + reasonMillis;
    micros[place] = (micros[place] ?? 0) + (usdMicros[slot] ?? 0);
  };
  const first = span.pause === undefined ? 0 : 1;
  if (span.pause !== undefined) add(span.pause.reason, paused * 1000, 0);
  for (const [index, { reason, permille }] of span.parts.entries()) {
    add(reason, (until - from - paused) * permille, first + index);
  }
  const times = [timeText(from), timeText(until)];
  const where = whereText([...times, ...holderCells(piece), device.node.id, device.id, shareUnits]);
  for (const [place, reason] of reasons.entries()) {
    if (millis[place] === 0) continue;
    addTruth(page, where, reason, secondsText(millis[place] ?? 0), micros[place] ?? 0);
  }
}

/** Who held it, as the scheduler names them; of machines nobody keeps a list of, nobody can. */
function holderCells({ attempt }: Piece): readonly (string | number | undefined)[] {
  if (attempt === undefined || attempt.job.pool.scheduler === 'none') return [undefined, undefined, undefined];
  return [attempt.job.pool.scheduler, attempt.job.id, attempt.number];
}

/** `1800.250` */
function secondsText(millis: number): string {
  return `${Math.floor(millis / 1000)}.${String(millis % 1000).padStart(3, '0')}`;
}
