import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FITTED_COMPONENTS } from '../../facts/component-price.ts';
import { withReader } from '../workspace.ts';
import { componentFit, gpuShare } from './component-fit.ts';
import type { ComponentFit } from './component-fit.ts';
import { componentOffers } from './component-offers.ts';
import { takeInPrices } from './take-in-prices.ts';

const CATALOGS = fileURLToPath(new URL('../../../../shared/data/prices/skypilot-catalog-2026-08-22', import.meta.url));
const isThere = existsSync(CATALOGS);
if (!isThere) console.warn(`no real price lists at ${CATALOGS}: the built-in component prices are not fitted anew`);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bursar-components-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test('one offer for each machine, at the middle of its regions; what says nothing about parts is left out', async () => {
  const list = join(folder, 'list.csv');
  const rows = [
    'provider,region,instance_type,accelerator,accelerator_count,covers,vcpu,memory_gib,usd_per_hour,as_of,purchase',
    'acme,r1,box,H100,8,instance,96,768,20,2026-01-01,on-demand',
    'acme,r2,box,H100,8,instance,96,768,22,2026-01-01,on-demand',
    'acme,r3,box,H100,8,instance,96,768,90,2026-01-01,on-demand',
    'acme,r1,box,H100,8,instance,96,768,10,2025-01-01,on-demand', // Older.
    'acme,r1,box,H100,8,instance,96,768,5,2026-01-01,spot',
    'acme,r1,cpu,,0,instance,8,32,0.4,2026-01-01,on-demand',
    'acme,r1,cpu-2,,0,instance,8,32,0.6,2026-01-01,on-demand', // The same shape: the middle of both.
    'acme,r1,huge-memory,,0,instance,8,512,4,2026-01-01,on-demand',
    'acme,r1,chips,TPU-v5e,8,instance,96,768,9,2026-01-01,on-demand',
    'acme,r1,mystery,Nobody Knows 9000,8,instance,96,768,9,2026-01-01,on-demand',
    'gcp,r1,a4-highgpu-8g,,0,host,224,3968,0,2026-01-01,on-demand', // Free, so its GPUs' price has it in.
    'gcp,r1,,B200,8,accelerator,,,90,2026-01-01,on-demand',
    'gcp,r1,g2-standard-24,,0,host,24,96,0.9,2026-01-01,on-demand',
    'gcp,r1,,L4,2,accelerator,,,1.2,2026-01-01,on-demand',
  ];
  await writeFile(list, `${rows.map((row) => row.replace(/ \/\/.*/, '')).join('\n')}\n`);
  const data = join(folder, 'small');
  await takeInPrices({ dataDir: data, paths: [list] });
  const { offers, asOf } = await withReader(data, (space) => componentOffers(space, new Date('2026-06-01')));
  expect(asOf).toBe('2026-01-01');
  expect(
    offers.map(({ instanceType, model, gpus, gpusBeside, usdPerHour }) => [
      instanceType,
      model,
      gpus,
      gpusBeside,
      usdPerHour,
    ]),
  ).toEqual([
    ['box', 'H100', 8, undefined, 22],
    ['', 'L4', 2, undefined, 1.2],
    ['g2-standard-24', 'L4', 0, 2, 0.9],
    ['cpu', undefined, 0, undefined, 0.4],
  ]);
});

describe.skipIf(!isThere)('the catalogs of 24 clouds', { timeout: 240_000 }, () => {
  let fit: ComponentFit;
  beforeAll(async () => {
    const data = join(folder, 'catalogs');
    await takeInPrices({ dataDir: data, paths: [CATALOGS] });
    fit = await withReader(data, (space) => componentFit(space, new Date('2026-08-23')));
  }, 240_000);

  test('give the built-in table again: each GPU’s share of its usual machine to a point, and no model more or less', () => {
    const far = fit.models.flatMap(({ model, usual }) => {
      const row = FITTED_COMPONENTS.find((price) => price.model === model);
      if (row === undefined) return [`${model} is missing`];
      const stated = {
        gpu: Number(row.usdPerGpuHour),
        vcpu: Number(row.usdPerVcpuHour),
        memoryGib: Number(row.usdPerMemoryGibHour),
      };
      return Math.abs(gpuShare(usual, stated) - usual.gpuShare) > 0.01
        ? [`${model}: ${gpuShare(usual, stated)} for ${usual.gpuShare}`]
        : [];
    });
    expect(far).toEqual([]);
    expect(FITTED_COMPONENTS.map(({ model }) => model)).toEqual(fit.models.map(({ model }) => model));
    expect(new Set(FITTED_COMPONENTS.map(({ asOf }) => asOf))).toEqual(new Set([fit.asOf]));
  });

  test('without Google Cloud the fit says its splits of A100, H100 and H200 machines to twelve points', () => {
    const checked = fit.splitChecks.filter(({ instanceType }) => /^a[23]-/.test(instanceType));
    expect(checked.length).toBeGreaterThanOrEqual(15);
    const far = checked.filter(({ gpuShare: own, gpuShareFitted }) => Math.abs(own - gpuShareFitted) > 0.12);
    expect(far).toEqual([]);
  });
});
