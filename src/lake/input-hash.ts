import { createHash } from 'node:crypto';
import { OVERLAP_SECONDS_MAX } from '../facts/overlap.ts';
import type { Stage, StageInput } from '../facts/stage.ts';
import { addDays, printTime, startOf } from './calendar.ts';
import type { BatchFile, DerivedState } from './derived-state.ts';
import { coverageOn, heardOn } from './scope.ts';
import type { Scope } from './scope.ts';

/** A day keeps holdings this far past its end; a horizon beyond that is no input of it. */
const HORIZON_REACH_SECONDS = OVERLAP_SECONDS_MAX + 1;

/** Derived bill by bill; a day depends on what bills say about it. */
const BILL_TABLES: ReadonlySet<string> = new Set(['charge_hour', 'resource_day']);

/** Intervals that are in force on a day, hashed: what a day sees of tables that are not cut by days. */
export interface DayDigests {
  of(table: string, day: string): string;
}

/** Everything an answer of this stage for this unit depends on, as one hash. Equal hash, equal rows. */
export function inputHash(stage: Stage, unit: string, state: DerivedState, scope: Scope, digests: DayDigests): string {
  const lines = [stageHash(stage)];
  for (const input of stage.reads) lines.push(input.table, ...describeInput(stage, input, unit, state, scope, digests));
  for (const param of stage.params) lines.push(param, describeParam(stage, param, unit, scope));
  return createHash('sha256').update(lines.join('\n')).digest('hex');
}

const stageHashes = new WeakMap<Stage, string>();

/** What the stage itself does, hashed once and not for each of a thousand days. */
function stageHash(stage: Stage): string {
  const known = stageHashes.get(stage);
  if (known !== undefined) return known;
  const { name, version, sql, orderBy, writes } = stage;
  const hash = createHash('sha256')
    .update(JSON.stringify([name, version, sql, orderBy, writes]))
    .digest('hex');
  stageHashes.set(stage, hash);
  return hash;
}

function describeInput(
  stage: Stage,
  input: StageInput,
  unit: string,
  state: DerivedState,
  scope: Scope,
  digests: DayDigests,
): string[] {
  if (stage.unit === 'whole') {
    return state.isFact(input.table)
      ? describeFiles(state.allFacts(input.table))
      : state
          .units(input.table)
          .map((each) => `${each.unit} ${each.file?.contentHash ?? ''}`)
          .toSorted();
  }
  if (stage.unit === 'bill') {
    const bill = scope.bills.find((candidate) => candidate.billId === unit);
    if (input.table === 'charge') {
      return describeFiles(state.allFacts('charge').filter(({ batch }) => batch.name === unit));
    }
    if (input.table === 'bill') return [bill?.lastDay ?? ''];
    if (input.table === 'fx_rate') return describeFiles(state.allFacts('fx_rate'));
    return [digests.of(input.table, bill?.lastDay ?? '')];
  }
  if (input.table === 'bill') return [coverageOn(unit, scope.bills)];
  if (input.days === 'all') return [digests.of(input.table, unit)];
  if (BILL_TABLES.has(input.table)) {
    return state
      .units(input.table)
      .flatMap((bill) => (bill.dayHashes?.[unit] === undefined ? [] : [`${bill.unit} ${bill.dayHashes[unit]}`]))
      .toSorted();
  }
  return input.days.flatMap((offset) => {
    const day = addDays(unit, offset);
    return state.isFact(input.table)
      ? describeFiles(state.factsOn(input.table, day))
      : [`${offset} ${state.unit(input.table, day)?.file?.contentHash ?? ''}`];
  });
}

/** With one batch its content says it all; with several their precedence is an input too. */
function describeFiles(members: readonly BatchFile[]): string[] {
  const several = new Set(members.map(({ batch }) => batch.name)).size > 1;
  return members
    .map(({ batch, file }) =>
      several
        ? `${file.partition} ${file.contentHash} ${batch.priority} ${batch.observedAt} ${batch.name}`
        : `${file.partition} ${file.contentHash}`,
    )
    .toSorted();
}

function describeParam(stage: Stage, param: string, unit: string, scope: Scope): string {
  if (param === 'spoken') return scope.spoken;
  if (param === 'heard') return heardOn(unit, scope.heard);
  if (param === 'begin') return scope.begin <= startOf(unit) ? '' : printTime(scope.begin);
  const lastDay = stage.unit === 'bill' ? (scope.bills.find((bill) => bill.billId === unit)?.lastDay ?? unit) : unit;
  const reach = new Date(startOf(addDays(lastDay, 1)).getTime() + HORIZON_REACH_SECONDS * 1000);
  return printTime(scope.horizon < reach ? scope.horizon : reach);
}
