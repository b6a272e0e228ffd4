import { describe, expect, test } from 'vitest';
import { FITTED_COMPONENTS } from '../facts/component-price.ts';
import { componentFitJson, componentFitPage, componentPricesPage } from './component-prices-page.ts';

const FIT = {
  asOf: '2026-08-22',
  offers: 12,
  providers: ['a', 'b'],
  models: [
    {
      model: 'H100',
      prices: { gpu: 4, vcpu: 0.02, memoryGib: 0.0025 },
      offers: 3,
      providers: ['a'],
      error: 0.123,
      errorLeftOut: undefined,
      usual: { gpus: 8, vcpu: 160, memoryGib: 1280, gpuShare: 0.8333 },
    },
    {
      model: 'Nobody',
      prices: { gpu: 0.5, vcpu: 0.02, memoryGib: 0.0025 },
      offers: 1,
      providers: ['b'],
      error: 0,
      errorLeftOut: 0.4,
      usual: { gpus: 1, vcpu: 8, memoryGib: 32, gpuShare: 0.6757 },
    },
  ],
  splitChecks: [
    {
      provider: 'a',
      instanceType: 'x',
      model: 'H100',
      gpus: 8,
      vcpu: 1,
      memoryGib: 1,
      gpuShare: 0.9,
      gpuShareFitted: 0.8,
    },
  ],
};

describe('a fit', () => {
  const page = componentFitPage(FIT);
  test('says first what it is made from', () => {
    expect(page[0]).toBe(
      'Parts of GPU machines, each by itself, dollars an hour: fitted from 12 offers of 2 providers, on demand, lists up to 2026-08-22.',
    );
  });
  test('has a line for each model, with what is in force beside it', () => {
    const [h100, nobody] = ['H100', 'Nobody'].map((model) => page.find((line) => line.startsWith(model)) ?? '');
    expect(h100).toMatch(
      /^H100 +\$4\.000 +\$0\.0200 +\$0\.00250 +3 +1 +12 % +– +8 GPU, 160 vCPU, 1280 GiB +83 % +8\d %$/,
    );
    expect(nobody).toMatch(/40 % +1 GPU, 8 vCPU, 32 GiB +68 % +none$/);
  });
  test('says how far off it is where that can be known', () => {
    expect(page.join('\n')).toContain('is off by 10 points of the machine in the median, by 10 at most (1 machine).');
  });
  test('is decimal text for programs', () => {
    expect(componentFitJson(FIT)).toMatchObject({
      asOf: '2026-08-22',
      models: [
        {
          model: 'H100',
          usdPerGpuHour: '4.000',
          usdPerVcpuHour: '0.02000',
          errorLeftOut: null,
          inForce: { model: 'H100' },
        },
        { model: 'Nobody', error: 0, errorLeftOut: 0.4, inForce: null },
      ],
    });
  });
  test('of nothing says what to import', () => {
    const empty = { asOf: undefined, offers: 0, providers: [], models: [], splitChecks: [] };
    expect(componentFitPage(empty, ' --data x')).toEqual([
      'No price of a GPU machine to fit from.',
      'Next: bursar import prices FILE|DIR… --data x; docs/component-prices.md says which lists serve.',
    ]);
  });
});

test('the prices in force stand with version and source', () => {
  const page = componentPricesPage();
  expect(page.filter((line) => / \$\d/.test(line))).toHaveLength(FITTED_COMPONENTS.length);
  expect(page.at(-2)).toBe(
    'Built in: fitted from the on-demand list prices of 24 providers, 2026-08-22; docs/component-prices.md says how.',
  );
});
