import { sharedQuery, useAddress } from '../../address.ts';
import { csvAddress, useAnswer } from '../../ask.ts';
import { Spark } from '../../charts/spark.tsx';
import { cut, usd } from '../../figures.ts';
import { useSeesFleet } from '../../frame/session.ts';
import { DataTable } from '../../parts/data-table.tsx';
import { Section } from '../../parts/section.tsx';
import type { OutcomesReply } from '../../../../src/api/routes/spend/outcomes.ts';
import { outcomeLines } from './outcome-rows.ts';

/** What a run, a million tokens, a thousand requests cost: everything paid for it ÷ units. */
export function OutcomeTable() {
  const address = useAddress();
  const { window, asOf, team } = sharedQuery(address);
  const query = { window, asOf };
  // Outcomes are of the whole fleet: not for a scope of one team, nor for who sees only one.
  const isAsked = useSeesFleet() === true && team === undefined;
  const answer = useAnswer<OutcomesReply>('/outcomes', query, { enabled: isAsked });
  if (!isAsked) return null;
  return (
    <Section
      title="Cost per outcome"
      sub="everything paid for it ÷ units"
      answer={answer}
      csv={csvAddress('/outcomes', query)}
    >
      {(reply) => (
        <DataTable
          caption="Cost per outcome"
          rows={outcomeLines(reply)}
          keyOf={({ key }) => key}
          empty="No runs, tokens or requests were counted: bursar work and serving metrics bring them in."
          columns={[
            {
              title: 'A unit of',
              cell: ({ what, of }) => (
                <>
                  {what}
                  <span className="gloss" title={of}>
                    {cut(of, 24)}
                  </span>
                </>
              ),
            },
            { title: 'costs', isNumber: true, cell: ({ cost }) => <span className="strong">{cost}</span> },
            { title: 'vs before', isNumber: true, room: 'some', cell: (line) => <Change text={line.change} /> },
            {
              title: 'by week',
              room: 'some',
              cell: ({ weeks, what }) => <Spark values={weeks} label={`${what}: cost by week`} />,
            },
            { title: 'units', isNumber: true, room: 'some', cell: ({ volume }) => volume },
            { title: 'paid', isNumber: true, cell: ({ paidUsdMicros }) => usd(paidUsdMicros) },
          ]}
        />
      )}
    </Section>
  );
}

/** A unit that costs less is good for sure. */
function Change({ text }: { readonly text: string | null }) {
  if (text === null) return <span className="muted">–</span>;
  return <span className={text.startsWith('−') ? 'good' : 'soft'}>{text}</span>;
}
