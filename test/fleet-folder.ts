import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { importFiles } from '../src/app/import.ts';
import { deriveLedger, withWriter } from '../src/app/workspace.ts';

/** A data folder made from files, as a user would: imported one after the other, then derived. */
export interface FleetFolder {
  readonly dataDir: string;
  import(files: Readonly<Record<string, string>>): Promise<void>;
  derive(): Promise<void>;
  remove(): Promise<void>;
}

/** `files` by the word of `bursar import WORD`; more than one file of a word as `charges`, `charges 2`. */
export async function fleetFolder(files: Readonly<Record<string, string>>): Promise<FleetFolder> {
  const folder = await mkdtemp(join(tmpdir(), 'bursar-fleet-'));
  const dataDir = join(folder, 'data');
  const fleet: FleetFolder = {
    dataDir,
    import: (more) =>
      withWriter(dataDir, 'test', async (space) => {
        for (const [name, text] of Object.entries(more)) {
          const file = join(folder, `${name.replaceAll(' ', '-')}.csv`);
          await writeFile(file, text);
          await importFiles({ ...space, table: name.split(' ')[0] ?? '', files: [file] });
        }
      }),
    derive: () => withWriter(dataDir, 'test', async (space) => void (await deriveLedger(space))),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
  await fleet.import(files);
  await fleet.derive();
  return fleet;
}

/** Lines of a CSV file, written so that columns stand below each other. */
export function csv(text: string): string {
  return text
    .trim()
    .split('\n')
    .map((line) =>
      line
        .split('|')
        .map((cell) => cell.trim())
        .map((cell) => (/[",]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell))
        .join(','),
    )
    .join('\n')
    .concat('\n');
}
