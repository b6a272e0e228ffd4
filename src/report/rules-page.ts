import { counted, day, dollars, gpuHours, isoTime, percentsOf } from './figures.ts';
import { safeText } from './safe-text.ts';
import { shorten, textTable } from './table.ts';

const NAME_WIDTH_MAX = 60;
const SHOWN_TEAMS = 5;
const UNITS_PER_GPU_HOUR = 226_800_000n;

/** What one rule says something about, and what it would have, had no earlier one. */
export interface RuleCatch {
  readonly title: string;
  readonly usdMicros: bigint;
  readonly gpuUnits: bigint;
  readonly subjects: number;
  readonly takenUsdMicros: bigint;
}

/** Money nobody owns that one rule could be about. */
export interface UnownedGroup {
  readonly text: string;
  readonly usdMicros: bigint;
  readonly gpuUnits: bigint;
  readonly example: string;
}

/** A team's part of a pool, and the days it is the sum of. */
export interface SharedPart {
  readonly pool: string;
  readonly key: string;
  readonly unit: string;
  readonly poolUsdMicros: bigint;
  readonly usdMicros: bigint;
  readonly days: readonly {
    readonly day: string;
    readonly weight: bigint;
    readonly total: bigint;
    readonly poolUsdMicros: bigint;
    readonly usdMicros: bigint;
  }[];
}

export interface RulesTest {
  readonly window: { readonly from: Date; readonly until: Date };
  readonly totalUsdMicros: bigint;
  readonly ownedUsdMicros: bigint;
  readonly rules: readonly RuleCatch[];
  readonly byDefault: readonly { readonly rule: string; readonly usdMicros: bigint }[];
  readonly pools: readonly {
    readonly name: string;
    readonly split: string;
    readonly usdMicros: bigint;
    readonly teams: readonly { readonly team: string; readonly usdMicros: bigint }[];
  }[];
  readonly unowned: readonly UnownedGroup[];
  /** Beside the rules in force, where others are tried. */
  readonly moves: readonly { readonly from: string | null; readonly to: string | null; readonly usdMicros: bigint }[];
  readonly shared: readonly SharedPart[];
}

/** For programs: money in micros, GPU time in unit-seconds. */
export function rulesTestJson({ window, ...test }: RulesTest): unknown {
  return { window: { from: isoTime(window.from), until: isoTime(window.until) }, ...test };
}

/** What share of the money has a team, then what each rule catches, then what none does. */
export function rulesTestText(test: RulesTest): string[] {
  const { totalUsdMicros: total, ownedUsdMicros: owned, window } = test;
  const [share = ''] = percentsOf([owned, total - owned]);
  return [
    `${share} of the money has a team: ${dollars(owned)} of ${dollars(total)}; ${dollars(total - owned)} has none.`,
    `From ${day(window.from)} to ${day(new Date(window.until.getTime() - 1))}, effective cost, shared money split.`,
    ...block('', ruleLines(test)),
    ...block(
      'Catches nothing:',
      test.rules
        .filter(({ usdMicros, subjects }) => usdMicros === 0n && subjects === 0)
        .map(({ title }) => `  ${name(title)}`),
    ),
    ...block('Shared money:', test.pools.flatMap(poolLines)),
    ...block('Largest money without a team:', unownedLines(test.unowned)),
    ...block('Against the rules in force, this moves:', moveLines(test)),
    ...block(
      '',
      test.shared.flatMap((part) => sharedLines(part)),
    ),
    ...(total > owned && test.unowned.length > 0 ? ['', 'bursar rules suggest proposes rules for the rest.'] : []),
  ];
}

function block(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', ...(title === '' ? [] : [title]), ...lines];
}

function name(text: string): string {
  return shorten(safeText(text), NAME_WIDTH_MAX);
}

function ruleLines({ rules, byDefault }: RulesTest): string[] {
  const rows = [
    ...rules.map((rule) => [
      name(rule.title),
      dollars(rule.usdMicros),
      rule.gpuUnits === 0n ? '' : gpuHours(rule.gpuUnits).replace(/ GPU-hours?$/, ''),
      rule.subjects === 0 ? '' : rule.subjects.toLocaleString('en-US'),
      rule.takenUsdMicros === 0n ? '' : dollars(rule.takenUsdMicros),
    ]),
    ...byDefault.map(({ rule, usdMicros }) => [`without a rule: ${name(rule)}`, dollars(usdMicros)]),
  ];
  return textTable(
    [
      { align: 'left', title: 'rule' },
      { align: 'right', title: 'cost' },
      { align: 'right', title: 'GPU-hours' },
      { align: 'right', title: 'subjects' },
      { align: 'right', title: 'taken by earlier ones' },
    ],
    rows,
  );
}

function poolLines({ name: pool, split, usdMicros, teams }: RulesTest['pools'][number]): string[] {
  const shown = teams.slice(0, SHOWN_TEAMS).map(({ team, usdMicros: part }) => `${name(team)} ${dollars(part)}`);
  const rest = teams.length > SHOWN_TEAMS ? [`${teams.length - SHOWN_TEAMS} more`] : [];
  const parts = teams.length === 0 ? 'nobody to split to: it stays with the pool' : [...shown, ...rest].join(', ');
  return [`  ${name(pool)}: ${dollars(usdMicros)} by ${name(split)}: ${parts}`];
}

function unownedLines(groups: readonly UnownedGroup[]): string[] {
  return textTable(
    [{ align: 'right' }, { align: 'left' }, { align: 'left' }],
    groups.map(({ text, usdMicros, example }) => [`  ${dollars(usdMicros)}`, name(text), `e.g. ${name(example)}`]),
  );
}

function moveLines({ moves }: RulesTest): string[] {
  return textTable(
    [{ align: 'right' }, { align: 'left' }],
    moves.map(({ from, to, usdMicros }) => [
      `  ${dollars(usdMicros)}`,
      `from ${name(from ?? 'nobody')} to ${name(to ?? 'nobody')}`,
    ]),
  );
}

/** The sum, and the dearest day worked out, so that anyone can redo it. */
export function sharedLines(
  { pool, key, unit, poolUsdMicros, usdMicros, days }: SharedPart,
  money: (usdMicros: bigint) => string = dollars,
): string[] {
  const dearest = days.toSorted((a, b) => (a.usdMicros < b.usdMicros ? 1 : -1))[0];
  const weight = (value: bigint): string =>
    unit === 'gpu-unit-seconds'
      ? `${(Number((value * 10n) / UNITS_PER_GPU_HOUR) / 10).toLocaleString('en-US')} GPU-hours`
      : unit === 'usd-micros'
        ? money(value)
        : String(value);
  return [
    `Of ${name(pool)}, ${money(poolUsdMicros)} split by ${name(key)}: ${money(usdMicros)} over ${counted(days.length, 'day')}.`,
    ...(dearest === undefined || dearest.total === 0n
      ? []
      : [
          `  ${dearest.day}${days.length > 1 ? ', its dearest day (--json has all)' : ''}: ${money(dearest.poolUsdMicros)} × ${weight(dearest.weight)} of ${weight(dearest.total)} = ${money(dearest.usdMicros)}`,
        ]),
  ];
}
