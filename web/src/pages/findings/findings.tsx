import { Link, useParams } from 'wouter';
import { useAddress } from '../../address.ts';
import { csvAddress } from '../../ask.ts';
import { cut, usd } from '../../figures.ts';
import { useCommandKey } from '../../frame/command-key.ts';
import { Head } from '../../frame/head.tsx';
import { windowOf, WindowControl } from '../../frame/window-control.tsx';
import { Content } from '../../parts/content.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import type { Column } from '../../parts/data-table.tsx';
import { BlastRadius } from '../../parts/marks.tsx';
import { Unbroken } from '../../parts/unbroken.tsx';
import { Section } from '../../parts/section.tsx';
import { useSegment } from '../../segment.ts';
import type { FindingsReply } from '../../../../src/api/routes/findings/list-findings.ts';
import { useDecisions } from './decide.ts';
import { Filters } from './filters.tsx';
import { FindingPage } from './finding.tsx';
import { isToDo, ownerWords, savingWords, stateWords } from './finding-words.ts';
import type { FindingRow } from './finding-words.ts';
import { chosenWords } from './none-words.ts';
import { FindingsChecks, FindingsSentence } from './sentence.tsx';
import { Triage } from './triage.tsx';
import { useFindings } from './use-findings.ts';

/** As many as are looked through in one go. */
const FIRST = 25;

/** What do I do first? */
export function Findings() {
  const isOne = useParams<{ finding?: string }>().finding !== undefined;
  const id = useSegment(1);
  return isOne ? <FindingPage id={id} /> : <FindingList />;
}

function FindingList() {
  const { words, change, to } = useAddress();
  const { answer, query, reply, told } = useFindings();
  const decisions = useDecisions();
  useCommandKey(answer.data?.command);
  const find = (at: string): FindingRow | undefined => told.find(({ id, key }) => (id ?? key) === at);
  const chosen = find(words['at'] ?? '');
  const small = reply?.small.count ?? 0;
  // The first screen is what to do first; a link to a row further down opens all of them.
  const first = told.slice(0, FIRST);
  const isWhole = words['rows'] === 'all' || (chosen !== undefined && !first.includes(chosen));
  const listed = isWhole ? told : first;
  return (
    <>
      <Head title="Findings">
        <WindowControl shown={windowOf(answer)} />
      </Head>
      <Content answer={answer} className="stack">
        {reply === undefined ? null : (
          <div>
            <FindingsSentence
              findings={told.filter(isToDo)}
              listed={told.length + (reply.fixed?.length ?? 0)}
              reply={reply}
            />
            <FindingsChecks reply={reply} small={small} />
          </div>
        )}
        <Filters names={reply?.names} setAside={reply?.setAside ?? 0} small={small} />
        <Section
          title="What to do"
          sub="safest first, then money; dollars come off the bill (cash), GPU-hours are time for others (capacity)"
          answer={answer}
          csv={csvAddress('/findings', query)}
        >
          {() => (
            <>
              <Triage finding={chosen} find={find} decisions={decisions} />
              <DataTable
                caption="Findings, safest first, then money"
                className="findings"
                hasKeys
                columns={columnsOf(to)}
                rows={listed}
                keyOf={({ id, key }) => id ?? key}
                open={({ id }) => (id === null ? undefined : to(`/findings/${id}`))}
                chosen={words['at']}
                onChoose={(at) => change({ at }, { replace: true })}
                empty={
                  chosenWords(words) === undefined
                    ? 'No finding. Another window may have some.'
                    : 'No finding matches. Take a filter off, or choose a longer window.'
                }
              />
              {listed.length === told.length ? null : (
                <button className="control more-rows" onClick={() => change({ rows: 'all' })}>
                  All {told.length}, {told.length - listed.length} more
                </button>
              )}
            </>
          )}
        </Section>
        {reply?.fixed === undefined ? null : <Fixed records={reply.fixed} to={to} />}
      </Content>
    </>
  );
}

function columnsOf(to: (path: string) => string): Column<FindingRow>[] {
  return [
    {
      title: 'Id',
      cell: ({ id }) =>
        id === null ? <span className="muted">new</span> : <Link href={to(`/findings/${id}`)}>{id}</Link>,
    },
    { title: 'Blast radius', room: 'some', cell: ({ blastRadius }) => <BlastRadius radius={blastRadius} /> },
    {
      title: 'Finding',
      className: 'wrap',
      cell: (finding) => (
        <>
          {finding.what}
          {finding.state === 'open' ? null : <span className="gloss">{stateWords(finding)}</span>}
        </>
      ),
    },
    {
      title: 'Owner',
      room: 'some',
      cell: (finding) => <span title={ownerWords(finding)}>{cut(ownerWords(finding), 26)}</span>,
    },
    { title: 'Effort', className: 'soft wrap effort', room: 'much', cell: ({ effort }) => effort },
    {
      title: 'Cost',
      isNumber: true,
      cell: ({ kind, usdMicros }) => (kind === 'question' ? <span className="muted">–</span> : usd(usdMicros)),
    },
    {
      title: 'Saves',
      isNumber: true,
      className: 'saves',
      cell: (finding) => (
        <>
          <Unbroken text={savingWords(finding)} />
          {finding.kind === 'price-avoided' ? <span className="gloss">price avoided</span> : null}
        </>
      ),
    },
  ];
}

interface FixedProps {
  readonly records: NonNullable<FindingsReply['fixed']>;
  readonly to: (path: string) => string;
}

/** Gone from the data: seen there, not claimed by anybody. */
function Fixed({ records, to }: FixedProps) {
  return (
    <section aria-labelledby="fixed-title">
      <div className="section-head">
        <h2 id="fixed-title">Fixed</h2>
        <span className="sub">the facts have gone on and nothing claims them any more</span>
      </div>
      <DataTable
        caption="Findings that are fixed"
        columns={[
          { title: 'Id', cell: ({ id }) => <Link href={to(`/findings/${id}`)}>{id}</Link> },
          { title: 'Finding', className: 'wrap', cell: ({ what }) => what },
          { title: 'Last seen', isNumber: true, cell: ({ lastSeenAt }) => lastSeenAt.slice(0, 16).replace('T', ' ') },
        ]}
        rows={records}
        keyOf={({ id }) => id}
        empty="None is fixed yet."
      />
    </section>
  );
}
