import type { StatementLine } from '../facts/statement-record.ts';
import { gpuSeconds } from './figures.ts';
import { csvLine } from './safe-text.ts';
import type {
  Amount,
  Mover,
  OverviewRow,
  StatementAnswer,
  StatementOverview,
  StatementPart,
} from './statement-answer.ts';

/** A statement for programs; the shape others build on. Money is text in micros, amounts to pay text in cents. */
export function statementJson(answer: StatementAnswer): unknown {
  const { total, before, adjustments, basisUsdMicros, coverage } = answer;
  return {
    team: answer.team,
    month: answer.month,
    kind: answer.kind,
    status: answer.status,
    number: answer.number,
    issuedAt: answer.issuedAt,
    issuer: answer.issuer,
    costCentre: answer.costCentre,
    accountCode: answer.accountCode,
    lead: answer.lead,
    window: { from: answer.from, until: answer.until },
    missingDays: answer.missingDays ?? null,
    asOf: answer.asOf,
    total: amountJson(total),
    amountCents: answer.amountCents,
    adjustments: adjustments.map(({ month, usdMicros, amountCents, reason }) => ({
      month,
      usdMicros,
      amountCents,
      reason,
    })),
    dueCents: adjustments.reduce((sum, { amountCents }) => sum + amountCents, answer.amountCents),
    before:
      before === null
        ? null
        : {
            month: before.month,
            window: { from: before.from, until: before.until },
            missingDays: before.missingDays,
            usdMicros: before.usdMicros,
            computeSharePermille: before.computeSharePermille,
          },
    components: answer.components.map(partJson),
    classes: answer.classes.map(partJson),
    projects: answer.projects.map(partJson),
    workloads: answer.workloads.map(({ name, ...amount }) => ({ name, ...amountJson(amount) })),
    shared: answer.shared,
    categories: Object.fromEntries(
      Object.entries(answer.categories).map(([name, amount]) => [name, amountJson(amount)]),
    ),
    computeSharePermille: answer.computeSharePermille,
    computeShareHoursPermille: answer.computeShareHoursPermille,
    everyoneSharePermille: answer.everyoneSharePermille,
    movers: answer.movers.map(moverJson),
    otherChangeUsdMicros: answer.otherChangeUsdMicros,
    timeToGpu: answer.wait,
    timeToGpuBefore: answer.waitBefore,
    basisUsdMicros,
    coverage,
    lines: answer.lines.map(lineJson),
  };
}

/** One row for each line and adjustment; text that a spreadsheet would run is not run. */
export function statementCsv(answer: StatementAnswer): string {
  const head = [answer.number, answer.month, answer.team, answer.costCentre, answer.accountCode];
  return [
    csvLine([
      'statement',
      'month',
      'team',
      'costCentre',
      'accountCode',
      'item',
      'about',
      'class',
      'project',
      'component',
      'category',
      'basis',
      'usdMicros',
      'gpuSeconds',
      'reason',
    ]),
    ...answer.lines.map((line) =>
      csvLine([
        ...head,
        'line',
        answer.month,
        line.class,
        line.project,
        line.component,
        line.category,
        line.basis,
        line.usdMicros,
        gpuSeconds(line.gpuUnits),
        null,
      ]),
    ),
    ...answer.adjustments.map(({ month, usdMicros, reason }) =>
      csvLine([...head, 'adjustment', month, null, null, null, null, null, usdMicros, null, reason]),
    ),
  ].join('');
}

export function overviewJson(overview: StatementOverview): unknown {
  return {
    month: overview.month,
    status: overview.status,
    kind: overview.kind,
    window: { from: overview.from, until: overview.until },
    missingDays: overview.missingDays ?? null,
    asOf: overview.asOf,
    rows: overview.rows.map(overviewRowJson),
    total: amountJson(overview),
    amountCents: overview.amountCents,
    beforeMonth: overview.beforeMonth,
    basisUsdMicros: overview.basisUsdMicros,
  };
}

export function overviewCsv({ month, rows }: StatementOverview): string {
  return [
    csvLine([
      'month',
      'statement',
      'team',
      'costCentre',
      'accountCode',
      'usdMicros',
      'amountCents',
      'adjustmentCents',
      'gpuSeconds',
      'unpricedSeconds',
      'beforeUsdMicros',
      'computeSharePermille',
    ]),
    ...rows.map((row) =>
      csvLine([
        month,
        row.number,
        row.team,
        row.costCentre,
        row.accountCode,
        row.usdMicros,
        row.amountCents,
        row.adjustmentCents,
        gpuSeconds(row.gpuUnits),
        gpuSeconds(row.unpricedUnits),
        row.beforeUsdMicros,
        row.computeSharePermille,
      ]),
    ),
  ].join('');
}

export function overviewRowJson(row: OverviewRow): object {
  return {
    team: row.team,
    number: row.number,
    costCentre: row.costCentre,
    accountCode: row.accountCode,
    ...amountJson(row),
    amountCents: row.amountCents,
    adjustmentCents: row.adjustmentCents,
    beforeUsdMicros: row.beforeUsdMicros,
    computeSharePermille: row.computeSharePermille,
  };
}

function amountJson({ usdMicros, gpuUnits, unpricedUnits }: Amount): object {
  return { usdMicros, gpuSeconds: gpuSeconds(gpuUnits), unpricedSeconds: gpuSeconds(unpricedUnits) };
}

function partJson({ name, beforeUsdMicros, computeSharePermille, ...amount }: StatementPart): object {
  return { name, ...amountJson(amount), beforeUsdMicros, computeSharePermille };
}

function moverJson(mover: Mover): object {
  return { ...mover };
}

function lineJson({ gpuUnits, ...line }: StatementLine): object {
  return { ...line, gpuSeconds: gpuSeconds(gpuUnits) };
}
