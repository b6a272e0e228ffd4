import { Link } from 'wouter';
import { copyText } from '../copy.ts';
import { sharedQuery, useAddress } from '../address.ts';
import { csvAddress, useAnswer } from '../ask.ts';
import type { Query } from '../ask.ts';
import { cut, hours, lengthWords, permilleOf, percent, rateUsd, shortModel, usd, usdParts } from '../figures.ts';
import { conditionsOf, filterWords } from '../filter-words.ts';
import { useKeys } from '../frame/keys.ts';
import { CopyButton } from '../parts/copy-button.tsx';
import { StateMark } from '../parts/marks.tsx';
import { Section } from '../parts/section.tsx';
import { counted } from '../../../src/report/figures.ts';
import type { WhyReply } from '../../../src/api/routes/spend/spend-why.ts';
import { DEFINITIONS } from './definitions.ts';
import { Panel } from './panel.tsx';

interface WhyPanelProps {
  readonly of: string;
  readonly paid?: string | null | undefined;
  /** What the page itself is asked with, where that is not window, moment and team of the address. */
  readonly asked?: Query;
  /** What the figure is of where its filter reads badly. */
  readonly name?: string | undefined;
}

/** Takes a figure apart: the rows that add up to it, the rules that decided, the rate, the same on the command line. */
export function WhyPanel({ of, paid, asked, name }: WhyPanelProps) {
  const address = useAddress();
  const query = { ...(asked ?? sharedQuery(address)), filter: of };
  const answer = useAnswer<WhyReply>('/spend/why', query);
  const { data: reply, command } = answer.data ?? { data: undefined, command: null };
  const share = percent(permilleOf(reply?.figure.usdMicros ?? null, paid ?? null));
  const length = reply === undefined ? '' : lengthWords(reply.window.from, reply.window.until);
  const what = name ?? filterWords(of);
  return (
    <Panel
      title={reply === undefined ? 'Why?' : `Why ${usd(reply.figure.usdMicros)}?`}
      sub={[what === '' ? 'everything' : cut(what, 40), length].filter(Boolean).join(', ')}
    >
      {share === '–' ? null : <p className="note">{share} of all that was paid.</p>}
      <Section title="The rows that add up to it" answer={answer} csv={csvAddress('/spend/why', query)}>
        {(why) => <Rows why={why} />}
      </Section>
      {reply === undefined ? null : (
        <>
          <Rules why={reply} of={of} />
          {command === null ? null : <Command words={command} />}
        </>
      )}
    </Panel>
  );
}

function Rows({ why }: { readonly why: WhyReply }) {
  const { rows, others, sharedUsdMicros, differenceUsdMicros } = why;
  const shown = usdParts([
    ...rows.map(({ usdMicros }) => usdMicros),
    ...(others === null ? [] : [others.usdMicros]),
    ...(sharedUsdMicros === '0' ? [] : [sharedUsdMicros]),
  ]);
  const isWhole = differenceUsdMicros === '0';
  return (
    <>
      <table className="why-rows">
        <caption className="unseen">The rows that add up to the figure</caption>
        <thead>
          <tr>
            <th scope="col">Posted to</th>
            <th scope="col" className="n">
              GPU-hours
            </th>
            <th scope="col" className="n">
              a GPU-hour
            </th>
            <th scope="col" className="n">
              paid
            </th>
          </tr>
        </thead>
        <tbody>
          <RowLines why={why} shown={shown.parts} />
        </tbody>
        <tfoot>
          <tr>
            <td>Sum</td>
            <td className="n">{hours(why.figure.gpuSeconds)}</td>
            <td className="n">{rateUsd(why.figure.usdMicrosPerGpuHour)}</td>
            <td className="n">{usd(why.figure.usdMicros)}</td>
          </tr>
        </tfoot>
      </table>
      <p className="why-check">
        <StateMark state={isWhole ? 'good' : 'bad'} />
        {isWhole
          ? 'The rows add up to the figure; difference $0.000000.'
          : `The rows do not add up to the figure: difference ${usd(differenceUsdMicros)}. bursar ledger check says where.`}
      </p>
      {why.figure.unpricedSeconds > 0 ? (
        <p className="note">{hours(why.figure.unpricedSeconds)} GPU-hours of it have no price and are in no sum.</p>
      ) : null}
    </>
  );
}

/** The dearest rows, the others together, and what is of shared pools. */
function RowLines({ why, shown }: { readonly why: WhyReply; readonly shown: readonly string[] }) {
  const { to } = useAddress();
  const { rows, others, sharedUsdMicros } = why;
  return (
    <>
      {rows.map((row, place) => (
        <tr key={row.subject}>
          <td className="wrap">
            {row.jobId === null ? (
              <span title={row.subject}>{cut(row.name ?? row.subject, 26)}</span>
            ) : (
              <Link href={to(`/jobs/${encodeURIComponent(row.jobId)}`)} title={row.subject}>
                {cut(row.name ?? row.jobId, 26)}
              </Link>
            )}
            <span className="under">{aboutRow(row)}</span>
          </td>
          <td className="n">{hours(row.gpuSeconds)}</td>
          <td className="n">{rateUsd(row.usdMicrosPerGpuHour)}</td>
          <td className="n">{shown[place]}</td>
        </tr>
      ))}
      {others === null ? null : (
        <tr>
          <td className="wrap">{others.subjects.toLocaleString('en-US')} others</td>
          <td className="n">{hours(others.gpuSeconds)}</td>
          <td className="n">{rateUsd(others.usdMicrosPerGpuHour)}</td>
          <td className="n">{shown[rows.length]}</td>
        </tr>
      )}
      {sharedUsdMicros === '0' ? null : (
        <tr>
          <td className="wrap">
            of shared pools<span className="under">split by the rules under shared:</span>
          </td>
          <td className="n">–</td>
          <td className="n">–</td>
          <td className="n">{shown.at(-1)}</td>
        </tr>
      )}
    </>
  );
}

function aboutRow({ user, model, devices, nodeId, jobId, days }: WhyReply['rows'][number]): string {
  const gpus = model === null ? null : `${devices > 1 ? `${devices}×` : ''}${shortModel(model)}`;
  return [user, gpus, jobId === null ? nodeId : null, days > 1 ? `${days} days` : null].filter(Boolean).join(', ');
}

/** What decided: whose it is, what it is called, what it costs. */
function Rules({ why, of }: { readonly why: WhyReply; readonly of: string }) {
  const asked = conditionsOf(of).find((condition) => condition.startsWith('category='));
  const category = asked?.slice('category='.length) ?? '';
  const definition = DEFINITIONS[category];
  const rules = usdParts(why.rules.map(({ usdMicros }) => usdMicros));
  const told = why.rates.slice(0, RATES_TOLD);
  return (
    <section aria-label="The rules that decided">
      <div className="section-head">
        <h3>The rules that decided</h3>
      </div>
      <table className="why-rules">
        <caption className="unseen">Rules, definitions and rates behind the figure</caption>
        <thead className="unseen">
          <tr>
            <th scope="col">About</th>
            <th scope="col">Rule</th>
            <th scope="col">Amount</th>
          </tr>
        </thead>
        <tbody>
          {why.rules.map(({ rule }, place) => (
            <tr key={rule ?? ''}>
              <td className="muted">owner</td>
              <td className="wrap">
                {rule === null || rule === 'none' ? 'no rule, label or account says whose' : <code>{rule}</code>}
              </td>
              <td className="n">{rules.parts[place]}</td>
            </tr>
          ))}
          {definition === undefined ? null : (
            <tr>
              <td className="muted">{category}</td>
              <td className="wrap" colSpan={2}>
                {definition.means}
                <span className="under">from {definition.from}</span>
              </td>
            </tr>
          )}
          {told.map((rate) => (
            <tr key={[rate.model, rate.purchase, rate.basis, rate.bill].join(' ')}>
              <td className="muted">rate</td>
              <td className="wrap">
                {[rate.model?.replace(/^NVIDIA /, '') ?? 'no GPU', rate.purchase].filter(Boolean).join(', ')}
                <span className="under">{rateWords(rate)}</span>
              </td>
              <td className="n">
                {rate.usdMicrosPerGpuHour === null ? usd(rate.usdMicros) : `${rateUsd(rate.usdMicrosPerGpuHour)} / h`}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {why.rates.length > told.length ? (
        <p className="note">{counted(why.rates.length - told.length, 'more rate')}; the command tells them all.</p>
      ) : null}
    </section>
  );
}

const RATES_TOLD = 4;
const BASES: Readonly<Record<string, string>> = {
  billed: 'billed, mean net rate',
  rate: 'by a stated rate',
  estimated: 'estimated, its bill is not in',
  unpriced: 'no price known',
};

function rateWords({ basis, bill, usdMicros }: WhyReply['rates'][number]): string {
  return [BASES[basis ?? ''] ?? basis, bill, usd(usdMicros)].filter(Boolean).join('; ');
}

function Command({ words }: { readonly words: string }) {
  useKeys([{ key: '.', words: 'copy as command', isShown: true, run: () => void copyText(words) }]);
  return (
    <section aria-label="The same on the command line">
      <div className="section-head">
        <h3>The same on the command line</h3>
        <span className="acts">
          <CopyButton text={words} />
          <kbd>.</kbd>
        </span>
      </div>
      <pre tabIndex={0}>{words}</pre>
    </section>
  );
}
