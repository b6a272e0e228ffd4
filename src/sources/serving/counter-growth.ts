/** What a counter may reach and still be counted one by one in a double. */
const MOST = Number.MAX_SAFE_INTEGER;

/**
 * By how much a counter has grown, sample by sample.
 *
 * A value below the one before is a counter that began anew, so all of it is growth. The first value says nothing: it may have been reached
 * yesterday. What lies between two samples belongs to the later.
 */
export class CounterGrowth {
  #last: number | undefined;
  #firstMs = Infinity;
  #lastMs = -Infinity;
  #grown = 0;
  #hasGrown = false;

  /** A value from before: where the growth begins. */
  static since(value: number): CounterGrowth {
    const growth = new CounterGrowth();
    if (isCount(value)) growth.#last = Math.round(value);
    return growth;
  }

  /** Values come in the order of their times. What is no count (NaN, infinite, negative) is passed over. */
  add(timeMs: number, value: number): void {
    if (!isCount(value) || timeMs <= this.#lastMs) return;
    const count = Math.round(value);
    if (this.#last !== undefined) {
      this.#grown += count >= this.#last ? count - this.#last : count;
      this.#hasGrown = true;
    }
    this.#last = count;
    this.#firstMs = Math.min(this.#firstMs, timeMs);
    this.#lastMs = timeMs;
  }

  /** Undefined while there is nothing to compare: one value alone is unknown growth, not none. */
  get grown(): number | undefined {
    return this.#hasGrown ? this.#grown : undefined;
  }

  get firstMs(): number {
    return this.#firstMs;
  }

  get lastMs(): number {
    return this.#lastMs;
  }
}

export function isCount(value: number): boolean {
  return Number.isFinite(value) && value >= 0 && value <= MOST;
}
