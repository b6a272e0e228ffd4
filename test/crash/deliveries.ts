import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomOrganisation } from '../oracle/random-organisation.ts';
import { toFiles } from '../oracle/to-files.ts';
import type { Command } from './writer.ts';

type Pick = (lines: readonly string[]) => readonly string[];

/** An organisation of two days with two bills and holders that share and overlap. */
const SEED = 88;
/** A bill covers nothing after its file was written, whatever the clock says today. */
const WRITTEN_AT = new Date('2026-04-01');

/**
 * A user's week in commands: facts in pieces, a ledger, a bill that is re-issued with fewer rows, the rest, the ledger again.
 * Whatever is cut off, doing all of them once more gives the same ledger.
 */
export function writeDeliveries(folder: string): Command[] {
  mkdirSync(folder, { recursive: true });
  const organisation = randomOrganisation(SEED, ['two-bills', 'beside', 'overlaps', 'daily-bills', 'sharing']);
  const files = toFiles(organisation);
  const deliver = (table: string, batch: string, pick: Pick, fileName = batch): Command => {
    const [header = '', ...lines] = (files[table] ?? '').trimEnd().split('\n');
    const file = join(folder, `${fileName}.csv`);
    writeFileSync(file, `${[header, ...pick(lines)].join('\n')}\n`);
    utimesSync(file, WRITTEN_AT, WRITTEN_AT);
    return { kind: 'import', table, batch, file };
  };
  const all: Pick = (lines) => lines;
  const odd: Pick = (lines) => lines.filter((_, index) => index % 2 === 1);
  const even: Pick = (lines) => lines.filter((_, index) => index % 2 === 0);
  return [
    deliver('nodes', 'nodes', all),
    deliver('samples', 'samples-odd', odd),
    deliver('charges', 'bill', (lines) => [...lines, ...lines], 'first-issue'),
    { kind: 'derive' },
    deliver('devices', 'devices', all),
    deliver('allocations', 'allocations', all),
    deliver('charges', 'bill', all),
    deliver('samples', 'samples-even', even),
    { kind: 'derive' },
  ];
}
