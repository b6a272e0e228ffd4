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

/** A table that is not kept but said when asked: SQL over others, of the same days. */
export interface View {
  readonly name: string;
  readonly of: readonly string[];
  /** Where it needs earlier days too: the first day to read for a first day asked for. */
  readonly since?: (day: string) => string;
  /** Gets one relation for each name in `of`. */
  readonly sql: (...relations: readonly string[]) => string;
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
  views: readonly View[] = [],
): Promise<Row[]> {
  const state = new DerivedState(snapshot);
  const viewSql = (view: View, need: TableNeed): string =>
    view.sql(
      ...view.of.map((table) => {
        const inner = views.find(({ name }) => name === table);
        if (inner !== undefined) return viewSql(inner, need);
        const first = need.first === undefined ? undefined : (view.since?.(need.first) ?? need.first);
        return relationOf(dataDir, state, stages, { ...need, table, ...(first !== undefined && { first }) });
      }),
    );
  for (const need of question.tables) {
    const view = views.find(({ name }) => name === need.table);
    const relation = view === undefined ? relationOf(dataDir, state, stages, need) : viewSql(view, need);
    await engine.run(`CREATE OR REPLACE TEMP VIEW ${need.table} AS ${relation}`);
  }
  return engine.rows<Row>(question.sql, question.params);
}

function relationOf(dataDir: string, state: DerivedState, stages: readonly Stage[], need: TableNeed): string {
  const wanted = (day: string): boolean =>
    (need.first === undefined || day >= need.first) && (need.last === undefined || day <= need.last);
  const stage = stages.find((candidate) => candidate.name === need.table);
  if (stage === undefined) {
    const files = state.allFacts(need.table);
    return factRelation(
      dataDir,
      factTableByName(need.table),
      files.filter(({ file }) => file.partition.length !== 10 || wanted(file.partition)),
    );
  }
  const units = state
    .units(need.table)
    .filter(({ unit, dayHashes }) =>
      stage.unit === 'day' ? wanted(unit) : dayHashes === undefined || Object.keys(dayHashes).some(wanted),
    );
  return derivedRelation(
    dataDir,
    stage,
    units.flatMap(({ file }) => file ?? []),
  );
}
