import { expect, it } from 'vitest';
import { emptyWords, isNothing } from './empty-words.ts';

it.each([
  [{ usdMicros: null, gpuSeconds: 0 }, true],
  [{ usdMicros: '0', gpuSeconds: 0 }, true],
  [{ usdMicros: '5', gpuSeconds: 0 }, false],
  [{ usdMicros: null, gpuSeconds: 3600 }, false],
])('%j is nothing: %s', (amount, want) => expect(isNothing(amount)).toBe(want));

it.each([
  [
    { team: undefined, towards: '[' },
    'No facts lie in this window: press [ for the window before, or choose another above; bursar import brings more in.',
  ],
  [
    { team: 'nlp', filter: '', towards: ']' },
    'No facts of nlp lie in this window: press ] for the window after, or choose another above; bursar import brings more in.',
  ],
  [
    { team: undefined, filter: 'model=X', towards: '[' },
    'Nothing in this window matches the filter: take a filter off, or choose another window above.',
  ],
] as const)('a filter is spoken of only where there is one: %j', (asked, want) => expect(emptyWords(asked)).toBe(want));
