import type { ReactNode } from 'react';
import { day, minute } from '../../figures.ts';
import type { BreakdownReply } from '../../../../src/api/routes/spend/spend-breakdown.ts';
import { estimatedSpans, spreadLabels } from './series.ts';

export const [LEFT, RIGHT, TOP, BOTTOM, HEIGHT] = [48, 124, 30, 22, 260];
const LABEL_GAP = 13;
const DAY_S = 86_400;

export interface ChartRoom {
  readonly width: number;
  readonly x: (place: number) => number;
  readonly y: (value: number) => number;
  /** The width of a step. */
  readonly wide: number;
}

/** Where steps and values lie in a chart of this width. */
export function roomOf(width: number, steps: number, high: number): ChartRoom {
  const wide = (width - LEFT - RIGHT) / Math.max(1, steps);
  return {
    width,
    wide,
    x: (place) => LEFT + place * wide,
    y: (value) => TOP + (1 - value / (high || 1)) * (HEIGHT - TOP - BOTTOM),
  };
}

interface FrameProps {
  readonly room: ChartRoom;
  readonly ticks: readonly number[];
  readonly format: (tick: number, ticks: readonly number[]) => string;
  readonly steps: BreakdownReply['steps'];
  readonly stepSeconds: number;
  readonly label: string;
  readonly hasBefore: boolean;
  readonly children: ReactNode;
}

/** Grid, days, and the bracket over what is estimated. */
export function ChartFrame({ room, ticks, format, steps, stepSeconds, label, hasBefore, children }: FrameProps) {
  const { width, x, y, wide } = room;
  const every = Math.max(1, Math.ceil(66 / wide));
  const when = stepSeconds % DAY_S === 0 ? day : minute;
  const gap = stepSeconds % DAY_S === 0 ? every : Math.max(every, Math.ceil(96 / wide));
  return (
    <svg width={width} height={HEIGHT} viewBox={`0 0 ${width} ${HEIGHT}`} role="img" aria-label={label}>
      {ticks.map((tick) => (
        <g key={tick}>
          <line x1={LEFT} x2={width - RIGHT} y1={y(tick)} y2={y(tick)} className={tick === 0 ? 'axis' : 'grid'} />
          <text x={LEFT - 6} y={y(tick) + 4} textAnchor="end">
            {format(tick, ticks)}
          </text>
        </g>
      ))}
      {steps.map(({ from }, place) =>
        place % gap === 0 ? (
          <text key={from} x={x(place)} y={HEIGHT - 4}>
            {when(from)}
          </text>
        ) : null,
      )}
      {children}
      {hasBefore ? (
        <text x={LEFT} y={12}>
          dashed: the window before
        </text>
      ) : null}
      {estimatedSpans(steps).map(([first, last]) => {
        const [from, to] = [x(first), x(last) + wide];
        return (
          <g key={first}>
            <path d={`M${from + 1} ${TOP - 6}V${TOP - 10}H${to - 1}V${TOP - 6}`} className="bracket" />
            <text x={Math.max(LEFT + 150, to)} y={TOP - 14} textAnchor="end" className="ink">
              estimated, bill not in
            </text>
          </g>
        );
      })}
    </svg>
  );
}

interface EndLabelsProps {
  readonly room: ChartRoom;
  readonly labels: readonly { readonly key: string; readonly name: string; readonly at: number }[];
}

/** Names at the right end, each with a line to what it names. */
export function EndLabels({ room, labels }: EndLabelsProps) {
  const edge = room.width - RIGHT;
  const places = spreadLabels(
    labels.map(({ at }) => at),
    LABEL_GAP,
    TOP - 4,
    HEIGHT - BOTTOM,
  );
  return labels.map(({ key, name, at }, place) => (
    <g key={key}>
      <path d={`M${edge + 2} ${at}L${edge + 12} ${places[place] ?? at}`} className="leader" />
      <text x={edge + 16} y={(places[place] ?? at) + 4} className="ink">
        <title>{name}</title>
        {name.length > 17 ? `${name.slice(0, 9)}…${name.slice(-7)}` : name}
      </text>
    </g>
  ));
}
