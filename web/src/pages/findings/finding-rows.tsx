import { Link } from 'wouter';
import { useAddress } from '../../address.ts';
import { cut, hours, usdParts } from '../../figures.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import type { OneFindingAnswer } from '../../../../src/api/routes/findings/one-finding.ts';

interface FindingRowsProps {
  readonly reply: OneFindingAnswer;
  readonly csv: string;
  /** The finding's own command; its rows are that with `explain`. */
  readonly command: string | null;
}

interface Shown {
  readonly key: string;
  readonly name: string;
  readonly job: string | null;
  readonly team: string | null;
  readonly user: string | null;
  readonly devices: string;
  readonly days: string;
  readonly gpuSeconds: number;
}

function shownRows({ subjects, otherSubjects }: OneFindingAnswer): Shown[] {
  const rows: Shown[] = subjects.map((each) => ({
    key: each.subject,
    name: each.name,
    job: /^job [^/]+\/(.+)\/\d+$/.exec(each.subject)?.[1] ?? null,
    team: each.team,
    user: each.user,
    devices: String(each.devices),
    days: String(each.days),
    gpuSeconds: each.gpuSeconds,
  }));
  if (otherSubjects !== null) {
    const name = `${otherSubjects.count} others`;
    const { gpuSeconds } = otherSubjects;
    rows.push({ key: '', name, job: null, team: '', user: '', devices: '', days: '', gpuSeconds });
  }
  return rows;
}

/** The rows that add up to a finding; the last line is its cost. */
export function FindingRows({ reply, csv, command }: FindingRowsProps) {
  const { to } = useAddress();
  const { subjects, otherSubjects } = reply;
  // Nobody can say what of it could go.
  const isUnknown = reply.finding?.kind === 'unknown';
  if (subjects.length === 0) return null;
  const rows = shownRows(reply);
  const all = [...subjects, ...(otherSubjects === null ? [] : [otherSubjects])];
  const paid = usdParts(all.map(({ usdMicros }) => usdMicros));
  const billed = usdParts(all.map(({ marginalUsdMicros }) => marginalUsdMicros));
  const isBilled = all.some(({ marginalUsdMicros }) => marginalUsdMicros !== '0');
  const nothing = <span className="muted">{isUnknown ? '–' : '$0'}</span>;
  const billedOf = (place: number) =>
    isUnknown || all[place]?.marginalUsdMicros === '0' ? nothing : billed.parts[place];
  const seconds = rows.reduce((sum, { gpuSeconds }) => sum + gpuSeconds, 0);
  return (
    <section aria-labelledby="rows">
      <div className="section-head">
        <h2 id="rows">Rows that add up to it</h2>
        <span className="sub">the dearest first; each claimed once</span>
        <span className="acts">
          <a href={csv} download>
            CSV
          </a>
          {command === null ? null : (
            <CopyButton text={command.replace(/^bursar finding \S+/, '$& explain')} words="command" />
          )}
        </span>
      </div>
      <DataTable
        caption="Rows that add up to the finding"
        columns={[
          {
            title: 'Holder',
            className: 'name',
            sum: 'Total',
            cell: ({ name, job, key }) =>
              job === null ? (
                <span title={key}>{cut(name)}</span>
              ) : (
                <Link href={to(`/jobs/${encodeURIComponent(job)}`)} title={key}>
                  {cut(name)}
                </Link>
              ),
          },
          { title: 'Owner', room: 'some', cell: ({ user }) => user ?? <span className="muted">–</span> },
          { title: 'Team', room: 'some', cell: ({ team }) => team ?? <span className="muted">unattributed</span> },
          { title: 'Devices', isNumber: true, room: 'some', cell: ({ devices }) => devices },
          { title: 'Days', isNumber: true, room: 'some', cell: ({ days }) => days },
          { title: 'GPU-hours', isNumber: true, cell: ({ gpuSeconds }) => hours(gpuSeconds), sum: hours(seconds) },
          {
            title: 'Bill falls by',
            isNumber: true,
            cell: (row) => billedOf(rows.indexOf(row)),
            sum: isBilled && !isUnknown ? billed.total : nothing,
          },
          { title: 'USD', isNumber: true, cell: (row) => paid.parts[rows.indexOf(row)], sum: paid.total },
        ]}
        rows={rows}
        keyOf={({ key }) => key}
      />
    </section>
  );
}
