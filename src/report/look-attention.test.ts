import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { attention } from './look-attention.ts';

const unpriced = (model: string | null) => ({ model, gpuUnits: 0n, billedBy: null, wantsRateOf: null });
const lineOf = (...models: (string | null)[]): string =>
  attention(
    {
      unpriced: models.map(unpriced),
      unlistedNodes: [],
      conflictUnits: 0n,
      notPosted: [],
      staleRows: 0,
      missing: [],
    },
    '',
  )[0] ?? '';

/** What a shell prints that is given the first command of the line. */
function pasted(line: string): string {
  const command = line.slice(line.indexOf('printf '), line.lastIndexOf(' | bursar'));
  return execFileSync('sh', ['-c', command], { encoding: 'utf8' });
}

test.each([
  ['one model', ['NVIDIA H100 80GB HBM3'], 'NVIDIA H100 80GB HBM3,USD\n'],
  [
    'two models people call the same are two prices',
    ['NVIDIA H100 80GB HBM3', 'NVIDIA H100 PCIe'],
    'NVIDIA H100 80GB HBM3,USD\nNVIDIA H100 PCIe,USD\n',
  ],
  ['a model nobody knows is any model', [null], '*,USD\n'],
  [
    'a name that looks like a command runs nothing',
    ['\'; echo $(id) %s, "x" \\'],
    '"\'; echo $(id) %s, ""x"" \\",USD\n',
  ],
])('the command that states a price names the whole model: %s', (_, models, want) => {
  expect(pasted(lineOf(...models))).toBe(`model,usd_per_gpu_hour\n${want}`);
});

test('people read the short name, once', () => {
  expect(lineOf('NVIDIA H100 80GB HBM3', 'NVIDIA H100 PCIe')).toMatch(/^No price: \S+ GPU-hours? of H100\. Say/);
});
