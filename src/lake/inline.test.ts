import { expect, it } from 'vitest';
import { inline } from './engine.ts';

const now = new Date('2026-03-02T10:00:00Z');

it.each([
  ['a name is replaced', 'SELECT $now', "SELECT TIMESTAMP '2026-03-02 10:00:00'"],
  ['what somebody typed is text, also where it looks like one', "id = 'a$now'", "id = 'a$now'"],
  [
    'a quote that is doubled does not end it',
    "id = 'it''s $now' AND at < $now",
    "id = 'it''s $now' AND at < TIMESTAMP '2026-03-02 10:00:00'",
  ],
  ['nor in a name of a column', 'SELECT 1 AS "$now"', 'SELECT 1 AS "$now"'],
  ['a value that has a name in it is not replaced again', 'id = $id', "id = 'x $now'"],
  ['what nobody gave stays', 'SELECT $other', 'SELECT $other'],
  ['numbers and nothing', '$count, $none', '7, NULL'],
])('%s', (_, sql, want) => {
  expect(inline(sql, { now, id: 'x $now', count: 7n, none: null })).toBe(want);
});
