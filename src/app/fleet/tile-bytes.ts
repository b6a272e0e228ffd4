import { CELL_BYTES } from './cell.ts';
import type { CellLine } from './cells.ts';

/** `BFT1` as it is read in little-endian: a tile of the fleet, first layout. */
const MAGIC = 0x31_54_46_42;
const HEAD_BYTES = 24;
const RUN_BYTES = 3;
const RUN_MAX = 0xff_ff;

export interface Tile {
  readonly from: Date;
  readonly stepSeconds: number;
  readonly steps: number;
  readonly lines: readonly CellLine[];
}

/** What the bytes mean, for the reference. */
export const TILE_LAYOUT = [
  'Little-endian. Bytes 0–3 "BFT1"; then four-byte whole numbers: 4 rows, 8 steps, 12 seconds of a step, 16 the first second of the first step',
  '(Unix time), 20 the length of the names. Names: a JSON list in UTF-8, [node or null, GPU or null, "gpu" | "mean" | "worst"] for each row.',
  'Then for each row: a two-byte count of runs, and each run as one byte of what it is and two bytes of how many steps.',
  'What it is: 0–6 a level (activity and memory: below 1 %, 15, 30, 50, 70, 90 %, above; wasted: below $0.10, 0.25, 0.50, 1, 2, 4 an hour, above),',
  '250 nobody has it, 251 held and not measured, 252 nothing wasted, 253 no price, 255 not there.',
  'Of a machine there are two rows: the mean of its GPUs, and the GPU that does least (wasted: most).',
].join(' ');

/** The map as bytes: runs of equal cells, so that ten thousand GPUs are a few hundred kilobytes. */
export function tileBytes({ from, stepSeconds, steps, lines }: Tile): Uint8Array {
  const rows = lines.flatMap(({ nodeId, deviceId, cells, worst }) =>
    worst === undefined
      ? [{ name: [nodeId, deviceId, 'gpu'], cells }]
      : [
          { name: [nodeId, null, 'mean'], cells },
          { name: [nodeId, null, 'worst'], cells: worst },
        ],
  );
  const names = new TextEncoder().encode(JSON.stringify(rows.map(({ name }) => name)));
  const runs = rows.map(({ cells }) => runsOf(cells));
  const size = runs.reduce((sum, each) => sum + 2 + each.length * RUN_BYTES, HEAD_BYTES + names.length);
  const bytes = new Uint8Array(size);
  const view = new DataView(bytes.buffer);
  const head = [MAGIC, rows.length, steps, stepSeconds, from.getTime() / 1000, names.length];
  for (const [place, value] of head.entries()) view.setUint32(place * 4, value, true);
  bytes.set(names, HEAD_BYTES);
  let at = HEAD_BYTES + names.length;
  for (const row of runs) {
    view.setUint16(at, row.length, true);
    at += 2;
    for (const { letter, length } of row) {
      view.setUint8(at, CELL_BYTES[letter] ?? 255);
      view.setUint16(at + 1, length, true);
      at += RUN_BYTES;
    }
  }
  return bytes;
}

function runsOf(cells: string): { letter: string; length: number }[] {
  const runs: { letter: string; length: number }[] = [];
  for (const letter of cells) {
    const last = runs.at(-1);
    if (last?.letter === letter && last.length < RUN_MAX) last.length += 1;
    else runs.push({ letter, length: 1 });
  }
  return runs;
}
