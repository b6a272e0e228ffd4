/** Characters terminals obey: bell, escape, and the one-character forms of `ESC [`, `ESC \\` and `ESC ]`. */
const [BELL, ESC, CSI, ST, OSC] = ['\u0007', '\u001b', '\u009b', '\u009c', '\u009d'];
/** Escape sequences of terminals, ended or cut off. */
const ESCAPES = new RegExp(
  [
    `(?:${ESC}\\]|${OSC})[^${BELL}${ESC}${ST}]*(?:${BELL}|${ESC}\\\\|${ST}|$)`, // Titles and links.
    `(?:${ESC}\\[|${CSI})[0-?]*[ -/]*[@-~]?`, // Colours and moves of the cursor.
    `${ESC}[PX^_][^${ESC}${ST}]*(?:${ESC}\\\\|${ST}|$)`, // Messages to the terminal itself.
    `${ESC}[ -/]*[0-~]?`, // Modes and character sets.
  ].join('|'),
  'gu',
);
/** Line breaks and tabs would break a table. */
const BREAKS = /[\t\n\v\f\r\u0085\u2028\u2029]+/gu;
/** Other control characters, and those that turn the direction of a line or hide in it. */
const INVISIBLE = /[\p{Cc}\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/gu;
/** What a spreadsheet takes for a formula. */
const FORMULA = /^[\s\u00a0]*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/u;

/**
 * Text from a file or a label, safe on a terminal and one line long.
 *
 * Job names are whatever somebody typed: they are shown, never obeyed.
 */
export function safeText(value: string): string {
  return value.replace(ESCAPES, '').replace(BREAKS, ' ').replace(INVISIBLE, '');
}

/** The same of words of ours that quote such text, as messages and hints do: their lines stay lines. */
export function safeLines(words: string): string {
  return words.split('\n').map(safeText).join('\n');
}

/** One line of a CSV file. Numbers stay as they are; text that a spreadsheet would run begins with an apostrophe. */
export function csvLine(cells: readonly (string | number | bigint | null | undefined)[]): string {
  return `${cells.map(csvCell).join(',')}\n`;
}

function csvCell(cell: string | number | bigint | null | undefined): string {
  if (cell === null || cell === undefined) return '';
  if (typeof cell !== 'string') return String(cell);
  const text = safeText(cell);
  // What hides before a formula is gone from the text: both are looked at.
  const guarded = FORMULA.test(cell) || FORMULA.test(text) ? `'${text}` : text;
  return /[",\n\r]|^\s|\s$/.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded;
}
