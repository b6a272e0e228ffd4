import { divideRounded } from '../../money/usd.ts';
import { gpuSeconds, isoTime, UNITS_PER_GPU } from '../figures.ts';
import type { CategorySum } from '../look-screen.ts';
import type { WhyAnswer } from './why-answer.ts';

/** The way of a figure for programs. */
export function whyJson(answer: WhyAnswer): unknown {
  const { window, others } = answer;
  return {
    window: { from: isoTime(window.from), until: isoTime(window.until) },
    filter: answer.filter,
    figure: sumJson(answer.figure),
    rows: answer.rows.map(({ sum, ...row }) => ({ ...row, ...sumJson(sum) })),
    others: others === undefined ? null : { subjects: others.subjects, ...sumJson(others.sum) },
    sharedUsdMicros: String(answer.sharedUsdMicros),
    differenceUsdMicros: String(answer.differenceUsdMicros),
    rules: answer.rules.map(({ rule, sum }) => ({ rule, ...sumJson(sum) })),
    categories: answer.categories.map(({ category, reason, sum }) => ({ category, reason, ...sumJson(sum) })),
    rates: answer.rates.map(({ sum, ...of }) => ({ ...of, ...sumJson(sum) })),
  };
}

/** The mean rate is of the time that has a price. */
function sumJson({ usdMicros, gpuUnits, unpricedUnits }: CategorySum) {
  const priced = gpuUnits - unpricedUnits;
  const perHour = usdMicros === null || priced <= 0n ? null : divideRounded(usdMicros * UNITS_PER_GPU * 3600n, priced);
  return {
    usdMicros: usdMicros === null ? null : String(usdMicros),
    gpuSeconds: gpuSeconds(gpuUnits),
    unpricedSeconds: gpuSeconds(unpricedUnits),
    usdMicrosPerGpuHour: perHour === null ? null : String(perHour),
  };
}
