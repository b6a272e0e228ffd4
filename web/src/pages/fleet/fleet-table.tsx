import { Link } from 'wouter';
import { percent, least, cut, minute, usdParts } from '../../figures.ts';
import { useAddress } from '../../address.ts';
import type { Words } from '../../address.ts';
import { DataTable } from '../../parts/data-table.tsx';
import type { Column } from '../../parts/data-table.tsx';
import type { FleetReply, FleetSumsReply } from '../../../../src/api/routes/fleet/fleet.ts';
import { shortWords } from './levels.ts';
import type { Measure } from './levels.ts';
import { cellsOf } from './map-csv.tsx';
import { CELL } from './tile.ts';
import type { Tile } from './tile.ts';

interface TableRow extends FleetSumsReply {
  readonly cluster: string | null;
  readonly model: string | null;
  readonly node: string | null;
  readonly gpu: string | null;
  readonly place: number;
  readonly money: RowMoney;
}

/** A row's money in one precision: cents beside whole dollars look as if they did not add up. */
interface RowMoney {
  readonly paid: string;
  readonly idle: string;
  readonly unallocated: string;
  readonly unknown: string;
}

export function rowMoney(sums: FleetSumsReply): RowMoney {
  const { idleUsdMicros, unallocatedUsdMicros, unknownUsdMicros, activeUsdMicros } = sums;
  const amounts = [idleUsdMicros, unallocatedUsdMicros, unknownUsdMicros, activeUsdMicros];
  const { total, parts } = usdParts(amounts);
  // A true zero has no cents.
  const [idle = '', unallocated = '', unknown = ''] = parts.map((part, place) =>
    amounts[place] === '0' ? '$0' : part,
  );
  return {
    paid: least(sums.costUsdMicros === '0' ? '$0' : total, sums.unpricedSeconds),
    idle: least(idle, sums.idleUnpricedSeconds),
    unallocated: least(unallocated, sums.unallocatedUnpricedSeconds),
    unknown: least(unknown, sums.unknownUnpricedSeconds),
  };
}

const rowAddress = (row: TableRow): Words =>
  row.gpu === null
    ? { open: row.node === null ? undefined : encodeURIComponent(row.node), view: undefined }
    : { gpu: row.gpu, view: 'table' };

function GpuName({ row }: { readonly row: TableRow }) {
  const { to, words } = useAddress();
  return (
    <Link href={to('/fleet', { ...words, ...rowAddress(row) })} title={row.gpu ?? undefined}>
      {row.gpu === null ? `all ${row.gpus}` : `GPU ${row.place}`}
    </Link>
  );
}

const PLACES: readonly Column<TableRow>[] = [
  { title: 'Cluster', cell: ({ cluster }) => cut(cluster ?? 'no cluster', 22), sum: 'Total' },
  { title: 'Node', cell: ({ node }) => <span title={node ?? undefined}>{cut(node ?? 'no node', 24)}</span> },
  { title: 'GPU', cell: (row) => <GpuName row={row} /> },
  { title: 'Model', cell: ({ model }) => cut(model ?? 'unknown', 24) },
];

function activeWords({ activePermille, heldSeconds }: FleetSumsReply): string {
  return activePermille === null ? (heldSeconds > 0 ? 'unknown' : 'free') : percent(activePermille, 0);
}

interface FleetTableProps {
  readonly reply: FleetReply;
  readonly tile: Tile;
  readonly measure: Measure;
}

/** So many stretches of the window stand beside each other. */
const STRETCHES = 8;

/** What a GPU did most of in each stretch of the window: the map in words. */
function timeColumns(tile: Tile, measure: Measure): Column<TableRow>[] {
  const each = Math.max(1, Math.ceil(tile.steps / STRETCHES));
  const isLong = tile.steps * tile.stepMs > 86_400_000;
  return Array.from({ length: Math.ceil(tile.steps / each) }, (_, place) => {
    const at = tile.fromMs + place * each * tile.stepMs;
    return {
      title: isLong ? minute(at) : minute(at).slice(-5),
      cell: ({ node, gpu }) => mostWords(cellsOf(tile, node, gpu).slice(place * each, (place + 1) * each), measure),
    };
  });
}

function mostWords(cells: readonly number[], measure: Measure): string {
  const counts = new Map<number, number>();
  for (const cell of cells) if (cell !== CELL.absent) counts.set(cell, (counts.get(cell) ?? 0) + 1);
  const [most] = [...counts].toSorted(([a, first], [b, second]) => second - first || a - b);
  return most === undefined ? '–' : shortWords(most[0], measure);
}

/** Machines and GPUs in words and figures: what the map shows, for who cannot see it. */
export function FleetTable({ reply, tile, measure }: FleetTableProps) {
  const { to, words } = useAddress();
  const rows = reply.groups.flatMap(({ cluster, model, nodes }) =>
    nodes.flatMap((machine): TableRow[] => {
      const { node, devices, ...sums } = machine;
      const base = { cluster, model, node };
      return devices.length === 0
        ? [{ ...base, ...sums, gpu: null, place: 0, money: rowMoney(sums) }]
        : devices.map(({ deviceId, ...own }, place) => ({
            ...base,
            ...own,
            gpu: deviceId,
            place,
            money: rowMoney(own),
          }));
    }),
  );
  const { total } = reply;
  const totals = rowMoney(total);
  const money = (title: string, of: keyof RowMoney): Column<TableRow> => ({
    title,
    isNumber: true,
    cell: (row) => row.money[of],
    sum: totals[of],
  });
  return (
    <DataTable
      caption="Every GPU: how active it was, and its money"
      hasKeys
      rows={rows}
      keyOf={({ node, gpu, model }) => `${node ?? ''} ${gpu ?? ''} ${model ?? ''}`}
      open={(row) => to('/fleet', { ...words, ...rowAddress(row) })}
      columns={[
        ...PLACES,
        { title: 'Active', isNumber: true, cell: activeWords, sum: percent(total.activePermille, 0) },
        money('Paid', 'paid'),
        money('Idle', 'idle'),
        money('Unallocated', 'unallocated'),
        money('Unknown', 'unknown'),
        ...timeColumns(tile, measure),
      ]}
    />
  );
}
