import type { ReadSpace } from '../workspace.ts';
import { componentOffers } from './component-offers.ts';
import type { ComponentOffer } from './component-offers.ts';
import { fitComponents, middle } from './fit-components.ts';
import type { FittedPrices, UnitPrices } from './fit-components.ts';

interface Machine {
  readonly gpus: number;
  readonly vcpu: number;
  readonly memoryGib: number;
}

/** What the parts of one GPU model's machines cost, and how well that is known. Dollars an hour. */
export interface FittedModel {
  readonly model: string;
  readonly prices: UnitPrices;
  /** Machines, hosts and bare GPUs it was fitted from, and who offers them. */
  readonly offers: number;
  readonly providers: readonly string[];
  /** Half of its offers are predicted closer than this: 0.1 is ten percent. Each provider's level of prices is taken as known. */
  readonly error: number;
  /** The same with the provider left out of the fit; undefined where nobody else offers the model. */
  readonly errorLeftOut: number | undefined;
  /** The machine that is usual for the model, and the share of its price that is its GPUs'. */
  readonly usual: Machine & { readonly gpuShare: number };
}

/** A machine whose provider prices GPUs and host apart: its own split, and that of a fit which has not seen the provider. */
export interface SplitCheck extends Machine {
  readonly provider: string;
  readonly instanceType: string;
  readonly model: string;
  readonly gpuShare: number;
  readonly gpuShareFitted: number;
}

export interface ComponentFit {
  /** The day of the newest price it was made from; undefined where there are no prices. */
  readonly asOf: string | undefined;
  readonly offers: number;
  readonly providers: readonly string[];
  readonly models: readonly FittedModel[];
  readonly splitChecks: readonly SplitCheck[];
}

/** A GPU is never less than this of its usual machine, whatever the lists say. */
const GPU_SHARE_MIN = 0.1;

/**
 * Question: what do the parts of GPU machines cost by the price lists of this folder, and how far can that be trusted?
 *
 * The split is tried where its truth is known: a provider that prices GPUs apart from their hosts is left out, and the fit of the
 * others is asked for its machines.
 *
 * Reads: price.
 */
export async function componentFit(space: ReadSpace, at: Date): Promise<ComponentFit> {
  const { offers, asOf } = await componentOffers(space, at);
  return { asOf, ...judgedFit(offers) };
}

/** The fit of these offers with its errors, each provider left out once. */
export function judgedFit(offers: readonly ComponentOffer[]): Omit<ComponentFit, 'asOf'> {
  const models = new Set(offers.flatMap(({ model, gpus }) => (model === undefined || gpus === 0 ? [] : [model])));
  const usable = offers.filter(({ model }) => model === undefined || models.has(model));
  const whole = fitComponents(usable);
  const sellers = new Set(usable.filter(({ model }) => model !== undefined).map(({ provider }) => provider));
  const others = new Map(
    [...sellers].map((seller) => [
      seller,
      fitComponents(
        usable.filter(({ provider }) => provider !== seller),
        whole.parameters,
      ),
    ]),
  );
  const errors = errorsOf(usable, () => whole);
  const errorsLeftOut = errorsOf(usable, (provider) => others.get(provider));
  return {
    offers: usable.length,
    providers: [...new Set(usable.map(({ provider }) => provider))].toSorted(),
    models: [...models].toSorted().flatMap((model): FittedModel[] => {
      const own = usable.filter((offer) => offer.model === model);
      const usual = usualMachine(own);
      const fitted = whole.pricesOf(model);
      if (usual === undefined || fitted === undefined) return [];
      const prices = withinReason(fitted, usual);
      return [
        {
          model,
          prices,
          offers: own.length,
          providers: [...new Set(own.map(({ provider }) => provider))].toSorted(),
          error: middleError(errors, model) ?? 0,
          errorLeftOut: middleError(errorsLeftOut, model),
          usual: { ...usual, gpuShare: gpuShare(usual, prices) },
        },
      ];
    }),
    splitChecks: splitChecks(usable, others),
  };
}

const hostPrice = ({ vcpu, memoryGib }: Machine, prices: UnitPrices): number =>
  vcpu * prices.vcpu + memoryGib * prices.memoryGib;

const machinePrice = (machine: Machine, prices: UnitPrices): number =>
  machine.gpus * prices.gpu + hostPrice(machine, prices);

/** Which share of a machine's price its GPUs have, by these prices of its parts. */
export const gpuShare = (machine: Machine, prices: UnitPrices): number =>
  (machine.gpus * prices.gpu) / machinePrice(machine, prices);

function withinReason(prices: UnitPrices, usual: Machine): UnitPrices {
  const least = (hostPrice(usual, prices) * GPU_SHARE_MIN) / (1 - GPU_SHARE_MIN) / usual.gpus;
  return { ...prices, gpu: Math.max(prices.gpu, least) };
}

/** The middle one of the whole machines by what a GPU has beside it; of those with eight GPUs, where there are any. */
function usualMachine(own: readonly ComponentOffer[]): Machine | undefined {
  const machines = own.filter(({ gpus, vcpu }) => gpus > 0 && vcpu > 0);
  const eights = machines.filter(({ gpus }) => gpus === 8);
  const sorted = (eights.length > 0 ? eights : machines).toSorted(
    (a, b) => a.vcpu / a.gpus - b.vcpu / b.gpus || a.memoryGib / a.gpus - b.memoryGib / b.gpus,
  );
  const usual = sorted[Math.floor((sorted.length - 1) / 2)];
  return usual && { gpus: usual.gpus, vcpu: usual.vcpu, memoryGib: usual.memoryGib };
}

interface OfferError {
  readonly model: string;
  readonly error: number;
}

/** How far each offer is from what a fit says of it, once its provider's level of prices is known: only ratios matter. */
function errorsOf(
  offers: readonly ComponentOffer[],
  fitFor: (provider: string) => FittedPrices | undefined,
): OfferError[] {
  return [...new Set(offers.map(({ provider }) => provider))].flatMap((provider) => {
    const fit = fitFor(provider);
    const off = offers.flatMap((offer) => {
      const prices = offer.model === undefined ? undefined : fit?.pricesOf(offer.model);
      if (offer.provider !== provider || offer.model === undefined || prices === undefined) return [];
      return [{ model: offer.model, log: Math.log(offer.usdPerHour / machinePrice(offer, prices)) }];
    });
    const level = middle(off.map(({ log }) => log)) ?? 0;
    return off.map(({ model, log }) => ({ model, error: Math.exp(Math.abs(log - level)) - 1 }));
  });
}

const middleError = (errors: readonly OfferError[], model: string): number | undefined =>
  middle(errors.filter((each) => each.model === model).map(({ error }) => error));

function splitChecks(offers: readonly ComponentOffer[], others: ReadonlyMap<string, FittedPrices>): SplitCheck[] {
  return offers.flatMap((host): SplitCheck[] => {
    const { provider, model, instanceType, gpusBeside, vcpu, memoryGib } = host;
    const bare = offers.find(
      (each) =>
        each.provider === provider && each.model === model && each.covers === 'accelerator' && each.gpus === gpusBeside,
    );
    const prices = model === undefined ? undefined : others.get(provider)?.pricesOf(model);
    if (model === undefined || bare === undefined || prices === undefined) return [];
    const machine = { gpus: bare.gpus, vcpu, memoryGib };
    const own = bare.usdPerHour / (bare.usdPerHour + host.usdPerHour);
    return [{ provider, instanceType, model, ...machine, gpuShare: own, gpuShareFitted: gpuShare(machine, prices) }];
  });
}
