import { appendFileSync, closeSync, mkdirSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Seconds } from '../../src/demo/timeline.ts';
import type { Play } from './play.ts';
import { millisecondOf, scrapedOf } from './scraped.ts';
import { familyHeader, type Sink } from './series.ts';

const SPOOL_CHARACTERS = 1 << 18;
const COPY_BYTES = 1 << 20;

export interface HistoryReport {
  readonly samples: number;
  readonly families: number;
}

/**
 * Writes what a Prometheus would have of the play up to a moment, as OpenMetrics text for `lab/prometheus backfill`.
 *
 * Families may not be mixed in OpenMetrics, and the play is read machine by machine, so each family is spooled beside the
 * file and put in at the end: memory stays the same however long the history is.
 */
export function writeHistory(played: Play, file: string, until: Seconds): HistoryReport {
  const folder = `${file}.families`;
  mkdirSync(folder, { recursive: true });
  const spools = new Map<string, Spool>();
  let samples = 0;
  const sink: Sink = {
    sample: (metric, labels, value, moment) => {
      let spool = spools.get(metric);
      if (spool === undefined)
        spools.set(metric, (spool = new Spool(join(folder, encodeURIComponent(metric)), metric)));
      spool.add(`${metric}{${labels}} ${value} ${moment}.${String(millisecondOf(labels)).padStart(3, '0')}\n`);
      samples += 1;
    },
  };
  try {
    scrapedOf(played)(played.scope.from, until, sink);
    putTogether(file, spools);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return { samples, families: spools.size };
}

/** The lines of one family, in a file of their own. */
class Spool {
  readonly path: string;
  #waiting: string;

  constructor(path: string, metric: string) {
    this.path = path;
    this.#waiting = familyHeader(metric, 'openmetrics');
  }

  add(line: string): void {
    this.#waiting += line;
    if (this.#waiting.length >= SPOOL_CHARACTERS) this.flush();
  }

  flush(): void {
    appendFileSync(this.path, this.#waiting);
    this.#waiting = '';
  }
}

function putTogether(file: string, spools: ReadonlyMap<string, Spool>): void {
  const out = openSync(file, 'w');
  const buffer = Buffer.allocUnsafe(COPY_BYTES);
  try {
    for (const [, spool] of [...spools].sort(([a], [b]) => (a < b ? -1 : 1))) {
      spool.flush();
      const part = openSync(spool.path, 'r');
      for (let read = readSync(part, buffer); read > 0; read = readSync(part, buffer)) writeSync(out, buffer, 0, read);
      closeSync(part);
      rmSync(spool.path);
    }
    writeSync(out, '# EOF\n');
  } finally {
    closeSync(out);
  }
}
