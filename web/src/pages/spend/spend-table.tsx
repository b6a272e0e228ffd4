import type { ReactNode } from 'react';
import { useAddress } from '../../address.ts';
import { Spark } from '../../charts/spark.tsx';
import {
  change,
  cut,
  hours,
  hoursParts,
  least,
  leastUsd,
  percent,
  permilleOf,
  usdNumber,
  usdParts,
} from '../../figures.ts';
import { filterText } from '../../filter-words.ts';
import { DataTable } from '../../parts/data-table.tsx';
import type { Column } from '../../parts/data-table.tsx';
import { Swatch } from '../../parts/marks.tsx';
import { Figure } from '../../why/figure.tsx';
import type { BreakdownReply } from '../../../../src/api/routes/spend/spend-breakdown.ts';
import { WhereItWent } from '../overview/classes.tsx';
import { isCompared } from './against.ts';
import { colourOf } from './colours.ts';
import { nameOf } from './series.ts';

interface SpendTableProps {
  readonly reply: BreakdownReply;
  readonly order: readonly (string | null)[];
  readonly csv: string;
}

interface Row {
  readonly key: string;
  readonly sum: BreakdownReply['total'];
  /** Null for all the others together. */
  readonly values: Readonly<Record<string, string | null>> | null;
  readonly groups: number;
  readonly paid: string;
  readonly idle: string;
  readonly held: ReactNode;
}

/** Who paid how much, against before, where it went. Every dollar figure answers why. */
export function SpendTable({ reply, order, csv }: SpendTableProps) {
  const { words, to } = useAddress();
  const { by } = reply;
  const rows = rowsOf(reply);
  const filter = words['filter'];
  return (
    <section aria-labelledby="groups-title">
      <div className="section-head">
        <h2 id="groups-title">By {by.join(', then ')}</h2>
        <span className="sub">the dearest first; what is nobody’s last</span>
        <span className="acts">
          <a href={csv} download>
            CSV
          </a>
        </span>
      </div>
      <DataTable
        caption={`Paid by ${by.join(', ')}`}
        hasKeys
        rows={rows}
        keyOf={({ key }) => key}
        open={(row) => to('/spend', { ...narrowed(by), filter: filterOf(by, filter, row) ?? filter })}
        empty="Nothing in this window."
        columns={columnsOf(reply, order, filter)}
      />
    </section>
  );
}

/** What a row is of, or its money in one category; undefined of all the others together. */
function filterOf(
  by: readonly string[],
  filter: string | undefined,
  { values }: Row,
  category?: string,
): string | undefined {
  if (values === null) return undefined;
  return filterText(
    filter,
    ...by
      .filter((name) => name !== 'category' || category === undefined)
      .map((name) => ({ name, value: values[name] ?? null })),
    category === undefined ? undefined : { name: 'category', value: category },
  );
}

/** Money that answers why; a true zero is written, muted. */
function figureOf(of: string | undefined, text: string) {
  if (of === undefined) return text;
  return text === '$0' || text === '$0.00' ? <span className="muted">$0</span> : <Figure of={of}>{text}</Figure>;
}

function columnsOf(
  reply: BreakdownReply,
  order: readonly (string | null)[],
  filter: string | undefined,
): Column<Row>[] {
  const { by } = reply;
  return [
    ...nameColumns(by, order),
    ...paidColumns(reply, filter),
    // Of one category all of them say the same of every row.
    ...(by.includes('category') ? [] : whereColumns(reply, filter)),
    ...timeColumns(reply),
  ];
}

function nameColumns(by: readonly string[], order: readonly (string | null)[]): Column<Row>[] {
  return by.map((name, place): Column<Row> => ({
    title: name.charAt(0).toUpperCase() + name.slice(1),
    cell: (row) =>
      row.values === null ? (
        place === 0 ? (
          `${row.groups.toLocaleString('en-US')} others`
        ) : (
          ''
        )
      ) : (
        <GroupName
          name={name}
          value={row.values[name] ?? null}
          colour={place === 0 ? colourOf(name, row.values[name] ?? null, order) : undefined}
        />
      ),
    ...(place === 0 && { sum: 'Total' }),
  }));
}

function paidColumns(reply: BreakdownReply, filter: string | undefined): Column<Row>[] {
  const { by, total } = reply;
  return [
    {
      title: 'Paid ↓',
      isNumber: true,
      className: 'strong',
      cell: (row) => figureOf(filterOf(by, filter, row), row.paid),
      sum: <Figure of={filter ?? ''}>{paidTotal(reply)}</Figure>,
    },
    {
      title: 'share',
      isNumber: true,
      cell: ({ sum }) => percent(permilleOf(sum.usdMicros, total.usdMicros)),
      sum: total.usdMicros === null || total.usdMicros === '0' ? '–' : '100.0%',
    },
    {
      title: 'vs before',
      isNumber: true,
      cell: ({ sum }) => beforeWords(reply, sum),
      sum: beforeWords(reply, total),
    },
  ];
}

function whereColumns(reply: BreakdownReply, filter: string | undefined): Column<Row>[] {
  const { by, total } = reply;
  return [
    {
      title: 'Computed',
      isNumber: true,
      cell: ({ sum }) => percent(sum.computedPermille),
      sum: percent(total.computedPermille),
    },
    {
      title: 'Idle',
      isNumber: true,
      cell: (row) => figureOf(filterOf(by, filter, row, 'idle'), row.idle),
      sum: <Figure of={filterText(filter, 'category=idle') ?? ''}>{idleTotal(reply)}</Figure>,
    },
    {
      title: 'Where it went',
      cell: ({ sum }) => <WhereItWent sum={sum} width={132} />,
      sum: <WhereItWent sum={total} width={132} />,
    },
  ];
}

function timeColumns(reply: BreakdownReply): Column<Row>[] {
  const { total } = reply;
  const length = `${reply.steps.length} ${reply.stepSeconds === 86_400 ? 'days' : 'steps'}`;
  return [
    {
      title: length,
      cell: ({ sum, key }) => (
        <Spark values={sum.steps.usdMicros.map((micros) => usdNumber(micros))} label={`${key}: paid by step`} />
      ),
      sum: <Spark values={total.steps.usdMicros.map((micros) => usdNumber(micros))} label="Total: paid by step" />,
    },
    { title: 'GPU-hours', isNumber: true, cell: ({ held }) => held, sum: gpuHours(total) },
  ];
}

/** Into a group: by what it consists of, one level further down. */
function narrowed(by: readonly string[]): { readonly by: string } {
  const [first] = by;
  return { by: first === 'category' ? 'team' : first === 'user' ? 'job' : first === 'team' ? 'user' : 'category' };
}

function rowsOf({ rows, others }: BreakdownReply): Row[] {
  const sums = [...rows, ...(others === null ? [] : [others])];
  const paid = usdParts(sums.map(({ usdMicros }) => usdMicros));
  const idle = usdParts(sums.map(({ categories }) => idleOf(categories).usdMicros));
  const held = hoursParts(sums.map(({ gpuSeconds }) => gpuSeconds));
  return sums.map((sum, place) => ({
    key: 'values' in sum ? Object.values(sum.values).join(' / ') : 'others',
    sum,
    values: 'values' in sum ? sum.values : null,
    groups: 'groups' in sum ? sum.groups : 1,
    paid: least(paid.parts[place] ?? '', sum.unpricedSeconds),
    idle: least(idle.parts[place] ?? '', idleOf(sum.categories).unpricedSeconds),
    held: sum.gpuSeconds === 0 ? <span className="muted">–</span> : (held[place] ?? ''),
  }));
}

function paidTotal({ total, rows, others }: BreakdownReply): string {
  const shown = usdParts([...rows, ...(others === null ? [] : [others])].map(({ usdMicros }) => usdMicros)).total;
  return least(shown, total.unpricedSeconds);
}

/** None of it is $0; some of it without a price is `no price`, never $0. */
function idleOf(categories: BreakdownReply['total']['categories']): {
  readonly usdMicros: string | null;
  readonly unpricedSeconds: number;
} {
  return categories['idle'] ?? { usdMicros: '0', unpricedSeconds: 0 };
}

function idleTotal({ total }: BreakdownReply): string {
  const { usdMicros, unpricedSeconds } = idleOf(total.categories);
  return leastUsd(usdMicros, unpricedSeconds);
}

function beforeWords(reply: BreakdownReply, sum: BreakdownReply['total']) {
  if (!isCompared(reply)) return <span className="muted">–</span>;
  if (sum.beforeUsdMicros === null || sum.beforeUsdMicros === '0') return <span className="soft">new</span>;
  return change(sum.usdMicros, sum.beforeUsdMicros) ?? '–';
}

function gpuHours({ gpuSeconds }: BreakdownReply['total']) {
  return gpuSeconds === 0 ? <span className="muted">–</span> : hours(gpuSeconds);
}

interface GroupNameProps {
  readonly name: string;
  readonly value: string | null;
  readonly colour: string | undefined;
}

function GroupName({ name, value, colour }: GroupNameProps) {
  const words = nameOf(name, value);
  return (
    <span title={words}>
      {colour === undefined ? null : <Swatch of={colour} />}
      {cut(words, 30)}
    </span>
  );
}
