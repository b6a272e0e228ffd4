import { gpuSeconds, isoTime } from '../figures.ts';
import type { OverviewAnswer, OverviewSum } from './overview-answer.ts';

/** The overview for programs: money as strings of micros, null where nobody knows. */
export function overviewJson(answer: OverviewAnswer): unknown {
  const { window, before, books } = answer;
  return {
    asOf: isoTime(answer.asOf),
    asOfBy: answer.asOfBy,
    isDemo: answer.isDemo,
    team: answer.team ?? null,
    window: { from: isoTime(window.from), until: isoTime(window.until), ledgerDays: window.ledgerDays },
    before: {
      from: isoTime(before.from),
      until: isoTime(before.until),
      isKnown: before.isKnown,
      ...(answer.earlier !== undefined && { sum: sumJson(answer.earlier) }),
    },
    stepSeconds: answer.stepSeconds,
    ...sumJson(answer.now),
    basisUsdMicros: Object.fromEntries([...answer.basisUsdMicros].map(([basis, micros]) => [basis, String(micros)])),
    books: { ...books, differenceUsdMicros: text(books.differenceUsdMicros) },
    sources: answer.sources.map(({ coveredUntil, ...source }) => ({
      ...source,
      coveredUntil: coveredUntil === null ? null : isoTime(coveredUntil),
    })),
    verdict: answer.verdict,
  };
}

function sumJson(sum: OverviewSum) {
  return {
    paidUsdMicros: text(sum.paidUsdMicros),
    computedPermille: sum.computedPermille,
    unknownPermille: sum.unknownPermille,
    unattributedPermille: sum.unattributedPermille ?? null,
    gpuSeconds: gpuSeconds(sum.gpuUnits),
    unpricedSeconds: gpuSeconds(sum.unpricedUnits),
    steps: sum.steps.map(({ from, paidUsdMicros, computedPermille, isEstimated }) => ({
      from: isoTime(from),
      paidUsdMicros: text(paidUsdMicros),
      computedPermille,
      isEstimated,
    })),
  };
}

function text(micros: bigint | null): string | null {
  return micros === null ? null : String(micros);
}
