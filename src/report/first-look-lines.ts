import type { CollectedTable, SourceKind } from '../facts/source.ts';
import type { SourceRecord } from '../facts/source-record.ts';
import { ageText, sourceState } from './collect-report.ts';
import { counted, isoTime, minute } from './figures.ts';
import { shortModel } from './idle-list.ts';
import { safeText } from './safe-text.ts';
import { shellWord } from './shell-word.ts';
import { shorten, textTable } from './table.ts';

/** How one source went in a first look. `down`: it was not even asked for facts. */
export interface LookedSource {
  readonly name: string;
  readonly kind: SourceKind;
  readonly reads: string;
  readonly state: 'ok' | 'cut' | 'failed' | 'down';
  readonly says: string;
  readonly todo?: string;
  /** The oldest sample that was read. */
  readonly samplesSince?: Date;
  readonly rows: Readonly<Partial<Record<CollectedTable, number>>>;
  readonly gpus?: { readonly seen: number; readonly notRead: number };
}

/** What a first look has read. */
export interface ReadSummary {
  /** Everything since then was read; later than seven days ago where the minute was over before. */
  readonly since: Date;
  readonly sources: readonly LookedSource[];
  /** Only where a part of the fleet was read. */
  readonly part?: { readonly seen: number; readonly notRead: number };
}

/** What an hour of a model is taken to cost. */
export interface PriceAssumption {
  readonly model: string | null;
  readonly by: 'rate' | 'catalog' | 'list' | null;
  /** Null where it has no price. */
  readonly usdPerGpuHour: string | null;
  /** `AWS p5.48xlarge ÷ 8`, of which day. */
  readonly source?: string;
  readonly asOf?: string;
  readonly gpuHours: number;
}

export interface NotRead {
  readonly kind: SourceKind;
  readonly says: string;
  readonly command: string;
}

/** What stands around the first screen when it was read just now. */
export interface FirstLookWords {
  readonly read: ReadSummary;
  readonly prices: readonly PriceAssumption[];
  readonly notRead: readonly NotRead[];
  /** The folder it lies in; said where it is a throw-away one. */
  readonly dataDir: string;
}

const PRICES_SHOWN = 6;
const SAYS_WIDTH_MAX = 160;

/** What people call each kind. */
export const KIND_NAMES: Readonly<Record<SourceKind, string>> = {
  prometheus: 'Prometheus',
  kubernetes: 'Kubernetes',
  slurm: 'Slurm',
  local: 'this machine',
  scrape: 'exporters',
  aws: 'AWS',
  gcp: 'Google Cloud',
  azure: 'Azure',
};

/** Before anything is read: what will be, and what will not happen. */
export function readingLines(
  sources: readonly { readonly name: string; readonly reads: string }[],
  dataDir: string,
): string[] {
  return [
    `Reads, at most seven days in at most a minute:`,
    ...sources.map(({ name, reads }) => `  ${safeText(name)}: ${safeText(reads)}`),
    `Only reads: nothing is changed there, nothing is sent anywhere. What is read goes into ${dataDir}.`,
  ];
}

/** Above the screen: what must be known before a figure is believed. */
export function partLines({ read: { part }, dataDir }: FirstLookWords): string[] {
  if (part === undefined) return [];
  const was = part.seen - part.notRead;
  return [
    `Read ${was.toLocaleString('en-US')} of ${counted(part.seen, 'GPU')}: the others are not read. ` +
      `Every figure is of the ${was.toLocaleString('en-US')} alone, none is scaled up.`,
    `They lie in a throw-away folder, ${dataDir}; the whole fleet: bursar init && bursar collect`,
  ];
}

/** Below the screen: prices, what was cut or failed, what is not read and how it would be. */
export function firstLookLines(words: FirstLookWords): string[] {
  const { read, prices, notRead } = words;
  return [
    ...priceLines(prices),
    ...read.sources.flatMap(sourceLines),
    ...notReadLines(notRead),
    'Keep it and keep it up to date: bursar init && bursar collect',
  ];
}

export function priceLines(prices: readonly PriceAssumption[]): string[] {
  if (prices.length === 0) return [];
  const words = [...new Set(prices.map(priceWords))];
  const shown = words.slice(0, PRICES_SHOWN);
  const more = words.length - shown.length;
  const example = prices.find(({ model }) => model !== null)?.model ?? undefined;
  const name = example === undefined ? 'H100' : shortModel(example);
  return [
    `Prices assumed: ${shown.join('; ')}${more > 0 ? `; and ${more} more` : ''}.` +
      ` If yours differ: bursar look --rate ${shellWord(name)}=1.95`,
  ];
}

function priceWords({ model, by, usdPerGpuHour, source, asOf }: PriceAssumption): string {
  const name = model === null ? 'GPUs of unknown model' : shortModel(model);
  if (usdPerGpuHour === null) return `${name} no price`;
  const where = [BY_WORDS[by ?? 'list'], source, asOf].filter((word) => word !== undefined).join(', ');
  return `${name} $${usdPerGpuHour}/h (${safeText(where)})`;
}

const BY_WORDS = { rate: 'your rate', catalog: 'price list', list: 'list price' } as const;

/** What was cut or could not be read of a source; nothing where all went well. */
export function sourceLines({ name, state, says, todo, samplesSince }: LookedSource): string[] {
  const who = safeText(name);
  const hint = todo === undefined ? '' : ` ${safeText(todo)}`;
  if (state === 'failed' || state === 'down')
    return [`Not read: ${who}: ${shorten(safeText(says), SAYS_WIDTH_MAX)}.${hint}`];
  if (state === 'ok') return [];
  const from = samplesSince === undefined ? 'nothing was read of it' : `samples from ${minute(samplesSince)} UTC on`;
  return [`Cut short: ${who}: ${from}, older ones are not read; a look takes at most a minute.  → bursar collect`];
}

/** One line for each source that is not read, with the exact command. */
export function notReadLines(notRead: readonly NotRead[]): string[] {
  if (notRead.length === 0) return [];
  const rows = notRead.map(({ kind, says, command }) => [`  ${KIND_NAMES[kind]}`, safeText(says), safeText(command)]);
  return ['Would add to it:', ...textTable([{ align: 'left' }, { align: 'left' }, { align: 'left' }], rows)];
}

/** How old what was collected is, one line; none where everything was imported. */
export function ageLines(records: readonly SourceRecord[], now: Date, dataFlag: string): string[] {
  if (records.length === 0) return [];
  const ages = records.map((record) => {
    const until = record.coveredUntil === undefined ? 'never' : ageText(record.coveredUntil, now);
    return `${safeText(record.name)} ${until}${record.error === undefined ? '' : ' (failing)'}`;
  });
  const isOld = records.some((record) => sourceState(record, now) !== 'ok');
  return [`Collected up to: ${ages.join(', ')}${isOld ? `  → bursar collect${dataFlag}` : ''}`];
}

export function firstLookJson({ read, prices, notRead, dataDir }: FirstLookWords): object {
  return {
    dataDir,
    since: isoTime(read.since),
    gpus: read.part === undefined ? null : { seen: read.part.seen, notRead: read.part.notRead },
    sources: read.sources.map(({ samplesSince, ...source }) => ({
      ...source,
      samplesSince: samplesSince === undefined ? null : isoTime(samplesSince),
    })),
    prices,
    notRead,
  };
}

/** No source at all: what was tried, what would be one, and what to see meanwhile. */
export function nothingFoundLines(notRead: readonly NotRead[]): string[] {
  return [
    'Nothing on this machine knows about GPUs.',
    ...notReadLines(notRead),
    'Or from files: bursar import samples FILE. Or see it on a made-up fleet: bursar demo',
  ];
}

/** Sources were found and none of them answers: why, what to do, what else would be one. */
export function nothingAnswersLines(
  { message, hint }: { readonly message: string; readonly hint: string | undefined },
  notRead: readonly NotRead[],
): string[] {
  return [
    'Nothing to show yet: no source answers.',
    ...message.split('\n').map((line) => `  ${safeText(line)}`),
    ...(hint === undefined ? [] : [`  → ${safeText(hint)}`]),
    ...notReadLines(notRead),
    'Or see it on a made-up fleet: bursar demo',
  ];
}
