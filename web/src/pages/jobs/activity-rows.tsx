import { Link } from 'wouter';
import { useAddress } from '../../address.ts';
import { useWidth } from '../../charts/use-width.ts';
import { cut, hours, percent } from '../../figures.ts';
import { DataTable } from '../../parts/data-table.tsx';
import type { Column } from '../../parts/data-table.tsx';
import type { JobReply } from '../../../../src/api/routes/jobs/job.ts';
import { computedPermille, lettersRuns } from './verdict.ts';

const [LEFT, RIGHT, ROW, GAP] = [124, 96, 10, 3];

type Device = JobReply['devices'][number];

const CELL_WORDS: Readonly<Record<string, string>> = { f: 'not held', x: 'unknown', '-': 'another’s or not there' };

/** Every step of every GPU: its level on the ramp from 0 to 6, or why it has none. */
export function activityCells({ activity: { from, stepSeconds, rows } }: JobReply): (string | number | null)[][] {
  return rows.flatMap(({ deviceId, node, cells }) =>
    cells
      .split('')
      .map((letter, place) => [
        deviceId,
        node,
        new Date(Date.parse(from) + place * stepSeconds * 1000).toISOString(),
        /\d/.test(letter) ? Number(letter) : null,
        CELL_WORDS[letter] ?? 'measured',
      ]),
  );
}

/** A row for each GPU of the job, its activity from left to right; where another had the GPU it is empty. */
export function ActivityRows({ reply, isTable }: { readonly reply: JobReply; readonly isTable: boolean }) {
  const [room, width] = useWidth<HTMLDivElement>(760);
  const { activity, devices } = reply;
  if (isTable || activity.rows.length === 0) return <DevicesTable reply={reply} />;
  const steps = Math.max(1, ...activity.rows.map(({ cells }) => cells.length));
  const wide = (width - LEFT - RIGHT) / steps;
  const height = activity.rows.length * (ROW + GAP);
  return (
    <div ref={room} className="chart">
      <svg
        width={width}
        height={height}
        viewBox={`0 0 ${width} ${height}`}
        role="img"
        aria-label={`Activity of ${activity.rows.length} GPUs over the job; the table has the figures`}
      >
        {activity.rows.map(({ deviceId, node, cells }, place) => {
          const y = place * (ROW + GAP);
          const device = devices.find((each) => each.deviceId === deviceId);
          const computed = device === undefined ? null : computedPermille(device);
          return (
            <g key={deviceId}>
              <title>{deviceId}</title>
              <text x="0" y={y + 9}>
                {`${cut(node ?? 'no node', 17)} ${placeOn(reply, place)}`}
              </text>
              {lettersRuns(cells).map(({ letter, from, until }) =>
                letter === '-' ? null : (
                  <rect
                    key={from}
                    x={(LEFT + from * wide).toFixed(2)}
                    y={y}
                    width={((until - from) * wide).toFixed(2)}
                    height={ROW}
                    className={letter === 'x' ? 'f-unknown' : `f-heat-${letter}`}
                  />
                ),
              )}
              <text x={width - RIGHT + 8} y={y + 9}>
                {computed === null ? 'unknown' : `${percent(computed, 0)} computed`}
              </text>
            </g>
          );
        })}
      </svg>
      {devices.length > activity.rows.length ? (
        <p className="note">
          The first {activity.rows.length} of {devices.length} GPUs; the table has them all.
        </p>
      ) : null}
    </div>
  );
}

/** Which GPU of its machine a row is, counted among those of the job. */
function placeOn({ activity }: JobReply, row: number): number {
  const node = activity.rows[row]?.node;
  return activity.rows.slice(0, row).filter((each) => each.node === node).length;
}

function GpuName({ gpu, from }: { readonly gpu: string; readonly from: string }) {
  const { to } = useAddress();
  return (
    <Link href={to('/fleet', { gpu, window: from.slice(0, 10) })} title={gpu}>
      {cut(gpu, 22)}
    </Link>
  );
}

const DEVICE_COLUMNS: readonly Column<Device & { readonly from: string }>[] = [
  { title: 'GPU', cell: ({ deviceId, from }) => <GpuName gpu={deviceId} from={from} /> },
  { title: 'Node', cell: ({ node }) => cut(node ?? 'no node', 24) },
  { title: 'Computing, h', isNumber: true, cell: (device) => hours(device.computingSeconds) },
  { title: 'Starved, h', isNumber: true, cell: (device) => hours(device.starvedSeconds) },
  { title: 'Idle, h', isNumber: true, cell: (device) => hours(device.idleSeconds) },
  { title: 'Lost, h', isNumber: true, cell: (device) => hours(device.lostSeconds) },
  { title: 'Unknown, h', isNumber: true, cell: (device) => hours(device.unknownSeconds) },
];

function DevicesTable({ reply }: { readonly reply: JobReply }) {
  return (
    <DataTable
      caption="What each GPU of the job did"
      rows={reply.devices.map((device) => ({ ...device, from: reply.activity.from }))}
      keyOf={({ deviceId }) => deviceId}
      empty="It held no GPU up to now."
      columns={DEVICE_COLUMNS}
    />
  );
}
