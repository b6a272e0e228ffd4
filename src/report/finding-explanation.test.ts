import { expect, it } from 'vitest';
import type { Finding } from '../facts/finding.ts';
import { findingExplanation } from './finding-explanation.ts';

const finding: Finding = {
  number: 1,
  key: 'empty-nodes: a',
  detector: 'empty-nodes',
  category: 'unallocated',
  factor: 'utilisation',
  state: 'open',
  exemptUntil: null,
  stateReason: null,
  firstSeenAt: new Date('2026-03-02T00:00:00Z'),
  team: null,
  user: null,
  assignedTo: null,
  ownerSubject: null,
  what: 'a node is empty',
  because: [],
  fix: [],
  unless: '',
  spark: [],
  basis: 'measured',
  blastRadius: 1,
  blast: '',
  effort: '',
  liveSince: null,
  subjects: ['node n1'],
  firstDay: '2026-03-02',
  kind: 'capacity',
  usdMicros: 5_000_000n,
  cashUsdMicros: { low: 0n, high: 0n },
  capacityUnits: { low: 0n, high: 0n },
  cashIfRentedUsdMicros: 0n,
  gpuUnits: 63_000n * 3600n,
  usdMicrosPerHour: null,
};

it('a bill does not fall by what nobody knows the use of', () => {
  const part = {
    day: '2026-03-02',
    subject: 'node n1',
    deviceId: 'g0',
    reason: null,
    permille: 1000,
    gpuUnits: 63_000n * 3600n,
    usdMicros: 5_000_000n,
    marginalUsdMicros: 4_000_000n,
  };
  const told = (category: string) =>
    findingExplanation({ finding, parts: [{ ...part, category }], evidence: [] })[2] ?? '';
  expect(told('unallocated')).toContain('$4');
  expect(told('unknown')).not.toContain('$4');
});

it('tells whatever a question answered: counts of any size, times, lists, nothing for what is unknown', () => {
  const evidence = [
    {
      name: 'nodes',
      rows: [
        {
          subject: 'node n1',
          emptyUnits: 9_007_199_254_740_993n,
          since: new Date('2026-03-02T08:00:00Z'),
          days: ['2026-03-02', 7n],
          model: null,
          longestS: 241_798,
          untouchedGpuS: 7200,
          memoryMibMax: 41_000,
          lastUsePermille: 412n,
          medianUsdMicros: 12_500_000n,
          usdMicrosPerHour: 3_200_000n,
          gpuTenths: 85,
          isLive: true,
        },
      ],
      more: 2,
    },
  ];
  expect(findingExplanation({ finding, parts: [], evidence }).slice(-3)).toEqual([
    'what was read for it ("nodes"):',
    '  subject node n1; empty 39,714,282 GPU-hours; since 2026-03-02 08:00; days 2026-03-02, 7; longest 67.2 h; untouched 2.0 GPU-hours; memory max 41,000 MiB; last use 41 %; median $12.50; $3.20/h; GPU 8.5; is live yes',
    '  and 2 more',
  ]);
});
