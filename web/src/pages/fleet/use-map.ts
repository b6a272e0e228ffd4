import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { RefObject } from 'react';
import { useKeys } from '../../frame/keys.ts';
import { onThemeChange, readInk } from './ink.ts';
import type { Spot } from './layout.ts';
import { AXIS, marginsOf, paint } from './paint.ts';
import type { Scene, View } from './paint.ts';
import type { Tile } from './tile.ts';

/** Where the cursor stands: a row of the map, and a step of it. */
export interface Place {
  readonly spot: number;
  readonly step: number;
}

export function useInk(): ReturnType<typeof readInk> {
  const [ink, setInk] = useState(readInk);
  useEffect(() => onThemeChange(() => setInk(readInk())), []);
  return ink;
}

const PAN_REST_MS = 300;

/** Where the map begins, at once on screen and in the address when it rests: browsers count how often an address is changed. */
export function usePan(asked: number, tell: (step: number) => void): [number, (step: number) => void] {
  const [from, setFrom] = useState(asked);
  const told = useRef(tell);
  useEffect(() => {
    told.current = tell;
  });
  useEffect(() => {
    const rounded = Math.max(0, Math.round(from));
    if (rounded === asked) return undefined;
    const timer = setTimeout(() => told.current(rounded), PAN_REST_MS);
    return () => clearTimeout(timer);
  }, [from, asked]);
  return [from, setFrom];
}

interface Frame {
  readonly width: number;
  readonly height: number;
  readonly isTall: boolean;
  readonly from: number;
  readonly steps: number;
}

/** Draws once a frame at most, however many reasons there are. */
export function usePainter(
  canvas: RefObject<HTMLCanvasElement | null>,
  room: RefObject<HTMLDivElement | null>,
  scene: Scene,
  frame: Frame,
): { readonly again: () => void; readonly top: () => number } {
  const asked = useRef(0);
  const latest = useRef({ scene, frame });
  const top = useCallback(() => (latest.current.frame.isTall ? (room.current?.scrollTop ?? 0) : 0), [room]);
  const again = useCallback(() => {
    cancelAnimationFrame(asked.current);
    asked.current = requestAnimationFrame(() => {
      const element = canvas.current;
      const context = element?.getContext('2d', { alpha: false });
      if (element === null || context == null) return;
      const { scene: now, frame: size } = latest.current;
      const height = size.isTall ? (room.current?.clientHeight ?? 600) : size.height;
      const scale = devicePixelRatio;
      const [wide, tall] = [Math.round(size.width * scale), Math.round(height * scale)];
      if (element.width !== wide || element.height !== tall) [element.width, element.height] = [wide, tall];
      context.setTransform(scale, 0, 0, scale, 0, 0);
      const view: View = {
        ...marginsOf(size.width),
        width: size.width,
        height,
        top: top(),
        from: size.from,
        steps: size.steps,
      };
      paint(context, now, view);
    });
  }, [canvas, room, top]);
  useLayoutEffect(() => {
    latest.current = { scene, frame };
    again();
  });
  return { again, top };
}

export function showSpot(
  room: RefObject<HTMLDivElement | null>,
  canvas: RefObject<HTMLCanvasElement | null>,
  spot: Spot,
  isTall: boolean,
): void {
  if (isTall && room.current !== null) {
    const { scrollTop, clientHeight } = room.current;
    if (spot.y < scrollTop) room.current.scrollTop = spot.y - 20;
    else if (spot.y + spot.height + AXIS > scrollTop + clientHeight)
      room.current.scrollTop = spot.y + spot.height + AXIS + 20 - clientHeight;
    return;
  }
  const box = canvas.current?.getBoundingClientRect();
  if (box === undefined) return;
  const y = box.top + AXIS + spot.y;
  if (y < 80) window.scrollBy(0, y - 120);
  else if (y > innerHeight - 60) window.scrollBy(0, y - innerHeight + 120);
}

interface Pointed {
  readonly canvas: RefObject<HTMLCanvasElement | null>;
  readonly spots: readonly Spot[];
  readonly top: number;
  readonly tile: Tile;
  readonly start: number;
  readonly steps: number;
  readonly width: number;
}

export function placeOf(
  event: { readonly clientX: number; readonly clientY: number },
  { canvas, spots, top, tile, start, steps, width }: Pointed,
): Place | undefined {
  const box = canvas.current?.getBoundingClientRect();
  if (box === undefined) return undefined;
  const [x, y] = [event.clientX - box.left, event.clientY - box.top - AXIS + top];
  const { left, right } = marginsOf(width);
  const step = Math.floor(start + ((x - left) / (width - left - right)) * steps);
  let [low, high] = [0, spots.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const spot = spots[middle];
    if (spot !== undefined && spot.y + spot.height <= y) low = middle + 1;
    else high = middle;
  }
  const spot = spots[low];
  if (spot === undefined || y < spot.y - 2 || x < 0) return undefined;
  return { spot: low, step: Math.min(tile.steps - 1, Math.max(0, step)) };
}

const ZOOM_MAX = 16;

interface MapKeys {
  readonly cursor: Place | undefined;
  readonly spots: readonly Spot[];
  readonly tile: Tile;
  readonly start: number;
  readonly show: (place: Place) => void;
  readonly open: () => void;
  readonly zoom: number;
  readonly onZoom: (zoom: number) => void;
}

export function useMapKeys({ cursor, spots, tile, start, show, open, zoom, onZoom }: MapKeys): void {
  const move = (rows: number, steps: number) => (): void => {
    const now = cursor ?? { spot: rows > 0 ? -1 : 0, step: Math.ceil(start) };
    show({
      spot: Math.min(spots.length - 1, Math.max(0, now.spot + rows)),
      step: Math.min(tile.steps - 1, Math.max(0, now.step + steps)),
    });
  };
  useKeys([
    { key: '←', words: 'earlier', isShown: true, run: move(0, -1) },
    { key: '→', words: 'later', isShown: true, run: move(0, 1) },
    { key: '↑', words: 'GPU before', isShown: true, run: move(-1, 0) },
    { key: '↓', words: 'next GPU', isShown: true, run: move(1, 0) },
    { key: 'enter', words: 'open GPU', isShown: true, run: open },
    { key: '+', words: 'closer', isShown: true, run: () => onZoom(Math.min(ZOOM_MAX, zoom * 2)) },
    { key: '-', words: 'wider', isShown: true, run: () => onZoom(Math.max(1, zoom / 2)) },
  ]);
}
