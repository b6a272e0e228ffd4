import { change, hours, percent, points, usd } from '../../figures.ts';
import type { OverviewReply } from '../../../../src/api/routes/overview/overview.ts';

type Grade = OverviewReply['verdict']['grade'];

export const GRADE_WORDS: Readonly<Record<Grade, { readonly words: string; readonly state: 'good' | 'warn' | 'bad' }>> =
  {
    fine: { words: 'Fine.', state: 'good' },
    'mostly-fine': { words: 'Mostly fine.', state: 'good' },
    'not-fine': { words: 'Not fine.', state: 'bad' },
    'not-known': { words: 'Nobody can say.', state: 'warn' },
  };

export interface Sentence {
  readonly paid: string;
  /** After the amount: ` paid, 4.7% more than before`. */
  readonly paidWords: string;
  readonly computed: string | null;
  readonly computedWords: string;
}

/** What was paid and what of it computed, each against the window before. */
export function sentenceOf(reply: OverviewReply): Sentence {
  const before = reply.before.sum;
  const share = reply.computedPermille;
  const hasUnpriced = reply.unpricedSeconds > 0 && reply.paidUsdMicros !== null;
  const isPriced = reply.paidUsdMicros !== null;
  // Facts that are not in the ledger yet have neither money nor time.
  const isKnown = isPriced || reply.gpuSeconds > 0;
  return {
    paid: !isKnown
      ? 'What was paid'
      : isPriced
        ? `${hasUnpriced ? '≥ ' : ''}${usd(reply.paidUsdMicros)}`
        : `${hours(reply.gpuSeconds)} GPU-hours`,
    paidWords: !isKnown
      ? ' is not known yet'
      : isPriced
        ? ` paid${moreOrLess(change(reply.paidUsdMicros, before?.paidUsdMicros ?? null))}`
        : ', and no price is known for any of it',
    computed: share === null ? null : percent(share, 0),
    computedWords: ` of what is known of it computed${pointsWords(points(share, before?.computedPermille ?? null))}`,
  };
}

function moreOrLess(text: string | null): string {
  if (text === null) return '';
  if (text.startsWith('±')) return ', as much as before';
  return `, ${text.slice(1)} ${text.startsWith('+') ? 'more' : 'less'} than before`;
}

function pointsWords(text: string | null): string {
  if (text === null) return '';
  if (text.startsWith('±')) return ', as before';
  return `, ${text.slice(1).replace(' pts', ' points')} ${text.startsWith('+') ? 'more' : 'less'}`;
}

/** What they cost an hour: at least, where some have no price; nothing of the kind where none has one. */
export function rateWords(runaways: readonly { readonly usdMicrosPerHour: string | null }[]): string {
  const priced = runaways.flatMap(({ usdMicrosPerHour }) => usdMicrosPerHour ?? []);
  if (priced.length === 0) return 'no price known';
  const perHour = priced.reduce((sum, micros) => sum + BigInt(micros), 0n);
  return `${priced.length < runaways.length ? '≥ ' : ''}${usd(String(perHour))} an hour`;
}
