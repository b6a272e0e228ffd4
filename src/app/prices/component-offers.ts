import { ACCELERATORS, acceleratorNamed } from '../../facts/accelerators.ts';
import { PRICE_USD_MAX } from '../../facts/price.ts';
import type { ReadSpace } from '../workspace.ts';

/** What a provider asks for a machine, for a host without its GPUs, or for GPUs without their host. */
export interface ComponentOffer {
  readonly provider: string;
  readonly instanceType: string;
  /** The accelerator inside, or whose host this is; undefined for machines that have and take none. */
  readonly model: string | undefined;
  readonly covers: 'instance' | 'host' | 'accelerator';
  /** GPUs in the price. */
  readonly gpus: number;
  /** GPUs that a host is sold for, beside its price; undefined where it is not known, and for everything else. */
  readonly gpusBeside?: number | undefined;
  readonly vcpu: number;
  readonly memoryGib: number;
  readonly usdPerHour: number;
}

export interface ComponentOffers {
  readonly offers: readonly ComponentOffer[];
  /** The day of the newest price among them; undefined where there is none. */
  readonly asOf: string | undefined;
}

/**
 * Machine families of Google Cloud that come with one GPU model and no other, since its price lists name hosts and GPUs apart and
 * do not say which belong together. Hosts of other families (n1, n2, …) are machines like anybody's. The number of GPUs is in the
 * names of some (`a3-highgpu-8g`), of the others it follows from the vCPUs.
 */
const GCP_FAMILIES: readonly { prefix: string; model: string; gpusByVcpu?: Readonly<Record<number, number>> }[] = [
  { prefix: 'a2-highgpu-', model: 'A100' },
  { prefix: 'a2-megagpu-', model: 'A100' },
  { prefix: 'a2-ultragpu-', model: 'A100-80GB' },
  { prefix: 'a3-highgpu-', model: 'H100' },
  { prefix: 'a3-edgegpu-', model: 'H100' },
  { prefix: 'a3-megagpu-', model: 'H100' },
  { prefix: 'a3-ultragpu-', model: 'H200' },
  { prefix: 'a4-highgpu-', model: 'B200' },
  { prefix: 'g2-standard-', model: 'L4', gpusByVcpu: { 4: 1, 8: 1, 12: 1, 16: 1, 24: 2, 32: 1, 48: 4, 96: 8 } },
  { prefix: 'g4-standard-', model: 'RTX-PRO-6000', gpusByVcpu: { 48: 1, 96: 2, 192: 4, 384: 8 } },
];

/** Burstable small machines and those with memory or CPUs for special work say little about a GPU's host. */
const VCPU_MIN = 2;
const GIB_PER_VCPU = { min: 1.9, max: 8.1 };

interface OfferRow {
  readonly provider: string;
  readonly instanceType: string;
  readonly accelerator: string;
  readonly covers: ComponentOffer['covers'];
  readonly gpus: number;
  readonly vcpu: number | null;
  readonly memoryGib: number | null;
  readonly usdPerHour: number;
  readonly asOf: string;
}

/**
 * Question: which prices say what a GPU, a vCPU and a GiB of memory cost?
 *
 * On demand, believed, the newest of each series at `at`, one for each machine type of a provider: the median over its regions,
 * so that a provider with many regions does not speak louder than one with few. Left out are accelerators nobody knows by name, TPUs (their price
 * has the host in it, whatever its list says), and GPUs whose provider lists the host for nothing.
 *
 * Reads: price.
 */
export async function componentOffers(space: ReadSpace, at: Date): Promise<ComponentOffers> {
  const rows = await space.ask<OfferRow>({
    tables: [{ table: 'price' }],
    params: { at },
    sql: `
      WITH known AS (
        SELECT *, row_number() OVER (PARTITION BY provider, region, zone, instance_type, accelerator, accelerator_count, covers
                 ORDER BY as_of DESC) AS place
        FROM price WHERE purchase = 'on-demand' AND as_of <= $at AND COALESCE(flag, '') <> 'feed-lost'
      )
      SELECT provider, instance_type AS "instanceType", accelerator, covers, CAST(accelerator_count AS DOUBLE) AS gpus,
             CAST(max(vcpu) AS DOUBLE) AS vcpu, CAST(max(memory_gib) AS DOUBLE) AS "memoryGib",
             CAST(quantile_disc(usd_per_hour, 0.5) AS DOUBLE) AS "usdPerHour", CAST(CAST(max(as_of) AS DATE) AS VARCHAR) AS "asOf"
      FROM known WHERE place = 1 AND usd_per_hour BETWEEN 0 AND ${PRICE_USD_MAX}
        AND (flag IS NULL OR (covers = 'host' AND usd_per_hour = 0))
      GROUP BY provider, instance_type, accelerator, covers, accelerator_count
      ORDER BY provider, instance_type, accelerator, covers, accelerator_count`,
  });
  const offers = onePerShape(rows.flatMap((row) => offerOf(row) ?? []));
  const freeHosts = new Set(
    offers.filter(({ covers, usdPerHour }) => covers === 'host' && usdPerHour === 0).map(placeOf),
  );
  return {
    offers: offers.filter((offer) => offer.usdPerHour > 0 && !(offer.gpus > 0 && freeHosts.has(placeOf(offer)))),
    asOf: rows
      .map(({ asOf }) => asOf)
      .reduce<string | undefined>((a, b) => (a === undefined || b > a ? b : a), undefined),
  };
}

/** Machines without a GPU that are alike in vCPUs and memory are one offer, at their middle price: a provider has hundreds. */
function onePerShape(offers: readonly ComponentOffer[]): ComponentOffer[] {
  const shapes = new Map<string, ComponentOffer[]>();
  for (const offer of offers.filter(({ model }) => model === undefined)) {
    const shape = `${offer.provider}\n${offer.vcpu}\n${offer.memoryGib}`;
    shapes.set(shape, [...(shapes.get(shape) ?? []), offer]);
  }
  const middles = [...shapes.values()].flatMap((alike) => {
    const sorted = alike.toSorted((a, b) => a.usdPerHour - b.usdPerHour);
    return sorted[Math.floor((sorted.length - 1) / 2)] ?? [];
  });
  return [...offers.filter(({ model }) => model !== undefined), ...middles];
}

const placeOf = ({ provider, model }: ComponentOffer): string => `${provider}\n${model ?? ''}`;

const isTpu = new Set(ACCELERATORS.filter(({ vendor }) => vendor === 'Google').map(({ id }) => id));

function offerOf(row: OfferRow): ComponentOffer | undefined {
  const { provider, instanceType, covers, usdPerHour } = row;
  const shape = { provider, instanceType, covers, usdPerHour, vcpu: row.vcpu ?? 0, memoryGib: row.memoryGib ?? 0 };
  if (row.accelerator !== '') {
    const model = acceleratorNamed(row.accelerator)?.id;
    const isWhole = covers === 'accelerator' || (shape.vcpu > 0 && shape.memoryGib > 0);
    if (model === undefined || isTpu.has(model) || row.gpus <= 0 || !isWhole) return undefined;
    return { ...shape, model, gpus: row.gpus };
  }
  const perVcpu = shape.memoryGib / shape.vcpu;
  const isUsual = shape.vcpu >= VCPU_MIN && perVcpu >= GIB_PER_VCPU.min && perVcpu <= GIB_PER_VCPU.max;
  const family = provider === 'gcp' && GCP_FAMILIES.find(({ prefix }) => instanceType.startsWith(prefix));
  if (!family) return isUsual ? { ...shape, model: undefined, gpus: 0 } : undefined;
  const named = /-(\d+)g(-|$)/.exec(instanceType)?.[1];
  const gpusBeside = named === undefined ? family.gpusByVcpu?.[shape.vcpu] : Number(named);
  return { ...shape, model: family.model, gpus: 0, gpusBeside };
}
