import { dollars, dollarsPerHour, duration, minute, NO_PRICE, percentOfPermille, recently } from './figures.ts';
import { safeText } from './safe-text.ts';
import { shellWord } from './shell-word.ts';
import { shorten, textTable, textWidth } from './table.ts';
import type { TableColumn } from './table.ts';

interface Price {
  readonly usdMicrosPerHour: bigint;
  readonly by: 'rate' | 'list';
  readonly model: string;
  readonly source: string;
}

/** Whose program is on a device. */
export interface WatchHolder {
  readonly user: string | null;
  readonly program: string | null;
  readonly pid: number | null;
  /** Null where ps does not know the program. */
  readonly since: Date | null;
}

/** A GPU or slice as the screen shows it. `free`: not computing, and nobody has a program on it. */
export interface WatchDevice {
  readonly deviceId: string;
  readonly index: number | null;
  readonly model: string | null;
  /** The profile of a slice; null for a whole GPU. */
  readonly profile: string | null;
  readonly isSlice: boolean;
  readonly state: 'computing' | 'idle' | 'free' | 'unknown';
  readonly activePermille: number | null;
  readonly usedMib: number | null;
  readonly totalMib: number | null;
  readonly powerW: number | null;
  readonly holders: readonly WatchHolder[];
  /** Null while it computes, or nothing is known. */
  readonly quietSince: Date | null;
  /** Null without a price; of slices null, since their GPU has it. */
  readonly price: Price | null;
}

/** What the GPUs of a machine do now. */
export interface Watched {
  readonly at: Date;
  readonly node: string;
  readonly devices: readonly WatchDevice[];
  readonly unplaced: readonly (WatchHolder & { readonly gpus: number })[];
}

export interface WatchWords {
  readonly dataDir: string;
  readonly dataFlag: string;
  /** What keeps looks from being kept, if something does. */
  readonly trouble?: string;
  /** The looks go on. */
  readonly isLive: boolean;
  /** Where lines would be longer they say less. */
  readonly width?: number;
}

const COLUMNS: readonly TableColumn[] = [
  { align: 'right', title: 'GPU' },
  { align: 'left', title: 'STATE' },
  { align: 'right', title: 'ACTIVE' },
  { align: 'right', title: 'MEMORY' },
  { align: 'right', title: 'POWER' },
  { align: 'left', title: 'OWNER AND PROGRAM' },
  { align: 'right', title: 'COST' },
  { align: 'left', title: 'QUIET SINCE' },
];
const HOLDERS_SHOWN = 2;
const NAME_WIDTH = 24;

/** A line for each GPU, what is quiet and what that costs, and where it is kept. */
export function watchScreen(watched: Watched, words: WatchWords): string[] {
  const { at, node, devices } = watched;
  const whole = devices.filter(({ isSlice }) => !isSlice);
  return [
    `${safeText(node)}: ${modelsOf(whole)}   ${minute(at).slice(0, 10)} ${at.toISOString().slice(11, 19)} UTC`,
    ...table(devices, at, words.width),
    ...watched.unplaced.map(
      (holder) => `${holderWords(holder, at)} has ${holder.gpus} of them; the driver does not say which`,
    ),
    ...quietLines(whole),
    ...priceLines(whole),
    words.trouble === undefined
      ? `Kept in ${words.dataDir}${words.isLive ? ' every 30 s; Ctrl-C ends' : ''}.  → bursar look${words.dataFlag}`
      : `Not kept: ${safeText(words.trouble)}`,
  ];
}

function table(devices: readonly WatchDevice[], at: Date, width = Number.POSITIVE_INFINITY): string[] {
  const wide = textTable(
    COLUMNS,
    devices.map((device) => rowOf(device, at, false)),
  );
  if (wide.every((line) => textWidth(line) <= width)) return wide;
  return textTable(
    COLUMNS,
    devices.map((device) => rowOf(device, at, true)),
  );
}

function modelsOf(devices: readonly WatchDevice[]): string {
  const counts = new Map<string, number>();
  for (const { model } of devices)
    counts.set(model ?? 'GPU of unknown model', (counts.get(model ?? 'GPU of unknown model') ?? 0) + 1);
  const words = [...counts].map(([model, count]) => `${count} × ${safeText(model)}`);
  return words.length === 0 ? 'no GPU' : words.join(', ');
}

function rowOf(device: WatchDevice, at: Date, isShort: boolean): string[] {
  const { isSlice, index, profile, state, activePermille, powerW, price, quietSince } = device;
  const slice = profile ?? device.deviceId.slice(device.deviceId.lastIndexOf('/') + 1);
  return [
    isSlice ? '' : index === null ? '–' : String(index),
    isSlice ? `  ${safeText(slice)} ${state}` : state,
    activePermille === null ? '–' : percentOfPermille(activePermille),
    isShort ? memoryWords({ ...device, totalMib: null }) : memoryWords(device),
    powerW === null ? (isSlice ? '' : '–') : `${powerW} W`,
    isShort ? owners(device.holders) : holdersWords(device.holders, at),
    isSlice ? '' : price === null ? NO_PRICE : dollarsPerHour(price.usdMicrosPerHour),
    quietSince === null ? '' : quietWords(quietSince, at, price),
  ];
}

function memoryWords({ usedMib, totalMib }: WatchDevice): string {
  if (usedMib === null) return '–';
  const gib = (mib: number): string => (mib / 1024).toFixed(1);
  return totalMib === null ? `${gib(usedMib)} GiB` : `${gib(usedMib)}/${gib(totalMib)} GiB`;
}

function owners(holders: readonly WatchHolder[]): string {
  if (holders.length === 0) return 'nobody';
  return shorten([...new Set(holders.map(({ user }) => safeText(user ?? 'unknown')))].join(', '), NAME_WIDTH);
}

function holdersWords(holders: readonly WatchHolder[], at: Date): string {
  if (holders.length === 0) return 'nobody';
  const shown = holders.slice(0, HOLDERS_SHOWN).map((holder) => holderWords(holder, at));
  return holders.length > HOLDERS_SHOWN
    ? `${shown.join(', ')} and ${holders.length - HOLDERS_SHOWN} more`
    : shown.join(', ');
}

function holderWords({ user, program, pid, since }: WatchHolder, at: Date): string {
  const name = shorten(safeText(user ?? 'unknown'), NAME_WIDTH);
  const run = shorten(safeText(program ?? '?'), NAME_WIDTH);
  const number = pid === null ? '' : ` ${pid}`;
  const time = since === null ? '–' : duration((at.getTime() - since.getTime()) / 1000);
  return `${name} ${run}${number} (${time})`;
}

function quietWords(since: Date, at: Date, price: Price | null): string {
  const seconds = Math.floor((at.getTime() - since.getTime()) / 1000);
  const spent = price === null ? '' : `, ${dollars((price.usdMicrosPerHour * BigInt(seconds)) / 3600n)}`;
  return seconds < 60 ? 'now' : `${recently(since, at)} (${duration(seconds)}${spent})`;
}

function quietLines(devices: readonly WatchDevice[]): string[] {
  const quiet = devices.filter(({ state }) => state === 'idle' || state === 'free');
  if (quiet.length === 0) return [];
  const priced = quiet.flatMap(({ price }) => (price === null ? [] : [price.usdMicrosPerHour]));
  const perHour = priced.reduce((sum, micros) => sum + micros, 0n);
  const without = quiet.length - priced.length;
  const cost = priced.length === 0 ? '' : `, ${dollarsPerHour(perHour)}, ${dollars(perHour * 24n)}/day`;
  const unpriced = without > 0 ? ` (${without} without a price: --rate MODEL=USD)` : '';
  return [`Quiet now: ${quiet.length} of ${devices.length} GPUs${cost}${unpriced}`];
}

function priceLines(devices: readonly WatchDevice[]): string[] {
  const listed = new Map(devices.flatMap(({ price }) => (price?.by === 'list' ? [[price.source, price.model]] : [])));
  return [...listed].map(([source, model]) => {
    return `Priced by ${source}; --rate ${shellWord(`${model}=1.95`)} says what you pay`;
  });
}

/** The same for programs. */
export function watchJson(watched: Watched): object {
  return {
    at: watched.at,
    node: watched.node,
    devices: watched.devices.map(({ price, ...device }) => ({
      ...device,
      usdMicrosPerHour: price?.usdMicrosPerHour ?? null,
      pricedBy: price?.by ?? null,
    })),
    unplaced: watched.unplaced,
  };
}
