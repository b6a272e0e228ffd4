import { Link } from 'wouter';
import { useAddress } from '../../address.ts';
import { useAnswer } from '../../ask.ts';
import { leastUsd } from '../../figures.ts';
import { conditionText } from '../../filter-words.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Swatch } from '../../parts/marks.tsx';
import { Loading } from '../../parts/section.tsx';
import { Trouble } from '../../parts/trouble.tsx';
import type { JobReply } from '../../../../src/api/routes/jobs/job.ts';
import type { ReceiptReply } from '../../../../src/api/routes/jobs/receipt.ts';
import { jobMoney } from './verdict.ts';

/** Where a job's money went, what was found about it, and what to tell whoever ran it. */
export function JobPanel({ reply }: { readonly reply: JobReply }) {
  const { to } = useAddress();
  return (
    <aside className="panel" aria-label="Its money, findings and receipt">
      <Money reply={reply} />
      <section>
        <div className="section-head">
          <h2>Findings</h2>
        </div>
        {reply.findings.length === 0 ? <p className="note">Nothing was found about it.</p> : null}
        <ul className="stack-small">
          {reply.findings.map(({ number, what }) => (
            <li key={number}>
              <Link href={to(`/findings/F-${number}`)}>F-{number}</Link> {what}
            </li>
          ))}
        </ul>
      </section>
      <Receipt reply={reply} />
    </aside>
  );
}

function Money({ reply }: { readonly reply: JobReply }) {
  const { to } = useAddress();
  const { total, steps } = jobMoney(reply);
  return (
    <section>
      <div className="section-head">
        <h2>Where its money went</h2>
      </div>
      {reply.usdMicros === null ? (
        <p className="note">Its GPU time has no price: bursar import rates FILE</p>
      ) : (
        <table>
          <caption className="unseen">Its money by what became of it</caption>
          <tbody>
            {steps.map(({ step: { category, word, gloss, of }, shown }) => (
              <tr key={category}>
                <th scope="row" className="row-head">
                  <Swatch of={of} />
                  {word}
                </th>
                <td className="soft">{gloss}</td>
                <td className="n">{shown}</td>
              </tr>
            ))}
          </tbody>
          <tfoot>
            <tr>
              <td colSpan={2}>Paid</td>
              <td className="n">{steps.length === 0 ? leastUsd(reply.usdMicros, reply.unpricedSeconds) : total}</td>
            </tr>
          </tfoot>
        </table>
      )}
      <p className="note">
        <Link
          href={to('/spend', {
            by: 'category',
            filter: conditionText({ name: 'job', value: reply.allocationId }),
            window: windowOf(reply),
          })}
        >
          Its rows on the Spend page
        </Link>
      </p>
    </section>
  );
}

function windowOf({ activity }: JobReply): string {
  const end = new Date(Date.parse(activity.until) - 1 + 86_400_000).toISOString().slice(0, 10);
  return `${activity.from.slice(0, 10)}/${end}`;
}

function Receipt({ reply }: { readonly reply: JobReply }) {
  const { words } = useAddress();
  const path = `/jobs/${encodeURIComponent(`${reply.source}/${reply.allocationId}`)}/receipt`;
  const answer = useAnswer<ReceiptReply>(path, { asOf: words['asOf'], team: words['team'] });
  const receipt = answer.data?.data;
  return (
    <section>
      <div className="section-head">
        <h2>Receipt</h2>
        <span className="acts">
          {receipt === undefined ? null : (
            <>
              <CopyButton text={receipt.slack} words="for Slack" />
              <CopyButton text={receipt.markdown} words="Markdown" />
            </>
          )}
          {answer.data?.command ? <CopyButton text={answer.data.command} words="command" /> : null}
        </span>
      </div>
      {answer.error === null ? null : <Trouble problem={answer.error} retry={() => void answer.refetch()} />}
      {receipt === undefined ? answer.error === null ? <Loading rows={4} /> : null : <pre>{receipt.text}</pre>}
    </section>
  );
}
