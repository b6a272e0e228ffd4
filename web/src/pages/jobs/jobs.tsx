import { useState } from 'react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { sharedQuery, useAddress } from '../../address.ts';
import { csvAddress, useAnswer } from '../../ask.ts';
import { cut, hours, least, leastUsd, minute, percent, permilleOf, usdParts } from '../../figures.ts';
import { useCommandKey } from '../../frame/command-key.ts';
import { Head } from '../../frame/head.tsx';
import { ScopeControl } from '../../frame/scope-control.tsx';
import { windowOf, WindowControl } from '../../frame/window-control.tsx';
import { Content } from '../../parts/content.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import type { Column } from '../../parts/data-table.tsx';
import { Section } from '../../parts/section.tsx';
import type { JobsReply } from '../../../../src/api/routes/jobs/jobs.ts';
import { shortModel } from './model-word.ts';
import { Outcome } from './outcome.tsx';
import { whoseWords } from './whose-words.ts';

type Row = JobsReply['rows'][number];

const SORTS = [
  ['cost', 'what they cost'],
  ['waste', 'what they wasted'],
  ['recent', 'when they began'],
] as const;

/** Which jobs cost what, and what came of them? */
export function Jobs() {
  const address = useAddress();
  const { words, change } = address;
  const query = {
    ...sharedQuery(address),
    search: words['search'],
    filter: words['filter'],
    sort: words['sort'],
    cursor: words['cursor'],
  };
  const answer = useAnswer<JobsReply>('/jobs', query);
  useCommandKey(answer.data?.command);
  return (
    <>
      <Head title="Jobs">
        <WindowControl shown={windowOf(answer)} />
        <ScopeControl />
      </Head>
      <Content answer={answer}>
        {answer.data === undefined ? null : <Sentence reply={answer.data.data} />}
        <div className="bar jobs-bar">
          <Find key={words['search'] ?? ''} />
          <span className="label">Sort by</span>
          <select
            className="control"
            aria-label="Sort jobs by"
            value={words['sort'] ?? 'cost'}
            onChange={(event) => change({ sort: event.target.value, cursor: undefined })}
          >
            {SORTS.map(([name, label]) => (
              <option key={name} value={name}>
                {label}
              </option>
            ))}
          </select>
        </div>
        <Section title="Jobs that held GPUs" answer={answer} csv={csvAddress('/jobs', query)}>
          {(reply) => <List reply={reply} />}
        </Section>
      </Content>
    </>
  );
}

/** What was found, in one sentence. */
function Sentence({ reply }: { readonly reply: JobsReply }) {
  const { words, to } = useAddress();
  const { jobs, costUsdMicros, computedUsdMicros, wasteUsdMicros, wasteUnpricedSeconds, unpricedSeconds } = reply.total;
  const search = words['search'];
  const whose = whoseWords(words, jobs);
  const noun = jobs === 1 ? 'job' : 'jobs';
  if (jobs === 0) {
    return (
      <p className="verdict">
        No job {whose === '' ? '' : `${whose} `}held a GPU in this window.
        {words['filter'] === undefined ? null : (
          <>
            {' '}
            <Link href={to('/jobs', { ...words, filter: undefined, cursor: undefined })}>Take the filter off</Link>, or
            choose another window.
          </>
        )}
      </p>
    );
  }
  const share = permilleOf(computedUsdMicros, costUsdMicros);
  return (
    <p className="verdict">
      <strong>{jobs.toLocaleString('en-US')}</strong> {noun} {whose === '' ? '' : `${whose} `}
      {costUsdMicros === null ? (
        <>held GPUs that have no price.</>
      ) : (
        <>
          cost{' '}
          <Link href={to('/spend', { by: 'job' })}>
            <strong>{leastUsd(costUsdMicros, unpricedSeconds)}</strong>
          </Link>
          ; {percent(share, 0)} of it computed,{' '}
          <Link href={to('/jobs', { search, sort: 'waste' })}>
            <strong>
              {wasteUsdMicros === null ? 'time without a price' : leastUsd(wasteUsdMicros, wasteUnpricedSeconds)}
            </strong>
          </Link>{' '}
          was idle, starved or lost.
        </>
      )}
    </p>
  );
}

function Find() {
  const { words, change } = useAddress();
  const [text, setText] = useState(words['search'] ?? '');
  return (
    <form
      role="search"
      aria-label="Jobs"
      onSubmit={(event) => {
        event.preventDefault();
        change({ search: text.trim() === '' ? undefined : text.trim(), cursor: undefined });
      }}
    >
      <input
        className="control jobs-find"
        type="search"
        aria-label="Find jobs by id, name, user, team, node or GPU"
        placeholder="id, name, user, team, node, GPU model"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
    </form>
  );
}

type PaidRow = Row & { readonly paid: string };

const jobPath = ({ source, allocationId }: Row): string => `/jobs/${encodeURIComponent(`${source}/${allocationId}`)}`;

function JobName({ row }: { readonly row: Row }) {
  const { to } = useAddress();
  return (
    <>
      <Link href={to(jobPath(row))} title={row.job ?? row.allocationId}>
        {cut(row.job ?? row.allocationId, 30)}
      </Link>
      <span className="gloss" title={row.allocationId}>
        {cut(row.job === null ? row.source : row.allocationId, 14)}
      </span>
    </>
  );
}

const WHAT_CAME_OF_IT: readonly Column<PaidRow>[] = [
  {
    title: 'Wasted',
    isNumber: true,
    cell: (row) => leastUsd(row.wasteUsdMicros, row.wasteUnpricedSeconds),
  },
  {
    title: 'Computed',
    isNumber: true,
    cell: ({ computedPermille }) => (computedPermille === null ? 'unknown' : percent(computedPermille, 0)),
  },
  { title: 'GPU-hours', isNumber: true, room: 'some', cell: ({ gpuSeconds }) => hours(gpuSeconds) },
  {
    title: 'Outcome',
    room: 'some',
    cell: (row) => <Outcome outcome={row.outcome} isRunning={row.heldUntil === null} />,
  },
];

const TEAM_AND_PLACE: readonly Column<PaidRow>[] = [
  {
    title: 'Team',
    room: 'some',
    cell: ({ team }) => (team === null ? <span className="unattributed">unattributed</span> : cut(team, 20)),
  },
  { title: 'User', room: 'much', cell: ({ user }) => cut(user ?? '–', 18) },
  { title: 'GPUs', room: 'some', cell: (row) => <span title={placeWords(row)}>{gpuWords(row)}</span> },
  {
    title: 'Node',
    room: 'much',
    cell: ({ node, nodes }) => (
      <span title={node ?? undefined}>
        {node === null ? '–' : `${cut(node, 18)}${nodes > 1 ? ` +${nodes - 1}` : ''}`}
      </span>
    ),
  },
  { title: 'Began, UTC', room: 'much', cell: ({ heldFrom }) => (heldFrom === null ? '–' : minute(heldFrom)) },
];

const nameCell = (row: PaidRow): ReactNode => <JobName row={row} />;

function List({ reply }: { readonly reply: JobsReply }) {
  const { words, to, change } = useAddress();
  const { rows, total, nextCursor } = reply;
  const shown = usdParts(rows.map(({ costUsdMicros }) => costUsdMicros));
  const unpriced = rows.reduce((seconds, { unpricedSeconds }) => seconds + unpricedSeconds, 0);
  const isAll = nextCursor === undefined && words['cursor'] === undefined;
  const sum = isAll ? 'Total' : `These ${rows.length} of ${total.jobs.toLocaleString('en-US')}`;
  return (
    <>
      <DataTable
        caption="Jobs that held GPUs"
        hasKeys
        rows={rows.map((row, place) => ({ ...row, paid: least(shown.parts[place] ?? '', row.unpricedSeconds) }))}
        keyOf={(row) => `${row.source}/${row.allocationId}`}
        open={(row) => to(jobPath(row))}
        empty="None. Another window or a shorter word may find it; bursar import allocations FILE brings jobs in."
        columns={[
          { title: 'Job', className: 'name', cell: nameCell, sum },
          // The money beside the name: where the table is wider than the page it is the place that scrolls away.
          { title: 'Paid', isNumber: true, cell: ({ paid }) => paid, sum: least(shown.total, unpriced) },
          ...WHAT_CAME_OF_IT,
          ...TEAM_AND_PLACE,
        ]}
      />
      <div className="bar pages-bar">
        {words['cursor'] === undefined ? null : (
          <button className="control" onClick={() => change({ cursor: undefined })}>
            First page
          </button>
        )}
        {nextCursor === undefined ? null : (
          <button className="control" onClick={() => change({ cursor: nextCursor })}>
            Next {rows.length}
          </button>
        )}
      </div>
    </>
  );
}

/** `16×H100`; where it ran stands in the title. */
function gpuWords({ gpus, model }: Row): string {
  return `${gpus ?? '?'}×${model === null ? 'GPU' : shortModel(model)}`;
}

function placeWords({ model, nodes, node }: Row): string {
  const where = node === null ? '' : `, ${node}${nodes > 1 ? ` and ${nodes - 1} more` : ''}`;
  return `${model ?? 'model unknown'}${where}`;
}
