import { OperationError } from '../../../facts/operation-error.ts';
import { matchingEnd, skipSpace, stringEnd } from './json-bytes.ts';
import { notAnAnswer, SeriesValues, type ExpectedTimes } from './series-values.ts';

/** One series of an answer. The arrays are used again for the next one: take what you need before you return. */
export interface MatrixSeries {
  /** The label object as it came, JSON in UTF-8, in the first bytes of a buffer. Cheap to compare; `labelsOf` reads it. */
  readonly labelBytes: Buffer;
  readonly labelLength: number;
  readonly count: number;
  readonly timesMs: Float64Array;
  readonly values: Float64Array;
  /** The expectation all of its times have met. */
  readonly expected?: ExpectedTimes | undefined;
}

/** Asked when the labels of a series are read and its samples are not: at which times are they likely to be? */
export type OnLabels = (labels: Pick<MatrixSeries, 'labelBytes' | 'labelLength'>) => ExpectedTimes | undefined;

export interface MatrixEnd {
  readonly status: string;
  readonly errorType?: string;
  readonly error?: string;
  /** What the server adds in words, partial answers among them. */
  readonly warnings: readonly string[];
  readonly seriesCount: number;
  readonly sampleCount: number;
  /** Native histograms, which no GPU metric is. */
  readonly histograms: number;
}

const BEGIN = 0;
const IN_ANSWER = 1;
const IN_DATA = 2;
const IN_RESULT = 3;
const IN_SERIES = 4;
const IN_VALUES = 5;
const SKIPPING = 6;
const ENDED = 7;

const [QUOTE, COMMA, ARRAY, ARRAY_END, OBJECT, OBJECT_END, COLON, BACKSLASH] = [
  0x22, 0x2c, 0x5b, 0x5d, 0x7b, 0x7d, 0x3a, 0x5c,
] as const;

/** Of what must be whole to be read: a label object, a name, a word of warning. */
const TOKEN_BYTES_MAX = 64 * 1024;
const WARNINGS_MAX = 20;
const SEAM_BYTES = 1024;

/** The labels of a series, for the few times they are looked at. */
export function labelsOf(series: Pick<MatrixSeries, 'labelBytes' | 'labelLength'>): Record<string, string> {
  const found = parsed(series.labelBytes, 0, series.labelLength);
  const labels: Record<string, string> = {};
  if (typeof found !== 'object' || found === null) return labels;
  for (const [name, value] of Object.entries(found)) if (typeof value === 'string') labels[name] = value;
  return labels;
}

/**
 * Promise: every series of the answer in turn, then how it ended; an answer that breaks off or is not one is an OperationError.
 *
 * Bytes, not JSON.parse: an hour of a large fleet is hundreds of megabytes, and neither the text nor the tree of it may be in
 * memory. Series already given when an error comes are half an answer: throw them away.
 */
export async function readMatrix(
  body: AsyncIterable<Buffer>,
  onSeries: (series: MatrixSeries) => void,
): Promise<MatrixEnd> {
  const reader = new MatrixReader(onSeries);
  for await (const chunk of body) reader.push(chunk);
  return reader.finish();
}

export class MatrixReader {
  readonly #onSeries: (series: MatrixSeries) => void;
  readonly #onLabels: OnLabels | undefined;
  /** The end of the last chunk, where something was cut in two. */
  #seam = Buffer.allocUnsafe(16 * 1024);
  #kept = 0;
  #state = BEGIN;
  #afterSkip = IN_ANSWER;
  #depth = 0;
  #inString = false;
  #escaped = false;

  #labelBytes = Buffer.alloc(1024);
  #labelLength = 0;
  readonly #samples = new SeriesValues();

  #words = new Map<string, string>();
  #warnings: string[] = [];
  #seriesCount = 0;
  #sampleCount = 0;
  #histograms = 0;

  constructor(onSeries: (series: MatrixSeries) => void, onLabels?: OnLabels) {
    this.#onSeries = onSeries;
    this.#onLabels = onLabels;
  }

  /**
   * What was cut in two is put together with the beginning of the chunk, and as little of it as will do; the rest is read where it
   * lies, since copying every byte once more would be felt.
   */
  push(chunk: Buffer): void {
    let at = 0;
    for (let reach = SEAM_BYTES; this.#kept > 0 && at < chunk.length; reach *= 4) {
      const taken = Math.min(reach, chunk.length);
      const end = this.#kept + taken;
      this.#makeRoom(end);
      chunk.copy(this.#seam, this.#kept, 0, taken);
      const used = this.#consume(this.#seam, end);
      if (used >= this.#kept) {
        at = used - this.#kept;
        this.#kept = 0;
      } else {
        // The token is longer than what was put together; what of it is read is not read again.
        this.#seam.copyWithin(0, used, this.#kept);
        this.#kept -= used;
        if (taken === chunk.length) at = this.#keep(chunk, 0);
      }
    }
    if (at >= chunk.length) return;
    at += this.#consume(chunk.subarray(at), chunk.length - at);
    if (at < chunk.length) this.#keep(chunk, at);
  }

  #keep(chunk: Buffer, from: number): number {
    const length = chunk.length - from;
    if (this.#kept + length > TOKEN_BYTES_MAX) throw notAnAnswer('a name or label set longer than 64 kB');
    this.#makeRoom(this.#kept + length);
    chunk.copy(this.#seam, this.#kept, from);
    this.#kept += length;
    return chunk.length;
  }

  #makeRoom(bytes: number): void {
    if (bytes <= this.#seam.length) return;
    const larger = Buffer.allocUnsafe(bytes * 2);
    this.#seam.copy(larger, 0, 0, this.#kept);
    this.#seam = larger;
  }

  finish(): MatrixEnd {
    if (this.#state !== ENDED) {
      throw new OperationError('cut-off', 'the answer of the Prometheus API ended before it was complete', {
        hint: 'it may have run out of time or memory; look at its log, and try again',
      });
    }
    const [errorType, error] = [this.#words.get('errorType'), this.#words.get('error')];
    return {
      status: this.#words.get('status') ?? '',
      ...(errorType !== undefined && { errorType }),
      ...(error !== undefined && { error }),
      warnings: this.#warnings,
      seriesCount: this.#seriesCount,
      sampleCount: this.#sampleCount,
      histograms: this.#histograms,
    };
  }

  /** Reads what is whole, and says up to where; what is cut in two is seen again with what follows. */
  #consume(bytes: Buffer, end: number): number {
    let at = 0;
    for (;;) {
      const state = this.#state;
      const next =
        state === IN_VALUES
          ? this.#pairs(bytes, at, end)
          : state === SKIPPING
            ? this.#skip(bytes, at, end)
            : this.#structure(bytes, at, end);
      if (next === at && this.#state === state) return at;
      at = next;
    }
  }

  #structure(bytes: Buffer, from: number, end: number): number {
    const at = skipSpace(bytes, from, end);
    if (at === end) return at;
    const byte = bytes[at];
    if (this.#state === ENDED) throw notAnAnswer('something after its end');
    if (this.#state === BEGIN) {
      if (byte !== OBJECT) throw notAnAnswer('no JSON object');
      this.#state = IN_ANSWER;
      return at + 1;
    }
    if (byte === COMMA) return at + 1;
    if (this.#state === IN_RESULT) return this.#nextSeries(byte, at);
    if (byte === OBJECT_END) {
      this.#closeObject();
      return at + 1;
    }
    if (byte !== QUOTE) throw notAnAnswer('JSON that is broken');
    return this.#member(bytes, at, end);
  }

  #nextSeries(byte: number | undefined, at: number): number {
    if (byte === OBJECT) {
      this.#state = IN_SERIES;
      this.#labelLength = 0;
      this.#samples.begin();
    } else if (byte === ARRAY_END) this.#state = IN_DATA;
    else throw notAnAnswer('a result that is no list of series');
    return at + 1;
  }

  #closeObject(): void {
    if (this.#state === IN_SERIES) {
      this.#seriesCount += 1;
      this.#sampleCount += this.#samples.count;
      if (this.#labelLength === 0) this.#keepLabels(Buffer.from('{}'), 0, 2);
      this.#onSeries({
        labelBytes: this.#labelBytes,
        labelLength: this.#labelLength,
        count: this.#samples.count,
        timesMs: this.#samples.timesMs,
        values: this.#samples.values,
        expected: this.#samples.expected?.count === this.#samples.count ? this.#samples.expected : undefined,
      });
      this.#state = IN_RESULT;
    } else this.#state = this.#state === IN_DATA ? IN_ANSWER : ENDED;
  }

  /** A name and the value after it. Gives back where it began if one of them is not whole yet. */
  #member(bytes: Buffer, from: number, end: number): number {
    const nameEnd = stringEnd(bytes, from, end);
    if (nameEnd < 0) return from;
    const colon = skipSpace(bytes, nameEnd, end);
    if (colon === end) return from;
    if (bytes[colon] !== COLON) throw notAnAnswer('JSON that is broken');
    const value = skipSpace(bytes, colon + 1, end);
    if (value === end) return from;
    const name = bytes.toString('latin1', from + 1, nameEnd - 1);
    const taken = this.#take(name, bytes, value, end);
    return taken < 0 ? from : taken;
  }

  #take(name: string, bytes: Buffer, at: number, end: number): number {
    const byte = bytes[at];
    if (this.#state === IN_SERIES) return this.#takeOfSeries(name, bytes, at, end);
    if (this.#state === IN_DATA && name === 'result' && byte === ARRAY) {
      this.#state = IN_RESULT;
      return at + 1;
    }
    if (this.#state === IN_ANSWER && name === 'data' && byte === OBJECT) {
      this.#state = IN_DATA;
      return at + 1;
    }
    if (this.#state === IN_ANSWER && (name === 'warnings' || name === 'infos') && byte === ARRAY) {
      const whole = matchingEnd(bytes, at, end);
      if (whole < 0) return -1;
      this.#warn(parsed(bytes, at, whole));
      return whole;
    }
    if (byte === QUOTE) {
      const whole = stringEnd(bytes, at, end);
      if (whole < 0) return -1;
      if (this.#words.size < 20) this.#words.set(name, String(parsed(bytes, at, whole)));
      return whole;
    }
    if (name === 'isPartial' && byte === 0x74) this.#warn(['the answer is partial']);
    return this.#beginSkip(at);
  }

  #takeOfSeries(name: string, bytes: Buffer, at: number, end: number): number {
    const byte = bytes[at];
    if (name === 'metric' && byte === OBJECT) {
      const whole = matchingEnd(bytes, at, end);
      if (whole < 0) return -1;
      this.#keepLabels(bytes, at, whole);
      return whole;
    }
    if (name === 'values' && byte === ARRAY) {
      this.#state = IN_VALUES;
      return at + 1;
    }
    if (name === 'value' && byte === ARRAY) {
      const whole = matchingEnd(bytes, at, end);
      if (whole < 0) return -1;
      this.#samples.slowPair(bytes, at, whole);
      return whole;
    }
    if (name === 'histograms' || name === 'histogram') this.#histograms += 1;
    return this.#beginSkip(at);
  }

  #keepLabels(bytes: Buffer, from: number, end: number): void {
    this.#labelLength = end - from;
    if (this.#labelLength > this.#labelBytes.length) this.#labelBytes = Buffer.alloc(this.#labelLength * 2);
    bytes.copy(this.#labelBytes, 0, from, end);
    const labels = { labelBytes: this.#labelBytes, labelLength: this.#labelLength };
    const expected = this.#onLabels?.(labels);
    if (this.#samples.count === 0) this.#samples.expected = expected;
  }

  #beginSkip(at: number): number {
    this.#afterSkip = this.#state;
    this.#state = SKIPPING;
    this.#depth = 0;
    this.#inString = false;
    this.#escaped = false;
    return at;
  }

  /** A value we have no use for, of any length. */
  #skip(bytes: Buffer, from: number, end: number): number {
    for (let at = from; at < end; at += 1) {
      const byte = bytes[at];
      if (this.#inString) {
        if (this.#escaped) this.#escaped = false;
        else if (byte === BACKSLASH) this.#escaped = true;
        else if (byte === QUOTE) this.#inString = false;
      } else if (byte === QUOTE) this.#inString = true;
      else if (byte === ARRAY || byte === OBJECT) this.#depth += 1;
      else if (this.#depth === 0 && (byte === COMMA || byte === ARRAY_END || byte === OBJECT_END)) {
        this.#state = this.#afterSkip;
        return at;
      } else if (byte === ARRAY_END || byte === OBJECT_END) this.#depth -= 1;
    }
    return end;
  }

  #pairs(bytes: Buffer, from: number, end: number): number {
    const at = this.#samples.pairs(bytes, from, end);
    if (this.#samples.isEnded) {
      this.#samples.isEnded = false;
      this.#state = IN_SERIES;
    }
    return at;
  }

  #warn(words: unknown): void {
    for (const word of Array.isArray(words) ? words : []) {
      if (this.#warnings.length < WARNINGS_MAX) this.#warnings.push(String(word).slice(0, 300));
    }
  }
}

function parsed(bytes: Buffer, from: number, end: number): unknown {
  try {
    return JSON.parse(bytes.toString('utf8', from, end));
  } catch (cause) {
    throw notAnAnswer('JSON that is broken', cause);
  }
}
