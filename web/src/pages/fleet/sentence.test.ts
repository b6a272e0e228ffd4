import { expect, it } from 'vitest';
import { whenWords } from './sentence.tsx';

it.each([
  ['2026-10-31T00:00:00Z', '2026-11-01T00:00:00Z', 'on 31 Oct'],
  ['2026-10-31T00:00:00Z', '2026-10-31T09:00:00Z', 'on 31 Oct'],
  ['2026-10-02T00:00:00Z', '2026-11-01T00:00:00Z', 'at some time from 2 Oct to 31 Oct'],
])('GPUs of %s to %s were there %s', (from, until, want) => expect(whenWords({ from, until })).toBe(want));
