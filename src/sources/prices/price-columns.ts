import { plainName } from '../../facts/nearest-name.ts';
import { OperationError } from '../../facts/operation-error.ts';

/**
 * What a column of a price list says. `price` is the price on demand, unless a column `purchase` says of each row how it is
 * bought; the others ending in a way to buy stand beside it.
 */
export type PriceRole =
  | 'provider'
  | 'region'
  | 'zone'
  | 'instance_type'
  | 'accelerator'
  | 'accelerator_count'
  | 'vcpu'
  | 'memory_gib'
  | 'purchase'
  | 'covers'
  | 'as_of'
  | 'event'
  | 'currency'
  | 'price_source'
  | 'flag'
  | 'price'
  | 'spot'
  | 'committed_1y'
  | 'committed_3y';

/** Names without case and punctuation; of several that a file has, the first counts. */
const NAMES: Readonly<Record<PriceRole, readonly string[]>> = {
  provider: ['provider', 'cloud', 'vendor', 'providername', 'cloudprovider'],
  region: ['region', 'regionid', 'armregionname', 'location', 'datacenter'],
  zone: ['zone', 'availabilityzone', 'az', 'availabilityzoneid'],
  instance_type: [
    'instancetype',
    'machinetype',
    'vmsize',
    'armskuname',
    'apiname',
    'instance',
    'shape',
    'flavor',
    'sku',
  ],
  accelerator: ['accelerator', 'acceleratorname', 'acceleratortype', 'gpuname', 'gpumodel', 'gputype', 'gpu', 'model'],
  accelerator_count: ['acceleratorcount', 'gpucount', 'numgpus', 'ngpus', 'gpus'],
  vcpu: ['vcpu', 'vcpus', 'cpus', 'ncpus', 'cpu'],
  memory_gib: ['memorygib', 'memorygb', 'memgib', 'memgb', 'ramgib', 'ramgb', 'memory', 'ram'],
  purchase: ['purchase', 'purchaseoption', 'pricingmodel', 'capacitytype', 'lifecycle'],
  covers: ['covers'],
  as_of: ['asof', 'observedat', 'timestamp', 'effectivestartdate', 'effectivedate', 'fetchedat', 'date', 'time'],
  event: ['event', 'action', 'change'],
  currency: ['currency', 'currencycode'],
  price_source: ['pricesource', 'source'],
  flag: ['flag'],
  price: [
    'usdperhour',
    'price',
    'priceusdhr',
    'priceusdhour',
    'priceperhour',
    'ondemandprice',
    'ondemandpriceusdhr',
    'ondemandusdhr',
    'ondemand',
    'hourlyprice',
    'pricehourly',
    'hourlycost',
    'costperhour',
    'priceusd',
    'usdhr',
    'retailprice',
  ],
  spot: ['spotprice', 'spotpriceusdhr', 'spotpriceusd', 'spotusdhr', 'spotusdperhour', 'spot', 'preemptibleprice'],
  committed_1y: [
    'committed1y',
    'committed1yusdperhour',
    'reserved1y',
    'reserved1yr',
    'price1y',
    'reservedprice',
    'reserved',
  ],
  committed_3y: ['committed3y', 'committed3yusdperhour', 'reserved3y', 'reserved3yr', 'price3y'],
};

const ROLES = Object.keys(NAMES) as PriceRole[];
const PRICE_ROLES: readonly PriceRole[] = ['price', 'spot', 'committed_1y', 'committed_3y'];

export interface PriceColumns {
  /** The column of the file, by what it says. */
  readonly byRole: ReadonlyMap<PriceRole, string>;
  readonly notUnderstood: readonly string[];
}

/** Question: which column of a price list says what? Undefined where it is no price list at all. */
export function priceColumns(names: readonly string[]): PriceColumns | undefined {
  const byPlain = new Map(names.toReversed().map((name) => [plainName(name), name]));
  const byRole = new Map<PriceRole, string>();
  for (const role of ROLES) {
    const found = NAMES[role].find((name) => byPlain.has(name));
    const column = found === undefined ? undefined : byPlain.get(found);
    if (column !== undefined) byRole.set(role, column);
  }
  const isOfSomething = byRole.has('instance_type') || byRole.has('accelerator');
  if (!isOfSomething || !PRICE_ROLES.some((role) => byRole.has(role))) return undefined;
  const used = new Set(byRole.values());
  return { byRole, notUnderstood: names.filter((name) => !used.has(name)) };
}

export function noPriceList(label: string, columns: readonly string[]): OperationError {
  const seen = columns.slice(0, 8).join(', ');
  return new OperationError(
    'not-a-price-list',
    `${label} is no price list: ${seen === '' ? 'nothing in it is understood' : `its columns are ${seen}`}`,
    {
      hint: 'Needed are a column for the machine (InstanceType, instance_type) or accelerator, and one for the price (Price, SpotPrice, usd_per_hour); docs/FACTS.md, price.',
    },
  );
}
