import type { SourceRecord } from '../facts/source-record.ts';
import { counted, duration, isoTime, minute } from './figures.ts';
import { safeText } from './safe-text.ts';
import { textTable } from './table.ts';

/** `just now`, `4 min ago`. */
export function ageText(time: Date, now: Date): string {
  const seconds = Math.round((now.getTime() - time.getTime()) / 1000);
  return seconds < 60 ? 'just now' : `${duration(seconds)} ago`;
}

/** How one source went, for the page: the app's outcome has these fields. */
export interface CollectedSource {
  readonly name: string;
  readonly kind: string;
  readonly state: 'ok' | 'failed' | 'cut';
  readonly hauls: number;
  readonly record: SourceRecord;
}

const TABLE_WORDS: Readonly<Record<string, string>> = {
  node: 'nodes',
  device: 'devices',
  gpu_sample: 'samples',
  allocation: 'holdings',
  waiting: 'waiting',
  work: 'counts of work',
  price: 'prices',
  rate: 'rates',
};

/** `12,840 samples, 31 holdings`, the largest first. */
function rowsText(rows: SourceRecord['rows']): string {
  const parts = Object.entries(rows).filter(([, count]) => count > 0);
  return parts
    .toSorted(([, a], [, b]) => b - a)
    .map(([table, count]) => `${count.toLocaleString('en-US')} ${TABLE_WORDS[table] ?? table}`)
    .join(', ');
}

/** One line for each source, with what went wrong and what to do under it. */
export function collectLines(sources: readonly CollectedSource[], now: Date): string[] {
  return sources.flatMap(({ name, state, record }) => {
    const until = record.coveredUntil === undefined ? '' : `, read up to ${ageText(record.coveredUntil, now)}`;
    if (state === 'failed') {
      const { message = 'failed', hint } = record.error ?? {};
      return [
        `${safeText(name)}: ${safeText(message)}${until}`,
        ...(hint === undefined ? [] : [`  ${safeText(hint)}`]),
      ];
    }
    const rows = rowsText(record.rows);
    const cut = state === 'cut' ? ', stopped before the end: the next run goes on from here' : '';
    return [`${safeText(name)}: ${rows === '' ? 'nothing yet' : rows} in all${until}${cut}`];
  });
}

/** Freshness, gaps, rows and errors of every source. */
export function sourcesPage(records: readonly SourceRecord[], tables: readonly unknown[], now: Date): string[] {
  if (records.length === 0 && tables.length > 0) {
    return ['nothing is collected here: what is below was imported (bursar init finds sources)'];
  }
  if (records.length === 0) {
    return ['nothing is collected here yet', 'bursar init finds your sources, bursar collect reads them'];
  }
  const rows = records.map((record) => [
    safeText(record.name),
    record.kind,
    stateText(record, now),
    record.coveredUntil === undefined ? 'never' : ageText(record.coveredUntil, now),
    gapText(record),
    rowsText(record.rows),
  ]);
  const table = textTable(
    ['SOURCE', 'KIND', 'STATE', 'READ TO', 'GAPS', 'ROWS'].map((title) => ({ align: 'left', title })),
    rows,
  );
  return [...table, ...records.flatMap((record) => detailLines(record, now))];
}

/** A source is late when two of its own rounds have passed without a word. */
export function sourceState(record: SourceRecord, now: Date): 'ok' | 'late' | 'failing' | 'never' {
  if (record.error !== undefined) return 'failing';
  if (record.lastOkAt === undefined) return 'never';
  return now.getTime() - record.lastOkAt.getTime() > Math.max(2 * record.pollS * 1000, 300_000) ? 'late' : 'ok';
}

function stateText(record: SourceRecord, now: Date): string {
  const state = sourceState(record, now);
  if (state === 'late' && record.lastOkAt !== undefined) return `not asked since ${ageText(record.lastOkAt, now)}`;
  return state === 'never' ? 'never answered' : state;
}

function gapText({ gaps }: SourceRecord): string {
  if (gaps.length === 0) return 'none';
  const hours = gaps.reduce((sum, { from, until }) => sum + (until.getTime() - from.getTime()) / 3_600_000, 0);
  return `${counted(gaps.length, 'gap')}, ${hours < 10 ? hours.toFixed(1) : Math.round(hours).toLocaleString('en-US')} h`;
}

const DETAILS_SHOWN = 5;

function detailLines(record: SourceRecord, now: Date): string[] {
  const { name, error, gaps, skipped, gpus } = record;
  const lines = [
    ...(error === undefined
      ? []
      : [
          `failing since ${ageText(error.at, now)}: ${safeText(error.message)}`,
          ...(error.hint === undefined ? [] : [`  ${safeText(error.hint)}`]),
        ]),
    ...gaps
      .slice(-DETAILS_SHOWN)
      .map(({ from, until, reason }) => `unknown from ${minute(from)} to ${minute(until)} UTC: ${safeText(reason)}`),
    ...skipped
      .slice(0, DETAILS_SHOWN)
      .map(
        ({ reason, count, example }) =>
          `left out: ${count.toLocaleString('en-US')} × ${safeText(reason)}${example === '' ? '' : `, e.g. ${safeText(example)}`}`,
      ),
    ...(gpus !== undefined && gpus.notRead > 0
      ? [`${gpus.notRead.toLocaleString('en-US')} of ${gpus.seen.toLocaleString('en-US')} GPUs not read`]
      : []),
  ];
  return lines.length === 0
    ? []
    : ['', `${safeText(name)}, ${safeText(record.reads)}`, ...lines.map((line) => `  ${line}`)];
}

/** The same for programs; what went wrong is told with what to do. */
export function collectJson(sources: readonly CollectedSource[]): object {
  return {
    sources: sources.map(({ name, kind, state, hauls, record }) => ({
      name,
      kind,
      state,
      hauls,
      ...recordJson(record),
    })),
  };
}

export function sourcesJson(records: readonly SourceRecord[], now: Date): object {
  return {
    sources: records.map((record) => ({
      name: record.name,
      kind: record.kind,
      state: sourceState(record, now),
      ...recordJson(record),
    })),
  };
}

function recordJson(record: SourceRecord): object {
  const time = (value: Date | undefined): string | null => (value === undefined ? null : isoTime(value));
  return {
    reads: record.reads,
    coveredUntil: time(record.coveredUntil),
    lastOkAt: time(record.lastOkAt),
    lastTriedAt: time(record.lastTriedAt),
    error: record.error === undefined ? null : { ...record.error, at: isoTime(record.error.at) },
    rows: record.rows,
    skipped: record.skipped,
    gaps: record.gaps.map(({ from, until, reason }) => ({ from: isoTime(from), until: isoTime(until), reason })),
    gpus: record.gpus ?? null,
  };
}
