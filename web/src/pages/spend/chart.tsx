import { axisUsd, linePath, ticksOf } from '../../charts/scale.ts';
import { useWidth } from '../../charts/use-width.ts';
import type { BreakdownReply } from '../../../../src/api/routes/spend/spend-breakdown.ts';
import { isCompared } from './against.ts';
import { ChartFrame, EndLabels, LEFT, RIGHT, roomOf } from './chart-frame.tsx';
import type { ChartRoom } from './chart-frame.tsx';
import { asShares, measured, seriesOf } from './series.ts';
import type { Measure, Series } from './series.ts';

export type ChartKind = 'stacked' | 'lines' | 'share';

interface SpendChartProps {
  readonly reply: BreakdownReply;
  readonly kind: ChartKind;
  readonly measure: Measure;
  /** Values of the first dimension, in the order colours are given by. */
  readonly order: readonly (string | null)[];
}

const hoursText = (value: number): string => value.toLocaleString('en-US', { maximumFractionDigits: 1 });

/** What was paid in each step: layers, lines or shares, with the window before as a dashed line. */
export function SpendChart({ reply, kind, measure, order }: SpendChartProps) {
  const [element, width] = useWidth<HTMLDivElement>(960);
  const plain = seriesOf(reply, measure, order);
  const series = kind === 'share' ? asShares(plain) : plain;
  const before = kind === 'stacked' && isCompared(reply) ? measured(reply.stepsBefore, measure) : [];
  const heights = kind === 'lines' ? series.flatMap(({ values }) => values) : stackHeights(series);
  const high = Math.max(0, ...[...heights, ...before].filter((value) => value !== null));
  const ticks = kind === 'share' ? [0, 25, 50, 75, 100] : ticksOf(0, high);
  const room = roomOf(Math.max(width, LEFT + RIGHT + 200), reply.steps.length, ticks.at(-1) ?? 1);
  const unit = measure === 'cost' ? 'Paid' : 'GPU-hours';
  if (series.length === 0) return <p className="note">Nothing in this window.</p>;
  return (
    <div ref={element} className="chart scroll" tabIndex={0} role="group" aria-label="Chart">
      <ChartFrame
        room={room}
        ticks={ticks}
        format={kind === 'share' ? (value) => `${value}%` : measure === 'cost' ? axisUsd : hoursText}
        steps={reply.steps}
        stepSeconds={reply.stepSeconds}
        label={`${unit} by ${reply.by[0] ?? 'all'} and time, ${kind}; press t for its table`}
        hasBefore={before.length > 0}
      >
        {kind === 'lines' ? (
          <Lines series={series} room={room} />
        ) : (
          <Stacks series={series} room={room} steps={reply.steps} />
        )}
        {before.length > 0 ? (
          <path
            d={linePath(before.slice(0, reply.steps.length), (place) => room.x(place) + room.wide / 2, room.y)}
            className="line-before"
          />
        ) : null}
      </ChartFrame>
    </div>
  );
}

function stackHeights(series: readonly Series[]): number[] {
  return (series[0]?.values ?? []).map((_, step) =>
    series.reduce((sum, { values }) => sum + Math.max(0, values[step] ?? 0), 0),
  );
}

interface LayersProps {
  readonly series: readonly Series[];
  readonly room: ChartRoom;
}

function Stacks({ series, room, steps }: LayersProps & { readonly steps: BreakdownReply['steps'] }) {
  const { x, y, wide } = room;
  const gap = wide > 6 ? 2 : wide > 3 ? 1 : 0;
  const last = steps.length - 1;
  const base = (layer: number, step: number): number =>
    series.slice(0, layer).reduce((sum, { values }) => sum + Math.max(0, values[step] ?? 0), 0);
  return (
    <>
      {steps.map(({ from, isEstimated }, step) => (
        <g key={from} className={isEstimated ? 'estimated' : undefined}>
          {series.map(({ key, of, values }, layer) => {
            const value = Math.max(0, values[step] ?? 0);
            if (value === 0) return null;
            const bottom = y(base(layer, step));
            const tall = bottom - y(base(layer, step) + value);
            return (
              <rect
                key={key}
                x={(x(step) + gap / 2).toFixed(1)}
                y={(bottom - tall).toFixed(1)}
                width={Math.max(0.5, wide - gap).toFixed(1)}
                height={Math.max(0.3, tall - (tall > 2 ? 0.7 : 0)).toFixed(1)}
                className={`f-${of}`}
              />
            );
          })}
        </g>
      ))}
      <EndLabels
        room={room}
        labels={series.map(({ key, name, values }, layer) => ({
          key,
          name,
          at: y(base(layer, last) + Math.max(0, values[last] ?? 0) / 2),
        }))}
      />
    </>
  );
}

function Lines({ series, room }: LayersProps) {
  const at = (place: number): number => room.x(place) + room.wide / 2;
  return (
    <>
      {series.map(({ key, of, values }) => (
        <path key={key} d={linePath(values, at, room.y)} className={`line l-${of}`} />
      ))}
      <EndLabels
        room={room}
        labels={series.map(({ key, name, values }) => ({
          key,
          name,
          at: room.y(values.findLast((value) => value !== null) ?? 0),
        }))}
      />
    </>
  );
}
