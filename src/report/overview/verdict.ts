import { counted } from '../figures.ts';

export type Grade = 'fine' | 'mostly-fine' | 'not-fine' | 'not-known';
export type InputState = 'good' | 'warn' | 'bad' | 'none';

/** What "are we fine?" is judged by. Shares are permilles; null is what nobody knows. */
export interface VerdictInputs {
  /** Computing ÷ (paid − beside − unknown). */
  readonly computedPermille: number | null;
  readonly computedBeforePermille: number | null;
  /** Paid for time of which nobody knows what became of it, of all that was paid. */
  readonly unknownPermille: number | null;
  /** Paid and nobody's. Undefined where one team is asked about. */
  readonly unattributedPermille: number | null | undefined;
  /** GPU time without a price, of all GPU time. */
  readonly unpricedPermille: number | null;
  readonly books: {
    readonly bills: number;
    /** What ledger and bills differ by; null where nothing could be compared. */
    readonly differenceUsdMicros: bigint | null;
    readonly notPosted: number;
    /** Rows of facts that are not in the ledger yet. */
    readonly staleRows: number;
  };
  readonly sources: { readonly all: number; readonly stale: number };
}

/** One input, how it stands, and the rule that says so. */
export interface JudgedInput {
  readonly name: 'computed' | 'trend' | 'unknown' | 'unattributed' | 'unpriced' | 'books' | 'sources';
  readonly state: InputState;
  readonly words: string;
  readonly rule: string;
}

export interface Verdict {
  readonly grade: Grade;
  readonly inputs: readonly JudgedInput[];
}

/** docs/FINE.md publishes these and says why; a test holds both together. */
export const FINE_LIMITS = {
  computedGoodPermille: 600,
  computedBadPermille: 400,
  computedFallPermille: 50,
  unknownGoodPermille: 50,
  unknownBadPermille: 200,
  unattributedGoodPermille: 50,
  unattributedBadPermille: 200,
  unpricedBadPermille: 50,
} as const;

/**
 * Question: are we fine?
 *
 * Not fine where one input is wrong, mostly fine where one wants attention, fine else. Where nobody knows what computed, nobody can say:
 * silence is no good news. An input that is not known counts for nothing.
 */
export function verdictOf(inputs: VerdictInputs): Verdict {
  const judged = [
    computed(inputs),
    trend(inputs),
    unknown(inputs),
    ...unattributed(inputs),
    unpriced(inputs),
    books(inputs),
    sources(inputs),
  ];
  const has = (state: InputState): boolean => judged.some((input) => input.state === state);
  const isKnown = inputs.computedPermille !== null;
  return {
    grade: !isKnown ? 'not-known' : has('bad') ? 'not-fine' : has('warn') ? 'mostly-fine' : 'fine',
    inputs: judged,
  };
}

const percent = (permille: number): string => `${permille / 10}%`;

/** `23%`; what is there and below one half is not 0. */
function wholePercent(permille: number): string {
  return permille > 0 && permille < 5 ? '<1%' : `${Math.round(permille / 10)}%`;
}

function computed({ computedPermille: share }: VerdictInputs): JudgedInput {
  const { computedGoodPermille: good, computedBadPermille: bad } = FINE_LIMITS;
  return {
    name: 'computed',
    state: share === null ? 'none' : share >= good ? 'good' : share >= bad ? 'warn' : 'bad',
    words: share === null ? 'Nobody knows what computed' : `${wholePercent(share)} of what is known computed`,
    rule: `fine from ${percent(good)}, wrong below ${percent(bad)}`,
  };
}

function trend({ computedPermille: now, computedBeforePermille: before }: VerdictInputs): JudgedInput {
  const { computedFallPermille: fall } = FINE_LIMITS;
  const rule = `wants attention when it falls by ${fall / 10} points or more`;
  if (now === null || before === null) return { name: 'trend', state: 'none', words: 'Nothing to compare with', rule };
  const points = Math.abs(Math.round(now - before) / 10).toFixed(1);
  const moved =
    now === before ? 'the same as before' : `${points} points ${now > before ? 'more' : 'less'} than before`;
  return { name: 'trend', state: before - now >= fall ? 'warn' : 'good', words: `Computed: ${moved}`, rule };
}

function unknown({ unknownPermille: share }: VerdictInputs): JudgedInput {
  const { unknownGoodPermille: good, unknownBadPermille: bad } = FINE_LIMITS;
  return {
    name: 'unknown',
    state: upTo(share, good, bad),
    words: share === null ? 'Nothing was paid' : `${wholePercent(share)} of the money is unknown`,
    rule: `fine up to ${percent(good)}, wrong above ${percent(bad)}`,
  };
}

function unattributed({ unattributedPermille: share }: VerdictInputs): JudgedInput[] {
  if (share === undefined) return [];
  const { unattributedGoodPermille: good, unattributedBadPermille: bad } = FINE_LIMITS;
  return [
    {
      name: 'unattributed',
      state: upTo(share, good, bad),
      words: share === null ? 'Nothing was paid' : `${wholePercent(share)} of the money is nobody's`,
      rule: `fine up to ${percent(good)}, wrong above ${percent(bad)}`,
    },
  ];
}

function unpriced({ unpricedPermille: share }: VerdictInputs): JudgedInput {
  const { unpricedBadPermille: bad } = FINE_LIMITS;
  return {
    name: 'unpriced',
    state: upTo(share, 0, bad),
    words:
      share === null
        ? 'No GPU time'
        : share === 0
          ? 'All GPU time has a price'
          : `${wholePercent(share)} of GPU time has no price`,
    rule: `fine where all of it has one, wrong above ${percent(bad)}`,
  };
}

function books({ books: { bills, differenceUsdMicros, notPosted, staleRows } }: VerdictInputs): JudgedInput {
  const rule =
    'wrong where ledger and bill differ; wants attention where a bill is not posted or facts are not in the ledger yet';
  const late = [
    ...(notPosted > 0 ? [`${counted(notPosted, 'bill')} not posted`] : []),
    ...(staleRows > 0 ? [`${counted(staleRows, 'row')} of facts not in the ledger yet`] : []),
  ];
  if (differenceUsdMicros !== null && differenceUsdMicros !== 0n)
    return { name: 'books', state: 'bad', words: 'The ledger is not the bill', rule };
  if (late.length > 0) return { name: 'books', state: 'warn', words: late.join(', '), rule };
  if (bills === 0) return { name: 'books', state: 'none', words: 'No bill to compare with', rule };
  return { name: 'books', state: 'good', words: 'The ledger equals the bill', rule };
}

function sources({ sources: { all, stale } }: VerdictInputs): JudgedInput {
  return {
    name: 'sources',
    state: all === 0 ? 'none' : stale === 0 ? 'good' : stale < all ? 'warn' : 'bad',
    words: all === 0 ? 'Nothing is collected, all was imported' : `${stale} of ${all} sources stale`,
    rule: 'wants attention where one is stale, wrong where all are',
  };
}

function upTo(share: number | null, good: number, bad: number): InputState {
  return share === null ? 'none' : share <= good ? 'good' : share <= bad ? 'warn' : 'bad';
}
