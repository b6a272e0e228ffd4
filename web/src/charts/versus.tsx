import { day } from '../figures.ts';
import { linePath, ticksOf } from './scale.ts';
import { useWidth } from './use-width.ts';

interface VersusProps {
  readonly label: string;
  readonly now: readonly (number | null)[];
  /** Of the same length as `now`, one window earlier. */
  readonly before: readonly (number | null)[];
  /** When each value of `now` begins. */
  readonly times: readonly string[];
  /** Of each value, whether its bill is not in: drawn lighter, under a bracket. */
  readonly estimated?: readonly boolean[];
  readonly format: (tick: number, ticks: readonly number[]) => string;
  readonly height?: number;
  /** Bars start at 0; a line may start above it, and then says so. */
  readonly startsAtZero?: boolean;
}

const [LEFT, RIGHT, TOP, BOTTOM] = [50, 52, 8, 22];
const LABEL_ROOM = 12;

/** A window against the one before, named at the lines' ends. */
export function Versus(props: VersusProps) {
  const { label, now, before, times, estimated = [], format, height = 132, startsAtZero = false } = props;
  const [room, width] = useWidth<HTMLDivElement>(352);
  const known = [...now, ...before].filter((value) => value !== null);
  if (known.length === 0) return <p className="note">Nothing is known of this window.</p>;
  const ticks = ticksOf(startsAtZero ? 0 : Math.min(...known), Math.max(...known));
  const [low, high] = [ticks[0] ?? 0, ticks.at(-1) ?? 1];
  const x = (place: number): number => LEFT + (place * (width - LEFT - RIGHT)) / Math.max(1, now.length - 1);
  const y = (value: number): number => TOP + (1 - (value - low) / (high - low || 1)) * (height - TOP - BOTTOM);
  const every = Math.max(1, Math.ceil(times.length / Math.max(2, Math.floor((width - LEFT - RIGHT) / 64))));
  const last = now.findLastIndex((value) => value !== null);
  const ends = apart(y(now[last] ?? low), y(before.findLast((value) => value !== null) ?? low));
  return (
    <div ref={room} className="chart">
      <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label}>
        {ticks.map((tick) => (
          <g key={tick}>
            <line x1={LEFT} x2={width - RIGHT} y1={y(tick)} y2={y(tick)} className="grid" />
            <text x={LEFT - 6} y={y(tick) + 4} textAnchor="end">
              {format(tick, ticks)}
            </text>
          </g>
        ))}
        {times.map((time, place) =>
          place % every === 0 ? (
            <text key={time} x={x(place)} y={height - 3} textAnchor="middle">
              {day(time)}
            </text>
          ) : null,
        )}
        <path d={linePath(before, x, y)} className="line-before" />
        <path d={linePath(now.map(ofBasis(estimated, false)), x, y)} className="line-now" />
        <path d={linePath(now.map(ofBasis(estimated, true)), x, y)} className="line-now estimated" />
        <Estimated places={estimated} x={x} />
        {last < 0 ? null : <circle cx={x(last)} cy={y(now[last] ?? low)} r="2.5" className="dot-now" />}
        <text x={width - RIGHT + 8} y={ends.now + 4} className="ink">
          now
        </text>
        {before.some((value) => value !== null) ? (
          <text x={width - RIGHT + 8} y={ends.before + 4}>
            before
          </text>
        ) : null}
      </svg>
    </div>
  );
}

/** Values of billed or of estimated steps; the lighter line begins where the other ends. */
function ofBasis(estimated: readonly boolean[], isWanted: boolean) {
  return (value: number | null, place: number): number | null => {
    const isEstimated = estimated[place] === true;
    return isEstimated === isWanted || (isWanted && estimated[place + 1] === true) ? value : null;
  };
}

interface EstimatedProps {
  readonly places: readonly boolean[];
  readonly x: (place: number) => number;
}

function Estimated({ places, x }: EstimatedProps) {
  const first = places.indexOf(true);
  if (first < 0) return null;
  const [from, until] = [x(first) - 3, x(places.lastIndexOf(true)) + 3];
  return (
    <g>
      <title>estimated: the bill is not in</title>
      <path d={`M${from} ${TOP}V${TOP - 4}H${until}V${TOP}`} className="bracket" />
    </g>
  );
}

/** Two labels at the ends of lines, moved apart where they would cover each other. */
function apart(now: number, before: number): { now: number; before: number } {
  if (Math.abs(now - before) >= LABEL_ROOM) return { now, before };
  const middle = (now + before) / 2;
  const half = LABEL_ROOM / 2 + 0.5;
  return now <= before ? { now: middle - half, before: middle + half } : { now: middle + half, before: middle - half };
}
