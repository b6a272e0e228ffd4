import type { UseQueryResult } from '@tanstack/react-query';
import { sharedQuery, useAddress } from '../../address.ts';
import { useAnswer } from '../../ask.ts';
import type { Answer, Problem } from '../../ask.ts';
import { dayRange, factDays, lengthWords } from '../../figures.ts';
import { useCommandKey } from '../../frame/command-key.ts';
import { Head } from '../../frame/head.tsx';
import { ScopeControl } from '../../frame/scope-control.tsx';
import { windowOf, WindowControl } from '../../frame/window-control.tsx';
import { Content } from '../../parts/content.tsx';
import { Banner } from '../../parts/banner.tsx';
import { Loading } from '../../parts/section.tsx';
import { Trouble } from '../../parts/trouble.tsx';
import { useWhyKey } from '../../why/figure.tsx';
import { WhyPanel } from '../../why/why-panel.tsx';
import type { FirstFindingsReply } from '../../../../src/api/routes/overview/overview-findings.ts';
import type { OverviewReply } from '../../../../src/api/routes/overview/overview.ts';
import { Checks } from './checks.tsx';
import { Classes } from './classes.tsx';
import { DoFirst } from './do-first.tsx';
import { OutcomeTable } from './outcome-table.tsx';
import { SourceList } from './source-list.tsx';
import { Trends } from './trends.tsx';
import { VerdictLine, VerdictPanel, WHY_VERDICT } from './verdict.tsx';
import { Waterfall } from './waterfall.tsx';

/** Are we fine? */
export function Overview() {
  const address = useAddress();
  const query = sharedQuery(address);
  const answer = useAnswer<OverviewReply>('/overview', query);
  // Findings take longer than all the rest: the page does not wait for them.
  const findings = useAnswer<FirstFindingsReply>('/overview/findings', query);
  useWhyKey();
  const reply = answer.data?.data;
  const why = address.words['why'];
  // An open panel has a command of its own.
  useCommandKey(why === undefined || why === WHY_VERDICT ? answer.data?.command : null);
  return (
    <>
      <Head title="Overview">
        <WindowControl shown={windowOf(answer)} />
        <ScopeControl />
        <Against answer={answer} />
      </Head>
      <div className={why === undefined ? 'without-panel' : 'with-panel'}>
        <Content answer={answer}>
          {answer.error === null ? null : <Trouble problem={answer.error} retry={() => void answer.refetch()} />}
          {reply === undefined ? null : (
            <div className="head-figures">
              <Mark reply={reply} />
              <VerdictLine reply={reply} findings={findings} />
              <Checks reply={reply} />
            </div>
          )}
          {reply === undefined && answer.error === null ? <Loading rows={2} /> : null}
          {answer.error?.isOfTheQuestion === true ? null : <Parts answer={answer} findings={findings} />}
        </Content>
        {why === undefined ? null : why !== WHY_VERDICT ? (
          <WhyPanel of={why} paid={reply?.paidUsdMicros} />
        ) : reply === undefined ? null : (
          <VerdictPanel reply={reply} />
        )}
      </div>
    </>
  );
}

interface PartsProps {
  readonly answer: UseQueryResult<Answer<OverviewReply>, Problem>;
  readonly findings: UseQueryResult<Answer<FirstFindingsReply>, Problem>;
}

/** The evidence, each part with an answer of its own. */
function Parts({ answer, findings }: PartsProps) {
  const reply = answer.data?.data;
  const days = reply === undefined ? null : factDays(reply.window, reply.window.ledgerDays);
  return (
    <div className="columns">
      <div className="stack">
        <Waterfall findings={findings} days={days} />
        <DoFirst findings={findings} />
        <Classes />
        <OutcomeTable />
      </div>
      <div className="stack">
        {reply === undefined ? null : (
          <>
            <Trends reply={reply} command={answer.data?.command ?? null} />
            <SourceList reply={reply} />
          </>
        )}
      </div>
    </div>
  );
}

/** What changes are measured against: the window of the same length before, where facts reach back to it. */
function Against({ answer: { data, isPlaceholderData } }: { readonly answer: UseQueryResult<Answer<OverviewReply>> }) {
  if (data === undefined || isPlaceholderData) return null;
  const { before } = data.data;
  return (
    <span className="muted head-note">
      {before.sum === undefined
        ? 'nothing before to compare with'
        : `against ${dayRange(before.from, before.until)}, the ${lengthWords(before.from, before.until)} before`}
    </span>
  );
}

/** What stands between the reader and the figures: facts that end in the past. That of a demo stands over every page. */
function Mark({ reply }: { readonly reply: OverviewReply }) {
  if (reply.isDemo || reply.asOfBy !== 'newest fact') return null;
  return (
    <Banner kind="warn">
      The newest fact is of {reply.asOf.slice(0, 16).replace('T', ' ')} UTC: you see everything as at then.
    </Banner>
  );
}
