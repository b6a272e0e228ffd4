import type { FindingRecord } from '../facts/finding-record.ts';
import type { Finding, FindingState } from '../facts/finding.ts';
import { gpuSeconds, isoTime } from './figures.ts';
import type { FindingsAnswer, FindingSum } from './finding-answer.ts';
import { smallBelowUsdMicros, sumOf } from './finding-answer.ts';
import { ownerWords } from './finding-words.ts';

const text = (micros: bigint | null): string | null => (micros === null ? null : String(micros));

/** The list as `bursar findings --json` gives it: every finding, in order, and what these can reach together. */
export function findingsJson(
  answer: FindingsAnswer,
  findings: readonly Finding[],
  folded: readonly Finding[] = [],
): unknown {
  const small = folded.filter(({ state }) => TO_DO.includes(state));
  return {
    asOf: isoTime(answer.asOf),
    asOfBy: answer.asOfBy,
    window: {
      from: isoTime(answer.window.from),
      until: isoTime(answer.window.until),
      ledgerDays: answer.window.ledgerDays,
    },
    team: answer.team ?? null,
    paidUsdMicros: text(answer.paidUsdMicros),
    wasteUsdMicros: Object.fromEntries(Object.entries(answer.wasteUsdMicros).map(([name, usd]) => [name, String(usd)])),
    basisUsdMicros: Object.fromEntries([...answer.usdMicrosByBasis].map(([name, usd]) => [name, String(usd)])),
    unpricedSeconds: gpuSeconds(answer.unpricedUnits),
    knownSeconds: gpuSeconds(answer.knownUnits),
    heldSeconds: gpuSeconds(answer.heldUnits),
    sum: sumJson(sumOf(findings)),
    smallBelowUsdMicros: String(smallBelowUsdMicros(answer)),
    findings: findings.map(findingJson),
    small: { count: small.length, ...(sumJson(sumOf(small)) as object) },
    names: namesOf([...answer.findings, ...answer.hiddenPrice]),
    setAside: answer.setAside.length,
    hidden: answer.hiddenPrice.length,
    numbers: answer.numbers,
  };
}

const TO_DO: readonly FindingState[] = ['open', 'accepted', 'back'];

/** What a list can be narrowed by. */
function namesOf(findings: readonly Finding[]): unknown {
  const listed = (of: (finding: Finding) => string | null): string[] =>
    [...new Set(findings.flatMap((finding) => of(finding) ?? []))].toSorted();
  return {
    categories: listed(({ category }) => category),
    detectors: listed(({ detector }) => detector),
    teams: listed(({ team }) => team),
    owners: listed((finding) => finding.assignedTo ?? ownerWords(finding)),
  };
}

function sumJson({ cashUsdMicros, capacityUnits, cashIfRentedUsdMicros, unknownUsdMicros }: FindingSum): unknown {
  return {
    cashUsdMicros: { low: String(cashUsdMicros.low), high: String(cashUsdMicros.high) },
    capacityGpuSeconds: { low: gpuSeconds(capacityUnits.low), high: gpuSeconds(capacityUnits.high) },
    cashIfRentedUsdMicros: String(cashIfRentedUsdMicros),
    unknownUsdMicros: String(unknownUsdMicros),
  };
}

export function findingJson(finding: Finding): unknown {
  const { cashUsdMicros, capacityUnits } = finding;
  return {
    id: finding.number === null ? null : `F-${finding.number}`,
    key: finding.key,
    detector: finding.detector,
    category: finding.category,
    factor: finding.factor,
    state: finding.state,
    exemptUntil: finding.exemptUntil,
    stateReason: finding.stateReason,
    firstSeenAt: isoTime(finding.firstSeenAt),
    team: finding.team,
    user: finding.user,
    assignedTo: finding.assignedTo,
    subject: finding.ownerSubject,
    what: finding.what,
    because: finding.because,
    fix: finding.fix,
    unless: finding.unless,
    basis: finding.basis,
    blastRadius: finding.blastRadius,
    blast: finding.blast,
    effort: finding.effort,
    kind: finding.kind,
    usdMicros: text(finding.usdMicros),
    cashUsdMicros: { low: String(cashUsdMicros.low), high: String(cashUsdMicros.high) },
    capacityGpuSeconds: { low: gpuSeconds(capacityUnits.low), high: gpuSeconds(capacityUnits.high) },
    cashIfRentedUsdMicros: String(finding.cashIfRentedUsdMicros),
    gpuSeconds: gpuSeconds(finding.gpuUnits),
    liveSince: finding.liveSince === null ? null : isoTime(finding.liveSince),
    usdMicrosPerHour: text(finding.usdMicrosPerHour),
    spark: finding.spark,
    ...(finding.subjectsOfOthers !== undefined && { subjectsOfOthers: finding.subjectsOfOthers }),
  };
}

/** What is kept of a finding, with its history. */
export function recordJson(record: FindingRecord): object {
  return {
    id: `F-${record.number}`,
    key: record.key,
    what: record.what,
    state: record.state,
    exemptUntil: record.until,
    stateReason: record.reason,
    by: record.by,
    assignedTo: record.assignedTo,
    firstSeenAt: record.firstSeenAt,
    lastSeenAt: record.lastSeenAt,
  };
}
