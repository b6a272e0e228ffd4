import type { Finding } from '../facts/finding.ts';
import { counted, minute } from './figures.ts';
import type { FindingsAnswer } from './finding-answer.ts';
import { sumOf } from './finding-answer.ts';
import type { FindingListOptions } from './finding-list.ts';
import { toldFindings } from './finding-list.ts';
import {
  findingNumber,
  kindWords,
  knownWords,
  moneyWords,
  ownerWords,
  paidWords,
  partsWords,
  sumWords,
} from './finding-words.ts';
import { safeText } from './safe-text.ts';
import { shorten } from './table.ts';
import { windowWords } from './window-words.ts';

const LINES_MAX = 10;
const WHAT_WIDTH_MAX = 100;
const OWNER_WIDTH_MAX = 80;

/** Ten lines for a channel or a page, with all that a figure needs when it is pasted somewhere. */
export function findingMessage(
  answer: FindingsAnswer,
  style: 'slack' | 'markdown',
  options: FindingListOptions & { readonly mark?: string; readonly command: string },
): string[] {
  const { told: shown, rest } = toldFindings(answer, options);
  const untold = rest.length;
  const told = shown.slice(0, LINES_MAX);
  const bold = (text: string): string => (style === 'slack' ? `*${text}*` : `**${text}**`);
  const bullet = style === 'slack' ? '•' : '-';
  const days = answer.window.ledgerDays;
  const more = untold + shown.length - told.length;
  const title =
    answer.window.ledgerDays === 0
      ? 'nothing can be said, no facts'
      : told.length === 0
        ? 'nothing to do'
        : `${told.length} to do, applied in order: ${sumWords(sumOf(told))}`;
  const lines = told.map(
    (finding) =>
      `${bullet} ${bold(findingNumber(finding))} ${moneyWords(finding, days)}: ${line(finding, style)}, ${partsWords(finding) ?? kindWords(finding)}, safe ${finding.blastRadius}/5`,
  );
  return [
    bold(`${options.mark ?? ''}GPU waste: ${title}`),
    ...(style === 'markdown' ? [''] : []),
    ...lines,
    ...(style === 'markdown' ? [''] : []),
    footer(answer, style, more, options),
  ];
}

function line(finding: Finding, style: 'slack' | 'markdown'): string {
  const what = inert(shorten(safeText(finding.what), WHAT_WIDTH_MAX), style);
  return `${what} (${inert(shorten(safeText(ownerWords(finding)), OWNER_WIDTH_MAX), style)})`;
}

function footer(
  answer: FindingsAnswer,
  style: 'slack' | 'markdown',
  more: number,
  { command, filter }: FindingListOptions & { readonly command: string },
): string {
  const scope = answer.team === undefined ? counted(answer.gpus, 'GPU') : `team ${inert(answer.team, style)}`;
  const facts = [
    ...(more > 0 ? [`${more} more`] : []),
    filter === undefined ? scope : `${scope}, findings ${inert(filter.words, style)}`,
    windowWords(answer),
    ...paidWords(answer),
    knownWords(answer),
    `as of ${minute(answer.asOf)} UTC`,
    inert(command, style),
  ];
  return facts.join('; ');
}

/** Names are whatever somebody typed. In code they are neither a mention nor a link nor markup, in Slack and in Markdown alike. */
function inert(text: string, style: 'slack' | 'markdown'): string {
  const code = `\`${safeText(text).replaceAll('`', "'")}\``;
  return style === 'slack' ? code.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;') : code;
}
