import { Link, useLocation, useParams } from 'wouter';
import { useAddress } from '../../address.ts';
import type { Address } from '../../address.ts';
import { csvAddress, useAnswer } from '../../ask.ts';
import { change, cut, hours, hoursParts, percent, permilleOf, statedFactDays, usd, usdParts } from '../../figures.ts';
import { useCommandKey } from '../../frame/command-key.ts';
import { Head } from '../../frame/head.tsx';
import { WholeFleet } from '../../frame/whole-fleet.tsx';
import { Content } from '../../parts/content.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import type { Column } from '../../parts/data-table.tsx';
import { Swatch } from '../../parts/marks.tsx';
import { Section } from '../../parts/section.tsx';
import { useSegment } from '../../segment.ts';
import type { TeamsReply } from '../../../../src/api/routes/teams/list-teams.ts';
import { MonthControl } from './month-control.tsx';
import { monthName } from './month-words.ts';
import { StatementPage } from './statement.tsx';

type TeamRow = TeamsReply['rows'][number];

/** Who paid what, and how much of it computed? */
export function Teams() {
  const isOne = useParams<{ team?: string }>().team !== undefined;
  const team = useSegment(1);
  const [path] = useLocation();
  if (path === '/unattributed') {
    return (
      <WholeFleet title="unattributed">
        <StatementPage team={null} />
      </WholeFleet>
    );
  }
  return isOne ? <StatementPage team={team} /> : <TeamList />;
}

function TeamList() {
  const address = useAddress();
  const { words } = address;
  const query = { month: words['month'], team: words['team'] };
  const answer = useAnswer<TeamsReply>('/teams', query);
  const reply = answer.data?.data;
  useCommandKey(answer.data?.command);
  return (
    <>
      <Head title="Teams">
        <MonthControl months={reply?.months ?? []} month={reply?.month} status={reply?.status} />
      </Head>
      <Content answer={answer} className="stack">
        {reply === undefined ? null : <TeamsSentence reply={reply} address={address} />}
        <Section
          title="By team"
          sub={reply === undefined ? undefined : subOf(reply)}
          answer={answer}
          csv={csvAddress('/teams', query)}
        >
          {(data) => <TeamTable reply={data} address={address} />}
        </Section>
      </Content>
    </>
  );
}

function subOf(reply: TeamsReply): string {
  const { month, rows, beforeMonth } = reply;
  const days = statedFactDays(reply);
  return [
    `${monthName(month)}${days === null ? '' : ` (${days} with facts)`}, effective cost, UTC`,
    rows.some(({ number }) => number !== null) ? '' : 'not closed, so no statement has a number yet',
    beforeMonth === null ? 'no month before to compare with' : '',
  ]
    .filter((words) => words !== '')
    .join('; ');
}

interface Line {
  readonly team: string | null | undefined;
  readonly row: TeamRow | undefined;
}

interface PartProps {
  readonly reply: TeamsReply;
  readonly address: Address;
}

function TeamsSentence({ reply, address: { to } }: PartProps) {
  const { month, months, status, total, rows, otherRows } = reply;
  const nobody = rows.find(({ team }) => team === null);
  const teams = rows.filter(({ team }) => team !== null);
  const share = permilleOf(nobody?.usdMicros ?? null, total.usdMicros);
  const when = `${monthName(month)}${status === 'running' ? ' so far' : ''}`;
  if (!months.includes(month)) {
    return <p className="verdict">Nothing is known of {monthName(month)}: the ledger has no day of it.</p>;
  }
  if (otherRows > 0) {
    const [own] = teams;
    return (
      <p className="verdict">
        {own === undefined ? 'Nothing' : <Amount team={own} to={to} month={month} />} of{' '}
        <strong>{usd(total.usdMicros)}</strong> paid by everybody in {when}.
      </p>
    );
  }
  return (
    <p className="verdict">
      {teams.length === 1 ? 'One team' : `${teams.length} teams`} and what nobody owns come to{' '}
      <Link href={to('/spend', { window: month })}>
        <strong>{usd(total.usdMicros)}</strong>
      </Link>{' '}
      in {when}.{' '}
      {nobody === undefined ? (
        'Every dollar has a team.'
      ) : (
        <>
          <Link href={to('/unattributed', { month })}>
            <strong>{usd(nobody.usdMicros)}</strong>
          </Link>
          , {percent(share)} of it, has no team.
        </>
      )}
    </p>
  );
}

function Amount({ team, to, month }: { readonly team: TeamRow; readonly to: Address['to']; readonly month: string }) {
  return (
    <Link href={to(`/teams/${encodeURIComponent(team.team ?? '')}`, { month })}>
      <strong>
        {team.team} {usd(team.usdMicros)}
      </strong>
    </Link>
  );
}

/** Numbers come with closing: until then the column would be empty. */
function statementColumn(rows: readonly TeamRow[]): Column<Line>[] {
  if (rows.every(({ number }) => number === null)) return [];
  return [{ title: 'Statement', className: 'soft', room: 'some', cell: ({ row }) => row?.number ?? '–' }];
}

/** A number that a narrow page leaves out, so that a name and what was paid stay beside each other. */
const WHERE_ROOM = { isNumber: true, room: 'some' } as const;

function TeamTable({ reply, address: { to } }: PartProps) {
  const { rows, total, beforeMonth, otherRows, month } = reply;
  const known = dearestFirst(rows);
  const others = otherRows === 0 ? [] : [{ team: undefined, row: undefined }];
  const paid = usdParts(known.map(({ usdMicros }) => usdMicros));
  // With rows left out there is nothing they would add up to.
  const held = otherRows === 0 ? hoursParts(known.map(({ gpuSeconds }) => gpuSeconds)) : undefined;
  const page = (team: string | null): string =>
    team === null ? to('/unattributed', { month }) : to(`/teams/${encodeURIComponent(team)}`, { month });
  return (
    <DataTable
      caption={`What each team paid in ${monthName(month)}`}
      hasKeys
      columns={[
        {
          title: 'Team',
          sum: otherRows === 0 ? 'Total' : 'Everybody',
          cell: ({ team }) =>
            team === undefined ? (
              <span className="muted">{otherRows} other rows</span>
            ) : team === null ? (
              <>
                <Swatch of="unknown" />
                <Link href={page(null)}>unattributed</Link>
              </>
            ) : (
              <Link href={page(team)} title={team}>
                {cut(team)}
              </Link>
            ),
        },
        ...statementColumn(known),
        {
          title: 'GPU-hours',
          ...WHERE_ROOM,
          className: 'soft',
          cell: ({ row }) => (row === undefined ? '' : (held?.[known.indexOf(row)] ?? hours(row.gpuSeconds))),
          sum: hours(total.gpuSeconds),
        },
        {
          title: 'Computed',
          isNumber: true,
          cell: ({ row }) => (row === undefined ? '' : percent(row.computeSharePermille)),
        },
        {
          title: beforeMonth === null ? 'vs before' : `vs ${monthName(beforeMonth)}`,
          ...WHERE_ROOM,
          cell: ({ row }) => (row === undefined ? '' : (change(row.usdMicros, row.beforeUsdMicros) ?? '–')),
        },
        {
          title: 'Share',
          isNumber: true,
          className: 'soft',
          cell: ({ row }) => (row === undefined ? '' : percent(permilleOf(row.usdMicros, total.usdMicros))),
          sum: total.usdMicros === null ? '–' : '100.0%',
        },
        {
          title: 'Paid',
          isNumber: true,
          cell: ({ row }) =>
            row === undefined ? <span className="muted">total only</span> : (paid.parts[known.indexOf(row)] ?? ''),
          sum: otherRows === 0 ? paid.total : usd(total.usdMicros),
        },
      ]}
      rows={[...known.map((row) => ({ team: row.team, row })), ...others]}
      keyOf={({ team }) => (team === undefined ? 'others' : (team ?? ''))}
      open={({ team }) => (team === undefined ? to('/teams') : page(team))}
      empty="Nothing of this month is in the ledger."
    />
  );
}

/** What nobody owns stays last. */
function dearestFirst(rows: readonly TeamRow[]): TeamRow[] {
  return rows.toSorted(
    (a, b) => Number(a.team === null) - Number(b.team === null) || compareMicros(b.usdMicros, a.usdMicros),
  );
}

function compareMicros(a: string | null, b: string | null): number {
  const [x, y] = [BigInt(a ?? '-1'), BigInt(b ?? '-1')];
  return x === y ? 0 : x < y ? -1 : 1;
}
