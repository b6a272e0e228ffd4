import { sharedQuery, useAddress } from '../../address.ts';
import { csvAddress, useAnswer } from '../../ask.ts';
import { emptyWords, isNothing } from '../../empty-words.ts';
import { hours, leastUsd } from '../../figures.ts';
import { useCommandKey } from '../../frame/command-key.ts';
import { Head } from '../../frame/head.tsx';
import { useSeesFleet } from '../../frame/session.ts';
import { ScopeControl } from '../../frame/scope-control.tsx';
import { windowOf, WindowControl } from '../../frame/window-control.tsx';
import { keyToFacts, useFactsEnd } from '../../frame/window-move.ts';
import { Content } from '../../parts/content.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Loading } from '../../parts/section.tsx';
import { Trouble } from '../../parts/trouble.tsx';
import { Figure, useWhyKey } from '../../why/figure.tsx';
import { WhyPanel } from '../../why/why-panel.tsx';
import type { DimensionValuesReply } from '../../../../src/api/routes/spend/dimensions.ts';
import type { BreakdownReply } from '../../../../src/api/routes/spend/spend-breakdown.ts';
import { againstWords } from './against.ts';
import { SpendChart } from './chart.tsx';
import { Controls, useAsked } from './controls.tsx';
import type { Asked } from './controls.tsx';
import { SpendTable } from './spend-table.tsx';
import { StepTable } from './step-table.tsx';
import { Unattributed } from './unattributed.tsx';

/** Why this cost? */
export function Spend() {
  const address = useAddress();
  const asked = useAsked();
  const shared = sharedQuery(address);
  const query = {
    ...shared,
    by: asked.second === undefined ? asked.by : `${asked.by},${asked.second}`,
    step: asked.step,
    filter: address.words['filter'],
  };
  const answer = useAnswer<BreakdownReply>('/spend/breakdown', query);
  const { asOf, team } = shared;
  const order = useOrder(asked.by, { asOf, team }, answer.data?.data);
  const seesFleet = useSeesFleet() === true;
  const end = useFactsEnd();
  useWhyKey();
  const { data: reply, command } = answer.data ?? { data: undefined, command: null };
  const why = address.words['why'];
  // An open panel has a command of its own.
  useCommandKey(why === undefined ? command : null);
  return (
    <>
      <Head title="Spend">
        <WindowControl shown={windowOf(answer)} />
        <ScopeControl />
      </Head>
      <div className={why === undefined ? 'without-panel' : 'with-panel'}>
        <Content answer={answer}>
          <Controls asked={asked} command={command} />
          {answer.error === null ? null : <Trouble problem={answer.error} retry={() => void answer.refetch()} />}
          {reply === undefined ? (
            answer.error === null ? (
              <Loading rows={8} />
            ) : null
          ) : isEmpty(reply) ? (
            <p className="verdict">
              {emptyWords({ team, filter: address.words['filter'], towards: keyToFacts(reply.window, end) })}
            </p>
          ) : (
            <div className="stack">
              <Paid reply={reply} asked={asked} order={order} csv={csvAddress('/spend', query)} command={command} />
              <SpendTable reply={reply} order={order} csv={csvAddress('/spend/breakdown', query)} />
              {asked.by === 'team' && team === undefined && seesFleet && hasNobodys(reply) ? (
                <Unattributed order={order} />
              ) : null}
            </div>
          )}
        </Content>
        {why === undefined ? null : <WhyPanel of={why} paid={reply?.total.usdMicros} />}
      </div>
    </>
  );
}

/** The order colours are given by: that of the whole ledger where it is listed, else that of this answer. */
function useOrder(
  by: string,
  scope: { asOf: string | undefined; team: string | undefined },
  reply: BreakdownReply | undefined,
) {
  const listed = useAnswer<DimensionValuesReply>(`/dimensions/${encodeURIComponent(by)}`, scope);
  const values = listed.data?.data.isListed === true ? listed.data.data.values.map(({ value }) => value) : undefined;
  if (values !== undefined) return values;
  const [dimension = ''] = reply?.by ?? [];
  return [...new Set((reply?.rows ?? []).map((row) => row.values[dimension] ?? null))];
}

/** Nothing now, and nothing before that it could be compared with. */
function isEmpty({ rows, others, total }: BreakdownReply): boolean {
  return rows.length === 0 && others === null && isNothing(total);
}

function hasNobodys({ rows }: BreakdownReply): boolean {
  return rows.some(({ values }) => values['team'] === null);
}

interface PaidProps {
  readonly reply: BreakdownReply;
  readonly asked: Asked;
  readonly order: readonly (string | null)[];
  /** The steps of the chart, as rows. */
  readonly csv: string;
  readonly command: string | null;
}

/** The page's one sentence and its picture. */
function Paid({ reply, asked, order, csv, command }: PaidProps) {
  const { words } = useAddress();
  const { total } = reply;
  const isPart = total.unpricedSeconds > 0;
  return (
    <section aria-labelledby="paid-title">
      <div className="section-head">
        <h2 id="paid-title">
          <Figure of={words['filter'] ?? ''}>{leastUsd(total.usdMicros, total.unpricedSeconds)}</Figure> paid
        </h2>
        <span className="sub">
          {againstWords(reply)}
          {isPart ? `; ${hours(total.unpricedSeconds)} GPU-hours have no price and are in no sum` : ''}
        </span>
        <span className="acts">
          <a href={csv} download>
            CSV
          </a>
          {command === null ? null : <CopyButton text={`${command} --step ${asked.step}`} words="command" />}
        </span>
      </div>
      {asked.isTable ? (
        <StepTable reply={reply} measure={asked.measure} />
      ) : (
        <SpendChart reply={reply} kind={asked.kind} measure={asked.measure} order={order} />
      )}
    </section>
  );
}
