import { roundLargestRemainder } from '../money/split.ts';
import { formatUsdCents } from '../money/usd.ts';
import { gpuHours, gpuHoursOf, percentsOf } from './figures.ts';
import { safeText } from './safe-text.ts';
import { shorten, textTable } from './table.ts';
import type { TableColumn } from './table.ts';
import type { StatementAnswer, StatementPart } from './statement-answer.ts';
import {
  advice,
  basisWords,
  cents,
  centsOf,
  change,
  componentName,
  coverageWords,
  minuteOf,
  missingWords,
  monthName,
  moverName,
  moverWhy,
  partsShown,
  periodWords,
  share,
  signedCents,
  verdict,
  waitWords,
} from './statement-words.ts';

const MOVERS_SHOWN = 4;
const NAME_WIDTH_MAX = 34;

/** A statement on a terminal, at most 45 lines. */
export function statementScreen(answer: StatementAnswer, dataFlag: string): string[] {
  return [
    verdict(answer),
    headLine(answer),
    ...accountLines(answer),
    '',
    ...mainTable(answer),
    `By component: ${componentWords(answer)}`,
    ...sharedLines(answer),
    ...(answer.workloads.length === 0 ? [] : [`Dearest work: ${workWords(answer)}`]),
    `Time to a GPU: ${waitWords(answer)}`,
    ...changeLines(answer),
    ...adjustmentLines(answer),
    ...adviceLines(answer, dataFlag),
  ];
}

/** What the statement is, of which days, on which basis. */
function headLine(answer: StatementAnswer): string {
  const state =
    answer.status === 'closed'
      ? `${answer.number ?? ''}, issued ${minuteOf(answer.issuedAt ?? '')} UTC`
      : answer.status === 'open'
        ? 'not closed'
        : `running, as of ${minuteOf(answer.asOf)} UTC`;
  return [
    `${answer.kind === 'chargeback' ? 'Invoice' : 'Showback statement'}: ${state}`,
    periodWords(answer),
    basisWords(answer),
    coverageWords(answer),
  ].join(' · ');
}

function accountLines({ issuer, costCentre, accountCode, lead, kind }: StatementAnswer): string[] {
  const words = [
    ...(issuer === null ? [] : [`from ${safeText(issuer)}`]),
    ...(costCentre === null ? [] : [`cost centre ${safeText(costCentre)}`]),
    ...(accountCode === null ? [] : [`account ${safeText(accountCode)}`]),
    ...(lead === null ? [] : [`lead ${safeText(lead)}`]),
    ...(kind === 'chargeback' && costCentre === null ? ['no cost centre: name it in bursar.yaml, teams'] : []),
  ];
  return words.length === 0 ? [] : [words.join(' · ')];
}

/** By class, by project, and where it went; each adds up to the total in the last line. */
function mainTable(answer: StatementAnswer): string[] {
  const columns: TableColumn[] = [
    { align: 'left' },
    { align: 'right', title: 'USD' },
    { align: 'right' },
    { align: 'right', title: 'GPU-hours' },
    { align: 'right', title: 'computed' },
    { align: 'right', title: answer.before === null ? '' : `vs ${answer.before.month}` },
  ];
  const categories = Object.entries(answer.categories)
    .filter(([, { usdMicros, gpuUnits }]) => usdMicros !== 0n || gpuUnits !== 0n)
    .map(([name, amount]): StatementPart => ({ name, ...amount, beforeUsdMicros: null, computeSharePermille: null }));
  const hasProjects = answer.projects.some(({ name }) => name !== null);
  const totalHours = gpuHoursOf([answer.total.gpuUnits]).total;
  return textTable(columns, [
    ['By class'],
    ...partRows(answer.classes, answer, 'no class'),
    ...(hasProjects ? [['By project'], ...partRows(answer.projects, answer, 'no project')] : []),
    ['Where it went'],
    ...partRows(categories, answer, ''),
    [
      'Total',
      answer.total.usdMicros === null ? 'no price' : cents(answer.amountCents),
      '',
      answer.total.gpuUnits === 0n ? '' : totalHours,
      share(answer.computeSharePermille),
      change(answer.total.usdMicros, answer.before?.usdMicros ?? null),
    ],
  ]);
}

function partRows(parts: readonly StatementPart[], answer: StatementAnswer, nameless: string): string[][] {
  const shown = partsShown(parts);
  const amounts = centsOf(
    shown.map(({ usdMicros }) => usdMicros),
    answer.amountCents,
  );
  const shares = percentsOf(shown.map(({ usdMicros }) => usdMicros ?? 0n));
  const hours = gpuHoursOf(shown.map(({ gpuUnits }) => gpuUnits)).parts;
  return shown.map((part, index) => [
    `  ${part.name === null ? nameless : shorten(safeText(part.name), NAME_WIDTH_MAX)}`,
    amounts[index] ?? '',
    shares[index] ?? '',
    part.gpuUnits === 0n ? '' : (hours[index] ?? ''),
    share(part.computeSharePermille),
    change(part.usdMicros, part.beforeUsdMicros),
  ]);
}

function componentWords(answer: StatementAnswer): string {
  const amounts = centsOf(
    answer.components.map(({ usdMicros }) => usdMicros),
    answer.amountCents,
  );
  const words = answer.components.map(({ name }, index) => `${componentName(name)} ${amounts[index] ?? ''}`);
  return words.length === 0 ? 'nothing' : words.join(', ');
}

function sharedLines({ shared }: StatementAnswer): string[] {
  if (shared.length === 0) return [];
  const words = shared.map(({ name, usdMicros }) => `${safeText(name)}: ${formatUsdCents(usdMicros)}`);
  return [`Of it shared: ${words.slice(0, 3).join('; ')}${words.length > 3 ? `; and ${words.length - 3} more` : ''}`];
}

function workWords({ workloads }: StatementAnswer): string {
  return workloads
    .map(({ name, usdMicros, gpuUnits }) => {
      const cost = usdMicros === null ? gpuHours(gpuUnits) : formatUsdCents(usdMicros);
      return `${shorten(safeText(name ?? ''), NAME_WIDTH_MAX)} ${cost}`;
    })
    .join(', ');
}

/** What moved and why; the lines and the rest add up to the change. */
function changeLines({ before, total, movers, otherChangeUsdMicros }: StatementAnswer): string[] {
  if (before === null) return [];
  const shown = movers.slice(0, MOVERS_SHOWN);
  const other = movers
    .slice(MOVERS_SHOWN)
    .reduce((sum, { changeUsdMicros }) => sum + changeUsdMicros, otherChangeUsdMicros);
  const changed = (total.usdMicros ?? 0n) - (before.usdMicros ?? 0n);
  const cell = roundLargestRemainder([...shown.map(({ changeUsdMicros }) => changeUsdMicros), other], 10_000n);
  const rows = shown.map((mover, index) => [
    `  ${shorten(moverName(mover), NAME_WIDTH_MAX + 12)}`,
    signedCents(cell[index] ?? 0n),
    moverWhy(mover),
  ]);
  if (other !== 0n) rows.push(['  everything else', signedCents(cell.at(-1) ?? 0n), '']);
  return [
    '',
    `What changed since ${monthName(before.month)}${missingWords({ before })}: ${signedCents(changed)}` +
      (shown.length === 0 ? '' : '; volume is hours at the old rate, price the rate over the new hours'),
    ...textTable([{ align: 'left' }, { align: 'right' }, { align: 'left' }], rows),
  ];
}

function adjustmentLines({ adjustments, status, amountCents }: StatementAnswer): string[] {
  if (adjustments.length === 0) return [];
  const total = adjustments.reduce((sum, each) => sum + each.amountCents, amountCents);
  const rows = adjustments
    .slice(0, 4)
    .map((each) => [`  ${each.month}`, signedCents(each.amountCents * 10_000n), safeText(each.reason)]);
  return [
    '',
    `Adjustments of closed months${status === 'closed' ? '' : ', if it were closed now'}; with them ${cents(total)}`,
    ...textTable([{ align: 'left' }, { align: 'right' }, { align: 'left' }], rows),
    ...(adjustments.length > 4 ? [`  and ${adjustments.length - 4} more: --json`] : []),
  ];
}

function adviceLines(answer: StatementAnswer, dataFlag: string): string[] {
  const lines = advice(answer, dataFlag);
  if (lines.length === 0) return [];
  return [
    '',
    'What to do',
    ...textTable(
      [{ align: 'left' }, { align: 'left' }],
      lines.map(({ what, command }) => [`  ${what}`, `→ ${command}`]),
    ),
  ];
}
