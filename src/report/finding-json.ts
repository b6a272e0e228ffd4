import type { FindingChange, FindingRecord } from '../facts/finding-record.ts';
import type { Finding } from '../facts/finding.ts';
import { gpuSeconds, isoTime } from './figures.ts';
import type { FindingsAnswer, FindingSum } from './finding-answer.ts';
import { smallBelowUsdMicros } from './finding-answer.ts';

const text = (micros: bigint | null): string | null => (micros === null ? null : String(micros));

/** The list as `bursar findings --json` gives it: every finding, in order. */
export function findingsJson(answer: FindingsAnswer, findings: readonly Finding[]): unknown {
  return {
    asOf: isoTime(answer.asOf),
    asOfBy: answer.asOfBy,
    window: { from: isoTime(answer.window.from), until: isoTime(answer.window.until) },
    team: answer.team ?? null,
    paidUsdMicros: text(answer.paidUsdMicros),
    wasteUsdMicros: Object.fromEntries(Object.entries(answer.wasteUsdMicros).map(([name, usd]) => [name, String(usd)])),
    basisUsdMicros: Object.fromEntries([...answer.usdMicrosByBasis].map(([name, usd]) => [name, String(usd)])),
    knownSeconds: gpuSeconds(answer.knownUnits),
    heldSeconds: gpuSeconds(answer.heldUnits),
    sum: sumJson(answer.sum),
    smallBelowUsdMicros: String(smallBelowUsdMicros(answer)),
    findings: findings.map(findingJson),
    setAside: answer.setAside.length,
    hidden: answer.hiddenPrice.length,
    numbers: answer.numbers,
  };
}

function sumJson({ cashUsdMicros, capacityUnits, unknownUsdMicros }: FindingSum): unknown {
  return {
    cashUsdMicros: { low: String(cashUsdMicros.low), high: String(cashUsdMicros.high) },
    capacityGpuSeconds: { low: gpuSeconds(capacityUnits.low), high: gpuSeconds(capacityUnits.high) },
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
    gpuSeconds: gpuSeconds(finding.gpuUnits),
    liveSince: finding.liveSince === null ? null : isoTime(finding.liveSince),
    usdMicrosPerHour: text(finding.usdMicrosPerHour),
    spark: finding.spark,
  };
}

/** What is kept of a finding, with its history. */
export function recordJson(record: FindingRecord, history: readonly FindingChange[]): unknown {
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
    history,
  };
}
