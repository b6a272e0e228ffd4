import type { Finding } from '../facts/finding.ts';
import {
  findingNumber,
  kindWords,
  moneyWords,
  ownerWords,
  partsWords,
  pasteLine,
  stateWords,
} from './finding-words.ts';
import { safeText } from './safe-text.ts';
import { shorten, textTable, textWidth, wrapText } from './table.ts';

/** Number, money, what, whose, kind, how safe. */
export const FINDING_COLUMNS = [
  { align: 'left' },
  { align: 'right' },
  { align: 'left' },
  { align: 'left' },
  { align: 'left' },
  { align: 'left' },
] as const;
const OWNER_WIDTH_MAX = 32;
/** Where the line leaves less than this for what it is, that gets a line of its own. */
const WHAT_WIDTH_MIN = 36;
/** Gaps between six columns. */
const GAPS_WIDTH = 10;
const INDENT = '     ';
/** Longer than anything a detector says; names in it are whatever somebody typed. */
const WHAT_MAX = 300;
const SENTENCE_MAX = 1000;
/** So many characters of evidence stand in a list; all of it is on the finding's own page. */
const EVIDENCE_MAX = 320;
/** A longer fix is pasted from the finding's own page: half a manifest helps nobody. */
const FIX_LINES_MAX = 4;
const BASIS_SENTENCE = { measured: 'Measured.', modelled: 'Modelled.', assumed: 'Assumed.' } as const;

/** Findings as a list has them, for so many columns: nothing of what they say is cut, and fixes stay on their lines. */
export function findingRows(
  findings: readonly Finding[],
  windowDays: number,
  width: number,
  dataFlag: string,
): string[] {
  const cells = findings.map((finding) => headCells(finding, windowDays));
  const columnWidth = (place: number): number => Math.max(0, ...cells.map((row) => textWidth(row[place] ?? '')));
  const room = width - GAPS_WIDTH - [0, 1, 3, 4, 5].reduce((sum, place) => sum + columnWidth(place), 0);
  const isNarrow = room < WHAT_WIDTH_MIN;
  const whats = cells.map((row) => wrapText(row[2] ?? '', isNarrow ? width - INDENT.length : room, ''));
  const heads = textTable(
    FINDING_COLUMNS,
    cells.map((row, place) =>
      row.map((cell, column) => (column !== 2 ? cell : isNarrow ? '' : (whats[place]?.[0] ?? ''))),
    ),
  );
  const underWhat = ' '.repeat(columnWidth(0) + columnWidth(1) + 4);
  return findings.flatMap((finding, place) => [
    heads[place] ?? '',
    ...(isNarrow
      ? (whats[place] ?? []).map((line) => INDENT + line)
      : (whats[place] ?? []).slice(1).map((line) => underWhat + line)),
    ...detailLines(finding, width, dataFlag),
  ]);
}

function headCells(finding: Finding, windowDays: number): string[] {
  return [
    findingNumber(finding),
    moneyWords(finding, windowDays),
    shorten(safeText(finding.what), WHAT_MAX),
    shorten(safeText(ownerWords(finding)), OWNER_WIDTH_MAX),
    kindWords(finding),
    `safe ${finding.blastRadius}/5`,
  ];
}

function detailLines(finding: Finding, width: number, dataFlag: string): string[] {
  const state = stateWords(finding);
  const parts = partsWords(finding);
  const told = [
    ...(state === undefined ? [] : [state]),
    ...(parts === undefined ? [] : [parts]),
    evidenceText(finding),
  ];
  return [
    ...told.flatMap((text) => wrapText(text, width - INDENT.length, '')),
    ...fixLines(finding, dataFlag).map((line, place) => (place === 0 ? `fix: ${line}` : `     ${line}`)),
  ].map((line) => INDENT + line);
}

/** Whole sentences, as many as a list has room for and at least one, and what they rest on. */
function evidenceText({ because, basis }: Finding): string {
  const sentences = because.map((text) => asSentence(shorten(safeText(text), SENTENCE_MAX)));
  let told = sentences[0] ?? '';
  for (const sentence of sentences.slice(1)) {
    if (textWidth(told) + textWidth(sentence) > EVIDENCE_MAX) break;
    told = `${told} ${sentence}`;
  }
  return /\b(measured|modelled|assumed)\b/i.test(told) ? told : `${told} ${BASIS_SENTENCE[basis]}`.trim();
}

/** Sentences that stand beside each other end where they end. */
function asSentence(text: string): string {
  return text === '' || /[.?!:…]$/.test(text) ? text : `${text}.`;
}

function fixLines(finding: Finding, dataFlag: string): string[] {
  const lines = finding.fix.map((line) => pasteLine(line, dataFlag));
  if (lines.length === 0) return [`no command: ${safeText(finding.effort)}`];
  if (lines.length <= FIX_LINES_MAX) return lines;
  const [first = ''] = lines;
  // The first line of a manifest is no fix, a command or a comment is.
  const begin = first.includes('<<') ? [] : [first];
  return [
    ...begin,
    `# ${lines.length - begin.length} more lines to paste: bursar finding ${findingNumber(finding)}${dataFlag}`,
  ];
}
