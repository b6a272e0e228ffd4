import { expect, it } from 'vitest';
import type { Snapshot } from '../facts/manifest.ts';
import { keptDays } from './kept-days.ts';

const TABLES = ['ledger_entry', 'waterfall'];

/** A state of the lake whose days have this content: `ledger_entry 2026-03-02 a`. */
function state(...units: readonly string[]): Snapshot {
  const derived = units.map((text) => {
    const [table = '', unit = '', contentHash = ''] = text.split(' ');
    return { table, unit, inputHash: '', file: { contentHash } };
  });
  return { derived } as unknown as Snapshot;
}

const MONDAY = { first: '2026-03-02', last: '2026-03-02', rows: 1 };
const BEFORE = state(
  'ledger_entry 2026-03-02 a',
  'waterfall 2026-03-02 b',
  'subject 2026-03-02 c',
  'waterfall 2026-03-03 d',
);

it.each([
  { name: 'the same days are looked at once', after: BEFORE, want: 1 },
  {
    name: 'other days and other tables change nothing',
    after: state(
      'waterfall 2026-03-02 b',
      'ledger_entry 2026-03-02 a',
      'subject 2026-03-02 z',
      'waterfall 2026-03-03 z',
    ),
    want: 1,
  },
  {
    name: 'a day whose content changed is looked at again',
    after: state('ledger_entry 2026-03-02 a', 'waterfall 2026-03-02 z'),
    want: 2,
  },
  { name: 'and so is one that lost a table', after: state('ledger_entry 2026-03-02 a'), want: 2 },
])('$name', async ({ after, want }) => {
  let looks = 0;
  const look = keptDays(TABLES, async () => ({ look: (looks += 1) }), new Map());
  await look.of(BEFORE, MONDAY);
  expect(look.knows(after, MONDAY)).toBe(want === 1);
  await look.of(after, MONDAY);
  expect(looks).toBe(want);
});

it('what failed is not kept', async () => {
  const kept = new Map<string, object>();
  await expect(
    keptDays(TABLES, async () => Promise.reject(new Error('no time')), kept).of(BEFORE, MONDAY),
  ).rejects.toThrow('no time');
  expect(await keptDays(TABLES, async () => ['whole'], kept).of(BEFORE, MONDAY)).toEqual(['whole']);
});
