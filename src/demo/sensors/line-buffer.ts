const CHUNK_BYTES = 65_536;
/** More than the longest line of a sample, with the longest name of a device. */
const LINE_BYTES_MAX = 2048;
const [ZERO, COMMA, NEWLINE] = [48, 44, 10] as const;

/** Lines put together as bytes: a large fleet has tens of millions of them, and joined texts would be as many for the collector. */
export class LineBuffer {
  #bytes = Buffer.allocUnsafe(CHUNK_BYTES + LINE_BYTES_MAX);
  #at = 0;
  #lineFrom = 0;

  get isEmpty(): boolean {
    return this.#at === 0;
  }

  get isFull(): boolean {
    return this.#at >= CHUNK_BYTES;
  }

  /** Bytes of a text, from one place to another. */
  text(source: Uint8Array, from: number, until: number): void {
    const bytes = this.#bytes;
    let at = this.#at;
    for (let index = from; index < until; index += 1, at += 1) bytes[at] = source[index]!;
    this.#at = at;
  }

  /** A whole number from 0 on. */
  number(value: number): void {
    const bytes = this.#bytes;
    let digits = 1;
    for (let least = 10; value >= least; least *= 10) digits += 1;
    const until = this.#at + digits;
    let left = value;
    for (let at = until - 1; at >= this.#at; at -= 1) {
      const tenth = Math.floor(left / 10);
      bytes[at] = ZERO + left - tenth * 10;
      left = tenth;
    }
    this.#at = until;
  }

  comma(): void {
    this.#bytes[this.#at] = COMMA;
    this.#at += 1;
  }

  startLine(): void {
    if (this.#bytes.length - this.#at < LINE_BYTES_MAX) this.#grow();
    this.#lineFrom = this.#at;
  }

  /** Ends the line and writes it so many times in all. */
  endLine(times: number): void {
    this.#bytes[this.#at] = NEWLINE;
    this.#at += 1;
    const [from, until] = [this.#lineFrom, this.#at];
    for (let time = 1; time < times; time += 1) {
      this.startLine();
      this.text(this.#bytes, from, until);
    }
  }

  /** What was written, as text, and begins anew. */
  take(): string {
    const text = this.#bytes.toString('utf8', 0, this.#at);
    this.#at = 0;
    this.#lineFrom = 0;
    return text;
  }

  #grow(): void {
    const larger = Buffer.allocUnsafe(this.#bytes.length * 2);
    this.#bytes.copy(larger, 0, 0, this.#at);
    this.#bytes = larger;
  }
}
