import { gpuHours, gpuHoursOf, NO_PRICE, percentsOf } from './figures.ts';
import { safeText } from './safe-text.ts';
import { textTable } from './table.ts';
import type { StatementOverview } from './statement-answer.ts';
import type { ClosingPreview, PendingAdjustment, StatementList } from './statement-closing.ts';
import { overviewRowJson } from './statement-data.ts';
import {
  aheadWords,
  basisWords,
  cents,
  change,
  factDaysWords,
  isAheadOfFacts,
  minuteOf,
  monthName,
  share,
  signedCents,
  teamName,
} from './statement-words.ts';

/** All teams of a month; they add up to it. */
export function overviewScreen(overview: StatementOverview): string[] {
  const { rows, month, status, unpricedUnits, kind } = overview;
  const state =
    status === 'closed' ? 'closed' : status === 'open' ? 'not closed' : `running, as of ${minuteOf(overview.asOf)} UTC`;
  const heading = isAheadOfFacts(overview)
    ? `${aheadWords(overview)}; ${kind}`
    : `Statements of ${monthName(month)}${factDaysWords(overview)}: ${cents(overview.amountCents)}, ${kind}, ${state}; ${basisWords(overview)}`;
  if (rows.length === 0) return [heading, 'nothing in this month'];
  const shares = percentsOf(rows.map(({ usdMicros }) => usdMicros ?? 0n));
  const hours = gpuHoursOf(rows.map(({ gpuUnits }) => gpuUnits));
  const adjusted = rows.reduce((sum, { adjustmentCents }) => sum + adjustmentCents, 0n);
  const lines = rows.map((row, index) => [
    row.number ?? '',
    teamName(row.team),
    row.usdMicros === null ? NO_PRICE : cents(row.amountCents),
    shares[index] ?? '',
    row.gpuUnits === 0n ? '' : (hours.parts[index] ?? ''),
    share(row.computeSharePermille),
    change(row.usdMicros, row.beforeUsdMicros),
    row.adjustmentCents === 0n ? '' : signedCents(row.adjustmentCents * 10_000n),
    safeText(row.costCentre ?? ''),
    safeText(row.accountCode ?? ''),
  ]);
  const total = [
    '',
    'total',
    cents(overview.amountCents),
    '',
    hours.total,
    '',
    '',
    adjusted === 0n ? '' : signedCents(adjusted * 10_000n),
  ];
  return [
    heading,
    '',
    ...textTable(
      [
        { align: 'left', title: 'number' },
        { align: 'left', title: 'team' },
        { align: 'right', title: 'USD' },
        { align: 'right' },
        { align: 'right', title: 'GPU-hours' },
        { align: 'right', title: 'computed' },
        { align: 'right', title: overview.beforeMonth === null ? '' : `vs ${overview.beforeMonth}` },
        { align: 'right', title: 'adjustments' },
        { align: 'left', title: 'cost centre' },
        { align: 'left', title: 'account' },
      ],
      [...lines, total],
    ),
    ...(unpricedUnits === 0n ? [] : ['', `${gpuHours(unpricedUnits)} have no price and are in no sum`]),
  ];
}

/** What closing would freeze, or has frozen. */
export function closingScreen(preview: ClosingPreview, isApplied: boolean, dataFlag: string): string[] {
  const { overview, numbers, warnings, adjustments } = preview;
  const { month } = overview;
  const rows = overview.rows.map((row, index) => ({ ...row, number: numbers[index] ?? null }));
  const [, ...table] = overviewScreen({ ...overview, rows });
  const count = `${rows.length} ${rows.length === 1 ? 'statement' : 'statements'}`;
  return [
    isApplied
      ? `${month} is closed: ${count}, ${cents(overview.amountCents)}`
      : `Closing ${month} would issue ${count}, ${cents(overview.amountCents)}; nothing is written yet`,
    ...table,
    ...(adjustments.length === 0 ? [] : ['', ...pendingLines(adjustments)]),
    ...(warnings.length === 0 ? [] : ['', 'What may still change', ...warnings.map((line) => `  ${safeText(line)}`)]),
    '',
    isApplied
      ? `bursar statement --month ${month}${dataFlag} prints them as they are now, whatever changes later`
      : `bursar statement close ${month} --apply${dataFlag} freezes them`,
  ];
}

export function closingJson({ overview, numbers, warnings, adjustments }: ClosingPreview, isApplied: boolean): unknown {
  return {
    month: overview.month,
    applied: isApplied,
    statements: overview.rows.map((row, index) => ({ ...overviewRowJson(row), number: numbers[index] ?? null })),
    amountCents: overview.amountCents,
    adjustments,
    warnings,
  };
}

/** What was issued, what was withdrawn, and what the ledger says beyond it. */
export function listScreen({ closings, pending }: StatementList): string[] {
  if (closings.length === 0) return ['No month is closed yet: bursar statement close MONTH shows what would be frozen'];
  const rows = closings.map(({ month, closedAt, withdrawnAt, statements, generation }) => {
    const own = statements.reduce((sum, { usdMicros }) => sum + usdMicros, 0n);
    const adjusted = statements
      .flatMap(({ adjustments }) => adjustments)
      .reduce((sum, each) => sum + each.usdMicros, 0n);
    return [
      month,
      `${statements[0]?.number ?? ''} to ${statements.at(-1)?.number.slice(8) ?? ''}`,
      signedCents(own).replace('+', ''),
      adjusted === 0n ? '' : signedCents(adjusted),
      minuteOf(closedAt),
      String(generation),
      withdrawnAt === null ? 'in force' : `withdrawn ${minuteOf(withdrawnAt)}`,
    ];
  });
  const valid = closings.filter(({ withdrawnAt }) => withdrawnAt === null);
  return [
    `${valid.length} ${valid.length === 1 ? 'month' : 'months'} closed; the ledger ${pending.length === 0 ? 'still says what was stated' : 'says something else by now'}`,
    '',
    ...textTable(
      [
        { align: 'left', title: 'month' },
        { align: 'left', title: 'numbers' },
        { align: 'right', title: 'USD' },
        { align: 'right', title: 'adjustments' },
        { align: 'left', title: 'closed (UTC)' },
        { align: 'right', title: 'generation' },
        { align: 'left', title: '' },
      ],
      rows,
    ),
    ...(pending.length === 0 ? [] : ['', ...pendingLines(pending)]),
  ];
}

export function listJson({ closings, pending }: StatementList): unknown {
  return { closings, pending };
}

export function reopenScreen(
  month: string,
  numbers: readonly string[],
  isApplied: boolean,
  dataFlag: string,
): string[] {
  const which = `${numbers[0] ?? ''} to ${numbers.at(-1) ?? ''}`;
  if (isApplied) return [`${month} is open again: ${which} are withdrawn, their numbers are not used again`];
  return [
    `Reopening ${month} would withdraw ${which}; nothing is written yet`,
    `bursar statement reopen ${month} --apply${dataFlag} does it`,
  ];
}

function pendingLines(pending: readonly PendingAdjustment[]): string[] {
  const total = pending.reduce((sum, { amountCents }) => sum + amountCents, 0n);
  return [
    `Adjustments of closed months: ${signedCents(total * 10_000n)}`,
    ...textTable(
      [{ align: 'left' }, { align: 'left' }, { align: 'right' }, { align: 'left' }],
      pending.map(({ month, team, amountCents, usdMicros, reason }) => [
        `  ${month}`,
        teamName(team),
        amountCents === 0n ? signedCents(usdMicros) : signedCents(amountCents * 10_000n),
        safeText(reason),
      ]),
    ),
  ];
}
