import { axisUsd, ticksOf } from '../../charts/scale.ts';
import { useWidth } from '../../charts/use-width.ts';
import { day, hours, least, minute, usd } from '../../figures.ts';
import { DataTable } from '../../parts/data-table.tsx';
import { STEPS } from '../../steps.ts';
import { roundLargestRemainder } from '../../../../src/money/split.ts';
import { formatUsdCents } from '../../../../src/money/usd.ts';
import { NO_PRICE } from '../../../../src/report/figures.ts';
import type { JobReply } from '../../../../src/api/routes/jobs/job.ts';
import { bucketsOf } from './verdict.ts';
import type { Bucket } from './verdict.ts';

const [LEFT, RIGHT, TOP, BOTTOM, HEIGHT] = [124, 96, 18, 20, 168];
const LABEL_ROOM = 13;
/** What has no price has no height: a hatch on top says that there is more. */
const UNPRICED_TALL = 5;
const MICROS = 1_000_000;
const CENT = 10_000n;
const HOUR_MS = 3_600_000;
/** From the ground up: what is worth its money first. */
const STACK = STEPS.toReversed();

/** A job's money over its hours, stacked by what became of it. */
export function MoneyHours({ reply, isTable }: { readonly reply: JobReply; readonly isTable: boolean }) {
  const [room, width] = useWidth<HTMLDivElement>(760);
  const { hoursEach, buckets } = bucketsOf(reply.hours, reply.activity.from, reply.activity.until);
  if (reply.usdMicros === null) return <p className="note">Its GPUs have no price: bursar import rates FILE</p>;
  if (isTable) return <HoursTable buckets={buckets} />;
  const sums = buckets.map(({ micros }) => Number([...micros.values()].reduce((a, b) => a + b, 0n)) / MICROS);
  const ticks = ticksOf(0, Math.max(...sums, 0.01));
  const high = ticks.at(-1) ?? 1;
  const wide = (width - LEFT - RIGHT) / buckets.length;
  const y = (value: number): number => TOP + (1 - value / high) * (HEIGHT - TOP - BOTTOM);
  const shown = STACK.filter(({ category }) => buckets.some(({ micros }) => (micros.get(category) ?? 0n) > 0n));
  return (
    <div ref={room} className="chart">
      <svg
        width={width}
        height={HEIGHT}
        viewBox={`0 0 ${width} ${HEIGHT}`}
        role="img"
        aria-label={`Money in steps of ${hoursEach} h, stacked by what became of it; the table has the figures`}
      >
        {ticks.map((tick) => (
          <g key={tick}>
            <line x1={LEFT} x2={width - RIGHT} y1={y(tick)} y2={y(tick)} className={tick === 0 ? 'axis' : 'grid'} />
            <text x={LEFT - 6} y={y(tick) + 4} textAnchor="end">
              {axisUsd(tick, ticks)}
            </text>
          </g>
        ))}
        {buckets.map((bucket, place) => (
          <Stack key={bucket.from} bucket={bucket} x={LEFT + place * wide} wide={wide} y={y} />
        ))}
        <Times buckets={buckets} hoursEach={hoursEach} x={(place) => LEFT + place * wide} room={width - LEFT - RIGHT} />
        {labelPlaces(buckets, shown, y).map(({ word, at }) => (
          <text key={word} x={width - RIGHT + 8} y={at + 4} className="ink">
            {word.toLowerCase()}
          </text>
        ))}
      </svg>
    </div>
  );
}

interface StackProps {
  readonly bucket: Bucket;
  readonly x: number;
  readonly wide: number;
  readonly y: (value: number) => number;
}

function unpricedOf({ unpriced }: Bucket): number {
  return [...unpriced.values()].reduce((sum, each) => sum + each, 0);
}

/** The parts of a bar, each on top of the others. */
function layersOf({ micros }: Bucket): { readonly of: string; readonly from: number; readonly until: number }[] {
  let base = 0;
  return STACK.flatMap(({ category, of }) => {
    const value = Number(micros.get(category) ?? 0n) / MICROS;
    if (value <= 0) return [];
    base += value;
    return [{ of, from: base - value, until: base }];
  });
}

function Stack({ bucket, x, wide, y }: StackProps) {
  const unpriced = unpricedOf(bucket);
  const top = layersOf(bucket).at(-1)?.until ?? 0;
  const words = [
    ...[...bucket.micros].map(([category, micros]) => `${category} ${usd(String(micros))}`),
    ...(unpriced === 0 ? [] : [`${hours(unpriced)} GPU-hours without a price`]),
  ];
  return (
    <g>
      <title>{`${minute(bucket.from)} UTC: ${words.join(', ')}`}</title>
      {layersOf(bucket).map(({ of, from, until }) => {
        const tall = y(from) - y(until);
        return (
          <rect
            key={of}
            x={(x + 0.5).toFixed(2)}
            y={y(until).toFixed(2)}
            width={Math.max(0.5, wide - 1).toFixed(2)}
            height={Math.max(0.4, tall - (tall > 2 ? 0.6 : 0)).toFixed(2)}
            className={`f-${of}`}
          />
        );
      })}
      {unpriced === 0 ? null : (
        <rect
          x={(x + 0.5).toFixed(2)}
          y={(y(top) - UNPRICED_TALL).toFixed(2)}
          width={Math.max(0.5, wide - 1).toFixed(2)}
          height={UNPRICED_TALL}
          className="f-unknown"
        />
      )}
    </g>
  );
}

interface TimesProps {
  readonly buckets: readonly Bucket[];
  readonly hoursEach: number;
  readonly x: (place: number) => number;
  readonly room: number;
}

/** Hours on round numbers, days above where another begins. */
function Times({ buckets, hoursEach, x, room }: TimesProps) {
  const most = Math.max(2, Math.floor(room / 64));
  const every = [1, 2, 4, 6, 12, 24, 48, 96, 168].find((each) => (buckets.length * hoursEach) / each <= most) ?? 336;
  return (
    <>
      {buckets.map(({ from }, place) => {
        const hour = Math.round(from / HOUR_MS);
        const isMarked = hoursEach >= every ? true : hour % every < hoursEach;
        return isMarked ? (
          <text key={from} x={x(place)} y={HEIGHT - 4} textAnchor="middle">
            {every < 24 ? new Date(from).toISOString().slice(11, 16) : day(from)}
          </text>
        ) : null;
      })}
      {every < 24
        ? buckets.map(({ from }, place) =>
            place > 0 && Math.round(from / HOUR_MS) % 24 < hoursEach ? (
              <g key={from}>
                <line x1={x(place)} x2={x(place)} y1="0" y2={HEIGHT - BOTTOM} className="connector" />
                <text x={x(place) + 4} y="9">
                  {day(from)}
                </text>
              </g>
            ) : null,
          )
        : null}
    </>
  );
}

/** Names stand beside their part of the last bars, moved apart where they would cover each other. */
function labelPlaces(
  buckets: readonly Bucket[],
  shown: typeof STACK,
  y: (value: number) => number,
): { word: string; at: number }[] {
  const last = buckets.findLast(({ micros }) => micros.size > 0);
  let base = 0;
  let above = Number.POSITIVE_INFINITY;
  return shown.map(({ category, word }) => {
    const value = Number(last?.micros.get(category) ?? 0n) / MICROS;
    const at = Math.min(y(base + value / 2), above - LABEL_ROOM);
    base += value;
    above = at;
    return { word, at };
  });
}

interface HourRow {
  readonly from: number;
  readonly parts: readonly string[];
  readonly paid: string;
}

/** To the cent: parts of an hour add up to it as shown, and hours to the whole; what has no price is in no sum, and told. */
function hourRows(buckets: readonly Bucket[], categories: readonly string[]): { rows: HourRow[]; total: string } {
  const sums = buckets.map(({ micros }) => categories.reduce((sum, each) => sum + (micros.get(each) ?? 0n), 0n));
  const paid = roundLargestRemainder(sums, CENT);
  const rows = buckets.map((bucket, place): HourRow => {
    const { from, micros, unpriced } = bucket;
    const parts = categories.map((category) => micros.get(category) ?? 0n);
    const shown = roundLargestRemainder(parts, CENT, paid[place] ?? 0n);
    const textOf = (category: string, cents: bigint): string => {
      const seconds = unpriced.get(category) ?? 0;
      if (micros.has(category)) return least(formatUsdCents(cents), seconds);
      return seconds > 0 ? NO_PRICE : '–';
    };
    const all = unpricedOf(bucket);
    return {
      from,
      parts: shown.map((cents, index) => textOf(categories[index] ?? '', cents)),
      paid: micros.size === 0 ? (all > 0 ? NO_PRICE : '–') : least(formatUsdCents(paid[place] ?? 0n), all),
    };
  });
  const unpriced = buckets.reduce((sum, bucket) => sum + unpricedOf(bucket), 0);
  return { rows, total: least(formatUsdCents(paid.reduce((sum, each) => sum + each, 0n)), unpriced) };
}

function HoursTable({ buckets }: { readonly buckets: readonly Bucket[] }) {
  const steps = STEPS.filter(({ category }) =>
    buckets.some(({ micros, unpriced }) => (micros.get(category) ?? 0n) !== 0n || unpriced.has(category)),
  );
  const { rows, total } = hourRows(
    buckets,
    steps.map(({ category }) => category),
  );
  return (
    <DataTable
      caption="Its money over time"
      rows={rows}
      keyOf={({ from }) => String(from)}
      columns={[
        { title: 'From, UTC', cell: ({ from }) => minute(from), sum: 'Total' },
        ...steps.map(({ word }, place) => ({
          title: word,
          isNumber: true,
          cell: ({ parts }: HourRow) => parts[place] ?? '',
        })),
        { title: 'Paid', isNumber: true, cell: ({ paid }) => paid, sum: total },
      ]}
    />
  );
}
