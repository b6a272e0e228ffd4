import type { Claim, Take, WasteCategory } from '../facts/detector.ts';

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

/** Columns of tables that the engine is handed: `claim`, the `claim_subject`s they speak of, and each `claim_take`. */
export interface ClaimTables {
  readonly claim: ReadonlyMap<string, Int32Array>;
  readonly subject: ReadonlyMap<string, Int32Array | readonly string[]>;
  readonly take: ReadonlyMap<string, Int32Array | readonly (string | null)[]>;
}

/**
 * The claims in the order in which they are settled, as far as that is known without money: in the waterfall's order of categories, then in
 * that of the detectors, then by what they are about. Where the dearest comes first, `settleSql` says so.
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

interface NumberedTake {
  readonly take: Take;
  readonly claimNo: number;
  readonly subjectNo: number;
  readonly categoryNo: number;
  readonly firstDay: number;
  readonly lastDay: number;
}

/** Claims in order as tables; a claim's number is its place in the list. Questions claim nothing. */
export function claimTables(claims: readonly PlacedClaim[]): ClaimTables {
  const numbers = new Map<string, number>();
  const takes = claims.flatMap(({ claim }, claimNo) =>
    claim.isQuestion ? [] : claim.takes.map((take) => numbered(take, claimNo, numbers)),
  );
  const shared = sharedTakes(takes, numbers.size);
  const turns = claims.map((each, index) => Number(index > 0 && compareTurns(claims[index - 1] ?? each, each) !== 0));
  let turn = 0;
  return {
    claim: new Map([
      ['claim_no', Int32Array.from(claims.keys())],
      ['turn', Int32Array.from(turns, (isNext) => (turn += isNext))],
      ['is_live', Int32Array.from(claims, ({ claim }) => Number(claim.liveSince !== undefined))],
    ]),
    subject: new Map<string, Int32Array | readonly string[]>([
      ['subject_no', Int32Array.from(numbers.values())],
      ['subject', [...numbers.keys()]],
    ]),
    take: new Map<string, Int32Array | readonly (string | null)[]>([
      ['claim_no', Int32Array.from(takes, ({ claimNo }) => claimNo)],
      ['take_no', Int32Array.from(takes.keys())],
      ['subject_no', Int32Array.from(takes, ({ subjectNo }) => subjectNo)],
      ['first_day', Int32Array.from(takes, ({ firstDay }) => firstDay)],
      ['last_day', Int32Array.from(takes, ({ lastDay }) => lastDay)],
      ['category_no', Int32Array.from(takes, ({ categoryNo }) => categoryNo)],
      ['device_id', takes.map(({ take }) => take.deviceId ?? null)],
      ['reason', takes.map(({ take }) => take.reason ?? null)],
      ['permille', Int32Array.from(takes, ({ take }) => permilleOf(take))],
      ['is_shared', Int32Array.from(takes, (each) => Number(shared.has(each)))],
    ]),
  };
}

function numbered(take: Take, claimNo: number, numbers: Map<string, number>): NumberedTake {
  const subjectNo = numbers.get(take.subject) ?? numbers.size;
  if (subjectNo === numbers.size) numbers.set(take.subject, subjectNo);
  const categoryNo = CATEGORY_ORDER.indexOf(take.category);
  return { take, claimNo, subjectNo, categoryNo, firstDay: dayNumber(take.firstDay), lastDay: dayNumber(take.lastDay) };
}

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
 * Takes that may meet another on a row. Most do not: the subjects detectors name are mostly their own, and what nobody else wants need
 * not be divided. Takes may be called shared though no row is; never the other way round.
 */
function sharedTakes(takes: readonly NumberedTake[], subjects: number): ReadonlySet<NumberedTake> {
  const placeOf = ({ subjectNo, categoryNo }: NumberedTake): number => subjectNo * CATEGORY_ORDER.length + categoryNo;
  const counts = new Uint32Array(subjects * CATEGORY_ORDER.length);
  for (const each of takes) counts[placeOf(each)] = (counts[placeOf(each)] ?? 0) + 1;
  const several = takes.filter((each) => (counts[placeOf(each)] ?? 0) > 1);
  return new Set([...grouped(several, placeOf).values()].flatMap(meeting));
}

function meeting(group: readonly NumberedTake[]): NumberedTake[] {
  const isByDevice = group.every(({ take }) => take.deviceId !== undefined);
  const byDevice = grouped(group, ({ take }) => (isByDevice ? (take.deviceId ?? '') : ''));
  return [...byDevice.values()].flatMap((same) => {
    const ordered = same.toSorted((a, b) => a.firstDay - b.firstDay);
    const met = new Set<NumberedTake>();
    let longest = ordered[0];
    for (const each of ordered.slice(1)) {
      if (longest !== undefined && each.firstDay <= longest.lastDay) met.add(longest).add(each);
      if (longest === undefined || each.lastDay > longest.lastDay) longest = each;
    }
    return [...met];
  });
}

function grouped<Each, Key>(all: readonly Each[], keyOf: (each: Each) => Key): ReadonlyMap<Key, readonly Each[]> {
  const groups = new Map<Key, Each[]>();
  for (const each of all) {
    const key = keyOf(each);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [each]);
    else group.push(each);
  }
  return groups;
}
