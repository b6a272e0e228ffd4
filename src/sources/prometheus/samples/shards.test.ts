import { describe, expect, it } from 'vitest';
import { shardsFor } from './shards.ts';

describe('an hour of a large fleet is read in parts', () => {
  const cases: Record<string, { series: number; stepS: number; label?: string; want: number }> = {
    'ten thousand GPUs at once': { series: 10_000, stepS: 30, label: 'UUID', want: 1 },
    'a hundred thousand in four parts and the others': { series: 100_000, stepS: 30, label: 'UUID', want: 5 },
    'a million in sixteen parts and the others': { series: 1_000_000, stepS: 30, label: 'UUID', want: 17 },
    'without ids there is nothing to part them by': { series: 1_000_000, stepS: 30, want: 1 },
  };
  it.each(Object.entries(cases))('%s', (_, { series, stepS, label, want }) => {
    expect(shardsFor(series, stepS, label).length).toBe(want);
  });

  it.each([100_000, 1_000_000])('each id is in exactly one part of %d', (series) => {
    const parts = shardsFor(series, 30, 'UUID').map(({ matcher = '' }) => {
      const [, operator, expression] = /^UUID(=~|!~)"(.*)"$/.exec(matcher) ?? [];
      return (id: string) => new RegExp(`^(?:${expression})$`, 's').test(id) === (operator === '=~');
    });
    for (const id of ['GPU-0', 'GPU-3', 'GPU-4', 'GPU-a', 'GPU-F', 'serial-Z', '', 'x/gpu9', 'GPU-c', 'MIG-é']) {
      expect(parts.filter((isIn) => isIn(id)).length, id).toBe(1);
    }
  });
});
