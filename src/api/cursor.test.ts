import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pageOf, Paging, questionOf } from './cursor.ts';

const keyOf = (row: string): string => row;
const page = (rows: readonly string[], cursor: string | undefined, limit = 2, asked: object = {}) =>
  pageOf(rows, { limit, cursor, question: questionOf({ ...asked, limit, cursor }), keyOf });

describe('pages of a list', () => {
  it('together are the list, whatever the size of a page', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string()), fc.integer({ min: 1, max: 7 }), (rows, limit) => {
        const read: string[] = [];
        let cursor: string | undefined;
        do {
          const { rows: some, nextCursor, totalRows } = page(rows, cursor, limit);
          expect(totalRows).toBe(rows.length);
          read.push(...some);
          cursor = nextCursor ?? undefined;
        } while (cursor !== undefined);
        expect(read).toEqual(rows);
      }),
    );
  });

  it('a cursor of before goes on after its row, wherever that stands now', () => {
    const { nextCursor } = page(['a', 'b', 'c', 'd'], undefined);
    expect(page(['new', 'a', 'b', 'c', 'd'], nextCursor ?? '', 3).rows).toEqual(['c', 'd']);
  });

  it('a cursor is taken back however long its row is called, and goes on at the right one', () => {
    const long = ['\u0000', 'é', '訓', '"', 'x'].flatMap((letter) => [letter.repeat(100), letter.repeat(1_000_000)]);
    for (let place = 1; place < long.length; place++) {
      const cursor = Paging.cursor.parse(page(long, undefined, place).nextCursor);
      expect(page(long, cursor, 99).rows.length).toBe(long.length - place);
      expect(page(['new', ...long], cursor, 99).rows.length).toBe(long.length - place);
    }
  });

  it('where its row is gone, that is said', () => {
    const { nextCursor } = page(['a', 'b', 'c', 'd'], undefined);
    expect(() => page(['a', 'c', 'd'], nextCursor ?? '')).toThrow('the list has changed');
  });

  it('a cursor of another question is refused, though its row is there', () => {
    const { nextCursor } = page(['a', 'b', 'c', 'd'], undefined, 2, { sort: 'cost', team: undefined });
    expect(page(['a', 'b', 'c', 'd'], nextCursor ?? '', 1, { team: undefined, sort: 'cost' }).rows).toEqual(['c']);
    expect(() => page(['a', 'b', 'c', 'd'], nextCursor ?? '', 2, { sort: 'waste' })).toThrow('of another question');
  });

  it('what is no cursor is refused', () => {
    for (const text of ['', 'nonsense', Buffer.from('{"g":1}').toString('base64url')]) {
      expect(() => page(['a'], text)).toThrow('not one of ours');
    }
  });
});
