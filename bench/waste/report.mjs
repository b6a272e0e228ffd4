/** The tables of the benchmark, and which bars are reached. */
import { decimals, percent, section, table } from '../demo/words.mjs';

/** @typedef {import('./bench.mjs').Result} Result */
/** @typedef {{ name: string, bar: string, value: number, write: (value: number) => string, isReached: boolean }} Bar */

/** The bars: what a figure must be at least or at most. A part of nothing has no bar to reach. @param {Result} result @returns {Bar[]} */
export function barsOf(result) {
  return barsAndFigures(result).map((bar) =>
    Number.isNaN(bar.value) ? { ...bar, write: () => 'none', isReached: true } : bar,
  );
}

/** @param {Result} result @returns {Bar[]} */
function barsAndFigures({ scores, said, sums }) {
  const least = (/** @type {string} */ name, /** @type {number} */ value, /** @type {number} */ bar) => ({
    name,
    bar: `≥ ${bar}`,
    value,
    write: (/** @type {number} */ figure) => decimals(figure, 3),
    isReached: value >= bar,
  });
  const none = (/** @type {string} */ name, /** @type {number} */ value) => ({
    name,
    bar: '0',
    value,
    write: String,
    isReached: value === 0,
  });
  const lostOff = scores.lostRatio - 1;
  const unknownOff = scores.unknownShare - scores.lossInjected;
  return [
    least('idle precision', scores.idlePrecision, 0.98),
    least('idle recall', scores.idleRecall, 0.95),
    least('starved recall', scores.starvedRecall, 0.9),
    least('right cause', scores.rightCause, 0.85),
    {
      name: 'lost money',
      bar: 'within 10 %',
      value: lostOff,
      // Lost money where the truth has none is a fault, and no percentage.
      write: (figure) =>
        figure === Infinity ? 'some of none' : `${figure > 0 ? '+' : '−'}${percent(Math.abs(figure))}`,
      isReached: Math.abs(lostOff) <= 0.1,
    },
    {
      name: 'unknown above the loss injected',
      bar: '≤ 2 points',
      value: unknownOff,
      write: (figure) => decimals(figure * 100, 1),
      isReached: unknownOff <= 0.02,
    },
    none('Σ waterfall − paid, micro-dollars', Number(sums.offMicros) + Number(sums.checkMicros) + sums.faults),
    none('categories claimed above the waterfall', said.overclaimed.length),
    none('findings on missing telemetry', said.onMissing.length),
    none('findings of hard negatives', said.hardNegatives.length),
  ];
}

/** @param {readonly Result[]} results @param {{ command: string, size: string }} run @returns {string} */
export function report(results, { command, size }) {
  return section('Waste, against a demo that knows the truth', command, [
    `Scores on the demo (${size}), not accuracy in the field: worlds made from the printed one by changing numbers, seeds from the clock, samples every five minutes unless the name says otherwise. Money of each holder, GPU and hour; what the world calls arguable counts neither way. Lost money is compared by holder, where activity was sent. Beside ours the naive rule: GPU_UTIL (of a MIG slice, which has none, the engine's activity) below 5 % on average for an hour makes the whole hour idle. A figure in bold misses its bar.`,
    scoresTable(results),
    idleTable(results),
    'How far each falls against the first world, in points (mean of the seeds):',
    fallTable(results),
    'What is found of each true reason, and how right the findings of each detector are, over all worlds. Of the money in an hour, as much as the truth has of its category is true, then what is arguable there is neither, the rest is wrong:',
    reasonsTable(results),
    detectorTable(results),
    categoryTable(results),
    verdictWords(results),
    ...wordsOf(results),
  ]);
}

/** @param {readonly Result[]} results */
function scoresTable(results) {
  const [first] = results;
  if (first === undefined) return 'No results.';
  const bars = barsOf(first);
  return table(
    ['world', 'seed', ...bars.map(({ name }) => name)],
    [
      ['bar', '', ...bars.map(({ bar }) => bar)],
      ...results.map((result) => [
        result.world,
        result.seed,
        ...barsOf(result).map(({ value, write, isReached }) => (isReached ? write(value) : `**${write(value)}**`)),
      ]),
    ],
  );
}

/** @param {readonly Result[]} results */
function idleTable(results) {
  const cell = (/** @type {number} */ value) => decimals(value, 3);
  return table(
    [
      'world',
      'seed',
      'idle precision',
      'naive rule',
      'idle recall',
      'naive rule',
      'called idle that is idle or arguable',
      'naive rule',
      'precision in hours without arguable rest',
      'naive rule',
      'where activity was sent',
      'starved recall where activity was sent',
      'starved precision',
      'unknown',
      'loss injected',
      'lost, truth',
      'lost astray',
      'idle money taken that is a hard negative',
      'that is between requests',
    ],
    results.map(({ world, seed, scores, said }) => [
      world,
      seed,
      cell(scores.idlePrecision),
      cell(scores.naivePrecision),
      cell(scores.idleRecall),
      cell(scores.naiveRecall),
      cell(scores.calledRight),
      cell(scores.naiveCalledRight),
      cell(scores.idlePrecisionSharp),
      cell(scores.naivePrecisionSharp),
      cell(scores.idleRecallSent),
      cell(scores.starvedRecallSent),
      cell(scores.starvedPrecision),
      percent(scores.unknownShare),
      percent(scores.lossInjected),
      dollars(scores.lostUsd),
      percent(scores.lostAstray),
      percent(said.hardNegativePart),
      percent(said.betweenRequestsPart),
    ]),
  );
}

/** Of the seeds that have the figure. @param {readonly number[]} values */
function mean(values) {
  const figures = values.filter(Number.isFinite);
  return figures.reduce((sum, value) => sum + value, 0) / figures.length;
}

/** @param {readonly Result[]} results */
function fallTable(results) {
  const names = [...new Set(results.map(({ world }) => world))];
  const figures = /** @type {const} */ ([
    'idlePrecision',
    'idleRecall',
    'starvedRecall',
    'rightCause',
    'naivePrecision',
    'naiveRecall',
  ]);
  const of = (/** @type {string | undefined} */ world, /** @type {(typeof figures)[number]} */ figure) =>
    mean(results.filter((result) => result.world === world).map(({ scores }) => scores[figure]));
  return table(
    ['world', 'idle precision', 'idle recall', 'starved recall', 'right cause', 'naive precision', 'naive recall'],
    names.slice(1).map((world) => [
      world,
      ...figures.map((figure) => {
        const points = (of(world, figure) - of(names[0], figure)) * 100;
        return `${points > 0 ? '+' : points < 0 ? '−' : ''}${decimals(Math.abs(points), 1)}`;
      }),
    ]),
  );
}

/** @param {readonly Result[]} results */
function reasonsTable(results) {
  /** @type {Map<string, { usd: number, found: number, beside: number }>} */
  const sums = new Map();
  const add = (/** @type {string} */ reason, /** @type {number[]} */ [usd = 0, found = 0, beside = 0]) => {
    const sum = sums.get(reason) ?? { usd: 0, found: 0, beside: 0 };
    sums.set(reason, { usd: sum.usd + usd, found: sum.found + found, beside: sum.beside + beside });
  };
  const taken = (/** @type {string} */ reason) =>
    results.reduce((sum, { said }) => sum + (said.byReason.get(reason) ?? 0), 0);
  for (const { scores } of results) {
    for (const { reason, usd, found, naive } of scores.idleReasons) add(`idle: ${reason}`, [usd, found, naive]);
    for (const { reason, usd, found, right } of scores.causes) add(`starved: ${reason}`, [usd, found, right]);
  }
  return table(
    [
      'true reason',
      'money',
      'found in its category',
      'claimed by findings',
      'naive rule (idle), with its cause (starved)',
    ],
    [...sums]
      .toSorted(([a], [b]) => a.localeCompare(b))
      .map(([reason, { usd, found, beside }]) => [
        reason,
        dollars(usd),
        percent(found / usd),
        percent(taken(reason) / usd),
        percent(beside / usd),
      ]),
  );
}

/** @param {number} usd */
const dollars = (usd) => `$${Math.round(usd).toLocaleString('en-US')}`;

/** How right the findings of each detector are, in the money of hours whose truth is known. @param {readonly Result[]} results */
function detectorTable(results) {
  /** @type {Map<string, import('./said.mjs').ByDetector>} */
  const sums = new Map();
  for (const row of results.flatMap(({ said }) => said.byDetector)) {
    const sum = sums.get(row.detector);
    if (sum === undefined) {
      sums.set(row.detector, { ...row, rest: new Map(row.rest) });
      continue;
    }
    for (const figure of /** @type {const} */ (['findings', 'usd', 'claimedUsd', 'trueUsd', 'arguableUsd']))
      sum[figure] += row[figure];
    for (const [reason, money] of row.rest) sum.rest.set(reason, (sum.rest.get(reason) ?? 0) + money);
  }
  const restsOn = (/** @type {Map<string, number>} */ rest) => {
    const total = [...rest.values()].reduce((sum, usd) => sum + usd, 0);
    return [...rest]
      .toSorted(([, a], [, b]) => b - a)
      .slice(0, 4)
      .map(([reason, usd]) => `${reason} ${percent(usd / total)}`)
      .join(', ');
  };
  return table(
    [
      'precision of findings by detector',
      'findings',
      'money',
      'true',
      'arguable',
      'wrong',
      'what stood in those hours beside computing',
    ],
    [...sums.values()].map(({ detector, findings, usd, claimedUsd, trueUsd, arguableUsd, rest }) => [
      detector,
      findings,
      dollars(usd),
      percent(trueUsd / claimedUsd),
      percent(arguableUsd / claimedUsd),
      percent(Math.max(0, claimedUsd - trueUsd - arguableUsd) / claimedUsd),
      rest.size === 0 ? '–' : restsOn(rest),
    ]),
  );
}

/** The waterfall is ours, so that no claim beyond it shows only that nothing is claimed twice; the truth is the world's. @param {readonly Result[]} results */
function categoryTable(results) {
  const rows = results.flatMap(({ world, seed, said }) => said.byCategory.map((row) => ({ world, seed, ...row })));
  const names = [...new Set(rows.map(({ category }) => category))];
  const sum = (/** @type {string} */ name, /** @type {'claimedUsd' | 'oursUsd' | 'trueUsd'} */ figure) =>
    rows.filter(({ category }) => category === name).reduce((usd, row) => usd + row[figure], 0);
  // Nothing is unknown to the truth but bills without a cause.
  const beyond = rows.filter(({ category, claimedUsd, trueUsd }) => category !== 'unknown' && claimedUsd > trueUsd);
  return [
    table(
      ['category', 'claimed by findings', "in Bursar's waterfall", 'in the truth'],
      names.map((name) => [
        name,
        .../** @type {const} */ (['claimedUsd', 'oursUsd', 'trueUsd']).map((figure) => dollars(sum(name, figure))),
      ]),
    ),
    beyond.length === 0
      ? 'No category is claimed above what the truth has of it.'
      : `Claimed above what the truth has: ${beyond.map(({ world, seed, category, claimedUsd, trueUsd }) => `${world}, seed ${seed}: ${category} ${dollars(claimedUsd)} of ${dollars(trueUsd)}`).join('; ')}.`,
  ].join('\n\n');
}

/** @param {readonly Result[]} results */
function verdictWords(results) {
  const verdicts = results.flatMap((result) => result.verdicts);
  const sum = (/** @type {typeof verdicts} */ some) => some.reduce((usd, verdict) => usd + verdict.usd, 0);
  if (verdicts.length === 0) return 'No finding about input names a cause.';
  const right = verdicts.filter(({ isRight }) => isRight);
  const wrong = verdicts.filter(({ isRight }) => !isRight).toSorted((a, b) => b.usd - a.usd);
  return [
    `Cores or storage, by the world's own numbers: ${right.length} of ${verdicts.length} findings about input name the larger cause, with ${percent(sum(right) / sum(verdicts))} of their money.`,
    ...wrong
      .slice(0, 5)
      .map(
        ({ what, cpuPart, said }) => `- wrong: ${what} (said ${said}; cores are ${percent(cpuPart)} of the waiting)`,
      ),
  ].join('\n');
}

/** What is wrong, by name, at most ten of each kind. @param {readonly Result[]} results @returns {string[]} */
function wordsOf(results) {
  const told = results.flatMap(({ world, seed, said }) =>
    Object.entries({
      'claims more than the waterfall has': said.overclaimed,
      'rests on missing telemetry': said.onMissing,
      'is of a hard negative': said.hardNegatives,
    }).flatMap(([fault, names]) => names.slice(0, 10).map((name) => `- ${world}, seed ${seed}, ${fault}: ${name}`)),
  );
  return told.length === 0 ? [] : [told.join('\n')];
}
