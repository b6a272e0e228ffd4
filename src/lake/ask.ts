import { factTableByName } from '../facts/fact-table.ts';
import type { Snapshot } from '../facts/manifest.ts';
import type { Stage } from '../facts/stage.ts';
import { DerivedState } from './derived-state.ts';
import type { Engine, Params } from './engine.ts';
import { derivedRelation, factRelation } from './relation.ts';

/** A table a question reads, and the days of it (both included); without days, all. */
export interface TableNeed {
  readonly table: string;
  readonly first?: string;
  readonly last?: string;
}

/** A question in SQL over tables of the lake. */
export interface Question {
  readonly tables: readonly TableNeed[];
  readonly sql: string;
  readonly params?: Params;
}

/** Answers a question from one snapshot: what is committed while it runs does not show. */
export async function ask<Row>(
  engine: Engine,
  dataDir: string,
  snapshot: Snapshot,
  stages: readonly Stage[],
  question: Question,
): Promise<Row[]> {
  const state = new DerivedState(snapshot);
  for (const need of question.tables) {
    const wanted = (day: string): boolean =>
      (need.first === undefined || day >= need.first) && (need.last === undefined || day <= need.last);
    const stage = stages.find((candidate) => candidate.name === need.table);
    const relation =
      stage === undefined
        ? factRelation(
            dataDir,
            factTableByName(need.table),
            state.allFacts(need.table).filter(({ file }) => file.partition.length !== 10 || wanted(file.partition)),
          )
        : derivedRelation(
            dataDir,
            stage,
            state
              .units(need.table)
              .filter(({ unit, dayHashes }) =>
                stage.unit === 'day' ? wanted(unit) : dayHashes === undefined || Object.keys(dayHashes).some(wanted),
              )
              .flatMap(({ file }) => file ?? []),
          );
    await engine.run(`CREATE OR REPLACE TEMP VIEW ${need.table} AS ${relation}`);
  }
  return engine.rows<Row>(question.sql, question.params);
}
