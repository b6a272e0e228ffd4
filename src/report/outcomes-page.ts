import {
  counted,
  dollars,
  dollarsOf,
  duration,
  gpuHours,
  gpuHoursOf,
  minute,
  percentOfPermille,
  percentsOf,
} from './figures.ts';
import type { FinishedRuns, OutcomeFigures, OutcomeRow, OutcomesAnswer } from './outcomes-answer.ts';
import { COUNTED_PERMILLE_MIN, unitUsdMicros } from './outcomes-answer.ts';
import { safeText } from './safe-text.ts';
import { textTable } from './table.ts';
import type { TableColumn } from './table.ts';
import { activePrice, change, perWords, sparkline, unitPrice, unitWords, volume } from './unit-figures.ts';
import { windowWords } from './window-words.ts';

const ROWS_SHOWN = 30;
const UNCOUNTED_SHOWN = 5;
const TEAMS_SHOWN = 12;
const UNATTRIBUTED = 'unattributed';
const BASIS_WORDS: readonly (readonly [basis: string, words: string])[] = [
  ['billed', 'billed'],
  ['rate', 'by stated rates'],
  ['estimated', 'estimated, not billed'],
];

const left = (title: string): TableColumn => ({ align: 'left', title });
const right = (title: string): TableColumn => ({ align: 'right', title });

/** The screen: alarms, what a unit cost, what a run cost, what has no counter, and the teams' use beside it. */
export function outcomesPage(answer: OutcomesAnswer, dataFlag = ''): string[] {
  const isEmpty = answer.rows.length === 0 && answer.runs.length === 0;
  return [
    ...alarmLines(answer),
    `Outcomes by ${answer.by}, ${windowWords(answer)}, to ${minute(answer.asOf)} UTC; ${beforeWords(answer)}`,
    ...(isEmpty ? nothingLines(answer, dataFlag) : []),
    ...unitLines(answer),
    ...runLines(answer),
    ...gapLines(answer),
    ...teamLines(answer),
    '',
    'allocation: all money of what was held for it, availability included; active: only seconds that computed. Unknown seconds are not active.',
    ...basisLines(answer),
  ];
}

function beforeWords({ before }: OutcomesAnswer): string {
  const span = `${minute(before.from)} to ${minute(before.until)}`;
  return before.isKnown ? `before: ${span}` : `before (${span}) there are not facts for all of it: no alarm is raised`;
}

function alarmLines({ alarms }: OutcomesAnswer): string[] {
  return alarms.map((alarm) => {
    const [now, before] = [priceOf(alarm.now, alarm.per), priceOf(alarm.before, alarm.per)];
    const cost = change(alarm.now.paid.usdMicros, alarm.before.paid.usdMicros);
    const traffic = change(alarm.now.quantityMillionths, alarm.before.quantityMillionths);
    const price = now === null ? 'nothing was served any more' : `${unitPrice(before)} → ${unitPrice(now)}`;
    const unit = perWords(alarm.unit, alarm.per);
    return `ALARM  ${nameText(alarm.name)}: cost ${cost} to ${dollars(alarm.now.paid.usdMicros)}, traffic ${traffic}: ${price} per ${unit}`;
  });
}

function priceOf({ paid, quantityMillionths }: OutcomeFigures, per: bigint): bigint | null {
  return unitUsdMicros(paid.usdMicros, quantityMillionths, per);
}

function nothingLines({ unit }: OutcomesAnswer, dataFlag: string): string[] {
  if (unit !== undefined) return [`  No ${safeText(unit)} was counted in it: bursar work${dataFlag} lists what was.`];
  return [
    '  No work is known in it and no training run finished. Counters of vLLM, Triton, SGLang and TGI come with a Prometheus or scrape source;',
    `  anything else with bursar import work FILE${dataFlag}, or bursar work record --run R --unit step --quantity 1200${dataFlag}`,
  ];
}

function unitLines({ rows, by }: OutcomesAnswer): string[] {
  if (rows.length === 0) return [];
  const columns = [
    left(by === 'unit' ? '' : by),
    right('volume'),
    left('of'),
    right('cost'),
    right('GPU-hours'),
    right('allocation'),
    right('active'),
    right('unknown'),
    right('before'),
    right('change'),
    left('by week'),
    left(''),
  ];
  let last: string | undefined;
  const cells = rows.slice(0, ROWS_SHOWN).map((row) => {
    const name = nameText(row.name);
    const isSame = name === last;
    last = name;
    return unitCells(row, by === 'unit' || isSame ? '' : name);
  });
  const more = rows.length - ROWS_SHOWN;
  return [
    '',
    ...textTable(columns, cells),
    ...(more > 0 ? [`and ${counted(more, 'row')} more: --json or --csv has them all`] : []),
  ];
}

function unitCells({ unit, per, now, before, sharedBy, weeks }: OutcomeRow, name: string): string[] {
  const { paid, quantityMillionths, countedPermille } = now;
  const price = priceOf(now, per);
  const earlier = before === null ? null : priceOf(before, per);
  const [, unknown = ''] = percentsOf([
    (paid.usdMicros ?? 0n) - (paid.unknownUsdMicros ?? 0n),
    paid.unknownUsdMicros ?? 0n,
  ]);
  const notes = [
    countedPermille !== null && countedPermille < COUNTED_PERMILLE_MIN
      ? `counted ${percentOfPermille(countedPermille)} of the time`
      : '',
    sharedBy === null ? '' : `shares its GPUs: split by ${unitWords(sharedBy, 1n)}`,
    paid.unpricedUnits > 0n ? `${gpuHours(paid.unpricedUnits)} have no price` : '',
  ];
  return [
    name,
    volume(quantityMillionths, per),
    unitWords(unit, per),
    dollars(paid.usdMicros),
    gpuHoursOf([paid.gpuUnits]).total,
    quantityMillionths === 0n ? 'no work' : unitPrice(price),
    quantityMillionths === 0n ? '' : activePrice(paid, quantityMillionths, per),
    unknown === '0 %' ? '' : unknown,
    earlier === null ? '' : unitPrice(earlier),
    change(price, earlier),
    sparkline(weeks),
    notes.filter((note) => note !== '').join('; '),
  ];
}

function runLines({ runs, by, unclassified }: OutcomesAnswer): string[] {
  const note =
    unclassified.runs === 0
      ? []
      : [
          `Without a class, and so not in it: ${counted(unclassified.runs, 'finished job')}, ${dollars(unclassified.usdMicros)}; a label class or a rule gives one`,
        ];
  if (runs.length === 0) return note.length === 0 ? [] : ['', ...note];
  const columns = [
    left(by === 'run' ? 'runs like' : by === 'unit' ? 'class' : 'team'),
    right('finished'),
    right('cost'),
    right('GPU-hours'),
    right('a run'),
    right('active'),
    right('median'),
    right('lives before'),
    right('before'),
    right('change'),
    left('asked → first GPU → done (median)'),
  ];
  return [
    '',
    'Finished training and batch runs, each with all its lives',
    ...textTable(
      columns,
      runs.slice(0, ROWS_SHOWN).map(({ name, now, before }) => runCells(nameText(name), now, before)),
    ),
    ...note,
  ];
}

function runCells(name: string, now: FinishedRuns, before: FinishedRuns | null): string[] {
  const each = (runs: FinishedRuns, micros: bigint | null): bigint | null =>
    unitUsdMicros(micros, BigInt(runs.runs) * 1_000_000n, 1n);
  const price = each(now, now.paid.usdMicros);
  const earlier = before === null ? null : each(before, before.paid.usdMicros);
  return [
    name,
    String(now.runs),
    dollars(now.paid.usdMicros),
    gpuHoursOf([now.paid.gpuUnits]).total,
    unitPrice(price),
    activePrice(now.paid, BigInt(now.runs) * 1_000_000n, 1n),
    unitPrice(now.medianUsdMicros),
    now.earlierUsdMicros === null ? '' : dollars(now.earlierUsdMicros),
    earlier === null ? '' : unitPrice(earlier),
    change(price, earlier),
    `${now.medianWaitSeconds === null ? 'not known' : duration(now.medianWaitSeconds)} → ${duration(now.medianRunSeconds)}`,
  ];
}

/** Cost without work and work without cost: shown as such, in no price. */
function gapLines({ uncounted, unpaid }: OutcomesAnswer): string[] {
  const lines: string[] = [];
  if (uncounted.length > 0) {
    const { total, parts } = dollarsOf(uncounted.map(({ usdMicros }) => usdMicros));
    lines.push('', `Serving without a counter: ${total}, in no price above`);
    for (const [place, each] of uncounted.slice(0, UNCOUNTED_SHOWN).entries()) {
      lines.push(
        `  ${parts[place] ?? ''}  ${safeText(each.name)}  (${nameText(each.team)}, ${gpuHours(each.gpuUnits)})`,
      );
    }
    if (uncounted.length > UNCOUNTED_SHOWN) lines.push(`  and ${uncounted.length - UNCOUNTED_SHOWN} more`);
    lines.push(
      '  no counter: let your Prometheus scrape /metrics of the model server, or name it under scrape: in bursar.yaml',
    );
  }
  if (unpaid.length > 0) {
    const told = unpaid
      .slice(0, UNCOUNTED_SHOWN)
      .map(
        ({ name, unit, quantityMillionths }) =>
          `${volume(quantityMillionths, 1n)} ${unitWords(unit, 1n)} of ${nameText(name)}`,
      );
    lines.push('', `Work without a cost: ${told.join('; ')}${unpaid.length > UNCOUNTED_SHOWN ? '; …' : ''}`);
    lines.push(
      `  nothing that was held is known to have done it: a job id, a pod, or a run that is named like its job ties it`,
    );
  }
  return lines;
}

function teamLines({ teams }: OutcomesAnswer): string[] {
  const shown = teams.filter(({ gpuUnits }) => gpuUnits > 0n).slice(0, TEAMS_SHOWN);
  if (shown.length === 0) return [];
  const told = shown.map(
    ({ team, computePermille }) =>
      `${nameText(team)} ${computePermille === null ? 'unknown' : percentOfPermille(computePermille)}`,
  );
  return ['', `Compute share by team, of what is known: ${told.join(', ')}`];
}

function basisLines({ basisUsdMicros, unpricedUnits }: OutcomesAnswer): string[] {
  const parts = BASIS_WORDS.flatMap(([basis, words]) => {
    const micros = basisUsdMicros[basis] ?? 0n;
    return micros === 0n ? [] : [{ micros, words }];
  });
  const { parts: shown } = dollarsOf(parts.map(({ micros }) => micros));
  return [
    ...(parts.length === 0
      ? []
      : [`prices rest on: ${parts.map(({ words }, place) => `${shown[place] ?? ''} ${words}`).join('; ')}`]),
    ...(unpricedUnits > 0n ? [`${gpuHours(unpricedUnits)} have no price and are in no sum`] : []),
  ];
}

function nameText(name: string | null): string {
  return name === null ? UNATTRIBUTED : safeText(name);
}
