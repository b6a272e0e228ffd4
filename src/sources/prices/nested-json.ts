import { perHour } from './flat-list.ts';
import type { FlatList, FlatPrice } from './flat-list.ts';

const HOURS_PER_YEAR = 8760n;

type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const scalar = (value: unknown): string | number | undefined =>
  typeof value === 'string' || (typeof value === 'number' && Number.isFinite(value)) ? value : undefined;

/** Only what is known: a key with an undefined value would be a column of nothing. */
function known(row: Readonly<Record<string, string | number | undefined>>): FlatPrice {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined));
}

/**
 * Question: is this JSON a price list whose rows are nested, and what are they laid flat?
 *
 * Undefined for anything else, lists of flat objects included: those are read as a table.
 */
export function nestedList(value: unknown): FlatList | undefined {
  if (isObject(value)) {
    if (Array.isArray(value['SpotPriceHistory'])) return awsSpotHistory(value['SpotPriceHistory']);
    if (Array.isArray(value['Items']) && value['Items'].some((item) => isObject(item) && 'retailPrice' in item)) {
      return azureRetail(value['Items']);
    }
    return undefined;
  }
  if (Array.isArray(value) && value.some((item) => isObject(item) && isObject(item['pricing']))) return byRegion(value);
  return undefined;
}

/** A list of machines, each with its prices by region: what Vantage and lists like it publish. */
function byRegion(machines: readonly unknown[]): FlatList {
  const rows = machines.flatMap((machine): FlatPrice[] => {
    if (!isObject(machine) || !isObject(machine['pricing'])) return [{}];
    const accelerator = scalar(machine['gpu'] ?? machine['GPU_model'] ?? machine['gpu_model']);
    const about = {
      instance_type: scalar(machine['apiName'] ?? machine['instance_type'] ?? machine['name']),
      accelerator: accelerator === 0 || accelerator === '0' ? undefined : accelerator,
      accelerator_count: scalar(machine['gpuCount'] ?? machine['GPU'] ?? machine['gpu_count']),
      vcpu: scalar(machine['vcpu'] ?? machine['vCPU']),
      memory_gib: scalar(machine['memory']),
    };
    const regions = Object.entries(machine['pricing']);
    if (regions.length === 0) return [known(about)];
    return regions.map(([region, prices]) => known({ ...about, region, ...pricesOf(prices) }));
  });
  return { shape: 'machines by region', provider: 'aws', rows, notes: [] };
}

/** Either the prices themselves, or prices by operating system, of which Linux counts. */
function pricesOf(prices: unknown): Readonly<Record<string, string | number | undefined>> {
  if (!isObject(prices)) return {};
  if (isObject(prices['linux'])) return pricesOf(prices['linux']);
  const reserved = isObject(prices['reserved']) ? prices['reserved'] : {};
  return {
    price: scalar(prices['onDemand'] ?? prices['ondemand']),
    spot: scalar(prices['spot'] ?? prices['spot_avg']),
    committed_1y: scalar(prices['reserved']) ?? scalar(reserved['yrTerm1Standard.noUpfront']),
    committed_3y: scalar(reserved['yrTerm3Standard.noUpfront']),
  };
}

/** What `aws ec2 describe-spot-price-history` prints. Windows prices hold a licence, and are told apart by the product. */
function awsSpotHistory(items: readonly unknown[]): FlatList {
  const rows = items.map((item): FlatPrice => {
    if (!isObject(item)) return {};
    const zone = scalar(item['AvailabilityZone']);
    const isLinux = /linux/i.test(String(scalar(item['ProductDescription']) ?? 'Linux/UNIX'));
    return known({
      instance_type: scalar(item['InstanceType']),
      zone,
      region: typeof zone === 'string' ? zone.replace(/[a-z]$/, '') : undefined,
      as_of: scalar(item['Timestamp']),
      purchase: isLinux ? 'spot' : 'spot, another operating system',
      price: scalar(item['SpotPrice']),
    });
  });
  return { shape: 'AWS spot price history', provider: 'aws', rows, notes: [] };
}

/** What Azure's retail price service answers. */
function azureRetail(items: readonly unknown[]): FlatList {
  const rows = items.map((item): FlatPrice => {
    if (!isObject(item)) return {};
    const [kind, meter, product] = ['type', 'meterName', 'productName'].map((key) => String(scalar(item[key]) ?? ''));
    const price = scalar(item['retailPrice']);
    const years = /^(1|3) Year/.exec(String(scalar(item['reservationTerm']) ?? ''))?.[1];
    const isHourly = /hour/i.test(String(scalar(item['unitOfMeasure']) ?? '1 Hour'));
    const isOther = /windows/i.test(product ?? '') || /low priority/i.test(meter ?? '') || !isHourly;
    const purchase = years === undefined ? (/spot/i.test(meter ?? '') ? 'spot' : 'on-demand') : `committed-${years}y`;
    return known({
      instance_type: scalar(item['armSkuName']) === '' ? undefined : scalar(item['armSkuName']),
      region: scalar(item['armRegionName']),
      currency: scalar(item['currencyCode']),
      as_of: scalar(item['effectiveStartDate']),
      purchase: isOther || kind === 'DevTestConsumption' ? 'of another kind' : purchase,
      price: years === undefined ? price : perHour(String(price ?? ''), BigInt(years) * HOURS_PER_YEAR),
    });
  });
  return { shape: 'Azure retail prices', provider: 'azure', rows, notes: [] };
}
