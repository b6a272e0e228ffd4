import type { UseQueryResult } from '@tanstack/react-query';
import { Link } from 'wouter';
import { sharedQuery, useAddress } from '../../address.ts';
import { csvAddress } from '../../ask.ts';
import type { Answer, Problem } from '../../ask.ts';
import { cut, hours, usd, usdRange } from '../../figures.ts';
import { DataTable } from '../../parts/data-table.tsx';
import { BlastRadius, Swatch } from '../../parts/marks.tsx';
import { Section } from '../../parts/section.tsx';
import { stepOf } from '../../steps.ts';
import type { FirstFindingsReply } from '../../../../src/api/routes/overview/overview-findings.ts';

type First = FirstFindingsReply['first'][number];

/** The five to do first, safest first, then money. */
export function DoFirst({ findings }: { readonly findings: UseQueryResult<Answer<FirstFindingsReply>, Problem> }) {
  const address = useAddress();
  const { to } = address;
  const count = findings.data?.data.count;
  return (
    <Section
      title="Do first"
      sub="safest first, then money; dollars come off the bill, GPU-hours are time for others"
      acts={<Link href={to('/findings')}>{count === undefined ? 'all findings' : `all ${count} findings`}</Link>}
      answer={findings}
      csv={csvAddress('/overview/findings', sharedQuery(address))}
    >
      {({ first }) => (
        <DataTable
          caption="Findings to do first"
          rows={first}
          keyOf={({ key }) => key}
          empty="Nothing was found in this window."
          columns={[
            {
              title: 'Id',
              cell: ({ id }) => (id === null ? '–' : <Link href={to(`/findings/${id}`)}>{id}</Link>),
            },
            { title: 'Blast radius', cell: ({ blastRadius }) => <BlastRadius radius={blastRadius} /> },
            { title: 'Finding', className: 'wrap', cell: ({ what }) => what },
            { title: 'Step', cell: ({ category }) => <StepName category={category} /> },
            { title: 'Owner', cell: ({ team, user }) => <Owner team={team} user={user} /> },
            { title: 'Saves', isNumber: true, cell: (finding) => <Saving finding={finding} /> },
          ]}
        />
      )}
    </Section>
  );
}

function StepName({ category }: { readonly category: string }) {
  const step = stepOf(category);
  return (
    <>
      <Swatch of={step?.of ?? 'unknown'} />
      {step?.word ?? category}
    </>
  );
}

function Owner({ team, user }: { readonly team: string | null; readonly user: string | null }) {
  const name = user ?? team;
  return name === null ? <span className="muted">platform</span> : <span title={name}>{cut(name, 16)}</span>;
}

/** Cash where a bill falls; else the GPU-hours somebody else can have. */
function Saving({ finding: { kind, usdMicros, cashUsdMicros, capacityGpuSeconds } }: { readonly finding: First }) {
  if (BigInt(cashUsdMicros.high) > 0n) return <span className="strong">{usdRange(cashUsdMicros)}</span>;
  if (capacityGpuSeconds.high > 0) return <span className="soft">{hours(capacityGpuSeconds.high)} GPU-h</span>;
  if (kind === 'question') return <span className="muted">a question</span>;
  return <span className="soft">{usd(usdMicros)}</span>;
}
