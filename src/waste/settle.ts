import type { Claim, Take, WasteCategory } from '../facts/detector.ts';
import { grouped } from './grouped.ts';

/** A claim, with the place of its detector in the list. */
export interface PlacedClaim {
  readonly detector: string;
  readonly place: number;
  readonly category: WasteCategory;
  readonly claim: Claim;
}

/** All of a row, in the parts in which claims take it. */
export const WHOLE_PERMILLE = 1000;

/** The order in which the waterfall keeps what it holds; a category's number is its place here. */
export const CATEGORY_ORDER: readonly WasteCategory[] = [
  'stranded',
  'unallocated',
  'unknown',
  'idle',
  'starved',
  'lost',
  'computing',
];

/** Columns of tables that the engine is handed: `claim`, the `claim_subject`s they speak of, each `claim_take`, and the `claim_name`s of devices and reasons in them. */
export interface ClaimTables {
  readonly claim: ReadonlyMap<string, Int32Array>;
  readonly subject: ReadonlyMap<string, Int32Array | readonly string[]>;
  readonly name: ReadonlyMap<string, Int32Array | readonly string[]>;
  readonly take: ReadonlyMap<string, Int32Array>;
}

/**
 * The claims in the order in which they are settled, as far as that is known without money: in the waterfall's order of categories, then in
 * that of the detectors, then by what they are about. Where the dearest comes first, `SHARED_PARTS` says so.
 */
export function inOrder<Placed extends PlacedClaim>(claims: readonly Placed[]): readonly Placed[] {
  return claims.toSorted((a, b) => compareTurns(a, b) || compareText(a.claim.about, b.claim.about));
}

function compareTurns(a: PlacedClaim, b: PlacedClaim): number {
  return CATEGORY_ORDER.indexOf(a.category) - CATEGORY_ORDER.indexOf(b.category) || a.place - b.place;
}

function compareText(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

/** Claims in order as tables; a claim's number is its place in the list. Questions claim nothing. Takes are hundreds of thousands: each is a place in the columns. */
export function claimTables(claims: readonly PlacedClaim[]): ClaimTables {
  const [subjects, names] = [numbering(), numbering()];
  const takes = takeColumns(claims.reduce((sum, { claim }) => sum + (claim.isQuestion ? 0 : claim.takes.length), 0));
  let at = 0;
  for (const [number, { claim }] of claims.entries()) {
    if (claim.isQuestion) continue;
    for (const take of claim.takes) {
      takes.claimNo[at] = number;
      takes.subjectNo[at] = subjects.numberOf(take.subject);
      takes.firstDay[at] = dayNumber(take.firstDay);
      takes.lastDay[at] = dayNumber(take.lastDay);
      takes.categoryNo[at] = CATEGORY_ORDER.indexOf(take.category);
      takes.permille[at] = permilleOf(take);
      takes.deviceNo[at] = take.deviceId === undefined ? NO_NAME : names.numberOf(take.deviceId);
      takes.reasonNo[at] = take.reason === undefined ? NO_NAME : names.numberOf(take.reason);
      at += 1;
    }
  }
  const turns = claims.map((each, index) => Number(index > 0 && compareTurns(claims[index - 1] ?? each, each) !== 0));
  let turn = 0;
  return {
    claim: new Map([
      ['claim_no', Int32Array.from(claims.keys())],
      ['turn', Int32Array.from(turns, (isNext) => (turn += isNext))],
      ['is_live', Int32Array.from(claims, ({ claim }) => Number(claim.liveSince !== undefined))],
    ]),
    subject: subjects.columns('subject_no', 'subject'),
    name: names.columns('name_no', 'name'),
    take: new Map([
      ['claim_no', takes.claimNo],
      ['take_no', Int32Array.from(takes.claimNo.keys())],
      ['subject_no', takes.subjectNo],
      ['first_day', takes.firstDay],
      ['last_day', takes.lastDay],
      ['category_no', takes.categoryNo],
      ['device_no', takes.deviceNo],
      ['reason_no', takes.reasonNo],
      ['permille', takes.permille],
      ['is_shared', sharedTakes(takes, subjects.size())],
    ]),
  };
}

/** The number of a device or a reason where a take speaks of none: of all. */
const NO_NAME = -1;

/** Numbers for texts, in the order in which they come. */
function numbering() {
  const numbers = new Map<string, number>();
  return {
    size: () => numbers.size,
    numberOf(text: string): number {
      const known = numbers.get(text);
      if (known !== undefined) return known;
      numbers.set(text, numbers.size);
      return numbers.size - 1;
    },
    columns: (number: string, text: string) =>
      new Map<string, Int32Array | readonly string[]>([
        [number, Int32Array.from(numbers.values())],
        [text, [...numbers.keys()]],
      ]),
  };
}

function takeColumns(takes: number) {
  const column = (): Int32Array => new Int32Array(takes);
  return {
    claimNo: column(),
    subjectNo: column(),
    firstDay: column(),
    lastDay: column(),
    categoryNo: column(),
    permille: column(),
    deviceNo: column(),
    reasonNo: column(),
  };
}
type TakeColumns = Readonly<ReturnType<typeof takeColumns>>;

const DAY_MS = 86_400_000;
const dayNumbers = new Map<string, number>();

/** Days since 1970: whole numbers are handed over faster than texts. Takes are many, and their days few. */
function dayNumber(day: string): number {
  const known = dayNumbers.get(day);
  if (known !== undefined) return known;
  const number = Date.parse(`${day}T00:00:00Z`) / DAY_MS;
  dayNumbers.set(day, number);
  return number;
}

function permilleOf({ subject, permille = WHOLE_PERMILLE }: Take): number {
  if (Number.isInteger(permille) && permille >= 0 && permille <= WHOLE_PERMILLE) return permille;
  throw new RangeError(`a claim on ${subject} takes ${permille} thousandths`);
}

/**
 * Takes that may meet another on a row, as ones among zeros. Most do not: the subjects detectors name are mostly their own, and what nobody else wants need
 * not be divided. Takes may be called shared though no row is; never the other way round.
 */
function sharedTakes(takes: TakeColumns, subjects: number): Int32Array {
  const { subjectNo, categoryNo } = takes;
  const placeOf = (take: number): number => (subjectNo[take] ?? 0) * CATEGORY_ORDER.length + (categoryNo[take] ?? 0);
  const counts = new Uint32Array(subjects * CATEGORY_ORDER.length);
  for (let take = 0; take < subjectNo.length; take += 1) counts[placeOf(take)] = (counts[placeOf(take)] ?? 0) + 1;
  const several = [...subjectNo.keys()].filter((take) => (counts[placeOf(take)] ?? 0) > 1);
  const shared = new Int32Array(subjectNo.length);
  for (const group of grouped(several, placeOf).values()) for (const take of meeting(group, takes)) shared[take] = 1;
  return shared;
}

function meeting(group: readonly number[], { firstDay, lastDay, deviceNo }: TakeColumns): ReadonlySet<number> {
  const isByDevice = group.every((take) => deviceNo[take] !== NO_NAME);
  const byDevice = grouped(group, (take) => (isByDevice ? deviceNo[take] : NO_NAME));
  const met = new Set<number>();
  for (const same of byDevice.values()) {
    const ordered = same.toSorted((a, b) => (firstDay[a] ?? 0) - (firstDay[b] ?? 0));
    let longest = ordered[0];
    for (const take of ordered.slice(1)) {
      if (longest !== undefined && (firstDay[take] ?? 0) <= (lastDay[longest] ?? 0)) met.add(longest).add(take);
      if (longest === undefined || (lastDay[take] ?? 0) > (lastDay[longest] ?? 0)) longest = take;
    }
  }
  return met;
}
