import type { Claim, Detector, WasteCategory } from '../../facts/detector.ts';
import type { FindingRecord } from '../../facts/finding-record.ts';
import type { Finding } from '../../facts/finding.ts';
import { SHARE_UNITS } from '../../facts/column.ts';
import { WASTE_CATEGORIES } from '../../report/category-words.ts';
import type { FindingsAnswer } from '../../report/finding-answer.ts';
import { dayOf } from '../../lake/calendar.ts';
import { sumOf } from '../../report/finding-answer.ts';
import { DETECTORS } from '../../waste/detectors.ts';
import { filterOn, parseDimensions } from '../filter.ts';
import { spend } from '../spend.ts';
import { wholeDays } from '../window.ts';
import type { LedgerWindow } from '../window.ts';
import type { ReadSpace } from '../workspace.ts';
import { askDetectors, judgedSpan, keepShared } from './ask-detectors.ts';
import type { DetectorClaim, JudgedSpan } from './ask-detectors.ts';
import { compareFindings } from './compare-findings.ts';
import { claimHands, subjectOwners } from './finding-owners.ts';
import type { Hands, Owner } from './finding-owners.ts';
import { isFullLook, keepNumbers } from './keep-numbers.ts';
import { keptLook, programOf } from './kept-look.ts';
import { moneyOf } from './price-finding.ts';
import { settleClaims } from './settle-claims.ts';
import type { Settled } from './settle-claims.ts';
import { isPart, teamShare } from './team-share.ts';
import type { ClaimedFinding } from './team-share.ts';

export interface FindingsRequest {
  readonly window: LedgerWindow;
  readonly now: Date;
  /** `asked` where not said: then numbers are read and none are written. */
  readonly nowBy?: FindingsAnswer['asOfBy'];
  /** Only what is this team's. All claims are settled all the same, so that a filter moves no money. */
  readonly team?: string;
  /** What is looked for; everything where left out. */
  readonly detectors?: readonly Detector[];
  /** False: numbers are read and none are written. */
  readonly keepsNumbers?: boolean;
  /** Less than this in the window, in money and in GPU time, is not worth anybody's minute. */
  readonly floorUsdMicros?: bigint;
  readonly floorUnits?: bigint;
}

const USD = 1_000_000n;
const DEFAULT_FLOOR_USD_MICROS = USD;
const DEFAULT_FLOOR_UNITS = BigInt(SHARE_UNITS) * 3600n;
/** A fleet of so few GPUs has one person for everything: five things for today. */
const SMALL_FLEET_GPUS = 16;
const SMALL_FLEET_SHOWN = 5;
const SHOWN = 10;
/** R4: below one engineer's cost a year, price and commitments are not worth the meetings. Assumed, with overhead. */
const ENGINEER_USD_MICROS_A_YEAR = 200_000n * USD;
const DAYS_A_YEAR = 365n;

const CATEGORIES: readonly WasteCategory[] = [
  'stranded',
  'unallocated',
  'unknown',
  'idle',
  'starved',
  'lost',
  'computing',
];

/**
 * Question: what is there to do, in which order, and what is it worth?
 *
 * Every detector is asked, all claims are settled together, and what is left of each is told with its owner and kind of money. A look
 * at everything up to now also keeps numbers: what is new gets one, what is gone is fixed.
 */
export async function findFindings(space: ReadSpace, asked: FindingsRequest): Promise<FindingsAnswer> {
  const request = overWholeDays(space, asked);
  if (request.window.days.length === 0) return answerOf(request, await measureOf(space, request), [], 'read');
  const span = judgedSpan(request.window, request.now);
  let claimed: Promise<readonly ClaimedFinding[]> | undefined;
  const settle = async () => (claimed ??= claimedFindings(space, request, span));
  const work = async () => (await settle()).map(({ finding }) => finding);
  const program = request.detectors === undefined ? programOf(import.meta.url) : undefined;
  return tell(space, request, await keptLook(space, { ...space, span, program }, work), settle);
}

/** The same worked out anew, with what each finding claims: by it `partsOf` gives the rows. */
export async function lookForFindings(
  space: ReadSpace,
  asked: FindingsRequest,
): Promise<{ readonly answer: FindingsAnswer; readonly settled: readonly ClaimedFinding[] }> {
  const request = overWholeDays(space, asked);
  const isNothing = request.window.days.length === 0;
  const found = isNothing ? [] : await claimedFindings(space, request, judgedSpan(request.window, request.now));
  const told = found.map(({ finding }) => finding);
  const answer = isNothing
    ? answerOf(request, await measureOf(space, request), [], 'read')
    : await tell(space, request, told, async () => found);
  const settledOf = new Map(found.map(({ finding, settled }) => [finding.key, settled]));
  const settled = [...answer.findings, ...answer.hiddenPrice, ...answer.setAside].flatMap((finding) => {
    const claim = settledOf.get(finding.key);
    return claim === undefined ? [] : [{ finding, settled: claim }];
  });
  return { answer, settled };
}

/**
 * Claims are settled by days: a finding of an hour would have the money of its day, and more than was paid in the hour. A moment of a day that
 * went on is answered as of the midnight before it.
 */
export function overWholeDays(space: ReadSpace, asked: FindingsRequest): FindingsRequest {
  const window = wholeDays(asked.window, asked.now, space.scope?.horizon ?? asked.now);
  const isShorter = window.days.length < asked.window.days.length && window.days.length > 0;
  return { ...asked, window, ...(isShorter && { now: window.until }) };
}

/** What was found, with its numbers and states as they are now, beside what was paid. */
async function tell(
  space: ReadSpace,
  request: FindingsRequest,
  found: readonly Finding[],
  settle: () => Promise<readonly ClaimedFinding[]>,
): Promise<FindingsAnswer> {
  const { now, nowBy = 'asked', team, window } = request;
  const span = judgedSpan(window, now);
  const measure = await measureOf(space, request);
  const isFull =
    request.keepsNumbers !== false &&
    request.detectors === undefined &&
    measure.gpus > 0 &&
    isFullLook(space, window, { at: now, by: nowBy });
  const looked = found.map((finding) => ({
    key: finding.key,
    what: finding.what,
    subjects: finding.subjects,
    isTold: isWorthTelling(finding, request),
  }));
  const { records, numbers } = isFull
    ? await keepNumbers(space, looked, { span, isForOneTeam: team !== undefined })
    : { records: space.findings.records(), numbers: 'read' as const };
  const byKey = new Map(records.map((record) => [record.key, record]));
  const seen = team === undefined ? found : await teamShare(space, { team, span }, found, settle);
  const told = seen
    .filter((finding) => isWorthTelling(finding, request))
    .map((finding) => withLife(finding, byKey.get(finding.key), span));
  return answerOf(request, measure, told, numbers);
}

/** Everything that is claimed, ranked, before anything is known of its life. */
async function claimedFindings(
  space: ReadSpace,
  request: FindingsRequest,
  span: JudgedSpan,
): Promise<readonly ClaimedFinding[]> {
  const detectors = request.detectors ?? DETECTORS;
  await keepShared(space, detectors, span);
  const claims = await askDetectors(space, detectors, span);
  await space.forgetParts();
  const settled = await settleClaims(space, claims, span);
  const ownerSubjects = claims.flatMap(({ claim }) => claim.ownerSubject ?? []);
  const owners = await subjectOwners(space, new Set(ownerSubjects), span);
  const several = settled.filter(({ placed }) => isOfSeveral(placed.claim)).map(({ claimNo }) => claimNo);
  const hands = await claimHands(space, several, span);
  return settled
    .map((each) => {
      const { ownerSubject } = each.placed.claim;
      const owned = inHands({ ownerSubject, ...owners.get(ownerSubject ?? '') }, hands.get(each.claimNo));
      return { settled: each, finding: findingOf(each, owned, moneyOf(each), span) };
    })
    .toSorted((a, b) => compareFindings(a.finding, b.finding));
}

const isOfSeveral = ({ ownerSubject, takes }: Claim): boolean =>
  ownerSubject !== null && takes.some(({ subject }) => subject !== takes[0]?.subject);

type Owned = Partial<Owner> & Pick<Finding, 'ownerSubject' | 'isOfSeveralTeams'>;

/** Nobody is told of others' money as of his own: what is in several hands is their team's, what is in several teams' the platform's. */
function inHands(owned: Owned, hands: Hands | undefined): Owned {
  if (hands === undefined) return owned;
  return hands.isOneTeam
    ? { ...owned, user: hands.isOnePerson ? (owned.user ?? null) : null }
    : { ownerSubject: null, isOfSeveralTeams: true };
}

function findingOf(
  { placed }: Settled<DetectorClaim>,
  owned: Owned,
  money: ReturnType<typeof moneyOf>,
  span: JudgedSpan,
): Finding {
  const { claim, by } = placed;
  return {
    number: null,
    key: `${by.name}: ${claim.about}`,
    detector: by.name,
    category: by.category,
    factor: by.factor,
    state: 'open',
    exemptUntil: null,
    stateReason: null,
    firstSeenAt: span.until,
    team: owned.team ?? null,
    user: owned.user ?? null,
    assignedTo: null,
    ownerSubject: owned.ownerSubject,
    ...(owned.isOfSeveralTeams && { isOfSeveralTeams: true }),
    what: claim.what,
    because: claim.because,
    fix: claim.fix,
    unless: claim.unless,
    spark: claim.spark ?? [],
    basis: claim.basis ?? by.basis,
    blastRadius: claim.blastRadius ?? by.blastRadius,
    blast: claim.blast ?? by.blast,
    effort: claim.effort ?? by.effort,
    liveSince: claim.liveSince ?? null,
    subjects: [...new Set(claim.takes.map(({ subject }) => subject))],
    firstDay: claim.takes.reduce<string | null>(
      (first, each) => (first === null || each.firstDay < first ? each.firstDay : first),
      null,
    ),
    ...money,
  };
}

function withLife(finding: Finding, record: FindingRecord | undefined, { now }: JudgedSpan): Finding {
  if (record === undefined) return finding;
  // Whatever days are looked at, it has ended when its day is over.
  const isOver = record.state === 'exempt' && record.until !== null && record.until < dayOf(now);
  // A look that keeps no numbers cannot say that something is back, but it can see it.
  const state = isOver ? 'open' : record.state === 'fixed' ? 'back' : record.state;
  return {
    ...finding,
    number: record.number,
    state,
    exemptUntil: state === 'exempt' ? record.until : null,
    firstSeenAt: new Date(record.firstSeenAt),
    ...(isPart(finding)
      ? { stateReason: null, assignedTo: null }
      : { stateReason: record.reason, assignedTo: record.assignedTo }),
  };
}

/** Questions are worth asking whatever stands behind them. */
function isWorthTelling(
  { kind, usdMicros, gpuUnits }: Finding,
  { floorUsdMicros = DEFAULT_FLOOR_USD_MICROS, floorUnits = DEFAULT_FLOOR_UNITS }: FindingsRequest,
): boolean {
  return kind === 'question' || (usdMicros ?? 0n) >= floorUsdMicros || gpuUnits >= floorUnits;
}

type Measure = Pick<
  FindingsAnswer,
  | 'unknownValues'
  | 'wasteUsdMicros'
  | 'paidUsdMicros'
  | 'usdMicrosByBasis'
  | 'unpricedUnits'
  | 'knownUnits'
  | 'heldUnits'
  | 'gpus'
> & { readonly fleetWasteUsdMicros: bigint };

/** What was paid in the scope, where it went, and how much of it is known. */
async function measureOf(space: ReadSpace, { window, team }: FindingsRequest): Promise<Measure> {
  const by = parseDimensions('category');
  const fleet = await spend(space, { by, window, filters: [] });
  const own = team === undefined ? fleet : await spend(space, { by, window, filters: [filterOn('team', team)] });
  const rowOf = (sums: typeof fleet, category: string) => sums.rows.find(({ values }) => values[0] === category);
  const waste = (sums: typeof fleet): Record<WasteCategory, bigint> => {
    const amounts = CATEGORIES.map((category) => [category, rowOf(sums, category)?.costUsdMicros ?? 0n] as const);
    return Object.fromEntries(amounts) as Record<WasteCategory, bigint>;
  };
  const units = (categories: readonly string[]): bigint =>
    categories.reduce((sum, category) => sum + (rowOf(own, category)?.heldUnits ?? 0n), 0n);
  const knownUnits = units(['idle', 'starved', 'lost', 'computing']);
  const wasted = WASTE_CATEGORIES.map((category) => rowOf(fleet, category)?.costUsdMicros ?? 0n);
  return {
    unknownValues: team === undefined ? [] : own.unknownValues,
    wasteUsdMicros: waste(own),
    fleetWasteUsdMicros: wasted.reduce((sum, amount) => sum + amount, 0n),
    paidUsdMicros: own.totalUsdMicros,
    usdMicrosByBasis: own.usdMicrosByBasis,
    unpricedUnits: own.unpricedUnits,
    knownUnits,
    heldUnits: knownUnits + units(['unknown']),
    gpus: await fleetGpus(space, window),
  };
}

/** Question: how many GPUs were there at the end of a window? Slices are of one GPU; machines that come and go within a day are not counted one after the other. */
export async function fleetGpus(space: ReadSpace, { days }: LedgerWindow): Promise<number> {
  const last = days.at(-1);
  if (last === undefined) return 0;
  const [row] = await space.ask<{ gpus: bigint }>({
    tables: [{ table: 'presence', first: last, last }],
    sql: `SELECT count(DISTINCT root_device_id) AS gpus FROM presence
          WHERE until_at > (SELECT max(until_at) FROM presence) - INTERVAL '1' HOUR`,
  });
  return Number(row?.gpus ?? 0n);
}

function answerOf(
  request: FindingsRequest,
  { fleetWasteUsdMicros, ...measure }: Measure,
  all: readonly Finding[],
  numbers: FindingsAnswer['numbers'],
): FindingsAnswer {
  const { window, now, nowBy = 'asked', team } = request;
  const days = BigInt(Math.max(1, window.days.length));
  const isSmallFleet = (fleetWasteUsdMicros * DAYS_A_YEAR) / days < ENGINEER_USD_MICROS_A_YEAR;
  const isSetAside = ({ state }: Finding): boolean => state === 'exempt' || state === 'dismissed';
  const isHidden = (finding: Finding): boolean => isSmallFleet && finding.factor === 'price';
  const findings = all.filter((finding) => !isSetAside(finding) && !isHidden(finding));
  return {
    ...measure,
    asOf: now,
    asOfBy: nowBy,
    window: { asked: window.asked, from: window.from, until: window.until, ledgerDays: window.days.length },
    team,
    findings,
    setAside: all.filter(isSetAside),
    hiddenPrice: all.filter((finding) => !isSetAside(finding) && isHidden(finding)),
    sum: sumOf(findings),
    shownMax: measure.gpus <= SMALL_FLEET_GPUS ? SMALL_FLEET_SHOWN : SHOWN,
    numbers,
  };
}
