import { sharedQuery, useAddress } from '../../address.ts';
import { useAnswer } from '../../ask.ts';
import { cut, percent, permilleOf, usd, usdParts } from '../../figures.ts';
import { conditionText } from '../../filter-words.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { Swatch } from '../../parts/marks.tsx';
import { Section } from '../../parts/section.tsx';
import { Figure } from '../../why/figure.tsx';
import type { SuggestionsReply } from '../../../../src/api/routes/spend/rule-suggestions.ts';
import { colourOf } from './colours.ts';

interface Line {
  readonly key: string;
  readonly rule: string;
  readonly team: string | null;
  readonly isShared: boolean;
  readonly because: string;
  readonly paid: string;
  readonly yaml: string | null;
}

/** Money that is nobody's, one click from the rule that would catch it. */
export function Unattributed({ order }: { readonly order: readonly (string | null)[] }) {
  const address = useAddress();
  const { window, asOf } = sharedQuery(address);
  const answer = useAnswer<SuggestionsReply>('/rules/suggestions', { window, asOf });
  const reply = answer.data?.data;
  const sub =
    reply === undefined
      ? undefined
      : `${usd(reply.unownedUsdMicros)}, ${percent(permilleOf(reply.unownedUsdMicros, reply.totalUsdMicros))} of paid; a rule in bursar.yaml catches it`;
  return (
    <Section
      title="Unattributed"
      sub={sub}
      answer={answer}
      acts={
        <Figure of={conditionText({ name: 'team', value: null })} className="plain">
          rows behind
        </Figure>
      }
    >
      {(suggestions) => (
        <DataTable
          caption="Rules that would catch unattributed money"
          rows={linesOf(suggestions)}
          keyOf={({ key }) => key}
          empty="Everything has a team."
          columns={[
            {
              title: 'Rule that would catch it',
              className: 'wrap',
              cell: ({ rule }) => <code title={rule}>{cut(rule, 90)}</code>,
              sum: 'Total',
            },
            { title: 'Team', cell: (line) => <Whose line={line} order={order} /> },
            {
              title: 'because',
              className: 'wrap soft',
              cell: ({ because }) => <span title={because}>{cut(because, 90)}</span>,
            },
            { title: 'would get', isNumber: true, cell: ({ paid }) => paid, sum: usd(suggestions.unownedUsdMicros) },
            {
              title: 'Rule',
              isNumber: true,
              cell: ({ yaml }) =>
                yaml === null ? (
                  // No filter is of what no rule catches: rows of another figure would open.
                  <span className="muted">–</span>
                ) : (
                  <CopyButton text={yaml} words="copy rule" />
                ),
            },
          ]}
        />
      )}
    </Section>
  );
}

function linesOf(reply: SuggestionsReply): Line[] {
  const rules = reply.rules.filter(({ dimension }) => dimension === 'team');
  const hasLeft = BigInt(reply.leftUsdMicros) > 0n;
  const shown = usdParts([
    ...rules.map(({ usdMicros }) => usdMicros),
    ...reply.shared.map(({ usdMicros }) => usdMicros),
    ...(hasLeft ? [reply.leftUsdMicros] : []),
  ]).parts;
  return [
    ...rules.map(({ attribute, patterns, value, evidence, yaml }, place): Line => ({
      key: `${attribute} ${patterns.join(' ')}`,
      rule: `${attribute}: ${patterns.join(', ')}`,
      team: value,
      isShared: false,
      because: evidence,
      paid: shown[place] ?? '',
      yaml,
    })),
    ...reply.shared.map(({ name, when, example, yaml }, place): Line => ({
      key: `shared ${name}`,
      rule: Object.entries(when)
        .map(([attribute, value]) => `${attribute}: ${value === '' ? 'none' : value}`)
        .join(', '),
      team: null,
      isShared: true,
      because: `names nobody; e.g. ${example}`,
      paid: shown[rules.length + place] ?? '',
      yaml,
    })),
    ...(hasLeft
      ? [
          {
            key: 'left',
            rule: 'no rule found',
            team: null,
            isShared: false,
            because: 'no evidence says whose it is',
            paid: shown.at(-1) ?? '',
            yaml: null,
          },
        ]
      : []),
  ];
}

function Whose({
  line: { team, isShared },
  order,
}: {
  readonly line: Line;
  readonly order: readonly (string | null)[];
}) {
  if (isShared) return <span className="soft">shared, split by cost</span>;
  return (
    <>
      <Swatch of={colourOf('team', team, order)} />
      {team === null ? <span className="soft">stays unattributed</span> : cut(team, 24)}
    </>
  );
}
