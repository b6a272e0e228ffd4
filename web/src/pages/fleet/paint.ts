import { cut, day, minute, percent } from '../../figures.ts';
import type { Ink } from './ink.ts';
import { rgbOf } from './ink.ts';
import { firstLineAt } from './layout.ts';
import type { DeviceLine, GroupLine, Layout, NodeLine, Spot } from './layout.ts';
import { CELL, commonRuns, LEVELS } from './tile.ts';
import type { Run, Tile } from './tile.ts';

/** A tile made ready: its levels as a picture of one pixel a cell, and what is no level as runs, found when first drawn. */
export interface Sheet {
  readonly tile: Tile;
  readonly picture: OffscreenCanvas;
  readonly marks: Map<string, readonly Mark[]>;
  /** The rows of a machine or GPU, looked up once. */
  readonly places: Map<string, readonly (number | undefined)[]>;
}
interface Mark extends Run {
  readonly value: number;
  /** All rows of a machine at once, or one of them. */
  readonly row: number | undefined;
}

export interface View extends Margins {
  readonly width: number;
  readonly height: number;
  /** How far it is scrolled down. */
  readonly top: number;
  /** The first step seen and how many; fractions are halves of cells at the edge. */
  readonly from: number;
  readonly steps: number;
}

export const AXIS = 22;
const NARROW = 600;

/** What stands beside the plot. On a narrow page names are shorter, so that the plot has room. */
export interface Margins {
  readonly left: number;
  readonly right: number;
  /** Where the share that was active ends, from the plot's end. */
  readonly active: number;
}

export function marginsOf(width: number): Margins {
  return width < NARROW ? { left: 84, right: 132, active: 48 } : { left: 132, right: 148, active: 54 };
}
const HOUR_MS = 3_600_000;
/** How wide a letter of a machine's name is, and how far texts stay apart. */
const [MONO, GAP] = [6.3, 12];

/** Done once for a tile and a theme: after it a frame copies pixels and thinks of nothing. */
export function sheetOf(tile: Tile, ink: Ink): Sheet {
  const picture = new OffscreenCanvas(Math.max(1, tile.steps), Math.max(1, tile.rows));
  const context = picture.getContext('2d');
  if (context === null) throw new Error('this browser has no canvas');
  const image = context.createImageData(picture.width, picture.height);
  const pixels = new Uint32Array(image.data.buffer);
  const colours = new Uint32Array(256);
  for (let level = 0; level < LEVELS; level += 1) colours[level] = packed(ink.heat[level] ?? '');
  colours[CELL.nothing] = packed(ink.sunk);
  for (let cell = 0; cell < tile.cells.length; cell += 1) pixels[cell] = colours[tile.cells[cell] ?? 255] ?? 0;
  context.putImageData(image, 0, 0);
  return { tile, picture, marks: new Map(), places: new Map() };
}

function packed(colour: string): number {
  const [red, green, blue] = rgbOf(colour);
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

export interface Scene {
  readonly layout: Layout;
  /** What is drawn of machines or GPUs at first sight. */
  readonly sheet: Sheet;
  /** GPUs of machines that were opened. */
  readonly opened: ReadonlyMap<string, Sheet>;
  readonly ink: Ink;
  readonly texts: {
    readonly group: (line: GroupLine) => { readonly left: string; readonly right: string };
    readonly node: (line: NodeLine) => { readonly active: string; readonly wasted: string };
  };
  readonly cursor: { readonly spot: Spot; readonly step: number } | undefined;
  readonly chosen: Spot | undefined;
}

/** Draws what is in view. */
export function paint(context: CanvasRenderingContext2D, scene: Scene, view: View): void {
  const { layout, ink } = scene;
  context.fillStyle = ink.ground;
  context.fillRect(0, 0, view.width, view.height);
  context.imageSmoothingEnabled = false;
  context.textBaseline = 'middle';
  grid(context, scene, view);
  for (let place = firstLineAt(layout.lines, view.top - 40); place < layout.lines.length; place += 1) {
    const line = layout.lines[place];
    if (line === undefined || line.y > view.top + view.height) break;
    const y = Math.round(line.y - view.top) + AXIS;
    if (line.kind === 'group') groupLine(context, scene, view, line, y);
    else if (line.kind === 'node') nodeLine(context, scene, view, line, y);
    else deviceLine(context, scene, view, line, y);
  }
  frameSpot(context, scene.chosen, view, ink.cursor);
  cursor(context, scene, view);
  axis(context, scene, view);
}

const xOf = (view: View, step: number): number => view.left + ((step - view.from) / view.steps) * plotWidth(view);
const plotWidth = (view: View): number => view.width - view.left - view.right;

/** Steps at which the axis has a word: at most one for each 60 px, at round hours or days. */
function ticks({ tile }: Sheet, view: View): { readonly step: number; readonly word: string }[] {
  const most = Math.max(3, Math.floor(plotWidth(view) / 72));
  const hours = (view.steps * tile.stepMs) / HOUR_MS;
  const every = [1, 2, 3, 6, 12, 24, 48, 96, 168, 336, 720].find((each) => hours / each <= most) ?? 1440;
  const found: { step: number; word: string }[] = [];
  const begin = Math.ceil((tile.fromMs + view.from * tile.stepMs) / (every * HOUR_MS)) * every * HOUR_MS;
  for (let at = begin; ; at += every * HOUR_MS) {
    const step = (at - tile.fromMs) / tile.stepMs;
    if (step > view.from + view.steps + 0.001) return found;
    const isLast = step >= tile.steps - 0.001;
    const time = new Date(at).toISOString();
    const word = every < 24 ? (isLast && time.slice(11, 16) === '00:00' ? '24:00' : time.slice(11, 16)) : day(at);
    found.push({ step, word });
  }
}

function grid(context: CanvasRenderingContext2D, { sheet, ink }: Scene, view: View): void {
  context.fillStyle = ink.grid;
  for (const { step } of ticks(sheet, view)) context.fillRect(Math.round(xOf(view, step)), AXIS, 1, view.height);
}

function axis(context: CanvasRenderingContext2D, { sheet, ink }: Scene, view: View): void {
  context.fillStyle = ink.ground;
  context.fillRect(0, 0, view.width, AXIS - 4);
  context.font = `11px ${ink.sans}`;
  context.fillStyle = ink.ink3;
  const end = view.width - view.right;
  let free = view.left;
  for (const { step, word } of ticks(sheet, view)) {
    const wide = context.measureText(word).width;
    const begin = Math.min(Math.max(view.left, xOf(view, step) - wide / 2), end - wide);
    // Where two have no room beside each other the first stays.
    if (begin < free) continue;
    context.textAlign = 'left';
    context.fillText(word, begin, 8);
    free = begin + wide + GAP;
  }
  context.textAlign = 'right';
  context.fillText('active', end + view.active, 8);
  context.fillText('idle + unalloc.', view.width, 8);
}

function groupLine(context: CanvasRenderingContext2D, scene: Scene, view: View, line: GroupLine, y: number): void {
  const { left, right } = scene.texts.group(line);
  const middle = y + line.height - 9;
  context.textAlign = 'left';
  context.fillStyle = scene.ink.ink;
  context.font = `600 11px ${scene.ink.sans}`;
  const name = cut(line.group.cluster ?? 'no cluster', Math.floor(view.width / 12));
  context.fillText(name, 0, middle);
  const free = context.measureText(name).width + GAP;
  const begin = Math.max(view.left + 8, free);
  context.font = `11px ${scene.ink.sans}`;
  context.fillStyle = scene.ink.ink2;
  // A group has no figures in the columns: where room is short its money takes theirs.
  const end = view.width < NARROW ? view.width : view.width - view.right;
  const money = fitting(context, right, end - free);
  const room = end - begin - context.measureText(money).width - GAP;
  context.fillText(fitting(context, left, room), begin, middle);
  context.textAlign = 'right';
  context.fillText(money, end, middle);
}

/** As many of the parts of a text, from its first, as there is room for. */
function fitting(context: CanvasRenderingContext2D, text: string, room: number): string {
  const parts = text.split(', ');
  while (parts.length > 0 && context.measureText(parts.join(', ')).width > room) parts.pop();
  return parts.join(', ');
}

function nodeLine(context: CanvasRenderingContext2D, scene: Scene, view: View, line: NodeLine, y: number): void {
  const { sheet, ink, texts } = scene;
  const { machine, devices, height, rowHeight } = line;
  const middle = y + height / 2;
  context.textAlign = 'left';
  context.font = `10.5px ${ink.mono}`;
  context.fillStyle = ink.ink2;
  context.fillText(cut(machine.node ?? 'no node', Math.floor((view.left - 6) / MONO)), 0, middle);
  const { active, wasted } = texts.node(line);
  context.font = `11px ${ink.sans}`;
  context.textAlign = 'right';
  context.fillStyle = ink.ink2;
  context.fillText(active, view.width - view.right + view.active, middle);
  context.fillStyle = ink.ink;
  context.fillText(wasted, view.width, middle);
  const key = `${line.group.model ?? ''}|${machine.node ?? ''}`;
  const rows = rowsOf(sheet, key, line);
  const heights = devices.length === 0 ? [height - 4, 4] : devices.map(() => rowHeight);
  let at = y;
  for (const [place, row] of rows.entries()) {
    const tall = heights[place] ?? 0;
    if (row !== undefined) strip(context, sheet, view, row, at, tall > 2 && devices.length > 0 ? tall - 0.5 : tall);
    at += tall;
  }
  const known = rows.filter((row) => row !== undefined);
  marks(context, scene, view, {
    key,
    sheet,
    rows: devices.length === 0 ? known.slice(0, 1) : known,
    y,
    height,
  });
}

function rowsOf({ tile, places }: Sheet, key: string, { machine, devices }: NodeLine): readonly (number | undefined)[] {
  const known = places.get(key);
  if (known !== undefined) return known;
  const rows =
    devices.length === 0
      ? [tile.rowOf(machine.node, null, 'mean'), tile.rowOf(machine.node, null, 'worst')]
      : devices.map(({ deviceId }) => tile.rowOf(machine.node, deviceId, 'gpu'));
  places.set(key, rows);
  return rows;
}

function deviceLine(context: CanvasRenderingContext2D, scene: Scene, view: View, line: DeviceLine, y: number): void {
  const { ink } = scene;
  const { machine, device, place, height } = line;
  context.font = `10.5px ${ink.mono}`;
  context.textAlign = 'left';
  context.fillStyle = ink.ink3;
  context.fillText(`  GPU ${place}`, 12, y + height / 2);
  context.font = `11px ${ink.sans}`;
  context.textAlign = 'right';
  context.fillText(
    device.activePermille === null ? '' : percent(device.activePermille, 0),
    view.width - view.right + view.active,
    y + height / 2,
  );
  const sheet = scene.opened.get(machine.node ?? '');
  const row = sheet?.tile.rowOf(machine.node, device.deviceId, 'gpu');
  if (sheet === undefined || row === undefined) return;
  strip(context, sheet, view, row, y, height);
  marks(context, scene, view, { key: device.deviceId, sheet, rows: [row], y, height });
}

/** The levels of a row: one piece of the picture, stretched. */
function strip(
  context: CanvasRenderingContext2D,
  { picture, tile }: Sheet,
  view: View,
  row: number,
  y: number,
  tall: number,
): void {
  const until = Math.min(view.from + view.steps, tile.steps);
  const wide = ((until - view.from) / view.steps) * plotWidth(view);
  context.drawImage(picture, view.from, row, until - view.from, 1, view.left, y, wide, tall);
}

interface Marked {
  readonly key: string;
  readonly sheet: Sheet;
  readonly rows: readonly number[];
  readonly y: number;
  readonly height: number;
}

/** Bare ground with dots where nobody has it; a hatch with an outline, and words, where nobody measured it. */
function marks(context: CanvasRenderingContext2D, { ink }: Scene, view: View, marked: Marked): void {
  const { key, sheet, rows, y, height } = marked;
  let found = sheet.marks.get(key);
  if (found === undefined) {
    found = marksOf(sheet.tile, rows);
    sheet.marks.set(key, found);
  }
  const rowTall = height / Math.max(1, rows.length);
  for (const { from, until, value, row } of found) {
    const [x, end] = [Math.max(view.left, xOf(view, from)), Math.min(view.width - view.right, xOf(view, until))];
    if (end <= x) continue;
    const [top, tall] = row === undefined ? [y, height] : [y + row * rowTall, rowTall];
    if (value === CELL.free) dotted(context, ink, x, end, top + tall / 2);
    else hatched(context, ink, { x, end, top, tall }, wordsOf(sheet.tile, until, from, value));
  }
}

function marksOf(tile: Tile, rows: readonly number[]): Mark[] {
  const all = [CELL.free, CELL.unknown, CELL.priceless].flatMap((value) =>
    commonRuns(tile, rows, value).map((run): Mark => ({ ...run, value, row: undefined })),
  );
  if (rows.length < 2) return all;
  const isCovered = (run: Run, value: number): boolean =>
    all.some((each) => each.value === value && each.from <= run.from && each.until >= run.until);
  const single = rows.flatMap((row, place) =>
    [CELL.unknown, CELL.priceless].flatMap((value) =>
      commonRuns(tile, [row], value)
        .filter((run) => !isCovered(run, value))
        .map((run): Mark => ({ ...run, value, row: place })),
    ),
  );
  return [...all, ...single];
}

function wordsOf(tile: Tile, until: number, from: number, value: number): string {
  if (value === CELL.priceless) return 'no price';
  const since = tile.fromMs + from * tile.stepMs;
  const at =
    from === 0
      ? ''
      : ` since ${tile.steps * tile.stepMs > 24 * HOUR_MS ? minute(since) : new Date(since).toISOString().slice(11, 16)}`;
  return until >= tile.steps && from > 0 ? `no samples${at}: unknown, not idle` : 'no samples: unknown, not idle';
}

function dotted(context: CanvasRenderingContext2D, ink: Ink, x: number, end: number, y: number): void {
  context.strokeStyle = ink.dots;
  context.lineWidth = 1;
  context.setLineDash([1, 3]);
  context.beginPath();
  context.moveTo(x + 1, Math.round(y) + 0.5);
  context.lineTo(end - 1, Math.round(y) + 0.5);
  context.stroke();
  context.setLineDash([]);
}

interface Box {
  readonly x: number;
  readonly end: number;
  readonly top: number;
  readonly tall: number;
}

function hatched(context: CanvasRenderingContext2D, ink: Ink, { x, end, top, tall }: Box, words: string): void {
  context.save();
  context.beginPath();
  context.rect(x, top, end - x, tall);
  context.clip();
  context.strokeStyle = ink.hatch;
  context.lineWidth = 1.1;
  context.beginPath();
  for (let at = x - tall; at < end; at += 5) {
    context.moveTo(at, top + tall);
    context.lineTo(at + tall, top);
  }
  context.stroke();
  context.restore();
  if (tall < 5) return;
  context.strokeStyle = ink.ink2;
  context.lineWidth = 1;
  context.strokeRect(
    Math.round(x) + 0.5,
    Math.round(top) + 0.5,
    Math.max(1, Math.round(end - x) - 1),
    Math.max(1, Math.round(tall) - 1),
  );
  context.font = `11px ${ink.sans}`;
  const wide = context.measureText(words).width + 12;
  if (tall < 11 || wide > end - x) return;
  context.fillStyle = ink.ground;
  context.fillRect((x + end - wide) / 2, top + tall / 2 - 6, wide, 12);
  context.fillStyle = ink.bad;
  context.textAlign = 'center';
  context.fillText(words, (x + end) / 2, top + tall / 2);
}

function frameSpot(context: CanvasRenderingContext2D, spot: Spot | undefined, view: View, colour: string): void {
  if (spot === undefined) return;
  context.strokeStyle = colour;
  context.lineWidth = 1.5;
  context.strokeRect(view.left - 1, spot.y - view.top + AXIS - 1.5, plotWidth(view) + 2, spot.height + 2.5);
}

function cursor(context: CanvasRenderingContext2D, { cursor: at, ink }: Scene, view: View): void {
  if (at === undefined) return;
  frameSpot(context, at.spot, view, ink.ink3);
  const x = xOf(view, at.step);
  const wide = Math.max(3, plotWidth(view) / view.steps);
  context.strokeStyle = ink.cursor;
  context.lineWidth = 2;
  context.strokeRect(x - 1, at.spot.y - view.top + AXIS - 2, wide + 2, at.spot.height + 4);
}
