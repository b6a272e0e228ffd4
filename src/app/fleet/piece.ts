import type { TableNeed } from '../../lake/ask.ts';
import { quote } from '../../lake/engine.ts';
import type { Params } from '../../lake/engine.ts';
import type { LedgerWindow } from '../window.ts';
import { quotientSql } from './cell.ts';
import type { Measure } from './cell.ts';

export interface PieceRequest {
  readonly window: LedgerWindow;
  readonly measure: Measure;
  readonly stepSeconds: number;
  /** Only what these jobs held, as subjects; what others held of the same devices is not there. */
  readonly subjects?: readonly string[];
  /** True where only some of the machines are asked for: nothing is added up of the others. */
  readonly isOfSome: boolean;
  /** How much memory a GPU of each listed model has. */
  readonly memoryMib: ReadonlyMap<string, number>;
}

/**
 * SQL of the parts a cell is made of. Columns: device_id, step_no, free_units (nobody has it; of money: it has no price), unknown_units, known_units, and
 * `weighed`, what is known of it × known_units.
 */
export interface PieceSql {
  readonly tables: readonly TableNeed[];
  readonly params: Params;
  readonly sql: string;
}

export const UNITS_PER_GPU = 63_000;

/** Steps are counted from the beginning of the window. */
export function stepNo(time: string, { stepSeconds }: PieceRequest): string {
  return quotientSql(`date_diff('second', $mapFrom, ${time})`, String(stepSeconds));
}

/** The devices that are asked for. */
export function ofMachines({ isOfSome }: PieceRequest, device: string): string {
  return isOfSome ? `${device} IN (SELECT device_id FROM machine)` : 'TRUE';
}

/** How much memory a GPU of each model has, as a table `s`. */
export function memorySql(memoryMib: ReadonlyMap<string, number>): string {
  const rows = [...memoryMib].map(([model, mib]) => `(${quote(model)}, ${mib})`);
  return `(VALUES ${rows.length === 0 ? "('', 0)" : rows.join(', ')}) AS s(model, memory_mib)`;
}
