import { factTableByName } from '../facts/fact-table.ts';
import type { Stage } from '../facts/stage.ts';
import { addDays } from './calendar.ts';
import type { DerivedState } from './derived-state.ts';
import type { Engine } from './engine.ts';
import { derivedRelation, factRelation } from './relation.ts';
import type { Scope } from './scope.ts';

/** Tables of intervals are small: they are resolved once and read whole by every stage. */
export const WHOLE_FACTS = ['node', 'device', 'rate', 'fx_rate'];

/** Where a stage finds what it reads. */
interface InputSpace {
  readonly engine: Engine;
  readonly dataDir: string;
  readonly stages: readonly Stage[];
  readonly state: DerivedState;
  readonly scope: Scope;
}

/** Makes the tables a stage reads visible under their names, with the days these units need and no others. */
export async function showInputs(work: InputSpace, stage: Stage, first: string, last: string): Promise<void> {
  const { engine, state, dataDir, scope } = work;
  await showCalendar(engine, first, last);
  for (const input of stage.reads) {
    if (input.table === 'bill' || input.table === 'price' || WHOLE_FACTS.includes(input.table)) continue;
    const source = work.stages.find((candidate) => candidate.name === input.table);
    if (source?.unit === 'whole') continue;
    if (source?.unit === 'bill') {
      const touching = state
        .units(source.name)
        .filter((bill) => Object.keys(bill.dayHashes ?? {}).some((day) => day >= first && day <= last));
      await show(
        engine,
        source.name,
        derivedRelation(
          dataDir,
          source,
          touching.flatMap((bill) => bill.file ?? []),
        ),
      );
      continue;
    }
    const days = input.days === 'all' ? scope.days : neighbourDays(first, last, input.days);
    if (source === undefined) {
      const byDay = days.filter((day) => state.factsOn(input.table, day).length > 0);
      const table = factTableByName(input.table);
      const parts = byDay.map(
        (day) =>
          `SELECT *, DATE '${day}' AS day FROM (${factRelation(dataDir, table, state.factsOn(input.table, day))}) d`,
      );
      const empty = `SELECT *, DATE '1970-01-01' AS day FROM (${factRelation(dataDir, table, [])}) d`;
      await show(engine, input.table, parts.length > 0 ? parts.join(' UNION ALL ') : empty);
    } else {
      const files = days.flatMap((day) => state.unit(source.name, day)?.file ?? []);
      await show(engine, source.name, derivedRelation(dataDir, source, files));
    }
  }
}

function neighbourDays(first: string, last: string, offsets: readonly number[]): string[] {
  const days = new Set<string>();
  for (const offset of offsets) {
    for (let day = addDays(first, offset); day <= addDays(last, offset); day = addDays(day, 1)) days.add(day);
  }
  return [...days].toSorted();
}

export async function show(engine: Engine, name: string, relation: string): Promise<void> {
  await engine.run(`CREATE OR REPLACE TEMP VIEW ${name} AS ${relation}`);
}

export async function showCalendar(engine: Engine, first: string, last: string): Promise<void> {
  const until = `TIMESTAMP '${addDays(last, 1)} 00:00:00'`;
  await engine.run(`CREATE OR REPLACE TEMP TABLE calendar_hour AS
    SELECT CAST(h AS DATE) AS day, h AS hour_start, h + INTERVAL '1' HOUR AS hour_end
    FROM (SELECT unnest(generate_series(TIMESTAMP '${first} 00:00:00', ${until} - INTERVAL '1' HOUR, INTERVAL '1' HOUR)) AS h) g`);
  await engine.run(`CREATE OR REPLACE TEMP TABLE calendar_day AS
    SELECT day, hour_start AS day_start, hour_start + INTERVAL '1' DAY AS day_end
    FROM calendar_hour WHERE extract(hour FROM hour_start) = 0`);
}
