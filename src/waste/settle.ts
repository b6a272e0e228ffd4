import type { Claim, Take, WasteCategory } from '../facts/detector.ts';

/** Money of the waterfall that can be claimed: rows of `subject_day`. */
export interface Cell {
  readonly day: string;
  readonly subject: string;
  readonly deviceId: string | null;
  readonly nodeId: string | null;
  readonly category: string;
  readonly reason: string | null;
  /** Null where it has no price. */
  readonly usdMicros: bigint | null;
  readonly marginalUsdMicros: bigint | null;
  readonly gpuUnits: bigint;
}

/** A claim, with the place of its detector in the list. */
export interface PlacedClaim {
  readonly detector: string;
  readonly place: number;
  readonly category: WasteCategory;
  readonly claim: Claim;
}

/** What a claim got of one cell. */
export interface SettledPart {
  readonly cell: Cell;
  readonly permille: number;
  readonly usdMicros: bigint | null;
  readonly marginalUsdMicros: bigint | null;
  readonly gpuUnits: bigint;
}

export interface Settled<Placed extends PlacedClaim = PlacedClaim> {
  readonly placed: Placed;
  /** Null where nothing of it has a price. */
  readonly usdMicros: bigint | null;
  readonly marginalUsdMicros: bigint | null;
  readonly gpuUnits: bigint;
  readonly parts: readonly SettledPart[];
}

const WHOLE = 1000;

/** The order in which the waterfall keeps what it holds. */
const CATEGORY_ORDER: readonly WasteCategory[] = [
  'stranded',
  'unallocated',
  'unknown',
  'idle',
  'starved',
  'lost',
  'computing',
];

/**
 * Promise: no dollar is claimed twice, and none that was not paid.
 *
 * Claims are settled in the waterfall's order of categories, then in the order of the detectors, then the dearest first. Each takes
 * of a cell what is left of it, in thousandths; the thousandths of a cell add up to it exactly. What is below zero (a credit) is
 * claimed by nobody. Questions claim nothing. The answer has the claims in the order in which they were settled, whatever
 * order they came in.
 */
export function settle<Placed extends PlacedClaim>(
  claims: readonly Placed[],
  cells: readonly Cell[],
): readonly Settled<Placed>[] {
  const bySubject = new Map<string, Cell[]>();
  for (const cell of cells) {
    const others = bySubject.get(cell.subject);
    if (others === undefined) bySubject.set(cell.subject, [cell]);
    else others.push(cell);
  }
  const matched = claims.map((placed) => {
    const wanted = placed.claim.isQuestion ? [] : placed.claim.takes.flatMap((take) => wantedOf(take, bySubject));
    return { placed, wanted, usdMicros: wanted.reduce((sum, { cell, permille }) => sum + grossOf(cell, permille), 0n) };
  });
  const taken = new Map<Cell, number>();
  return matched.toSorted(compareMatched).map(({ placed, wanted }) => settleOne(placed, wanted, taken));
}

interface Wanted {
  readonly cell: Cell;
  readonly permille: number;
}

function wantedOf(take: Take, bySubject: ReadonlyMap<string, readonly Cell[]>): Wanted[] {
  const permille = take.permille ?? WHOLE;
  if (!Number.isInteger(permille) || permille < 0 || permille > WHOLE)
    throw new RangeError(`a claim on ${take.subject} takes ${permille} thousandths`);
  return (bySubject.get(take.subject) ?? [])
    .filter(
      (cell) =>
        cell.day >= take.firstDay &&
        cell.day <= take.lastDay &&
        cell.category === take.category &&
        (take.deviceId === undefined || cell.deviceId === take.deviceId) &&
        (take.reason === undefined || cell.reason === take.reason),
    )
    .map((cell) => ({ cell, permille }));
}

function settleOne<Placed extends PlacedClaim>(
  placed: Placed,
  wanted: readonly Wanted[],
  taken: Map<Cell, number>,
): Settled<Placed> {
  const parts = wanted.flatMap(({ cell, permille }): SettledPart[] => {
    const before = taken.get(cell) ?? 0;
    const after = Math.min(WHOLE, before + permille);
    if (after === before) return [];
    taken.set(cell, after);
    const slice = (amount: bigint): bigint => sliceOf(amount, before, after);
    return [
      {
        cell,
        permille: after - before,
        usdMicros: cell.usdMicros === null ? null : slice(cell.usdMicros),
        marginalUsdMicros: cell.marginalUsdMicros === null ? null : slice(cell.marginalUsdMicros),
        gpuUnits: slice(cell.gpuUnits),
      },
    ];
  });
  return {
    placed,
    usdMicros: total(parts.map(({ usdMicros }) => usdMicros)),
    marginalUsdMicros: total(parts.map(({ marginalUsdMicros }) => marginalUsdMicros)),
    gpuUnits: parts.reduce((sum, { gpuUnits }) => sum + gpuUnits, 0n),
    parts,
  };
}

/** From the one thousandth to the other of an amount; slices that follow each other add up exactly. */
function sliceOf(amount: bigint, before: number, after: number): bigint {
  if (amount <= 0n) return 0n;
  return (amount * BigInt(after)) / BigInt(WHOLE) - (amount * BigInt(before)) / BigInt(WHOLE);
}

function grossOf({ usdMicros }: Cell, permille: number): bigint {
  return sliceOf(usdMicros ?? 0n, 0, permille);
}

function total(amounts: readonly (bigint | null)[]): bigint | null {
  return amounts.reduce((sum, amount) => (amount === null ? sum : (sum ?? 0n) + amount), null);
}

function compareMatched(
  a: { placed: PlacedClaim; usdMicros: bigint },
  b: { placed: PlacedClaim; usdMicros: bigint },
): number {
  const byCategory = CATEGORY_ORDER.indexOf(a.placed.category) - CATEGORY_ORDER.indexOf(b.placed.category);
  if (byCategory !== 0) return byCategory;
  if (a.placed.place !== b.placed.place) return a.placed.place - b.placed.place;
  if (a.usdMicros !== b.usdMicros) return a.usdMicros > b.usdMicros ? -1 : 1;
  return compareText(a.placed.claim.about, b.placed.claim.about);
}

function compareText(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
