import { sharedQuery, useAddress } from '../../address.ts';
import { csvAddress } from '../../ask.ts';
import { axisUsd } from '../../charts/scale.ts';
import { Versus } from '../../charts/versus.tsx';
import { day, percent, usd, usdNumber } from '../../figures.ts';
import { useKeys } from '../../frame/keys.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import type { OverviewReply } from '../../../../src/api/routes/overview/overview.ts';

type Step = OverviewReply['steps'][number];

interface SeriesProps {
  readonly reply: OverviewReply;
  /** Of each step, the one that lies as far into the window before. */
  readonly earlier: readonly (Step | undefined)[];
  readonly every: string;
}

interface TrendsProps {
  readonly reply: OverviewReply;
  /** The page's own: its days are told by `spend` with the same flags. */
  readonly command: string | null;
}

/** What was paid a day and what of it computed, against the window before: as lines, or with `t` as a table. */
export function Trends({ reply, command }: TrendsProps) {
  const address = useAddress();
  const isTable = address.words['view'] === 'table';
  const toggle = (): void => address.change({ view: isTable ? undefined : 'table' }, { replace: true });
  useKeys([{ key: 't', words: 'table or chart', isShown: true, run: toggle }]);
  const { steps, before } = reply;
  const earlier = steps.map((_, place) => before.sum?.steps[place]);
  const every = reply.stepSeconds === 86_400 ? 'day' : 'week';
  const against = before.sum === undefined ? 'nothing before' : 'dashed: before';
  const csv = csvAddress('/overview', sharedQuery(address));
  return (
    <>
      <section aria-labelledby="paid-a-day">
        <div className="section-head">
          <h2 id="paid-a-day">Paid a {every}</h2>
          <span className="sub">{against}</span>
          <span className="acts">
            <button className="link" onClick={toggle}>
              {isTable ? 'chart' : 'table'}
            </button>
            <a href={csv} download>
              CSV
            </a>
            {command === null ? null : (
              <CopyButton text={command.replace(/^bursar waste/, 'bursar spend --by day,category')} words="command" />
            )}
          </span>
        </div>
        {isTable ? (
          <StepRows reply={reply} earlier={earlier} every={every} />
        ) : (
          <Paid reply={reply} earlier={earlier} every={every} />
        )}
      </section>
      {isTable ? null : (
        <section aria-labelledby="computed-share">
          <div className="section-head">
            <h2 id="computed-share">Computed</h2>
            <span className="sub">share of what is known</span>
          </div>
          <Versus
            label={`Computed share of what is known by ${every}; press t for its table`}
            now={steps.map(({ computedPermille }) => tenth(computedPermille))}
            before={earlier.map((step) => tenth(step?.computedPermille ?? null))}
            times={steps.map(({ from }) => from)}
            estimated={steps.map(({ isEstimated }) => isEstimated)}
            format={(value) => `${value}%`}
          />
        </section>
      )}
    </>
  );
}

function Paid({ reply, earlier, every }: SeriesProps) {
  const { steps, before } = reply;
  const mean = (sum: Pick<OverviewReply, 'paidUsdMicros' | 'steps'>): string => {
    const known = sum.steps.filter(({ paidUsdMicros }) => paidUsdMicros !== null).length;
    return sum.paidUsdMicros === null || known === 0 ? '–' : usd(String(BigInt(sum.paidUsdMicros) / BigInt(known)));
  };
  return (
    <>
      <Versus
        label={`Paid a ${every}; press t for its table`}
        now={steps.map(({ paidUsdMicros }) => usdNumber(paidUsdMicros))}
        before={earlier.map((step) => usdNumber(step?.paidUsdMicros))}
        times={steps.map(({ from }) => from)}
        estimated={steps.map(({ isEstimated }) => isEstimated)}
        format={axisUsd}
      />
      {mean(reply) === '–' ? null : (
        <p className="note">
          Mean {mean(reply)} a {every}
          {before.sum === undefined ? '' : `, before ${mean(before.sum)}`}. The axis does not start at 0.
        </p>
      )}
    </>
  );
}

function StepRows({ reply, earlier, every }: SeriesProps) {
  const rows = reply.steps.map((step, place) => ({ step, before: earlier[place] }));
  return (
    <DataTable
      caption={`Paid and computed by ${every}`}
      rows={rows}
      keyOf={({ step }) => step.from}
      columns={[
        { title: 'From', cell: ({ step }) => `${day(step.from)}${step.isEstimated ? ' (est.)' : ''}` },
        { title: 'Paid', isNumber: true, cell: ({ step }) => usdOrDash(step.paidUsdMicros) },
        { title: 'before', isNumber: true, cell: ({ before }) => usdOrDash(before?.paidUsdMicros ?? null) },
        { title: 'Computed', isNumber: true, cell: ({ step }) => percent(step.computedPermille) },
        { title: 'was', isNumber: true, cell: ({ before }) => percent(before?.computedPermille ?? null) },
      ]}
    />
  );
}

function usdOrDash(micros: string | null): string {
  return micros === null ? '–' : usd(micros);
}

function tenth(permille: number | null): number | null {
  return permille === null ? null : permille / 10;
}
