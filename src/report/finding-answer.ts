import type { WasteCategory } from '../facts/detector.ts';
import { ownerWords } from './finding-words.ts';
import type { Finding, FindingState } from '../facts/finding.ts';
import type { UnknownValue } from './unknown-value.ts';
import type { AskedWindow } from './window-words.ts';

/** What can be reached, each kind by itself: they are never added together. */
export interface FindingSum {
  readonly cashUsdMicros: { readonly low: bigint; readonly high: bigint };
  /** Unit-seconds (63,000ths of a GPU × seconds). */
  readonly capacityUnits: { readonly low: bigint; readonly high: bigint };
  /** On machines of which nobody says how they are bought: counted as capacity. */
  readonly cashIfRentedUsdMicros: bigint;
  readonly unknownUsdMicros: bigint;
}

/** What there is to do, and what it is measured against. */
export interface FindingsAnswer {
  readonly asOf: Date;
  readonly asOfBy: 'asked' | 'newest fact' | 'clock';
  readonly window: AskedWindow;
  /** Only what is this team's; undefined for all. */
  readonly team: string | undefined;
  /** The team where no money is anybody's of that name, and the name most like it. */
  readonly unknownValues: readonly UnknownValue[];
  /** Everything there is to do, safe first, then money: open, back and accepted ones. */
  readonly findings: readonly Finding[];
  /** Still there, and exempt or dismissed. */
  readonly setAside: readonly Finding[];
  /** About price and commitments, hidden while all waste is below one engineer's cost a year. */
  readonly hiddenPrice: readonly Finding[];
  /** Of `findings`. */
  readonly sum: FindingSum;
  readonly wasteUsdMicros: Readonly<Record<WasteCategory, bigint>>;
  readonly paidUsdMicros: bigint | null;
  /** What the money rests on: billed, rate, estimated. */
  readonly usdMicrosByBasis: ReadonlyMap<string, bigint>;
  /** Unit-seconds that are in no money here. */
  readonly unpricedUnits: bigint;
  /** Unit-seconds held whose activity is known, and all that were held. */
  readonly knownUnits: bigint;
  readonly heldUnits: bigint;
  readonly gpus: number;
  /** So many are told unless all are asked for. */
  readonly shownMax: number;
  /** Whether numbers could be written: `read` in a look at a part, `refused` in a folder that cannot be written to. */
  readonly numbers: 'kept' | 'read' | 'refused';
}

/** Below a thousandth of what is wasted a finding is not worth a line of its own: five hundred of them are nobody's list. */
const SMALL_PER_WASTE = 1000n;

/** Less money than this makes a finding small: it is counted, and told when it is asked for. */
export function smallBelowUsdMicros({ wasteUsdMicros }: Pick<FindingsAnswer, 'wasteUsdMicros'>): bigint {
  const { computing: _computed, unknown: _unknown, ...waste } = wasteUsdMicros;
  return Object.values(waste).reduce((sum, usdMicros) => sum + usdMicros, 0n) / SMALL_PER_WASTE;
}

/** A question and what has no price are never small: nobody knows. */
export function isSmall({ kind, usdMicros }: Finding, answer: Pick<FindingsAnswer, 'wasteUsdMicros'>): boolean {
  return kind !== 'question' && usdMicros !== null && usdMicros < smallBelowUsdMicros(answer);
}

/** What the findings come to: what is a question or has another's money counts nothing. */
export function sumOf(findings: readonly Finding[]): FindingSum {
  const add = (amounts: readonly bigint[]): bigint => amounts.reduce((a, b) => a + b, 0n);
  return {
    cashUsdMicros: {
      low: add(findings.map(({ cashUsdMicros }) => cashUsdMicros.low)),
      high: add(findings.map(({ cashUsdMicros }) => cashUsdMicros.high)),
    },
    capacityUnits: {
      low: add(findings.map(({ capacityUnits }) => capacityUnits.low)),
      high: add(findings.map(({ capacityUnits }) => capacityUnits.high)),
    },
    cashIfRentedUsdMicros: add(findings.map(({ cashIfRentedUsdMicros }) => cashIfRentedUsdMicros)),
    unknownUsdMicros: add(findings.map(({ kind, usdMicros }) => (kind === 'unknown' ? (usdMicros ?? 0n) : 0n))),
  };
}

/** The same answer about other states; what is exempt or dismissed is only told where it is asked for. */
export function findingsInStates(answer: FindingsAnswer, wanted: readonly FindingState[]): FindingsAnswer {
  const all = [...answer.findings, ...answer.setAside].filter(({ state }) => wanted.includes(state));
  return { ...answer, findings: all, setAside: [] };
}

/** Which findings are asked for, beside state and team. */
export interface FindingChoice {
  readonly detector?: string | undefined;
  readonly category?: string | undefined;
  /** Whoever is to act: the one it was given to, else its user, its team, or both as they are shown. */
  readonly owner?: string | undefined;
}

/** As `toldFindings` takes it, with what was asked for in words; undefined where nothing was. */
export function choiceOf({
  detector,
  category,
  owner,
}: FindingChoice): { readonly words: string; readonly keeps: (finding: Finding) => boolean } | undefined {
  const words = [detector, category, owner].filter((word) => word !== undefined);
  if (words.length === 0) return undefined;
  return {
    words: `of ${words.join(', ')}`,
    keeps: (finding) =>
      (detector === undefined || finding.detector === detector) &&
      (category === undefined || finding.category === category) &&
      (owner === undefined || isOwnedBy(finding, owner)),
  };
}

function isOwnedBy(finding: Finding, owner: string): boolean {
  const { assignedTo, user, team } = finding;
  if (assignedTo !== null) return assignedTo === owner;
  return [ownerWords(finding), user, team].includes(owner);
}
