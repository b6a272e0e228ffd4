import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { AWS_TYPE_NAMES, awsGpus, azureGpus, gcpGpus, isPartOfGpu } from './instance-gpus.ts';
import type { GpusOfType } from './instance-gpus.ts';

const t4 = [{ type: 'nvidia-tesla-t4', count: 2 }];

const cases: Record<string, { got: GpusOfType; want: GpusOfType }> = {
  'eight H100 of a p5': { got: awsGpus('p5.48xlarge'), want: { model: 'H100', count: 8 } },
  'the small p5 has one': { got: awsGpus('p5.4xlarge'), want: { model: 'H100', count: 1 } },
  'p4d and p4de differ in memory, so in model': {
    got: awsGpus('p4de.24xlarge'),
    want: { model: 'A100-80GB', count: 8 },
  },
  'an eighth of a GPU is no whole one: no list price of an L4 fits it': {
    got: awsGpus('g6f.large'),
    want: { model: '1/8L4', count: 1 },
  },
  'Trainium counts chips': { got: awsGpus('trn1.32xlarge'), want: { model: 'Trainium', count: 16 } },
  'a family nobody here knows is said, not dropped': { got: awsGpus('p9.96xlarge'), want: 'unknown' },
  'a machine for general use has none': { got: awsGpus('m7i.large'), want: 'none' },
  'an FPGA is no GPU': { got: awsGpus('f2.6xlarge'), want: 'none' },
  'a word that begins like a family': { got: awsGpus('g'), want: 'none' },
  'built-in GPUs are not added to the same ones listed as guests': {
    got: gcpGpus('a3-highgpu-8g', [{ type: 'nvidia-h100-80gb', count: 8 }]),
    want: { model: 'H100', count: 8 },
  },
  'an N1 machine has what was attached': { got: gcpGpus('n1-standard-8', t4), want: { model: 'T4', count: 2 } },
  'with a workstation licence it is the same GPU': {
    got: gcpGpus('n1-standard-8', [{ type: 'nvidia-tesla-t4-vws', count: 1 }]),
    want: { model: 'T4', count: 1 },
  },
  'an accelerator that is new goes by its own name': {
    got: gcpGpus('n9-standard-8', [{ type: 'nvidia-q700', count: 1 }]),
    want: { model: 'Q700', count: 1 },
  },
  'four TPU chips': { got: gcpGpus('ct5lp-hightpu-4t', []), want: { model: 'TPU v5e', count: 4 } },
  'a machine family of tomorrow': { got: gcpGpus('a5-highgpu-8g', []), want: 'unknown' },
  'no GPU attached': { got: gcpGpus('n1-standard-8', []), want: 'none' },
  'sizes are compared without case': {
    got: azureGpus('standard_nc24ads_a100_V4'),
    want: { model: 'A100-80GB', count: 1 },
  },
  'eight, whatever a catalog says': { got: azureGpus('Standard_ND96isr_H100_v5'), want: { model: 'H100', count: 8 } },
  'a sixth of an A10': { got: azureGpus('Standard_NV6ads_A10_v5'), want: { model: '1/6A10', count: 1 } },
  'a promotional size is the size': { got: azureGpus('Standard_NC12_Promo'), want: { model: 'K80', count: 2 } },
  'FPGAs of Azure': { got: azureGpus('Standard_NP10s'), want: 'none' },
  'a size of tomorrow': { got: azureGpus('Standard_ND999_v9'), want: 'unknown' },
};

describe('GPUs of a machine type', () => {
  it.each(Object.entries(cases))('%s', (_, { got, want }) => {
    expect(got).toEqual(want);
  });

  it('fits into one filter of EC2, which takes 200 values', () => {
    expect(AWS_TYPE_NAMES.length).toBeGreaterThan(90);
    expect(AWS_TYPE_NAMES.length).toBeLessThan(190);
  });
});

const catalogs = fileURLToPath(new URL('../../../../shared/data/prices/skypilot-catalog-2026-08-22/', import.meta.url));
const has = existsSync(catalogs);
if (!has) process.stderr.write('skipped: GPU counts against price catalogs, ../shared/data/prices is not here\n');

describe.skipIf(!has)('GPU counts of a real price catalog', () => {
  /** The catalog is wrong about this one: Azure documents eight. */
  const WRONG = new Set(['Standard_ND96isr_H100_v5']);

  it.each([
    ['v7_aws_vms.csv', (type: string) => awsGpus(type)],
    ['v8_azure_vms.csv', (type: string) => azureGpus(type)],
  ])('%s', (file, gpusOf) => {
    const [header = '', ...lines] = readFileSync(`${catalogs}${file}`, 'utf8').trim().split('\n');
    const columns = header.split(',');
    const told = new Map<string, number>();
    for (const line of lines) {
      // Only GpuInfo holds commas, and it stands behind the columns read here.
      const cells = line.split(',');
      const cell = (name: string): string => cells[columns.indexOf(name)] ?? '';
      if (cell('AcceleratorName') !== '' && !/Virtex/.test(line))
        told.set(cell('InstanceType'), Number(cell('AcceleratorCount')));
    }
    expect(told.size).toBeGreaterThan(35);
    const differing = [...told].flatMap(([type, count]) => {
      const gpus = gpusOf(type);
      const ours = typeof gpus === 'string' ? gpus : isPartOfGpu(gpus) ? Math.min(count, 1) : gpus.count;
      return ours === count || WRONG.has(type) ? [] : [`${type}: catalog ${count}, table ${String(ours)}`];
    });
    expect(differing).toEqual([]);
  });
});
