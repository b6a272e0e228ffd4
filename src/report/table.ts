/** A column of a text table; numbers stand to the right, so that their digits do. */
export interface TableColumn {
  readonly align: 'left' | 'right';
  readonly title?: string;
  /** Places its cells may take; the rest is cut, and marked. */
  readonly widthMax?: number;
}

const GAP = '  ';
/** A name of a million letters would pad every other row; what stands last and to the left pads none, and may be a sentence or a command. */
const WIDTH_MAX = 100;
const LAST_WIDTH_MAX = 1000;
/** Marks that take no place are still sent: so many characters for each place are enough for any script. */
const CHARACTERS_PER_PLACE_MAX = 8;
/** Characters that take no place on a terminal, and those that take two. */
const ZERO_WIDTH = /\p{Mn}|\p{Me}|\u200d|\ufe0f/u;
const DOUBLE_WIDTH =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;

/** How many places a text takes on a terminal. */
export function textWidth(text: string): number {
  let width = 0;
  for (const char of text) width += charWidth(char);
  return width;
}

function charWidth(char: string): number {
  return ZERO_WIDTH.test(char) ? 0 : DOUBLE_WIDTH.test(char) ? 2 : 1;
}

/** At most so many places of a text, the cut marked. */
export function shorten(text: string, widthMax: number): string {
  let [short, width] = ['', 0];
  for (const char of text) {
    width += charWidth(char);
    if (width > widthMax || short.length > widthMax * CHARACTERS_PER_PLACE_MAX) return `${short}…`;
    if (width < widthMax) short += char;
  }
  return text;
}

/** A long line in several, broken between words; what follows the first is indented. A word that is too long stays whole. */
export function wrapText(text: string, widthMax: number, indent = '  '): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (textWidth(longer) > widthMax && line.trim() !== '') {
      lines.push(line);
      line = indent + word;
    } else line = longer;
  }
  return [...lines, line];
}

/**
 * Lines of an aligned table; a row may be shorter than the others. Columns that are empty in every row are left out,
 * no line ends in spaces, and what is too wide for its column is cut: files and `--json` have it whole.
 */
export function textTable(columns: readonly TableColumn[], rows: readonly (readonly string[])[]): string[] {
  const used = columns.map((_, index) => rows.some((row) => (row[index] ?? '') !== ''));
  const titles = columns.map((column) => column.title ?? '');
  const last = used.lastIndexOf(true);
  const cut = rows.map((row) =>
    columns.map(({ align, widthMax }, index) =>
      shorten(row[index] ?? '', widthMax ?? (index === last && align === 'left' ? LAST_WIDTH_MAX : WIDTH_MAX)),
    ),
  );
  const lines = titles.some((title, index) => title !== '' && used[index]) ? [titles, ...cut] : cut;
  const widths = columns.map((_, index) => Math.max(0, ...lines.map((line) => textWidth(line[index] ?? ''))));
  return lines.map((line) =>
    columns
      .flatMap(({ align }, index) => {
        if (!used[index]) return [];
        const cell = line[index] ?? '';
        const space = ' '.repeat((widths[index] ?? 0) - textWidth(cell));
        return [align === 'right' ? space + cell : cell + space];
      })
      .join(GAP)
      .trimEnd(),
  );
}
