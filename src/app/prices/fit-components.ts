import type { ComponentOffer } from './component-offers.ts';
import { fitLogRidge } from './log-ridge.ts';
import type { LogPrior, LogRow } from './log-ridge.ts';

/** What a GPU of one model, and a vCPU and a GiB of memory of its hosts, cost by themselves, in dollars an hour. */
export interface UnitPrices {
  readonly gpu: number;
  readonly vcpu: number;
  readonly memoryGib: number;
}

export interface FittedPrices {
  /** Undefined for a model no offer was of. */
  pricesOf(model: string): UnitPrices | undefined;
  /** The logarithm of each parameter, by its name. */
  readonly parameters: ReadonlyMap<string, number>;
}

/**
 * As sure as so many offers, before any is seen: that a provider's prices are at the common level; that its GPU machines are at
 * the level of its others (hardly: who sells only GPU machines has no price for a host alone); that hosts of a GPU cost what hosts
 * cost; and that a GPU has the usual share of its machine.
 */
const SURE = { level: 0.25, sameLevel: 0.1, host: 1, gpu: 0.5 };
/** Where the fit starts: a vCPU and a GiB as the large clouds list them, a GPU with four fifths of its machine, as where they are listed apart. */
const START = { vcpu: 0.033, memoryGib: 0.004, gpuShare: 0.8 };

const VCPU = 'vcpu';
const MEMORY = 'memory';
const levelOf = (provider: string): string => `level of ${provider}`;
const gpuLevelOf = (provider: string): string => `level of ${provider}'s GPU machines`;
const gpuOf = (model: string): string => `one ${model}`;
const hostOf = (model: string): string => `host of ${model}`;

/**
 * Question: what do a GPU, a vCPU and a GiB of memory cost by themselves?
 *
 * A price is taken as the provider's level × (GPUs × one GPU + host × (vCPUs × vCPU + GiB × memory)). A vCPU and a GiB are the same
 * everywhere, pinned by machines without GPUs; `host` says how much dearer or cheaper they are in machines of one GPU model, seen
 * where that GPU is sold with small and large hosts, or apart from its host. Levels are about 1 in the mean, so prices are those of
 * the middle of the market; a bill is split by their ratios. `from` are an earlier fit's parameters to start at.
 *
 * Floats will do: these become stated, rounded prices, never sums of money.
 */
export function fitComponents(offers: readonly ComponentOffer[], from?: FittedPrices['parameters']): FittedPrices {
  const first = startOf(offers);
  const names = [...first.keys()];
  const places = new Map(names.map((name, place) => [name, place]));
  const priors = priorsOf(offers, first, places);
  const rows = offers.map(rowOf(places, weightsOf(offers)));
  const start = names.map((name) => from?.get(name) ?? first.get(name) ?? 0);
  const fitted = fitLogRidge(start, (parameters) => rows.map((row) => row(parameters)), priors);
  const unit = (name: string): number => Math.exp(fitted[places.get(name) ?? -1] ?? 0);
  return {
    parameters: new Map(names.map((name, place) => [name, fitted[place] ?? 0])),
    pricesOf: (model) =>
      places.has(gpuOf(model))
        ? {
            gpu: unit(gpuOf(model)),
            vcpu: unit(VCPU) * unit(hostOf(model)),
            memoryGib: unit(MEMORY) * unit(hostOf(model)),
          }
        : undefined,
  };
}

const modelsOf = (offers: readonly ComponentOffer[]): string[] => [
  ...new Set(offers.flatMap(({ model, gpus }) => (model === undefined || gpus === 0 ? [] : [model]))),
];

function startOf(offers: readonly ComponentOffer[]): Map<string, number> {
  const start = new Map([
    [VCPU, Math.log(START.vcpu)],
    [MEMORY, Math.log(START.memoryGib)],
  ]);
  for (const { provider, model } of offers) {
    start.set(levelOf(provider), 0);
    if (model !== undefined) start.set(gpuLevelOf(provider), 0);
  }
  for (const model of modelsOf(offers)) {
    const own = offers.filter((offer) => offer.model === model && offer.gpus > 0);
    start.set(gpuOf(model), Math.log(middle(own.map(usualGpu)) ?? 1));
    start.set(hostOf(model), 0);
  }
  return start;
}

function priorsOf(
  offers: readonly ComponentOffer[],
  start: ReadonlyMap<string, number>,
  places: ReadonlyMap<string, number>,
): LogPrior[] {
  const place = (name: string): number => places.get(name) ?? -1;
  const about = (name: string, weight: number): LogPrior => ({
    target: start.get(name) ?? 0,
    weight,
    slopes: [[place(name), 1]],
  });
  const providers = [...new Set(offers.map(({ provider }) => provider))];
  return [
    about(VCPU, SURE.level),
    about(MEMORY, SURE.level),
    ...providers.map((provider) => about(levelOf(provider), SURE.level)),
    ...providers
      .filter((provider) => places.has(gpuLevelOf(provider)))
      .map((provider): LogPrior => {
        const apart = [gpuLevelOf(provider), levelOf(provider)] as const;
        return {
          target: 0,
          weight: SURE.sameLevel,
          slopes: [
            [place(apart[0]), 1],
            [place(apart[1]), -1],
          ],
        };
      }),
    ...modelsOf(offers).map((model) => about(hostOf(model), SURE.host)),
    ...modelsOf(offers).flatMap((model) => usualShares(offers, model, place)),
  ];
}

/** That a GPU has the usual share of the machine with the least beside it, at each provider; together as sure as one belief. */
function usualShares(
  offers: readonly ComponentOffer[],
  model: string,
  place: (name: string) => number,
): readonly LogPrior[] {
  const own = offers.filter((offer) => offer.model === model && offer.gpus > 0);
  const providers = [...new Set(own.map(({ provider }) => provider))];
  return providers.map((provider) => ({
    target: Math.log(Math.min(...own.filter((offer) => offer.provider === provider).map(usualGpu))),
    weight: SURE.gpu / providers.length,
    slopes: [
      [place(gpuOf(model)), 1],
      [place(gpuLevelOf(provider)), 1],
    ],
  }));
}

const usualGpu = ({ covers, gpus, usdPerHour }: ComponentOffer): number =>
  (usdPerHour / gpus) * (covers === 'accelerator' ? 1 : START.gpuShare);

/** Of a provider's thirty sizes of one machine each says less: all together they weigh as the root of their number. */
function weightsOf(offers: readonly ComponentOffer[]): number[] {
  const groupOf = ({ provider, model, covers }: ComponentOffer): string => `${provider}\n${model ?? ''}\n${covers}`;
  const sizes = new Map<string, number>();
  for (const offer of offers) sizes.set(groupOf(offer), (sizes.get(groupOf(offer)) ?? 0) + 1);
  return offers.map((offer) => 1 / Math.sqrt(sizes.get(groupOf(offer)) ?? 1));
}

/** How far an offer is from the prediction, as a function of the parameters. */
function rowOf(places: ReadonlyMap<string, number>, weights: readonly number[]) {
  return (offer: ComponentOffer, index: number): ((parameters: readonly number[]) => LogRow) => {
    const { provider, model, gpus, vcpu, memoryGib } = offer;
    const place = (name: string): number => places.get(name) ?? -1;
    const level = place(model === undefined ? levelOf(provider) : gpuLevelOf(provider));
    const host = model === undefined ? -1 : place(hostOf(model));
    const gpu = model === undefined || gpus === 0 ? -1 : place(gpuOf(model));
    return (parameters) => {
      const log = (at: number): number => parameters[at] ?? 0;
      const ofGpu = gpu < 0 ? 0 : gpus * Math.exp(log(gpu));
      const ofVcpu = vcpu * Math.exp(log(host) + log(place(VCPU)));
      const ofMemory = memoryGib * Math.exp(log(host) + log(place(MEMORY)));
      const sum = ofGpu + ofVcpu + ofMemory;
      // The slope of a sum's logarithm is the part's share of the sum.
      const slopes = [
        [place(VCPU), ofVcpu / sum],
        [place(MEMORY), ofMemory / sum],
        [level, 1],
        [host, (ofVcpu + ofMemory) / sum],
        [gpu, ofGpu / sum],
      ] as const;
      return {
        residual: Math.log(offer.usdPerHour / sum) - log(level),
        weight: weights[index] ?? 0,
        slopes: slopes.filter(([at, slope]) => at >= 0 && slope > 0),
      };
    };
  };
}

/** The lower middle one. */
export function middle(values: readonly number[]): number | undefined {
  return values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) / 2)];
}
