import { change, cut, hours, percent, permilleOf } from '../../figures.ts';
import { Swatch } from '../../parts/marks.tsx';
import { STEPS } from '../../steps.ts';
import type { StatementReply } from '../../../../src/api/routes/teams/team-statement.ts';
import { centsParts, monthShort, usdOfCents } from './month-words.ts';

interface TableProps {
  readonly reply: StatementReply;
}

interface WorkRow {
  readonly name: string;
  readonly isClass: boolean;
  readonly gpuSeconds: number;
  readonly usdMicros: string | null;
  readonly computed: number | null;
  readonly beforeMicros: string | null;
}

/** Classes, and under each its projects where there are any: both levels add up. */
export function workRows({ classes, lines }: Pick<StatementReply, 'classes' | 'lines'>): WorkRow[] {
  return classes.flatMap((each) => {
    const own = lines.filter((line) => line.class === each.name);
    const projects = [...new Set(own.map(({ project }) => project))];
    const row: WorkRow = {
      name: each.name ?? 'no class',
      isClass: true,
      gpuSeconds: each.gpuSeconds,
      usdMicros: each.usdMicros,
      computed: each.computeSharePermille,
      beforeMicros: each.beforeUsdMicros,
    };
    if (projects.every((project) => project === null)) return [row];
    const parts = projects.map((project): WorkRow => {
      const rows = own.filter((line) => line.project === project);
      const priced = rows.flatMap(({ usdMicros }) => usdMicros ?? []);
      return {
        name: project ?? 'no project',
        isClass: false,
        gpuSeconds: rows.reduce((sum, { gpuSeconds }) => sum + gpuSeconds, 0),
        usdMicros: priced.length === 0 ? null : String(priced.reduce((sum, micros) => sum + BigInt(micros), 0n)),
        computed: null,
        beforeMicros: null,
      };
    });
    return [row, ...parts.toSorted((a, b) => (BigInt(a.usdMicros ?? '0') < BigInt(b.usdMicros ?? '0') ? 1 : -1))];
  });
}

/** Amounts beside rows, in cents: classes add up to the statement's amount, projects to their class. */
export function workCents(rows: readonly WorkRow[], amountCents: string): string[] {
  const classes = rows.filter(({ isClass }) => isClass);
  const shown = centsParts(
    classes.map(({ usdMicros }) => usdMicros),
    amountCents,
  );
  return rows.flatMap((row, place) => {
    if (!row.isClass) return [];
    const amount = shown[classes.indexOf(row)] ?? '';
    const end = rows.findIndex((each, other) => other > place && each.isClass);
    const parts = rows.slice(place + 1, end < 0 ? rows.length : end);
    const cents = amount.replaceAll(/[$,.]/g, '').replace('−', '-');
    return [
      amount,
      ...(row.usdMicros === null
        ? parts.map(() => 'no price')
        : centsParts(
            parts.map(({ usdMicros }) => usdMicros),
            cents,
          )),
    ];
  });
}

/** What it was spent on, down to the amount that is due. */
export function SpentOn({ reply }: TableProps) {
  const rows = workRows(reply);
  const amounts = workCents(rows, reply.amountCents);
  const { before, total, workloads } = reply;
  return (
    <>
      <div className="scroll" tabIndex={0} role="group" aria-label="What it was spent on">
        <table>
          <caption className="unseen">What it was spent on, in dollars and cents</caption>
          <thead>
            <tr>
              <th scope="col">Work</th>
              <th scope="col" className="n">
                GPU-hours
              </th>
              <th scope="col" className="n">
                Computed
              </th>
              <th scope="col" className="n room-some">
                {before === null ? 'vs before' : `vs ${monthShort(before.month)}`}
              </th>
              <th scope="col" className="n">
                USD
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row, place) => (
              <tr key={`${row.name} ${place}`} className={row.isClass ? 'strong' : 'part'}>
                <td title={row.name} className="name">
                  {cut(row.name)}
                </td>
                <td className="n">{hours(row.gpuSeconds)}</td>
                <td className="n">{row.isClass ? percent(row.computed) : ''}</td>
                <td className="n room-some">{row.isClass ? (change(row.usdMicros, row.beforeMicros) ?? '–') : ''}</td>
                <td className="n">{amounts[place]}</td>
              </tr>
            ))}
          </tbody>
          <Due reply={reply} />
        </table>
      </div>
      {total.unpricedSeconds === 0 ? null : (
        <p className="note">{hours(total.unpricedSeconds)} GPU-hours have no price: the amount is at least this.</p>
      )}
      <p className="note">
        {componentWords(reply)}
        {workloads.length === 0
          ? ''
          : ` Dearest work: ${workloads.map(({ name }) => cut(name ?? 'no name', 24)).join(', ')}.`}
      </p>
    </>
  );
}

/** The sum, what earlier months still owe or are owed, and what is due. */
function Due({ reply }: TableProps) {
  const { before, total, amountCents, adjustments, dueCents, computeSharePermille } = reply;
  return (
    <tfoot>
      <tr>
        <td>Total</td>
        <td className="n">{hours(total.gpuSeconds)}</td>
        <td className="n">{percent(computeSharePermille)}</td>
        <td className="n room-some">{before === null ? '–' : (change(total.usdMicros, before.usdMicros) ?? '–')}</td>
        <td className="n">{total.usdMicros === null ? 'no price' : usdOfCents(amountCents)}</td>
      </tr>
      {adjustments.map(({ month, amountCents: cents, reason }) => (
        <tr key={`${month} ${reason}`} className="adjustment">
          <td colSpan={3} className="wrap">
            Adjustment of {month}: {reason}
          </td>
          <td className="room-some" />
          <td className="n">{usdOfCents(cents)}</td>
        </tr>
      ))}
      {adjustments.length === 0 ? null : (
        <tr>
          <td colSpan={3}>Due</td>
          <td className="room-some" />
          <td className="n">{usdOfCents(dueCents)}</td>
        </tr>
      )}
    </tfoot>
  );
}

const COMPONENTS: Readonly<Record<string, string>> = {
  gpu: 'GPU',
  host: 'host CPU and memory',
  transfer: 'data transfer',
  credit: 'credits',
};

function componentWords({ components, amountCents }: StatementReply): string {
  const amounts = centsParts(
    components.map(({ usdMicros }) => usdMicros),
    amountCents,
  );
  const words = components.map(({ name }, place) => `${COMPONENTS[name ?? ''] ?? name ?? 'other'} ${amounts[place]}`);
  return words.length === 0 ? '' : `${words.join(', ')}.`;
}

/** The waterfall's places of this month's money, in its order. */
export function WhereItWent({ reply }: TableProps) {
  const { categories, amountCents, total } = reply;
  const there = STEPS.flatMap((step) => {
    const amount = categories[step.category];
    return amount === undefined || (amount.usdMicros === '0' && amount.gpuSeconds === 0) ? [] : [{ step, amount }];
  });
  const amounts = centsParts(
    there.map(({ amount }) => amount.usdMicros),
    amountCents,
  );
  return (
    <section aria-labelledby="went">
      <div className="section-head">
        <h2 id="went">Where it went</h2>
      </div>
      <table>
        <caption className="unseen">Where it went</caption>
        <thead className="unseen">
          <tr>
            <th scope="col">Category</th>
            <th scope="col">Share</th>
            <th scope="col">USD</th>
          </tr>
        </thead>
        <tbody>
          {there.map(({ step, amount }, place) => (
            <tr key={step.category}>
              <td>
                <Swatch of={step.of} />
                {step.word}
              </td>
              <td className="n soft">{percent(permilleOf(amount.usdMicros, total.usdMicros))}</td>
              <td className="n">{amounts[place]}</td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <td>Total</td>
            <td className="n">{there.length === 0 ? '–' : '100.0%'}</td>
            <td className="n">{total.usdMicros === null ? 'no price' : usdOfCents(amountCents)}</td>
          </tr>
        </tfoot>
      </table>
    </section>
  );
}
