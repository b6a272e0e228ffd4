import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { tileBytes } from '../../../../src/app/fleet/tile-bytes.ts';
import { CELL_BYTES } from '../../../../src/app/fleet/cell.ts';
import { cellWords } from './levels.ts';
import { commonRuns, readTile } from './tile.ts';

const from = new Date('2026-11-14T00:00:00Z');
const letters = fc.constantFrom(...Object.keys(CELL_BYTES));

describe('tiles', () => {
  test('what the server packs is what the page unpacks, whatever names and cells there are', () => {
    const steps = fc.integer({ min: 1, max: 40 });
    const fleet = steps.chain((count) =>
      fc.record({
        steps: fc.constant(count),
        lines: fc.array(
          fc.record({
            nodeId: fc.option(fc.string({ unit: 'grapheme' })),
            cells: fc.array(letters, { minLength: count, maxLength: count }).map((all) => all.join('')),
            isNode: fc.boolean(),
          }),
          { maxLength: 8 },
        ),
      }),
    );
    fc.assert(
      fc.property(fleet, ({ steps: count, lines }) => {
        const made = lines.map(({ nodeId, cells, isNode }, place) => ({
          nodeId,
          deviceId: isNode ? null : `gpu ${place}`,
          cells,
          worst: isNode ? cells.split('').toReversed().join('') : undefined,
        }));
        const bytes = tileBytes({ from, stepSeconds: 900, steps: count, lines: made });
        const tile = readTile(new Uint8Array(bytes).buffer);
        expect([tile.fromMs, tile.stepMs, tile.steps]).toEqual([from.getTime(), 900_000, count]);
        const rows = made.flatMap(({ cells, worst }) => (worst === undefined ? [cells] : [cells, worst]));
        const packed = rows.flatMap((cells) => cells.split('').map((letter) => CELL_BYTES[letter] ?? 255));
        expect([...tile.cells]).toEqual(packed);
        const gpus = made.filter(({ deviceId }) => deviceId !== null);
        expect(gpus.every(({ nodeId, deviceId }) => tile.rowOf(nodeId, deviceId, 'gpu') !== undefined)).toBe(true);
        expect(tile.rowOf('no node', 'no gpu', 'gpu')).toBeUndefined();
      }),
    );
  });

  test('runs longer than two bytes can say are cut and come together again', () => {
    const cells = '3'.repeat(70_000);
    const bytes = tileBytes({
      from,
      stepSeconds: 300,
      steps: 70_000,
      lines: [{ nodeId: 'a', deviceId: 'b', cells, worst: undefined }],
    });
    expect(readTile(new Uint8Array(bytes).buffer).cells.every((cell) => cell === 3)).toBe(true);
    expect(bytes.length).toBeLessThan(100);
  });

  test('other bytes are refused', () => {
    expect(() => readTile(new TextEncoder().encode('<!doctype html><html lang="en">').buffer)).toThrow('no tiles');
    expect(() => readTile(new ArrayBuffer(3))).toThrow('no tiles');
  });

  test('a machine is free only where all of its GPUs are', () => {
    const line = (deviceId: string, cells: string) => ({ nodeId: 'a', deviceId, cells, worst: undefined });
    const bytes = tileBytes({ from, stepSeconds: 900, steps: 6, lines: [line('0', 'fff00f'), line('1', 'ff00ff')] });
    const tile = readTile(new Uint8Array(bytes).buffer);
    expect(commonRuns(tile, [0, 1], 250)).toEqual([
      { from: 0, until: 2 },
      { from: 5, until: 6 },
    ]);
    expect(commonRuns(tile, [], 250)).toEqual([]);
  });
});

describe('a cell in words', () => {
  const cases: readonly (readonly [number, 'activity' | 'memory' | 'wasted', string])[] = [
    [0, 'activity', 'idle, < 1%'],
    [2, 'activity', '15–30% active'],
    [6, 'activity', '≥ 90% active'],
    [1, 'memory', '1–15% of its memory'],
    [0, 'wasted', '< $0.10 / h wasted'],
    [4, 'wasted', '$1–2 / h wasted'],
    [250, 'activity', 'unallocated'],
    [251, 'activity', 'not measured: unknown, not idle'],
    [252, 'wasted', 'nothing wasted'],
    [253, 'wasted', 'no price'],
    [255, 'memory', 'not there'],
  ];
  test.each(cases)('%i of %s', (value, measure, want) => {
    expect(cellWords(value, measure)).toBe(want);
  });
});
