import { CsvButton } from '../../parts/csv-button.tsx';
import type { FleetReply } from '../../../../src/api/routes/fleet/fleet.ts';
import { cellWords } from './levels.ts';
import type { Measure } from './levels.ts';
import { CELL, LEVELS } from './tile.ts';
import type { Tile } from './tile.ts';

interface MapCsvProps {
  readonly reply: FleetReply;
  readonly tile: Tile;
  readonly measure: Measure;
}

/** The map as a file: every GPU (or machine, where there are too many), every step. */
export function MapCsv({ reply, tile, measure }: MapCsvProps) {
  return (
    <CsvButton
      name={`bursar-map-${measure}`}
      words="map as CSV"
      columns={['cluster', 'node', 'device', 'from', 'level', 'words']}
      rows={() => mapCells(reply, tile, measure)}
    />
  );
}

function mapCells({ groups }: FleetReply, tile: Tile, measure: Measure): (string | number | null)[][] {
  return groups.flatMap(({ cluster, nodes }) =>
    nodes.flatMap(({ node, devices }) =>
      (devices.length === 0 ? [null] : devices.map(({ deviceId }) => deviceId)).flatMap((device) =>
        cellsOf(tile, node, device).map((value, step) => [
          cluster,
          node,
          device,
          new Date(tile.fromMs + step * tile.stepMs).toISOString(),
          value < LEVELS ? value : null,
          cellWords(value, measure),
        ]),
      ),
    ),
  );
}

/** The steps of a GPU, or the mean of a machine. */
export function cellsOf(tile: Tile, node: string | null, device: string | null): number[] {
  const row = tile.rowOf(node, device, device === null ? 'mean' : 'gpu');
  if (row === undefined) return Array.from({ length: tile.steps }, () => CELL.absent);
  return [...tile.cells.subarray(row * tile.steps, (row + 1) * tile.steps)];
}
