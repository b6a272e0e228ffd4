import type { NodeRow, Organisation, PriceRow } from '../organisation.ts';
import { ONE, decimal } from '../decimal.ts';
import { groupedBy, sortedBy } from '../order.ts';
import { shortName } from './provider.ts';

const NANOS_OF_DECIMAL = ONE / 1_000_000_000n;
const USD_MAX = 100_000n;

/** The ways to buy that a node is priced by, the better one first. */
const WAYS: Readonly<Record<string, readonly PriceRow['purchase'][]>> = {
  '': ['on-demand'],
  'on-demand': ['on-demand'],
  spot: ['spot'],
  committed: ['committed-1y', 'committed-3y'],
  owned: [],
};

const isBelievable = (row: PriceRow): boolean => {
  const usd = decimal(row.usd_per_hour);
  const isPlain = row.flag === null || row.flag === 'vanished';
  return (
    isPlain && usd > 0n && usd <= USD_MAX * ONE && (row.covers !== 'accelerator' || (row.accelerator_count ?? 1) >= 1)
  );
};

/** Nano-dollars of a machine, or of one bare accelerator. */
const nanosOf = (row: PriceRow): bigint => {
  const nanos = decimal(row.usd_per_hour) / NANOS_OF_DECIMAL;
  return row.covers === 'accelerator' ? nanos / BigInt(row.accelerator_count ?? 1) : nanos;
};

const placeOf = (row: PriceRow): [string, string] => [shortName(row.provider), (row.region ?? '').toLowerCase()];

const key = (...parts: readonly (string | number | null)[]): string => JSON.stringify(parts);

/** Of each series the newest at the hour, unless it says that the price vanished; the first of a machine also before it. */
function inForce(org: Organisation, hour: number): PriceRow[] {
  const rows = org.prices.filter(isBelievable);
  const machineKey = (row: PriceRow): string =>
    key(...placeOf(row), row.instance_type, row.covers === 'accelerator' ? row.accelerator : '', row.purchase);
  const first = new Map(
    [...groupedBy(rows, machineKey)].map(([name, own]) => [name, Math.min(...own.map((row) => row.as_of))]),
  );
  const begins = (row: PriceRow): number => (row.as_of === first.get(machineKey(row)) ? 0 : row.as_of);
  const series = groupedBy(rows, (row) =>
    key(...placeOf(row), row.zone, row.instance_type, row.accelerator, row.accelerator_count, row.purchase, row.covers),
  );
  return [...series.values()].flatMap((own) => {
    const newest = sortedBy(own, (row) => [row.as_of, nanosOf(row), row.flag ?? '']).findLast(
      (row) => begins(row) <= hour,
    );
    return newest === undefined || newest.flag !== null ? [] : [newest];
  });
}

/** The one that counts: a whole machine before a host, the zone itself before the region, the newest, of several the lower middle. */
function best(rows: readonly PriceRow[], zone: string | null): PriceRow | undefined {
  const rank = (row: PriceRow): number[] => [
    row.covers === 'host' ? 1 : 0,
    row.region === null ? 2 : (row.zone ?? '') === (zone ?? '') ? 0 : 1,
    -row.as_of,
  ];
  const ordered = sortedBy(rows, rank);
  const top = ordered[0];
  if (top === undefined) return undefined;
  const equals = ordered.filter((row) => key(...rank(row)) === key(...rank(top)));
  return sortedBy(equals, (row) => [nanosOf(row)])[Math.floor((equals.length - 1) / 2)];
}

/** What price lists ask for one GPU of a node at an hour, in nano-dollars; null where they say nothing that can be believed. */
export function catalogNanos(
  org: Organisation,
  node: NodeRow | undefined,
  accelerator: string | undefined,
  gpus: number,
  hour: number,
): bigint | null {
  if (node?.instance_type == null || node.provider === null || gpus === 0) return null;
  const provider = shortName(node.provider);
  const here = inForce(org, hour).filter(
    (row) =>
      shortName(row.provider) === provider &&
      (row.region === null || row.region.toLowerCase() === (node.region ?? '').toLowerCase()),
  );
  const ofMachine = here.filter((row) => row.covers !== 'accelerator' && row.instance_type === node.instance_type);
  const bare = here.filter((row) => row.covers === 'accelerator' && row.accelerator === accelerator);
  const firstWay = (rows: readonly PriceRow[]): PriceRow | undefined =>
    (WAYS[node.purchase ?? ''] ?? [])
      .map((purchase) =>
        best(
          rows.filter((row) => row.purchase === purchase),
          node.zone,
        ),
      )
      .find((row) => row !== undefined);
  const machine = firstWay(ofMachine);
  if (machine === undefined) return null;
  const one = machine.covers === 'host' ? firstWay(bare) : undefined;
  if (machine.covers === 'host' && one === undefined) return null;
  if (node.purchase === 'spot') {
    const onDemand = best(
      ofMachine.filter((row) => row.purchase === 'on-demand'),
      node.zone,
    );
    if (onDemand?.covers === machine.covers && !isPlausibleSpot(nanosOf(machine), nanosOf(onDemand))) return null;
  }
  return nanosOf(machine) / BigInt(gpus) + (one === undefined ? 0n : nanosOf(one));
}

function isPlausibleSpot(spot: bigint, onDemand: bigint): boolean {
  return spot * 2n <= onDemand * 3n && spot * 1000n >= onDemand * 99n;
}
