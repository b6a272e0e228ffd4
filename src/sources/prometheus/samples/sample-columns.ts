import { NO_SAMPLE, type SampleBlock } from '../../../facts/source.ts';
import { columnRange, type GpuMetric } from '../../gpu-metrics/metric-columns.ts';
import type { MatrixSeries } from '../api/matrix-reader.ts';
import { expectedTimes, type ExpectedTimes } from '../api/series-values.ts';

/** How a metric's values become cells: the numbers of `toColumnValue`, laid out for a loop over millions. */
interface Slot {
  readonly metric: GpuMetric;
  /** The place of its cells; metrics of one column share it, parts of a sum have one each. */
  readonly place: number;
  readonly greatest: number;
  readonly most: number;
}

/** The samples of one device: times in order, and for each slot one cell a time. */
interface DeviceRows {
  /** The exporter the rows were begun from. */
  readonly exporter: string;
  count: number;
  times: Int32Array;
  cells: Int32Array;
  /** The times of the rows, as the next metric will bring them; only while they are those of one series. */
  expected: ExpectedTimes | undefined;
}

const FIRST_ROWS = 128;

/**
 * Samples of many series on their way to one block: one row for each device and second, one column for each metric.
 *
 * Of two readings of one device, metric and moment the greater is kept, since a zero of a second exporter must not hide work; a
 * series that repeats for each pod on a shared GPU is thereby counted once. Adding the same series again changes nothing.
 */
export class SampleColumns {
  readonly #fromMs: number;
  readonly #untilMs: number;
  readonly #futureMs: number;
  readonly #nearS: number;
  readonly #slots: readonly Slot[];
  readonly #places: number;
  readonly #ids: string[] = [];
  readonly #indices = new Map<string, number>();
  readonly #rows: (DeviceRows | undefined)[] = [];
  /** Readings that were no values, by metric, and those from the future. */
  readonly blanks: number[];
  future = 0;

  constructor(options: {
    readonly metrics: readonly GpuMetric[];
    readonly fromMs: number;
    readonly untilMs: number;
    /** What lies beyond is a clock that goes wrong. */
    readonly futureMs: number;
    /** Readings of a second exporter this near to one of the first are of the same moment. */
    readonly nearS: number;
  }) {
    this.#fromMs = options.fromMs;
    this.#untilMs = options.untilMs;
    this.#futureMs = options.futureMs;
    this.#nearS = options.nearS;
    const places = new Map<string, number>();
    this.#slots = options.metrics.map((metric) => {
      const key = metric.share === 'part' ? metric.metric : metric.column;
      if (!places.has(key)) places.set(key, places.size);
      return { metric, place: places.get(key) ?? 0, ...columnRange(metric.column) };
    });
    this.#places = places.size;
    this.blanks = options.metrics.map(() => 0);
  }

  get deviceCount(): number {
    return this.#ids.length;
  }

  device(deviceId: string): number {
    const known = this.#indices.get(deviceId);
    if (known !== undefined) return known;
    this.#indices.set(deviceId, this.#ids.length);
    this.#rows.push(undefined);
    return this.#ids.push(deviceId) - 1;
  }

  /** At which times is the next metric of this device likely to be? */
  expected(device: number, exporter: string): ExpectedTimes | undefined {
    const rows = this.#rows[device];
    return rows?.exporter === exporter ? rows.expected : undefined;
  }

  /** Gives the first and last moment of the series within the span, in ms; undefined if it has none there. */
  add(device: number, metricIndex: number, exporter: string, series: MatrixSeries): [number, number] | undefined {
    const slot = this.#slots[metricIndex];
    if (slot === undefined) return undefined;
    const rows = (this.#rows[device] ??= {
      exporter,
      count: 0,
      times: new Int32Array(FIRST_ROWS),
      cells: new Int32Array(FIRST_ROWS * this.#places).fill(NO_SAMPLE),
      expected: undefined,
    });
    if (series.expected !== undefined && series.expected === rows.expected) {
      this.#addExpected(rows, slot, metricIndex, series);
      return [series.timesMs[0] ?? 0, series.timesMs[series.count - 1] ?? 0];
    }
    const isFirst = rows.count === 0;
    const span =
      rows.exporter === exporter
        ? this.#addInTurn(rows, slot, metricIndex, series)
        : this.#addBeside(rows, slot, metricIndex, series);
    if (isFirst && rows.count === series.count) rows.expected = expectedTimes(series.timesMs.slice(0, series.count));
    return span;
  }

  /** Each sample belongs to the row of its place: the most common case, and the cheapest. */
  #addExpected(rows: DeviceRows, slot: Slot, metricIndex: number, { values, count }: MatrixSeries): void {
    const { greatest, most } = slot;
    const { factor, blankFrom } = slot.metric;
    const [multiplier, divisor] = factor;
    const { cells } = rows;
    const base = slot.place * rows.times.length;
    let blanks = 0;
    for (let row = 0; row < count; row += 1) {
      const value = values[row] as number;
      const cell = Math.round(divisor === 1 ? value * multiplier : (value * multiplier) / divisor);
      if (value >= 0 && value < blankFrom && cell <= greatest) {
        const kept = cell < most ? cell : most;
        if (kept > (cells[base + row] as number)) cells[base + row] = kept;
      } else blanks += 1;
    }
    if (blanks > 0) this.blanks[metricIndex] = (this.blanks[metricIndex] ?? 0) + blanks;
  }

  /** The common case: times come in order and most are there already, from the metric before. */
  #addInTurn(rows: DeviceRows, slot: Slot, metricIndex: number, series: MatrixSeries): [number, number] | undefined {
    const { timesMs, values, count } = series;
    const { place, greatest, most } = slot;
    const { factor, blankFrom } = slot.metric;
    const [multiplier, divisor] = factor;
    const [fromMs, untilMs, futureMs] = [this.#fromMs, Math.min(this.#untilMs, this.#futureMs), this.#futureMs];
    let [times, cells] = [rows.times, rows.cells];
    let at = 0;
    let blanks = 0;
    let [first, last] = [Infinity, -Infinity];
    for (let index = 0; index < count; index += 1) {
      const timeMs = timesMs[index] as number;
      if (timeMs < fromMs || timeMs >= untilMs) {
        if (timeMs >= futureMs) this.future += 1;
        continue;
      }
      if (timeMs < first) first = timeMs;
      if (timeMs > last) last = timeMs;
      const value = values[index] as number;
      const cell = Math.round(divisor === 1 ? value * multiplier : (value * multiplier) / divisor);
      if (!(value >= 0 && value < blankFrom && cell <= greatest)) {
        blanks += 1;
        continue;
      }
      const second = ((timeMs - fromMs) / 1000) | 0;
      if (at > 0 && (times[at - 1] as number) >= second) at = placeOf(times, rows.count, second);
      while (at < rows.count && (times[at] as number) < second) at += 1;
      if (at === rows.count || times[at] !== second) {
        this.#insert(rows, at, second);
        [times, cells] = [rows.times, rows.cells];
      }
      const target = place * times.length + at;
      const kept = cell < most ? cell : most;
      if (kept > (cells[target] as number)) cells[target] = kept;
      at += 1;
    }
    if (blanks > 0) this.blanks[metricIndex] = (this.blanks[metricIndex] ?? 0) + blanks;
    return last < first ? undefined : [first, last];
  }

  /** A second exporter reads the same GPU a few seconds later: what it says belongs to the moments of the first. */
  #addBeside(rows: DeviceRows, slot: Slot, metricIndex: number, series: MatrixSeries): [number, number] | undefined {
    const timesMs = series.timesMs.slice(0, series.count);
    let span: [number, number] | undefined;
    for (const [index, timeMs] of timesMs.entries()) {
      if (timeMs < this.#fromMs || timeMs >= this.#untilMs || timeMs >= this.#futureMs) continue;
      span = span === undefined ? [timeMs, timeMs] : [Math.min(span[0], timeMs), Math.max(span[1], timeMs)];
      const near = this.#nearest(rows, (timeMs - this.#fromMs) / 1000);
      if (near !== undefined) timesMs[index] = this.#fromMs + near * 1000;
    }
    // Two of its readings may now be of one moment; both are added, and the greater stays.
    this.#addInTurn(rows, slot, metricIndex, { ...series, timesMs });
    return span;
  }

  #nearest(rows: DeviceRows, second: number): number | undefined {
    const at = placeOf(rows.times, rows.count, second);
    let [best, distance] = [undefined as number | undefined, this.#nearS + 1];
    for (const place of [at - 1, at]) {
      const time = place >= 0 && place < rows.count ? rows.times[place] : undefined;
      if (time === undefined || Math.abs(time - second) >= distance) continue;
      best = time;
      distance = Math.abs(time - second);
    }
    return best;
  }

  #insert(rows: DeviceRows, at: number, second: number): void {
    rows.expected = undefined;
    const before = rows.times.length;
    if (rows.count === before) {
      const times = new Int32Array(before * 2);
      const cells = new Int32Array(before * 2 * this.#places).fill(NO_SAMPLE);
      times.set(rows.times);
      for (let place = 0; place < this.#places; place += 1) {
        cells.set(rows.cells.subarray(place * before, (place + 1) * before), place * before * 2);
      }
      rows.times = times;
      rows.cells = cells;
    }
    if (at < rows.count) {
      const size = rows.times.length;
      rows.times.copyWithin(at + 1, at, rows.count);
      for (let place = 0; place < this.#places; place += 1) {
        const start = place * size + at;
        rows.cells.copyWithin(start + 1, start, place * size + rows.count);
        rows.cells[start] = NO_SAMPLE;
      }
    }
    rows.times[at] = second;
    rows.count += 1;
  }

  /** Everything added, as the lake takes it; `stepS` is the distance of samples where they are too few to tell. */
  block(batch: string, mode: SampleBlock['mode'], stepS: number | undefined): SampleBlock {
    const total = this.#rows.reduce((sum, rows) => sum + (rows?.count ?? 0), 0);
    const deviceIndex = new Uint32Array(total);
    const tsSeconds = new Uint32Array(total);
    const cells = Array.from({ length: this.#places }, () => new Int32Array(total));
    const fromS = Math.floor(this.#fromMs / 1000);
    let at = 0;
    for (const [device, rows] of this.#rows.entries()) {
      if (rows === undefined) continue;
      const { count, times } = rows;
      deviceIndex.fill(device, at, at + count);
      for (let row = 0; row < count; row += 1) tsSeconds[at + row] = fromS + (times[row] as number);
      for (const [place, column] of cells.entries()) {
        column.set(rows.cells.subarray(place * times.length, place * times.length + count), at);
      }
      at += count;
    }
    const distance = this.#commonStepS(stepS);
    return {
      batch,
      mode,
      devices: this.#ids,
      rows: total,
      deviceIndex,
      tsSeconds,
      ...(distance !== undefined && { stepS: distance }),
      metrics: this.#columns(cells, total),
    };
  }

  /** Sent and received make traffic only where both are known. */
  #columns(cells: readonly Int32Array[], total: number): Map<string, Int32Array> {
    const columns = new Map<string, Int32Array>();
    const sums = new Map<string, Slot[]>();
    for (const slot of this.#slots) {
      const values = cells[slot.place];
      if (values === undefined) continue;
      if (slot.metric.share === 'whole') columns.set(slot.metric.column, values);
      else {
        const key = `${slot.metric.exporter} ${slot.metric.column}`;
        sums.set(key, [...(sums.get(key) ?? []), slot]);
      }
    }
    for (const parts of sums.values()) {
      const column = parts[0]?.metric.column ?? '';
      const kept = columns.get(column) ?? new Int32Array(total).fill(NO_SAMPLE);
      columns.set(column, kept);
      if (parts.length >= 2) addSums(kept, parts, cells);
    }
    for (const [column, values] of columns) if (values.every((value) => value === NO_SAMPLE)) columns.delete(column);
    return columns;
  }

  /** Undefined where devices do not agree: the lake then takes the distance of each. */
  #commonStepS(otherwiseS: number | undefined): number | undefined {
    const distances = new Map<number, number>();
    let total = 0;
    for (const rows of this.#rows) {
      for (let row = 1; row < Math.min(rows?.count ?? 0, 20); row += 1) {
        const distance = (rows?.times[row] ?? 0) - (rows?.times[row - 1] ?? 0);
        distances.set(distance, (distances.get(distance) ?? 0) + 1);
        total += 1;
      }
    }
    const [step] = [...distances].toSorted((a, b) => b[1] - a[1])[0] ?? [];
    if (step === undefined) return otherwiseS;
    const near = [...distances].filter(([distance]) => Math.abs(distance - step) <= Math.max(1, step / 10));
    return near.reduce((sum, [, count]) => sum + count, 0) >= total * 0.9 ? step : undefined;
  }

  /** Seconds of the span, from its beginning, in which some device has a sample. */
  marks(): Uint8Array {
    const marks = new Uint8Array(Math.ceil((this.#untilMs - this.#fromMs) / 1000));
    for (const rows of this.#rows) {
      for (let row = 0; row < (rows?.count ?? 0); row += 1) marks[rows?.times[row] ?? 0] = 1;
    }
    return marks;
  }
}

function addSums(kept: Int32Array, parts: readonly Slot[], cells: readonly Int32Array[]): void {
  for (let row = 0; row < kept.length; row += 1) {
    let sum = 0;
    for (const { place } of parts) {
      const value = cells[place]?.[row] ?? NO_SAMPLE;
      sum = value === NO_SAMPLE || sum === NO_SAMPLE ? NO_SAMPLE : sum + value;
    }
    if (sum > (kept[row] ?? NO_SAMPLE)) kept[row] = sum;
  }
}

/** The first place whose time is not before the second. */
function placeOf(times: Int32Array, count: number, second: number): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] as number) < second) low = middle + 1;
    else high = middle;
  }
  return low;
}
