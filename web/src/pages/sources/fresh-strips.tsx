import { percent, minute, usdParts } from '../../figures.ts';
import { DataTable } from '../../parts/data-table.tsx';
import type { SourcesReply } from '../../../../src/api/routes/sources/list-sources.ts';
import { filledHeight, knownShare, runsOf } from './fresh-words.ts';

const [WIDTH, HEIGHT] = [384, 14];

/** Each cluster's last 48 hours, hatched where nothing was measured, and what that time costs. */
export function FreshStrips({ freshness }: { readonly freshness: SourcesReply['freshness'] }) {
  const { clusters, from, until } = freshness;
  const worth = usdParts(clusters.map(({ unknownUsdMicros }) => unknownUsdMicros));
  return (
    <div id="measured">
      <DataTable
        caption="How much was measured, by cluster"
        columns={[
          {
            title: 'Cluster',
            cell: ({ cluster }) => cluster ?? <span className="muted">no cluster</span>,
            sum: 'Total',
          },
          {
            title: 'GPUs, at most at once',
            isNumber: true,
            cell: ({ gpus }) => gpus,
            sum: clusters.reduce((sum, { gpus }) => sum + gpus, 0),
          },
          {
            title: `${minute(from)} to ${minute(until)}`,
            cell: ({ cluster, hours }) => <Strip hours={hours} name={cluster ?? 'no cluster'} />,
          },
          { title: 'Known', isNumber: true, cell: ({ hours }) => percent(knownShare(hours)) },
          {
            title: 'Known up to',
            isNumber: true,
            className: 'soft',
            cell: ({ knownUntil }) => (knownUntil === null ? 'not in 48 h' : minute(knownUntil)),
          },
          {
            title: 'Not measured, worth',
            isNumber: true,
            cell: (row) =>
              row.unknownUsdMicros === '0' ? <span className="muted">$0</span> : worth.parts[clusters.indexOf(row)],
            sum: worth.total,
          },
        ]}
        rows={clusters}
        keyOf={({ cluster }) => cluster ?? ''}
        empty="No GPU is known yet."
      />
      <p className="note">
        Each hour is filled as far as its held time was measured; the rest is hatched; bare is an hour nobody held.
      </p>
    </div>
  );
}

function Strip({ hours, name }: { readonly hours: readonly (number | null)[]; readonly name: string }) {
  const wide = WIDTH / Math.max(1, hours.length);
  const gaps = hours.filter((each) => each === 0).length;
  const label = `${name}: ${percent(knownShare(hours))} of the held time measured, ${gaps} hours without any`;
  return (
    <svg width={WIDTH} height={HEIGHT} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={label}>
      {runsOf(hours).map(({ known, from, length }) => {
        const [x, width] = [(from * wide).toFixed(1), (length * wide).toFixed(1)];
        const full = filledHeight(known, HEIGHT);
        return (
          <g key={from}>
            {known < 1000 ? <rect x={x} y={0} width={width} height={HEIGHT} className="f-unknown" /> : null}
            {known > 0 ? (
              <rect
                x={x}
                y={(HEIGHT - full).toFixed(1)}
                width={width}
                height={full.toFixed(1)}
                className="fresh-measured"
              />
            ) : null}
          </g>
        );
      })}
      {/* What is hatched has an outline: a hatch alone could be taken for a pattern of the ground. */}
      <rect x=".5" y=".5" width={WIDTH - 1} height={HEIGHT - 1} className="fresh-outline" />
    </svg>
  );
}
