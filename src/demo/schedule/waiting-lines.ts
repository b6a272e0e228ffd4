interface Line<Ask> {
  readonly gpus: number;
  /** Those who wait stand from `next` on. */
  asks: { readonly ask: Ask; readonly order: number }[];
  next: number;
}

/**
 * Who waits, in the order they came. There is a line for each size, because who stands behind somebody of the same size
 * cannot pass: however many wait, only the first of each line is ever looked at.
 */
export class WaitingLines<Ask> {
  /** Smallest size first. */
  readonly #lines: Line<Ask>[] = [];
  #order = 0;

  join(gpus: number, ask: Ask): void {
    let line = this.#lines.find((other) => other.gpus === gpus);
    if (line === undefined) {
      line = { gpus, asks: [], next: 0 };
      this.#lines.push(line);
      this.#lines.sort((a, b) => a.gpus - b.gpus);
    }
    line.asks.push({ ask, order: (this.#order += 1) });
  }

  /** All who wait, in the order they came. */
  all(): readonly Ask[] {
    return this.#lines
      .flatMap(({ asks, next }) => asks.slice(next))
      .sort((a, b) => a.order - b.order)
      .map(({ ask }) => ask);
  }

  /** Who has waited longest of those that need fewer than so many. */
  first(fewerThan = Infinity): Ask | undefined {
    return this.#firstLine(fewerThan)?.ask;
  }

  /** Takes the one out that `first` names. */
  takeFirst(fewerThan = Infinity): void {
    const line = this.#firstLine(fewerThan)?.line;
    if (line === undefined) return;
    line.next += 1;
    // Moved up now and then, not for each: a line may be long.
    if (line.next < 64 || line.next * 2 < line.asks.length) return;
    line.asks = line.asks.slice(line.next);
    line.next = 0;
  }

  #firstLine(fewerThan: number): { readonly line: Line<Ask>; readonly ask: Ask } | undefined {
    let [firstLine, first]: [Line<Ask> | undefined, Line<Ask>['asks'][number] | undefined] = [undefined, undefined];
    for (const line of this.#lines) {
      if (line.gpus >= fewerThan) break;
      const head = line.asks[line.next];
      if (head !== undefined && (first === undefined || head.order < first.order)) [firstLine, first] = [line, head];
    }
    return firstLine === undefined || first === undefined ? undefined : { line: firstLine, ask: first.ask };
  }
}
