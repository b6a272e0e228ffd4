import { least, minute, percent } from '../../figures.ts';
import { formatWholeUsd } from '../../../../src/money/usd.ts';
import { wasteOf } from './layout.ts';
import type { Group, GroupLine, Machine, NodeLine, Spot } from './layout.ts';
import { cellWords } from './levels.ts';
import type { Measure } from './levels.ts';
import { CELL } from './tile.ts';
import type { Tile } from './tile.ts';

const DOLLAR = 1_000_000n;

/** What stands beside a row is worked out once: a frame has no time to divide. */
const groupTexts = new WeakMap<Group, { left: string; right: string }>();
const nodeTexts = new WeakMap<Machine, { active: string; wasted: string }>();

export function groupWords({ group }: GroupLine): { left: string; right: string } {
  const known = groupTexts.get(group);
  if (known !== undefined) return known;
  const { gpus, model, purchases, costUsdMicros, idleUsdMicros, unallocatedUsdMicros, unknownUsdMicros } = group;
  const parts = [
    ['idle', idleUsdMicros, group.idleUnpricedSeconds],
    ['unallocated', unallocatedUsdMicros, group.unallocatedUnpricedSeconds],
    ['unknown', unknownUsdMicros, group.unknownUnpricedSeconds],
  ] as const;
  const told = {
    left: [`${gpus} ${gpus === 1 ? 'GPU' : 'GPUs'}`, model ?? 'model unknown', purchases.join(' and ')]
      .filter((word) => word !== '')
      .join(', '),
    right: [
      costUsdMicros === null
        ? 'no price'
        : `paid ${least(formatWholeUsd(BigInt(costUsdMicros)), group.unpricedSeconds)}`,
      // Where nothing has a price it is said once.
      ...parts
        .filter(([, micros]) => (micros === null ? costUsdMicros !== null : BigInt(micros) * 2n >= DOLLAR))
        .map(([word, micros, unpriced]) =>
          micros === null ? `${word} no price` : `${word} ${least(formatWholeUsd(BigInt(micros)), unpriced)}`,
        ),
    ].join(', '),
  };
  groupTexts.set(group, told);
  return told;
}

export function nodeWords({ machine }: NodeLine): { active: string; wasted: string } {
  const known = nodeTexts.get(machine);
  if (known !== undefined) return known;
  const wasted = wasteOf(machine);
  const active =
    machine.activePermille === null
      ? machine.heldSeconds > 0
        ? 'unknown'
        : 'free'
      : percent(machine.activePermille, 0);
  const told = {
    active,
    wasted: machine.costUsdMicros === null ? 'no price' : wastedWords(machine, wasted),
  };
  nodeTexts.set(machine, told);
  return told;
}

function wastedWords({ idleUnpricedSeconds, unallocatedUnpricedSeconds }: Machine, wasted: bigint): string {
  const unpriced = idleUnpricedSeconds + unallocatedUnpricedSeconds;
  if (wasted * 2n < DOLLAR) return unpriced > 0 ? 'no price' : '';
  return least(formatWholeUsd(wasted), unpriced);
}

/** What is under the cursor, in words. */
export function spotWords(
  tile: Tile,
  opened: ReadonlyMap<string, { readonly tile: Tile }>,
  spot: Spot,
  step: number,
  measure: Measure,
): string {
  const { machine, device, place } = spot;
  const begin = new Date(tile.fromMs + step * tile.stepMs).toISOString();
  const end = new Date(tile.fromMs + (step + 1) * tile.stepMs).toISOString();
  const value = (of: Tile, kind: 'gpu' | 'mean' | 'worst'): number => {
    const row = of.rowOf(machine.node, device?.deviceId ?? null, kind);
    return row === undefined ? CELL.absent : (of.cells[row * of.steps + step] ?? CELL.absent);
  };
  const when = `${minute(begin)}–${end.slice(11, 16)}`;
  const node = machine.node ?? 'no node';
  if (device === undefined) {
    const worst = value(tile, 'worst');
    const rest = worst === CELL.absent ? '' : `; its worst GPU ${cellWords(worst, measure)}`;
    return `${node}, mean of ${machine.gpus} GPUs, ${when}: ${cellWords(value(tile, 'mean'), measure)}${rest}`;
  }
  const own = machine.devices.length === 0 ? (opened.get(machine.node ?? '')?.tile ?? tile) : tile;
  return `${node}, GPU ${place}, ${when}: ${cellWords(value(own, 'gpu'), measure)}`;
}
