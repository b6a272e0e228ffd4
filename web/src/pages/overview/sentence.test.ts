import { describe, expect, it } from 'vitest';
import type { OverviewReply } from '../../../../src/api/routes/overview/overview.ts';
import { rateWords, sentenceOf } from './sentence.ts';

const sum = (paidUsdMicros: string | null, computedPermille: number | null) => ({
  paidUsdMicros,
  computedPermille,
  unknownPermille: 0,
  unattributedPermille: 0,
  gpuSeconds: 3600,
  unpricedSeconds: 0,
  steps: [],
});

const replyOf = (now: ReturnType<typeof sum>, before?: ReturnType<typeof sum>, unpricedSeconds = 0): OverviewReply => ({
  ...now,
  unpricedSeconds,
  asOf: '2026-11-01T00:00:00Z',
  asOfBy: 'clock',
  isDemo: false,
  team: null,
  window: { from: '2026-10-18T00:00:00Z', until: '2026-11-01T00:00:00Z', ledgerDays: 14 },
  before: {
    from: '2026-10-04T00:00:00Z',
    until: '2026-10-18T00:00:00Z',
    isKnown: before !== undefined,
    ...(before !== undefined && { sum: before }),
  },
  stepSeconds: 86_400,
  basisUsdMicros: {},
  books: { bills: 0, differenceUsdMicros: null, notPosted: 0, staleRows: 0, billedUntil: null },
  sources: [],
  verdict: { grade: 'fine', inputs: [] },
});

const read = (reply: OverviewReply): string => {
  const { paid, paidWords, computed, computedWords } = sentenceOf(reply);
  return `${paid}${paidWords}; ${computed === null ? 'not known' : computed + computedWords}`;
};

describe('the sentence', () => {
  it.each([
    [
      'more of both',
      replyOf(sum('453245000000', 515), sum('432795000000', 488)),
      '$453,245 paid, 4.7% more than before; 52% of what is known of it computed, 2.7 points more',
    ],
    [
      'less of both',
      replyOf(sum('100000000000', 400), sum('200000000000', 450)),
      '$100,000 paid, 50.0% less than before; 40% of what is known of it computed, 5.0 points less',
    ],
    [
      'all as before',
      replyOf(sum('100000000000', 400), sum('100000000000', 400)),
      '$100,000 paid, as much as before; 40% of what is known of it computed, as before',
    ],
    ['nothing before', replyOf(sum('100000000000', 400)), '$100,000 paid; 40% of what is known of it computed'],
    ['nothing measured', replyOf(sum('100000000000', null)), '$100,000 paid; not known'],
    [
      'something without a price',
      replyOf(sum('100000000000', 400), undefined, 60),
      '≥ $100,000 paid; 40% of what is known of it computed',
    ],
    [
      'nothing with a price',
      replyOf(sum(null, null), undefined, 60),
      '1.0 GPU-hours, and no price is known for any of it; not known',
    ],
    [
      'nothing that is known yet',
      { ...replyOf(sum(null, null)), gpuSeconds: 0 },
      'What was paid is not known yet; not known',
    ],
  ])('%s', (_, reply, want) => expect(read(reply)).toBe(want));
});

it.each([
  [[{ usdMicrosPerHour: '2000000' }, { usdMicrosPerHour: '3000000' }], '$5.00 an hour'],
  [[{ usdMicrosPerHour: '2000000' }, { usdMicrosPerHour: null }], '≥ $2.00 an hour'],
  [[{ usdMicrosPerHour: null }], 'no price known'],
])('runaways of %j cost %s', (runaways, want) => expect(rateWords(runaways)).toBe(want));
