import { OperationError } from '../../../facts/operation-error.ts';
import { matchingEnd, numberBetween, POWERS_OF_TEN, skipSpace } from './json-bytes.ts';

const [QUOTE, COMMA, ARRAY, ARRAY_END, DOT, ZERO] = [0x22, 0x2c, 0x5b, 0x5d, 0x2e, 0x30] as const;

/** So many digits are a whole number that a double holds exactly, and its quotient by a power of ten is the nearest double. */
const EXACT_DIGITS = 15;

/** Of a bracket and ten digits. */
const WHOLE_LENGTH = 11;

/**
 * The times a series is likely to have, because another metric of the same exporter had them: pairs are then known by a look at their
 * digits. Times are between 2001 and 2286, so their seconds have ten digits.
 */
export interface ExpectedTimes {
  readonly count: number;
  readonly timesMs: Float64Array;
  /** From the bracket to the comma: `[1763287200.123`. The same for all. */
  readonly textLength: number;
  /** Of each time, four words as they stand in the text: the digits 1 to 4, 4 to 7, 7 to 10, and the point with three more. */
  readonly words: Uint32Array;
}

/** The expectation of these times; undefined where their texts differ in length. */
export function expectedTimes(timesMs: Float64Array): ExpectedTimes | undefined {
  const words = new Uint32Array(timesMs.length * 4);
  const isWhole = (timesMs[0] ?? 0) % 1000 === 0;
  for (let place = 0; place < timesMs.length; place += 1) {
    const timeMs = timesMs[place] as number;
    const seconds = Math.floor(timeMs / 1000);
    const thousandths = timeMs - seconds * 1000;
    if ((thousandths === 0) !== isWhole || seconds < 1e9 || seconds >= 1e10) return undefined;
    const millions = Math.floor(seconds / 1e6);
    const below = seconds - millions * 1e6;
    words[place * 4] = wordOf(millions);
    words[place * 4 + 1] = wordOf((millions % 10) * 1000 + Math.floor(below / 1000));
    words[place * 4 + 2] = wordOf(below % 10_000);
    words[place * 4 + 3] = wordOf(thousandths) - ((ZERO - DOT) << 24);
  }
  return { count: timesMs.length, timesMs, textLength: isWhole ? WHOLE_LENGTH : WHOLE_LENGTH + 4, words };
}

/** Four digits as the four bytes of their text. In whole numbers of 32 bits, because it is asked for each of millions. */
function wordOf(digits: number): number {
  const thousands = (digits / 1000) | 0;
  const below = (digits - thousands * 1000) | 0;
  const hundreds = (below / 100) | 0;
  const last = (below - hundreds * 100) | 0;
  const tens = (last / 10) | 0;
  return 0x30303030 + ((thousands << 24) | (hundreds << 16) | (tens << 8) | (last - tens * 10));
}

/** The samples of one series on their way out of JSON. The arrays are kept from series to series. */
export class SeriesValues {
  timesMs: Float64Array = new Float64Array(1024);
  values: Float64Array = new Float64Array(1024);
  count = 0;
  /** The list of pairs is read to its end. */
  isEnded = false;

  /** All samples so far have come at the times that were expected. */
  expected: ExpectedTimes | undefined;

  begin(): void {
    this.count = 0;
    this.isEnded = false;
    this.expected = undefined;
  }

  /** Pairs at expected times: most of an hour of a large fleet. Ends at the first that is not one. */
  #expectedPairs(bytes: Buffer, from: number, last: number, expected: ExpectedTimes): number {
    const { textLength, words, timesMs: times } = expected;
    const isWhole = textLength === WHOLE_LENGTH;
    if (this.timesMs.length < expected.count) this.#grow(expected.count);
    const [timesMs, values] = [this.timesMs, this.values];
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    let count = this.count;
    let at = from;
    while (count < expected.count) {
      const begin = at < last && bytes[at] === COMMA ? at + 1 : at;
      if (begin + textLength + 3 > last || bytes[begin] !== ARRAY) break;
      const isTime =
        view.getUint32(begin + 7) === words[count * 4 + 2] &&
        view.getUint32(begin + 4) === words[count * 4 + 1] &&
        view.getUint32(begin + 1) === words[count * 4] &&
        (isWhole || view.getUint32(begin + 11) === words[count * 4 + 3]);
      let next = begin + textLength + 1;
      if (!isTime || bytes[next - 1] !== COMMA || bytes[next] !== QUOTE) break;
      const digitsFrom = next + 1;
      let mantissa = 0;
      let pointAt = -1;
      let digit: number;
      for (;;) {
        digit = (bytes[++next] as number) - ZERO;
        if (digit >= 0 && digit <= 9) mantissa = mantissa * 10 + digit;
        else if (digit === DOT - ZERO && pointAt < 0) pointAt = next;
        else break;
      }
      const digits = next - digitsFrom - (pointAt < 0 ? 0 : 1);
      if (digit !== QUOTE - ZERO || bytes[next + 1] !== ARRAY_END || digits === 0 || digits > EXACT_DIGITS) break;
      timesMs[count] = times[count] as number;
      values[count] = pointAt < 0 ? mantissa : mantissa / (POWERS_OF_TEN[next - pointAt - 1] as number);
      count += 1;
      at = next + 2;
    }
    this.count = count;
    return at;
  }

  /**
   * The hot loop: `[1763287200.123,"0.873"],` again and again. The last bracket of what we have bounds it: up to there every
   * pair is whole, and no byte needs a check of its own.
   */
  pairs(bytes: Buffer, from: number, end: number): number {
    const last = end === 0 ? -1 : bytes.lastIndexOf(ARRAY_END, end - 1);
    let at = this.expected === undefined ? from : this.#expectedPairs(bytes, from, last, this.expected);
    let [timesMs, values] = [this.timesMs, this.values];
    let count = this.count;
    while (at <= last) {
      const byte = bytes[at] as number;
      if (byte === COMMA) {
        at += 1;
        continue;
      }
      if (byte !== ARRAY) break;
      // A pair that came otherwise than expected: the rest is read as it comes.
      this.expected = undefined;
      const begin = at;
      let digit = (bytes[++at] as number) - ZERO;
      let seconds = 0;
      while (digit >= 0 && digit <= 9) {
        seconds = seconds * 10 + digit;
        digit = (bytes[++at] as number) - ZERO;
      }
      let thousandths = 0;
      if (digit === DOT - ZERO) {
        const fractionFrom = at + 1;
        digit = (bytes[++at] as number) - ZERO;
        while (digit >= 0 && digit <= 9 && at - fractionFrom < 9) {
          thousandths = thousandths * 10 + digit;
          digit = (bytes[++at] as number) - ZERO;
        }
        const digits = at - fractionFrom;
        if (digits !== 3) thousandths = Math.round(thousandths * (POWERS_OF_TEN[9 - digits] as number) * 1e-6);
      }
      let whole = digit === COMMA - ZERO && bytes[at + 1] === QUOTE;
      at += 1;
      const digitsFrom = at + 1;
      let mantissa = 0;
      let pointAt = -1;
      if (whole) {
        for (;;) {
          digit = (bytes[++at] as number) - ZERO;
          if (digit >= 0 && digit <= 9) mantissa = mantissa * 10 + digit;
          else if (digit === DOT - ZERO && pointAt < 0) pointAt = at;
          else break;
        }
        const digits = at - digitsFrom - (pointAt < 0 ? 0 : 1);
        whole = digit === QUOTE - ZERO && bytes[at + 1] === ARRAY_END && digits > 0 && digits <= EXACT_DIGITS;
      }
      if (count === timesMs.length) {
        this.#grow();
        [timesMs, values] = [this.timesMs, this.values];
      }
      if (whole) {
        timesMs[count] = seconds * 1000 + thousandths;
        values[count] = pointAt < 0 ? mantissa : mantissa / (POWERS_OF_TEN[at - pointAt - 1] as number);
        count += 1;
        at += 2;
      } else {
        this.count = count;
        const pairEnd = matchingEnd(bytes, begin, end);
        if (pairEnd < 0) return begin;
        this.slowPair(bytes, begin, pairEnd);
        count = this.count;
        at = pairEnd;
      }
    }
    this.count = count;
    return at > last ? at : this.#endOfPairs(bytes, at, end);
  }

  #endOfPairs(bytes: Buffer, from: number, end: number): number {
    const at = skipSpace(bytes, from, end);
    if (at === end || bytes[at] === ARRAY || bytes[at] === COMMA) return at;
    if (bytes[at] !== ARRAY_END) throw notAnAnswer('values that are no pairs of time and value');
    this.isEnded = true;
    return at + 1;
  }

  /** A pair in any other spelling: spaces, exponents, NaN, +Inf, a number without quotes. */
  slowPair(bytes: Buffer, from: number, end: number): void {
    const pair = numberBetween(bytes, from, end);
    if (pair === undefined) throw notAnAnswer('values that are no pairs of time and value');
    if (this.count === this.timesMs.length) this.#grow();
    this.timesMs[this.count] = Math.round(pair.seconds * 1000);
    this.values[this.count] = pair.value;
    this.count += 1;
  }

  #grow(wanted = this.timesMs.length * 2): void {
    const grown = (before: Float64Array): Float64Array => {
      const after = new Float64Array(wanted);
      after.set(before);
      return after;
    };
    this.timesMs = grown(this.timesMs);
    this.values = grown(this.values);
  }
}

export function notAnAnswer(what: string, cause?: unknown): OperationError {
  return new OperationError('not-prometheus', `this is no answer of the Prometheus API: ${what}`, {
    hint: 'check the address: it is the one under which /api/v1/query answers',
    ...(cause !== undefined && { cause }),
  });
}
