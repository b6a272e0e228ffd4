import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { importFiles } from '../app/import.ts';
import type { ImportReport } from '../app/import.ts';
import type { Engine } from '../lake/engine.ts';
import { openEngine } from '../lake/engine.ts';
import type { OpenManifest } from '../state/manifest.ts';
import { openManifest } from '../state/manifest.ts';
import type { Column, Unit } from './column.ts';
import { FACT_TABLES } from './fact-table.ts';
import type { FactTable } from './fact-table.ts';

const page = await readFile(new URL('../../docs/FACTS.md', import.meta.url), 'utf8');

/** The lines the page must have for a table: no column can be added, renamed or given another meaning in the code alone. */
function columnLines({ columns }: FactTable): string[] {
  return columns.map((column) => {
    const marks = [column.key && 'key', column.required && 'required'].filter(Boolean).join(', ');
    const cells = [
      `\`${column.name}\`${marks === '' ? '' : ` **${marks}**`}`,
      typeText(column),
      column.meaning,
      column.missing ?? (column.required ? '' : 'unknown'),
      otherNames(column),
    ];
    return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  });
}

function typeText({ kind, unit, oneOf }: Column): string {
  if (oneOf !== undefined) return oneOf.map((word) => `\`${word}\``).join(', ');
  return unit === undefined ? kind : `${kind}, ${unit.name}`;
}

function otherNames({ alsoKnownAs = [] }: Column): string {
  return alsoKnownAs.map(({ name, unit }) => `\`${name}\`${unit === undefined ? '' : ` (${unit})`}`).join(', ');
}

function unitLines(): string[] {
  const columns = FACT_TABLES.flatMap((table) => table.columns);
  const units = new Map<string, Unit>();
  for (const { unit } of columns) if (unit !== undefined) units.set(unit.name, unit);
  return [...units.values()].map(({ name, from }) => {
    const used = new Set(columns.filter(({ unit }) => unit?.name === name).map((column) => `\`${column.name}\``));
    return `| ${[...used].join(', ')} | \`${name}\` | ${Object.keys(from)
      .map((unit) => `\`${unit}\``)
      .join(', ')} |`;
  });
}

function exampleFiles(): Map<string, string> {
  const blocks = [...page.matchAll(/^```csv (\S+)\n([\s\S]*?)^```$/gm)];
  return new Map(blocks.map((block) => [block[1] ?? '', block[2] ?? '']));
}

function headerOf(text: string): string[] {
  return (text.split('\n', 1)[0] ?? '').split(',');
}

describe('docs/FACTS.md', () => {
  it.each(FACT_TABLES.map((table) => [table.name, table] as const))('has every column of %s', (name, table) => {
    const section = page.split(/^## /m).find((text) => text.startsWith(`\`${name}\``)) ?? '';
    const lines = section.split('\n').filter((line) => line.startsWith('| `'));
    expect(lines).toEqual(columnLines(table));
    expect(section).toContain(table.meaning);
  });

  it('has every unit', () => {
    const lines = page.split('\n');
    for (const line of unitLines()) expect(lines).toContain(line);
  });

  it.each(FACT_TABLES.map((table) => [table.importName, table] as const))(
    'has a file of %s with every column',
    (word, table) => {
      const header = headerOf(exampleFiles().get(`${word}.csv`) ?? '');
      const want = table.columns.map(({ name, alsoKnownAs = [] }) => [name, ...alsoKnownAs.map((other) => other.name)]);
      expect(header).toHaveLength(want.length);
      for (const [index, names] of want.entries()) expect(names).toContain(header[index]);
    },
  );
});

describe('the example files of docs/FACTS.md', () => {
  let folder: string;
  let engine: Engine;
  let manifest: OpenManifest;
  const reports = new Map<string, ImportReport>();

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bursar-facts-doc-'));
    const dataDir = join(folder, 'data');
    engine = await openEngine({ threads: 2, memoryLimitMb: 500 });
    manifest = await openManifest(dataDir, { readOnly: false, now: () => new Date() });
    for (const { importName: table } of FACT_TABLES) {
      const file = join(folder, `${table}.csv`);
      await writeFile(file, exampleFiles().get(`${table}.csv`) ?? '');
      reports.set(table, await importFiles({ dataDir, table, files: [file], engine, manifest }));
    }
  });

  afterAll(async () => {
    engine.close();
    manifest.close();
    await rm(folder, { recursive: true, force: true });
  });

  it.each(FACT_TABLES.map(({ importName }) => importName))('%s go in whole', (table) => {
    const report = reports.get(table);
    const rows = (exampleFiles().get(`${table}.csv`) ?? '').trim().split('\n').length - 1;
    expect(report).toMatchObject({ rowsTaken: rows, rowsSkipped: 0, ignoredColumns: [], notes: [] });
  });

  it('speak of one fleet', () => {
    expect(reports.get('allocations')).toMatchObject({ gpuHours: '17', cpuHours: '408' });
    expect(manifest.snapshot().batches.find(({ table }) => table === 'charge')).toMatchObject({
      name: 'AWS|123456789012|2026-10',
    });
  });
});
