import { describe, expect, test } from 'vitest';
import { notPortable } from '../../test/tidy/portable-sql.ts';
import { ACCELERATOR_REFERENCES } from './accelerator-reference.ts';
import { ACCELERATORS, acceleratorNamed, listedAccelerator } from './accelerators.ts';
import { wordsOf } from './accelerators/accelerator.ts';
import { LIST_PRICES } from './list-price.ts';
import { PRICE_SERIES } from './price-series.ts';
import { providerKey } from './provider-name.ts';

describe('an accelerator is known by', () => {
  test.each([
    ['NVIDIA H100 80GB HBM3', 'H100'],
    ['NVIDIA H100 PCIe', 'H100-PCIe'],
    ['NVIDIA H100 NVL', 'H100-NVL'],
    ['NVIDIA A100-SXM4-80GB', 'A100-80GB'],
    ['NVIDIA A100 80GB PCIe', 'A100-80GB-PCIe'],
    ['NVIDIA A100-SXM4-40GB', 'A100'],
    ['NVIDIA L40S', 'L40S'],
    ['NVIDIA L4', 'L4'],
    ['Tesla V100-SXM2-32GB', 'V100-32GB'],
    ['NVIDIA GeForce RTX 4090', 'RTX4090'],
    ['NVIDIA RTX 6000 Ada Generation', 'RTX6000-Ada'],
    ['AMD Instinct MI300X', 'MI300X'],
    ['AWS Trainium2', 'Trainium2'],
    ['tpu-v5-lite-podslice', 'TPU-v5e'],
    ['NVIDIA L400', undefined],
    ['', undefined],
  ])('%s', (name, want) => expect(acceleratorNamed(name)?.id).toBe(want));
});

describe('a price list means, by', () => {
  test.each([
    ['A100-80G-PCIe', 'A100-80GB-PCIe', 1],
    ['RTXA6000', 'RTX-A6000', 1],
    ['NVIDIA B200 Blackwell', 'B200', 1],
    ['GAUDI2', 'Gaudi2', 1],
    ['tpu-v5p-8', 'TPU-v5p', 4],
    ['tpu-v3-2048', 'TPU-v3', 1024],
    ['tpu-v6e-8', 'TPU-v6e', 8],
    ['tpu-v5litepod-16', 'TPU-v5e', 16],
    // Has a price of its own, beside that of the H100.
    ['H100-MEGA', 'H100-MEGA', 1],
    ['Qualcomm AI100', 'Qualcomm AI100', 1],
  ])('%s: %s × %d', (name, id, count) => expect(listedAccelerator(name)).toMatchObject({ id, count }));

  test('H100-MEGA is compared with the H100', () => expect(listedAccelerator('H100-MEGA').comparable).toBe('H100'));
});

describe('the table of accelerators', () => {
  test('has every name once, and finds each by it', () => {
    const names = ACCELERATORS.flatMap(({ names: own }) => own.map(wordsOf));
    expect(new Set(names).size).toBe(names.length);
    for (const { id, names: own } of ACCELERATORS) for (const name of own) expect(acceleratorNamed(name)?.id).toBe(id);
  });

  test.each(ACCELERATORS.map((each) => [each.id, each] as const))('%s is no slip of the pen', (_, accelerator) => {
    const { memoryGib, bandwidthGbS, powerW, denseTflops, source } = accelerator;
    const figures = [memoryGib, bandwidthGbS, powerW, ...Object.values(denseTflops)].filter(
      (each) => each !== undefined,
    );
    expect(Math.min(...figures)).toBeGreaterThan(0);
    // Narrower numbers are never slower, and half precision is at most twice as fast as FP8 is slow.
    const { bf16 = 0, fp8 = Infinity, fp4 = Infinity } = denseTflops;
    expect(fp8).toBeGreaterThanOrEqual(bf16);
    expect(fp4).toBeGreaterThanOrEqual(fp8 === Infinity ? 0 : fp8);
    // A sparse rate would be twice the dense one: FP8 is never four times BF16.
    expect((denseTflops.fp8 ?? 0) / (denseTflops.bf16 ?? Infinity)).toBeLessThan(3.9);
    expect(source).not.toBe('');
  });

  test('is what reference prices are of', () => {
    for (const { id } of ACCELERATOR_REFERENCES) expect(ACCELERATORS.map((each) => each.id)).toContain(id);
  });
});

test('a list price is found by the name a driver gives', () => {
  const named = (listed: string): string | undefined =>
    LIST_PRICES.filter(({ model }) => wordsOf(listed).includes(wordsOf(model))).toSorted(
      (a, b) => b.model.length - a.model.length,
    )[0]?.usdPerGpuHour;
  expect(named('NVIDIA RTX A6000')).toBe('0.53');
  expect(named('NVIDIA GH200 480GB')).toBe('2.29');
  expect(named('NVIDIA A100-SXM4-80GB')).toBe('3.431');
});

test('bills and price lists meet under one name', () => {
  expect(['Google Cloud', 'AWS', 'Microsoft', 'Lambda Labs', 'Somebody'].map(providerKey)).toEqual([
    'gcp',
    'aws',
    'azure',
    'lambda',
    'somebody',
  ]);
});

test('prices in force are found by SQL that every engine reads the same', () =>
  expect(notPortable(PRICE_SERIES)).toEqual([]));
