import { describe, expect, it } from 'vitest';
import type { GresItem } from './tres.ts';
import { memoryBytes, migSlots, parseGres, parseTres } from './tres.ts';

describe('parseTres', () => {
  const cases: Record<string, { text: string; gpus: number | undefined; types?: object; cpus?: number }> = {
    'a type counts the same GPUs as the total': {
      text: 'billing=400,cpu=2,gres/gpu:h100=4,gres/gpu=4,mem=2000M,node=2',
      gpus: 4,
      types: { h100: 4 },
      cpus: 2,
    },
    'types are added up only where the total is missing': {
      text: 'gres/gpu:h100=2,gres/gpu:a100=1',
      gpus: 3,
      types: { h100: 2, a100: 1 },
    },
    'a job without GPUs says nothing about them': { text: 'cpu=8,mem=24000M,node=1', gpus: undefined, cpus: 8 },
    'measured use is not a count': { text: 'gres/gpumem=1024M,gres/gpuutil=55', gpus: undefined },
  };
  it.each(Object.entries(cases))('%s', (_, { text, gpus, types = {}, cpus }) => {
    const tres = parseTres(text);
    expect(tres?.gpus).toBe(gpus);
    expect(Object.fromEntries(tres?.gpuTypes ?? [])).toEqual(types);
    expect(tres?.cpus).toBe(cpus);
  });
  it('says nothing where nothing is said', () => expect(parseTres('')).toBeUndefined());
});

it.each([
  ['64G', 64 * 1024 ** 3],
  ['62.50G', 62.5 * 1024 ** 3],
  ['2000M', 2000 * 1024 ** 2],
  ['31000Mn', 31000 * 1024 ** 2],
  ['500', 500 * 1024 ** 2],
  ['lots', undefined],
])('memory %s', (text, want) => expect(memoryBytes(text)).toBe(want));

describe('parseGres', () => {
  const cases: Record<string, { text: string; want: readonly GresItem[] | undefined }> = {
    'places of a running job': { text: 'gpu:h100:2(IDX:0-1)', want: [{ type: 'h100', count: 2, indices: [0, 1] }] },
    'places with holes': { text: 'gpu:tesla:3(IDX:0,2-3)', want: [{ type: 'tesla', count: 3, indices: [0, 2, 3] }] },
    'none in use': { text: 'gpu:h100:0(IDX:N/A)', want: [{ type: 'h100', count: 0 }] },
    'sockets of a node': { text: 'gpu:a100:8(S:0-1)', want: [{ type: 'a100', count: 8 }] },
    'two types': {
      text: 'gpu:tesla:2(S:0-1),gpu:kepler:2(S:0-1)',
      want: [
        { type: 'tesla', count: 2 },
        { type: 'kepler', count: 2 },
      ],
    },
    'without a type': { text: 'gpu:8', want: [{ count: 8 }] },
    'as sbatch was told, old': { text: 'gres:gpu:h100:4', want: [{ type: 'h100', count: 4 }] },
    'as sbatch was told, new': { text: 'gres/gpu:12', want: [{ count: 12 }] },
    'old versions list places without a count': { text: 'gpu(IDX:2,5)', want: [{ count: 2, indices: [2, 5] }] },
    'a slice': { text: 'gpu:1g.10gb:7', want: [{ type: '1g.10gb', count: 7 }] },
    'other resources are passed over': { text: 'craynetwork:4,gpu:2', want: [{ count: 2 }] },
    nothing: { text: '(null)', want: [] },
    'not of Slurm': { text: 'gpu:h100:two(', want: undefined },
  };
  it.each(Object.entries(cases))('%s', (_, { text, want }) => expect(parseGres(text)).toEqual(want));
});

it.each([
  ['h100', undefined],
  ['a100_1g.5gb', 1],
  ['nvidia_a100_3g.20gb', 4],
  ['1g.20gb', 2],
  ['7g.80gb', 8],
  ['h100_80gb', undefined],
])('%s stands for %s of eight memory slots', (type, want) => expect(migSlots(type)).toBe(want));
