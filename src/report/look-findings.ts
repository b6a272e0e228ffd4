import type { Finding } from '../facts/finding.ts';
import { gpuSeconds } from './figures.ts';
import type { FindingsAnswer } from './finding-answer.ts';
import { isSmall } from './finding-answer.ts';
import { FINDING_COLUMNS } from './finding-rows.ts';
import { findingNumber, kindWords, moneyWords, ownerWords, sumWords } from './finding-words.ts';
import { safeText } from './safe-text.ts';
import { shorten, textTable } from './table.ts';

/** So many are named on the first screen; the list has them all. */
const FIRST_SHOWN = 5;
const WHAT_WIDTH_MAX = 60;
const OWNER_WIDTH_MAX = 28;

/** What can be reached and what to do first, in words; undefined where nothing was looked for. */
export interface FindingWords {
  /** `Reachable: cash $61k–74k in 30 days; capacity 9,400 GPU-hours`. */
  readonly reachable: string;
  /** `First: F-1 … F-5, safe first`. */
  readonly first: string;
  readonly rows: readonly (readonly string[])[];
}

/** What the first screen says of the findings, before it is laid out. */
export function findingWords(answer: FindingsAnswer | undefined): FindingWords | undefined {
  if (answer === undefined) return undefined;
  const days = answer.window.ledgerDays;
  const worth = answer.findings.filter((finding) => !isSmall(finding, answer));
  const first = worth.slice(0, FIRST_SHOWN);
  if (first.length === 0) return { reachable: `Reachable: no finding in ${days} days`, first: '', rows: [] };
  return {
    reachable: `Reachable: ${sumWords(answer.sum, `in ${days} days`)}`,
    first: `First: ${rangeOf(first)}${worth.length > first.length ? ` of ${worth.length.toLocaleString('en-US')}` : ''}, safe first`,
    rows: first.map((finding) => [
      findingNumber(finding),
      moneyWords(finding, days),
      shorten(safeText(finding.what), WHAT_WIDTH_MAX),
      shorten(safeText(ownerWords(finding)), OWNER_WIDTH_MAX),
      kindWords(finding),
      `safe ${finding.blastRadius}/5`,
    ]),
  };
}

/** `F-1 … F-5` where they follow each other, else by name. */
function rangeOf(findings: readonly Finding[]): string {
  const numbers = findings.map(({ number }) => number);
  const isRange = numbers.every((number, place) => number !== null && number === (numbers[0] ?? 0) + place);
  const [from, until] = [findings[0], findings.at(-1)];
  if (from === undefined || until === undefined) return '';
  if (findings.length === 1) return findingNumber(from);
  return isRange ? `${findingNumber(from)} … ${findingNumber(until)}` : findings.map(findingNumber).join(', ');
}

/** The lines of the screen. */
export function findingLines(answer: FindingsAnswer | undefined, dataFlag: string): string[] {
  const words = findingWords(answer);
  if (words === undefined) return [];
  const list = `→ bursar findings${dataFlag}`;
  if (words.rows.length === 0) return [`${words.reachable}  ${list}`];
  return [
    words.reachable,
    `${words.first}  ${list}`,
    ...textTable(FINDING_COLUMNS, words.rows).map((line) => `  ${line}`),
  ];
}

/** The same for programs; null where nothing was looked for. */
export function lookFindingsJson(answer: FindingsAnswer | undefined): unknown {
  if (answer === undefined) return null;
  const { cashUsdMicros, capacityUnits, cashIfRentedUsdMicros, unknownUsdMicros } = answer.sum;
  return {
    count: answer.findings.length,
    cashUsdMicros,
    capacitySeconds: { low: gpuSeconds(capacityUnits.low), high: gpuSeconds(capacityUnits.high) },
    cashIfRentedUsdMicros,
    unknownUsdMicros,
    first: answer.findings
      .slice(0, FIRST_SHOWN)
      .map(({ number, what, team, user, kind, usdMicros, cashUsdMicros: cash, blastRadius }) => ({
        number,
        what,
        team,
        user,
        kind,
        usdMicros,
        cashUsdMicros: cash,
        blastRadius,
      })),
  };
}
