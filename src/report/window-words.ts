import { day, minute } from './figures.ts';

/** A window as it was asked for and what it means, with the days of it that the ledger has. */
export interface AskedWindow {
  readonly asked: string;
  readonly from: Date;
  readonly until: Date;
  readonly ledgerDays: number;
}

/** `last 7 days (3 with facts)`. */
export function windowWords({ window }: { readonly window: AskedWindow }): string {
  const days = (window.until.getTime() - window.from.getTime()) / 86_400_000;
  const some = window.ledgerDays < days ? ` (${window.ledgerDays} with facts)` : '';
  const nd = /^(\d+)d$/i.exec(window.asked);
  if (nd !== null) return nd[1] === '1' ? `today${some && ' so far'}` : `last ${Number(nd[1])} days${some}`;
  if (window.asked.toLowerCase() === 'today') return 'today';
  if (!isMidnight(window.from) || !isMidnight(window.until))
    return `${minute(window.from)} to ${minute(window.until)} UTC`;
  const [from, last] = [day(window.from), day(new Date(window.until.getTime() - 1))];
  return from === last ? from : `${from} to ${last}${some}`;
}

function isMidnight(time: Date): boolean {
  return time.getTime() % 86_400_000 === 0;
}
