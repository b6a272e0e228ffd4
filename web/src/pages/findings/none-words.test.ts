import { expect, it } from 'vitest';
import { chosenWords, noneWords } from './none-words.ts';

it.each([
  [{}, undefined],
  [{ state: 'dismissed' }, 'dismissed'],
  [{ state: 'exempt,back', category: 'idle', window: '7d' }, 'exempt or back again, Idle'],
  [{ team: 'nlp', owner: 'ada' }, 'nlp, ada'],
])('%j narrows by %s', (words, want) => expect(chosenWords(words)).toBe(want));

it.each([
  [{ chosen: undefined, listed: 0, days: 30 }, 'Nothing to do: no finding in these 30 days.'],
  [{ chosen: undefined, listed: 0, days: 1 }, 'Nothing to do: no finding on this day.'],
  [{ chosen: 'dismissed', listed: 0, days: 30 }, 'No finding matches the filter (dismissed) in these 30 days.'],
  [{ chosen: 'exempt', listed: 1, days: 30 }, '1 finding matches the filter (exempt); it is not to do.'],
  [{ chosen: 'exempt', listed: 7, days: 30 }, '7 findings match the filter (exempt); none of them is to do.'],
])('%j', (none, want) => expect(noneWords(none)).toBe(want));
