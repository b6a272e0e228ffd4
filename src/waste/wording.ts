import { acceleratorNamed } from '../facts/accelerators.ts';
import { formatUsdCents, formatWholeUsd } from '../money/usd.ts';

const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const HOUR_S = 3600;
const DAY_S = 24 * HOUR_S;

/** A time as people say it, UTC: `Fri 18:42` within the last six days of `now`, else `2026-11-01 18:42`. */
export function timeWords(time: Date, now: Date): string {
  const text = time.toISOString();
  if (now.getTime() - time.getTime() < 6 * DAY_S * 1000)
    return `${WEEKDAYS[time.getUTCDay()] ?? ''} ${text.slice(11, 16)}`;
  return text.slice(0, 16).replace('T', ' ');
}

/** A length of time in the unit people would say it in: `40 min`, `7.1 h`, `12 days`. */
export function spanWords(seconds: number): string {
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min`;
  if (seconds < 72 * HOUR_S) return `${(seconds / HOUR_S).toFixed(1).replace(/\.0$/, '')} h`;
  return `${Math.round(seconds / DAY_S)} days`;
}

/** `on 2026-10-31`, or from one day to another. */
export function daysWords(firstDay: string, lastDay: string): string {
  return firstDay === lastDay ? `on ${firstDay}` : `from ${firstDay} to ${lastDay}`;
}

const hours = (gpuSeconds: number): string => {
  const value = gpuSeconds / HOUR_S;
  return value < 10 ? value.toFixed(1).replace(/\.0$/, '') : wholeWords(value);
};

/** `118 GPU-hours`; below ten with one decimal. */
export function gpuHourWords(gpuSeconds: number): string {
  return `${hours(gpuSeconds)} GPU-hours`;
}

/** `672 of 1,737 GPU-hours`. */
export function gpuHoursOfWords(partGpuSeconds: number, wholeGpuSeconds: number): string {
  return `${hours(partGpuSeconds)} of ${gpuHourWords(wholeGpuSeconds)}`;
}

/** `12,345`. */
export function wholeWords(count: number): string {
  return Math.round(count).toLocaleString('en-US');
}

/** `0.4`, `12`: one decimal below ten. */
export function figureWords(value: number): string {
  return value < 9.95 ? value.toFixed(1) : wholeWords(value);
}

/** `1 node`, `1,113 runs`. */
export function countWords(count: number, noun: string, nouns = `${noun}s`): string {
  return `${wholeWords(count)} ${count === 1 ? noun : nouns}`;
}

/** `8×H100`, a part of one as `0.5×A100`; `3 GPUs` where no model is known. */
export function gpuWords(count: number, model: string | null): string {
  const told = count === 0 ? '<0.1' : String(count);
  return model === null ? `${told} GPU${count === 1 ? '' : 's'}` : `${told}×${modelWords(model)}`;
}

/** The short name of a model where there is one: `H100` for `NVIDIA H100 80GB HBM3`; `GPU` where none is known. */
export function modelWords(model: string | null): string {
  return model === null ? 'GPU' : (acceleratorNamed(model)?.id ?? model);
}

/** The first few names, and how many more there are. */
export function someWords(names: readonly string[], most = 4): string {
  const shown = names.slice(0, most);
  const rest = names.length - shown.length;
  return rest === 0 ? shown.join(', ') : `${shown.join(', ')} and ${rest} more`;
}

/** `46 %` of 462 permille; what is not nothing is not called 0 %. */
export function percentWords(permille: number): string {
  return permille > 0 && permille < 10 ? 'under 1 %' : `${Math.round(permille / 10)} %`;
}

/** `$24.50`, from a hundred on `$1,240`. */
export function moneyWords(usdMicros: bigint): string {
  return usdMicros < 100_000_000n ? formatUsdCents(usdMicros) : formatWholeUsd(usdMicros);
}
