import type { Column } from './column.ts';
import { chargeTable } from './charge.ts';
import { deviceTable, nodeTable } from './inventory.ts';
import { allocationTable } from './allocation.ts';
import { priceTable } from './price.ts';
import { fxRateTable, rateTable } from './rate.ts';
import { gpuSampleTable } from './gpu-sample.ts';
import { waitingTable } from './waiting.ts';
import { workTable } from './work.ts';

/** A table of facts: what its rows say, who brings them, and where a row lies in the lake. */
export interface FactTable {
  readonly name: string;
  /** The word of `bursar import WORD`. */
  readonly importName: string;
  readonly meaning: string;
  readonly columns: readonly Column[];
  /** The time column whose UTC day (for bills and prices: month) names the folder a row lies in. */
  readonly partitionBy: string;
  readonly partition: 'day' | 'month';
  /** The order of rows in a file; the first columns are what people look rows up by. */
  readonly sortBy: readonly string[];
  /** `column`: rows of one key merge column by column. `row`: one row of a key wins whole. `bill`: never merged. */
  readonly merge: 'column' | 'row' | 'bill';
  /** A key twice in one file is a mistake and refused, where elsewhere one of the rows wins. */
  readonly repeats?: 'refused';
}

export const FACT_TABLES: readonly FactTable[] = [
  nodeTable,
  deviceTable,
  gpuSampleTable,
  allocationTable,
  waitingTable,
  workTable,
  chargeTable,
  rateTable,
  priceTable,
  fxRateTable,
];

export function factTableByName(name: string): FactTable {
  const table = FACT_TABLES.find((candidate) => candidate.name === name);
  if (table === undefined) throw new Error(`no fact table ${name}`);
  return table;
}
