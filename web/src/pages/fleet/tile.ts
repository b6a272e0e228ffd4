/** What the bytes of a cell say, see the reference of /api/v1/fleet/tiles. */
export const CELL = { free: 250, unknown: 251, nothing: 252, priceless: 253, absent: 255 } as const;
export const LEVELS = 7;

export interface Tile {
  readonly fromMs: number;
  readonly stepMs: number;
  readonly steps: number;
  readonly rows: number;
  /** One byte for each row and step, row after row. */
  readonly cells: Uint8Array;
  /** The row of a GPU, or of a machine's mean or worst. */
  readonly rowOf: (node: string | null, gpu: string | null, kind: RowKind) => number | undefined;
}
export type RowKind = 'gpu' | 'mean' | 'worst';

const MAGIC = 0x31_54_46_42;
const HEAD_BYTES = 24;

/** Reads the bytes of /api/v1/fleet/tiles. */
export function readTile(bytes: ArrayBuffer): Tile {
  const view = new DataView(bytes);
  if (bytes.byteLength < HEAD_BYTES || view.getUint32(0, true) !== MAGIC)
    throw new Error('these are no tiles of a map');
  const [rows, steps, stepSeconds, from, nameBytes] = [4, 8, 12, 16, 20].map((at) => view.getUint32(at, true)) as [
    number,
    number,
    number,
    number,
    number,
  ];
  const names = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, HEAD_BYTES, nameBytes))) as string[][];
  const places = new Map(names.map((name, row) => [JSON.stringify(name), row]));
  const cells = new Uint8Array(rows * steps).fill(CELL.absent);
  let at = HEAD_BYTES + nameBytes;
  for (let row = 0; row < rows; row += 1) {
    const runs = view.getUint16(at, true);
    at += 2;
    let cell = row * steps;
    for (let run = 0; run < runs; run += 1, at += 3) {
      const length = view.getUint16(at + 1, true);
      cells.fill(view.getUint8(at), cell, cell + length);
      cell += length;
    }
  }
  return {
    fromMs: from * 1000,
    stepMs: stepSeconds * 1000,
    steps,
    rows,
    cells,
    rowOf: (node, gpu, kind) => places.get(JSON.stringify([node, gpu, kind])),
  };
}

export interface Run {
  readonly from: number;
  readonly until: number;
}

/** Where all of some rows say the same thing: one stretch of a machine nobody has, or nobody measured. */
export function commonRuns(tile: Tile, rows: readonly number[], value: number): Run[] {
  const runs: Run[] = [];
  let begin = -1;
  for (let step = 0; step <= tile.steps; step += 1) {
    const isSo =
      step < tile.steps && rows.length > 0 && rows.every((row) => tile.cells[row * tile.steps + step] === value);
    if (isSo && begin < 0) begin = step;
    if (!isSo && begin >= 0) {
      runs.push({ from: begin, until: step });
      begin = -1;
    }
  }
  return runs;
}
