import { day, hours, minute, usdParts } from '../../figures.ts';
import { DataTable } from '../../parts/data-table.tsx';
import type { BreakdownReply } from '../../../../src/api/routes/spend/spend-breakdown.ts';
import { nameOf } from './series.ts';
import type { Measure } from './series.ts';

const GROUPS_SHOWN = 8;
const DAY_S = 86_400;

/** The chart as a table: a row for each step, a column for each group. */
export function StepTable({ reply, measure }: { readonly reply: BreakdownReply; readonly measure: Measure }) {
  const groups = reply.rows.slice(0, GROUPS_SHOWN);
  const isPart = reply.rows.length > groups.length || reply.others !== null;
  const when = reply.stepSeconds % DAY_S === 0 ? day : minute;
  const titleOf = (place: number): string =>
    reply.by.map((name) => nameOf(name, groups[place]?.values[name] ?? null)).join(', ');
  const rows = reply.steps.map(({ from, isEstimated }, step) => {
    const total = reply.total.steps;
    const allSeconds = total.gpuSeconds[step] ?? null;
    // No facts, which is neither $0 nor without a price.
    if (allSeconds === null) return { from, isEstimated, cells: groups.map(() => '–'), sum: '–' };
    const parts = groups.map(({ steps }) => steps);
    const shown =
      measure === 'cost'
        ? usdParts(parts.map(({ usdMicros }) => usdMicros[step] ?? null))
        : { parts: parts.map(({ gpuSeconds }) => hours(gpuSeconds[step] ?? 0)), total: '' };
    const sum =
      measure === 'hours' ? hours(allSeconds) : isPart ? usdParts([total.usdMicros[step] ?? null]).total : shown.total;
    return { from, isEstimated, cells: shown.parts, sum };
  });
  return (
    <DataTable
      caption={`${measure === 'cost' ? 'Paid' : 'GPU-hours'} by step and ${reply.by.join(', ')}`}
      rows={rows}
      keyOf={({ from }) => from}
      empty="Nothing in this window."
      columns={[
        {
          title: 'From, UTC',
          cell: ({ from, isEstimated }) => `${when(from)}${isEstimated ? ' (estimated)' : ''}`,
        },
        ...groups.map((_, place) => ({
          title: titleOf(place),
          isNumber: true,
          cell: ({ cells }: (typeof rows)[number]) => cells[place] ?? '',
        })),
        { title: isPart ? 'All, with others' : 'All', isNumber: true, cell: ({ sum }) => sum },
      ]}
    />
  );
}
