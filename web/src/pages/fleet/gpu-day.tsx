import { DataTable } from '../../parts/data-table.tsx';
import { day, minute, percent } from '../../figures.ts';
import { useWidth } from '../../charts/use-width.ts';
import type { GpuReply } from '../../../../src/api/routes/fleet/fleet-gpu.ts';

const HOUR_MS = 3_600_000;
const [TOP, BARS, STRIP, JOBS, GAP, AXIS] = [12, 52, 10, 16, 6, 14];
const STRIP_Y = TOP + BARS + GAP;
const JOBS_Y = STRIP_Y + STRIP + GAP;
const HEIGHT = JOBS_Y + JOBS + AXIS;
const LEVEL_STARTS = [10, 150, 300, 500, 700, 900];

/** The level of the ramp that a share belongs to. */
function levelOf(permille: number): number {
  return LEVEL_STARTS.filter((start) => permille >= start).length;
}

interface Scale {
  readonly x: (time: string | number) => number;
  readonly hourWide: number;
}

/** Activity, memory and jobs of one GPU on one axis of time. */
export function GpuDay({ reply }: { readonly reply: GpuReply }) {
  const [room, width] = useWidth<HTMLDivElement>(360);
  const [from, until] = [Date.parse(reply.window.from), Date.parse(reply.window.until)];
  const x = (time: string | number): number =>
    ((Math.min(until, Math.max(from, new Date(time).getTime())) - from) / (until - from)) * width;
  const scale = { x, hourWide: (HOUR_MS / (until - from)) * width };
  const isDay = until - from <= 24 * HOUR_MS;
  return (
    <div ref={room} className="chart">
      <svg
        width={width}
        height={HEIGHT}
        viewBox={`0 0 ${width} ${HEIGHT}`}
        role="img"
        aria-label="Activity, memory and jobs of this GPU over the window"
      >
        <text x={width} y="8" textAnchor="end">
          100% at the line
        </text>
        <line x1="0" x2={width} y1={TOP} y2={TOP} className="grid" />
        <line x1="0" x2={width} y1={TOP + BARS} y2={TOP + BARS} className="axis" />
        <Bars reply={reply} scale={scale} />
        <line x1="0" x2={width} y1={STRIP_Y + STRIP} y2={STRIP_Y + STRIP} className="grid" />
        <Memory reply={reply} scale={scale} />
        {reply.holders.map((holder) => (
          <rect
            key={`${holder.allocationId ?? ''} ${holder.from}`}
            x={x(holder.from) + 0.5}
            y={JOBS_Y + 0.5}
            width={Math.max(1, x(holder.until) - x(holder.from) - 1)}
            height={JOBS - 1}
            className={holder.isHeld ? 'stay' : 'stay-free'}
          />
        ))}
        {[0, 1, 2, 3, 4].map((quarter) => (
          <text
            key={quarter}
            x={(quarter * width) / 4}
            y={HEIGHT - 2}
            textAnchor={quarter === 0 ? 'start' : quarter === 4 ? 'end' : 'middle'}
          >
            {timeWords(from + (quarter * (until - from)) / 4, isDay, quarter === 4)}
          </text>
        ))}
      </svg>
      <p className="note">
        Bars: SMs active. Grey: memory held{reply.memoryMib === null ? ', size of this model not known' : ''}. Boxes:
        jobs. Dots: nobody held it.
      </p>
    </div>
  );
}

function timeWords(at: number, isDay: boolean, isEnd: boolean): string {
  if (!isDay) return day(at);
  const time = new Date(at).toISOString();
  return isEnd && time.slice(11, 16) === '00:00' ? '24:00' : time.slice(11, 16);
}

/** An hour in which nothing was measured is a hatch; one that nobody held is not idle: dots on the ground, as on the map. */
function Bars({ reply, scale: { x, hourWide } }: { readonly reply: GpuReply; readonly scale: Scale }) {
  const wide = Math.max(0.5, hourWide - (hourWide > 4 ? 1 : 0));
  return reply.hours.map(({ hour, activePermille }) => {
    if (isFree(reply, hour)) {
      const y = TOP + BARS - 1.5;
      return <line key={hour} x1={x(hour)} x2={x(hour) + hourWide} y1={y} y2={y} className="dots" />;
    }
    const tall = activePermille === null ? BARS : Math.max(1, (activePermille / 1000) * BARS);
    const of = activePermille === null ? 'f-unknown' : `f-heat-${levelOf(activePermille)}`;
    return <rect key={hour} x={x(hour)} y={TOP + BARS - tall} width={wide} height={tall} className={of} />;
  });
}

function Memory({ reply, scale: { x, hourWide } }: { readonly reply: GpuReply; readonly scale: Scale }) {
  return reply.hours.map(({ hour, memoryMib }) => {
    const share = memoryMib === null || reply.memoryMib === null ? 0 : Math.min(1, memoryMib / reply.memoryMib);
    if (share === 0) return null;
    const tall = Math.max(1, share * STRIP);
    return (
      <rect key={hour} x={x(hour)} y={STRIP_Y + STRIP - tall} width={hourWide + 0.3} height={tall} className="f-paid" />
    );
  });
}

/** The hours of one GPU, for who cannot see the chart and for a file. */
export function hourCells({ hours, holders }: GpuReply): (string | number | null)[][] {
  return hours.map(({ hour, activePermille, memoryMib }) => [
    hour,
    activePermille,
    memoryMib,
    holders
      .filter(({ from, until, isHeld }) => isHeld && overlapsHour(from, until, hour))
      .map(({ job, allocationId }) => job ?? allocationId ?? 'holder unknown')
      .join(', '),
  ]);
}

/** Nobody held it in that hour, and somebody knows that nobody did. */
export function isFree({ holders }: Pick<GpuReply, 'holders'>, hour: string): boolean {
  const there = holders.filter(({ from, until }) => overlapsHour(from, until, hour));
  return there.length > 0 && there.every(({ isHeld }) => !isHeld);
}

function overlapsHour(from: string, until: string, hour: string): boolean {
  const begin = Date.parse(hour);
  return Date.parse(from) < begin + HOUR_MS && Date.parse(until) > begin;
}

export function GpuHours({ reply }: { readonly reply: GpuReply }) {
  return (
    <DataTable
      caption="Hours of this GPU"
      rows={hourCells(reply)}
      keyOf={([hour]) => String(hour)}
      empty="No hour of it lies in this window."
      columns={[
        { title: 'From, UTC', cell: ([hour]) => minute(String(hour)) },
        {
          title: 'SM active',
          isNumber: true,
          cell: ([, active]) => (typeof active === 'number' ? percent(active, 0) : 'unknown'),
        },
        {
          title: 'Memory, MiB',
          isNumber: true,
          cell: ([, , memory]) => (typeof memory === 'number' ? memory.toLocaleString('en-US') : '–'),
        },
        { title: 'Jobs', cell: ([, , , jobs]) => jobs },
      ]}
    />
  );
}
