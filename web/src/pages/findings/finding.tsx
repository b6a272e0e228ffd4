import { Link, useLocation } from 'wouter';
import { useAddress } from '../../address.ts';
import { csvAddress, useAnswer } from '../../ask.ts';
import { minute, usd, usdRange } from '../../figures.ts';
import { useCommandKey } from '../../frame/command-key.ts';
import { Head } from '../../frame/head.tsx';
import { useKeys } from '../../frame/keys.ts';
import { Content } from '../../parts/content.tsx';
import { Swatch } from '../../parts/marks.tsx';
import { Section } from '../../parts/section.tsx';
import { stepOf } from '../../steps.ts';
import type { OneFindingAnswer } from '../../../../src/api/routes/findings/one-finding.ts';
import { FindingBody } from './finding-body.tsx';
import { FindingPanel } from './finding-panel.tsx';
import { hoursRange, savingWords, stateWords } from './finding-words.ts';
import type { FindingRow } from './finding-words.ts';
import { useFindings } from './use-findings.ts';

/** What is it, how sure is it, and what do I do about it? */
export function FindingPage({ id }: { readonly id: string }) {
  const { words, to } = useAddress();
  const [, navigate] = useLocation();
  const query = { window: words['window'] ?? '30d', asOf: words['asOf'] };
  const path = `/findings/${encodeURIComponent(id)}`;
  const answer = useAnswer<OneFindingAnswer>(path, query);
  // What came before may be another finding: it is not shown as this one.
  const reply = answer.data?.data.record.id === id.toUpperCase() ? answer.data.data : undefined;
  const told = useFindings().told.filter((each) => each.id !== null);
  useCommandKey(reply === undefined ? null : answer.data?.command);
  const place = told.findIndex((each) => each.id === id);
  const go = (by: -1 | 1): void => {
    const other = told[place < 0 ? 0 : place + by];
    if (other?.id != null) navigate(to(`/findings/${other.id}`, kept(words)));
  };
  useKeys([
    { key: 'j', words: 'next finding', isShown: true, run: () => go(1) },
    { key: 'k', words: 'finding before', isShown: true, run: () => go(-1) },
    { key: 'esc', words: 'list', isShown: true, run: () => navigate(to('/findings', { ...kept(words), at: id })) },
  ]);
  return (
    <>
      <Head
        title={id}
        above={
          <>
            <Link href={to('/findings', { ...kept(words), at: id })}>Findings</Link>
            <span aria-hidden="true">/</span>
          </>
        }
      >
        <span className="join">
          <button className="control" disabled={place <= 0} onClick={() => go(-1)}>
            Previous <kbd>k</kbd>
          </button>
          <button className="control" disabled={place >= told.length - 1} onClick={() => go(1)}>
            Next <kbd>j</kbd>
          </button>
        </span>
        {place < 0 ? null : (
          <span className="soft">
            {place + 1} of {told.length}, safest first
          </span>
        )}
      </Head>
      <div className="with-panel">
        <Content answer={answer} className="stack">
          <Section title="What it is" answer={answer} isTitleUnseen>
            {() => (reply === undefined ? null : <What reply={reply} />)}
          </Section>
          {reply?.finding == null ? null : (
            <FindingBody
              finding={reply.finding}
              reply={reply}
              csv={csvAddress(`${path}/rows`, query)}
              answer={answer}
            />
          )}
        </Content>
        <aside className="panel" aria-label={`What to do about ${id}`}>
          {reply === undefined ? null : <FindingPanel reply={reply} />}
        </aside>
      </div>
    </>
  );
}

/** The filters of the list stay, so that next and previous mean the same as there. */
function kept(words: Readonly<Record<string, string | undefined>>) {
  const { state, category, detector, owner, small } = words as Record<string, string | undefined>;
  return { state, category, detector, owner, small };
}

function What({ reply: { finding, record } }: { readonly reply: OneFindingAnswer }) {
  if (finding === null) {
    return (
      <>
        <p className="verdict">{record.what}</p>
        <p className="note">
          Nothing in this window claims it: it is {record.state}, last seen {minute(record.lastSeenAt)} UTC. A longer
          window may still have it.
        </p>
      </>
    );
  }
  const step = stepOf(finding.category);
  const isQuestion = finding.kind === 'question';
  return (
    <>
      <p className="verdict">
        {finding.what}
        {isQuestion ? '. ' : ': '}
        {isQuestion ? 'It asks, and claims no money.' : <Money finding={finding} />}
      </p>
      <ul className="checks">
        <li>
          <Swatch of={step?.of ?? 'unknown'} />
          {step?.word ?? finding.category}
        </li>
        <li>factor: {finding.factor}</li>
        <li>
          {stateWords(finding)}, first seen {minute(finding.firstSeenAt)} UTC
        </li>
        <li>{finding.basis}</li>
        <li>{finding.detector}</li>
      </ul>
    </>
  );
}

function Money({ finding }: { readonly finding: FindingRow }) {
  const { usdMicros, liveSince, usdMicrosPerHour, kind, cashUsdMicros, capacityGpuSeconds } = finding;
  return (
    <>
      <a href="#rows">
        <strong>{usd(usdMicros)}</strong>
      </a>
      {liveSince === null ? ' in the window' : ' so far'}
      {usdMicrosPerHour === null ? '' : `, ${usd(usdMicrosPerHour)} / h`}.{' '}
      {kind === 'unknown' ? (
        'Nobody can say what of it is waste.'
      ) : BigInt(cashUsdMicros.high) > 0n ? (
        <>
          The bill would have been{' '}
          <a href="#saving">
            <strong>{usdRange(cashUsdMicros)}</strong>
          </a>{' '}
          lower with its machines gone.
          {capacityGpuSeconds.high > 0 ? ` Others could have had ${hoursRange(capacityGpuSeconds)} besides.` : ''}
        </>
      ) : (
        <>
          {BigInt(finding.cashIfRentedUsdMicros) > 0n
            ? `Nobody says how its machines are bought: up to ${usd(finding.cashIfRentedUsdMicros)} if they are rented. `
            : 'No bill falls. '}
          Others could have had{' '}
          <a href="#saving">
            <strong>{capacityGpuSeconds.high > 0 ? hoursRange(capacityGpuSeconds) : savingWords(finding)}</strong>
          </a>
          .
        </>
      )}
    </>
  );
}
