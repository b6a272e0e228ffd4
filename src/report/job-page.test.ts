import { expect, test } from 'vitest';
import type { JobAnswer, JobDevice } from './job-page.ts';
import { jobPage } from './job-page.ts';

const HOUR = 100n;
const device = (computingUnits: bigint, idleUnits: bigint, unknownUnits: bigint, starvedUnits = 0n): JobDevice => ({
  deviceId: 'GPU-a',
  nodeId: 'n1',
  model: 'NVIDIA H100 80GB HBM3',
  usdMicros: null,
  computingUnits,
  idleUnits,
  starvedUnits,
  lostUnits: 0n,
  unknownUnits,
});
const jobOn = (one: JobDevice): JobAnswer => ({
  asOf: new Date('2026-11-16T12:00:00Z'),
  source: 'slurm',
  allocationId: '7',
  name: null,
  user: null,
  team: null,
  project: null,
  class: null,
  cluster: null,
  attempts: [],
  categories: [],
  computingBy: [],
  usdMicros: null,
  unpricedUnits: 0n,
  conflictUnits: 0n,
  sharedSeconds: 0,
  basisUsdMicros: {},
  beside: { parts: [], waiting: undefined },
  devices: [one],
  findings: [],
});

test.each([
  ['of which nothing is known is unknown, not at 0 %', device(0n, 0n, HOUR), /\] +unknown$/],
  ['that was never seen at all is unknown', device(0n, 0n, 0n), /\] +unknown$/],
  ['that did nothing while it was looked at computed 0 %', device(0n, HOUR, 0n), /\] +0 % +computing, 100 % idle$/],
  ['that was looked at in part', device(HOUR, 0n, HOUR), /\] +50 % +computing, 50 % unknown$/],
  ['that waited for its host', device(3n * HOUR, 0n, 0n, HOUR), /\[\|{19}~{6}\] +75 % +computing, 25 % starved$/],
])('a GPU %s', (_, one, want) => {
  expect(jobPage(jobOn(one)).at(-1)).toMatch(want);
});

test('a GPU that others held too is told as theirs as well', () => {
  expect(jobPage({ ...jobOn(device(HOUR, 0n, 0n)), sharedSeconds: 5400 }).at(-1)).toBe(
    'Shared: others held the same GPU for 1.5 GPU-hours of it. Idle there is certain; computing is the GPU’s, whoever’s it was.',
  );
});

test('what bound the time that computed is told where fields tell it', () => {
  const by = (...reasons: readonly (readonly [string | null, bigint])[]): string[] =>
    jobPage({
      ...jobOn(device(HOUR, 0n, 0n)),
      computingBy: reasons.map(([reason, gpuUnits]) => ({ reason, usdMicros: null, gpuUnits })),
    }).filter((line) => line.startsWith('While'));
  expect(by(['memory-bound', 3n], [null, 1n])).toEqual([
    'While it computed: 75 % memory-bound (DRAM), 25 % not split (fields missing)',
  ]);
  expect(by([null, 4n])).toEqual([]);
});
