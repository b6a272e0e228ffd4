import { z } from 'zod';
import { detector } from '../facts/detector.ts';
import type { Claim, JudgeContext } from '../facts/detector.ts';
import { filterValue } from '../facts/filter-value.ts';
import { nameWord, shellWord } from '../facts/shell-word.ts';
import { sqlCount, sqlDay } from '../facts/sql-row.ts';
import { divideRounded, formatWholeUsd } from '../money/usd.ts';
import { windowDays } from './run-words.ts';
import { commentLine } from './stop-command.ts';
import { gpuHourWords, gpuHoursOfWords, modelWords, percentWords } from './wording.ts';

const Options = z.object({
  // GPU-hours unused in the window: below a day of one GPU it is what placement leaves over.
  gpuHoursMin: z.number().int().default(24),
  // Of what was committed in the pool: a few percent are the price of having room.
  sharePermilleMin: z.number().int().default(20),
});
type Options = z.infer<typeof Options>;

/** What a commitment, a reservation or an absent machine left unused on a day. */
const Stranded = z.object({
  day: sqlDay,
  subject: z.string(),
  provider: z.string().nullable(),
  region: z.string().nullable(),
  model: z.string().nullable(),
  usdMicros: z.bigint().nullable(),
  gpuS: sqlCount,
});
type Stranded = z.infer<typeof Stranded>;

/** GPUs of one place, model and way to buy on a day. */
const Bought = z.object({
  day: sqlDay,
  provider: z.string().nullable(),
  region: z.string().nullable(),
  model: z.string().nullable(),
  isRented: z.boolean(),
  usdMicros: z.bigint().nullable(),
  gpuS: sqlCount,
  /** Of what is rented, the time and the cash of what computes and does not serve. */
  movableS: sqlCount,
  cashUsdMicros: z.bigint().nullable(),
});
type Bought = z.infer<typeof Bought>;

/** The smallest machine that is committed of a model in a place. */
const Machine = z.object({
  provider: z.string().nullable(),
  region: z.string().nullable(),
  model: z.string().nullable(),
  gpus: sqlCount,
});
type Machine = z.infer<typeof Machine>;

const WHOLE_S = '(gpu_units - gpu_units % 63000)';
const wholeSeconds = (units: string): string =>
  `CAST((CAST(sum(${units}) AS BIGINT) - CAST(sum(${units}) AS BIGINT) % 63000) / 63000 AS BIGINT)`;

/**
 * Question: which commitments are paid and not used, and who rents the same GPUs meanwhile?
 *
 * The money is spent either way until the commitment ends, so what is claimed is capacity. The cash is with those who rent: on each
 * day no more than was unused, no more than computed on what was rented, at what they pay for that: what of it is idle, starved or lost belongs to other
 * findings, and so may what serves, so that no dollar is told twice. Machines are what moves in: of less than one nothing is said but its renewal. A bill says of a commitment what it left unused in dollars; the
 * model and the hours are those of the committed machines of the same place, and where these are of several models it says that it guesses.
 *
 * Reads: subject_day, node_day.
 */
export const strandedCommitments = detector({
  name: 'stranded-commitments',
  title: 'commitments and reservations that are paid and not used',
  category: 'stranded',
  factor: 'price',
  basis: 'measured',
  blastRadius: 3,
  blast: 'Whoever moves in runs in another place: data has to be there, and quotas have to allow it.',
  effort: 'a talk with who rents, and a change of their queue or node selector',
  options: Options,
  ask: () => ({
    stranded: {
      row: Stranded,
      tables: ['subject_day'],
      sql: `
        SELECT day, subject, provider, region, min(model) AS model, CAST(sum(usd_micros) AS BIGINT) AS "usdMicros",
               CAST(sum(${WHOLE_S}) / 63000 AS BIGINT) AS "gpuS"
        FROM subject_day WHERE category = 'stranded' GROUP BY day, subject, provider, region ORDER BY day, subject, provider, region`,
    },
    bought: {
      row: Bought,
      tables: ['node_day'],
      sql: `
        SELECT day, provider, region, model, FALSE AS "isRented", CAST(sum(usd_micros) AS BIGINT) AS "usdMicros",
               ${wholeSeconds('held_units + unallocated_units')} AS "gpuS", 0 AS "movableS", CAST(NULL AS BIGINT) AS "cashUsdMicros"
        FROM node_day WHERE purchase = 'committed' AND held_units + unallocated_units > 0 GROUP BY day, provider, region, model
        UNION ALL
        SELECT day, provider, region, model, TRUE AS "isRented", CAST(sum(cash_usd_micros) AS BIGINT) AS "usdMicros",
               ${wholeSeconds('cash_units')} AS "gpuS", ${wholeSeconds('movable_units')} AS "movableS",
               CAST(sum(movable_usd_micros) AS BIGINT) AS "cashUsdMicros"
        FROM node_day WHERE purchase = 'on-demand' AND cash_usd_micros IS NOT NULL GROUP BY day, provider, region, model
        ORDER BY day, provider, region, model, "isRented"`,
    },
    machines: {
      row: Machine,
      tables: ['node_day'],
      sql: `
        SELECT provider, region, model, min(gpus) AS gpus FROM node_day
        WHERE purchase = 'committed' AND node_id IS NOT NULL AND gpus > 0
        GROUP BY provider, region, model ORDER BY provider, region, model`,
    },
  }),
  judge({ stranded, bought, machines }, context) {
    const commitments = new Map<string, Stranded[]>();
    for (const row of stranded) commitments.set(row.subject, [...(commitments.get(row.subject) ?? []), row]);
    const largestFirst = [...commitments.values()].toSorted((a, b) => Number(totalUsd(b) - totalUsd(a)));
    // What moves into one commitment cannot move into another.
    const moved = new Map<string, number>();
    return largestFirst.flatMap((rows) => claimOf(rows, { bought, machines }, moved, context) ?? []);
  },
});

/** Less than an hour of one GPU moves nowhere. */
const MOVED_S_MIN = 3600;

function claimOf(
  rows: readonly Stranded[],
  { bought, machines }: { readonly bought: readonly Bought[]; readonly machines: readonly Machine[] },
  moved: Map<string, number>,
  context: JudgeContext<Options>,
): Claim | undefined {
  const [first] = rows;
  if (first === undefined) return undefined;
  const pool = poolOf(first, bought);
  const model = first.model ?? pool.model;
  const unused = rows.map((row) => ({
    day: row.day,
    gpuS: row.gpuS > 0 ? row.gpuS : secondsFor(row.usdMicros, pool.usdMicrosPerGpuHour),
  }));
  const unusedS = unused.reduce((sum, { gpuS }) => sum + gpuS, 0);
  const share = Math.floor((unusedS * 1000) / Math.max(1, unusedS + pool.gpuS));
  if (unusedS < context.options.gpuHoursMin * 3600 || share < context.options.sharePermilleMin) return undefined;
  const rented = bought.filter((row) => row.isRented && model !== null && isSameModel(row.model, model));
  const isNear = ({ provider, region }: Bought): boolean => provider === first.provider && region === first.region;
  const size = machineSize(machines, first, model);
  const room = unused.map(({ day, gpuS }) => ({ day, gpuS: wholeMachines(gpuS, size, pool.dayS.get(day) ?? 0) }));
  const isPart = totalS(room) === 0;
  const near = movable(room, rented.filter(isNear), new Map(moved));
  const all = movable(room, rented, moved);
  const canMove = all.gpuS >= MOVED_S_MIN;
  const name = first.subject.replace(/^resource /, '');
  const words = model === null ? 'GPUs' : modelWords(model);
  const isGuessed = first.model === null && pool.models > 1;
  const days = new Set(rows.map(({ day }) => day)).size;
  return {
    about: first.subject,
    ownerSubject: first.subject,
    what: `${(unusedS / 86_400 / days).toFixed(1).replace(/\.0$/, '')} committed ${isGuessed ? `GPUs (${words}?)` : words} unused${canMove ? ` while others rent ${gpuHourWords(totalS(rented))} on demand` : ''}`,
    because: [
      `${name}: ${gpuHoursOfWords(unusedS, unusedS + pool.gpuS)} committed in ${first.region ?? first.provider ?? 'its pool'} went unused in ${days} days, ${percentWords(share)} (bill${first.gpuS > 0 ? '' : ', hours by the rate of the machines in use'}).`,
      ...(isPart
        ? [`It is less than a machine of ${size} GPUs: nothing can move in, only a smaller renewal helps.`]
        : []),
      ...(first.model === null && model !== null
        ? [
            `The bill does not say for which GPU: ${isGuessed ? `${words} is a guess, most` : 'all'} committed machines of the place are ${words}.`,
          ]
        : []),
      'What is unused is spent either way until the commitment ends.',
      ...(isPart ? [] : [cashWords(words, rented, near, all)]),
    ],
    fix: fixOf(first, model, { canMove, isPart }),
    unless: 'Capacity kept on purpose: a failover, a launch with a date. Exempt it until then.',
    takes: [{ subject: first.subject, ...windowDays(context), category: 'stranded' }],
    ...(canMove && { cashElsewhere: { lowUsdMicros: near.usdMicros, highUsdMicros: all.usdMicros } }),
    reachable: {
      lowPermille: Math.floor((near.gpuS * 1000) / unusedS),
      highPermille: Math.floor((totalS(room) * 1000) / unusedS),
    },
    ...(isPart && {
      blastRadius: 1,
      blast: 'Nothing moves and nothing stops: it is a size to choose when the commitment ends.',
      effort: 'a line in the calendar, before it renews by itself',
    }),
  };
}

interface Moved {
  readonly gpuS: number;
  readonly usdMicros: bigint;
}

/** What those who rent would have kept: `near` from the same place, `all` from anywhere. */
function cashWords(words: string, rented: readonly Bought[], near: Moved, all: Moved): string {
  if (all.gpuS >= MOVED_S_MIN) {
    const far = near.gpuS === 0 ? 'all' : gpuHourWords(all.gpuS - near.gpuS);
    const egress =
      near.gpuS < all.gpuS ? `, ${far} of it from another region or provider, where egress and data count too` : '';
    return `Moving in what others rent, day by day at most as much as was unused, would have kept ${range(near.usdMicros, all.usdMicros)} of cash: ${gpuHourWords(all.gpuS)}${egress}. Counted is only what computed there, no serving, and nothing idle, starved or lost: other findings have that.`;
  }
  if (rented.length === 0) return `Nobody rents ${words} on demand: there is no cash to keep, only room for more work.`;
  return rented.every(({ movableS }) => movableS === 0)
    ? `What others rent of ${words} serves, or is idle, starved or lost: other findings have that, and here is only room for more work.`
    : 'What others rent falls on other days or would already fill a larger commitment: here is only room for more work.';
}

function fixOf(
  { region, provider }: Stranded,
  model: string | null,
  { canMove, isPart }: { readonly canMove: boolean; readonly isPart: boolean },
): string[] {
  if (isPart)
    return [
      commentLine('renew smaller; a plan that is bought by the dollar may cover part of another machine until then'),
    ];
  const renewal = '# do not renew at this size; some commitments can be exchanged or sold';
  if (!canMove) return ['# offer the room (quota, queue) to teams that wait: bursar queue', renewal];
  return [
    commentLine(
      `send what rents ${nameWord(model === null ? 'GPUs' : modelWords(model))} here first: a queue or node selector of the pool in ${nameWord(region ?? provider ?? 'the commitment')}`,
    ),
    `bursar spend --by team,region,purchase --filter ${shellWord(`model=${filterValue(model ?? '')}`)}   # who rents`,
    renewal,
  ];
}

/** The committed machines of the same place: how many hours they ran, at what rate, and which model most of them are. */
function poolOf(
  { provider, region, model }: Stranded,
  bought: readonly Bought[],
): {
  model: string | null;
  models: number;
  gpuS: number;
  /** Of these, by day. */
  dayS: ReadonlyMap<string, number>;
  usdMicrosPerGpuHour: bigint;
} {
  const near = bought.filter(
    (row) =>
      !row.isRented &&
      row.provider === provider &&
      (region === null || row.region === region) &&
      (model === null || row.model === model),
  );
  const hours = new Map<string, number>();
  for (const row of near) if (row.model !== null) hours.set(row.model, (hours.get(row.model) ?? 0) + row.gpuS);
  const most = [...hours].toSorted((a, b) => b[1] - a[1])[0]?.[0] ?? null;
  const ofModel = near.filter((row) => row.model === most);
  const gpuS = totalS(ofModel);
  const dayS = new Map<string, number>();
  for (const row of ofModel) dayS.set(row.day, (dayS.get(row.day) ?? 0) + row.gpuS);
  const usdMicros = ofModel.reduce((sum, row) => sum + (row.usdMicros ?? 0n), 0n);
  return {
    model: most,
    models: hours.size,
    gpuS,
    dayS,
    usdMicrosPerGpuHour: gpuS === 0 ? 0n : divideRounded(usdMicros * 3600n, BigInt(gpuS)),
  };
}

/**
 * A commitment is for machines: of a day's unused time, that of whole ones. Where those in use were there for part of the day only, the time they
 * left has all of their GPUs, however little it is.
 */
function wholeMachines(gpuS: number, size: number, usedS: number): number {
  const machineS = size * 86_400;
  // Hours that a rate told are short of the machine by a little.
  const slackS = machineS / 20;
  const isAllDay = usedS % machineS <= slackS || usedS % machineS >= machineS - slackS;
  return size <= 1 || !isAllDay ? gpuS : Math.min(gpuS, Math.floor((gpuS + slackS) / machineS) * machineS);
}

/** How many GPUs the smallest committed machine has; 1 where none is known: then any part may be one. */
function machineSize(machines: readonly Machine[], { provider, region }: Stranded, model: string | null): number {
  const sizes = machines.flatMap((each) =>
    each.provider === provider && (region === null || each.region === region) && each.model === model ? each.gpus : [],
  );
  return sizes.length === 0 ? 1 : Math.min(...sizes);
}

/** Day by day the lesser of what was unused and what was rented and has not moved elsewhere, at the rate paid that day. */
function movable(
  unused: readonly { readonly day: string; readonly gpuS: number }[],
  rented: readonly Bought[],
  moved: Map<string, number>,
): Moved {
  let [gpuS, usdMicros] = [0, 0n];
  for (const { day, gpuS: free } of unused) {
    const ofDay = rented.filter((row) => row.day === day);
    const rentedS = ofDay.reduce((sum, { movableS }) => sum + movableS, 0);
    const key = `${day} ${modelWords(ofDay[0]?.model ?? '')}`;
    const left = Math.max(0, rentedS - (moved.get(key) ?? 0));
    if (left === 0) continue;
    const movedS = Math.min(free, left);
    const paid = ofDay.reduce((sum, row) => sum + (row.cashUsdMicros ?? 0n), 0n);
    moved.set(key, (moved.get(key) ?? 0) + movedS);
    gpuS += movedS;
    usdMicros += (paid * BigInt(movedS)) / BigInt(rentedS);
  }
  return { gpuS, usdMicros };
}

function isSameModel(a: string | null, b: string): boolean {
  return a !== null && (a === b || modelWords(a) === modelWords(b));
}

function totalS(rows: readonly { readonly gpuS: number }[]): number {
  return rows.reduce((sum, { gpuS }) => sum + gpuS, 0);
}

function secondsFor(usdMicros: bigint | null, usdMicrosPerGpuHour: bigint): number {
  return usdMicros === null || usdMicrosPerGpuHour <= 0n ? 0 : Number((usdMicros * 3600n) / usdMicrosPerGpuHour);
}

function totalUsd(rows: readonly Stranded[]): bigint {
  return rows.reduce((sum, { usdMicros }) => sum + (usdMicros ?? 0n), 0n);
}

function range(low: bigint, high: bigint): string {
  if (low === 0n) return `up to ${formatWholeUsd(high)}`;
  return low === high ? formatWholeUsd(high) : `${formatWholeUsd(low)}–${formatWholeUsd(high)}`;
}
