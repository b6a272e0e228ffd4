import { useAnswer } from '../../ask.ts';
import { age, day, minute, usd } from '../../figures.ts';
import { useCommandKey } from '../../frame/command-key.ts';
import { Head } from '../../frame/head.tsx';
import { WholeFleet } from '../../frame/whole-fleet.tsx';
import { Content } from '../../parts/content.tsx';
import { CsvButton } from '../../parts/csv-button.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { StateMark } from '../../parts/marks.tsx';
import type { State } from '../../parts/marks.tsx';
import { Section } from '../../parts/section.tsx';
import type { SourcesReply } from '../../../../src/api/routes/sources/list-sources.ts';
import type { StatusReply } from '../../../../src/api/routes/sources/status.ts';
import { Bills } from './bills.tsx';
import { Doctor } from './doctor.tsx';
import { FreshStrips } from './fresh-strips.tsx';
import { freshCells, worthOf } from './fresh-words.ts';

/** Can the figures be trusted? */
export function Sources() {
  return (
    <WholeFleet title="Sources">
      <SourcesPage />
    </WholeFleet>
  );
}

function SourcesPage() {
  const answer = useAnswer<SourcesReply>('/sources');
  const status = useAnswer<StatusReply>('/status');
  useCommandKey(answer.data?.command);
  const reply = answer.data?.data;
  return (
    <>
      <Head title="Sources" />
      <Content answer={answer} className="stack">
        {reply === undefined || status.data === undefined ? null : <Sentence reply={reply} status={status.data.data} />}
        <Section
          title="How much was measured"
          sub="of the held GPU time of the last 48 hours, by cluster, UTC"
          answer={answer}
          acts={
            reply === undefined ? null : (
              <CsvButton
                name="bursar-freshness"
                columns={['cluster', 'hour', 'knownPermille']}
                rows={() => freshCells(reply.freshness)}
              />
            )
          }
        >
          {({ freshness }) => <FreshStrips freshness={freshness} />}
        </Section>
        <Section title="What is collected" answer={answer}>
          {(data) => <Collected reply={data} />}
        </Section>
        <Bills />
        <Doctor />
        <Section title="What is in the folder" sub="facts by table; what was imported is here too" answer={answer}>
          {({ tables }) => <Tables tables={tables} />}
        </Section>
      </Content>
    </>
  );
}

function Sentence({ reply, status }: { readonly reply: SourcesReply; readonly status: StatusReply }) {
  const { sources, newestFactAt, isHistory, ageSeconds } = status;
  const worth = worthOf(reply.freshness.clusters);
  const bad = sources.wrong + sources.attention;
  return (
    <p className="verdict">
      {newestFactAt === null ? (
        'Nothing is known yet: no fact with a time is in the folder.'
      ) : (
        <>
          {sources.total === 0 ? (
            <>Facts were imported and reach to </>
          ) : bad === 0 ? (
            <>
              <a href="#collected">
                <strong>{sources.total === 1 ? 'The one source' : `All ${sources.total} sources`}</strong>
              </a>{' '}
              answer; facts reach to{' '}
            </>
          ) : (
            <>
              <a href="#collected">
                <strong>
                  {bad} of {sources.total} sources
                </strong>
              </a>{' '}
              {bad === 1 ? 'does' : 'do'} not tell what is asked; facts reach to{' '}
            </>
          )}
          <strong>{minute(newestFactAt)} UTC</strong>
          {isHistory || ageSeconds === null ? '' : `, ${age(ageSeconds)} ago`}.{' '}
          {worth === '0' ? (
            'Nothing of the last 48 hours is unknown.'
          ) : (
            <>
              <a href="#measured">
                <strong>{usd(worth)}</strong>
              </a>{' '}
              of the last 48 hours was held and not measured: unknown, not idle.
            </>
          )}
        </>
      )}
    </p>
  );
}

const STATES: Readonly<Record<string, readonly [State, string]>> = {
  ok: ['good', 'ok'],
  late: ['warn', 'late'],
  failing: ['bad', 'failing'],
  never: ['bad', 'never answered'],
};

type Collecting = SourcesReply['sources'][number];

function Collected({ reply }: { readonly reply: SourcesReply }) {
  const { sources, asOf } = reply;
  const sinceWords = (time: string | null): string =>
    time === null ? 'never' : `${minute(time)}, ${age((Date.parse(asOf) - Date.parse(time)) / 1000)} ago`;
  return (
    <div id="collected">
      <DataTable
        caption="Sources that are collected"
        hasKeys
        columns={[
          {
            title: 'Source',
            className: 'wrap',
            cell: ({ name, reads, error, skipped }) => (
              <>
                {name} <span className="gloss">{reads}</span>
                {error === null ? null : (
                  <p className="note">
                    {error.message} {error.hint ?? ''}
                  </p>
                )}
                {skipped.slice(0, 2).map((each) => (
                  <p key={each.reason} className="note">
                    left out: {each.count.toLocaleString('en-US')} × {each.reason}
                  </p>
                ))}
              </>
            ),
          },
          { title: 'Kind', className: 'soft', cell: ({ kind }) => kind },
          {
            title: 'State',
            cell: ({ state }) => {
              const [mark, words] = STATES[state] ?? ['none', state];
              return (
                <span className="radius-line">
                  <StateMark state={mark} /> {words}
                </span>
              );
            },
          },
          { title: 'Read up to', cell: ({ coveredUntil }) => sinceWords(coveredUntil) },
          { title: 'Gaps', isNumber: true, cell: gapWords },
          {
            title: 'Rows',
            isNumber: true,
            cell: ({ rows }) =>
              Object.values(rows)
                .reduce((sum, count) => sum + count, 0)
                .toLocaleString('en-US'),
          },
        ]}
        rows={sources}
        keyOf={({ name }) => name}
        empty={
          <>
            Nothing is collected here: facts were imported. <code>bursar init</code> finds your sources,{' '}
            <code>bursar collect --follow</code> reads them.
          </>
        }
      />
    </div>
  );
}

function gapWords({ gaps }: Collecting): string {
  if (gaps.length === 0) return 'none';
  const hours = gaps.reduce((sum, { from, until }) => sum + (Date.parse(until) - Date.parse(from)) / 3_600_000, 0);
  return `${gaps.length}, ${hours < 10 ? hours.toFixed(1) : Math.round(hours)} h`;
}

function Tables({ tables }: { readonly tables: SourcesReply['tables'] }) {
  const time = (text: string | null): string => (text === null ? '–' : `${day(text)}, ${text.slice(11, 16)}`);
  return (
    <DataTable
      caption="What is in the folder, by table"
      columns={[
        { title: 'Table', cell: ({ table }) => <code>{table}</code> },
        { title: 'Batches', isNumber: true, cell: ({ batches }) => batches.toLocaleString('en-US') },
        { title: 'Rows', isNumber: true, cell: ({ rows }) => rows.toLocaleString('en-US') },
        { title: 'From', isNumber: true, className: 'soft', cell: ({ firstAt }) => time(firstAt) },
        { title: 'Newest', isNumber: true, cell: ({ newestAt }) => time(newestAt) },
      ]}
      rows={tables}
      keyOf={({ table }) => table}
      empty="Nothing is in the folder yet: bursar demo makes something to look around in."
    />
  );
}
