import { gpuSeconds, isoTime } from '../figures.ts';
import type { CategorySum } from '../look-screen.ts';
import type { Breakdown, BreakdownSum, StepSums } from './breakdown-answer.ts';

/** The breakdown for programs: money as strings of micros, null where nothing has a price or nobody knows. */
export function breakdownJson(answer: Breakdown): unknown {
  const { by, window, before, others } = answer;
  return {
    by,
    window: { from: isoTime(window.from), until: isoTime(window.until) },
    before: { from: isoTime(before.from), until: isoTime(before.until), isKnown: before.isKnown },
    price: answer.price,
    filter: answer.filter,
    stepSeconds: answer.stepSeconds,
    steps: answer.steps.map((from, place) => ({ from: isoTime(from), isEstimated: answer.estimated[place] ?? false })),
    stepsBefore: stepsJson(answer.stepsBefore),
    rows: answer.rows.map(({ values, ...sum }) => ({
      values: Object.fromEntries(by.map((name, place) => [name, values[place] ?? null])),
      ...sumJson(sum),
    })),
    others: others === undefined ? null : { groups: others.groups, ...sumJson(others) },
    total: sumJson(answer.total),
  };
}

function sumJson({ sum, beforeUsdMicros, computedPermille, computedBeforePermille, categories, steps }: BreakdownSum) {
  return {
    ...categoryJson(sum),
    beforeUsdMicros: text(beforeUsdMicros),
    computedPermille,
    computedBeforePermille,
    categories: Object.fromEntries([...categories].map(([category, each]) => [category, categoryJson(each)])),
    steps: stepsJson(steps),
  };
}

function categoryJson({ usdMicros, gpuUnits, unpricedUnits }: CategorySum) {
  return { usdMicros: text(usdMicros), gpuSeconds: gpuSeconds(gpuUnits), unpricedSeconds: gpuSeconds(unpricedUnits) };
}

function stepsJson({ usdMicros, gpuUnits }: StepSums) {
  return {
    usdMicros: usdMicros.map(text),
    gpuSeconds: gpuUnits.map((units) => (units === null ? null : gpuSeconds(units))),
  };
}

function text(micros: bigint | null): string | null {
  return micros === null ? null : String(micros);
}
