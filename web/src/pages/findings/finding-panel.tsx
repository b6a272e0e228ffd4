import { Link } from 'wouter';
import { useAddress } from '../../address.ts';
import { day, hours, hoursParts, usdParts } from '../../figures.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { BlastRadius, Swatch } from '../../parts/marks.tsx';
import type { OneFindingAnswer } from '../../../../src/api/routes/findings/one-finding.ts';
import { useDecisions } from './decide.ts';
import { BLAST_WORDS, ownerWords, stateWords } from './finding-words.ts';
import { Triage } from './triage.tsx';

/** What to do: the decision, who and how safe, the fix, whose money, what happened so far. */
export function FindingPanel({ reply }: { readonly reply: OneFindingAnswer }) {
  const decisions = useDecisions();
  const { finding, history } = reply;
  return (
    <>
      {finding === null ? null : (
        <>
          <Triage finding={finding} find={() => finding} decisions={decisions} isPrimary />
          <p className="note">
            Accepting says that it will be fixed; whether it is, the data tell. Nothing is stopped from here.
          </p>
          <dl className="facts panel-facts">
            <dt>State</dt>
            <dd>{stateWords(finding)}</dd>
            <dt>Owner</dt>
            <dd>{ownerWords(finding)}</dd>
            <dt>Effort</dt>
            <dd>{finding.effort}</dd>
            <dt>Blast radius</dt>
            <dd className="radius-line">
              <BlastRadius radius={finding.blastRadius} /> {finding.blastRadius} of 5
            </dd>
          </dl>
          <p className="note">
            {finding.blastRadius}: {BLAST_WORDS[finding.blastRadius] ?? ''}. {finding.blast}
          </p>
          <section aria-labelledby="fix">
            <div className="section-head">
              <h2 id="fix">Fix</h2>
              {finding.fix.length === 0 ? null : (
                <span className="acts">
                  <CopyButton text={finding.fix.join('\n')} /> <kbd>c</kbd>
                </span>
              )}
            </div>
            {finding.fix.length === 0 ? (
              <p>It is not a command: see what it is, and why we believe it.</p>
            ) : (
              <pre tabIndex={0} aria-label="The fix to paste">
                {finding.fix.join('\n')}
              </pre>
            )}
          </section>
          <WhoseMoney reply={reply} />
        </>
      )}
      <section aria-labelledby="history">
        <div className="section-head">
          <h2 id="history">History</h2>
        </div>
        <dl className="facts">
          {history.toReversed().map(({ at, change, by, detail }, place) => (
            <div key={`${at} ${place}`} className="fact-row">
              <dt>{day(at)}</dt>
              <dd>
                {change}
                {by === null ? '' : ` by ${by}`}
                {detail === null ? '' : `: ${detail}`}
              </dd>
            </div>
          ))}
        </dl>
      </section>
    </>
  );
}

function WhoseMoney({ reply }: { readonly reply: OneFindingAnswer }) {
  const { to } = useAddress();
  const { teams } = reply;
  if (teams.length === 0) return null;
  const paid = usdParts(teams.map(({ usdMicros }) => usdMicros));
  const held = hoursParts(teams.map(({ gpuSeconds }) => gpuSeconds));
  return (
    <section aria-labelledby="whose">
      <div className="section-head">
        <h2 id="whose">Whose money</h2>
      </div>
      <DataTable
        caption="Whose money it is"
        columns={[
          {
            title: 'Team',
            sum: 'Total',
            cell: ({ team }) =>
              team === null ? (
                <>
                  <Swatch of="unknown" />
                  <Link href={to('/unattributed')}>unattributed</Link>
                </>
              ) : (
                <Link href={to(`/teams/${encodeURIComponent(team)}`)}>{team}</Link>
              ),
          },
          {
            title: 'GPU-hours',
            isNumber: true,
            className: 'soft',
            cell: (row) => held[teams.indexOf(row)],
            sum: hours(teams.reduce((sum, { gpuSeconds }) => sum + gpuSeconds, 0)),
          },
          { title: 'USD', isNumber: true, cell: (row) => paid.parts[teams.indexOf(row)], sum: paid.total },
        ]}
        rows={teams}
        keyOf={({ team }) => team ?? ''}
      />
    </section>
  );
}
