import { counted, isoTime, minute } from './figures.ts';
import { safeText } from './safe-text.ts';
import { textTable } from './table.ts';
import { quantityText, unitWords, volume } from './unit-figures.ts';

/** A row of work as it was recorded by hand. */
export interface RecordedWork {
  readonly workId: string;
  readonly run: string;
  readonly unit: string;
  /** As it was written. */
  readonly quantity: string;
  readonly from: Date;
  /** Null for a moment. */
  readonly until: Date | null;
  readonly job: string | null;
  readonly recordedAt: Date;
}

/** Work of one name, unit and source. */
export interface KnownWork {
  readonly name: string | null;
  readonly unit: string;
  readonly source: string;
  readonly quantityMillionths: bigint;
  readonly counters: number;
  readonly firstAt: Date;
  readonly lastAt: Date;
}

const ROWS_SHOWN = 40;

export function recordedJson(work: RecordedWork): unknown {
  const { from, until, recordedAt, ...row } = work;
  return {
    ...row,
    from: isoTime(from),
    until: until === null ? null : isoTime(until),
    recordedAt: isoTime(recordedAt),
  };
}

export function recordedLines({ quantity, unit, run, job, from, until }: RecordedWork, dataFlag: string): string[] {
  const when = until === null ? `at ${minute(from)}` : `from ${minute(from)} to ${minute(until)}`;
  const by = job === null ? '' : `, done by job ${safeText(job)}`;
  return [
    `Recorded: ${quantity} ${unitWords(unit, 1n)} of ${safeText(run)} ${when} UTC${by}  → bursar outcomes --by run${dataFlag}`,
  ];
}

export function workJson(works: readonly KnownWork[]): unknown {
  return {
    work: works.map(({ quantityMillionths, firstAt, lastAt, ...work }) => ({
      ...work,
      quantity: quantityText(quantityMillionths),
      firstAt: isoTime(firstAt),
      lastAt: isoTime(lastAt),
    })),
  };
}

/** What work is known; where there is none, how to bring some in. */
export function workPage(works: readonly KnownWork[], dataFlag: string): string[] {
  if (works.length === 0) {
    return [
      'No work is known yet.',
      '  vLLM, Triton, SGLang, TGI: their counters come with a prometheus or scrape source  → bursar collect',
      `  your own: bursar work record --run R --unit step --quantity 1200${dataFlag}, or bursar import work FILE${dataFlag}`,
    ];
  }
  const names = new Set(works.map(({ name }) => name)).size;
  const columns = [
    { align: 'left', title: 'run or model' },
    { align: 'right', title: 'volume' },
    { align: 'left', title: 'of' },
    { align: 'left', title: 'counted by' },
    { align: 'left', title: 'first' },
    { align: 'left', title: 'last' },
  ] as const;
  const rows = works
    .slice(0, ROWS_SHOWN)
    .map(({ name, unit, source, quantityMillionths, counters, firstAt, lastAt }) => [
      safeText(name ?? 'no name'),
      volume(quantityMillionths, 1n),
      unitWords(unit, 1n),
      `${safeText(source)}, ${counted(counters, 'counter')}`,
      minute(firstAt),
      minute(lastAt),
    ]);
  const more = works.length - ROWS_SHOWN;
  return [
    `Work of ${counted(names, 'run or model', 'runs and models')}, last seen first; what a unit cost: bursar outcomes${dataFlag}`,
    '',
    ...textTable(columns, rows),
    ...(more > 0 ? [`and ${counted(more, 'row')} more: --json has them all`] : []),
  ];
}
