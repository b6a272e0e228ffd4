import { describe, expect, it } from 'vitest';
import type { Claim } from '../../facts/detector.ts';
import { idleSessions } from '../../waste/idle-sessions.ts';
import { strandedCommitments } from '../../waste/stranded-commitments.ts';
import type { DetectorClaim } from './ask-detectors.ts';
import { moneyOf } from './price-finding.ts';
import type { ClaimSum } from './settle-claims.ts';

const USD = 1_000_000n;

/** What is told of a claim on idle time that cost $100, of which the bill falls by so much. */
const told = (sum: Partial<ClaimSum>, over: Partial<Claim> = {}, by: DetectorClaim['by'] = idleSessions) =>
  moneyOf({
    claimNo: 0,
    placed: {
      by,
      detector: by.name,
      place: 0,
      category: by.category,
      claim: { about: 'a', ownerSubject: null, what: '', because: [], fix: [], unless: '', takes: [], ...over },
    },
    sum: {
      usdMicros: 100n * USD,
      gpuUnits: 1000n,
      cashUsdMicros: 0n,
      freedUsdMicros: 0n,
      unpaidUnits: 0n,
      unsaidUsdMicros: 0n,
      isUnknown: false,
      usdMicrosPerHour: null,
      ...sum,
    },
  });

describe('a finding is called what most of it is, and keeps both parts', () => {
  const cases: { name: string; sum: Partial<ClaimSum>; want: object }[] = [
    {
      name: 'a micro on demand makes nothing cash that is committed',
      sum: { cashUsdMicros: 1n, unpaidUnits: 999n },
      want: { kind: 'capacity', cashUsdMicros: { low: 0n, high: 1n }, capacityUnits: { low: 999n, high: 999n } },
    },
    {
      name: 'half of it on demand is cash, and the other half is not lost',
      sum: { cashUsdMicros: 50n * USD, freedUsdMicros: 20n * USD, unpaidUnits: 500n },
      want: {
        kind: 'cash',
        cashUsdMicros: { low: 20n * USD, high: 50n * USD },
        capacityUnits: { low: 500n, high: 500n },
      },
    },
    {
      name: 'where nobody says how it is bought nothing is cash',
      sum: { unpaidUnits: 1000n, unsaidUsdMicros: 100n * USD },
      want: { kind: 'capacity', cashUsdMicros: { low: 0n, high: 0n }, cashIfRentedUsdMicros: 100n * USD },
    },
    {
      name: 'without a price it is time',
      sum: { usdMicros: null, unpaidUnits: 1000n },
      want: { kind: 'capacity', usdMicros: null, capacityUnits: { low: 1000n, high: 1000n } },
    },
  ];
  it.each(cases)('$name', ({ sum, want }) => expect(told(sum)).toMatchObject(want));

  it('of what would be cash if it were rented, only what can be reached is told', () => {
    const sum = { unpaidUnits: 1000n, unsaidUsdMicros: 100n * USD };
    expect(told(sum, { reachable: { lowPermille: 200, highPermille: 800 } })).toMatchObject({
      capacityUnits: { low: 200n, high: 800n },
      cashIfRentedUsdMicros: 80n * USD,
    });
  });

  it('what was promised and not used at all is no capacity: nobody has GPUs of it', () => {
    const sum = { usdMicros: 100n * USD, unpaidUnits: 1000n };
    expect(told(sum)).toMatchObject({ capacityUnits: { low: 1000n, high: 1000n } });
    expect(told(sum, {}, strandedCommitments)).toMatchObject({
      kind: 'capacity',
      capacityUnits: { low: 0n, high: 0n },
    });
  });

  it('what is spent either way stays capacity, and its cash is what others pay meanwhile', () => {
    const cashElsewhere = { lowUsdMicros: 3n * USD, highUsdMicros: 400n * USD };
    expect(told({}, { cashElsewhere })).toMatchObject({
      kind: 'capacity',
      usdMicros: 100n * USD,
      cashUsdMicros: { low: 3n * USD, high: 400n * USD },
    });
  });
});
