import type { FleetReply } from '../../../../src/api/routes/fleet/fleet.ts';

export type Group = FleetReply['groups'][number];
export type Machine = Group['nodes'][number];
export type Device = Machine['devices'][number];

export const SORTS = ['name', 'active', 'wasted'] as const;
export type Sort = (typeof SORTS)[number];
export const SORT_WORDS: Readonly<Record<Sort, string>> = {
  name: 'cluster, node',
  active: 'least active',
  wasted: 'idle + unallocated',
};

export interface GroupLine {
  readonly kind: 'group';
  readonly y: number;
  readonly height: number;
  readonly group: Group;
}
export interface NodeLine {
  readonly kind: 'node';
  readonly y: number;
  readonly height: number;
  readonly group: Group;
  readonly machine: Machine;
  /** GPUs in it, each a thin row; none where machines stand for their GPUs. */
  readonly devices: readonly Device[];
  readonly rowHeight: number;
}
/** A GPU of an opened machine, with its own label. */
export interface DeviceLine {
  readonly kind: 'device';
  readonly y: number;
  readonly height: number;
  readonly machine: Machine;
  readonly device: Device;
  readonly place: number;
}
export type Line = GroupLine | NodeLine | DeviceLine;

const [GROUP_HEIGHT, GROUP_GAP, NODE_GAP, ROW_HEIGHT, NODE_MIN, OPEN_ROW] = [20, 8, 4, 3, 12, 12];

export interface Layout {
  readonly lines: readonly Line[];
  readonly height: number;
}

/** Idle and unallocated, as far as it has a price: what machines are ordered by. */
export function wasteOf({ idleUsdMicros, unallocatedUsdMicros }: Machine | Device): bigint {
  return BigInt(idleUsdMicros ?? '0') + BigInt(unallocatedUsdMicros ?? '0');
}

/** Machines of a group in the order asked for; names otherwise. */
function sorted(nodes: readonly Machine[], sort: Sort): readonly Machine[] {
  if (sort === 'name') return nodes;
  if (sort === 'wasted')
    return nodes.toSorted((a, b) => (wasteOf(b) > wasteOf(a) ? 1 : wasteOf(b) < wasteOf(a) ? -1 : 0));
  return nodes.toSorted((a, b) => (a.activePermille ?? 1001) - (b.activePermille ?? 1001));
}

/** Where everything stands on the map: one line after the other, so that only what is seen has to be drawn. */
export function layoutOf(groups: readonly Group[], sort: Sort, opened: ReadonlyMap<string, readonly Device[]>): Layout {
  const lines: Line[] = [];
  let y = 0;
  for (const group of groups) {
    if (lines.length > 0) y += GROUP_GAP;
    lines.push({ kind: 'group', y, height: GROUP_HEIGHT, group });
    y += GROUP_HEIGHT;
    for (const machine of sorted(group.nodes, sort)) {
      const { devices } = machine;
      const height = Math.max(NODE_MIN, devices.length * ROW_HEIGHT);
      const rowHeight = devices.length === 0 ? height : height / devices.length;
      lines.push({ kind: 'node', y, height, group, machine, devices, rowHeight });
      y += height + NODE_GAP;
      for (const [place, device] of (opened.get(machine.node ?? '') ?? []).entries()) {
        lines.push({ kind: 'device', y, height: OPEN_ROW, machine, device, place });
        y += OPEN_ROW + 2;
      }
    }
  }
  return { lines, height: y };
}

/** The first line that reaches below `y`, by halving: ten thousand lines cost fourteen looks. */
export function firstLineAt(lines: readonly Line[], y: number): number {
  let [low, high] = [0, lines.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const line = lines[middle];
    if (line !== undefined && line.y + line.height < y) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A row of cells the cursor can stand on. */
export interface Spot {
  readonly y: number;
  readonly height: number;
  readonly machine: Machine;
  readonly device: Device | undefined;
  readonly place: number;
}

export function spotsOf(lines: readonly Line[]): Spot[] {
  return lines.flatMap((line): Spot[] => {
    if (line.kind === 'group') return [];
    if (line.kind === 'device') {
      const { y, height, machine, device, place } = line;
      return [{ y, height, machine, device, place }];
    }
    const { y, height, machine, devices, rowHeight } = line;
    if (devices.length === 0) return [{ y, height, machine, device: undefined, place: 0 }];
    return devices.map((device, place) => ({ y: y + place * rowHeight, height: rowHeight, machine, device, place }));
  });
}
