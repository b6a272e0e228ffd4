import { cut, day, minute } from '../../figures.ts';
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

export interface View {
  readonly width: number;
  readonly height: number;
  /** How far it is scrolled down. */
  readonly top: number;
  /** The first step seen and how many; fractions are halves of cells at the edge. */
  readonly from: number;
  readonly steps: number;
}

export const LEFT = 132;
export const RIGHT = 148;
export const AXIS = 22;
const HOUR_MS = 3_600_000;

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

const xOf = (view: View, step: number): number => LEFT + ((step - view.from) / view.steps) * plotWidth(view);
const plotWidth = (view: View): number => view.width - LEFT - RIGHT;

/** Steps at which the axis has a word: at most one for each 60 px, at round hours or days. */
function ticks({ tile }: Sheet, view: View): { readonly step: number; readonly word: string }[] {
  const most = Math.max(2, Math.floor(plotWidth(view) / 72));
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
  const all = ticks(sheet, view);
  for (const { step, word } of all) {
    const x = xOf(view, step);
    context.textAlign = x < LEFT + 16 ? 'left' : x > view.width - RIGHT - 16 ? 'right' : 'center';
    context.fillText(word, x, 8);
  }
  context.textAlign = 'right';
  context.fillText('active', view.width - RIGHT + 54, 8);
  context.fillText('idle + unalloc.', view.width, 8);
}

function groupLine(context: CanvasRenderingContext2D, scene: Scene, view: View, line: GroupLine, y: number): void {
  const { left, right } = scene.texts.group(line);
  const middle = y + line.height - 9;
  context.textAlign = 'left';
  context.fillStyle = scene.ink.ink;
  context.font = `600 11px ${scene.ink.sans}`;
  const name = cut(line.group.cluster ?? 'no cluster', 30);
  context.fillText(name, 0, middle);
  const begin = Math.max(LEFT + 8, context.measureText(name).width + 12);
  context.font = `11px ${scene.ink.sans}`;
  context.fillStyle = scene.ink.ink2;
  const room = view.width - RIGHT - begin - context.measureText(right).width - 16;
  context.fillText(cut(left, Math.max(8, Math.floor(room / 5.6))), begin, middle);
  context.textAlign = 'right';
  context.fillText(right, view.width - RIGHT, middle);
}

function nodeLine(context: CanvasRenderingContext2D, scene: Scene, view: View, line: NodeLine, y: number): void {
  const { sheet, ink, texts } = scene;
  const { machine, devices, height, rowHeight } = line;
  const middle = y + height / 2;
  context.textAlign = 'left';
  context.font = `10.5px ${ink.mono}`;
  context.fillStyle = ink.ink2;
  context.fillText(cut(machine.node ?? 'no node', 20), 0, middle);
  const { active, wasted } = texts.node(line);
  context.font = `11px ${ink.sans}`;
  context.textAlign = 'right';
  context.fillStyle = ink.ink2;
  context.fillText(active, view.width - RIGHT + 54, middle);
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
    device.activePermille === null ? '' : `${Math.round(device.activePermille / 10)}%`,
    view.width - RIGHT + 54,
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
  context.drawImage(picture, view.from, row, until - view.from, 1, LEFT, y, wide, tall);
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
    const [x, end] = [Math.max(LEFT, xOf(view, from)), Math.min(view.width - RIGHT, xOf(view, until))];
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
  context.strokeRect(LEFT - 1, spot.y - view.top + AXIS - 1.5, plotWidth(view) + 2, spot.height + 2.5);
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
