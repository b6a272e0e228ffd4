import { sharedQuery, useAddress } from '../../address.ts';
import { csvAddress, useAnswer } from '../../ask.ts';
import { Composition } from '../../charts/composition.tsx';
import { change, cut, percent, points, sentenceCase, usdNumber, usdParts } from '../../figures.ts';
import { conditionText } from '../../filter-words.ts';
import { DataTable } from '../../parts/data-table.tsx';
import { Section } from '../../parts/section.tsx';
import { STEPS } from '../../steps.ts';
import { Figure } from '../../why/figure.tsx';
import type { BreakdownReply } from '../../../../src/api/routes/spend/spend-breakdown.ts';

type GroupSum = BreakdownReply['total'];

/** Training, inference, experimentation: opposite cost profiles, so each by itself. */
export function Classes() {
  const address = useAddress();
  const query = { ...sharedQuery(address), by: 'class' };
  const answer = useAnswer<BreakdownReply>('/spend/breakdown', query);
  return (
    <Section
      title="By class of work"
      sub="opposite cost profiles, so never averaged"
      answer={answer}
      csv={csvAddress('/spend/breakdown', query)}
    >
      {({ rows, total }) => {
        const shown = usdParts(rows.map(({ usdMicros }) => usdMicros));
        return (
          <DataTable
            caption="Paid by class of work"
            hasKeys
            rows={rows.map((row, place) => ({ row, paid: shown.parts[place] ?? '' }))}
            keyOf={({ row }) => String(row.values['class'])}
            empty="Nothing in this window."
            columns={[
              {
                title: 'Class',
                cell: ({ row }) =>
                  row.values['class'] === null ? 'No class' : cut(sentenceCase(row.values['class'] ?? '')),
                sum: 'Total',
              },
              {
                title: 'Paid',
                isNumber: true,
                cell: ({ row, paid }) => (
                  <Figure of={conditionText({ name: 'class', value: row.values['class'] ?? null })}>{paid}</Figure>
                ),
                sum: shown.total,
              },
              {
                title: 'vs before',
                isNumber: true,
                room: 'some',
                cell: ({ row }) => change(row.usdMicros, row.beforeUsdMicros) ?? '–',
                sum: change(total.usdMicros, total.beforeUsdMicros) ?? '–',
              },
              {
                title: 'Computed',
                isNumber: true,
                cell: ({ row }) => percent(row.computedPermille),
                sum: percent(total.computedPermille),
              },
              {
                title: 'in points',
                isNumber: true,
                room: 'some',
                cell: ({ row }) => points(row.computedPermille, row.computedBeforePermille) ?? '–',
                sum: points(total.computedPermille, total.computedBeforePermille) ?? '–',
              },
              {
                title: 'Where it went',
                room: 'some',
                cell: ({ row }) => <WhereItWent sum={row} />,
                sum: <WhereItWent sum={total} />,
              },
            ]}
          />
        );
      }}
    </Section>
  );
}

/** One bar of a group's money, in the order of the waterfall. */
export function WhereItWent({ sum, width = 218 }: { readonly sum: GroupSum; readonly width?: number }) {
  const parts = STEPS.map(({ category, word, of }) => ({
    of,
    word,
    value: Math.max(0, usdNumber(sum.categories[category]?.usdMicros) ?? 0),
  }));
  return <Composition parts={parts} width={width} />;
}
