/**
 * A year of one organisation, small enough to be worked out on paper: 2025, 365 days, 8,760 hours. Every price is a whole number of
 * dollars an hour, so that each figure the test wants can be checked by multiplying.
 */
export const MONTHS = Array.from({ length: 12 }, (_, index) => `2025-${String(index + 1).padStart(2, '0')}`);

/** What moves when a bill is issued again; the first issue where nothing is said. */
export interface BillChange {
  readonly credit?: number;
  readonly euros?: number;
}

const CHARGE_HEADER = [
  'ProviderName,BillingAccountId,BillingPeriodStart,BillingPeriodEnd,ChargePeriodStart,ChargePeriodEnd,ChargeCategory',
  'PricingCategory,BillingCurrency,EffectiveCost,BilledCost,ServiceCategory,ServiceName,SkuId,RegionId,ResourceId',
  'CommitmentDiscountId,CommitmentDiscountStatus,CapacityReservationId,CapacityReservationStatus,InvoiceId,Tags',
].join(',');

const YEAR_FROM = '2025-01-01T00:00:00Z';
const YEAR_UNTIL = '2026-01-01T00:00:00Z';

/** From when to when each machine was there, as the inventory of the year's end would say; nothing is known of a month to come. */
const STAYS: readonly (readonly [line: string, from: string, until: string])[] = [
  ...['a1', 'a2', 's1', 's2', 's3'].map(
    (id) => [`${id},AWS,111,us-east-1,on-demand,2,H100`, YEAR_FROM, YEAR_UNTIL] as const,
  ),
  ['cb1,AWS,111,us-east-1,committed,2,H100', '2025-03-10T00:00:00Z', '2025-03-23T00:00:00Z'],
  ['l1,Lambda,222,us-west-1,on-demand,2,H100', YEAR_FROM, YEAR_UNTIL],
  ['n1,Nebius,333,eu-north1,on-demand,2,H100', YEAR_FROM, YEAR_UNTIL],
  ['own1,own,,basement,owned,4,A100', YEAR_FROM, '2025-06-15T00:00:00Z'],
  ['own1,own,,basement,owned,4,A100', '2025-06-15T10:00:00Z', YEAR_UNTIL],
];

/** Machines of two GPUs each but the owned one, which has four and was away for ten hours in June; as known at the end of a month. */
export function nodesBy(month: string): string {
  const end = endOf(month);
  return [
    'node_id,provider,billing_account,region,purchase,gpu_count,model,present_from,present_until,cluster',
    ...STAYS.filter(([, from]) => from < end).map(
      ([line, from, until]) => `${line},${from},${until < end ? until : ''},main`,
    ),
  ].join('\n');
}

/** Three dollars for an H100 where there is no bill yet; the owned machine costs 1.50 a GPU and hour, with or without work. */
export const RATES = [
  'model,node_id,valid_from,usd_per_gpu_hour',
  `H100,,${YEAR_FROM},3.00`,
  `*,own1,${YEAR_FROM},1.50`,
].join('\n');

/** A euro was worth 1.10 in the first half of the year and 1.20 in the second. */
export const FX = ['currency,as_of,usd_per_unit', 'EUR,2025-01-01,1.10', 'EUR,2025-07-15,1.20'].join('\n');

/** Two jobs for the length of a month: nlp has one of the floating machines, vision the three under the savings plan. */
export function heldIn(month: string): string {
  const [from, until] = [`${month}-01T00:00:00Z`, endOf(month)];
  const row = (id: string, node: string, team: string): string =>
    `slurm,${id}-${month},${node},${from},${until},2,main,${team}`;
  return [
    'source,allocation_id,node_id,held_from,held_until,gpu_count,cluster,account',
    row('train', 'a1', 'nlp'),
    ...['s1', 's2', 's3'].map((node) => row(`see-${node}`, node, 'vision')),
  ].join('\n');
}

/** Every row of a month from AWS, Lambda and Nebius, each a bill of its own. */
export function billsOf(month: string, change: BillChange = {}): { aws: string; lambda: string; nebius: string } {
  const days = daysOf(month);
  const euros = change.euros ?? 24 * days.length;
  return {
    aws: lines(month, 'AWS', '111', 'USD', [
      ...days.flatMap(awsDay),
      ...awsMonth(month, days.length, change.credit ?? -500),
      ...(month === '2025-03' ? capacityBlock() : []),
    ]),
    lambda: lines(
      month,
      'Lambda',
      '222',
      'USD',
      days.map((day) => ({ ...usage(day), resource: 'l1', sku: 'gpu_2x_h100', effective: 48, billed: 48 })),
    ),
    nebius: lines(month, 'Nebius', '333', 'EUR', [
      { ...wholeMonth(month), resource: 'n1', sku: 'h100', effective: euros, billed: euros },
    ]),
  };
}

interface Charge {
  readonly from: string;
  readonly until: string;
  readonly category: 'Usage' | 'Purchase' | 'Credit' | 'Tax';
  readonly pricing?: 'Standard' | 'Committed';
  readonly effective: number;
  readonly billed: number;
  readonly sku?: string;
  readonly resource?: string;
  readonly commitment?: string;
  readonly commitmentStatus?: 'Used' | 'Unused';
  readonly reservation?: string;
  readonly reservationStatus?: 'Used';
  readonly tags?: string;
}

/** One reserved machine, which pays for a1 on even days and for a2 on odd ones; and a savings plan over three SKUs, a part of it unused. */
function awsDay(day: string): Charge[] {
  const isEven = Number(day.slice(-2)) % 2 === 0;
  const [reserved, onDemand] = isEven ? ['a1', 'a2'] : ['a2', 'a1'];
  const plan = { ...usage(day), pricing: 'Committed', commitment: 'sp-1', billed: 0 } as const;
  return [
    {
      ...usage(day),
      pricing: 'Committed',
      sku: 'p5',
      resource: reserved,
      commitment: 'ri-1',
      commitmentStatus: 'Used',
      effective: 96,
      billed: 0,
    },
    { ...usage(day), pricing: 'Standard', sku: 'p5', resource: onDemand, effective: 240, billed: 240 },
    { ...plan, sku: 'g5', resource: 's1', commitmentStatus: 'Used', effective: 24 },
    { ...plan, sku: 'g6', resource: 's2', commitmentStatus: 'Used', effective: 48 },
    { ...plan, sku: 'p4', resource: 's3', commitmentStatus: 'Used', effective: 72 },
    { ...plan, commitmentStatus: 'Unused', effective: 12 },
  ];
}

/** The reservation is paid in January for the whole year, the savings plan every month by the platform team; credit and tax. */
function awsMonth(month: string, days: number, credit: number): Charge[] {
  const purchase = { ...wholeMonth(month), category: 'Purchase', pricing: 'Standard', effective: 0 } as const;
  return [
    ...(month === '2025-01' ? [{ ...purchase, commitment: 'ri-1', billed: 96 * 365 }] : []),
    { ...purchase, commitment: 'sp-1', billed: 156 * days, tags: '{""team"": ""platform""}' },
    { ...wholeMonth(month), category: 'Credit', effective: credit, billed: credit },
    { ...wholeMonth(month), category: 'Tax', effective: 100, billed: 100 },
  ];
}

/** Fourteen days of one machine, bought at ten dollars an hour; it was given back a day early. */
function capacityBlock(): Charge[] {
  const block = { reservation: 'cb-1', sku: 'p5-block' } as const;
  const ran = daysOf('2025-03').slice(9, 22);
  return [
    {
      ...block,
      from: '2025-03-10T00:00:00Z',
      until: '2025-03-24T00:00:00Z',
      category: 'Purchase',
      effective: 3360,
      billed: 3360,
      tags: '{""team"": ""research""}',
    },
    ...ran.map((day) => ({
      ...usage(day),
      ...block,
      reservationStatus: 'Used' as const,
      resource: 'cb1',
      effective: 0,
      billed: 0,
    })),
  ];
}

function usage(day: string): Pick<Charge, 'from' | 'until' | 'category'> {
  return { from: `${day}T00:00:00Z`, until: nextDay(day), category: 'Usage' };
}

function wholeMonth(month: string): Pick<Charge, 'from' | 'until' | 'category'> {
  return { from: `${month}-01T00:00:00Z`, until: endOf(month), category: 'Usage' };
}

function lines(month: string, provider: string, account: string, currency: string, charges: readonly Charge[]): string {
  const rows = charges.map((charge) =>
    [
      provider,
      account,
      `${month}-01T00:00:00Z`,
      endOf(month),
      charge.from,
      charge.until,
      charge.category,
      charge.pricing ?? '',
      currency,
      charge.effective,
      charge.billed,
      'Compute',
      'Machines',
      charge.sku ?? '',
      provider === 'AWS' ? 'us-east-1' : '',
      charge.resource ?? '',
      charge.commitment ?? '',
      charge.commitmentStatus ?? '',
      charge.reservation ?? '',
      charge.reservationStatus ?? '',
      `${provider}-${month}`,
      charge.tags === undefined ? '' : `"${charge.tags}"`,
    ].join(','),
  );
  return [CHARGE_HEADER, ...rows].join('\n');
}

export function daysOf(month: string): string[] {
  const count = new Date(Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5)), 0)).getUTCDate();
  return Array.from({ length: count }, (_, index) => `${month}-${String(index + 1).padStart(2, '0')}`);
}

function nextDay(day: string): string {
  return `${new Date(Date.parse(`${day}T00:00:00Z`) + 86_400_000).toISOString().slice(0, 19)}Z`;
}

function endOf(month: string): string {
  return nextDay(daysOf(month).at(-1) ?? '');
}
