import { Link } from 'wouter';
import { useAddress } from '../../address.ts';
import { useAnswer } from '../../ask.ts';
import { change, unitUsd, usdRange } from '../../figures.ts';
import { DataTable } from '../../parts/data-table.tsx';
import { BlastRadius } from '../../parts/marks.tsx';
import { Section } from '../../parts/section.tsx';
import { Spark } from '../../charts/spark.tsx';
import type { FindingsReply } from '../../../../src/api/routes/findings/list-findings.ts';
import type { TeamOutcomesReply } from '../../../../src/api/routes/teams/team-outcomes.ts';
import type { StatementReply } from '../../../../src/api/routes/teams/team-statement.ts';
import { counted } from '../../../../src/report/figures.ts';
import { hasCapacity, hasCash, hoursRange, ownerWords, reachOf, savingWords } from '../findings/finding-words.ts';
import { pricedUnit, volumeWords } from '../overview/outcome-rows.ts';
import { waitWords } from './month-words.ts';

/** How long jobs waited that began in the month: a saving that makes research slower is none. */
export function TimeToGpu({ reply }: { readonly reply: StatementReply }) {
  const { timeToGpu: now, timeToGpuBefore: before } = reply;
  return (
    <section aria-labelledby="wait">
      <div className="section-head">
        <h2 id="wait">Time to a GPU</h2>
      </div>
      {now === null ? (
        <p className="note">Not known: nothing says when jobs were submitted.</p>
      ) : (
        <table>
          <caption className="unseen">How long jobs waited for a GPU</caption>
          <thead>
            <tr>
              <th scope="col">{now.jobs.toLocaleString('en-US')} jobs</th>
              <th scope="col" className="n">
                before
              </th>
              <th scope="col" className="n">
                waited
              </th>
            </tr>
          </thead>
          <tbody>
            <tr>
              <td>half within</td>
              <td className="n soft">{before === null ? '–' : waitWords(before.medianSeconds)}</td>
              <td className="n">{waitWords(now.medianSeconds)}</td>
            </tr>
            <tr>
              <td>nine of ten within</td>
              <td className="n soft">{before === null ? '–' : waitWords(before.p90Seconds)}</td>
              <td className="n">{waitWords(now.p90Seconds)}</td>
            </tr>
          </tbody>
        </table>
      )}
    </section>
  );
}

interface OutcomeLine {
  readonly name: string;
  readonly quantity: string;
  readonly price: string;
  readonly moved: string | null;
  readonly weeks: readonly (number | null)[];
}

/** What was achieved, and what a unit of it cost. */
export function Outcomes({ team, month }: { readonly team: string; readonly month: string }) {
  const answer = useAnswer<TeamOutcomesReply>(`/teams/${encodeURIComponent(team)}/outcomes`, { window: month });
  return (
    <Section
      title="Cost per outcome"
      sub="all that was held for it ÷ what it did"
      answer={answer}
      commandWords="command, of all teams"
    >
      {({ rows, runs }) => {
        const lines: OutcomeLine[] = [
          ...rows.map((row) => ({
            name: pricedUnit(row),
            quantity: volumeWords(row),
            price: unitUsd(row.allocationUsdMicrosPer),
            moved: change(row.allocationUsdMicrosPer, row.before?.allocationUsdMicrosPer ?? null),
            weeks: row.weeklyUsdMicrosPer.map((each) => (each === null ? null : Number(each))),
          })),
          ...runs.map((row) => ({
            name: 'finished run (median)',
            quantity: counted(row.finished, 'run'),
            price: unitUsd(row.medianUsdMicros),
            moved: change(row.medianUsdMicros, row.before?.medianUsdMicros ?? null),
            weeks: [],
          })),
        ];
        return (
          <DataTable
            caption="Cost per outcome"
            columns={[
              { title: 'Outcome', cell: ({ name }) => name },
              { title: 'Done', isNumber: true, className: 'soft', cell: ({ quantity }) => quantity },
              {
                title: 'By week',
                room: 'some',
                cell: ({ weeks, name }) => <Spark values={weeks} label={`${name} by week`} />,
              },
              { title: 'vs before', isNumber: true, room: 'some', cell: ({ moved }) => moved ?? '–' },
              { title: 'USD each', isNumber: true, cell: ({ price }) => price },
            ]}
            rows={lines}
            keyOf={({ name }) => name}
            empty="Nothing counts what this team’s work achieved: bursar import work FILE, or counters of its servers."
          />
        );
      }}
    </Section>
  );
}

const SHOWN = 5;

/** The team's own findings, the safest first. */
export function CouldDo({ team, month }: { readonly team: string; readonly month: string }) {
  const { to } = useAddress();
  const answer = useAnswer<FindingsReply>('/findings', { window: month, team });
  return (
    <Section
      title={`What ${team} could do`}
      sub="not counted twice; safest first"
      answer={answer}
      acts={<Link href={to('/findings', { window: month, team })}>all</Link>}
    >
      {({ findings }) => {
        const shown = findings.filter(({ kind }) => kind === 'cash' || kind === 'capacity').slice(0, SHOWN);
        const reach = reachOf(shown);
        const sum = [
          ...(hasCash(reach) ? [usdRange(reach.cash)] : []),
          ...(hasCapacity(reach) ? [hoursRange(reach.capacity)] : []),
        ].join('; ');
        return (
          <DataTable
            caption={`What ${team} could do`}
            columns={[
              {
                title: 'Id',
                cell: ({ id }) =>
                  id === null ? 'new' : <Link href={to(`/findings/${id}`, { window: month })}>{id}</Link>,
              },
              { title: 'Blast radius', room: 'some', cell: ({ blastRadius }) => <BlastRadius radius={blastRadius} /> },
              { title: 'Finding', className: 'wrap', cell: ({ what }) => what, sum: 'These together' },
              { title: 'Owner', className: 'soft', room: 'some', cell: (finding) => ownerWords(finding) },
              { title: 'Saves', isNumber: true, className: 'saves', cell: savingWords, sum },
            ]}
            rows={shown}
            keyOf={({ id, key }) => id ?? key}
            empty="Nothing to do in this month."
          />
        );
      }}
    </Section>
  );
}
