import { expect, it } from 'vitest';
import type { Ink } from './ink.ts';
import type { GroupLine, NodeLine } from './layout.ts';
import { marginsOf, paint } from './paint.ts';
import type { Scene } from './paint.ts';

const LETTER = 5.5;

interface Text {
  readonly words: string;
  readonly y: number;
  readonly from: number;
  readonly until: number;
}

/** A canvas that remembers its texts and where they stand, every letter as wide as the next. */
function canvasOf(texts: Text[]): CanvasRenderingContext2D {
  const nothing = (): void => undefined;
  const context = {
    textAlign: 'left',
    measureText: (words: string) => ({ width: words.length * LETTER }),
    fillText(words: string, x: number, y: number) {
      const wide = words.length * LETTER;
      const from = context.textAlign === 'left' ? x : context.textAlign === 'right' ? x - wide : x - wide / 2;
      if (words !== '') texts.push({ words, y, from, until: from + wide });
    },
    fillRect: nothing,
    strokeRect: nothing,
    drawImage: nothing,
  };
  return context as unknown as CanvasRenderingContext2D;
}

const HOUR_MS = 3_600_000;
const node = {
  y: 20,
  height: 12,
  kind: 'node',
  rowHeight: 3,
  devices: [],
  group: { model: 'H100' },
  machine: { node: 'reserved-h100-0001' },
} as unknown as NodeLine;

/** Texts of a map of one group with one machine, over so many hours. */
function textsOf(width: number, hours: number, cluster = 'reserved-h100'): Text[] {
  const tile = { fromMs: 0, stepMs: HOUR_MS, steps: hours, rows: 0, cells: new Uint8Array(), rowOf: () => undefined };
  const group = { y: 0, height: 20, kind: 'group', group: { cluster } } as unknown as GroupLine;
  const scene = {
    layout: { lines: [group, node], height: 32 },
    sheet: { tile, marks: new Map(), places: new Map() },
    opened: new Map(),
    ink: {} as Ink,
    texts: {
      group: () => ({
        left: '48 GPUs, NVIDIA H100 80GB HBM3, committed',
        right: 'paid $28,412, idle $8,020, unallocated $1,004, unknown $12',
      }),
      node: () => ({ active: '97%', wasted: '$12,345' }),
    },
    cursor: undefined,
    chosen: undefined,
  } as unknown as Scene;
  const texts: Text[] = [];
  paint(canvasOf(texts), scene, { ...marginsOf(width), width, height: 200, top: 0, from: 0, steps: hours });
  return texts;
}

it.each([
  [342, 24],
  [342, 720],
  [366, 24],
  [366, 168],
  [620, 720],
  [800, 24],
  [1224, 720],
])('on a map %d px wide no text of %d hours stands over another or beyond the edge', (width, hours) => {
  const texts = textsOf(width, hours);
  for (const [place, text] of texts.entries()) {
    expect([text.words, text.from >= 0 && text.until <= width]).toEqual([text.words, true]);
    const over = texts
      .slice(place + 1)
      .filter(({ y, from, until }) => y === text.y && from < text.until && until > text.from);
    expect([text.words, over]).toEqual([text.words, []]);
  }
});

it('what has no room is left out from the end: a cluster keeps its name and what was paid', () => {
  expect(textsOf(366, 24).flatMap(({ words, y }) => (y === 33 ? words : []))).toEqual([
    'reserved-h100',
    'paid $28,412, idle $8,020, unallocated $1,004',
  ]);
});

it('the money of a cluster with a short name stands whole on a phone, before how many GPUs it has', () => {
  expect(textsOf(366, 24, 'ab').flatMap(({ words, y }) => (y === 33 ? words : []))).toEqual([
    'ab',
    'paid $28,412, idle $8,020, unallocated $1,004, unknown $12',
  ]);
});
