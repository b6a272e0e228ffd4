import { useMemo, useRef, useState } from 'react';
import type { MouseEvent } from 'react';
import { useWidth } from '../../charts/use-width.ts';
import { layoutOf, spotsOf } from './layout.ts';
import type { Device, Group, Sort, Spot } from './layout.ts';
import type { Measure } from './levels.ts';
import { groupWords, nodeWords, spotWords } from './map-words.ts';
import { AXIS, sheetOf } from './paint.ts';
import type { Sheet } from './paint.ts';
import type { Tile } from './tile.ts';
import { placeOf, showSpot, useInk, useMapKeys, usePainter, usePan } from './use-map.ts';
import type { Place } from './use-map.ts';

/** Taller maps scroll in a region of their own, and only what is seen of them is drawn. */
const WHOLE_HEIGHT_MAX = 3000;

interface HeatMapProps {
  readonly groups: readonly Group[];
  readonly tile: Tile;
  /** GPUs of the machines that were opened, where machines stand for their GPUs. */
  readonly opened: ReadonlyMap<string, { readonly devices: readonly Device[]; readonly tile: Tile }>;
  readonly measure: Measure;
  readonly sort: Sort;
  readonly label: string;
  readonly chosen: string | undefined;
  readonly zoom: number;
  readonly onZoom: (zoom: number) => void;
  /** The first step that is seen, where the map is zoomed. */
  readonly pan: number;
  readonly onPan: (step: number) => void;
  readonly openGpu: (gpu: string) => void;
  readonly openNode: (node: string) => void;
}

/** Layout and pictures of a map, each worked out only when what it is made of changes. */
function useScene({ groups, tile, opened, sort, chosen }: HeatMapProps) {
  const ink = useInk();
  const layout = useMemo(
    () => layoutOf(groups, sort, new Map([...opened].map(([node, { devices }]) => [node, devices]))),
    [groups, sort, opened],
  );
  const spots = useMemo(() => spotsOf(layout.lines), [layout]);
  const sheet = useMemo(() => sheetOf(tile, ink), [tile, ink]);
  const sheets = useMemo(
    () => new Map([...opened].map(([node, each]): [string, Sheet] => [node, sheetOf(each.tile, ink)])),
    [opened, ink],
  );
  const spot = useMemo(
    () => (chosen === undefined ? undefined : spots.find(({ device }) => device?.deviceId === chosen)),
    [spots, chosen],
  );
  const texts = { group: groupWords, node: nodeWords };
  return { spots, scene: { layout, sheet, opened: sheets, ink, texts, chosen: spot } };
}

/** Every GPU over time, on a canvas; the table view says the same in words. */
export function HeatMap(props: HeatMapProps) {
  const { tile, opened, measure, label, zoom } = props;
  const [room, width] = useWidth<HTMLDivElement>(900);
  const canvas = useRef<HTMLCanvasElement>(null);
  const { spots, scene } = useScene(props);
  const [cursor, setCursor] = useState<Place | undefined>();
  const [from, setFrom] = usePan(props.pan, props.onPan);
  const steps = Math.max(1, tile.steps / zoom);
  const start = Math.min(Math.max(0, from), tile.steps - steps);
  const at = cursor === undefined ? undefined : spots[cursor.spot];
  const height = scene.layout.height + AXIS;
  const isTall = height > WHOLE_HEIGHT_MAX;
  const marked = cursor === undefined || at === undefined ? undefined : { spot: at, step: cursor.step };
  const draw = usePainter(canvas, room, { ...scene, cursor: marked }, { width, height, isTall, from: start, steps });
  const show = (place: Place): void => {
    setCursor(place);
    if (place.step < start) setFrom(place.step);
    else if (place.step >= start + steps) setFrom(place.step - steps + 1);
    const spot = spots[place.spot];
    if (spot !== undefined) showSpot(room, canvas, spot, isTall);
  };
  const open = (spot: Spot | undefined): void => {
    if (spot === undefined) return;
    if (spot.device === undefined) props.openNode(spot.machine.node ?? '');
    else props.openGpu(spot.device.deviceId);
  };
  useMapKeys({ cursor, spots, tile, start, show, open: () => open(at), zoom, onZoom: props.onZoom });
  const pointed = (event: MouseEvent): Place | undefined =>
    placeOf(event, { canvas, spots, top: draw.top(), tile, start, steps, width });
  return (
    <>
      <p className="heat-readout" role="status">
        {marked === undefined
          ? 'Arrow keys or the pointer read the map.'
          : spotWords(tile, opened, marked.spot, marked.step, measure)}
      </p>
      <div
        ref={room}
        className={isTall ? 'heat-region' : 'heat-room'}
        onScroll={draw.again}
        {...(isTall && { tabIndex: 0, role: 'group', 'aria-label': 'Map of GPUs, scrolls' })}
      >
        <canvas
          ref={canvas}
          className="heat"
          role="img"
          aria-label={label}
          onPointerMove={(event) => setCursor(pointed(event))}
          onPointerLeave={() => setCursor(undefined)}
          onClick={(event) => open(spots[pointed(event)?.spot ?? -1])}
          onWheel={(event) => {
            if (zoom > 1 && event.deltaX !== 0) setFrom(start + (event.deltaX / width) * steps);
          }}
        />
        {isTall ? <svg className="heat-spacer" width="1" height={height} aria-hidden="true" /> : null}
      </div>
    </>
  );
}
