import fc from 'fast-check';
import { expect, it } from 'vitest';
import { segmentOf } from './segment.ts';

it('any name comes back from the address as it was', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }), (name) => {
      expect(segmentOf(`/teams/${encodeURIComponent(name)}`, 1)).toBe(name);
    }),
  );
});

it.each([
  ['/teams/50%25', '50%'],
  ['/teams/50%', '50%'],
  ['/teams/%2541', '%41'],
  ['/teams/a%2Fb', 'a/b'],
  ['/teams', ''],
])('%s names %s', (path, name) => expect(segmentOf(path, 1)).toBe(name));
