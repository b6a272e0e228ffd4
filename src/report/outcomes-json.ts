import { gpuSeconds, isoTime } from './figures.ts';
import type { FinishedRuns, OutcomeFigures, OutcomeMoney, OutcomeRow, OutcomesAnswer } from './outcomes-answer.ts';
import { unitUsdMicros } from './outcomes-answer.ts';
import { csvLine } from './safe-text.ts';
import { knownActiveUsdMicros, quantityText } from './unit-figures.ts';

/** The answer for programs; money as strings of micros, prices of `per` units. */
export function outcomesJson(answer: OutcomesAnswer): unknown {
  const { window, before } = answer;
  return {
    asOf: isoTime(answer.asOf),
    by: answer.by,
    window: { from: isoTime(window.from), until: isoTime(window.until) },
    before: { from: isoTime(before.from), until: isoTime(before.until), isKnown: before.isKnown },
    alarms: answer.alarms.map(({ name, unit, per, now, before: earlier }) => ({
      rule: 'cost-growth',
      name,
      unit,
      per: String(per),
      now: figuresJson(now, per),
      before: figuresJson(earlier, per),
    })),
    rows: answer.rows.map(({ name, unit, per, now, before: earlier, sharedBy, weeks }) => ({
      name,
      unit,
      per: String(per),
      ...figuresJson(now, per),
      before: earlier === null ? null : figuresJson(earlier, per),
      sharedBy,
      weeklyUsdMicrosPer: weeks.map(micros),
    })),
    runs: answer.runs.map(({ name, now, before: earlier }) => ({
      name,
      ...runsJson(now),
      before: earlier === null ? null : runsJson(earlier),
    })),
    unclassified: { runs: answer.unclassified.runs, costUsdMicros: micros(answer.unclassified.usdMicros) },
    uncounted: answer.uncounted.map(({ name, team, usdMicros, gpuUnits }) => ({
      name,
      team,
      costUsdMicros: micros(usdMicros),
      heldSeconds: gpuSeconds(gpuUnits),
    })),
    unpaid: answer.unpaid.map(({ name, unit, quantityMillionths }) => ({
      name,
      unit,
      quantity: quantityText(quantityMillionths),
    })),
    teams: answer.teams.map(({ team, usdMicros, gpuUnits, computePermille }) => ({
      team,
      costUsdMicros: micros(usdMicros),
      heldSeconds: gpuSeconds(gpuUnits),
      computePermille,
    })),
    basisUsdMicros: Object.fromEntries(
      Object.entries(answer.basisUsdMicros).map(([name, each]) => [name, String(each)]),
    ),
    unpricedSeconds: gpuSeconds(answer.unpricedUnits),
  };
}

function micros(amount: bigint | null): string | null {
  return amount === null ? null : String(amount);
}

function moneyJson(paid: OutcomeMoney) {
  return {
    costUsdMicros: micros(paid.usdMicros),
    activeUsdMicros: micros(knownActiveUsdMicros(paid)),
    unknownUsdMicros: micros(paid.unknownUsdMicros),
    heldSeconds: gpuSeconds(paid.gpuUnits),
    computingSeconds: gpuSeconds(paid.computingUnits),
    unknownSeconds: gpuSeconds(paid.unknownUnits),
    unpricedSeconds: gpuSeconds(paid.unpricedUnits),
  };
}

function figuresJson({ quantityMillionths, paid, countedPermille }: OutcomeFigures, per: bigint) {
  return {
    quantity: quantityText(quantityMillionths),
    ...moneyJson(paid),
    allocationUsdMicrosPer: micros(unitUsdMicros(paid.usdMicros, quantityMillionths, per)),
    activeUsdMicrosPer: micros(unitUsdMicros(knownActiveUsdMicros(paid), quantityMillionths, per)),
    countedPermille,
  };
}

function runsJson({ runs, paid, medianUsdMicros, earlierUsdMicros, ...times }: FinishedRuns) {
  return {
    finished: runs,
    ...moneyJson(paid),
    medianUsdMicros: micros(medianUsdMicros),
    earlierLivesUsdMicros: micros(earlierUsdMicros),
    ...times,
  };
}

const COLUMNS = [
  'name',
  'unit',
  'per',
  'quantity',
  'costUsdMicros',
  'activeUsdMicros',
  'unknownUsdMicros',
  'heldSeconds',
  'allocationUsdMicrosPer',
  'activeUsdMicrosPer',
  'countedPermille',
  'quantityBefore',
  'costUsdMicrosBefore',
  'allocationUsdMicrosPerBefore',
];

/** RFC 4180: a line for each name and unit, finished runs under the unit `finished run`. */
export function outcomesCsv({ rows, runs }: OutcomesAnswer): string {
  const finished = runs.map(({ name, now, before }): OutcomeRow => ({
    name,
    unit: 'finished run',
    per: 1n,
    now: asFigures(now),
    before: before === null ? null : asFigures(before),
    sharedBy: null,
    weeks: [],
  }));
  const lines = [...rows, ...finished].map(({ name, unit, per, now, before }) =>
    csvLine([
      name,
      unit,
      per,
      quantityText(now.quantityMillionths),
      now.paid.usdMicros,
      knownActiveUsdMicros(now.paid),
      now.paid.unknownUsdMicros,
      gpuSeconds(now.paid.gpuUnits),
      unitUsdMicros(now.paid.usdMicros, now.quantityMillionths, per),
      unitUsdMicros(knownActiveUsdMicros(now.paid), now.quantityMillionths, per),
      now.countedPermille,
      before === null ? null : quantityText(before.quantityMillionths),
      before?.paid.usdMicros,
      before === null ? null : unitUsdMicros(before.paid.usdMicros, before.quantityMillionths, per),
    ]),
  );
  return [csvLine(COLUMNS), ...lines].join('');
}

function asFigures({ runs, paid }: FinishedRuns): OutcomeFigures {
  return { quantityMillionths: BigInt(runs) * 1_000_000n, paid, countedPermille: null };
}
