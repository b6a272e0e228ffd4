import { expect, it } from 'vitest';
import { walk } from './table-walk.ts';

/** Walks from one row to another over tables of so many rows, and says where it came: table and row. */
function walkFrom(sizes: readonly number[], start: readonly [number, number] | undefined, steps: readonly (-1 | 1)[]) {
  const places = sizes.map((_, table) => (start?.[0] === table ? start[1] : -1));
  const tables = sizes.map((size, table) => ({
    size,
    get place() {
      return places[table] ?? -1;
    },
    choose: (place: number) => void (places[table] = place),
    leave: () => void (places[table] = -1),
  }));
  for (const by of steps) walk(tables, by);
  return places.flatMap((place, table) => (place < 0 ? [] : [[table, place]]));
}

it.each([
  ['begins with the first row', [3, 2], undefined, [1], [0, 0]],
  ['or with the last', [3, 2], undefined, [-1], [1, 1]],
  ['moves in a table', [3, 2], [0, 0], [1, 1], [0, 2]],
  ['goes on in the next', [3, 2], [0, 2], [1], [1, 0]],
  ['and back', [3, 2], [1, 0], [-1], [0, 2]],
  ['past one without rows', [3, 0, 2], [0, 2], [1], [2, 0]],
  ['and stops at the last row', [3, 2], [1, 1], [1, 1], [1, 1]],
  ['and at the first', [3, 2], [0, 0], [-1, -1], [0, 0]],
] as const)('%s', (_, sizes, start, steps, want) => expect(walkFrom(sizes, start, steps)).toEqual([want]));

it('moves nowhere where there are no rows', () => expect(walkFrom([0, 0], undefined, [1])).toEqual([]));
