import type { Finding } from '../facts/finding.ts';
import { counted, day, gpuSeconds, isoTime, minute } from './figures.ts';
import type { FindingsAnswer, FindingSum } from './finding-answer.ts';
import {
  basisWords,
  findingNumber,
  kindWords,
  knownWords,
  moneyWords,
  ownerWords,
  pasteLine,
  sumWords,
  unpricedWords,
} from './finding-words.ts';
import { markdownText } from './markdown-text.ts';
import { safeText } from './safe-text.ts';
import { shellWord } from './shell-word.ts';
import { shorten, textTable, wrapText } from './table.ts';
import type { AskedWindow } from './window-words.ts';
import { windowWords } from './window-words.ts';

/** Why something is on the list. */
export type AuditWhy = 'forgotten' | 'exemption-ended' | 'exemption-without-owner';

export interface AuditItem {
  readonly finding: Finding;
  readonly why: AuditWhy;
  readonly since: Date;
}

/** What has been forgotten, the oldest first. */
export interface AuditAnswer extends Pick<
  FindingsAnswer,
  'usdMicrosByBasis' | 'unpricedUnits' | 'knownUnits' | 'heldUnits'
> {
  readonly asOf: Date;
  readonly asOfBy: 'asked' | 'newest fact' | 'clock';
  readonly window: AskedWindow;
  /** Only what is this team's; undefined for all. */
  readonly team: string | undefined;
  readonly items: readonly AuditItem[];
  readonly sum: FindingSum;
  /** What began fewer days ago than makes it forgotten. */
  readonly younger: number;
  readonly forgottenDays: number;
}

const WHAT_WIDTH_MAX = 64;
const FIX_LINES_MAX = 2;
const WHY_WORDS: Readonly<Record<AuditWhy, string>> = {
  forgotten: '',
  'exemption-ended': 'its exemption has ended',
  'exemption-without-owner': 'exempt, and nobody is left who owns it',
};

interface OwnerItems {
  readonly owner: string;
  readonly items: readonly AuditItem[];
}

/** By owner: names in the order of the alphabet, for people are not ranked; the platform last. */
function byOwner(items: readonly AuditItem[]): OwnerItems[] {
  const groups = new Map<string, AuditItem[]>();
  for (const item of items) {
    const { finding } = item;
    const owner = safeText(finding.assignedTo ?? ownerWords(finding));
    groups.set(owner, [...(groups.get(owner) ?? []), item]);
  }
  const isPlatform = (owner: string): boolean => owner.startsWith('platform');
  return [...groups]
    .map(([owner, own]) => ({ owner, items: own }))
    .toSorted((a, b) =>
      isPlatform(a.owner) === isPlatform(b.owner) ? (a.owner < b.owner ? -1 : 1) : isPlatform(a.owner) ? 1 : -1,
    );
}

function headLine({ items, sum, window }: AuditAnswer): string {
  if (items.length === 0) return `Audit: nothing forgotten was found, ${windowWords({ window })}`;
  const owners = counted(byOwner(items).length, 'owner');
  return `Audit: ${counted(items.length, 'forgotten thing')} of ${owners}, ${windowWords({ window })}: ${sumWords(sum)}`;
}

function scopeLine(answer: AuditAnswer): string {
  const at = answer.asOfBy === 'clock' ? '' : `as of ${minute(answer.asOf)} UTC`;
  const scope = answer.team === undefined ? 'everything' : `team ${safeText(answer.team)}`;
  return [scope, basisWords(answer), ...unpricedWords(answer), knownWords(answer), at]
    .filter((word) => word !== '')
    .join('; ');
}

/** What to do: the fix to paste, else how to find out more. */
function fixLines({ finding, why }: AuditItem, dataFlag: string): string[] {
  const more =
    finding.number === null ? `bursar findings --all${dataFlag}` : `bursar finding F-${finding.number}${dataFlag}`;
  if (why !== 'forgotten') return [`do: decide again, ${more}`];
  const fix = finding.fix.slice(0, FIX_LINES_MAX).map((line) => pasteLine(line, dataFlag));
  const left = finding.fix.length - fix.length;
  const lines = [
    ...(fix.length === 0 ? [more] : fix),
    ...(left > 0 ? [`# ${counted(left, 'more line')}: ${more}`] : []),
  ];
  return lines.map((line, place) => (place === 0 ? `do: ${line}` : `    ${line}`));
}

/** The list to send: by owner, the oldest first, each with what to do. */
export function auditPage(answer: AuditAnswer, width: number, dataFlag = ''): string[] {
  const days = answer.window.ledgerDays;
  const groups = byOwner(answer.items).flatMap(({ owner, items }) => {
    const heads = textTable(
      [{ align: 'left' }, { align: 'left' }, { align: 'right' }, { align: 'left' }, { align: 'left' }],
      items.map(({ finding, since }) => [
        findingNumber(finding),
        `since ${day(since)}`,
        moneyWords(finding, days),
        shorten(safeText(finding.what), Math.max(24, Math.min(WHAT_WIDTH_MAX, width - 56))),
        kindWords(finding),
      ]),
    );
    const told = items.flatMap((item, place) => [
      `  ${heads[place] ?? ''}`,
      ...(item.why === 'forgotten' ? [] : [`      ${WHY_WORDS[item.why]}`]),
      ...fixLines(item, dataFlag).map((line) => `      ${line}`),
    ]);
    return ['', owner, ...told];
  });
  return [
    ...wrapText(headLine(answer), width),
    ...wrapText(scopeLine(answer), width),
    ...groups,
    ...youngerLines(answer, dataFlag),
    ...(answer.items.length === 0
      ? []
      : ['', ...cashLines(answer), `To keep one: bursar finding F-N exempt --until DATE --reason WHY${dataFlag}`]),
  ];
}

/** Most of what is pasted here ends a holder: money is of its machine. */
function cashLines({ sum }: AuditAnswer): string[] {
  return sum.cashUsdMicros.high > 0n
    ? ['Cash: the bill falls once the machines are gone, not with what runs on them.']
    : [];
}

function youngerLines({ younger, forgottenDays, team }: AuditAnswer, dataFlag: string): string[] {
  if (younger === 0) return [];
  const scope = team === undefined ? '' : ` --team ${shellWord(team)}`;
  return [
    '',
    `${counted(younger, 'more thing')} began less than ${forgottenDays} days ago: bursar findings${scope}${dataFlag}`,
  ];
}

/** To send, with scope, window, basis, share known, date and the command that made it. */
export function auditMarkdown(
  answer: AuditAnswer,
  made: { readonly command: string; readonly madeAt: Date; readonly mark: string; readonly dataFlag: string },
): string[] {
  const days = answer.window.ledgerDays;
  const groups = byOwner(answer.items).flatMap(({ owner, items }) => [
    '',
    `### ${markdownText(owner)}`,
    '',
    ...items.flatMap((item) => {
      const { finding, since, why } = item;
      const words = [
        `**${findingNumber(finding)}**`,
        `since ${day(since)}`,
        `${moneyWords(finding, days)} (${kindWords(finding)})`,
        markdownText(finding.what),
        ...(why === 'forgotten' ? [] : [WHY_WORDS[why]]),
      ];
      // Code keeps a command as it is; a backtick in a name would end it.
      const fixes = fixLines(item, made.dataFlag).map(
        (line) => `  \`${line.trim().replace(/^do: /, '').replaceAll('`', "'")}\``,
      );
      return [
        `- ${words.join(', ')}  `,
        ...fixes.map((line, place) => (place === fixes.length - 1 ? line : `${line}  `)),
      ];
    }),
  ]);
  return [
    `**${made.mark === '' ? '' : `${made.mark} `}${markdownText(headLine(answer))}**`,
    '',
    markdownText(scopeLine(answer)),
    ...groups,
    ...youngerLines(answer, made.dataFlag),
    '',
    ...cashLines(answer).flatMap((line) => [line, '']),
    `Made ${isoTime(made.madeAt)} by \`${made.command.replaceAll('`', "'")}\``,
  ];
}

export function auditJson(answer: AuditAnswer): unknown {
  const { cashUsdMicros, capacityUnits, cashIfRentedUsdMicros, unknownUsdMicros } = answer.sum;
  return {
    asOf: isoTime(answer.asOf),
    asOfBy: answer.asOfBy,
    window: { from: isoTime(answer.window.from), until: isoTime(answer.window.until) },
    team: answer.team ?? null,
    cashUsdMicros,
    capacitySeconds: { low: gpuSeconds(capacityUnits.low), high: gpuSeconds(capacityUnits.high) },
    cashIfRentedUsdMicros,
    unknownUsdMicros,
    unpricedSeconds: gpuSeconds(answer.unpricedUnits),
    younger: answer.younger,
    owners: byOwner(answer.items).map(({ owner, items }) => ({
      owner,
      items: items.map(({ finding, why, since }) => ({
        number: finding.number,
        detector: finding.detector,
        why,
        since: isoTime(since),
        what: finding.what,
        team: finding.team,
        user: finding.user,
        assignedTo: finding.assignedTo,
        kind: finding.kind,
        usdMicros: finding.usdMicros,
        cashUsdMicros: finding.cashUsdMicros,
        fix: finding.fix,
      })),
    })),
  };
}
