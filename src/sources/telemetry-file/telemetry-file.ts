import type { CollectedTable, FactRows } from '../../facts/source.ts';
import type { GpuReading } from '../gpu-metrics/gpu-reading.ts';
import type { CounterReading } from '../serving/counter-memory.ts';

/** Some of a file's lines (or entries), and what became of them. */
export interface FilePart {
  readonly count: number;
  /** The table they went into; undefined: skipped, or only context for the others. */
  readonly table?: CollectedTable;
  /** What they are, and for skipped ones why. */
  readonly what: string;
  readonly example?: string;
}

/** What a file turned out to be, with nothing unaccounted for: the counts of `parts` add up to `total`. */
export interface TelemetryFile {
  /** In words: `a scrape of dcgm-exporter`. */
  readonly kind: string;
  readonly isRecognised: boolean;
  /** What is counted: `line`, `entry`, … */
  readonly unit: string;
  readonly units: string;
  readonly total: number;
  readonly parts: readonly FilePart[];
  readonly readings: readonly GpuReading[];
  /** What it says beside the activity of GPUs: machines, holdings, who waits. */
  readonly facts?: readonly FactRows[];
  /** What counters of work stood at, and when: two scrapes of one target give the difference. */
  readonly scrape?: { readonly at: Date; readonly counters: readonly CounterReading[] };
  /** Assumptions, and what to type where another command reads such files. */
  readonly notes: readonly string[];
}

export interface TelemetryContext {
  /** The file's name without folder, packing and ending: the machine, where nothing else names one. */
  readonly stem: string;
  readonly nodeId?: string;
  readonly at?: Date;
  /** The zone of clocks that do not say theirs. */
  readonly zone?: string;
  readonly writtenAt: Date;
}

/** Lines of a text, the last one also if it does not end. */
export function linesOf(text: string): string[] {
  const lines = text.split('\n').map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/** Parts counted under their words, in the order they first came. */
export class PartCount {
  readonly #parts = new Map<string, { count: number; table?: FilePart['table']; example?: string }>();

  add(what: string, count = 1, more: { readonly table?: FilePart['table']; readonly example?: string } = {}): void {
    if (count === 0) return;
    const known = this.#parts.get(what);
    if (known === undefined) this.#parts.set(what, { count, ...more });
    else known.count += count;
  }

  parts(): FilePart[] {
    return [...this.#parts].map(([what, { count, table, example }]) => ({
      count,
      what,
      ...(table !== undefined && { table }),
      ...(example !== undefined && { example: example.slice(0, 100) }),
    }));
  }
}

/** A file of which nothing is taken, all of it for one reason. */
export function nothingTaken(kind: string, text: string, why: string, notes: readonly string[] = []): TelemetryFile {
  const count = new PartCount();
  const lines = linesOf(text);
  const blank = lines.filter((line) => line.trim() === '').length;
  count.add(why, lines.length - blank);
  count.add('blank', blank);
  return {
    kind,
    isRecognised: true,
    unit: 'line',
    units: 'lines',
    total: lines.length,
    parts: count.parts(),
    readings: [],
    notes,
  };
}
