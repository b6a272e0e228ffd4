import { filterValue } from '../facts/filter-value.ts';
import type { Finding } from '../facts/finding.ts';
import { counted, dollars, gpuHours, gpuSeconds, percentOfPermille } from './figures.ts';
import { findingNumber, kindWords } from './finding-words.ts';
import { safeText } from './safe-text.ts';
import { shellWord } from './shell-word.ts';
import { textTable } from './table.ts';

/** What a finding has of one row of the ledger's days. */
export interface FindingPart {
  readonly day: string;
  readonly subject: string;
  readonly deviceId: string | null;
  readonly category: string;
  readonly reason: string | null;
  readonly permille: number;
  readonly usdMicros: bigint | null;
  readonly marginalUsdMicros: bigint | null;
  readonly gpuUnits: bigint;
}

/** Rows of one of its detector's questions that are about it. */
export interface FindingEvidence {
  readonly name: string;
  readonly rows: readonly object[];
  readonly more: number;
}

export interface ExplainedFinding {
  readonly finding: Finding;
  readonly parts: readonly FindingPart[];
  readonly evidence: readonly FindingEvidence[];
}

const PARTS_SHOWN = 30;
/** Of longer lists it is said how long they are. */
const LISTED_MAX = 4;
const COMMANDS_SHOWN = 3;
const COLUMNS = [
  { align: 'left', title: 'day' },
  { align: 'left', title: 'subject' },
  { align: 'left', title: 'device' },
  { align: 'left', title: 'category' },
  { align: 'left', title: 'reason' },
  { align: 'right', title: 'of the row' },
  { align: 'right', title: 'effective' },
  { align: 'right', title: 'bill falls by' },
  { align: 'right', title: 'GPU time' },
] as const;

/** Where a finding's money comes from, down to where `ledger explain` goes on. */
export function findingExplanation({ finding, parts, evidence }: ExplainedFinding, dataFlag = ''): string[] {
  const dearest = parts.toSorted((a, b) => Number((b.usdMicros ?? 0n) - (a.usdMicros ?? 0n)));
  const shown = dearest.slice(0, PARTS_SHOWN).toSorted((a, b) => (a.day < b.day ? -1 : a.day > b.day ? 1 : 0));
  return [
    `${findingNumber(finding)}  ${dollars(finding.usdMicros)}, ${kindWords(finding)}: ${counted(parts.length, 'row')} of what was paid, each claimed once`,
    ...textTable(COLUMNS, shown.map(partCells)),
    ...(parts.length > shown.length ? [`and ${parts.length - shown.length} more of less money`] : []),
    ...evidence.flatMap(evidenceLines),
    ...commands(dearest, dataFlag),
  ];
}

function partCells(part: FindingPart): string[] {
  return [
    part.day,
    safeText(part.subject),
    safeText(part.deviceId ?? ''),
    part.category,
    part.reason ?? '',
    part.permille === 1000 ? 'all' : `${(part.permille / 10).toFixed(1)} %`,
    dollars(part.usdMicros),
    // Nobody can say what of it could go.
    part.category === 'unknown' ? '' : dollars(part.marginalUsdMicros),
    // A bill says of what it left unused dollars, and no time.
    part.gpuUnits === 0n ? '–' : gpuHours(part.gpuUnits),
  ];
}

function evidenceLines({ name, rows, more }: FindingEvidence): string[] {
  if (rows.length === 0) return [];
  const cells = rows.map((row) => {
    const told = Object.entries(row).filter(([, value]) => value !== null && value !== undefined);
    return `  ${told.map(([column, value]) => columnText(column, value)).join('; ')}`;
  });
  return [`what was read for it ("${name}"):`, ...cells, ...(more > 0 ? [`  and ${more} more`] : [])];
}

const WHOLE_MILLI = 1000;
const HOUR_S = 3600;
const hours = (seconds: number): string => `${(seconds / HOUR_S).toFixed(1)} h`;
const isGpu = (word: string): boolean => word.toLowerCase() === 'gpu';

/** A number's unit is a word of its column's name: what people read it in. */
const UNITS: Readonly<Record<string, (value: number, words: readonly string[]) => string>> = {
  Units: (value) => gpuHours(BigInt(Math.round(value))),
  // Of a GPU's time there is one hour for each GPU.
  S: (value, words) => (words.some(isGpu) ? `${(value / HOUR_S).toFixed(1)} GPU-hours` : hours(value)),
  Seconds: hours,
  Permille: percentOfPermille,
  Micros: (value, words) => dollars(BigInt(Math.round(value))) + (words.includes('Hour') ? '/h' : ''),
  Mib: (value) => `${value.toLocaleString('en-US')} MiB`,
  W: (value) => `${value.toLocaleString('en-US')} W`,
  Ms: (value) => `${value.toLocaleString('en-US')} ms`,
  Milli: (value) => (value / WHOLE_MILLI).toLocaleString('en-US'),
  Tenths: (value) => (value / 10).toLocaleString('en-US'),
};
/** Words that the figure says itself. */
const SAID: Readonly<Record<string, readonly string[]>> = { Micros: ['usd', 'Usd', 'Per', 'Hour'], S: ['gpu', 'Gpu'] };

/** `quietUnits` as `quiet 1,979 GPU-hours`; what has no unit stands as it is. */
function columnText(column: string, value: unknown): string {
  const words = column.split(/(?=[A-Z])/);
  const unit = words.find((word) => word in UNITS);
  const isNumber = typeof value === 'number' || typeof value === 'bigint';
  if (unit === undefined || !isNumber) return `${nameText(words)} ${valueText(value)}`;
  const left = words.filter((word) => word !== unit && !SAID[unit]?.includes(word));
  return [...(left.length === 0 ? [] : [nameText(left)]), UNITS[unit]?.(Number(value), words)].join(' ');
}

const nameText = (words: readonly string[]): string =>
  words.map((word) => (isGpu(word) ? 'GPU' : word.toLowerCase())).join(' ');

function valueText(value: unknown): string {
  if (value instanceof Date) return value.toISOString().slice(0, 16).replace('T', ' ');
  if (typeof value === 'bigint' || typeof value === 'number') return value.toLocaleString('en-US');
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value))
    return value.length > LISTED_MAX ? `${value.length}, in --json` : value.map(valueText).join(', ');
  const plain = (_: string, each: unknown): unknown => (typeof each === 'bigint' ? String(each) : each);
  return safeText(typeof value === 'string' ? value : (JSON.stringify(value, plain) ?? ''));
}

/** The next step: the entries of the dearest days, their charges, runs and samples. */
function commands(dearest: readonly FindingPart[], dataFlag: string): string[] {
  const lines = dearest.map(({ day, subject, deviceId, category }) => {
    const [, job] = /^job [^/]+\/(.+)\/\d+$/.exec(subject) ?? [];
    const who =
      job !== undefined ? `,job=${filterValue(job)}` : deviceId === null ? '' : `,device=${filterValue(deviceId)}`;
    return `bursar ledger explain --window ${day} --filter ${shellWord(`category=${category}${who}`)}${dataFlag}`;
  });
  return [...new Set(lines)].slice(0, COMMANDS_SHOWN);
}

export function explanationJson({ finding, parts, evidence }: ExplainedFinding): unknown {
  return {
    id: finding.number === null ? null : `F-${finding.number}`,
    parts: parts.map(({ gpuUnits, ...part }) => ({ ...part, gpuSeconds: gpuSeconds(gpuUnits) })),
    evidence,
  };
}
