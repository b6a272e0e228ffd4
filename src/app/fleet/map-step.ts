import { OperationError } from '../../facts/operation-error.ts';
import { LENGTH_OF_TIME, lengthSeconds } from '../config/length-of-time.ts';
import { daysOf } from '../window.ts';
import type { LedgerWindow } from '../window.ts';
import type { ReadSpace } from '../workspace.ts';
import type { Measure } from './cell.ts';

const [MINUTE_S, HOUR_S, DAY_S] = [60, 3600, 86_400];
/** More than these are not told apart on a screen, and would make a tile of megabytes. */
const STEPS_MAX = 2400;
/** Samples of more GPUs, or of longer than this, are not opened for a map: sums by hour answer in the same time for all. */
const SAMPLED_GPUS_MAX = 2000;
const SAMPLED_DAYS_MAX = 2;
/** Of larger fleets longer windows are read by the day. */
const LARGE_FLEET_DAYS = 3;
/** Beyond this an hour of every GPU is more than a question may open. */
const LARGE_FLEET_HOURS_DAYS = 7;
const FINE_STEP_S = 15 * MINUTE_S;

export function stepsOf({ from, until }: Pick<LedgerWindow, 'from' | 'until'>, stepSeconds: number): number {
  return Math.max(1, Math.ceil((until.getTime() - from.getTime()) / 1000 / stepSeconds));
}

/**
 * How long a step of the map is: what was asked for, else a quarter of an hour for a day or two of a fleet whose samples are that
 * close, an hour up to a month (of a large fleet, three days), then a day.
 *
 * Reads, where that decides it: gpu_sample.
 */
export async function mapStep(
  space: ReadSpace,
  asked: string | undefined,
  { window, measure, gpus }: { window: LedgerWindow; measure: Measure; gpus: number },
): Promise<number> {
  const seconds = asked === undefined ? await ownStep(space, window, measure, gpus) : parseMapStep(asked);
  if (measure === 'wasted' && seconds < HOUR_S) return HOUR_S;
  const isLarge = gpus > SAMPLED_GPUS_MAX && window.days.length > LARGE_FLEET_HOURS_DAYS && seconds < DAY_S;
  const isFine = seconds < HOUR_S && (window.days.length > SAMPLED_DAYS_MAX || gpus > SAMPLED_GPUS_MAX);
  if (stepsOf(window, seconds) > STEPS_MAX || isFine || isLarge) {
    throw new OperationError('bad-step', `${asked ?? 'even a day'} is too short a step for this window`, {
      hint: 'minutes for up to two days, 1h for up to a hundred, else 6h or 1d; of more than 2,000 GPUs 1h for up to a week, else 1d',
    });
  }
  return seconds;
}

function parseMapStep(text: string): number {
  const seconds = LENGTH_OF_TIME.test(text) ? lengthSeconds(text) : Number.NaN;
  const isFit = seconds < HOUR_S ? seconds >= 5 * MINUTE_S && HOUR_S % seconds === 0 : DAY_S % seconds === 0;
  if (isFit) return seconds;
  throw new OperationError('bad-step', `"${text}" is not a step of the map`, {
    hint: 'a step is 5m, 10m, 15m, 30m, 1h, 2h, 3h, 6h, 12h or 1d',
  });
}

async function ownStep(space: ReadSpace, window: LedgerWindow, measure: Measure, gpus: number): Promise<number> {
  const days = (window.until.getTime() - window.from.getTime()) / 1000 / DAY_S;
  if (days > 31 || (days > LARGE_FLEET_DAYS && gpus > SAMPLED_GPUS_MAX)) return DAY_S;
  if (measure === 'wasted' || days > SAMPLED_DAYS_MAX || gpus > SAMPLED_GPUS_MAX) return HOUR_S;
  const [row] = await space.ask<{ step: bigint | null }>({
    tables: [{ table: 'gpu_sample', ...daysOf(window) }],
    sql: 'SELECT max(step_s) AS step FROM gpu_sample',
  });
  return row?.step != null && Number(row.step) <= FINE_STEP_S ? FINE_STEP_S : HOUR_S;
}
