import { roundLargestRemainder } from '../money/split.ts';
import { divideRounded, formatUsdCents } from '../money/usd.ts';
import { counted, dollarsOf, duration, gpuHours, NO_PRICE, percentOfPermille } from './figures.ts';
import { safeText } from './safe-text.ts';
import { shellWord } from './shell-word.ts';
import type { Mover, StatementAnswer, StatementPart } from './statement-answer.ts';

const MICROS_PER_CENT = 10_000n;
const DAY_MS = 86_400_000;
/** Where somebody held a GPU, and rules can say what for; of all else there is nobody to ask. */
const HELD_CATEGORIES: readonly string[] = ['computing', 'idle', 'starved', 'lost', 'unknown'];
/** Rows of each list on a page. */
const ROWS_SHOWN = 5;
const MINUS = '\u2212';
const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];

/** `October 2026`. */
export function monthName(month: string): string {
  return `${MONTHS[Number(month.slice(5)) - 1] ?? month} ${month.slice(0, 4)}`;
}

/** `$1,562.34` of whole cents. */
export function cents(amount: bigint): string {
  return formatUsdCents(amount * MICROS_PER_CENT);
}

/** `+$1,562.34`, `−$3.00`: a change says its direction. */
export function signedCents(micros: bigint): string {
  return `${micros > 0n ? '+' : ''}${formatUsdCents(micros)}`;
}

/** Parts in cents that add up to the amount above them. */
export function centsOf(parts: readonly (bigint | null)[], amountCents: bigint): string[] {
  const shown = roundLargestRemainder(
    parts.map((part) => part ?? 0n),
    MICROS_PER_CENT,
    amountCents * MICROS_PER_CENT,
  );
  return parts.map((part, index) => (part === null ? NO_PRICE : formatUsdCents(shown[index] ?? 0n)));
}

/** What every category is shown as, wherever it is shown: they add up to the amount. */
export function categoryCents({ categories, amountCents }: StatementAnswer): ReadonlyMap<string, string> {
  const there = Object.entries(categories).filter(([, { usdMicros, gpuUnits }]) => usdMicros !== 0n || gpuUnits !== 0n);
  const shown = centsOf(
    there.map(([, { usdMicros }]) => usdMicros),
    amountCents,
  );
  return new Map(there.map(([name], index) => [name, shown[index] ?? '']));
}

/** `+22.2 %`, `new`, `gone`; empty where there is nothing to compare with. */
export function change(now: bigint | null, before: bigint | null): string {
  if (before === null) return '';
  const cost = now ?? 0n;
  if (before === 0n) return cost === 0n ? '' : 'new';
  if (cost === 0n) return 'gone';
  if (before < 0n) return signedCents(cost - before);
  const tenths = divideRounded((cost - before) * 1000n, before);
  const size = tenths < 0n ? -tenths : tenths;
  return `${tenths < 0n ? MINUS : '+'}${size / 10n}.${size % 10n} %`;
}

export function teamName(team: string | null): string {
  return team === null ? 'unattributed' : safeText(team);
}

export function share(permille: number | null): string {
  return permille === null ? '' : percentOfPermille(permille);
}

/** Is it of a month that no fact has reached yet? Nothing in it is 0: it is not known. */
export function isAheadOfFacts({ status, asOf, month }: Pick<StatementAnswer, 'status' | 'asOf' | 'month'>): boolean {
  return status === 'running' && asOf <= `${month}-01T00:00:00Z`;
}

/** `Nothing is known of November 2026 yet: facts reach to 2026-10-03 00:00 UTC`. */
export function aheadWords({ asOf, month }: Pick<StatementAnswer, 'asOf' | 'month'>): string {
  return `Nothing is known of ${monthName(month)} yet: facts reach to ${minuteOf(asOf)} UTC`;
}

/** `2026-10-01 to 2026-10-31 (UTC)`; of a month that has only begun, its first day. */
export function periodWords({ from, until }: Pick<StatementAnswer, 'from' | 'until'>): string {
  const [first, last] = [from.slice(0, 10), new Date(new Date(until).getTime() - 1).toISOString().slice(0, 10)];
  return last < first ? `from ${first} (UTC)` : `${first} to ${last} (UTC)`;
}

/** ` (14 of 31 days with facts)`; nothing where every day has some. */
export function factDaysWords({
  from,
  until,
  missingDays = 0,
}: Pick<StatementAnswer, 'from' | 'until' | 'missingDays'>): string {
  if (missingDays <= 0) return '';
  const days = Math.ceil((new Date(until).getTime() - new Date(from).getTime()) / DAY_MS);
  return ` (${days - missingDays} of ${counted(days, 'day')} with facts)`;
}

/** `nlp paid $149,378.21 in October 2026, 22.2 % more than in September 2026; 65 % of what is known computed.` */
export function verdict(answer: StatementAnswer): string {
  if (isAheadOfFacts(answer)) return `${aheadWords(answer)}.`;
  const { before, total, computeSharePermille: computed, everyoneSharePermille: everyone } = answer;
  const who = answer.team === null ? 'Nobody’s:' : `${teamName(answer.team)} paid`;
  const paid = total.usdMicros === null ? `${gpuHours(total.gpuUnits)} without a price` : cents(answer.amountCents);
  const parts = [
    `${who} ${paid} in ${monthName(answer.month)}${answer.status === 'running' ? ' so far' : ''}${factDaysWords(answer)}${beforeWords(answer)}`,
    computed === null
      ? 'how much of it computed is not known'
      : `${percentOfPermille(computed)} of what is known computed` +
        (before?.computeSharePermille == null ? '' : `, ${percentOfPermille(before.computeSharePermille)} before`) +
        (everyone === null || answer.team === null ? '' : ` (all teams ${percentOfPermille(everyone)})`),
  ];
  return `${parts.join('; ')}.`;
}

function beforeWords({ before, total, status }: StatementAnswer): string {
  if (before === null || before.usdMicros === null || total.usdMicros === null) return '';
  const than = `${monthName(before.month)}${status === 'running' ? ' by then' : ''}`;
  const words = change(total.usdMicros, before.usdMicros);
  if (words === 'new') return `, nothing in ${than}`;
  if (words === '' || words === 'gone') return `, ${formatUsdCents(before.usdMicros)} in ${than}`;
  return total.usdMicros === before.usdMicros
    ? `, as much as in ${than}`
    : `, ${words.replace(/^[+\u2212]/, '')} ${total.usdMicros > before.usdMicros ? 'more' : 'less'} than in ${than}`;
}

/** Where the month before is not whole, comparing says less than it seems. */
export function missingWords({ before }: Pick<StatementAnswer, 'before'>): string {
  if (before === null || before.missingDays <= 0) return '';
  return ` (the ledger lacks ${counted(before.missingDays, 'day')} of it)`;
}

/** `GPU`, `host CPU and memory`: components as people call them. */
export function componentName(name: string | null): string {
  const known: Readonly<Record<string, string>> = {
    gpu: 'GPU',
    host: 'host CPU and memory',
    transfer: 'data transfer',
    credit: 'credits',
  };
  return name === null ? 'other' : (known[name] ?? safeText(name));
}

/** `training / atlas, H100`. */
export function moverName({ project, class: klass, what }: Mover): string {
  const names = [klass, project].flatMap((name) => (name === null ? [] : [safeText(name)]));
  const work = names.length === 0 ? '' : `${names.join(' / ')}, `;
  const other = what === 'other' ? 'tax, credits, support, other' : undefined;
  return `${work}${other ?? (what === null ? 'model unknown' : componentName(what))}`;
}

/** `volume +$12.00, price −$3.00`; empty for what has no time. */
export function moverWhy({ volumeUsdMicros: volume, priceUsdMicros: price }: Mover): string {
  if (volume === null || price === null) return '';
  if (isNothing(price)) return 'volume';
  if (isNothing(volume)) return 'price';
  return `volume ${signedCents(volume)}, price ${signedCents(price)}`;
}

/** Less than a statement can show. */
function isNothing(micros: bigint): boolean {
  return micros * 2n < MICROS_PER_CENT && micros * 2n > -MICROS_PER_CENT;
}

/** What the amounts rest on. */
export function basisWords({ basisUsdMicros }: Pick<StatementAnswer, 'basisUsdMicros'>): string {
  const words: readonly (readonly [bigint, string])[] = [
    [basisUsdMicros.billed, 'billed'],
    [basisUsdMicros.rate, 'by stated rates'],
    [basisUsdMicros.estimated, 'estimated, not billed'],
  ];
  const there = words.filter(([micros]) => micros !== 0n);
  if (there.length === 1) return `effective cost, ${there[0]?.[1] ?? ''}`;
  const { parts } = dollarsOf(there.map(([micros]) => micros));
  return `effective cost: ${there.map(([, name], index) => `${parts[index] ?? ''} ${name}`).join(', ') || 'nothing priced'}`;
}

/** `bills cover it`, `AWS|111|2026-03 covers until 2026-03-02 12:00 UTC`. */
export function coverageWords({ coverage, until }: Pick<StatementAnswer, 'coverage' | 'until'>): string {
  if (coverage.length === 0) return 'no bill of this month yet';
  const early = coverage.filter(({ coveredUntil }) => coveredUntil === null || coveredUntil < until);
  if (early.length === 0) return `${counted(coverage.length, 'bill')} ${coverage.length === 1 ? 'covers' : 'cover'} it`;
  const [first] = early;
  const more = early.length > 1 ? ` and ${early.length - 1} more` : '';
  const when = first?.coveredUntil == null ? 'an unknown moment' : `${minuteOf(first.coveredUntil)} UTC`;
  return `bill ${safeText(first?.bill ?? '')} covers until ${when}${more}`;
}

/** Time to a GPU, so that a lower cost never hides slower research. */
export function waitWords({ wait, waitBefore }: Pick<StatementAnswer, 'wait' | 'waitBefore'>): string {
  if (wait === null) return 'not known: nothing tells when jobs were submitted';
  const before = waitBefore === null ? '' : `; before: median ${duration(waitBefore.medianSeconds)}`;
  return `median ${duration(wait.medianSeconds)}, nine of ten within ${duration(wait.p90Seconds)}, ${counted(wait.jobs, 'job')}${before}`;
}

/** The first few of a list, and all the others as one, so that what is shown still adds up. */
export function partsShown(parts: readonly StatementPart[]): readonly StatementPart[] {
  const there = parts.filter(({ usdMicros, gpuUnits }) => usdMicros !== 0n || gpuUnits !== 0n);
  if (there.length <= ROWS_SHOWN + 1) return there;
  const rest = there.slice(ROWS_SHOWN);
  const sum = (of: (part: StatementPart) => bigint | null): bigint =>
    rest.reduce((total, part) => total + (of(part) ?? 0n), 0n);
  return [
    ...there.slice(0, ROWS_SHOWN),
    {
      name: `${rest.length} others`,
      usdMicros: sum(({ usdMicros }) => usdMicros),
      gpuUnits: sum(({ gpuUnits }) => gpuUnits),
      unpricedUnits: sum(({ unpricedUnits }) => unpricedUnits),
      beforeUsdMicros: rest[0]?.beforeUsdMicros === null ? null : sum(({ beforeUsdMicros }) => beforeUsdMicros),
      computeSharePermille: null,
    },
  ];
}

/** What to do next, each with the command that says more; nothing that the ledger does not show. */
export function advice(
  answer: StatementAnswer,
  dataFlag: string,
): { readonly what: string; readonly command: string }[] {
  const { idle, unknown } = answer.categories;
  const shown = categoryCents(answer);
  const window = `--window ${answer.month}${dataFlag}`;
  const team = `team=${answer.team === null ? '' : answer.team.replaceAll(/[\\,|]/g, '\\$&')}`;
  const jobs = (category: string): string =>
    `bursar spend --by job --filter ${shellWord(safeText(`${team},category=${category}`))} ${window}`;
  // Its part of what teams share has no class either, and stands in a row of its own.
  const classless = answer.classes.find(({ name }) => name === null)?.usdMicros ?? 0n;
  const held = answer.lines
    .filter((line) => line.class === null && HELD_CATEGORIES.includes(line.category))
    .reduce((sum, { usdMicros }) => sum + (usdMicros ?? 0n), 0n);
  const open = held < classless ? held : classless;
  return [
    ...((idle.usdMicros ?? 0n) > 0n
      ? [
          { what: `${shown.get('idle') ?? ''} idle: which jobs`, command: jobs('idle') },
          ...(answer.team === null
            ? []
            : [
                {
                  what: 'who waited meanwhile',
                  command: `bursar beside --team ${shellWord(safeText(answer.team))} ${window}`,
                },
              ]),
        ]
      : []),
    ...((unknown.usdMicros ?? 0n) > 0n
      ? [{ what: `${shown.get('unknown') ?? ''} unknown: nothing measured it`, command: jobs('unknown') }]
      : []),
    ...(answer.team === null && (answer.total.usdMicros ?? 0n) !== 0n
      ? [{ what: 'nobody owns it: rules that would', command: `bursar rules suggest ${window}` }]
      : []),
    ...(answer.team !== null && open !== 0n
      ? [{ what: `${formatUsdCents(open)} of no class: rules`, command: `bursar rules test ${window}` }]
      : []),
    ...(answer.total.unpricedUnits > 0n
      ? [{ what: `${gpuHours(answer.total.unpricedUnits)} without a price`, command: 'bursar import rates FILE' }]
      : []),
  ];
}

/** `2026-10-01 09:30` of ISO text. */
export function minuteOf(time: string): string {
  return time.slice(0, 16).replace('T', ' ');
}
