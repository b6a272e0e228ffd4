import { describe, expect, it } from 'vitest';
import { OperationError } from '../facts/operation-error.ts';
import type { Source, SourceHealth } from '../facts/source.ts';
import { checkSources } from './check-sources.ts';

const never = new AbortController().signal;
const fine: SourceHealth = { state: 'ok', says: 'fine', advice: [] };

function source(name: string, check: Source['check']): Source {
  return {
    name,
    kind: 'scrape',
    reads: name,
    priority: 1,
    pollS: 60,
    check,
    pull: () => ({ [Symbol.asyncIterator]: () => ({ next: async () => ({ done: true, value: undefined }) }) }),
  };
}

describe('sources are asked side by side', () => {
  it.each<[string, Source['check'], Partial<SourceHealth>]>([
    ['one that answers', async () => fine, fine],
    [
      'one that never answers and does not listen',
      () => new Promise(() => undefined),
      { state: 'down', says: 'no answer within 0 s' },
    ],
    [
      'one that stops when told to',
      (signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
      { state: 'down', says: 'no answer within 0 s' },
    ],
    [
      'one that breaks its promise and throws',
      () => Promise.reject(new OperationError('x', 'broken', { hint: 'Mend it.' })),
      { state: 'down', says: 'broken', todo: 'Mend it.' },
    ],
  ])('%s', async (_, check, want) => {
    const [checked, other] = await checkSources([source('a', check), source('b', async () => fine)], never, 200);
    expect(checked?.health).toMatchObject(want);
    expect(other?.health).toEqual(fine);
  });

  it('a mistake of ours is not called the world’s', async () => {
    const mistaken = source('a', () => Promise.reject(new TypeError('x is not a function')));
    await expect(checkSources([mistaken], never, 200)).rejects.toThrow(TypeError);
  });
});
