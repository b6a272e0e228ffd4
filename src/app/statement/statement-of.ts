import type { StatementKind } from '../../facts/statement-record.ts';
import { isoTime } from '../../report/figures.ts';
import type { StatementAnswer, StatementPart, StatementWait } from '../../report/statement-answer.ts';
import type { TeamWait } from '../../report/queue-page.ts';
import type { StatementConfig } from '../config/statement-config.ts';
import { ofTeam } from './month-facts.ts';
import type { MonthDetails, MonthFacts } from './month-facts.ts';
import { monthPlus, monthStart } from './month.ts';
import type { MonthWindow } from './month.ts';
import type { CubeRow, NamedSum } from './month-cube.ts';
import { movers } from './movers.ts';
import { amountOf, categoriesOf, compareParts, computeShares, linesOf, partsBy } from './statement-parts.ts';

const MOVERS_SHOWN = 5;
const WORKLOADS_SHOWN = 5;
const DAY_MS = 86_400_000;

/** How a statement is made out. */
export interface MadeOut {
  readonly config: StatementConfig | undefined;
  /** What the user said; else what bursar.yaml says. */
  readonly kind?: StatementKind;
}

/** The statement of one team, from what is known of the month. */
export function statementOf(
  facts: MonthFacts,
  details: MonthDetails,
  madeOut: MadeOut,
  team: string | null,
): StatementAnswer {
  const { at, before } = facts;
  const rows = ofTeam(facts.rows, team);
  const rowsBefore = facts.rowsBefore === undefined ? undefined : ofTeam(facts.rowsBefore, team);
  const moved = rowsBefore === undefined ? [] : movers(rows, rowsBefore);
  const shares = computeShares(rows);
  return {
    team,
    month: at.month,
    ...headOf(at, madeOut),
    number: null,
    issuedAt: null,
    issuer: madeOut.config?.issuer ?? null,
    ...accountOf(madeOut, team),
    total: amountOf(rows),
    amountCents: facts.cents.get(team) ?? 0n,
    adjustments: ofTeam(facts.adjustments, team).map(({ month, usdMicros, reason, amountCents }) => ({
      month,
      usdMicros,
      reason,
      amountCents,
    })),
    before:
      rowsBefore === undefined
        ? null
        : {
            month: monthPlus(at.month, -1),
            from: isoTime(before.from),
            until: isoTime(before.until),
            missingDays: Math.ceil((before.until.getTime() - before.from.getTime()) / DAY_MS) - before.days.length,
            usdMicros: amountOf(rowsBefore).usdMicros,
            computeSharePermille: computeShares(rowsBefore).money,
          },
    components: componentsOf(rows, rowsBefore, details, team),
    classes: partsBy(rows, rowsBefore, (row) => (isShared(row) ? 'shared cost' : row.class)),
    projects: partsBy(rows, rowsBefore, (row) => row.project),
    workloads: ofTeam(details.workloads, team)
      .slice(0, WORKLOADS_SHOWN)
      .map((sum) => ({ ...namedAmount(sum, sum.name), beforeUsdMicros: null, computeSharePermille: null })),
    shared: sharedOf(rows),
    categories: categoriesOf(rows),
    computeSharePermille: shares.money,
    computeShareHoursPermille: shares.hours,
    everyoneSharePermille: computeShares(facts.rows).money,
    movers: moved.slice(0, MOVERS_SHOWN),
    otherChangeUsdMicros: moved.slice(MOVERS_SHOWN).reduce((sum, { changeUsdMicros }) => sum + changeUsdMicros, 0n),
    wait: waitOf(details.waits, team),
    waitBefore: waitOf(details.waitsBefore, team),
    basisUsdMicros: basisOf(rows),
    coverage: facts.coverage,
    lines: linesOf(rows),
  };
}

/** What every page of a month begins with. */
export function headOf(
  { month, asOf, isRunning, window }: MonthWindow,
  { config, kind }: MadeOut,
): Pick<StatementAnswer, 'kind' | 'status' | 'from' | 'until' | 'asOf' | 'missingDays'> {
  const until = isRunning && asOf < window.until ? asOf : monthStart(monthPlus(month, 1));
  return {
    kind: kind ?? config?.kind ?? 'showback',
    status: isRunning ? 'running' : 'open',
    from: isoTime(window.from),
    until: isoTime(until),
    asOf: isoTime(asOf),
    missingDays: Math.max(0, Math.ceil((until.getTime() - window.from.getTime()) / DAY_MS) - window.days.length),
  };
}

/** Where a team's money is booked. */
export function accountOf(
  { config }: MadeOut,
  team: string | null,
): Pick<StatementAnswer, 'costCentre' | 'accountCode' | 'lead'> {
  const known = team === null ? undefined : config?.teams.get(team);
  return known ?? { costCentre: null, accountCode: null, lead: null };
}

export function basisOf(rows: readonly CubeRow[]): StatementAnswer['basisUsdMicros'] {
  const of = (basis: string): bigint => amountOf(rows.filter((row) => row.basis === basis)).usdMicros ?? 0n;
  return { billed: of('billed'), rate: of('rate'), estimated: of('estimated') };
}

/** By component; `other` by the kind of its charges where those are all of it, which they are not of shared cost. */
function componentsOf(
  rows: readonly CubeRow[],
  before: readonly CubeRow[] | undefined,
  details: MonthDetails,
  team: string | null,
): StatementPart[] {
  const parts = partsBy(rows, before, (row) => row.component);
  const other = parts.find(({ name }) => name === 'other');
  const kinds = ofTeam(details.kinds, team);
  if (other === undefined || amountOf(kinds).usdMicros !== other.usdMicros) return parts;
  const kindsBefore = ofTeam(details.kindsBefore, team);
  const named = kinds.map((kind): StatementPart => ({
    ...namedAmount(kind, kind.name === 'beside' ? 'other' : kind.name),
    beforeUsdMicros:
      before === undefined ? null : (kindsBefore.find(({ name }) => name === kind.name)?.usdMicros ?? 0n),
    computeSharePermille: null,
  }));
  return [...parts.filter((part) => part !== other), ...named].toSorted(compareParts);
}

function namedAmount(
  { usdMicros, gpuUnits, unpricedUnits }: NamedSum,
  name: string | null,
): Pick<StatementPart, 'name' | 'usdMicros' | 'gpuUnits' | 'unpricedUnits'> {
  return { name, usdMicros, gpuUnits, unpricedUnits };
}

/** A part of what teams share: it was given to the team by a key, and has no class of its own. */
function isShared({ rule }: CubeRow): boolean {
  return rule?.startsWith('shared ') === true;
}

/** What came by a rule for shared cost; its name has the key in it. */
function sharedOf(rows: readonly CubeRow[]): { name: string; usdMicros: bigint }[] {
  const sums = new Map<string, bigint>();
  for (const row of rows.filter(isShared)) {
    const name = row.rule ?? '';
    sums.set(name, (sums.get(name) ?? 0n) + (row.usdMicros ?? 0n));
  }
  return [...sums].map(([name, usdMicros]) => ({ name, usdMicros })).toSorted(compareParts);
}

function waitOf(waits: readonly TeamWait[], team: string | null): StatementWait | null {
  const [wait] = ofTeam(waits, team);
  if (wait === undefined) return null;
  return { jobs: wait.jobs, medianSeconds: wait.medianSeconds, p90Seconds: wait.p90Seconds };
}
