import { OperationError } from '../../facts/operation-error.ts';
import { parseTime } from '../../money/period.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: HOUR_MS, d: DAY_MS, w: 7 * DAY_MS };
const FORMS = 'today, yesterday, week, month, lastweek, lastmonth, 12h, 7d, FROM,UNTIL as RFC 3339 or Unix seconds';

/**
 * What a window in OpenCost's words means, in ours: `FROM/UNTIL` with full hours, since the ledger has nothing finer.
 *
 * Days and weeks end with today, as there; minutes and hours end with the hour that goes on.
 */
export function openCostWindow(text: string, now: Date): string {
  const word = text.trim();
  const today = Math.floor(now.getTime() / DAY_MS) * DAY_MS;
  const weekday = (now.getUTCDay() + 6) % 7;
  const month = (offset: number): number => Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + offset, 1);
  const words: Readonly<Record<string, readonly [number, number]>> = {
    today: [today, today + DAY_MS],
    yesterday: [today - DAY_MS, today],
    week: [today - weekday * DAY_MS, today + DAY_MS],
    month: [month(0), today + DAY_MS],
    lastweek: [today - (weekday + 7) * DAY_MS, today - weekday * DAY_MS],
    lastmonth: [month(-1), month(0)],
  };
  const known = words[word.toLowerCase()];
  if (known !== undefined) return printed(...known);
  const length = /^(\d{1,5})([mhdw])$/.exec(word);
  if (length !== null) {
    const unit = length[2] ?? 'd';
    const lengthMs = Number(length[1]) * (UNIT_MS[unit] ?? DAY_MS);
    const until = unit === 'd' || unit === 'w' ? today + DAY_MS : Math.ceil(now.getTime() / HOUR_MS) * HOUR_MS;
    if (lengthMs > 0) return printed(until - lengthMs, until);
  }
  const ends = word.split(',').map(moment);
  const [from, until] = ends;
  if (ends.length === 2 && from !== undefined && until !== undefined && from < until) return printed(from, until);
  throw new OperationError('bad-window', `"${text}" is not a window of OpenCost`, { hint: `One of ${FORMS}.` });
}

/** `30m`, `6h`, `1d`, `1w` in seconds, of full hours. */
export function openCostStep(text: string): number {
  const match = /^(\d{1,5})([hdw])$/.exec(text.trim());
  const seconds = (Number(match?.[1]) * (UNIT_MS[match?.[2] ?? ''] ?? 0)) / 1000;
  if (match !== null && seconds > 0) return seconds;
  throw new OperationError('bad-step', `"${text}" is not a step of time`, {
    hint: 'full hours, days or weeks: 1h, 1d, 1w',
  });
}

function moment(text: string): number | undefined {
  if (/^\d{9,11}$/.test(text.trim())) return Number(text) * 1000;
  const time = parseTime(text.trim());
  return time.ok ? time.ms : undefined;
}

function printed(from: number, until: number): string {
  const hour = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;
  return `${hour(Math.floor(from / HOUR_MS) * HOUR_MS)}/${hour(Math.ceil(until / HOUR_MS) * HOUR_MS)}`;
}
