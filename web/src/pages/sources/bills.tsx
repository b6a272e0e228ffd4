import { useAnswer } from '../../ask.ts';
import { day, usd } from '../../figures.ts';
import { DataTable } from '../../parts/data-table.tsx';
import { StateMark } from '../../parts/marks.tsx';
import { Section } from '../../parts/section.tsx';
import { formatUsdCents, formatUsdMicros } from '../../../../src/money/usd.ts';
import type { BillsReply } from '../../../../src/api/routes/sources/bills.ts';
import type { LedgerCheckReply } from '../../../../src/api/routes/sources/ledger-check.ts';

/** The bills that are in, and whether the ledger equals them. */
export function Bills() {
  const bills = useAnswer<BillsReply>('/bills');
  const check = useAnswer<LedgerCheckReply>('/ledger/check');
  return (
    <div className="columns">
      <Section title="Bills" sub="in the ledger at effective cost" answer={bills}>
        {(reply) => <BillTable bills={reply.bills} check={check.data?.data} />}
      </Section>
      <Section title="Ledger check" sub="added up by a second path" answer={check}>
        {(reply) => <Check check={reply} />}
      </Section>
    </div>
  );
}

interface BillTableProps {
  readonly bills: BillsReply['bills'];
  readonly check: LedgerCheckReply | undefined;
}

function BillTable({ bills, check }: BillTableProps) {
  const difference = (billId: string): string => {
    const checked = check?.bills.find((each) => each.billId === billId);
    return checked === undefined ? '…' : formatUsdMicros(BigInt(checked.differenceUsdMicros));
  };
  return (
    <DataTable
      caption="Bills"
      columns={[
        {
          title: 'Bill',
          cell: ({ provider, billingAccount }) => (
            <>
              {provider} <span className="gloss">{billingAccount}</span>
            </>
          ),
        },
        { title: 'Period', cell: ({ periodStart }) => periodStart.slice(0, 7) },
        {
          title: 'Covered until',
          cell: ({ coveredUntil }) => (coveredUntil === null ? '–' : day(Date.parse(coveredUntil) - 1)),
        },
        { title: 'Issue', isNumber: true, className: 'soft', cell: ({ issue }) => issue },
        { title: 'Rows', isNumber: true, className: 'soft', cell: ({ rows }) => rows.toLocaleString('en-US') },
        {
          title: 'Posted',
          isNumber: true,
          cell: ({ postedUsdMicros }) =>
            postedUsdMicros === null ? 'not posted' : formatUsdCents(BigInt(postedUsdMicros)),
        },
        { title: 'Difference', isNumber: true, cell: ({ billId }) => difference(billId) },
      ]}
      rows={bills}
      keyOf={({ billId }) => billId}
      empty="No bill is here yet: bursar bills add FILE. Until then stated rates are the bill."
    />
  );
}

function Check({ check }: { readonly check: LedgerCheckReply }) {
  const { faults, differenceUsdMicros, rates, unattributedUsdMicros, unknownUsdMicros, rowsNotDerived } = check;
  return (
    <>
      <p className="radius-line">
        <StateMark state={faults.length === 0 ? 'good' : 'bad'} />
        {faults.length === 0
          ? `The ledger equals the bills: difference ${formatUsdMicros(BigInt(differenceUsdMicros))}.`
          : `Does not add up: ${faults.length} ${faults.length === 1 ? 'check fails' : 'checks fail'}.`}
      </p>
      {faults.map(({ check: words, cases, examples }) => (
        <p key={words} className="note">
          Not so: {words} ({cases}).{' '}
          {examples.slice(0, 1).map(({ place, want, got }) => `${place}: ${want} expected, ${got} found.`)}
        </p>
      ))}
      <dl className="facts check-facts">
        <dt>By stated rates</dt>
        <dd>{usd(rates.rateUsdMicros)}</dd>
        <dt>Estimated, not billed</dt>
        <dd>{usd(rates.estimatedUsdMicros)}</dd>
        <dt>Unattributed</dt>
        <dd>{usd(unattributedUsdMicros)}</dd>
        <dt>Unknown</dt>
        <dd>{usd(unknownUsdMicros)}</dd>
      </dl>
      {rowsNotDerived === 0 ? null : (
        <p className="note">{rowsNotDerived.toLocaleString('en-US')} rows of facts are not in the ledger yet.</p>
      )}
    </>
  );
}
