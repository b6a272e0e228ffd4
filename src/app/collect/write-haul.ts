import { mkdir, rm } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { join, resolve } from 'node:path';
import { factTableByName } from '../../facts/fact-table.ts';
import type { FactTable } from '../../facts/fact-table.ts';
import { PROBLEM_SEPARATOR, storedColumns } from '../../facts/incoming.ts';
import type { IncomingPart } from '../../facts/incoming.ts';
import type { CollectedTable, FactRow, FactRows, Haul, SampleBlock, Skipped, Source } from '../../facts/source.ts';
import { append } from '../../lake/append.ts';
import type { OnStep } from '../../lake/durable-file.ts';
import { quote } from '../../lake/engine.ts';
import { rowsAsPart } from '../import-rows.ts';
import type { WriteSpace } from '../workspace.ts';
import { samplePart } from './sample-part.ts';

/** What became of a haul's facts. */
export interface HaulReport {
  readonly rows: Readonly<Partial<Record<CollectedTable, number>>>;
  readonly skipped: readonly Skipped[];
}

/**
 * Writes the facts of a haul, batch by batch. Each batch is there whole or not at all; a haul that is cut off between two of
 * them is written again by the next run, under the same names.
 */
export async function writeHaul(
  space: WriteSpace,
  source: Pick<Source, 'name' | 'reads' | 'priority'>,
  haul: Pick<Haul, 'facts' | 'samples'>,
  onStep?: OnStep,
): Promise<HaulReport> {
  const rows: Partial<Record<CollectedTable, number>> = {};
  const skipped: Skipped[] = [];
  const workDir = join(space.dataDir, 'tmp', `collect-${randomBytes(6).toString('hex')}`);
  await mkdir(workDir, { recursive: true });
  try {
    for (const facts of haul.facts) {
      const table = factTableByName(facts.table);
      const part = facts.rows.length === 0 ? undefined : await rowPart(space, table, facts.rows, workDir, skipped);
      const taken = await writeBatch(space, source, table, facts, part, workDir, onStep);
      rows[facts.table] = (rows[facts.table] ?? 0) + taken;
    }
    for (const block of haul.samples ?? []) {
      const table = factTableByName('gpu_sample');
      const part = block.rows === 0 ? undefined : await samplePart(space.engine, table, block);
      const taken = await writeBatch(space, source, table, block, part, workDir, onStep);
      rows.gpu_sample = (rows.gpu_sample ?? 0) + taken;
    }
    return { rows, skipped };
  } finally {
    await rm(workDir, { recursive: true, force: true });
  }
}

/** Gives how many rows the part brought. */
async function writeBatch(
  { engine, dataDir, manifest }: WriteSpace,
  source: Pick<Source, 'name' | 'reads' | 'priority'>,
  table: FactTable,
  { batch, mode }: Pick<FactRows | SampleBlock, 'batch' | 'mode'>,
  part: IncomingPart | undefined,
  workDir: string,
  onStep: OnStep | undefined,
): Promise<number> {
  const name = `${source.name}/${batch}`;
  const before = manifest.snapshot().batches.find((each) => each.table === table.name && each.name === name);
  if (part === undefined) {
    if (mode === 'replace' && before !== undefined) manifest.commit({ dropBatches: [{ table: table.name, name }] });
    return 0;
  }
  const kept =
    mode === 'extend' && before !== undefined && before.files.length > 0
      ? [
          storedPart(
            table,
            name,
            before.files.map(({ path }) => resolve(dataDir, path)),
          ),
        ]
      : [];
  const report = await append(engine, dataDir, manifest, {
    table,
    batches: [{ name, importedFrom: source.reads, priority: source.priority, parts: [...kept, part] }],
    workDir,
    dryRun: false,
    ...(onStep !== undefined && { onStep }),
  });
  return kept.length === 0 ? report.rowsTaken : Math.max(0, report.rowsTaken - report.rowsReplaced);
}

/** What a batch holds already, on its way into the batch that replaces it. */
function storedPart(table: FactTable, name: string, paths: readonly string[]): IncomingPart {
  const columns = storedColumns(table);
  // A file from before a column was there lacks it: unknown.
  const none = `SELECT ${columns.map((each) => `CAST(NULL AS ${each.type}) AS ${each.name}`).join(', ')} WHERE FALSE`;
  const found = `SELECT * FROM read_parquet([${paths.map(quote).join(', ')}], hive_partitioning = false, union_by_name = true)`;
  const names = columns.map((column) => column.name);
  return {
    label: name,
    select: `SELECT ${names.join(', ')}, CAST(NULL AS VARCHAR) AS problem, false AS carried
      FROM (${found} UNION ALL BY NAME ${none}) f`,
    rereadable: true,
    clean: true,
    known: new Set(table.name === 'gpu_sample' ? ['device_id', 'ts', 'step_s'] : []),
    inRange: new Set(names),
    given: new Set(names),
    origins: new Map(),
    place: async () => name,
    explain: async (failure) => failure,
  };
}

/**
 * Rows of a source as a part, by the same rules as a person's file. A row the rules refuse is left out and told: one strange
 * pod must not keep the others away for ever.
 */
async function rowPart(
  { engine }: WriteSpace,
  table: FactTable,
  rows: readonly FactRow[],
  workDir: string,
  skipped: Skipped[],
): Promise<IncomingPart> {
  const path = join(workDir, `${table.name}-${randomBytes(4).toString('hex')}.json`);
  const part = await rowsAsPart(engine, table, rows, path, table.name);
  const staged = `${path}.parquet`;
  await engine.run(`COPY (${part.select}) TO ${quote(staged)} (FORMAT parquet)`);
  const problems = await engine.rows<{ problem: string; n: bigint; example: string }>(`
    SELECT split_part(problem, chr(31), 1) || ' ' || split_part(problem, chr(31), 2) AS problem, count(*) AS n,
           min(split_part(problem, chr(31), 3)) AS example
    FROM read_parquet(${quote(staged)}) WHERE problem IS NOT NULL GROUP BY 1 ORDER BY 1`);
  for (const { problem, n, example } of problems) {
    skipped.push({ reason: `${table.name}: ${problem.replaceAll(PROBLEM_SEPARATOR, ' ')}`, count: Number(n), example });
  }
  return { ...part, select: `SELECT * FROM read_parquet(${quote(staged)}) WHERE problem IS NULL`, rereadable: true };
}
