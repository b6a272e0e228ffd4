import { counted, gpuCount, gpuHoursOf, isoTime, minute, percentOfPermille } from './figures.ts';
import { KIND_NAMES, partLines, priceLines, sourceLines } from './first-look-lines.ts';
import type { FirstLookWords } from './first-look-lines.ts';
import { HATCH, htmlText as escape } from './html-text.ts';
import { idleTotalWords } from './idle-list.ts';
import { findingWords } from './look-findings.ts';
import { LOOK_PAGE_STYLE } from './look-page-style.ts';
import { lookParts, lookScreen } from './look-screen.ts';
import type { LookAnswer, LookLine, LookParts } from './look-screen.ts';
import { windowWords } from './window-words.ts';

export interface LookPage {
  readonly answer: LookAnswer;
  /** Where it was read just now. */
  readonly firstLook?: FirstLookWords;
  /** What else stands below the screen. */
  readonly notes: readonly string[];
  /** Whose figures these are: sources, clusters, or the folder. */
  readonly scope: string;
  /** The command that made it, without secrets. */
  readonly command: string;
  readonly madeAt: Date;
  readonly isDemo: boolean;
  readonly dataFlag: string;
}

/** The first screen as one page to forward: no script, nothing loaded from elsewhere, every value as text. */
export function lookPage(page: LookPage): string {
  const parts = lookParts(page.answer, page.dataFlag);
  const title = `${page.isDemo ? 'DEMO · ' : ''}Bursar: GPU spend, ${windowWords(page.answer)}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${escape(title)}</title>
<style>${LOOK_PAGE_STYLE}</style>
</head>
<body>
${HATCH}<main>
${page.isDemo ? '<p class="demo">DEMO: a made-up organisation. Nothing on this page is real.</p>\n' : ''}<p class="brand">Bursar</p>
<h1>${escape(verdict(page, parts))}</h1>
${partNotice(page)}${particulars(page, parts)}
${parts === undefined ? list(lookScreen(page.answer, page.dataFlag)) : table(parts, page.isDemo)}
${firstThings(page)}${section('What keeps these figures from being whole', [...(parts?.attention ?? []), ...troubles(page)])}${section('Prices', priceLines(page.firstLook?.prices ?? []))}${section('Read from', readFrom(page))}${notRead(page)}</main>
<footer>Made ${escape(isoTime(page.madeAt))} by <code>${escape(page.command)}</code></footer>
</body>
</html>
`;
}

/** The one sentence: what was paid, what of it computed, what is idle now. */
function verdict({ answer }: LookPage, parts: LookParts | undefined): string {
  if (parts === undefined) return 'Nothing was paid and no GPU was there in this window.';
  const share = parts.inMoney ? answer.computeSharePermille : answer.computeShareHoursPermille;
  const { idleNow } = answer;
  const when = windowWords(answer);
  return [
    parts.inMoney ? `${parts.total} paid, ${when}` : `${parts.total} GPU-hours, ${when}, none of them with a price`,
    share === null ? 'how much of it computed is not known' : `${percentOfPermille(share)} of what is known computed`,
    idleNow.shareUnits === 0n
      ? 'no GPU known to be idle now'
      : [`${counted(gpuCount(idleNow.shareUnits), 'GPU')} idle now`, ...idleTotalWords(idleNow)].join(', '),
  ]
    .join('; ')
    .concat('.');
}

function partNotice({ firstLook }: LookPage): string {
  const lines = firstLook === undefined ? [] : partLines(firstLook);
  return lines.length === 0 ? '' : `<p class="part">${lines.map(escape).join('<br>')}</p>\n`;
}

/** What every paste carries: scope, window, basis, share known, date, command. */
function particulars({ answer, scope, command, madeAt }: LookPage, parts: LookParts | undefined): string {
  const { from, until } = answer.window;
  const rows: (readonly [string, string])[] = [
    ['Scope', scope],
    ['Window', `${minute(from)} to ${minute(until)} UTC, seen as of ${minute(answer.asOf)} UTC`],
    ['Basis', parts === undefined || parts.basis === '' ? 'nothing to price' : parts.basis],
    ['Known', knownWords(answer, parts)],
    ['Made', `${minute(madeAt)} UTC`],
    ['Command', command],
  ];
  return `<dl>${rows
    .map(
      ([term, words]) =>
        `<dt>${term}</dt><dd>${term === 'Command' ? `<code>${escape(words)}</code>` : escape(words)}</dd>`,
    )
    .join('\n')}</dl>`;
}

function knownWords({ categories }: LookAnswer, parts: LookParts | undefined): string {
  if (parts === undefined) return 'nothing';
  const weight = ({ sum }: Pick<LookLine, 'sum'>): bigint => (parts.inMoney ? (sum.usdMicros ?? 0n) : sum.gpuUnits);
  const whole = parts.lines.reduce((total, line) => total + weight(line), 0n);
  if (whole <= 0n) return 'nothing';
  const known = Number(((whole - weight({ sum: categories.unknown })) * 1000n) / whole);
  const unpriced = parts.lines.reduce((total, { sum }) => total + sum.unpricedUnits, 0n);
  const beside = unpriced > 0n ? `; beside it ${gpuHoursOf([unpriced]).total} GPU-hours without a price` : '';
  return `${percentOfPermille(known)} of ${parts.inMoney ? 'the money' : 'the GPU-hours'}; what is unknown is never counted as idle${beside}`;
}

/** What can be reached, and what to do first, with its owner. */
function firstThings({ answer, isDemo, dataFlag }: LookPage): string {
  const words = findingWords(answer.findings);
  if (words === undefined) return '';
  const mark = isDemo ? 'DEMO ' : '';
  const titles = ['Finding', 'Money', 'What', 'Whose', 'Kind', 'Safe'];
  const rows = words.rows.map(
    ([id = '', ...cells]) =>
      `<tr><th scope="row">${escape(mark + id)}</th>${cells.map((cell) => `<td>${escape(cell)}</td>`).join('')}</tr>`,
  );
  const shown =
    rows.length === 0
      ? ''
      : `<div class="scroll" tabindex="0" role="region" aria-label="What to do first"><table>
<thead><tr>${titles.map((title) => `<th scope="col">${title}</th>`).join('')}</tr></thead>
<tbody>${rows.join('\n')}</tbody></table></div>
`;
  return `<h2>What to do first</h2>
<p>${escape(mark + words.reachable)}. All of them, with evidence and the fix to paste: <code>${escape(`bursar findings${dataFlag}`)}</code></p>
${shown}`;
}

function section(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : `<h2>${title}</h2>\n${list(lines)}\n`;
}

function list(lines: readonly string[]): string {
  return `<ul>${lines.map((line) => `<li>${escape(line.trim())}</li>`).join('\n')}</ul>`;
}

function troubles({ firstLook }: LookPage): string[] {
  return firstLook?.read.sources.flatMap(sourceLines) ?? [];
}

function readFrom({ firstLook, notes }: LookPage): string[] {
  const read = firstLook?.read.sources.filter(({ state }) => state === 'ok' || state === 'cut') ?? [];
  return [...notes, ...read.map(({ name, reads, says }) => `${name}: ${reads}; ${says}`)];
}

/** What would make it more whole, with the command: for whoever the page is forwarded to, too. */
function notRead({ firstLook }: LookPage): string {
  const rows = firstLook?.notRead ?? [];
  if (rows.length === 0) return '';
  const cells = rows.map(
    ({ kind, says, command }) =>
      `<tr><th scope="row">${escape(KIND_NAMES[kind])}</th><td>${escape(says)}</td><td><code>${escape(command)}</code></td></tr>`,
  );
  return `<h2>Would add to it</h2>
<div class="scroll" tabindex="0" role="region" aria-label="Would add to it"><table>
<thead><tr><th scope="col">Source</th><th scope="col">Now</th><th scope="col">Command</th></tr></thead>
<tbody>${cells.join('\n')}</tbody></table></div>
`;
}

const BAR_WIDTH = 248;

function table(parts: LookParts, isDemo: boolean): string {
  const weights = parts.lines.map(({ sum }) => (parts.inMoney ? (sum.usdMicros ?? 0n) : sum.gpuUnits));
  const positive = weights.map((weight) => (weight > 0n ? weight : 0n));
  const whole = positive.reduce((total, weight) => total + weight, 0n);
  const hours = gpuHoursOf(parts.lines.map(({ sum }) => sum.gpuUnits));
  const mark = isDemo ? 'DEMO ' : '';
  let before = 0n;
  const rows = parts.lines.map((line, index) => {
    const weight = positive[index] ?? 0n;
    const bar = barOf(line.category, before, weight, whole);
    before += weight;
    const cells = [`<td class="bar">${bar}</td>`, number(line.amount), number(line.percent)];
    if (parts.inMoney) cells.push(number(line.sum.gpuUnits === 0n ? '–' : (hours.parts[index] ?? '')));
    return `<tr><th scope="row">${escape(mark + capital(line.name))}</th>${cells.join('')}<td>${escape(line.note)}</td></tr>`;
  });
  const money = parts.inMoney ? '<th scope="col" class="n">GPU-hours</th>' : '';
  const total = parts.inMoney ? number(hours.total) : '';
  return `<h2>Where it went</h2>
<div class="scroll" tabindex="0" role="region" aria-label="Where it went"><table>
<thead><tr><th scope="col">Step</th><th scope="col" class="bar">Share</th><th scope="col" class="n">${parts.inMoney ? 'Paid' : 'GPU-hours'}</th><th scope="col" class="n">of it</th>${money}<th scope="col">Note</th></tr></thead>
<tbody>
<tr class="sum"><th scope="row">${escape(mark + parts.title)}</th><td class="bar">${barOf('paid', 0n, whole, whole)}</td>${number(parts.total)}${number('')}${total}<td>${escape(parts.basis)}</td></tr>
${rows.join('\n')}
</tbody></table></div>`;
}

function number(text: string): string {
  return `<td class="n">${escape(text)}</td>`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** One dollar, one place: each bar begins where the one above ends. */
function barOf(kind: string, before: bigint, weight: bigint, whole: bigint): string {
  const place = (part: bigint): number => (whole === 0n ? 0 : Number((part * 10_000n) / whole) * (BAR_WIDTH / 10_000));
  const width = weight > 0n ? Math.max(place(weight), 1) : 0;
  return (
    `<svg width="${BAR_WIDTH}" height="14" viewBox="0 0 ${BAR_WIDTH} 14" preserveAspectRatio="none" aria-hidden="true">` +
    `<rect x="${fixed(place(before))}" y="0" width="${fixed(width)}" height="14" class="${kind}"/></svg>`
  );
}

function fixed(value: number): string {
  return String(Math.round(value * 10) / 10);
}
