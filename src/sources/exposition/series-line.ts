/** One line of an exposition that says a value. */
export interface SeriesLine {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  /** As written: milliseconds in the text format, seconds in OpenMetrics. */
  readonly timestamp?: { readonly number: number; readonly isWhole: boolean };
  readonly exemplar: 'none' | 'understood' | 'not-understood';
}

/** Why a line is not one; `reason` is the same for all lines with the same trouble. */
export interface NotASeries {
  readonly reason: string;
}

const NAME = /[a-zA-Z_:][a-zA-Z0-9_:]*/y;
const LABEL_NAME = /[a-zA-Z_][a-zA-Z0-9_]*/y;
const TOKEN = /[^\s]+/y;
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const WHOLE = /^-?\d+$/;

class Trouble extends Error {}

/** Reads one line from left to right; every step either moves on or ends the line, so that no input takes long. */
class Cursor {
  readonly text: string;
  at = 0;

  constructor(text: string) {
    this.text = text;
  }

  skipSpace(): void {
    while (this.text[this.at] === ' ' || this.text[this.at] === '\t') this.at += 1;
  }

  get isAtEnd(): boolean {
    return this.at >= this.text.length;
  }

  peek(): string | undefined {
    return this.text[this.at];
  }

  take(character: string): boolean {
    if (this.text[this.at] !== character) return false;
    this.at += 1;
    return true;
  }

  match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0];
    if (found !== undefined) this.at += found.length;
    return found;
  }

  /** A quoted string, its opening quote not yet taken. Only \\, \" and \n are escapes; another backslash is one. */
  quoted(): string {
    this.at += 1;
    let from = this.at;
    let value = '';
    for (; this.at < this.text.length; this.at += 1) {
      const character = this.text[this.at];
      if (character === '"') {
        value += this.text.slice(from, this.at);
        this.at += 1;
        return value;
      }
      if (character !== '\\') continue;
      const escaped = this.text[this.at + 1];
      const meant = escaped === 'n' ? '\n' : escaped === '\\' || escaped === '"' ? escaped : undefined;
      if (meant === undefined) continue;
      value += this.text.slice(from, this.at) + meant;
      this.at += 1;
      from = this.at + 1;
    }
    throw new Trouble('a quoted text does not end');
  }
}

/** What does this line say? Neither comments nor blank lines come here. */
export function readSeriesLine(text: string): SeriesLine | NotASeries {
  const cursor = new Cursor(text);
  try {
    return seriesOf(cursor);
  } catch (failure) {
    if (failure instanceof Trouble) return { reason: failure.message };
    throw failure;
  }
}

function seriesOf(cursor: Cursor): SeriesLine {
  let name = cursor.match(NAME);
  const labels: Record<string, string> = Object.create(null) as Record<string, string>;
  cursor.skipSpace();
  if (cursor.take('{')) name = readLabels(cursor, labels, name);
  if (name === undefined) throw new Trouble('does not begin with the name of a metric');
  cursor.skipSpace();
  const value = numberOf(cursor.match(TOKEN));
  const timestamp = readTimestamp(cursor);
  return { name, labels, value, ...(timestamp !== undefined && { timestamp }), exemplar: readExemplar(cursor) };
}

/** Labels up to the closing brace. Gives the name of the metric, which newer exporters may write as the first of them. */
function readLabels(cursor: Cursor, labels: Record<string, string>, named: string | undefined): string | undefined {
  let name = named;
  for (;;) {
    cursor.skipSpace();
    if (cursor.take('}')) return name;
    const isQuoted = cursor.peek() === '"';
    const key = isQuoted ? cursor.quoted() : cursor.match(LABEL_NAME);
    if (key === undefined) throw new Trouble(cursor.isAtEnd ? 'the labels do not end' : 'a label has no name');
    cursor.skipSpace();
    if (cursor.take('=')) {
      cursor.skipSpace();
      if (cursor.peek() !== '"') throw new Trouble('the value of a label is not quoted');
      const value = cursor.quoted();
      if (key in labels) throw new Trouble('the same label twice');
      labels[key] = value;
    } else if (isQuoted && name === undefined) name = key;
    else throw new Trouble('a label has no value');
    cursor.skipSpace();
    if (!cursor.take(',') && cursor.peek() !== '}') {
      throw new Trouble(cursor.isAtEnd ? 'the labels do not end' : 'labels are not parted by commas');
    }
  }
}

function numberOf(token: string | undefined): number {
  if (token === undefined || token === '#') throw new Trouble('no value');
  if (NUMBER.test(token)) return Number(token);
  const word = /^([+-]?)(inf(?:inity)?|nan)$/i.exec(token);
  if (word === null) throw new Trouble(token.startsWith('{') ? 'a composite value' : 'the value is not a number');
  if (word[2]?.toLowerCase() === 'nan') return Number.NaN;
  return word[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}

function readTimestamp(cursor: Cursor): SeriesLine['timestamp'] {
  cursor.skipSpace();
  if (cursor.isAtEnd || cursor.peek() === '#') return undefined;
  const token = cursor.match(TOKEN) ?? '';
  if (!NUMBER.test(token)) throw new Trouble('the timestamp is not a number');
  return { number: Number(token), isWhole: WHOLE.test(token) };
}

/** The rest of the line: an exemplar, or a start time, neither of which is kept. Trouble in an exemplar leaves the value standing. */
function readExemplar(cursor: Cursor): SeriesLine['exemplar'] {
  cursor.skipSpace();
  const rest = cursor.text.slice(cursor.at);
  if (rest.startsWith('st@')) {
    cursor.match(TOKEN);
    return readExemplar(cursor);
  }
  if (cursor.isAtEnd) return 'none';
  if (!cursor.take('#')) throw new Trouble('more than a value and a timestamp');
  try {
    cursor.skipSpace();
    if (!cursor.take('{')) return 'not-understood';
    readLabels(cursor, Object.create(null) as Record<string, string>, '');
    cursor.skipSpace();
    numberOf(cursor.match(TOKEN));
    return 'understood';
  } catch (failure) {
    if (failure instanceof Trouble) return 'not-understood';
    throw failure;
  }
}
