import { strict as assert } from 'node:assert';
import {
  closeSync,
  existsSync,
  lstatSync,
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
  /^(world\.yaml|(truth|fx|nodes|devices|rates|allocations|waiting|work|second-exporter|samples-[\d-]+|bill-[a-z0-9-]+)\.csv)$/;
const DAY_MS = 86_400_000;
const CHUNK_CHARACTERS = 1 << 20;

/**
 * Makes the folder of a demo anew and lists its files in the order they are to be imported. They are written aside and
 * put in their place when all are whole: what fails on the way leaves the folder as it was, and what is killed on the way
 * leaves folders that the next demo knows for its own. Only for the one writer of the data folder.
 */
export function writeDemoFolder(
  { path, world, date }: FolderRequest,
  fill: (folder: DemoFolder) => void,
): readonly DemoFile[] {
  refuseOtherFolder(path);
  const { unfinished, replaced } = besides(path);
  const files = new Map<string, DemoFile>();
  try {
    clearLeftovers(path);
    mkdirSync(unfinished, { recursive: true });
    writeFileSync(join(unfinished, WORLD_FILE), world);
    fill({
      add(table, name, header, lines) {
        assert(DEMO_NAME.test(name), `${name} is no name of a demo's file`);
        const before = files.get(name);
        const rows = append(join(unfinished, name), before === undefined ? header : '', lines);
        files.set(name, { table, name, path: join(path, name), rows: (before?.rows ?? 0) + rows });
      },
    });
    for (const name of readdirSync(unfinished)) utimesSync(join(unfinished, name), date, date);
    // Moved away whole: deleted where it is, a kill would leave a part of it that looks like somebody's.
    if (isThere(path)) renameSync(path, replaced);
    renameSync(unfinished, path);
  } catch (failure) {
    clearLeftovers(path);
    throw failure;
  }
  rmSync(replaced, { recursive: true, force: true });
  return [...files.values()];
}

function besides(path: string): { readonly unfinished: string; readonly replaced: string } {
  return { unfinished: `${path}.unfinished`, replaced: `${path}.replaced` };
}

/** Also after a kill between the two moves, when the demo before is whole but not in its place. */
function clearLeftovers(path: string): void {
  const { unfinished, replaced } = besides(path);
  rmSync(unfinished, { recursive: true, force: true });
  if (!isThere(path) && isThere(replaced)) renameSync(replaced, path);
  rmSync(replaced, { recursive: true, force: true });
}

/** Also true of a link to nowhere, which has to make room like anything else. */
function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** A folder is replaced whole, so it has to be a demo's, and nothing may be in it that no demo wrote. */
export function refuseOtherFolder(path: string): void {
  const { unfinished, replaced } = besides(path);
  refuseStrangers(path, [WORLD_FILE, TRUTH_FILE]);
  // What a kill left may lack any file.
  refuseStrangers(unfinished, []);
  refuseStrangers(replaced, []);
}

function refuseStrangers(path: string, marks: readonly string[]): void {
  const why = strangerAt(path, marks);
  if (why === undefined) return;
  throw new OperationError('not-empty', `${path} is there and is not a demo's: ${why}`, {
    hint: 'Give the demo a folder of its own: bursar demo --out DIR.',
  });
}

function strangerAt(path: string, marks: readonly string[]): string | undefined {
  if (!existsSync(path)) return undefined;
  let names: readonly string[];
  try {
    names = readdirSync(path);
  } catch (failure) {
    // A demo beside this one has just moved it; the lock will say so.
    if (!existsSync(path)) return undefined;
    if (!statSync(path).isDirectory()) return 'it is no folder';
    throw failure;
  }
  const stranger = names.find((name) => !DEMO_NAME.test(name));
  if (stranger !== undefined) return `it holds ${stranger}`;
  const missing = marks.find((mark) => !names.includes(mark));
  return missing === undefined || isDatedByDemo(path, names) ? undefined : `it holds no ${missing}`;
}

/**
 * What is left of a demo that was half deleted: all its files bear the date of one midnight, in UTC, which somebody's own
 * files of these names do not. True of no files.
 */
function isDatedByDemo(path: string, names: readonly string[]): boolean {
  const dates = new Set(names.map((name) => statSync(join(path, name), { throwIfNoEntry: false })?.mtimeMs));
  return dates.size <= 1 && [...dates].every((ms) => ms !== undefined && ms % DAY_MS === 0);
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
