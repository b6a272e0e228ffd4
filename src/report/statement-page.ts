import type { Category } from '../ledger/waterfall.ts';
import { roundLargestRemainder } from '../money/split.ts';
import { formatUsdCents } from '../money/usd.ts';
import { gpuHours, gpuHoursOf, percentsOf } from './figures.ts';
import { HATCH, htmlText } from './html-text.ts';
import { shellWord } from './shell-word.ts';
import { shorten } from './table.ts';
import type { StatementAnswer, StatementPart } from './statement-answer.ts';
import { STATEMENT_PAGE_STYLE } from './statement-page-style.ts';
import {
  advice,
  basisWords,
  categoryCents,
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
  teamName,
  verdict,
  waitWords,
} from './statement-words.ts';

export interface StatementPage {
  readonly answer: StatementAnswer;
  /** The command that made it. */
  readonly command: string;
  readonly dataFlag: string;
  readonly isDemo: boolean;
}

const MOVERS_SHOWN = 5;
const ADJUSTMENTS_SHOWN = 4;
const NAME_WIDTH_MAX = 40;

/** A statement as one A4 sheet: no script, nothing loaded from elsewhere, every value as text. Of a closed month always the same. */
export function statementPage({ answer, command, dataFlag, isDemo }: StatementPage): string {
  const title = answer.kind === 'chargeback' ? 'GPU invoice' : 'GPU showback statement';
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${htmlText(`${isDemo ? 'DEMO · ' : ''}${title}, ${teamName(answer.team)}, ${monthName(answer.month)}`)}</title>
<style>${STATEMENT_PAGE_STYLE}</style>
</head>
<body>
${HATCH}<main>
${isDemo ? '<p class="demo">DEMO: a made-up organisation. Nothing on this page is real.</p>\n' : ''}<header><div><h1>${title}</h1>
<p class="soft">${htmlText(subtitle(answer))}</p></div>
${particulars(answer)}</header>
<p class="verdict">${htmlText(verdict(answer))}</p>
<div class="cols"><div>
${spentOn(answer)}
</div><div>
${whereItWent(answer)}
${byComponent(answer)}
</div></div>
${whatChanged(answer)}${adjustments(answer)}${whatToDo(answer, dataFlag)}</main>
<footer>Computed share: computing ÷ (paid − beside the GPU − unknown), in money; unknown is never counted as idle. Rounded so that the parts shown add up. Every figure can be asked why: ${whyCommands(answer)}. Made by <code>${htmlText(command)}</code></footer>
</body>
</html>
`;
}

/** Single entries have no part in shared money, so its split is asked for by itself. */
function whyCommands({ team, month, shared }: StatementAnswer): string {
  const commands = [
    `bursar ledger explain${team === null ? '' : ` --filter team=${shellWord(team)}`} --window ${month}`,
    ...(team === null || shared.length === 0 ? [] : [`bursar rules test --team ${shellWord(team)} --window ${month}`]),
  ];
  return commands.map((command) => `<code>${htmlText(command)}</code>`).join(', ');
}

function subtitle(answer: StatementAnswer): string {
  const { team, lead } = answer;
  const who = team === null ? 'What nobody owns' : `Team ${teamName(team)}`;
  return `${who}, ${periodWords(answer)}${lead === null ? '' : `, lead ${lead}`}`;
}

function particulars(answer: StatementAnswer): string {
  const { status, number, issuedAt, asOf } = answer;
  const state =
    status === 'closed'
      ? (number ?? '')
      : status === 'open'
        ? 'draft, not closed'
        : `running, as of ${minuteOf(asOf)} UTC`;
  const rows: readonly (readonly [string, string | null])[] = [
    [answer.kind === 'chargeback' ? 'Invoice' : 'Statement', state],
    ['Issued', issuedAt === null ? null : `${minuteOf(issuedAt)} UTC`],
    ['Issuer', answer.issuer],
    ['Cost centre', answer.costCentre],
    ['Account', answer.accountCode],
    ['Amount due', answer.kind === 'chargeback' ? cents(dueCents(answer)) : null],
    ['Basis', basisWords(answer)],
    ['Bills', coverageWords(answer)],
  ];
  return `<dl>${rows.map(([term, words]) => (words === null ? '' : `<dt>${term}</dt><dd>${htmlText(words)}</dd>`)).join('')}</dl>`;
}

/** By class, by project, dearest work; the first two add up to the total. */
function spentOn(answer: StatementAnswer): string {
  const hasProjects = answer.projects.some(({ name }) => name !== null);
  const before = answer.before === null ? '' : `vs ${answer.before.month}`;
  const head = (name: string): string =>
    `<thead><tr><th scope="col">${name}</th><th scope="col" class="n">GPU-hours</th><th scope="col" class="n">Computed</th><th scope="col" class="n">${before}</th><th scope="col" class="n">USD</th></tr></thead>`;
  const hours = answer.total.gpuUnits === 0n ? '' : gpuHoursOf([answer.total.gpuUnits]).total;
  const total = `<tr class="sum"><th scope="row">Total</th>${amount(hours)}${amount(share(answer.computeSharePermille))}${amount(change(answer.total.usdMicros, answer.before?.usdMicros ?? null))}${amount(cents(answer.amountCents))}</tr>`;
  const projects = hasProjects
    ? `\n<h2>By project</h2><table>${head('Project')}<tbody>${partRows(answer.projects, answer, 'no project')}${total}</tbody></table>`
    : '';
  return `<h2>What it was spent on</h2><table>${head('Class')}<tbody>${partRows(answer.classes, answer, 'no class')}${total}</tbody></table>${projects}${dearestWork(answer)}`;
}

function dearestWork({ workloads }: StatementAnswer): string {
  if (workloads.length === 0) return '';
  const words = workloads.map(({ name, usdMicros, gpuUnits }) => {
    const cost = usdMicros === null ? gpuHours(gpuUnits) : formatUsdCents(usdMicros);
    return `${shorten(name ?? '', NAME_WIDTH_MAX)} ${cost}`;
  });
  return `\n<p class="note">${htmlText(`Dearest work: ${words.join(', ')}.`)}</p>`;
}

function partRows(parts: readonly StatementPart[], answer: StatementAnswer, nameless: string): string {
  const shown = partsShown(parts);
  const amounts = centsOf(
    shown.map(({ usdMicros }) => usdMicros),
    answer.amountCents,
  );
  const hours = gpuHoursOf(shown.map(({ gpuUnits }) => gpuUnits)).parts;
  return shown
    .map((part, index) => {
      const name = part.name === null ? nameless : shorten(part.name, NAME_WIDTH_MAX);
      return `<tr><th scope="row">${htmlText(name)}</th>${amount(part.gpuUnits === 0n ? '' : (hours[index] ?? ''))}${amount(share(part.computeSharePermille))}${amount(change(part.usdMicros, part.beforeUsdMicros))}${amount(amounts[index] ?? '')}</tr>`;
    })
    .join('\n');
}

function whereItWent(answer: StatementAnswer): string {
  const steps = [...categoryCents(answer)];
  const shares = percentsOf(steps.map(([name]) => answer.categories[name as Category].usdMicros ?? 0n));
  const rows = steps.map(
    ([name, cost], index) =>
      `<tr><th scope="row"><svg class="sw" viewBox="0 0 10 10" aria-hidden="true"><rect x="1" y="1" width="8" height="8" class="${name}"/></svg>${htmlText(name === 'beside' ? 'beside the GPU' : name)}</th>${amount(shares[index] ?? '')}${amount(cost)}</tr>`,
  );
  return `<h2>Where it went</h2><table><thead><tr><th scope="col">Step</th><th scope="col" class="n">of it</th><th scope="col" class="n">USD</th></tr></thead><tbody>${rows.join('\n')}
<tr class="sum"><th scope="row">Total</th>${amount('')}${amount(cents(answer.amountCents))}</tr></tbody></table>
<p class="note">${htmlText(`Time to a GPU: ${waitWords(answer)}.`)}</p>`;
}

function byComponent(answer: StatementAnswer): string {
  const parts = answer.components.filter(({ usdMicros }) => usdMicros !== 0n);
  const amounts = centsOf(
    parts.map(({ usdMicros }) => usdMicros),
    answer.amountCents,
  );
  const rows = parts.map(
    ({ name }, index) =>
      `<tr><th scope="row">${htmlText(componentName(name))}</th>${amount(amounts[index] ?? '')}</tr>`,
  );
  const shared = answer.shared.map(({ name, usdMicros }) => `${name}: ${formatUsdCents(usdMicros)}`);
  return `<h2>By component</h2><table><thead><tr><th scope="col">Component</th><th scope="col" class="n">USD</th></tr></thead><tbody>${rows.join('\n')}</tbody></table>${shared.length === 0 ? '' : `\n<p class="note">${htmlText(`Of it shared: ${shared.join('; ')}.`)}</p>`}`;
}

function whatChanged({ before, total, movers, otherChangeUsdMicros }: StatementAnswer): string {
  if (before === null) return '';
  const shown = movers.slice(0, MOVERS_SHOWN);
  const rest = movers
    .slice(MOVERS_SHOWN)
    .reduce((sum, { changeUsdMicros }) => sum + changeUsdMicros, otherChangeUsdMicros);
  const amounts = roundLargestRemainder([...shown.map(({ changeUsdMicros }) => changeUsdMicros), rest], 10_000n);
  const rows = shown.map(
    (mover, index) =>
      `<tr><th scope="row">${htmlText(moverName(mover))}</th><td>${htmlText(moverWhy(mover))}</td>${amount(signedCents(amounts[index] ?? 0n))}</tr>`,
  );
  if (rest !== 0n)
    rows.push(`<tr><th scope="row">everything else</th><td></td>${amount(signedCents(amounts.at(-1) ?? 0n))}</tr>`);
  const sum = signedCents((total.usdMicros ?? 0n) - (before.usdMicros ?? 0n));
  return `<h2>${htmlText(`What changed since ${monthName(before.month)}${missingWords({ before })}`)}</h2>
<table><thead><tr><th scope="col">Work</th><th scope="col">Why: volume is hours at the old rate, price the rate over the new hours</th><th scope="col" class="n">USD</th></tr></thead><tbody>${rows.join('\n')}
<tr class="sum"><th scope="row">Change</th><td></td>${amount(sum)}</tr></tbody></table>
`;
}

/** Corrections of closed months, and what is due with them. */
function adjustments({ adjustments: all, amountCents, status }: StatementAnswer): string {
  if (all.length === 0) return '';
  const shown = all.slice(0, ADJUSTMENTS_SHOWN);
  const rest = all.slice(ADJUSTMENTS_SHOWN).reduce((sum, each) => sum + each.amountCents, 0n);
  const rows = shown.map(
    (each) =>
      `<tr><th scope="row">${htmlText(monthName(each.month))}</th><td>${htmlText(each.reason)}</td>${amount(signedCents(each.amountCents * 10_000n))}</tr>`,
  );
  if (all.length > shown.length)
    rows.push(
      `<tr><th scope="row">${all.length - shown.length} more</th><td></td>${amount(signedCents(rest * 10_000n))}</tr>`,
    );
  const due = dueCents({ adjustments: all, amountCents });
  return `<h2>Adjustments of closed months${status === 'closed' ? '' : ', if it were closed now'}</h2>
<table><tbody>${rows.join('\n')}
<tr class="sum due"><th scope="row">Due with them</th><td></td>${amount(cents(due))}</tr></tbody></table>
`;
}

function dueCents({ adjustments: all, amountCents }: Pick<StatementAnswer, 'adjustments' | 'amountCents'>): bigint {
  return all.reduce((sum, each) => sum + each.amountCents, amountCents);
}

function whatToDo(answer: StatementAnswer, dataFlag: string): string {
  const lines = advice(answer, dataFlag);
  if (lines.length === 0) return '';
  const rows = lines.map(
    ({ what, command }) => `<tr><th scope="row">${htmlText(what)}</th><td><code>${htmlText(command)}</code></td></tr>`,
  );
  return `<h2>What to do</h2><table><tbody>${rows.join('\n')}</tbody></table>
`;
}

function amount(text: string): string {
  return `<td class="n">${htmlText(text)}</td>`;
}
