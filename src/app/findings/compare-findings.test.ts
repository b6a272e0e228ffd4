import { expect, it } from 'vitest';
import { compareFindings } from './compare-findings.ts';

type Ranked = Parameters<typeof compareFindings>[0];

const USD = 1_000_000n;
const none = { low: 0n, high: 0n };
const finding = (over: Partial<Ranked> & Pick<Ranked, 'key'>): Ranked => ({
  kind: 'cash',
  blastRadius: 1,
  usdMicros: 100n * USD,
  gpuUnits: 1000n,
  cashUsdMicros: none,
  capacityUnits: none,
  ...over,
});
const cash = (usd: bigint) => ({ low: 0n, high: usd * USD });

it.each([
  {
    name: 'what can be done before what is not known and what is asked, however dear',
    rows: [
      finding({ key: 'asked', kind: 'question', blastRadius: 0, usdMicros: 900n * USD }),
      finding({ key: 'not known', kind: 'unknown', blastRadius: 0, usdMicros: 900n * USD }),
      finding({ key: 'done', blastRadius: 5, cashUsdMicros: cash(1n) }),
    ],
    want: ['done', 'not known', 'asked'],
  },
  {
    name: 'safe before dear',
    rows: [
      finding({ key: 'dear', blastRadius: 2, usdMicros: 900n * USD, cashUsdMicros: cash(900n) }),
      finding({ key: 'safe', blastRadius: 1, cashUsdMicros: cash(1n) }),
    ],
    want: ['safe', 'dear'],
  },
  {
    name: 'what more can be reached of before what costs more',
    rows: [
      finding({ key: 'spent either way', kind: 'capacity', usdMicros: 900n * USD, gpuUnits: 0n }),
      finding({ key: 'a part of it', usdMicros: 800n * USD, cashUsdMicros: cash(90n) }),
      finding({ key: 'all of it', usdMicros: 100n * USD, cashUsdMicros: cash(100n) }),
    ],
    want: ['all of it', 'a part of it', 'spent either way'],
  },
  {
    name: 'time for others by what it cost',
    rows: [
      finding({ key: 'a tenth of it', kind: 'capacity', capacityUnits: { low: 0n, high: 100n } }),
      finding({ key: 'cash', cashUsdMicros: cash(50n) }),
      finding({ key: 'all of it', kind: 'capacity', capacityUnits: { low: 0n, high: 1000n } }),
    ],
    want: ['all of it', 'cash', 'a tenth of it'],
  },
  {
    name: 'without a price by time, and the same by their names',
    rows: [
      finding({ key: 'b', kind: 'capacity', usdMicros: null, capacityUnits: { low: 0n, high: 1000n } }),
      finding({ key: 'a', kind: 'capacity', usdMicros: null, capacityUnits: { low: 0n, high: 1000n } }),
      finding({ key: 'long', kind: 'capacity', usdMicros: null, gpuUnits: 9000n }),
    ],
    want: ['long', 'a', 'b'],
  },
])('$name', ({ rows, want }) => {
  expect(rows.toSorted(compareFindings).map(({ key }) => key)).toEqual(want);
  expect(
    rows
      .toReversed()
      .toSorted(compareFindings)
      .map(({ key }) => key),
  ).toEqual(want);
});
