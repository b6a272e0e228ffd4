import { strict as assert } from 'node:assert';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { OperationError } from '../../facts/operation-error.ts';

/** A file of the demo, as somebody's own would look. */
export interface DemoFile {
  /** The word of `bursar import WORD`; null for what is not imported. */
  readonly table: string | null;
  readonly name: string;
  readonly path: string;
  readonly rows: number;
}

/** Files that are written line by line, in bounded memory, however long the window is. */
export interface DemoFolder {
  /** Adds whole lines, one or many at a time, to a file, which begins with its header. */
  add(table: string | null, name: string, header: string, lines: Iterable<string>): void;
}

export interface FolderRequest {
  readonly path: string;
  /** The world, printed. */
  readonly world: string;
  /** When the files say they were written: a bill covers nothing after the date of its file. */
  readonly date: Date;
}

const WORLD_FILE = 'world.yaml';
const TRUTH_FILE = 'truth.csv';
const DEMO_NAME =
  /^(world\.yaml|(truth|fx|nodes|devices|rates|allocations|second-exporter|samples-[\d-]+|bill-[a-z0-9-]+)\.csv)$/;
const CHUNK_CHARACTERS = 1 << 20;

/**
 * Makes the folder of a demo anew and lists its files in the order they are to be imported. They are written aside and
 * put in their place when all are whole: what fails on the way leaves the folder as it was.
 */
export function writeDemoFolder(
  { path, world, date }: FolderRequest,
  fill: (folder: DemoFolder) => void,
): readonly DemoFile[] {
  refuseOtherFolder(path);
  const aside = `${path}.unfinished`;
  refuseStrangers(aside, [WORLD_FILE]);
  const files = new Map<string, DemoFile>();
  try {
    rmSync(aside, { recursive: true, force: true });
    mkdirSync(aside, { recursive: true });
    writeFileSync(join(aside, WORLD_FILE), world);
    fill({
      add(table, name, header, lines) {
        assert(DEMO_NAME.test(name), `${name} is no name of a demo's file`);
        const before = files.get(name);
        const rows = append(join(aside, name), before === undefined ? header : '', lines);
        files.set(name, { table, name, path: join(path, name), rows: (before?.rows ?? 0) + rows });
      },
    });
    for (const name of readdirSync(aside)) utimesSync(join(aside, name), date, date);
    rmSync(path, { recursive: true, force: true });
    renameSync(aside, path);
  } catch (failure) {
    rmSync(aside, { recursive: true, force: true });
    throw failure;
  }
  return [...files.values()];
}

/** A folder is replaced whole, so it has to be a demo's, and nothing may be in it that no demo wrote. */
export function refuseOtherFolder(path: string): void {
  refuseStrangers(path, [WORLD_FILE, TRUTH_FILE]);
}

function refuseStrangers(path: string, marks: readonly string[]): void {
  if (!existsSync(path)) return;
  const why = statSync(path).isDirectory() ? strangerIn(readdirSync(path), marks) : 'it is no folder';
  if (why === undefined) return;
  throw new OperationError('not-empty', `${path} is there and is not a demo's: ${why}`, {
    hint: 'Give the demo a folder of its own: bursar demo --out DIR.',
  });
}

function strangerIn(names: readonly string[], marks: readonly string[]): string | undefined {
  if (names.length === 0) return undefined;
  const stranger = names.find((name) => !DEMO_NAME.test(name));
  if (stranger !== undefined) return `it holds ${stranger}`;
  const missing = marks.find((mark) => !names.includes(mark));
  return missing === undefined ? undefined : `it holds no ${missing}`;
}

/** Opened and closed each time: a year of samples has more files than a process should have open. */
function append(path: string, header: string, lines: Iterable<string>): number {
  const file = openSync(path, 'a');
  try {
    let waiting = header;
    let rows = 0;
    for (const line of lines) {
      for (let at = line.indexOf('\n'); at !== -1; at = line.indexOf('\n', at + 1)) rows += 1;
      waiting += line;
      if (waiting.length < CHUNK_CHARACTERS) continue;
      writeFileSync(file, waiting);
      waiting = '';
    }
    writeFileSync(file, waiting);
    return rows;
  } finally {
    closeSync(file);
  }
}
