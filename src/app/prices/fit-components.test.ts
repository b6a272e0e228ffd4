import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { gpuShare, judgedFit } from './component-fit.ts';
import type { ComponentOffer } from './component-offers.ts';
import { fitComponents } from './fit-components.ts';

/** What the made-up market really asks: a vCPU 3 cents, a GiB half a cent. */
const TRUTH = { vcpu: 0.03, memoryGib: 0.005 };

const offer = (
  provider: string,
  usdPerHour: number,
  { model, gpus = 0, vcpu = 0, memoryGib = 0, ...rest }: Partial<ComponentOffer>,
): ComponentOffer => ({
  provider,
  instanceType: `${gpus}x${model ?? 'cpu'}-${vcpu}-${memoryGib}`,
  model,
  covers: 'instance',
  gpus,
  vcpu,
  memoryGib,
  usdPerHour,
  ...rest,
});

/** Machines without GPUs in five sizes and three amounts of memory. */
const hosts = (provider: string, level = 1): ComponentOffer[] =>
  [4, 8, 16, 32, 64].flatMap((vcpu) =>
    [2, 4, 8].map((perVcpu) => {
      const memoryGib = vcpu * perVcpu;
      return offer(provider, level * (vcpu * TRUTH.vcpu + memoryGib * TRUTH.memoryGib), { vcpu, memoryGib });
    }),
  );

/** The same GPU with hosts of four sizes. */
const machines = (provider: string, model: string, gpu: number, level = 1): ComponentOffer[] =>
  [8, 16, 32, 64].map((vcpu) => {
    const memoryGib = vcpu * 6;
    const price = gpu + vcpu * TRUTH.vcpu + memoryGib * TRUTH.memoryGib;
    return offer(provider, level * price, { model, gpus: 1, vcpu, memoryGib });
  });

const usual = { gpus: 1, vcpu: 16, memoryGib: 96 };
const shareOf = (offers: readonly ComponentOffer[], model: string): number => {
  const prices = fitComponents(offers).pricesOf(model);
  return prices === undefined ? Number.NaN : gpuShare(usual, prices);
};
const truly = (gpu: number): number => gpu / (gpu + 16 * TRUTH.vcpu + 96 * TRUTH.memoryGib);

describe('the parts of a made-up market are found again', () => {
  const market = ['a', 'b', 'c'].flatMap((provider) => [
    ...hosts(provider),
    ...machines(provider, 'H100', 4),
    ...machines(provider, 'T4', 0.4),
  ]);
  /** `near` in points of the machine: what is far from the usual share is pulled towards it, the more the less there is to see. */
  const cases: Record<string, { offers: ComponentOffer[]; model: string; want: number; near?: number }> = {
    'a dear GPU': { offers: market, model: 'H100', want: truly(4) },
    'a cheap GPU': { offers: market, model: 'T4', want: truly(0.4), near: 0.11 },
    'at a provider that asks half of everything': {
      offers: [...market, ...hosts('d', 0.5), ...machines('d', 'L4', 1.6, 0.5)],
      model: 'L4',
      want: truly(1.6),
    },
    'though one price in five is ten times too high': {
      offers: market.map((each, index) => (index % 5 === 0 ? { ...each, usdPerHour: each.usdPerHour * 10 } : each)),
      model: 'H100',
      want: truly(4),
    },
    'where GPUs and hosts are only sold apart': {
      offers: [
        ...hosts('g'),
        offer('g', 8 * 2, { model: 'A100', gpus: 8, covers: 'accelerator' }),
        offer('g', 2, { model: 'A100', gpus: 1, covers: 'accelerator' }),
      ],
      model: 'A100',
      want: truly(2),
    },
  };
  test.each(Object.entries(cases))('%s', (_, { offers, model, want, near = 0.05 }) => {
    expect(Math.abs(shareOf(offers, model) - want), String(want)).toBeLessThan(near);
  });
});

test('a GPU that one specialist sells in one size has about the usual share of its machine, not what is left of it', () => {
  const specialist = offer('cheap', 1.1, { model: 'L40S', gpus: 1, vcpu: 16, memoryGib: 96 });
  // A host alone would cost 96 cents elsewhere, and would leave an eighth of the price for the GPU.
  const share = shareOf([...hosts('a'), ...machines('a', 'H100', 4), specialist], 'L40S');
  expect(share).toBeGreaterThan(0.5);
  expect(share).toBeLessThan(0.85);
});

test('a model nobody offers has no price', () => {
  expect(fitComponents(hosts('a')).pricesOf('H100')).toBeUndefined();
});

test('all prices times anything is the same split', () => {
  const market = [...hosts('a'), ...machines('a', 'H100', 4), ...machines('b', 'H100', 3)];
  const once = shareOf(market, 'H100');
  fc.assert(
    fc.property(fc.double({ min: 0.5, max: 2, noNaN: true }), (factor) => {
      const scaled = market.map((each) => ({ ...each, usdPerHour: each.usdPerHour * factor }));
      expect(Math.abs(shareOf(scaled, 'H100') - once)).toBeLessThan(0.05);
    }),
    { numRuns: 10 },
  );
});

describe('how well it is known', () => {
  test('a provider that prices GPUs apart is asked about without having been seen', () => {
    const apart = [
      ...hosts('g'),
      offer('g', 4, { model: 'H100', gpus: 1, covers: 'accelerator' }),
      offer('g', 0.96, { model: 'H100', covers: 'host', gpusBeside: 1, vcpu: 16, memoryGib: 96 }),
    ];
    const { splitChecks } = judgedFit([...hosts('a'), ...machines('a', 'H100', 4), ...apart]);
    expect(splitChecks).toHaveLength(1);
    expect(splitChecks[0]?.gpuShare).toBeCloseTo(4 / 4.96, 6);
    expect(Math.abs((splitChecks[0]?.gpuShareFitted ?? 0) - 4 / 4.96)).toBeLessThan(0.04);
  });

  test('who alone offers a model cannot be left out', () => {
    const { models } = judgedFit([...hosts('a'), ...machines('a', 'H100', 4), ...machines('b', 'T4', 0.4)]);
    expect(models.map(({ model, errorLeftOut, providers }) => ({ model, errorLeftOut, providers }))).toEqual([
      { model: 'H100', errorLeftOut: undefined, providers: ['a'] },
      { model: 'T4', errorLeftOut: undefined, providers: ['b'] },
    ]);
    expect(models.every(({ error }) => error < 0.15)).toBe(true);
  });

  test('a GPU is never less than a tenth of its machine', () => {
    const givenAway = [8, 16, 32, 64].map((vcpu) =>
      offer('b', 1.001 * (vcpu * TRUTH.vcpu + vcpu * 6 * TRUTH.memoryGib), {
        model: 'T4',
        gpus: 1,
        vcpu,
        memoryGib: vcpu * 6,
      }),
    );
    const { models } = judgedFit([...hosts('a'), ...hosts('b'), ...givenAway, ...givenAway, ...givenAway]);
    expect(models[0]?.usual.gpuShare).toBeGreaterThanOrEqual(0.1 - 1e-9);
  });
});
