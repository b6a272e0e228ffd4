import type { FindingChange, FindingRecord } from '../facts/finding-record.ts';
import type { Finding } from '../facts/finding.ts';
import { dollars, minute, rangeWords } from './figures.ts';
import type { FindingsAnswer } from './finding-answer.ts';
import {
  basisWords,
  findingNumber,
  kindWords,
  knownWords,
  moneyWords,
  ownerWords,
  pasteLine,
  sparkline,
  stateWords,
  unitsWords,
} from './finding-words.ts';
import { safeText } from './safe-text.ts';
import { shorten, textTable } from './table.ts';
import { windowWords } from './window-words.ts';

/** Names are at most a line or three; beyond it they are nobody's. */
const WHAT_WIDTH_MAX = 300;
const BECAUSE_WIDTH_MAX = 2000;

/** All that is to be said of one finding. */
export function findingPage(
  answer: FindingsAnswer,
  finding: Finding,
  history: readonly FindingChange[],
  dataFlag = '',
): string[] {
  const id = findingNumber(finding);
  const spark = finding.spark.length === 0 ? [] : [`activity  ${sparkline(finding.spark)}  up to now`];
  const basis = basisWords(answer);
  return [
    `${id}  ${moneyWords(finding, answer.window.ledgerDays)}  ${shorten(safeText(finding.what), WHAT_WIDTH_MAX)}`,
    `whose     ${shorten(safeText(ownerWords(finding)), WHAT_WIDTH_MAX)}${finding.ownerSubject === null ? '' : `; ${safeText(finding.ownerSubject)}`}`,
    `state     ${stateWords(finding) ?? 'open'}; first seen ${minute(finding.firstSeenAt)} UTC`,
    `money     ${reachWords(finding)}`,
    ...finding.because.map(
      (line, place) => `${place === 0 ? 'because   ' : '          '}${shorten(safeText(line), BECAUSE_WIDTH_MAX)}`,
    ),
    `rests on  ${finding.basis}; ${windowWords(answer)}${basis === '' ? '' : `, ${basis}`}; ${knownWords(answer)} in all`,
    ...spark,
    ...(finding.fix.length === 0
      ? [`fix       no command: ${safeText(finding.effort)}`]
      : finding.fix.map((line, place) => fixLine(pasteLine(line, dataFlag), place))),
    `safe      ${finding.blastRadius}/5: ${safeText(finding.blast)}`,
    `effort    ${safeText(finding.effort)}`,
    `unless    ${safeText(finding.unless)}`,
    ...historyLines(history),
    `bursar finding ${id} explain | accept | exempt --until DATE --reason TEXT | dismiss --reason TEXT | assign TO${isSaid(finding) ? ' | reopen' : ''}${dataFlag}`,
  ];
}

/** Whether somebody has said something of it that can be taken back. */
function isSaid({ state }: Finding): boolean {
  return state === 'accepted' || state === 'exempt' || state === 'dismissed';
}

function fixLine(line: string, place: number): string {
  return `${place === 0 ? 'fix       ' : '          '}${line}`;
}

function reachWords(finding: Finding): string {
  const { kind, category, cashUsdMicros, capacityUnits, cashIfRentedUsdMicros, usdMicros } = finding;
  const cost = `${dollars(usdMicros)} in the window, ${kindWords(finding)}`;
  if (kind === 'question') return 'it asks, and claims nothing';
  if (kind === 'unknown') return `${dollars(usdMicros)} of which nothing can be said`;
  if (category === 'stranded' && cashUsdMicros.high > 0n)
    return `${cost}; spent either way; the bill falls by ${rangeWords(cashUsdMicros)} if who rents the same moves in, the least from the same place`;
  const reached = [
    ...(cashUsdMicros.high > 0n
      ? [
          `the bill falls by ${rangeWords(cashUsdMicros)} once its machines are gone${cashUsdMicros.low === cashUsdMicros.high ? ', all of it on machines it frees wholly' : ': the least stands on machines it frees wholly'}`,
        ]
      : []),
    ...(capacityUnits.high > 0n
      ? [
          `${unitsWords(capacityUnits)} others can use, ${usdMicros === null ? 'and nobody has said what they cost' : cashIfRentedUsdMicros > 0n ? ifRentedWords(finding) : 'and no bill falls'}`,
        ]
      : []),
  ];
  return [cost, ...reached].join('; ');
}

/** It is nobody's to guess whether a machine is rented; where to say so stands beside it. */
function ifRentedWords({ cashIfRentedUsdMicros }: Finding): string {
  return `and nobody says how their machines are bought (purchase in bursar import nodes): cash of at most ${dollars(cashIfRentedUsdMicros)} if they are rented, none if they are owned`;
}

/** What is kept of a finding. `isLooked`: the data were asked, and nothing of it is in them now. */
export function recordPage(record: FindingRecord, history: readonly FindingChange[], isLooked: boolean): string[] {
  return [
    `F-${record.number}  ${shorten(safeText(record.what), WHAT_WIDTH_MAX)}`,
    `state     ${recordWords(record, isLooked)}; last seen ${timeWords(record.lastSeenAt)}`,
    ...historyLines(history),
  ];
}

function recordWords({ state, until, assignedTo }: FindingRecord, isLooked: boolean): string {
  const to = assignedTo === null ? '' : `, with ${safeText(assignedTo)}`;
  if (state === 'fixed') return 'fixed: nothing of it in the data any more';
  if (state === 'exempt' && until !== null) return `exempt until ${until}${to}`;
  return `${state}${to}${isLooked && state === 'open' ? ', but nothing of it in this window' : ''}`;
}

export function historyLines(history: readonly FindingChange[]): string[] {
  const rows = history.map(({ at, by, change, detail }) => [
    timeWords(at),
    change,
    by === null ? 'seen in the data' : `by ${safeText(by)}`,
    detail === null ? '' : safeText(detail),
  ]);
  const columns = [{ align: 'left' }, { align: 'left' }, { align: 'left' }, { align: 'left' }] as const;
  return textTable(columns, rows).map((line, place) => `${place === 0 ? 'history   ' : '          '}${line}`);
}

/** Findings of which only the number and its life are left, newest first. */
export function recordList(records: readonly FindingRecord[]): string[] {
  if (records.length === 0) return ['None fixed so far.'];
  const rows = records
    .toSorted((a, b) => (a.lastSeenAt < b.lastSeenAt ? 1 : -1))
    .map(({ number, what, lastSeenAt }) => [
      `F-${number}`,
      `fixed, last seen ${timeWords(lastSeenAt)}`,
      shorten(safeText(what), WHAT_WIDTH_MAX),
    ]);
  return textTable([{ align: 'left' }, { align: 'left' }, { align: 'left' }], rows);
}

function timeWords(iso: string): string {
  return iso.slice(0, 16).replace('T', ' ');
}
