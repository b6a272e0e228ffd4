import { acceleratorNamed } from '../../facts/accelerators.ts';
import type { Filter } from '../filter.ts';
import { daysOf } from '../window.ts';
import type { LedgerWindow } from '../window.ts';
import type { ReadSpace } from '../workspace.ts';
import { levelSql, quotientSql } from './cell.ts';
import type { Measure } from './cell.ts';
import { pieceSql } from './cell-sql.ts';
import { machineSql } from './map-scope.ts';
import { stepsOf } from './map-step.ts';

export interface CellRequest {
  readonly window: LedgerWindow;
  readonly measure: Measure;
  readonly stepSeconds: number;
  readonly filters: readonly Filter[];
  /** A row for each GPU, or one for each machine with the mean of its GPUs and the one that stands worst. */
  readonly by: 'gpu' | 'node';
  readonly subjects?: readonly string[];
}

/** One row of the map: a letter for each step, see `CELL_BYTES`. */
export interface CellLine {
  readonly nodeId: string | null;
  readonly deviceId: string | null;
  readonly cells: string;
  /** Of a machine: the GPU of it that does least, or wastes most. */
  readonly worst: string | undefined;
}

const HOUR_S = 3600;
const STEP_DIGITS = 4;
const MIB_PER_GIB = 1024;

/**
 * Question: what did every GPU do in every step of a window?
 *
 * Reads: presence, and gpu_hour with activity_hour, or held, run and gpu_sample where steps are shorter than an hour, or waterfall.
 */
export async function cells(space: ReadSpace, request: CellRequest): Promise<CellLine[]> {
  const { window, measure, by } = request;
  if (window.days.length === 0) return [];
  const machine = machineSql(request.filters);
  const memoryMib = measure === 'memory' ? await memoryOf(space, window) : new Map<string, number>();
  const piece = pieceSql({ ...request, memoryMib, isOfSome: request.filters.length > 0 });
  const key = by === 'gpu' ? 'm.node_id, p.device_id' : 'm.node_id';
  const names = by === 'gpu' ? 'node_id, device_id' : 'node_id, CAST(NULL AS VARCHAR) AS device_id';
  const rows = await space.ask<{ node: string | null; device: string | null; cells: string }>({
    tables: [{ table: 'presence', ...daysOf(window) }, ...piece.tables],
    params: { ...machine.params, ...piece.params },
    sql: `
      WITH machine AS (${machine.sql}), piece AS (${piece.sql}), gpu AS (
        SELECT p.*, ${quotientSql('p.weighed', 'p.known_units')} AS value FROM (${summed(request.stepSeconds <= HOUR_S)}) p
      ), cell AS (
        SELECT ${key}, p.step_no, CAST(sum(p.free_units) AS BIGINT) AS free_units,
               CAST(sum(p.unknown_units) AS BIGINT) AS unknown_units, CAST(sum(p.known_units) AS BIGINT) AS known_units,
               CAST(sum(p.weighed) AS BIGINT) AS weighed,
               ${measure === 'wasted' ? 'max' : 'min'}(CASE WHEN p.known_units > p.unknown_units + p.free_units THEN p.value END) AS worst
        FROM gpu p JOIN machine m ON p.device_id = m.device_id GROUP BY ${key}, p.step_no
      ), told AS (
        SELECT ${names}, step_no, ${letterSql(quotientSql('weighed', 'known_units'), measure)} AS letter,
               CASE WHEN worst IS NULL THEN '-' ELSE ${valueSql('worst', measure)} END AS worst_letter
        FROM cell WHERE free_units + unknown_units + known_units > 0
      )
      SELECT node_id AS node, device_id AS device,
             array_join(array_agg(lpad(CAST(step_no AS VARCHAR), ${STEP_DIGITS}, '0') || letter || worst_letter ORDER BY step_no), '') AS cells
      FROM told GROUP BY node_id, device_id ORDER BY node_id, device_id`,
  });
  const steps = stepsOf(window, request.stepSeconds);
  return rows.map(({ node, device, cells: packed }) => {
    const [mean, worst] = unpacked(packed, steps);
    return { nodeId: node, deviceId: device, cells: mean, worst: by === 'node' ? worst : undefined };
  });
}

/** Several holders of a GPU in a step are several pieces, unless they were added up already. */
function summed(isSummed: boolean): string {
  if (isSummed) return 'SELECT * FROM piece';
  const sums = ['free_units', 'unknown_units', 'known_units', 'weighed'].map(
    (name) => `CAST(sum(${name}) AS BIGINT) AS ${name}`,
  );
  return `SELECT device_id, step_no, ${sums.join(', ')} FROM piece GROUP BY device_id, step_no`;
}

/** What most of a step was; where it was held and known, how much. */
function letterSql(value: string, measure: Measure): string {
  const apart = measure === 'wasted' ? "'p'" : "'f'";
  return `CASE WHEN free_units > unknown_units + known_units THEN ${apart} WHEN unknown_units > known_units THEN 'x'
               WHEN known_units = 0 THEN ${apart} ELSE ${valueSql(value, measure)} END`;
}

function valueSql(value: string, measure: Measure): string {
  const level = levelSql(value, measure);
  return measure === 'wasted' ? `CASE WHEN ${value} <= 0 THEN 'n' ELSE ${level} END` : level;
}

/** `0003a1` is step 3, mean a, worst 1; steps nobody speaks of are absent. */
function unpacked(packed: string, steps: number): [mean: string, worst: string] {
  const mean = Array.from<string>({ length: steps }).fill('-');
  const worst = Array.from<string>({ length: steps }).fill('-');
  for (let at = 0; at < packed.length; at += STEP_DIGITS + 2) {
    const step = Number(packed.slice(at, at + STEP_DIGITS));
    if (step >= steps) continue;
    mean[step] = packed[at + STEP_DIGITS] ?? '-';
    worst[step] = packed[at + STEP_DIGITS + 1] ?? '-';
  }
  return [mean.join(''), worst.join('')];
}

/** How much memory the models of the window have, as far as the table of accelerators knows them. */
export async function memoryOf(space: ReadSpace, window: LedgerWindow): Promise<Map<string, number>> {
  const rows = await space.ask<{ model: string }>({
    tables: [{ table: 'presence', ...daysOf(window) }],
    sql: 'SELECT DISTINCT model FROM presence WHERE model IS NOT NULL',
  });
  return new Map(
    rows.flatMap(({ model }) => {
      const gib = acceleratorNamed(model)?.memoryGib;
      return gib === undefined ? [] : [[model, gib * MIB_PER_GIB] as const];
    }),
  );
}
