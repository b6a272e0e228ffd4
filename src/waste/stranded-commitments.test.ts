import { expect, test } from 'vitest';
import { claimsOn } from '../../test/claims-on.ts';
import { strandedCommitments } from './stranded-commitments.ts';

const HOUR_UNITS = 3600 * 63_000;
const USD = 1_000_000;

/** A day's row: dollars, and GPU-hours where the bill knows them. */
const row = (
  category: string,
  fields: Readonly<Record<string, string | number | null>>,
  usd: number,
  hours: number,
  cash = 0,
) => ({
  day: '2026-03-02',
  subject: 'job slurm/1/0',
  provider: 'AWS',
  region: 'us-east-1',
  model: 'NVIDIA H100 80GB HBM3',
  category,
  usd_micros: usd * USD,
  marginal_usd_micros: cash * USD,
  gpu_units: hours * HOUR_UNITS,
  ...fields,
});
const unused = (usd: number, fields: Readonly<Record<string, string | number | null>> = {}) =>
  row('stranded', { subject: 'resource plan-1', purchase: 'committed', model: null, ...fields }, usd, 0);
const committed = (usd: number, hours: number, fields: Readonly<Record<string, string | number | null>> = {}) =>
  row('computing', { purchase: 'committed', ...fields }, usd, hours);
const rented = (usd: number, hours: number, fields: Readonly<Record<string, string | number | null>> = {}) =>
  row('computing', { purchase: 'on-demand', ...fields }, usd, hours, usd);

const SILENT: Readonly<Record<string, readonly ReturnType<typeof row>[]>> = {
  'a commitment that is used': [committed(400, 100), rented(700, 100)],
  'hours that placement leaves over': [unused(40), committed(400, 100)],
  'a percent of a large commitment': [unused(160), committed(16_000, 4000)],
  'unused money without a machine to tell its hours by': [unused(400)],
};

test.each(Object.entries(SILENT))('says nothing of %s', async (_, rows) => {
  expect(await claimsOn(strandedCommitments, { subject_day: rows, stint_day: [] })).toEqual([]);
});

const CASES: Readonly<
  Record<string, { rows: readonly ReturnType<typeof row>[]; what: readonly string[]; because?: string }>
> = {
  'others rent the same GPUs beside it': {
    rows: [unused(400), committed(400, 100), rented(350, 50)],
    what: ['4.2 committed H100 unused while others rent 50 GPU-hours on demand'],
    because:
      'Moving in what others rent, day by day at most as much as was unused, would have kept $350 of cash: 50 GPU-hours. Counted is only what computed there, no serving, and nothing idle, starved or lost: other findings have that.',
  },
  'no more moves in than was unused': {
    rows: [unused(400), committed(400, 100), rented(1400, 200)],
    what: ['4.2 committed H100 unused while others rent 200 GPU-hours on demand'],
    because:
      'Moving in what others rent, day by day at most as much as was unused, would have kept $700 of cash: 100 GPU-hours. Counted is only what computed there, no serving, and nothing idle, starved or lost: other findings have that.',
  },
  'they rent in another region': {
    rows: [unused(400), committed(400, 100), rented(350, 50, { region: 'us-west-2' })],
    what: ['4.2 committed H100 unused while others rent 50 GPU-hours on demand'],
    because:
      'Moving in what others rent, day by day at most as much as was unused, would have kept up to $350 of cash: 50 GPU-hours, all of it from another region or provider, where egress and data count too. Counted is only what computed there, no serving, and nothing idle, starved or lost: other findings have that.',
  },
  'they rent another model, or on another day': {
    rows: [
      unused(400),
      committed(400, 100),
      rented(350, 50, { model: 'NVIDIA L4' }),
      rented(350, 50, { day: '2026-03-03' }),
    ],
    what: ['4.2 committed H100 unused'],
    because:
      'What others rent falls on other days or would already fill a larger commitment: here is only room for more work.',
  },
  'machines of several models are committed in the place: which one it is for is a guess': {
    rows: [unused(400), committed(400, 100), committed(20, 20, { model: 'NVIDIA L4' }), rented(350, 50)],
    what: ['4.2 committed GPUs (H100?) unused while others rent 50 GPU-hours on demand'],
    because: 'The bill does not say for which GPU: H100 is a guess, most committed machines of the place are H100.',
  },
  'nobody rents': {
    rows: [unused(400), committed(400, 100)],
    what: ['4.2 committed H100 unused'],
    because: 'Nobody rents H100 on demand: there is no cash to keep, only room for more work.',
  },
  'all they rent is idle': {
    rows: [unused(400), committed(400, 100), rented(350, 50, { category: 'idle' })],
    what: ['4.2 committed H100 unused'],
    because:
      'What others rent of H100 serves, or is idle, starved or lost: other findings have that, and here is only room for more work.',
  },
  'the same hours do not move into two commitments': {
    rows: [unused(400), unused(200, { subject: 'resource plan-2' }), committed(400, 100), rented(700, 100)],
    what: ['4.2 committed H100 unused while others rent 100 GPU-hours on demand', '2.1 committed H100 unused'],
  },
};

test.each(Object.entries(CASES))('%s', async (_, { rows, what, because }) => {
  const claims = await claimsOn(strandedCommitments, { subject_day: rows, stint_day: [] });
  expect(claims.map((claim) => claim.what)).toEqual(what);
  expect(claims[0]?.because).toEqual(expect.arrayContaining(because === undefined ? [] : [because]));
});

test('claims the stranded money, which is the buyer’s', async () => {
  const [claim] = await claimsOn(strandedCommitments, {
    subject_day: [unused(400), committed(400, 100)],
    stint_day: [],
  });
  expect(claim?.ownerSubject).toBe('resource plan-1');
  expect(claim?.takes).toEqual([
    { subject: 'resource plan-1', firstDay: '2026-02-02', lastDay: '2026-03-03', category: 'stranded' },
  ]);
});

test('the name of a model is no second command', async () => {
  const model = 'H100 $(touch hit), `touch hit`';
  const [claim] = await claimsOn(strandedCommitments, {
    subject_day: [unused(400), ...[committed(400, 100), rented(350, 50)].map((each) => ({ ...each, model }))],
    stint_day: [],
  });
  expect(claim?.fix[1]).toBe(
    `bursar spend --by team,region,purchase --filter 'model=H100 $(touch hit)\\, \`touch hit\`'   # who rents`,
  );
});

test('the cash of who rents is told by the finding, and only what no other finding may claim', async () => {
  const rows = [
    unused(400),
    committed(400, 100),
    rented(300, 30),
    rented(100, 10, { region: 'us-west-2' }),
    rented(70, 10, { category: 'idle' }),
    rented(80, 10, { subject: 'job kube/serve/0' }),
  ];
  const serving = [{ day: '2026-03-02', subject: 'job kube/serve/0', manner: 'serving' }];
  const [claim] = await claimsOn(strandedCommitments, { subject_day: rows, stint_day: serving });
  // 40 GPU-hours computed, 30 of them near; what was idle or serves has no dollars here, and so no hours either.
  expect(claim?.because).toContain(
    'Moving in what others rent, day by day at most as much as was unused, would have kept $300–$400 of cash: 40 GPU-hours, 10 GPU-hours of it from another region or provider, where egress and data count too. Counted is only what computed there, no serving, and nothing idle, starved or lost: other findings have that.',
  );
  expect(claim?.cashElsewhere).toEqual({ lowUsdMicros: 300n * 1_000_000n, highUsdMicros: 400n * 1_000_000n });
});

/** Committed machines of eight, each GPU there for so many hours of the day at $4. */
const machine = (hours: number) =>
  Array.from({ length: 8 }, (_, gpu) => committed(4 * hours, hours, { node_id: 'n1', device_id: `g${gpu}` }));

test.each([
  {
    name: 'one of nine is less than a machine: nothing moves in, and nothing is at risk',
    rows: [unused(96), ...machine(24), rented(350, 50)],
    want: {
      what: '1 committed H100 unused',
      because: expect.arrayContaining([
        'It is less than a machine of 8 GPUs: nothing can move in, only a smaller renewal helps.',
      ]),
      fix: ['# renew smaller; a plan that is bought by the dollar may cover part of another machine until then'],
      blastRadius: 1,
      reachable: { lowPermille: 0, highPermille: 0 },
      cashElsewhere: undefined,
    },
  },
  {
    name: 'hours that a rate told are a machine though they are short of one by a little',
    rows: [unused(748.8), ...machine(24), rented(350, 50)],
    want: {
      what: '7.8 committed H100 unused while others rent 50 GPU-hours on demand',
      blastRadius: undefined,
      reachable: { lowPermille: 267, highPermille: 1000 },
      cashElsewhere: { lowUsdMicros: 350n * 1_000_000n, highUsdMicros: 350n * 1_000_000n },
    },
  },
  {
    name: 'and a machine that was there but for a few minutes was there all day',
    rows: [unused(96), ...machine(23.5), rented(350, 50)],
    want: { what: '1 committed H100 unused', blastRadius: 1, reachable: { lowPermille: 0, highPermille: 0 } },
  },
  {
    name: 'twelve of twenty are a machine and a half: one of them can be moved into',
    rows: [unused(1152), ...machine(24), rented(1400, 200)],
    want: {
      what: '12 committed H100 unused while others rent 200 GPU-hours on demand',
      blastRadius: undefined,
      reachable: { lowPermille: 666, highPermille: 666 },
      cashElsewhere: { lowUsdMicros: 1344n * 1_000_000n, highUsdMicros: 1344n * 1_000_000n },
    },
  },
  {
    name: 'a machine that is used by day leaves the whole of it at night',
    rows: [unused(384), ...machine(12), rented(350, 50)],
    want: {
      what: '4 committed H100 unused while others rent 50 GPU-hours on demand',
      blastRadius: undefined,
      reachable: { lowPermille: 520, highPermille: 1000 },
      cashElsewhere: { lowUsdMicros: 350n * 1_000_000n, highUsdMicros: 350n * 1_000_000n },
    },
  },
])('$name', async ({ rows, want }) => {
  const [claim] = await claimsOn(strandedCommitments, { subject_day: rows, stint_day: [] });
  expect({ blastRadius: undefined, cashElsewhere: undefined, ...claim }).toMatchObject(want);
});
