import { describe, expect, test } from 'vitest';
import { firstLineAt, layoutOf, spotsOf } from './layout.ts';
import type { Group, Sort } from './layout.ts';

const sums = (idle: number, activePermille: number | null) => ({
  gpus: 2,
  costUsdMicros: '10000000',
  activeUsdMicros: '0',
  idleUsdMicros: String(idle),
  unallocatedUsdMicros: '0',
  unknownUsdMicros: '0',
  unpricedSeconds: 0,
  activeUnpricedSeconds: 0,
  idleUnpricedSeconds: 0,
  unallocatedUnpricedSeconds: 0,
  unknownUnpricedSeconds: 0,
  heldSeconds: 0,
  knownSeconds: 0,
  activePermille,
});
const device = (deviceId: string) => ({ deviceId, ...sums(0, 0) });
const node = (name: string, idle: number, activePermille: number | null, gpus: number) => ({
  node: name,
  state: 'up',
  ...sums(idle, activePermille),
  devices: Array.from({ length: gpus }, (_, place) => device(`${name}/${place}`)),
});
const group = (nodes: Group['nodes']): Group => ({ cluster: 'a', model: 'H100', purchases: [], ...sums(0, 0), nodes });

const names = (groups: readonly Group[], sort: Sort): string[] =>
  layoutOf(groups, sort, new Map()).lines.flatMap((line) => (line.kind === 'node' ? [line.machine.node ?? ''] : []));

describe('where things stand on the map', () => {
  const groups = [
    group([node('n1', 5, 900, 8), node('n2', 90, null, 8), node('n3', 50, 10, 1)]),
    group([node('n4', 1, 1, 0)]),
  ];

  test('lines follow each other and never overlap', () => {
    const { lines, height } = layoutOf(groups, 'name', new Map([['n4', [device('x'), device('y')]]]));
    expect(lines.map(({ kind }) => kind)).toEqual([
      'group',
      'node',
      'node',
      'node',
      'group',
      'node',
      'device',
      'device',
    ]);
    for (const [place, line] of lines.entries()) {
      const next = lines[place + 1];
      expect(line.y + line.height).toBeLessThanOrEqual(next?.y ?? height);
    }
  });

  test('machines are sorted within their group; what is not measured is not the least active', () => {
    expect(names(groups, 'name')).toEqual(['n1', 'n2', 'n3', 'n4']);
    expect(names(groups, 'wasted')).toEqual(['n2', 'n3', 'n1', 'n4']);
    expect(names(groups, 'active')).toEqual(['n3', 'n1', 'n2', 'n4']);
  });

  test('the first line in view is found by its place', () => {
    const { lines, height } = layoutOf(groups, 'name', new Map());
    for (let y = 0; y < height; y += 1) {
      const want = lines.findIndex((line) => line.y + line.height >= y);
      expect(firstLineAt(lines, y)).toBe(want < 0 ? lines.length : want);
    }
  });

  test('the cursor stands on GPUs, and on machines that stand for theirs', () => {
    const spots = spotsOf(layoutOf(groups, 'name', new Map()).lines);
    expect(spots).toHaveLength(8 + 8 + 1 + 1);
    expect(spots.at(-1)?.device).toBeUndefined();
    expect(spots[9]).toMatchObject({ place: 1, device: { deviceId: 'n2/1' } });
  });
});
