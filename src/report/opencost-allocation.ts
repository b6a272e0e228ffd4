import { isoTime } from './figures.ts';

/** Sums of one set, one place, one component and one category. */
export interface AllocationSum {
  /** Seconds from the beginning of the window to that of its set. */
  readonly step: number;
  readonly values: readonly (string | null)[];
  /** Capacity that nobody claimed. */
  readonly isFree: boolean;
  /** Where all of it is of one cluster. */
  readonly cluster: string | null;
  readonly category: string;
  readonly component: string;
  /** Where the first and the last of its hours or days begin. */
  readonly first: Date;
  readonly last: Date;
  readonly usdMicros: bigint | null;
  /** 63,000ths of a GPU × seconds. */
  readonly units: bigint;
  readonly unpricedUnits: bigint;
}

export interface Allocations {
  readonly window: { readonly from: Date; readonly until: Date };
  readonly aggregate: readonly string[];
  readonly stepSeconds: number;
  /** What the sums are made of: hours or days. */
  readonly unitSeconds: number;
  readonly horizon: Date | undefined;
  readonly sums: readonly AllocationSum[];
}

/** One allocation as OpenCost writes it; null where it has NaN, and where Bursar cannot say. */
export interface OpenCostAllocation {
  readonly name: string;
  readonly properties: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  readonly window: { readonly start: string; readonly end: string };
  readonly start: string;
  readonly end: string;
  readonly minutes: number;
  readonly cpuCost: number | null;
  readonly cpuEfficiency: null;
  readonly gpuCount: number;
  readonly gpuHours: number;
  readonly gpuCost: number | null;
  readonly gpuCostIdle: number | null;
  readonly gpuEfficiency: number | null;
  readonly networkCost: number;
  readonly loadBalancerCost: number;
  readonly pvCost: number;
  readonly pvs: null;
  readonly ramCost: number;
  readonly ramEfficiency: null;
  readonly sharedCost: number;
  readonly externalCost: number;
  readonly totalCost: number | null;
  readonly totalEfficiency: number | null;
  readonly bursarUnpricedGpuHours: number;
}

export type OpenCostSet = Readonly<Record<string, OpenCostAllocation>>;

const UNITS_PER_GPU_HOUR = 63_000 * 3600;
const IDLE = '__idle__';
const UNALLOCATED = '__unallocated__';

/** Components of the ledger under the fields OpenCost has; what it has no field for is external to its clusters. */
const FIELD_OF: Readonly<Record<string, 'gpu' | 'cpu' | 'pv' | 'network'>> = {
  gpu: 'gpu',
  host: 'cpu',
  storage: 'pv',
  transfer: 'network',
  network: 'network',
};

/** Time that computed, also what was lost later; and all held time of which something is known. */
const WORKED = new Set(['computing', 'lost']);
const MEASURED = new Set(['computing', 'lost', 'starved', 'idle']);

/**
 * The sets of `GET /allocation`, one for each step of time; an empty step is an empty set, as there.
 *
 * Money is floats here because OpenCost's contract says so. Every sum is exact up to this point, and is rounded once.
 */
export function openCostSets(allocations: Allocations, options: { readonly includeIdle: boolean }): OpenCostSet[] {
  const { window, stepSeconds, sums } = allocations;
  const count = Math.max(1, Math.ceil((window.until.getTime() - window.from.getTime()) / 1000 / stepSeconds));
  return Array.from({ length: count }, (_, index) => {
    const inStep = sums.filter((sum) => sum.step === index * stepSeconds && (options.includeIdle || !sum.isFree));
    const named = new Map<string, AllocationSum[]>();
    for (const sum of inStep) named.set(nameOf(sum), [...(named.get(nameOf(sum)) ?? []), sum]);
    const start = new Date(window.from.getTime() + index * stepSeconds * 1000);
    const end = new Date(Math.min(start.getTime() + stepSeconds * 1000, window.until.getTime()));
    const all = [...named].map(([name, each]) => allocationOf(allocations, name, each, { start, end }));
    return Object.fromEntries(all.toSorted((a, b) => (a.name < b.name ? -1 : 1)).map((each) => [each.name, each]));
  });
}

function nameOf({ isFree, values }: AllocationSum): string {
  if (isFree) return IDLE;
  if (values.length === 0) return 'total';
  return values.every((value) => value === null)
    ? UNALLOCATED
    : values.map((value) => (value === null || value === '' ? UNALLOCATED : value)).join('/');
}

function allocationOf(
  { aggregate, unitSeconds, horizon }: Allocations,
  name: string,
  sums: readonly AllocationSum[],
  window: { readonly start: Date; readonly end: Date },
): OpenCostAllocation {
  const first = Math.min(...sums.map((sum) => sum.first.getTime()));
  const last = Math.max(...sums.map((sum) => sum.last.getTime())) + unitSeconds * 1000;
  const start = Math.max(first, window.start.getTime());
  const end = Math.max(start, Math.min(last, window.end.getTime(), horizon?.getTime() ?? last));
  const minutes = (end - start) / 60_000;
  const cost = (field: 'gpu' | 'cpu' | 'pv' | 'network' | undefined): bigint | null =>
    moneyOf(sums.filter(({ component }) => FIELD_OF[component] === field));
  const units = (keep: (sum: AllocationSum) => boolean): bigint =>
    sums.filter(keep).reduce((sum, each) => sum + each.units, 0n);
  const held = units(() => true);
  const measured = units(({ category }) => MEASURED.has(category));
  const efficiency =
    measured === 0n ? null : rounded(Number(units(({ category }) => WORKED.has(category))) / Number(measured));
  const gpuHours = Number(held) / UNITS_PER_GPU_HOUR;
  return {
    name,
    properties: propertiesOf(aggregate, name, sums),
    window: { start: isoTime(window.start), end: isoTime(window.end) },
    start: isoTime(new Date(start)),
    end: isoTime(new Date(end)),
    minutes: rounded(minutes),
    cpuCost: usd(cost('cpu')),
    cpuEfficiency: null,
    gpuCount: minutes === 0 ? 0 : rounded(gpuHours / (minutes / 60)),
    gpuHours: rounded(gpuHours),
    gpuCost: usd(cost('gpu')),
    gpuCostIdle: usd(moneyOf(sums.filter(({ category, component }) => category === 'idle' && component === 'gpu'))),
    gpuEfficiency: efficiency,
    networkCost: usd(cost('network') ?? 0n) ?? 0,
    loadBalancerCost: 0,
    pvCost: usd(cost('pv') ?? 0n) ?? 0,
    pvs: null,
    ramCost: 0,
    ramEfficiency: null,
    sharedCost: 0,
    externalCost: usd(cost(undefined) ?? 0n) ?? 0,
    totalCost: usd(moneyOf(sums)),
    totalEfficiency: efficiency,
    bursarUnpricedGpuHours: rounded(
      Number(sums.reduce((sum, each) => sum + each.unpricedUnits, 0n)) / UNITS_PER_GPU_HOUR,
    ),
  };
}

/** Nothing is 0; what is there and has no price is null. */
function moneyOf(sums: readonly AllocationSum[]): bigint | null {
  return sums.reduce<bigint | null>(
    (total, { usdMicros }) => (total === null ? usdMicros : total + (usdMicros ?? 0n)),
    sums.length === 0 ? 0n : null,
  );
}

function propertiesOf(
  aggregate: readonly string[],
  name: string,
  sums: readonly AllocationSum[],
): OpenCostAllocation['properties'] {
  const cluster = sums[0]?.cluster ?? null;
  const shared = cluster !== null && sums.every((sum) => sum.cluster === cluster) ? { cluster } : {};
  if (name === IDLE) return shared;
  const values = sums[0]?.values ?? [];
  const labels = aggregate.flatMap((each, place) =>
    each.startsWith('label:') && values[place] != null ? [[each.slice(6), values[place]]] : [],
  );
  const plain = aggregate.flatMap((each, place) =>
    !each.startsWith('label:') && values[place] != null ? [[each, values[place]]] : [],
  );
  return {
    ...shared,
    ...(Object.fromEntries(plain) as Record<string, string>),
    ...(labels.length > 0 && { labels: Object.fromEntries(labels) as Record<string, string> }),
  };
}

function usd(micros: bigint | null): number | null {
  return micros === null ? null : rounded(Number(micros) / 1e6);
}

/** Five decimals, as OpenCost rounds its own. */
function rounded(value: number): number {
  return Math.round(value * 1e5) / 1e5;
}
