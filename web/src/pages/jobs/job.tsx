import { Link } from 'wouter';
import { copyText } from '../../copy.ts';
import { useAddress } from '../../address.ts';
import { csvAddress, useAnswer } from '../../ask.ts';
import { age, cut, hours, leastUsd, minute, usd } from '../../figures.ts';
import { Head } from '../../frame/head.tsx';
import { useKeys } from '../../frame/keys.ts';
import { Content } from '../../parts/content.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { CsvButton } from '../../parts/csv-button.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import type { Column } from '../../parts/data-table.tsx';
import { Loading, Section } from '../../parts/section.tsx';
import { Trouble } from '../../parts/trouble.tsx';
import type { JobReply } from '../../../../src/api/routes/jobs/job.ts';
import { Legend } from '../fleet/legend.tsx';
import { activityCells, ActivityRows } from './activity-rows.tsx';
import { JobPanel } from './job-panel.tsx';
import { shortModel } from './model-word.ts';
import { MoneyHours } from './money-hours.tsx';
import { Outcome } from './outcome.tsx';
import { barsWords, CATEGORY_GLOSS, jobMoney, verdictOf } from './verdict.ts';

/** What did one job cost, and was it worth it? */
export function Job({ id }: { readonly id: string }) {
  const { words, change, to } = useAddress();
  const path = `/jobs/${encodeURIComponent(id)}`;
  const query = { asOf: words['asOf'], team: words['team'] };
  const answer = useAnswer<JobReply>(path, query);
  const isTable = words['view'] === 'table';
  const flip = (): void => change({ view: isTable ? undefined : 'table' });
  const command = answer.data?.command ?? null;
  useKeys([
    { key: 't', words: 'table or chart', isShown: true, run: flip },
    { key: 'esc', words: 'jobs', isShown: true, run: () => history.back() },
    ...(command === null
      ? []
      : [{ key: '.', words: 'copy as command', isShown: true, run: () => void copyText(command) }]),
  ]);
  const reply = answer.data?.data;
  const steps = reply === undefined ? null : barsWords(reply);
  return (
    <>
      <Head
        title={reply?.job ?? id}
        above={
          <>
            <Link href={to('/jobs')}>Jobs</Link>
            <span>/</span>
          </>
        }
      >
        {reply === undefined ? null : <span className="muted head-note">{whereWords(reply)}</span>}
      </Head>
      <div className="with-panel">
        <Content answer={answer} className="stack">
          {answer.error === null ? null : <Trouble problem={answer.error} retry={() => void answer.refetch()} />}
          {reply === undefined ? answer.error === null ? <Loading /> : null : null}
          {reply === undefined ? null : (
            <>
              <div>
                <Verdict reply={reply} />
                <Checks reply={reply} />
              </div>
              <Section
                title={steps === null ? 'Money by the hour' : 'Money over time'}
                sub={`${leastUsd(reply.usdMicros, reply.unpricedSeconds)} in ${hours(reply.gpuSeconds)} GPU-hours${steps === null ? '' : `, ${steps}`}`}
                acts={<Flip isTable={isTable} flip={flip} />}
                answer={answer}
                csv={csvAddress(path, query)}
              >
                {(data) => <MoneyHours reply={data} isTable={isTable} />}
              </Section>
              <Activity reply={reply} isTable={isTable} flip={flip} command={command} />
              <Attempts reply={reply} />
            </>
          )}
        </Content>
        {reply === undefined ? null : <JobPanel reply={reply} />}
      </div>
    </>
  );
}

function Flip({ isTable, flip }: { readonly isTable: boolean; readonly flip: () => void }) {
  return (
    <button className="link" onClick={flip}>
      {isTable ? 'chart' : 'table'}
    </button>
  );
}

interface ActivityProps {
  readonly reply: JobReply;
  readonly isTable: boolean;
  readonly flip: () => void;
  readonly command: string | null;
}

function Activity({ reply, isTable, flip, command }: ActivityProps) {
  return (
    <section>
      <div className="section-head">
        <h2>Activity per GPU</h2>
        <span className="sub">SM active, steps of {age(reply.activity.stepSeconds)}</span>
        <span className="acts">
          <Flip isTable={isTable} flip={flip} />
          <CsvButton
            name={`bursar-activity-${reply.allocationId}`}
            columns={['deviceId', 'node', 'from', 'level', 'state']}
            rows={() => activityCells(reply)}
          />
          {command === null ? null : <CopyButton text={command} words="command" />}
        </span>
      </div>
      <ActivityRows reply={reply} isTable={isTable} />
      {isTable ? null : <Legend measure="activity" />}
    </section>
  );
}

function whereWords({ source, allocationId, cluster, attempts, devices }: JobReply): string {
  const models = [...new Set(devices.flatMap(({ model }) => (model === null ? [] : [shortModel(model)])))];
  const nodes = [...new Set(devices.flatMap(({ node }) => node ?? []))];
  return [
    `${source} ${cut(allocationId, 20)}`,
    cluster ?? '',
    nodes.length === 0 ? '' : nodes.length === 1 ? (nodes[0] ?? '') : `${nodes.length} nodes`,
    `${attempts.at(-1)?.gpus ?? 0}×${models.length === 0 ? 'GPU' : cut(models.join(', '), 30)}`,
  ]
    .filter((word) => word !== '')
    .join(', ');
}

function Verdict({ reply }: { readonly reply: JobReply }) {
  const verdict = verdictOf(reply);
  const isRunning = reply.attempts.some(({ heldUntil }) => heldUntil === null);
  const cost = leastUsd(reply.usdMicros, reply.unpricedSeconds);
  const share = verdict.category === undefined ? undefined : reply.categories[verdict.category];
  const told = jobMoney(reply).steps.find(({ step }) => step.category === verdict.category)?.shown;
  const gpus = reply.attempts.at(-1)?.gpus ?? 0;
  return (
    <p className="verdict">
      <strong className={verdict.state === 'none' ? 'soft' : verdict.state}>{verdict.word}.</strong>{' '}
      {reply.usdMicros === null ? (
        <>The run held {hours(reply.gpuSeconds)} GPU-hours that have no price</>
      ) : (
        <>
          The run {isRunning ? 'has cost' : 'cost'} <strong>{cost}</strong>
          {isRunning ? ' so far' : ''}
        </>
      )}
      {share === undefined || verdict.category === undefined ? (
        <> on {gpus === 1 ? 'one GPU' : `${gpus} GPUs`}.</>
      ) : (
        <>
          ; for{' '}
          <strong>
            {share.usdMicros === null || reply.usdMicros === null
              ? `${hours(share.gpuSeconds)} GPU-hours`
              : (told ?? usd(share.usdMicros))}
          </strong>{' '}
          of it {CATEGORY_GLOSS[verdict.category] ?? verdict.category}.
        </>
      )}
    </p>
  );
}

function Checks({ reply }: { readonly reply: JobReply }) {
  const { to } = useAddress();
  const last = reply.attempts.at(-1);
  const first = reply.attempts[0];
  const basis = Object.keys(reply.basisUsdMicros);
  const end = last?.heldUntil ?? null;
  return (
    <ul className="checks">
      <li>
        <Outcome outcome={last?.outcome ?? null} isRunning={last?.heldUntil === null} />
      </li>
      {first === undefined ? null : (
        <li>
          {minute(first.heldFrom)} – {end === null ? 'now' : minute(end)} UTC,{' '}
          {age((Date.parse(end ?? reply.asOf) - Date.parse(first.heldFrom)) / 1000)}
        </li>
      )}
      <li>
        {reply.team === null ? (
          <span className="unattributed">unattributed</span>
        ) : (
          <Link href={to(`/teams/${encodeURIComponent(reply.team)}`)}>{reply.team}</Link>
        )}
        <span className="gloss">by {reply.rule === null || reply.rule === 'none' ? 'no rule' : reply.rule}</span>
      </li>
      {reply.user === null ? null : <li>{reply.user}</li>}
      {reply.class === null ? null : <li>{reply.class}</li>}
      <li>{basis.length === 0 ? 'no price' : basis.map((word) => BASIS_WORDS[word] ?? word).join(', ')}</li>
    </ul>
  );
}

const BASIS_WORDS: Readonly<Record<string, string>> = {
  billed: 'billed',
  rate: 'by stated rates',
  estimated: 'bill not in: estimated',
};

type Attempt = JobReply['attempts'][number];

const held = ({ heldFrom, heldUntil }: Attempt, asOf: string): string =>
  age((Date.parse(heldUntil ?? asOf) - Date.parse(heldFrom)) / 1000);

const ATTEMPT_COLUMNS: readonly Column<Attempt & { readonly length: string }>[] = [
  { title: 'Attempt', cell: ({ attempt }) => attempt },
  { title: 'From, UTC', cell: ({ heldFrom }) => minute(heldFrom) },
  { title: 'Until', cell: ({ heldUntil }) => (heldUntil === null ? 'running' : minute(heldUntil)) },
  { title: 'Held', isNumber: true, cell: ({ length }) => length },
  { title: 'GPUs', isNumber: true, cell: ({ gpus }) => gpus },
  {
    title: 'Outcome',
    cell: ({ outcome, heldUntil }) => <Outcome outcome={outcome} isRunning={heldUntil === null} />,
  },
];

function Attempts({ reply }: { readonly reply: JobReply }) {
  const lives = reply.attempts.length;
  return (
    <section>
      <div className="section-head">
        <h2>Attempts</h2>
        <span className="sub">{lives === 1 ? 'one life' : `${lives} lives, all of them in the sum`}</span>
      </div>
      <DataTable
        caption="Attempts of the job"
        rows={reply.attempts.map((attempt) => ({ ...attempt, length: held(attempt, reply.asOf) }))}
        keyOf={({ attempt }) => String(attempt)}
        columns={ATTEMPT_COLUMNS}
      />
    </section>
  );
}
