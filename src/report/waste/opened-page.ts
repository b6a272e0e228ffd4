import { filterValue } from '../../facts/filter-value.ts';
import { categoryWords } from '../category-words.ts';
import { counted, dollars, dollarsOf, gpuHours, gpuHoursOf, NO_PRICE, percentsOf } from '../figures.ts';
import { shortModel } from '../idle-list.ts';
import type { CategorySum } from '../look-screen.ts';
import { safeText } from '../safe-text.ts';
import { shellWord } from '../shell-word.ts';
import { shorten, textTable, wrapText } from '../table.ts';
import { windowWords } from '../window-words.ts';
import { stretches, stretchText } from './bar.ts';
import type { OpenedCategory, WasteAnswer, WasteRow } from './waste-answer.ts';
import { scopeWords, wasteLines } from './waste-lines.ts';
import type { WasteLine } from './waste-lines.ts';

interface OpenedOptions {
  readonly width: number;
  readonly dataFlag: string;
  readonly scopeFlags: string;
}

const NAME_WIDTH_MAX = 30;
const NARROW_NAME_MAX = 20;
const VALUES_SHOWN = 12;
const BAR_WIDTH = 24;
const BAR_NEEDS_WIDTH = 80;
/** Below this the owner and the model give way to the rest. */
const WIDE = 110;

/** One category, from whose it is down to what it is of, with the command that shows the entries. */
export function openedLines(answer: WasteAnswer, opened: OpenedCategory, options: OpenedOptions): string[] {
  const found = answer.categories.find(({ category }) => category === opened.category);
  const sum = found?.sum ?? { usdMicros: 0n, gpuUnits: 0n, unpricedUnits: 0n };
  const name = categoryWords(opened.category);
  const where = `${scopeWords(answer)}, ${windowWords(answer)}`;
  if (sum.gpuUnits === 0n && (sum.usdMicros ?? 0n) === 0n) return [`${name}: nothing, ${where}`];
  const { total, lines } = wasteLines(answer);
  const own = lines.filter(({ category }) => category === opened.category);
  const why = own.filter(({ isReason }) => isReason).map((each) => `${each.name} ${each.amount}`);
  return [
    ...wrapText(`${name}: ${amountWords(sum, own[0], total)}, ${where}`, options.width),
    ...(why.length > 1 ? wrapText(`of it ${why.join(', ')}`, options.width) : []),
    '',
    ...values('team', opened.byTeam, options.width),
    '',
    ...values('class of work', opened.byClass, options.width),
    '',
    ...rowLines(answer, opened, sum, options),
  ];
}

/** As its line of the waterfall shows it: who comes down from there finds the same figures. */
function amountWords({ usdMicros, gpuUnits }: CategorySum, line: WasteLine | undefined, total: string): string {
  const hours = gpuUnits === 0n ? [] : [gpuHours(gpuUnits)];
  if (usdMicros === null || line === undefined) return [NO_PRICE, ...hours].join(', ');
  return [`${line.amount}${line.percent === '' ? '' : ` (${line.percent} of ${total} paid)`}`, ...hours].join(', ');
}

function values(title: string, groups: OpenedCategory['byTeam'], width: number): string[] {
  const shown = groups.slice(0, VALUES_SHOWN);
  const money = dollarsOf(groups.map(({ sum }) => sum.usdMicros)).parts;
  const hours = gpuHoursOf(groups.map(({ sum }) => sum.gpuUnits)).parts;
  const inMoney = groups.some(({ sum }) => sum.usdMicros !== null);
  const weights = groups.map(({ sum }) => (inMoney ? (sum.usdMicros ?? 0n) : sum.gpuUnits));
  const percents = percentsOf(weights);
  const bars = width < BAR_NEEDS_WIDTH ? [] : stretches(weights, BAR_WIDTH);
  const more = groups.length - shown.length;
  return [
    ...textTable(
      [
        { align: 'left', title: `by ${title}` },
        { align: 'right', title: inMoney ? 'paid' : '' },
        { align: 'right', title: '' },
        { align: 'right', title: 'GPU-hours' },
        { align: 'left', title: '' },
      ],
      shown.map(({ value, sum }, place) => [
        `  ${shorten(safeText(value ?? 'unattributed'), NAME_WIDTH_MAX)}`,
        inMoney ? (money[place] ?? '') : '',
        percents[place] ?? '',
        sum.gpuUnits === 0n ? '' : (hours[place] ?? ''),
        bars[place] === undefined ? '' : stretchText(bars[place], '#', BAR_WIDTH, (weights[place] ?? 0n) > 0n),
      ]),
    ),
    ...(more > 0 ? [`  and ${counted(more, 'more', 'more')}: --json has them all`] : []),
  ];
}

function rowLines(
  answer: WasteAnswer,
  { rows, subjects, category, hasPools }: OpenedCategory,
  whole: CategorySum,
  { width, dataFlag, scopeFlags }: OpenedOptions,
): string[] {
  if (rows.length === 0) return [];
  const isWide = width >= WIDE;
  const money = dollarsOf(rows.map(({ sum }) => sum.usdMicros));
  const hours = gpuHoursOf(rows.map(({ sum }) => sum.gpuUnits)).parts;
  const titles = ['paid', 'GPU-hours', 'days', 'what', 'whose', 'GPUs', 'explain'];
  const kept = isWide ? [0, 1, 2, 3, 4, 5, 6] : [0, 3, 6];
  const nameMax = isWide ? NAME_WIDTH_MAX : NARROW_NAME_MAX;
  const cells = rows.map((row, place) => [
    money.parts[place] ?? '',
    row.sum.gpuUnits === 0n ? '' : (hours[place] ?? ''),
    daysWords(row),
    shorten(safeText(row.name ?? row.subject.replace(/^resource /, '')), nameMax),
    shorten(ownerWords(row), NAME_WIDTH_MAX),
    gpusWords(row),
    explainFlag(row),
  ]);
  const rest =
    rows.length < subjects
      ? `the dearest ${rows.length} of ${counted(subjects, 'row')}`
      : subjects === 1
        ? 'its one row'
        : `all ${counted(subjects, 'row')}`;
  const explain = `bursar ledger explain --category ${category} --window ${shellWord(answer.window.asked)}${scopeFlags}${dataFlag}`;
  const example = rows.map(explainFlag).find((flag) => flag !== '');
  return [
    whole.usdMicros === null ? rest : `${rest}: ${money.total} of ${dollars(whole.usdMicros)}`,
    ...textTable(
      kept.map((place) => ({ align: place < 2 ? 'right' : 'left', title: titles[place] ?? '' })),
      cells.map((row) => kept.map((place) => row[place] ?? '')),
    ),
    ...(rows.some(({ subject }) => subject.startsWith('bill '))
      ? ['A row called after a bill is what that bill names no resource for: tax, support, credits and the like.']
      : []),
    ...(hasPools ? ['Money of shared pools is divided in the sums by team and class, and whole in the rows.'] : []),
    'The entries behind a row:',
    `  ${explain}${example === undefined ? '' : ` ${example}`}`,
  ];
}

function ownerWords({ team, user }: WasteRow): string {
  return [team ?? 'unattributed', ...(user === null ? [] : [user])].map(safeText).join(' / ');
}

function daysWords({ firstDay, lastDay, days }: WasteRow): string {
  return firstDay === lastDay ? firstDay : `${firstDay.slice(5)}…${lastDay.slice(5)}, ${days} d`;
}

function gpusWords({ devices, deviceId, nodes, nodeId, model }: WasteRow): string {
  const name = model === null ? 'GPU' : shortModel(model);
  if (devices === 0) return '';
  if (devices === 1) return `${name} ${shorten(safeText(deviceId ?? ''), NAME_WIDTH_MAX)}`;
  return `${devices}×${name}${nodes === 1 && nodeId !== null ? ` on ${shorten(safeText(nodeId), NAME_WIDTH_MAX)}` : ` on ${nodes} nodes`}`;
}

/** What narrows `ledger explain` to one row. */
function explainFlag(row: WasteRow | undefined): string {
  if (row === undefined) return '';
  if (row.jobId !== null) return `--job ${shellWord(safeText(row.jobId))}`;
  if (row.subject.startsWith('node ') && row.nodeId !== null) {
    return `--filter ${shellWord(`node=${filterValue(safeText(row.nodeId))}`)}`;
  }
  return row.deviceId === null ? '' : `--device ${shellWord(safeText(row.deviceId))}`;
}
