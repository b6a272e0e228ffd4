import type { Finding } from '../../facts/finding.ts';
import { gpuSeconds, isoTime } from '../figures.ts';
import type { FindingsAnswer, FindingSum } from '../finding-answer.ts';
import { isSmall, sumOf } from '../finding-answer.ts';
import { findingJson } from '../finding-json.ts';

const FIRST_SHOWN = 5;
/** Up to this blast radius a fix is a line or a word, and nobody's running work is touched. */
export const GENTLE_RADIUS_MAX = 1;

/** What to do first and what all of it comes to, by category: cash and capacity each by itself. */
export function firstFindingsJson(answer: FindingsAnswer): unknown {
  const { findings, window } = answer;
  const worth = findings.filter((finding) => !isSmall(finding, answer));
  const categories = [...new Set(findings.map(({ category }) => category))];
  const of = (keeps: (finding: Finding) => boolean): unknown => sumJson(sumOf(findings.filter(keeps)));
  return {
    window: { from: isoTime(window.from), until: isoTime(window.until), ledgerDays: window.ledgerDays },
    count: worth.length,
    sum: sumJson(answer.sum),
    gentle: of(({ blastRadius }) => blastRadius <= GENTLE_RADIUS_MAX),
    byCategory: Object.fromEntries(categories.map((category) => [category, of((each) => each.category === category)])),
    first: worth.slice(0, FIRST_SHOWN).map(findingJson),
  };
}

function sumJson({ cashUsdMicros, capacityUnits }: FindingSum): unknown {
  return {
    cashUsdMicros: { low: String(cashUsdMicros.low), high: String(cashUsdMicros.high) },
    capacityGpuSeconds: { low: gpuSeconds(capacityUnits.low), high: gpuSeconds(capacityUnits.high) },
  };
}
