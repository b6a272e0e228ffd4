import { isoTime } from '../figures.ts';
import { markdownText } from '../markdown-text.ts';
import type { WasteAnswer } from './waste-answer.ts';
import { wasteLines } from './waste-lines.ts';
import { footLines, headLines } from './waste-page.ts';

/** The waterfall to paste, `mark` before it where it is made up: with scope, window, basis, share known, date and the command that made it. */
export function wasteMarkdown(
  answer: WasteAnswer,
  madeBy: { readonly command: string; readonly madeAt: Date },
  mark = '',
): string[] {
  const { total, totalHours, inMoney, lines } = wasteLines(answer);
  const [first = '', ...rest] = headLines(answer);
  const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const hasChange = lines.some(({ change }) => change !== '');
  const columns = (name: string, amount: string, percent: string, hours: string, change: string): string =>
    row([name, ...(inMoney ? [amount] : []), percent, hours, ...(hasChange ? [change] : [])]);
  return [
    `**${mark === '' ? '' : `${mark} `}${markdownText(first)}**`,
    '',
    ...rest.map(markdownText),
    '',
    columns('', 'paid', 'of it', 'GPU-hours', 'against as long before'),
    columns('---', '---:', '---:', '---:', '---'),
    columns('**all**', total, '', totalHours, ''),
    ...lines.map(({ name, isReason, amount, percent, hours, change }) =>
      columns(`${isReason ? '– ' : ''}${markdownText(name)}`, amount, percent, hours, change),
    ),
    '',
    ...footLines(answer).map((line) => `${markdownText(line)}  `),
    `Made ${isoTime(madeBy.madeAt)} by \`${madeBy.command.replaceAll('`', "'")}\``,
  ];
}
