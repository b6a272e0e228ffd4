import { describe, expect, it } from 'vitest';
import type { Finding } from '../facts/finding.ts';
import type { FindingsAnswer } from './finding-answer.ts';
import { sumOf } from './finding-answer.ts';
import { findingList } from './finding-list.ts';
import { findingMessage } from './finding-message.ts';
import { findingPage } from './finding-page.ts';
import { rangeWords, shortDollars } from './figures.ts';
import { moneyWords, sparkline } from './finding-words.ts';
import { firstFindingsJson } from './overview/first-findings.ts';

const USD = 1_000_000n;
const HOUR = 63_000n * 3600n;

const SURE = { cashUsdMicros: { low: 367n * USD, high: 367n * USD } };
const NO_CASH = { low: 0n, high: 0n };

const finding = (over: Partial<Finding> = {}): Finding => ({
  number: 1,
  key: 'idle-sessions: job s/1/0',
  detector: 'idle-sessions',
  category: 'idle',
  factor: 'utilisation',
  state: 'open',
  exemptUntil: null,
  stateReason: null,
  firstSeenAt: new Date('2026-03-02T00:00:00Z'),
  team: 'nlp',
  user: 'mchen',
  assignedTo: null,
  ownerSubject: 'job s/1/0',
  what: 'notebook idle',
  because: ['No kernel in 10 h.'],
  fix: ['scancel 1'],
  unless: 'It is used.',
  spark: [0, 1000, null],
  basis: 'measured',
  blastRadius: 2,
  blast: 'Memory is lost.',
  effort: 'one command',
  kind: 'cash',
  usdMicros: 367n * USD,
  cashUsdMicros: { low: 0n, high: 367n * USD },
  capacityUnits: { low: 0n, high: 0n },
  cashIfRentedUsdMicros: 0n,
  gpuUnits: 10n * HOUR,
  liveSince: null,
  usdMicrosPerHour: null,
  subjects: [],
  firstDay: null,
  ...over,
});

const answer = (findings: readonly Finding[], over: Partial<FindingsAnswer> = {}): FindingsAnswer => ({
  asOf: new Date('2026-03-09T00:00:00Z'),
  asOfBy: 'newest fact',
  window: { asked: '30d', from: new Date('2026-02-07'), until: new Date('2026-03-09'), ledgerDays: 30 },
  team: undefined,
  unknownValues: [],
  findings,
  setAside: [],
  hiddenPrice: [],
  sum: sumOf(findings),
  wasteUsdMicros: { stranded: 0n, unallocated: 0n, unknown: 0n, idle: 0n, starved: 0n, lost: 0n, computing: 0n },
  paidUsdMicros: 1000n * USD,
  usdMicrosByBasis: new Map([['billed', 1000n * USD]]),
  unpricedUnits: 0n,
  knownUnits: 96n * HOUR,
  heldUnits: 100n * HOUR,
  gpus: 6,
  shownMax: 5,
  numbers: 'kept',
  ...over,
});

describe('money, its kind first', () => {
  const cases: { name: string; over: Partial<Finding>; want: string }[] = [
    { name: 'what is measured, and not sure to leave the bill', over: {}, want: '$0–367 / 30 d' },
    { name: 'what frees its machines wholly', over: SURE, want: '$367 / 30 d' },
    {
      name: 'of machines that are partly committed, what the bill falls by',
      over: { usdMicros: 500n * USD, capacityUnits: { low: 3n * HOUR, high: 3n * HOUR } },
      want: '$0–367 / 30 d',
    },
    {
      name: 'mostly capacity: what its time costs',
      over: { kind: 'capacity', usdMicros: 900n * USD, capacityUnits: { low: 6n * HOUR, high: 6n * HOUR } },
      want: '$540–900 / 30 d',
    },
    {
      name: 'measured time of which others can use a part',
      over: {
        kind: 'capacity',
        usdMicros: 24_033n * USD,
        gpuUnits: 6155n * HOUR,
        cashUsdMicros: NO_CASH,
        capacityUnits: { low: 4013n * HOUR, high: 6155n * HOUR },
      },
      want: '$15.7k–24k / 30 d',
    },
    {
      name: 'measured time of which none may be of use',
      over: {
        kind: 'capacity',
        usdMicros: 757n * USD,
        gpuUnits: 5606n * HOUR,
        cashUsdMicros: NO_CASH,
        capacityUnits: { low: 0n, high: 746n * HOUR },
      },
      want: '$0–101 / 30 d',
    },
    {
      name: 'measured time that can all be reached',
      over: {
        kind: 'capacity',
        usdMicros: 36_740_000n,
        cashUsdMicros: NO_CASH,
        capacityUnits: { low: 10n * HOUR, high: 10n * HOUR },
      },
      want: '$36.74 / 30 d',
    },
    {
      name: 'what goes on: so far and a rate, never times thirty',
      over: { ...SURE, liveSince: new Date('2026-03-08T00:00:00Z'), usdMicrosPerHour: 25_600_000n },
      want: '$367 so far, $25.60/h',
    },
    { name: 'without a price: time, and never $0', over: { usdMicros: null }, want: '10.0 GPU-hours, no price / 30 d' },
    { name: 'a question has no money', over: { kind: 'question', usdMicros: null }, want: 'a question' },
    {
      name: 'modelled cash is a range in three digits',
      over: { basis: 'modelled', cashUsdMicros: { low: 16_812n * USD, high: 18_730n * USD } },
      want: '$16.8k–18.7k / 30 d',
    },
    {
      name: 'modelled capacity is the money of the time that can be reached',
      over: {
        basis: 'modelled',
        kind: 'capacity',
        cashUsdMicros: NO_CASH,
        capacityUnits: { low: 5n * HOUR, high: 10n * HOUR },
      },
      want: '$184–367 / 30 d',
    },
  ];
  it.each(cases)('$name', ({ over, want }) => expect(moneyWords(finding(over), 30)).toBe(want));

  it('of a pool that mixes committed and on-demand machines both parts are told, and added each by itself', () => {
    const blended = finding({ usdMicros: 500n * USD, capacityUnits: { low: 3n * HOUR, high: 3n * HOUR } });
    const lines = findingList(answer([blended, blended]));
    expect(lines[0]).toBe('These 2, applied in order: cash $0–734, capacity 6.0 GPU-hours');
    expect(lines).toContain('     cash $0–367, capacity 3.0 GPU-hours');
    expect(findingMessage(answer([blended]), 'slack', { command: 'c' })[1]).toContain(
      '), cash $0–367, capacity 3.0 GPU-hours, safe 2/5',
    );
  });

  it('a page tells the hours others can use as a range, and cash once the machines are gone', () => {
    const some = finding({
      kind: 'capacity',
      cashUsdMicros: NO_CASH,
      capacityUnits: { low: 4n * HOUR, high: 10n * HOUR },
    });
    expect(findingPage(answer([some]), some, [])[3]).toBe(
      'money     $367 in the window, capacity; 4.0–10.0 GPU-hours others can use, and no bill falls',
    );
    expect(findingPage(answer([finding(SURE)]), finding(SURE), [])[3]).toBe(
      'money     $367 in the window, cash; the bill falls by $367 once its machines are gone, all of it on machines it frees wholly',
    );
    expect(findingList(answer([some])).join(' ')).toContain('Cash: the bill falls once the machines are gone');
  });

  it('what is spent either way tells the cash of who rents meanwhile, and counts it once', () => {
    const unused = finding({ kind: 'capacity', category: 'stranded', usdMicros: 15_865n * USD });
    const lines = findingList(answer([unused]));
    expect(lines[0]).toBe('This one, applied in order: cash $0–367');
    expect(lines.join('\n')).toMatch(/F-1 +\$15,865 \/ 30 d [^]*     cash \$0–367 elsewhere/);
    expect(findingPage(answer([unused]), unused, [])[3]).toBe(
      'money     $15,865 in the window, capacity; spent either way; the bill falls by $0–367 if who rents the same moves in, the least from the same place',
    );
  });

  it.each([
    [0n, '$0'],
    [940n, '$940'],
    [1000n, '$1,000'],
    [1049n, '$1,050'],
    [9994n, '$9,990'],
    [9995n, '$10k'],
    [16_812n, '$16.8k'],
    [187_400n, '$187k'],
    [999_600n, '$1M'],
    [1_254_000n, '$1.25M'],
  ])('$%s is told as %s', (usd, want) => expect(shortDollars(usd * USD)).toBe(want));

  it('one figure where both ends read the same', () =>
    expect(rangeWords({ low: 16_810n * USD, high: 16_820n * USD })).toBe('$16.8k'));
  it('a spark has a dot where nothing is known', () => expect(sparkline([0, 500, 1000, null])).toBe('▁▅█·'));
});

describe('what nobody can know or would read', () => {
  const window = { asked: '2027-01', from: new Date('2027-01-01'), until: new Date('2027-02-01'), ledgerDays: 0 };
  const empty = answer([], { window, paidUsdMicros: 0n, usdMicrosByBasis: new Map() });

  it('a window without facts is not a clean one, and has not cost $0', () => {
    const lines = [findingList(empty), findingMessage(empty, 'slack', { command: 'bursar findings' })];
    expect(lines.map(([first]) => first)).toEqual([
      'Nothing can be said: no facts in 2027-01-01 to 2027-01-31 (0 with facts)',
      '*GPU waste: nothing can be said, no facts*',
    ]);
    expect(lines.flat().join('\n')).not.toContain('$0');
  });

  it('a ledger of a version before is not a clean one', () =>
    expect(findingList(answer([], { gpus: 0 }))[0]).toBe('Nothing can be said before: bursar derive'));

  it('a name of a megabyte fills no page and no channel', () => {
    const long = 'x'.repeat(1_000_000);
    const named = finding({ what: long, user: long, because: [long] });
    const pages = [
      findingMessage(answer([named]), 'slack', { command: 'c' }),
      findingPage(answer([named]), named, []),
      findingList(answer([named])),
    ];
    expect(pages.map((page) => page.join('\n').length < 5000)).toEqual([true, true, true]);
  });

  it('of time without a price nobody says that no bill falls', () => {
    const free = finding({ kind: 'capacity', usdMicros: null, capacityUnits: { low: HOUR, high: HOUR } });
    expect(findingPage(answer([free]), free, [])[3]).toContain('nobody has said what they cost');
  });
});

describe('the list', () => {
  it('says first what can be reached, each kind by itself, then scope, window, basis and what is known', () => {
    const owned = finding({
      number: 2,
      kind: 'capacity',
      cashUsdMicros: { low: 0n, high: 0n },
      capacityUnits: { low: 240n * HOUR, high: 240n * HOUR },
    });
    const dark = finding({
      number: 3,
      kind: 'unknown',
      usdMicros: 16_589n * USD,
      cashUsdMicros: { low: 0n, high: 0n },
    });
    const [first, second] = findingList(answer([finding(), owned, dark]));
    expect(first).toBe('These 3, applied in order: cash $0–367, capacity 240 GPU-hours; unknown $16.6k');
    expect(second).toBe(
      '6 GPUs; last 30 days, as of 2026-03-09 00:00 UTC, the newest fact; $1,000 paid, billed; 96 % of held GPU time known',
    );
  });

  it('says of how much nobody knows the price, on the screen and where it is pasted', () => {
    const half = answer([finding()], { unpricedUnits: 960n * HOUR });
    for (const lines of [findingList(half, { width: 400 }), findingMessage(half, 'slack', { command: 'c' })])
      expect(lines.join('\n')).toContain('$1,000 paid, billed; 960 GPU-hours without a price; 96 % of held');
    const none = answer([finding()], { unpricedUnits: 960n * HOUR, paidUsdMicros: null, usdMicrosByBasis: new Map() });
    expect(findingList(none, { width: 400 })[1]).toContain('; no price; 96 % of held');
  });

  it('tells five of seven, and where the others are', () => {
    const lines = findingList(answer(Array.from({ length: 7 }, (_, n) => finding({ number: n + 1 }))));
    expect(lines.filter((line) => line.startsWith('F-'))).toHaveLength(5);
    expect(lines).toContain('2 more: bursar findings --all');
  });

  it('counts together what is below a thousandth of the waste, and tells it when it is asked for', () => {
    const waste = {
      stranded: 0n,
      unallocated: 0n,
      unknown: 9n,
      idle: 10_000n * USD,
      starved: 0n,
      lost: 0n,
      computing: 9n,
    };
    const cheap = { usdMicros: 9n * USD, cashUsdMicros: { low: 9n * USD, high: 9n * USD } };
    const findings = [finding(), finding({ number: 2, ...cheap }), finding({ number: 3, ...cheap })];
    const all = answer(findings, { wasteUsdMicros: waste });
    const lines = findingList(all, { all: true });
    expect(lines.filter((line) => line.startsWith('F-'))).toHaveLength(1);
    expect(lines).toContain(
      '2 small ones below $10.00 each (0.1 % of what is wasted): cash $18 in all: bursar findings --small',
    );
    expect(findingList(all, { small: true }).filter((line) => line.startsWith('F-'))).toHaveLength(3);
    // The dashboard counts what it lists, too.
    expect(firstFindingsJson(all)).toMatchObject({ count: 1, first: [{ id: 'F-1' }] });
  });

  it.each([80, 120, 160])('cuts nothing of what it says in %i columns, and breaks no command', (width) => {
    const what = 'six machines of a pool with a rather long name stood empty for 6,303 GPU-hours, 13 % of its hours';
    const because = ['No holder for hours on end', 'Longest on reserved-h100-0002 (56.7 h)'];
    const fix = [`kubectl delete ${'x'.repeat(150)}`];
    const lines = findingList(answer([finding({ what, because, fix })]), { width });
    const words = lines.join(' ').replaceAll(/\s+/g, ' ');
    expect(words).toContain('No holder for hours on end. Longest on reserved-h100-0002 (56.7 h). Measured.');
    for (const word of what.split(' ')) expect(words).toContain(word);
    expect(words).not.toContain('…');
    expect(lines).toContain(`     fix: ${fix[0]}`);
    expect(lines.filter((line) => line.length > width && !line.includes('kubectl'))).toEqual([]);
  });

  it('a fix of many lines is pasted from the page of the finding, never by half', () => {
    const fix = ['# as a manifest', 'kubectl apply -f - <<EOF', 'a: 1', 'b: 2', 'c: 3', 'EOF'];
    const lines = findingList(answer([finding({ number: 7, fix })]));
    expect(lines.filter((line) => /EOF|: 1/.test(line))).toEqual([]);
    expect(lines).toContain('          # 5 more lines to paste: bursar finding F-7');
  });

  it('what nobody owns is the platform’s, and it says so', () => {
    expect(findingList(answer([finding({ team: null, user: null })])).join('\n')).toContain('platform (no owner)');
    expect(findingList(answer([finding({ team: null, user: null, ownerSubject: null })])).join('\n')).toMatch(
      /platform +cash/,
    );
  });

  it('says that there is nothing to do, how many are set aside, what is hidden, and when numbers could not be kept', () => {
    const lines = findingList(
      answer([], {
        setAside: [finding({ state: 'exempt' }), finding({ state: 'dismissed' })],
        hiddenPrice: [finding()],
        numbers: 'refused',
      }),
    );
    expect(lines[0]).toBe('Nothing to do: no finding in last 30 days');
    expect(lines.slice(2).join('\n')).toMatch(
      /1 exempt, 1 dismissed.*\n1 about price.*\nThe folder cannot be written to/,
    );
  });
});

describe('names are whatever somebody typed', () => {
  const evil = '\u001b[31m<!here> @channel https://evil.example *x* `rm` [a](b)\n| <script>';
  const hostile = finding({
    what: evil,
    team: evil,
    user: evil,
    because: [evil],
    fix: [evil],
    unless: evil,
    blast: evil,
    assignedTo: evil,
  });
  const command = 'bursar findings';

  it('Slack sees no mention, no link and no markup of them', () => {
    const text = findingMessage(answer([hostile], { team: evil }), 'slack', { command }).join('\n');
    for (const char of ['\u001b', '<', '>']) expect(text).not.toContain(char);
    const outsideCode = text.replaceAll(/`[^`\n]*`/g, '');
    expect(outsideCode).not.toMatch(/@|https|evil|script/);
    expect((text.match(/`/g) ?? []).length % 2).toBe(0);
  });

  it('Markdown sees no mention, no link, no table and no HTML of them', () => {
    const text = findingMessage(answer([hostile], { team: evil }), 'markdown', { command }).join('\n');
    expect(text.replaceAll(/`[^`\n]*`/g, '')).not.toMatch(/@|https|evil|<|\|/);
    expect(text).not.toContain('\u001b');
  });

  it('a terminal obeys none of them, and they stay on their line', () => {
    for (const lines of [findingList(answer([hostile], { team: evil })), findingPage(answer([hostile]), hostile, [])]) {
      expect(lines.join('\n')).not.toContain('\u001b');
      expect(lines.filter((line) => line.startsWith('| <script>'))).toEqual([]);
    }
  });

  it('a message has at most ten findings, and all that a figure needs', () => {
    const many = Array.from({ length: 14 }, (_, n) => finding({ number: n + 1 }));
    const lines = findingMessage(answer(many, { shownMax: 10 }), 'slack', { command, mark: 'DEMO  ' });
    expect(lines).toHaveLength(12);
    expect(lines[0]).toContain('DEMO');
    const filter = { words: 'of idle', keeps: () => true };
    expect(findingMessage(answer(many), 'slack', { command, filter }).at(-1)).toContain(
      '; 6 GPUs, findings `of idle`; last',
    );
    expect(lines.at(-1)).toBe(
      '4 more; 6 GPUs; last 30 days; $1,000 paid, billed; 96 % of held GPU time known; as of 2026-03-09 00:00 UTC; `bursar findings`',
    );
  });
});

it('names the dearest of those that are not shown: safe first leaves them for later', () => {
  const some = Array.from({ length: 9 }, (_, index) =>
    finding({ number: index + 1, key: `k${index}`, usdMicros: BigInt(index + 1) * 1000n * USD, ...SURE }),
  );
  const lines = findingList(answer(some, { shownMax: 5 }));
  const at = lines.indexOf('4 more: bursar findings --all');
  expect(lines[at + 1]).toMatch(/^The dearest of them: F-9 .*; F-8 .*; F-7 [^;]*$/);
  expect(findingList(answer(some.slice(0, 5), { shownMax: 5 })).join('\n')).not.toMatch(/dearest/);
});
