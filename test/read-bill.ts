import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chargeTable } from '../src/facts/charge.ts';
import { openEngine } from '../src/lake/engine.ts';
import { readPart } from '../src/sources/files/incoming-part.ts';

/** What a bill was recognised as, and what was asked of each of its rows. */
interface ReadBill {
  readonly format: string | undefined;
  readonly basis: string | undefined;
  readonly notes: readonly string[];
  readonly rows: readonly Record<string, unknown>[];
}

/** Reads bills from their text, through a real engine. */
export interface BillReader {
  read(text: string, columns: string, name?: string): Promise<ReadBill>;
  close(): Promise<void>;
}

export async function billReader(): Promise<BillReader> {
  const folder = await mkdtemp(join(tmpdir(), 'bursar-read-bill-'));
  const engine = await openEngine({ threads: 1, memoryLimitMb: 300 });
  return {
    async read(text, columns, name = 'bill.csv') {
      const path = join(folder, name);
      await writeFile(path, text);
      const format = name.endsWith('.json') ? 'json' : 'csv';
      const { part, bill } = await readPart(
        chargeTable,
        { path, label: name, format, isPiped: false },
        0,
        { mappings: [], constants: [] },
        (sql) => engine.rows(sql),
      );
      const rows = await engine.rows<Record<string, unknown>>(`SELECT problem, ${columns} FROM (${part.select})`);
      return { format: bill?.format, basis: bill?.basis, notes: bill?.notes ?? [], rows };
    },
    async close() {
      engine.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Rows as a CSV file, every cell in quotes. */
export function csv(rows: readonly Readonly<Record<string, string>>[]): string {
  return [Object.keys(rows[0] ?? {}), ...rows.map((row) => Object.values(row))]
    .map((cells) => cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(','))
    .join('\n');
}
