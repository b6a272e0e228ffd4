import { readSeriesLine } from './series-line.ts';
import type { SeriesLine } from './series-line.ts';

/** A value of a series, as an exporter or a file says it. */
export interface ExpositionSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  readonly timestampMs?: number;
  /** From 1. */
  readonly line: number;
}

/** Lines that could not be read for one and the same reason. */
export interface LinesNotUnderstood {
  readonly reason: string;
  readonly count: number;
  /** The first of them, and how it begins. */
  readonly line: number;
  readonly example: string;
}

/** What became of every line: `samples + comments + blank + notUnderstood = lines`. */
export interface ExpositionReport {
  readonly lines: number;
  readonly samples: number;
  readonly comments: number;
  readonly blank: number;
  readonly exemplars: number;
  /** Values that were kept though the exemplar beside them made no sense. */
  readonly exemplarsNotUnderstood: number;
  readonly notUnderstood: readonly LinesNotUnderstood[];
  /** The text says where it ends; without it an OpenMetrics text may have been cut off. */
  readonly endsWithEof: boolean;
}

export interface ExpositionOptions {
  /** By the content type of the answer; `guess` tells milliseconds from seconds by their size. */
  readonly format?: 'text' | 'openmetrics' | 'guess';
  /** Longer lines are counted, not read, and take no memory. */
  readonly lineCharsMax?: number;
}

const LINE_CHARS_MAX = 262_144;
const EXAMPLE_CHARS = 120;
/** Reasons are few; should that ever be wrong, the report stays small. */
const REASONS_MAX = 100;
/** Times in seconds stay below this until the year 5138, times in milliseconds were above it from 1973 on. */
const MILLISECONDS_FROM = 1e11;

/** Takes a text in pieces and hands out its values as they come. */
export interface ExpositionReader {
  push(piece: string): void;
  end(): ExpositionReport;
}

/**
 * Promise: every line of a Prometheus or OpenMetrics text becomes a sample, a comment, a blank or a line of the report.
 *
 * Unlike a Prometheus server, which drops a whole scrape for one bad line, what can be read is read. Memory is that of one
 * line, whatever the size of the text; time grows with its length and with nothing else.
 */
export function readExposition(
  onSample: (sample: ExpositionSample) => void,
  options: ExpositionOptions = {},
): ExpositionReader {
  const lineCharsMax = options.lineCharsMax ?? LINE_CHARS_MAX;
  const count = new LineCount(onSample, options.format ?? 'guess');
  let kept = '';
  let isTooLong = false;
  const finish = (): void => {
    if (isTooLong) count.notUnderstood('a line longer than can be', kept);
    else count.line(kept);
    [kept, isTooLong] = ['', false];
  };
  const keep = (text: string): void => {
    if (kept.length + text.length > lineCharsMax) isTooLong = true;
    kept = isTooLong ? kept.slice(0, EXAMPLE_CHARS) : kept + text;
  };
  return {
    push(piece) {
      let from = 0;
      for (let at = piece.indexOf('\n'); at !== -1; at = piece.indexOf('\n', from)) {
        keep(piece.slice(from, at));
        finish();
        from = at + 1;
      }
      keep(piece.slice(from));
    },
    end() {
      if (kept !== '' || isTooLong) finish();
      return count.report();
    },
  };
}

/** The same for a text that is there as a whole. */
export function parseExposition(
  text: string,
  options: ExpositionOptions = {},
): { readonly samples: ExpositionSample[]; readonly report: ExpositionReport } {
  const samples: ExpositionSample[] = [];
  const reader = readExposition((sample) => samples.push(sample), options);
  reader.push(text);
  return { samples, report: reader.end() };
}

/** The format an answer says it is in. */
export function expositionFormat(contentType: string | undefined): 'text' | 'openmetrics' | 'guess' {
  if (contentType === undefined) return 'guess';
  if (/openmetrics/i.test(contentType)) return 'openmetrics';
  return /version=0\.0\.\d|version=1\.0\.0/i.test(contentType) ? 'text' : 'guess';
}

class LineCount {
  readonly #onSample: (sample: ExpositionSample) => void;
  readonly #format: 'text' | 'openmetrics' | 'guess';
  readonly #reasons = new Map<string, LinesNotUnderstood>();
  #lines = 0;
  #samples = 0;
  #comments = 0;
  #blank = 0;
  #exemplars = 0;
  #exemplarsNotUnderstood = 0;
  #hasEnded = false;

  constructor(onSample: (sample: ExpositionSample) => void, format: 'text' | 'openmetrics' | 'guess') {
    this.#onSample = onSample;
    this.#format = format;
  }

  line(written: string): void {
    this.#lines += 1;
    const text = (this.#lines === 1 ? written.replace(/^\uFEFF/, '') : written).trim();
    if (text === '') this.#blank += 1;
    else if (this.#hasEnded) this.#count('after # EOF', text);
    else if (text.startsWith('#')) this.#comment(text);
    else this.#series(text);
  }

  notUnderstood(reason: string, text: string): void {
    this.#lines += 1;
    this.#count(reason, text);
  }

  report(): ExpositionReport {
    return {
      lines: this.#lines,
      samples: this.#samples,
      comments: this.#comments,
      blank: this.#blank,
      exemplars: this.#exemplars,
      exemplarsNotUnderstood: this.#exemplarsNotUnderstood,
      notUnderstood: [...this.#reasons.values()],
      endsWithEof: this.#hasEnded,
    };
  }

  #comment(text: string): void {
    this.#comments += 1;
    if (/^#\s*EOF$/.test(text)) this.#hasEnded = true;
  }

  #series(text: string): void {
    const read = readSeriesLine(text);
    if ('reason' in read) {
      this.#count(read.reason, text);
      return;
    }
    this.#samples += 1;
    if (read.exemplar !== 'none') this.#exemplars += 1;
    if (read.exemplar === 'not-understood') this.#exemplarsNotUnderstood += 1;
    const timestampMs = this.#milliseconds(read.timestamp);
    const { name, labels, value } = read;
    this.#onSample({ name, labels, value, ...(timestampMs !== undefined && { timestampMs }), line: this.#lines });
  }

  #milliseconds(timestamp: SeriesLine['timestamp']): number | undefined {
    if (timestamp === undefined) return undefined;
    const { number, isWhole } = timestamp;
    const isSeconds =
      this.#format === 'openmetrics' ||
      (this.#format === 'guess' && (!isWhole || Math.abs(number) < MILLISECONDS_FROM));
    return Math.round(isSeconds ? number * 1000 : number);
  }

  #count(reason: string, text: string): void {
    const known = this.#reasons.get(reason);
    if (known !== undefined) this.#reasons.set(reason, { ...known, count: known.count + 1 });
    else if (this.#reasons.size < REASONS_MAX) {
      this.#reasons.set(reason, { reason, count: 1, line: this.#lines, example: text.slice(0, EXAMPLE_CHARS) });
    } else this.#count('another reason', text);
  }
}
