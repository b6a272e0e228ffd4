import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { undoOf } from './decide.ts';
import {
  countWords,
  hoursRange,
  isToDo,
  ownerWords,
  reachOf,
  reachWith,
  savingSteps,
  savingWords,
  stateWords,
} from './finding-words.ts';
import type { FindingRow } from './finding-words.ts';
import { dayWords, hourClass, runsOf } from './strips.tsx';

const USD = 1_000_000;
const usd = (dollars: number): string => String(dollars * USD);

const FINDING: FindingRow = {
  id: 'F-1',
  key: 'idle-sessions: notes',
  detector: 'idle-sessions',
  category: 'idle',
  factor: 'utilisation',
  state: 'open',
  exemptUntil: null,
  stateReason: null,
  firstSeenAt: '2026-11-01T00:00:00Z',
  team: 'nlp',
  user: 'mchen',
  assignedTo: null,
  subject: 'job kubernetes/u1/0',
  what: 'notebook idle',
  because: [],
  fix: [],
  unless: '',
  basis: 'measured',
  blastRadius: 2,
  blast: '',
  effort: '',
  kind: 'cash',
  usdMicros: usd(500),
  cashUsdMicros: { low: usd(100), high: usd(400) },
  capacityGpuSeconds: { low: 0, high: 0 },
  cashIfRentedUsdMicros: '0',
  gpuSeconds: 3600,
  liveSince: null,
  usdMicrosPerHour: null,
  spark: [],
};

describe('ranges', () => {
  it.each([
    ['both ends', { low: 3600, high: 7200 }, '1.0–2.0 GPU-hours'],
    ['nothing for sure', { low: 0, high: 7200 }, 'up to 2.0 GPU-hours'],
    ['the same twice', { low: 7200, high: 7200 }, '2.0 GPU-hours'],
  ])('of time: %s', (_, range, want) => expect(hoursRange(range)).toBe(want));
});

describe('what findings come to', () => {
  it('cash, capacity and unknown are added each by itself, whatever the order', () => {
    const kinds = fc.constantFrom('cash', 'capacity', 'unknown', 'question');
    const finding = fc
      .record({ kind: kinds, dollars: fc.nat(1_000_000), seconds: fc.nat(1_000_000) })
      .map(({ kind, dollars, seconds }): FindingRow => ({
        ...FINDING,
        kind: kind as FindingRow['kind'],
        usdMicros: kind === 'question' ? null : usd(dollars),
        cashUsdMicros: kind === 'cash' ? { low: '0', high: usd(dollars) } : { low: '0', high: '0' },
        capacityGpuSeconds: kind === 'capacity' ? { low: seconds, high: seconds } : { low: 0, high: 0 },
      }));
    fc.assert(
      fc.property(fc.array(finding), (findings) => {
        const reach = reachOf(findings);
        const of = (kind: string): bigint =>
          findings.reduce((sum, each) => sum + (each.kind === kind ? BigInt(each.usdMicros ?? '0') : 0n), 0n);
        expect(reach.cash.high).toBe(String(of('cash')));
        expect(reach.unknownMicros).toBe(String(of('unknown')));
        expect(reachOf(findings.toReversed())).toEqual(reach);
      }),
    );
  });

  it('those too small for a line count, each kind by itself', () => {
    const small = {
      count: 3,
      cashIfRentedUsdMicros: '0',
      cashUsdMicros: { low: usd(1), high: usd(2) },
      capacityGpuSeconds: { low: 3, high: 4 },
      unknownUsdMicros: usd(5),
    };
    const listed = { ...FINDING, capacityGpuSeconds: { low: 10, high: 20 } };
    expect(reachWith(reachOf([listed]), small)).toEqual({
      cash: { low: usd(101), high: usd(402) },
      capacity: { low: 13, high: 24 },
      unknownMicros: usd(5),
    });
  });

  it.each([
    ['cash', {}, '$100–400'],
    [
      'capacity',
      { cashUsdMicros: { low: '0', high: '0' }, capacityGpuSeconds: { low: 3600, high: 3600 } },
      '1.0 GPU-hours',
    ],
    ['both', { capacityGpuSeconds: { low: 3600, high: 3600 } }, '$100–400 and 1.0 GPU-hours'],
    [
      'mostly capacity',
      { kind: 'capacity' as const, capacityGpuSeconds: { low: 3600, high: 3600 } },
      '1.0 GPU-hours and $100–400',
    ],
    ['a question', { kind: 'question' as const }, 'a question'],
    ['unknown', { kind: 'unknown' as const }, 'not known'],
  ])('one saves: %s', (_, over, want) => expect(savingWords({ ...FINDING, ...over })).toBe(want));
});

describe('from cost to saving', () => {
  it('each step takes off what it says, down to what is sure', () => {
    expect(savingSteps(FINDING, usd(450)).map(({ figure }) => figure)).toEqual([
      '$500',
      '−$50.00',
      '−$50.00',
      '$400',
      '−$300',
      '$100',
    ]);
  });

  it('without a bill that falls it is time', () => {
    const capacity = { ...FINDING, kind: 'capacity' as const, cashUsdMicros: { low: '0', high: '0' } };
    const steps = savingSteps({ ...capacity, capacityGpuSeconds: { low: 1800, high: 3600 } }, '0');
    expect(steps.map(({ figure }) => figure)).toEqual(['$500', '$0', '1.0 GPU-hours', '0.5–1.0 GPU-hours']);
    const unsaid = savingSteps({ ...capacity, cashIfRentedUsdMicros: usd(500) }, null);
    expect(unsaid[1]?.figure).toBe('up to $500');
  });

  it('what is spent either way saves what others pay meanwhile', () => {
    const steps = savingSteps({ ...FINDING, kind: 'capacity', category: 'stranded' }, '0');
    expect(steps.map(({ figure }) => figure)).toEqual(['$500', '$0', '$100–400']);
  });

  it('a question claims nothing', () => {
    expect(savingSteps({ ...FINDING, kind: 'question', usdMicros: null }, null).map(({ figure }) => figure)).toEqual([
      '–',
    ]);
  });
});

describe('words', () => {
  it.each([
    ['its holder', {}, 'nlp / mchen'],
    ['who it was given to', { assignedTo: 'kim' }, 'kim'],
    ['the platform', { team: null, user: null, subject: null }, 'platform'],
    ['the platform, since nobody owns it', { team: null, user: null }, 'platform (no owner)'],
  ])('owner: %s', (_, over, want) => expect(ownerWords({ ...FINDING, ...over })).toBe(want));

  it.each([
    ['open', {}, 'open'],
    [
      'exempt',
      { state: 'exempt' as const, exemptUntil: '2026-12-01', stateReason: 'standby' },
      'exempt until 2026-12-01: standby',
    ],
    ['back', { state: 'back' as const }, 'back again'],
  ])('state: %s', (_, over, want) => expect(stateWords({ ...FINDING, ...over })).toBe(want));
});

it.each([
  ['open', true],
  ['accepted', true],
  ['back', true],
  ['exempt', false],
  ['dismissed', false],
  ['fixed', false],
] as const)('one that is %s waits for somebody: %s', (state, want) => expect(isToDo({ state })).toBe(want));

describe('taking back', () => {
  it.each([
    ['an open one is reopened', {}, 'accept' as const, { change: 'reopen' }],
    ['an accepted one is accepted again', { state: 'accepted' as const }, 'dismiss' as const, { change: 'accept' }],
    [
      'an exempt one is exempt again, to the same day and for the same reason',
      { state: 'exempt' as const, exemptUntil: '2026-12-01', stateReason: 'standby' },
      'reopen' as const,
      { change: 'exempt', until: '2026-12-01', reason: 'standby' },
    ],
    ['one that had an owner gets it back', { assignedTo: 'kim' }, 'assign' as const, { change: 'assign', to: 'kim' }],
    ['one that had none cannot', {}, 'assign' as const, undefined],
  ])('%s', (_, over, change, want) => expect(undoOf({ ...FINDING, ...over }, change)).toEqual(want));
});

describe('hours of a strip', () => {
  it.each([
    ['nobody had it', null, null],
    ['not measured', 'unknown' as const, 'f-unknown'],
    ['idle', 0, 'strip-0'],
    ['below a hundredth', 9, 'strip-0'],
    ['a little', 10, 'strip-1'],
    ['all of it', 1000, 'strip-6'],
  ])('%s', (_, hour, want) => expect(hourClass(hour)).toBe(want));

  it('hours that look the same are one run, and a hole parts them', () => {
    expect(runsOf([0, 5, null, 0, 'unknown', 1000])).toEqual([
      { of: 'strip-0', from: 0, length: 2 },
      { of: 'strip-0', from: 3, length: 1 },
      { of: 'f-unknown', from: 4, length: 1 },
      { of: 'strip-6', from: 5, length: 1 },
    ]);
  });

  it.each([
    ['nothing held', [null, null], '–'],
    ['nothing known', ['unknown' as const, null], 'unknown'],
    ['the mean of what is known', [0, 1000, 'unknown' as const], '50%'],
  ])('a day: %s', (_, hours, want) => expect(dayWords(hours)).toBe(want));
});

it.each([
  [94, 146, '94 findings and 146 small ones'],
  [1, 1, '1 finding and 1 small one'],
  [240, 0, '240 findings'],
  [0, 146, '146 small findings'],
])('%d findings of a list with %d small ones beside it are %s', (listed, small, want) =>
  expect(countWords(listed, small)).toBe(want),
);
