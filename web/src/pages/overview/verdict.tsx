import type { UseQueryResult } from '@tanstack/react-query';
import { Link } from 'wouter';
import { useAddress } from '../../address.ts';
import type { Answer, Problem } from '../../ask.ts';
import { factDays, hours, sentenceCase, usdRange } from '../../figures.ts';
import { TOWARDS_WORDS } from '../../empty-words.ts';
import { keyToFacts, useFactsEnd } from '../../frame/window-move.ts';
import { StateMark } from '../../parts/marks.tsx';
import { Unbroken } from '../../parts/unbroken.tsx';
import { Figure } from '../../why/figure.tsx';
import { Panel } from '../../why/panel.tsx';
import type { FirstFindingsReply } from '../../../../src/api/routes/overview/overview-findings.ts';
import type { OverviewReply } from '../../../../src/api/routes/overview/overview.ts';
import { GRADE_WORDS, sentenceOf } from './sentence.ts';

/** What the address says where the verdict is asked why. */
export const WHY_VERDICT = 'verdict';

interface VerdictProps {
  readonly reply: OverviewReply;
  readonly findings: UseQueryResult<Answer<FirstFindingsReply>, Problem>;
}

/** Are we fine? One sentence by a published rule, each figure a link. */
export function VerdictLine({ reply, findings }: VerdictProps) {
  const { to } = useAddress();
  const { words, state } = GRADE_WORDS[reply.verdict.grade];
  if (reply.window.ledgerDays === 0) return <NothingYet window={reply.window} />;
  const { paid, paidWords, computed, computedWords } = sentenceOf(reply);
  const days = factDays(reply.window, reply.window.ledgerDays);
  return (
    <p className="verdict">
      <Figure of={WHY_VERDICT} className={state}>
        {words}
      </Figure>{' '}
      <Link href={to('/spend')}>{paid}</Link>
      {paidWords}
      {computed === null ? '; what of it computed is not known.' : '; '}
      {computed === null ? null : (
        <>
          <Link href={to('/spend', { by: 'category' })}>{computed}</Link>
          {computedWords}.
        </>
      )}
      {findings.data === undefined ? null : <Gentle reply={findings.data.data} />}
      {days === null ? null : ` ${days} have facts.`}
    </p>
  );
}

/** What hardly anybody would notice, in cash where there is some, else in GPU-hours: the two are never added. */
function Gentle({ reply }: { readonly reply: FirstFindingsReply }) {
  const { to } = useAddress();
  const { cashUsdMicros, capacityGpuSeconds } = reply.gentle;
  const cash = BigInt(cashUsdMicros.high) > 0n ? usdRange(cashUsdMicros) : null;
  const amount = cash ?? (capacityGpuSeconds.high > 0 ? `${hours(capacityGpuSeconds.high)} GPU-hours` : null);
  if (amount === null) return <> Nothing was found that hardly anybody would notice.</>;
  return (
    <>
      {' '}
      <Link href={to('/findings')}>
        <Unbroken text={sentenceCase(amount)} />
      </Link>{' '}
      {cash === null ? 'can be freed' : 'of it can be saved'} where hardly anybody notices.
    </>
  );
}

function NothingYet({ window }: Pick<OverviewReply, 'window'>) {
  const towards = keyToFacts(window, useFactsEnd());
  return (
    <p className="verdict">
      <strong>Nothing to judge yet.</strong> No facts lie in this window: press <kbd>{towards}</kbd> for{' '}
      {TOWARDS_WORDS[towards]}, choose another above, or let <code>bursar collect</code> and <code>bursar import</code>{' '}
      bring them in.
    </p>
  );
}

/** The inputs of the rule, how each stands, and by which limits. */
export function VerdictPanel({ reply }: { readonly reply: OverviewReply }) {
  const { verdict } = reply;
  return (
    <Panel title={`Why ${GRADE_WORDS[verdict.grade].words.replace('.', '').toLowerCase()}?`}>
      <p className="note">
        Not fine where one input is wrong, mostly fine where one wants attention. What is not known counts for nothing;
        where nobody knows what computed, nobody can say. docs/FINE.md has the rule and its reasons.
      </p>
      <table className="why-rules">
        <caption className="unseen">Inputs of the verdict</caption>
        <thead>
          <tr>
            <th scope="col">State</th>
            <th scope="col">Input and its rule</th>
          </tr>
        </thead>
        <tbody>
          {verdict.inputs.map(({ name, state, words, rule }) => (
            <tr key={name}>
              <td>
                <StateMark state={state} />
              </td>
              <td className="wrap">
                {words}
                <span className="under">{rule}</span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  );
}
