import type { Detector, WasteCategory } from '../../facts/detector.ts';
import type { FindingRecord } from '../../facts/finding-record.ts';
import type { Finding } from '../../facts/finding.ts';
import { SHARE_UNITS } from '../../facts/column.ts';
import type { FindingsAnswer } from '../../report/finding-answer.ts';
import { sumOf } from '../../report/finding-answer.ts';
import { DETECTORS } from '../../waste/detectors.ts';
import type { Settled } from '../../waste/settle.ts';
import { settle } from '../../waste/settle.ts';
import { filterOn, parseDimensions } from '../filter.ts';
import { spend } from '../spend.ts';
import { wholeDays } from '../window.ts';
import type { LedgerWindow } from '../window.ts';
import type { ReadSpace } from '../workspace.ts';
import { askDetectors, judgedSpan, keepShared } from './ask-detectors.ts';
import type { DetectorClaim, JudgedSpan } from './ask-detectors.ts';
import { claimedCells, heldPairs, hourlyRates, subjectOwners } from './claimed-money.ts';
import type { Owner } from './claimed-money.ts';
import { isFullLook, keepNumbers } from './keep-numbers.ts';
import { moneyOf } from './price-finding.ts';

export interface FindingsRequest {
  readonly window: LedgerWindow;
  readonly now: Date;
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

/** A finding with the rows of the ledger behind it. */
export interface SettledFinding {
  readonly finding: Finding;
  readonly settled: Settled<DetectorClaim>;
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
export async function findFindings(space: ReadSpace, request: FindingsRequest): Promise<FindingsAnswer> {
  return (await lookForFindings(space, request)).answer;
}

/** The same, with the rows behind each finding. */
export async function lookForFindings(
  space: ReadSpace,
  asked: FindingsRequest,
): Promise<{ readonly answer: FindingsAnswer; readonly settled: readonly SettledFinding[] }> {
  const { now, team } = asked;
  // Claims are settled by days: a finding of an hour would have the money of its day, and more than was paid in the hour.
  const window = wholeDays(asked.window, space.scope?.horizon ?? now);
  const request: FindingsRequest = { ...asked, window };
  if (window.days.length > 0) await keepShared(space, request.detectors ?? DETECTORS, judgedSpan(window, now));
  const measure = await measureOf(space, request);
  if (window.days.length === 0) return { answer: answerOf(request, measure, [], 'read'), settled: [] };
  const span = judgedSpan(window, now);
  const found = await claimedFindings(space, request, span);
  const isFull =
    request.keepsNumbers !== false &&
    request.detectors === undefined &&
    measure.gpus > 0 &&
    isFullLook(space, window, now);
  const looked = found.map(({ finding, settled }) => ({
    key: finding.key,
    what: finding.what,
    subjects: [...new Set(settled.placed.claim.takes.map(({ subject }) => subject))],
    isTold: isWorthTelling(finding, request),
  }));
  const { records, numbers } = isFull
    ? await keepNumbers(space, looked, span)
    : { records: space.findings.records(), numbers: 'read' as const };
  const byKey = new Map(records.map((record) => [record.key, record]));
  const settled = found
    .filter(({ finding }) => isWorthTelling(finding, request) && (team === undefined || finding.team === team))
    .map((each) => ({ ...each, finding: withLife(each.finding, byKey.get(each.finding.key), span) }));
  return {
    answer: answerOf(
      request,
      measure,
      settled.map(({ finding }) => finding),
      numbers,
    ),
    settled,
  };
}

/** Everything that is claimed, ranked, before anything is known of its life. */
async function claimedFindings(
  space: ReadSpace,
  request: FindingsRequest,
  span: JudgedSpan,
): Promise<readonly SettledFinding[]> {
  const claims = await askDetectors(space, request.detectors ?? DETECTORS, span);
  const settled = settle(claims, await claimedCells(space, claims, span));
  const billed = settled.flatMap(({ parts }) => parts.filter((part) => (part.marginalUsdMicros ?? 0n) > 0n));
  const pairs = await heldPairs(space, new Set(billed.flatMap(({ cell }) => cell.nodeId ?? [])), span);
  const live = settled.filter(({ placed }) => placed.claim.liveSince !== undefined);
  const liveSubjects = live.flatMap(({ parts }) => parts.map(({ cell }) => cell.subject));
  const rates = await hourlyRates(space, new Set(liveSubjects), span);
  const ownerSubjects = claims.flatMap(({ claim }) => claim.ownerSubject ?? []);
  const owners = await subjectOwners(space, new Set(ownerSubjects), span);
  return settled
    .map((each) => ({
      settled: each,
      finding: findingOf(each, owners.get(each.placed.claim.ownerSubject ?? ''), moneyOf(each, pairs, rates), span),
    }))
    .toSorted((a, b) => compareFindings(a.finding, b.finding));
}

function findingOf(
  { placed }: Settled<DetectorClaim>,
  owner: Owner | undefined,
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
    team: owner?.team ?? null,
    user: owner?.user ?? null,
    assignedTo: null,
    ownerSubject: claim.ownerSubject,
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
    takes: claim.takes,
    ...money,
  };
}

function withLife(finding: Finding, record: FindingRecord | undefined, { until }: JudgedSpan): Finding {
  if (record === undefined) return finding;
  const isOver = record.state === 'exempt' && record.until !== null && record.until < until.toISOString().slice(0, 10);
  // A look that keeps no numbers cannot say that something is back, but it can see it.
  const state = isOver ? 'open' : record.state === 'fixed' ? 'back' : record.state;
  return {
    ...finding,
    number: record.number,
    state,
    exemptUntil: state === 'exempt' ? record.until : null,
    stateReason: record.reason,
    firstSeenAt: new Date(record.firstSeenAt),
    assignedTo: record.assignedTo,
  };
}

/** Questions are worth asking whatever stands behind them. */
function isWorthTelling(
  { kind, usdMicros, gpuUnits }: Finding,
  { floorUsdMicros = DEFAULT_FLOOR_USD_MICROS, floorUnits = DEFAULT_FLOOR_UNITS }: FindingsRequest,
): boolean {
  return kind === 'question' || (usdMicros ?? 0n) >= floorUsdMicros || gpuUnits >= floorUnits;
}

/** What can be done before what cannot be known and what is only asked; safe first, then the dearest. */
function compareFindings(a: Finding, b: Finding): number {
  const rank = ({ kind }: Finding): number => (kind === 'question' ? 2 : kind === 'unknown' ? 1 : 0);
  if (rank(a) !== rank(b)) return rank(a) - rank(b);
  if (a.blastRadius !== b.blastRadius) return a.blastRadius - b.blastRadius;
  const [x, y] = [a.usdMicros ?? -1n, b.usdMicros ?? -1n];
  if (x !== y) return x > y ? -1 : 1;
  if (a.gpuUnits !== b.gpuUnits) return a.gpuUnits > b.gpuUnits ? -1 : 1;
  return a.key < b.key ? -1 : 1;
}

type Measure = Pick<
  FindingsAnswer,
  'unknownValues' | 'wasteUsdMicros' | 'paidUsdMicros' | 'usdMicrosByBasis' | 'knownUnits' | 'heldUnits' | 'gpus'
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
  const wasted = Object.entries(waste(fleet)).filter(([category]) => category !== 'computing');
  return {
    unknownValues: team === undefined ? [] : own.unknownValues,
    wasteUsdMicros: waste(own),
    fleetWasteUsdMicros: wasted.reduce((sum, [, amount]) => sum + amount, 0n),
    paidUsdMicros: own.totalUsdMicros,
    usdMicrosByBasis: own.usdMicrosByBasis,
    knownUnits,
    heldUnits: knownUnits + units(['unknown']),
    gpus: await fleetGpus(space, window),
  };
}

async function fleetGpus(space: ReadSpace, { days }: LedgerWindow): Promise<number> {
  const last = days.at(-1);
  if (last === undefined) return 0;
  const [row] = await space.ask<{ gpus: bigint }>({
    tables: [{ table: 'subject_day', first: last, last }],
    sql: 'SELECT count(DISTINCT device_id) AS gpus FROM subject_day',
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
  const isSmall = (fleetWasteUsdMicros * DAYS_A_YEAR) / days < ENGINEER_USD_MICROS_A_YEAR;
  const isSetAside = ({ state }: Finding): boolean => state === 'exempt' || state === 'dismissed';
  const isHidden = (finding: Finding): boolean => isSmall && finding.factor === 'price';
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
