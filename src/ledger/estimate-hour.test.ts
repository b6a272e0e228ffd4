import { describe, expect, test } from 'vitest';
import { stagesOn } from '../../test/stage-on.ts';
import { estimateHourBy } from './estimate-hour.ts';

type Row = Readonly<Record<string, string | number | null>>;

interface Case {
  /** What is said of the one GPU that is there all day; else an on-demand p5.48xlarge of eight in us-east-1a. */
  readonly gpu?: Row;
  readonly prices?: readonly Row[];
  readonly rates?: readonly Row[];
  /** `priced_by nanos` of the hour of 10:00. */
  readonly want: string;
}

const GPU: Row = {
  day: '2026-03-02',
  device_id: 'g0',
  root_device_id: 'g0',
  node_id: 'n0',
  is_slice: 'false',
  capacity_units: 63_000,
  from_at: '2026-03-02 00:00:00',
  until_at: '2026-03-03 00:00:00',
  model: 'NVIDIA H100 80GB HBM3',
  provider: 'AWS',
  region: 'us-east-1',
  zone: 'us-east-1a',
  instance_type: 'p5.48xlarge',
  node_gpus: 8,
  purchase: 'on-demand',
  state: 'up',
  presence: 'inventory',
};

const price = (row: Row): Row => ({
  provider: 'aws',
  region: 'us-east-1',
  zone: '',
  instance_type: 'p5.48xlarge',
  accelerator: 'H100',
  accelerator_count: 8,
  purchase: 'on-demand',
  covers: 'instance',
  as_of: '2026-02-01 00:00:00',
  usd_per_hour: '80',
  ...row,
});

const LIST = 'list 6880000000';
const host = { instance_type: 'a3-highgpu-8g', provider: 'gcp', accelerator: '', accelerator_count: 0, covers: 'host' };
const bare = { instance_type: '', provider: 'gcp', covers: 'accelerator' };
const onGcp = { provider: 'Google Cloud', instance_type: 'a3-highgpu-8g' };

const cases: Readonly<Record<string, Case>> = {
  'without price lists the built-in list counts': { want: LIST },
  'a price of the machine is split over its GPUs': { prices: [price({})], want: 'catalog 10000000000' },
  'what does not divide is cut, never rounded up': {
    gpu: { node_gpus: 3 },
    prices: [price({})],
    want: 'catalog 26666666666',
  },
  'a machine that does not say how many has those that are there': {
    gpu: { node_gpus: null },
    prices: [price({})],
    want: 'catalog 80000000000',
  },
  'a rate goes before it': {
    prices: [price({})],
    rates: [{ model: 'H100', node_id: '', valid_from: '2026-01-01 00:00:00', usd_per_gpu_hour: '1.95' }],
    want: 'rate 1950000000',
  },
  'the newest of the hour counts, not the newest': {
    prices: [
      price({}),
      price({ as_of: '2026-03-02 10:00:00', usd_per_hour: '40' }),
      price({ as_of: '2026-03-02 10:00:01' }),
    ],
    want: 'catalog 5000000000',
  },
  'before the first price that one is taken': {
    prices: [price({ as_of: '2026-08-22 00:00:00' }), price({ as_of: '2026-09-22 00:00:00', usd_per_hour: '8' })],
    want: 'catalog 10000000000',
  },
  'another region is another price': { prices: [price({ region: 'eu-west-1' })], want: LIST },
  'a price without a region holds in all, where the region has none': {
    prices: [price({ region: '' })],
    want: 'catalog 10000000000',
  },
  'the zone goes before the region, even if it is older': {
    prices: [price({ zone: 'us-east-1a', usd_per_hour: '16' }), price({ as_of: '2026-02-20 00:00:00' })],
    want: 'catalog 2000000000',
  },
  'of unknown zones the lower middle counts': {
    prices: ['24', '8', '80', '16'].map((usd, index) => price({ zone: `use1-az${index}`, usd_per_hour: usd })),
    want: 'catalog 2000000000',
  },
  'a flagged price is not used': { prices: [price({ flag: 'far-off-median' })], want: LIST },
  'nor is zero, whoever let it in': { prices: [price({ usd_per_hour: '0' })], want: LIST },
  'a broken feed leaves the last known price': {
    prices: [price({}), price({ as_of: '2026-02-20 00:00:00', flag: 'feed-lost' })],
    want: 'catalog 10000000000',
  },
  'a price that vanished is not used any more': {
    prices: [price({}), price({ as_of: '2026-02-20 00:00:00', flag: 'vanished' })],
    want: LIST,
  },
  'a spot machine has the spot price': {
    gpu: { purchase: 'spot' },
    prices: [price({}), price({ purchase: 'spot', usd_per_hour: '24' })],
    want: 'catalog 3000000000',
  },
  'a spot price that no on-demand price could explain is not used, in whatever file it came': {
    gpu: { purchase: 'spot' },
    prices: [price({}), price({ purchase: 'spot', usd_per_hour: '4', as_of: '2026-02-02 00:00:00' })],
    want: LIST,
  },
  'a committed machine has the price of one year before that of three': {
    gpu: { purchase: 'committed' },
    prices: [
      price({ purchase: 'committed-3y', usd_per_hour: '8' }),
      price({ purchase: 'committed-1y', usd_per_hour: '16' }),
    ],
    want: 'catalog 2000000000',
  },
  'hardware that is owned is in no catalog': { gpu: { purchase: 'owned' }, prices: [price({})], want: LIST },
  'nobody said how it is bought: on demand': {
    gpu: { purchase: null },
    prices: [price({})],
    want: 'catalog 10000000000',
  },
  'a host and its accelerators are added up': {
    gpu: onGcp,
    prices: [price({ ...host, usd_per_hour: '8' }), price({ ...bare, usd_per_hour: '72' })],
    want: 'catalog 10000000000',
  },
  'a host alone is no price of a GPU machine': { gpu: onGcp, prices: [price({ ...host })], want: LIST },
  'nor are accelerators of another kind': {
    gpu: onGcp,
    prices: [price(host), price({ ...bare, accelerator: 'H200' })],
    want: LIST,
  },
};

describe('what an hour of a GPU is estimated at', () => {
  test.each(Object.entries(cases))('%s', async (_, { gpu = {}, prices = [], rates = [], want }) => {
    const rows = await stagesOn([estimateHourBy([])], { presence: [{ ...GPU, ...gpu }], price: prices, rate: rates });
    const at10 = rows.find((row) => row['hour_start'] === '2026-03-02 10:00:00');
    expect(rows).toHaveLength(24);
    expect(`${String(at10?.['priced_by'])} ${String(at10?.['usd_nanos_per_hour'])}`).toBe(want);
  });
});
