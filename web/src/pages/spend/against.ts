import { change, dayRange, lengthWords, usd } from '../../figures.ts';
import type { BreakdownReply } from '../../../../src/api/routes/spend/spend-breakdown.ts';

const DAY_MS = 86_400_000;

/** Whether there is a window before to compare with: facts reach back to it, and it is a day or longer. */
export function isCompared({ before }: Pick<BreakdownReply, 'before'>): boolean {
  return before.isKnown && Date.parse(before.until) - Date.parse(before.from) >= DAY_MS;
}

/** `+4.7% against $1,000 in the 7 days before`: that window's own length, which is shorter where this one goes on. */
export function againstWords(reply: Pick<BreakdownReply, 'before' | 'total'>): string {
  const { before, total } = reply;
  if (isCompared(reply))
    return `${change(total.usdMicros, total.beforeUsdMicros) ?? '–'} against ${usd(total.beforeUsdMicros)} in the ${lengthWords(before.from, before.until)} before`;
  const isLong = Date.parse(before.until) - Date.parse(before.from) >= DAY_MS;
  return isLong
    ? `nothing before to compare with: the facts do not reach back to ${dayRange(before.from, before.until)}`
    : 'nothing before to compare with';
}
