import { Link } from 'wouter';
import { useAddress } from '../../address.ts';
import { age, cut } from '../../figures.ts';
import { DataTable } from '../../parts/data-table.tsx';
import { StateMark } from '../../parts/marks.tsx';
import type { State } from '../../parts/marks.tsx';
import type { OverviewReply } from '../../../../src/api/routes/overview/overview.ts';

const STATES: Readonly<Record<OverviewReply['sources'][number]['state'], State>> = {
  ok: 'good',
  late: 'warn',
  failing: 'bad',
  never: 'none',
};

/** How fresh every source is. */
export function SourceList({ reply }: { readonly reply: OverviewReply }) {
  const { to } = useAddress();
  const { sources, asOf } = reply;
  const fresh = sources.filter(({ state }) => state === 'ok').length;
  return (
    <section aria-labelledby="sources-title">
      <div className="section-head">
        <h2 id="sources-title">Sources</h2>
        <span className="sub">
          {sources.length === 0 ? 'all of it was imported' : `${fresh} of ${sources.length} fresh`}
        </span>
        <span className="acts">
          <Link href={to('/sources')}>all sources</Link>
        </span>
      </div>
      <DataTable
        caption="Freshness of every source"
        rows={sources}
        keyOf={({ name }) => name}
        empty={`Nothing is collected from a source: the facts were imported and end ${asOf.slice(0, 16).replace('T', ' ')} UTC.`}
        columns={[
          {
            title: 'Source',
            cell: ({ name, state }) => (
              <span title={name}>
                <StateMark state={STATES[state]} /> {cut(name, 26)}
              </span>
            ),
          },
          {
            title: 'newest fact',
            isNumber: true,
            cell: ({ coveredUntil }) => (coveredUntil === null ? 'never' : agoWords(coveredUntil, asOf)),
          },
        ]}
      />
    </section>
  );
}

function agoWords(time: string, now: string): string {
  return `${age((Date.parse(now) - Date.parse(time)) / 1000)} ago`;
}
