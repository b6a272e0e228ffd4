import type { Seconds } from '../timeline.ts';

interface Entry<Event> {
  readonly at: Seconds;
  readonly rank: number;
  readonly order: number;
  readonly event: Event;
}

/** What happens next? Events by time; at the same second by rank, then as they were put in. A binary heap. */
export class EventQueue<Event> {
  readonly #heap: Entry<Event>[] = [];
  #order = 0;

  put(at: Seconds, rank: number, event: Event): void {
    const entry = { at, rank, order: (this.#order += 1), event };
    const heap = this.#heap;
    let place = heap.length;
    while (place > 0) {
      const above = (place - 1) >> 1;
      if (!isBefore(entry, heap[above]!)) break;
      heap[place] = heap[above]!;
      place = above;
    }
    heap[place] = entry;
  }

  /** When the next event happens; Infinity if nothing will. */
  nextAt(): Seconds {
    return this.#heap[0]?.at ?? Infinity;
  }

  take(): Event {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined) throw new Error('took an event where there is none');
    if (heap.length > 0) this.#sink(last);
    return first.event;
  }

  #sink(entry: Entry<Event>): void {
    const heap = this.#heap;
    let place = 0;
    for (;;) {
      const left = 2 * place + 1;
      if (left >= heap.length) break;
      const right = left + 1;
      const below = right < heap.length && isBefore(heap[right]!, heap[left]!) ? right : left;
      if (!isBefore(heap[below]!, entry)) break;
      heap[place] = heap[below]!;
      place = below;
    }
    heap[place] = entry;
  }
}

function isBefore<Event>(a: Entry<Event>, b: Entry<Event>): boolean {
  if (a.at !== b.at) return a.at < b.at;
  return a.rank === b.rank ? a.order < b.order : a.rank < b.rank;
}
