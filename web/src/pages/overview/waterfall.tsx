import type { UseQueryResult } from '@tanstack/react-query';
import { sharedQuery, useAddress } from '../../address.ts';
import { csvAddress, useAnswer } from '../../ask.ts';
import type { Answer, Problem } from '../../ask.ts';
import { hours, lengthWords, percent, permilleOf, points, usdParts, usdRange } from '../../figures.ts';
import { keyToFacts, useFactsEnd } from '../../frame/window-move.ts';
import { DataTable } from '../../parts/data-table.tsx';
import { Section } from '../../parts/section.tsx';
import { Figure } from '../../why/figure.tsx';
import { emptyWords, isNothing } from '../../empty-words.ts';
import { conditionText } from '../../filter-words.ts';
import type { FirstFindingsReply } from '../../../../src/api/routes/overview/overview-findings.ts';
import type { WasteReply } from '../../../../src/api/routes/spend/waste.ts';
import { fallOf } from './fall.ts';
import type { Fallen } from './fall.ts';

type Findings = UseQueryResult<Answer<FirstFindingsReply>, Problem>;
type Reachable = FirstFindingsReply['sum'];

interface Row {
  readonly key: string;
  readonly word: string;
  readonly gloss: string;
  readonly fallen: Fallen | undefined;
  /** Where the bar above ends. */
  readonly from: number | null;
  /** Where nothing was paid no bar says anything. */
  readonly hasBar: boolean;
  readonly amount: string;
  readonly share: number | null;
  readonly before: number | null;
  readonly save: Reachable | undefined;
}

const [WIDTH, ROW, BAR] = [224, 28, 12];

interface WaterfallProps {
  readonly findings: Findings;
  /** Of how many days there are facts, where not of all: the amounts are of these. */
  readonly days: string | null;
}

/** One dollar, one place, top to bottom: the table is the chart. */
export function Waterfall({ findings, days }: WaterfallProps) {
  const address = useAddress();
  const query = sharedQuery(address);
  const answer = useAnswer<WasteReply>('/waste', query);
  const end = useFactsEnd();
  const length =
    answer.data === undefined ? '' : (days ?? lengthWords(answer.data.data.window.from, answer.data.data.window.until));
  return (
    <Section
      title="Where each dollar went"
      sub="one dollar, one place; top to bottom"
      answer={answer}
      csv={csvAddress('/waste', query)}
    >
      {(reply) =>
        isNothing(reply) ? (
          <p className="note">{emptyWords({ team: address.words['team'], towards: keyToFacts(reply.window, end) })}</p>
        ) : (
          <DataTable
            caption="Where each dollar went"
            className="waterfall"
            hasKeys
            rows={rowsOf(reply, findings.data?.data)}
            keyOf={({ key }) => key}
            open={({ fallen }) =>
              address.to('/spend', fallen === undefined ? {} : { filter: `category=${fallen.step.category}` })
            }
            columns={[
              { title: 'Step', cell: (row) => <Name row={row} /> },
              { title: 'The fall', className: 'fall', room: 'some', cell: (row) => <Bar row={row} /> },
              {
                title: length,
                isNumber: true,
                cell: ({ fallen, amount }) =>
                  fallen === undefined ? (
                    <Figure of="">{amount}</Figure>
                  ) : (
                    <Figure of={conditionText({ name: 'category', value: fallen.step.category })}>{amount}</Figure>
                  ),
              },
              { title: 'of paid', isNumber: true, cell: ({ share }) => percent(share) },
              { title: 'vs before', isNumber: true, room: 'some', cell: (row) => <Change row={row} /> },
              {
                title: 'can be saved',
                isNumber: true,
                className: 'saves',
                cell: ({ save }) => (findings.data === undefined ? <Waiting findings={findings} /> : saveWords(save)),
              },
            ]}
          />
        )
      }
    </Section>
  );
}

function rowsOf(reply: WasteReply, findings: FirstFindingsReply | undefined): Row[] {
  const fall = fallOf(reply.categories);
  const shown = usdParts(fall.map(({ usdMicros }) => usdMicros));
  const hasBar = reply.usdMicros !== null && BigInt(reply.usdMicros) > 0n;
  const paidBefore = reply.before.isKnown
    ? String(reply.categories.reduce((sum, { before }) => sum + BigInt(before?.usdMicros ?? '0'), 0n))
    : null;
  const paid: Row = {
    key: 'paid',
    word: 'Paid',
    gloss: 'everything billed',
    fallen: undefined,
    from: null,
    hasBar,
    amount: `${reply.unpricedSeconds > 0 && reply.usdMicros !== null ? '≥ ' : ''}${shown.total}`,
    share: hasBar ? 1000 : null,
    before: null,
    save: findings?.sum,
  };
  const steps = fall.map((fallen, place): Row => {
    const { category, word, gloss } = fallen.step;
    const before = reply.categories.find((each) => each.category === category)?.before ?? null;
    return {
      key: category,
      word,
      gloss,
      fallen,
      from: place === 0 ? 1 : (fall[place - 1]?.left ?? null),
      hasBar,
      amount: shown.parts[place] ?? '',
      share: permilleOf(fallen.usdMicros, reply.usdMicros),
      before: permilleOf(before?.usdMicros ?? null, paidBefore),
      save: findings?.byCategory[category],
    };
  });
  return [paid, ...steps];
}

function Name({ row: { key, word, gloss } }: { readonly row: Row }) {
  const isTotal = key === 'paid' || key === 'computing';
  return (
    <>
      <span className={isTotal ? 'strong' : undefined}>{word}</span>
      <span className="gloss">{gloss}</span>
    </>
  );
}

/** The amounts stand beside it: the picture needs no words of its own. */
function Bar({ row: { fallen, from, hasBar } }: { readonly row: Row }) {
  if (!hasBar) return null;
  const top = (ROW - BAR) / 2;
  if (fallen === undefined) {
    return (
      <svg width={WIDTH} height={ROW} aria-hidden="true">
        <rect x="0" y={top} width={WIDTH} height={BAR} className="f-paid" />
      </svg>
    );
  }
  const { left, right, step } = fallen;
  const [x, wide] = [left * WIDTH, Math.max(1, (right - left) * WIDTH)];
  const edge = (from ?? 1) * WIDTH;
  return (
    <svg width={WIDTH} height={ROW} aria-hidden="true">
      <line x1={edge} x2={edge} y1={top + BAR / 2 - ROW} y2={top + BAR / 2} className="connector" />
      <rect x={x} y={top} width={wide} height={BAR} className={`f-${step.of}`} />
      {step.of === 'unknown' ? <rect x={x} y={top} width={wide} height={BAR} className="outline" /> : null}
    </svg>
  );
}

function Change({ row: { share, before, key } }: { readonly row: Row }) {
  const moved = points(share, before);
  if (moved === null || key === 'paid') return <span className="muted">{key === 'paid' ? '' : '–'}</span>;
  // Only where the direction is good or bad for sure.
  const isGood = key === 'computing' && moved.startsWith('+');
  const isBad = key === 'computing' && moved.startsWith('−');
  return <span className={isGood ? 'good strong' : isBad ? 'bad strong' : 'soft'}>{moved}</span>;
}

/** Cash, or GPU-hours where no bill would fall; never both in one. */
function saveWords(save: Reachable | undefined) {
  if (save === undefined) return <span className="muted">–</span>;
  if (BigInt(save.cashUsdMicros.high) > 0n) return <span className="strong">{usdRange(save.cashUsdMicros)}</span>;
  const { low, high } = save.capacityGpuSeconds;
  if (high === 0) return <span className="muted">–</span>;
  return <span className="soft">{low === high ? hours(high) : `${hours(low)}–${hours(high)}`} GPU-h</span>;
}

function Waiting({ findings }: { readonly findings: Findings }) {
  return <span className="muted">{findings.isError ? 'not known' : '…'}</span>;
}
