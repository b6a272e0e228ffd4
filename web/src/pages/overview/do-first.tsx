import type { UseQueryResult } from '@tanstack/react-query';
import { Link } from 'wouter';
import { sharedQuery, useAddress } from '../../address.ts';
import { csvAddress } from '../../ask.ts';
import type { Answer, Problem } from '../../ask.ts';
import { cut } from '../../figures.ts';
import { DataTable } from '../../parts/data-table.tsx';
import { BlastRadius, Swatch } from '../../parts/marks.tsx';
import { Unbroken } from '../../parts/unbroken.tsx';
import { Section } from '../../parts/section.tsx';
import { stepOf } from '../../steps.ts';
import { savingWords } from '../findings/finding-words.ts';
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
          hasKeys
          open={({ id }) => (id === null ? to('/findings') : to(`/findings/${id}`))}
          rows={first}
          keyOf={({ key }) => key}
          empty="Nothing was found in this window."
          columns={[
            {
              title: 'Id',
              cell: ({ id }) => (id === null ? 'new' : <Link href={to(`/findings/${id}`)}>{id}</Link>),
            },
            { title: 'Blast radius', room: 'some', cell: ({ blastRadius }) => <BlastRadius radius={blastRadius} /> },
            { title: 'Finding', className: 'wrap', cell: ({ what }) => what },
            { title: 'Step', room: 'some', cell: ({ category }) => <StepName category={category} /> },
            { title: 'Owner', room: 'some', cell: ({ team, user }) => <Owner team={team} user={user} /> },
            { title: 'Saves', isNumber: true, className: 'saves', cell: (finding) => <Saving finding={finding} /> },
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

/** As the page of findings tells it; money off the bill stands out. */
function Saving({ finding }: { readonly finding: First }) {
  const isCash = BigInt(finding.cashUsdMicros.high) > 0n;
  return (
    <span className={isCash ? 'strong' : 'soft'}>
      <Unbroken text={savingWords(finding)} />
    </span>
  );
}
