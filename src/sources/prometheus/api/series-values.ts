import { OperationError } from '../../../facts/operation-error.ts';
import { matchingEnd, numberBetween, POWERS_OF_TEN, skipSpace } from './json-bytes.ts';

const [QUOTE, COMMA, ARRAY, ARRAY_END, DOT, ZERO] = [0x22, 0x2c, 0x5b, 0x5d, 0x2e, 0x30] as const;

/** So many digits are a whole number that a double holds exactly, and its quotient by a power of ten is the nearest double. */
const EXACT_DIGITS = 15;

/** The samples of one series on their way out of JSON. The arrays are kept from series to series. */
export class SeriesValues {
  timesMs: Float64Array = new Float64Array(1024);
  values: Float64Array = new Float64Array(1024);
  count = 0;
  /** The list of pairs is read to its end. */
  isEnded = false;

  begin(): void {
    this.count = 0;
    this.isEnded = false;
  }

  /**
   * The hot loop: `[1763287200.123,"0.873"],` again and again. The last bracket of what we have bounds it: up to there every
   * pair is whole, and no byte needs a check of its own.
   */
  pairs(bytes: Buffer, from: number, end: number): number {
    const last = end === 0 ? -1 : bytes.lastIndexOf(ARRAY_END, end - 1);
    let [timesMs, values] = [this.timesMs, this.values];
    let count = this.count;
    let at = from;
    while (at <= last) {
      const byte = bytes[at] as number;
      if (byte === COMMA) {
        at += 1;
        continue;
      }
      if (byte !== ARRAY) break;
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

  #grow(): void {
    const grown = (before: Float64Array): Float64Array => {
      const after = new Float64Array(before.length * 2);
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
