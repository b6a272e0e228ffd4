import type { FactTable } from './fact-table.ts';

/** How a price is bought. A node that is `committed` is priced by the year's commitment before the three years'. */
export const PRICE_PURCHASES = ['on-demand', 'spot', 'committed-1y', 'committed-3y'] as const;

export type PricePurchase = (typeof PRICE_PURCHASES)[number];

/** Why a price is kept and not believed. */
export const PRICE_FLAGS = {
  'not-positive': 'zero or negative',
  'beyond-reason': 'more than $100,000 an hour',
  'spot-too-high': 'spot above 1.5 × on demand',
  'spot-too-low': 'spot below a tenth of on demand',
  'far-off-median': 'more than 5 × off what others ask for this accelerator',
  'feed-lost': 'the feed lost more than half of its rows at once: the last known price stays',
  vanished: 'no longer offered',
} as const;

/** A price above this is a mistake, and its nano-dollars times an hour's seconds would not fit 64 bits. */
export const PRICE_USD_MAX = 100_000;

export const priceTable: FactTable = {
  name: 'price',
  importName: 'prices',
  meaning: 'What a machine or a bare accelerator was offered for, from a day on. Serves estimates only.',
  partitionBy: 'as_of',
  partition: 'month',
  sortBy: ['instance_type', 'accelerator', 'provider', 'region', 'zone', 'purchase', 'as_of'],
  merge: 'row',
  columns: [
    {
      name: 'provider',
      kind: 'text',
      key: true,
      required: true,
      meaning: 'Who offers it: aws, gcp, azure, lambda, …',
      example: 'aws',
      alsoKnownAs: [{ name: 'cloud' }],
    },
    {
      name: 'region',
      kind: 'text',
      key: true,
      missing: 'any region',
      meaning: 'Where, as the provider names it.',
      example: 'us-east-1',
    },
    {
      name: 'zone',
      kind: 'text',
      key: true,
      missing: 'any zone of the region',
      meaning: 'Where exactly.',
      example: '',
      alsoKnownAs: [{ name: 'availability_zone' }],
    },
    {
      name: 'instance_type',
      kind: 'text',
      key: true,
      missing: 'the price is of a bare accelerator',
      meaning: 'The machine type.',
      example: 'p5.48xlarge',
    },
    {
      name: 'accelerator',
      kind: 'text',
      key: true,
      missing: 'none, or not said',
      meaning: 'The accelerator, by its name in `bursar accelerators` where it has one.',
      example: 'H100',
      alsoKnownAs: [{ name: 'accelerator_name' }],
    },
    {
      name: 'accelerator_count',
      kind: 'decimal',
      key: true,
      missing: '1 where an accelerator is named, else 0',
      meaning: 'How many of them the price is for; an eighth of one is 0.125.',
      example: '8',
    },
    {
      name: 'purchase',
      kind: 'text',
      key: true,
      oneOf: PRICE_PURCHASES,
      missing: 'on-demand',
      meaning: 'How it is bought.',
      example: 'on-demand',
    },
    {
      name: 'covers',
      kind: 'text',
      key: true,
      oneOf: ['instance', 'accelerator', 'host'],
      missing: 'instance; accelerator where no instance_type is named',
      meaning: 'The whole machine, the accelerators alone, or the machine without its accelerators.',
      example: 'instance',
    },
    {
      name: 'as_of',
      kind: 'time',
      key: true,
      required: true,
      meaning: 'From when it was so; holds until a newer one.',
      example: '2026-10-01T00:00:00Z',
      alsoKnownAs: [{ name: 'date' }],
    },
    { name: 'vcpu', kind: 'decimal', meaning: 'Virtual CPUs of the machine.', example: '192' },
    { name: 'memory_gib', kind: 'decimal', meaning: 'Memory of the machine.', example: '2048' },
    {
      name: 'usd_per_hour',
      kind: 'decimal',
      required: true,
      leftOutIfMissing: 'without a price',
      missing: 'unknown, never 0: the row is left out, and counted',
      meaning: 'Dollars an hour for all that the row covers; at most nine decimals.',
      example: '55.04',
    },
    {
      name: 'price_source',
      kind: 'text',
      meaning: 'Where the figure comes from.',
      example: 'price list, October',
      alsoKnownAs: [{ name: 'source' }],
    },
    {
      name: 'flag',
      kind: 'text',
      oneOf: Object.keys(PRICE_FLAGS),
      missing: 'nothing is wrong with it',
      meaning: 'Why the price is kept and not used.',
      example: '',
    },
    {
      name: 'observed_at',
      kind: 'time',
      missing: 'the newest time in the batch',
      meaning: 'When it was seen.',
      example: '',
    },
  ],
};
