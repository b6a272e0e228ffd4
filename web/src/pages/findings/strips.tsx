import { useWidth } from '../../charts/use-width.ts';
import { cut, day, minute } from '../../figures.ts';
import type { OneFindingAnswer } from '../../../../src/api/routes/findings/one-finding.ts';

type Strips = OneFindingAnswer['strips'];
type Strip = Strips['rows'][number];
export type StripHour = Strip['hours'][number];

const [NAME, LAST, TOP, ROW] = [168, 118, 20, 22];
const HOUR_MS = 3_600_000;
/** What the name of a day takes. */
const DAY_NAME = 46;
const HOURS_A_DAY = 24;
/** Upper ends of the ramp's levels, in permille of the known time. */
const LEVELS = [10, 150, 300, 500, 700, 900];

/** The class of an hour's colour; null where nobody had it, which is bare ground. */
export function hourClass(hour: StripHour): string | null {
  if (hour === null) return null;
  if (hour === 'unknown') return 'f-unknown';
  const level = LEVELS.findIndex((end) => hour < end);
  return `strip-${level < 0 ? LEVELS.length : level}`;
}

/** Hours that look the same are one rectangle. */
export function runsOf(hours: readonly StripHour[]): { of: string; from: number; length: number }[] {
  const runs: { of: string; from: number; length: number }[] = [];
  hours.forEach((hour, place) => {
    const of = hourClass(hour);
    const last = runs.at(-1);
    if (of === null) return;
    if (last !== undefined && last.of === of && last.from + last.length === place) last.length += 1;
    else runs.push({ of, from: place, length: 1 });
  });
  return runs;
}

/** Every hour of every holder: how much of it computed, or that nobody knows, or that it had nothing. */
export function stripCells({ from, rows }: Strips): (string | number | null)[][] {
  return rows.flatMap(({ subject, hours }) =>
    hours.map((hour, place) => [
      subject,
      new Date(Date.parse(from) + place * HOUR_MS).toISOString(),
      typeof hour === 'number' ? hour : null,
      hour === null ? 'not held' : hour === 'unknown' ? 'unknown' : 'held',
    ]),
  );
}

interface StripChartProps {
  readonly strips: Strips;
}

/** Seven days of each job or machine, hour by hour: warm is held and idle, cool computes, hatched nobody knows. */
export function StripChart({ strips }: StripChartProps) {
  const [room, width] = useWidth<HTMLDivElement>(760);
  const wide = Math.max(240, width - NAME - LAST);
  const count = Math.max(1, Math.round((Date.parse(strips.until) - Date.parse(strips.from)) / HOUR_MS));
  const x = (hour: number): number => NAME + (hour * wide) / count;
  const days = Array.from({ length: Math.floor(count / HOURS_A_DAY) }, (_, place) => place * HOURS_A_DAY);
  const every = Math.max(1, Math.ceil((DAY_NAME * count) / (wide * HOURS_A_DAY)));
  const height = TOP + strips.rows.length * ROW;
  return (
    <div ref={room} className="chart scroll" tabIndex={0} role="group" aria-label="Hours of each, scrollable">
      <svg
        width={NAME + wide + LAST}
        height={height}
        viewBox={`0 0 ${NAME + wide + LAST} ${height}`}
        role="img"
        aria-label={`Activity by hour of ${strips.rows.length} holders over seven days; the table says the same`}
      >
        {days.map((hour, place) => (
          <g key={hour}>
            <line x1={x(hour)} x2={x(hour)} y1={TOP - 4} y2={height} className="grid" />
            {place % every === 0 ? (
              <text x={x(hour) + 3} y={12}>
                {day(Date.parse(strips.from) + hour * HOUR_MS)}
              </text>
            ) : null}
          </g>
        ))}
        <text x={NAME + wide + 12} y={12}>
          last kernel ran
        </text>
        {strips.rows.map(({ subject, name, lastComputingAt, hours }, place) => {
          const y = TOP + place * ROW;
          return (
            <g key={subject}>
              <text x={0} y={y + 14} className="ink">
                {cut(name, 26)}
                <title>{subject}</title>
              </text>
              {runsOf(hours).map(({ of, from, length }) => (
                <rect
                  key={from}
                  x={x(from).toFixed(1)}
                  y={y + 4}
                  width={Math.max(0.8, (length * wide) / count).toFixed(1)}
                  height={ROW - 8}
                  className={of}
                />
              ))}
              <text x={NAME + wide + 12} y={y + 14}>
                {lastWords({ subject, lastComputingAt })}
              </text>
            </g>
          );
        })}
      </svg>
    </div>
  );
}

/** A machine that a scheduler hands out computes for its holders; a box nobody hands out has kernels of its own. */
function lastWords({ subject, lastComputingAt }: Pick<Strip, 'subject' | 'lastComputingAt'>): string {
  if (lastComputingAt !== null) return minute(lastComputingAt);
  return subject.startsWith('job ') ? 'not in the window' : '–';
}

/** The same as a table: what of each day's known hours computed. */
export function StripTable({ strips }: StripChartProps) {
  const count = Math.round((Date.parse(strips.until) - Date.parse(strips.from)) / HOUR_MS / HOURS_A_DAY);
  const days = Array.from({ length: count }, (_, place) => place);
  return (
    <div className="scroll" tabIndex={0} role="group" aria-label="Computed share by day">
      <table>
        <caption className="unseen">Share of the known held hours that computed, by day</caption>
        <thead>
          <tr>
            <th scope="col">Holder</th>
            {days.map((place) => (
              <th key={place} scope="col" className="n">
                {day(Date.parse(strips.from) + place * HOURS_A_DAY * HOUR_MS)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {strips.rows.map(({ subject, name, hours }) => (
            <tr key={subject}>
              <td title={subject}>{cut(name)}</td>
              {days.map((place) => (
                <td key={place} className="n">
                  {dayWords(hours.slice(place * HOURS_A_DAY, (place + 1) * HOURS_A_DAY))}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** `12%`, `unknown` where nothing of the day is known, `–` where it had nothing. */
export function dayWords(hours: readonly StripHour[]): string {
  const held = hours.filter((hour) => hour !== null);
  const known = held.filter((hour) => hour !== 'unknown');
  if (held.length === 0) return '–';
  if (known.length === 0) return 'unknown';
  return `${Math.round(known.reduce((sum, hour) => sum + hour, 0) / known.length / 10)}%`;
}
