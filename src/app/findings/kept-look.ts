import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Finding } from '../../facts/finding.ts';
import type { Snapshot } from '../../facts/manifest.ts';
import { OperationError } from '../../facts/operation-error.ts';
import type { RuleBook } from '../rules/rule.ts';
import type { ReadSpace } from '../workspace.ts';
import type { JudgedSpan } from './ask-detectors.ts';

/** Beside the lake; whoever deletes it loses seconds. */
const FOLDER = 'found';
/** A month for `look` and `findings`, a quarter for `audit`, what a dashboard is asked for; of each what was found, and the rows behind it once asked for. */
const KEPT_MAX = 12;

/** What an answer hangs on: who asks the same of the same gets the same. */
export interface LookInputs {
  readonly snapshot: Snapshot;
  readonly rules: RuleBook;
  readonly span: JudgedSpan;
  /** Which program it is; undefined where that cannot be told, and then nothing is kept. */
  readonly program: string | undefined;
}

/** The built program's files have a name by their content and by that of all they import; sources do not, and may change under it. */
export function programOf(moduleUrl: string): string | undefined {
  const name = basename(moduleUrl);
  return /-[\w-]{8}\.js$/.test(name) ? `${name} ${process.version}` : undefined;
}

/**
 * Promise: what was found of the same data, rules, span and program is not worked out again, and nothing else is ever answered with it.
 *
 * Numbers and states of findings are no part of it: they are read each time. Where the folder cannot be written to, nothing is kept.
 */
export async function keptLook(
  { dataDir }: Pick<ReadSpace, 'dataDir'>,
  inputs: LookInputs,
  work: () => Promise<readonly Finding[]>,
): Promise<readonly Finding[]> {
  if (inputs.program === undefined) return work();
  const folder = join(dataDir, FOLDER);
  const path = join(folder, `${keyOf(inputs)}.json`);
  const kept = await readKept(path);
  if (kept !== undefined) return kept;
  const found = await work();
  await writeKept(folder, path, found);
  return found;
}

/** A file that goes with what was found: how it is written, and what is read from it. */
export interface KeptFile<Told> {
  readonly ending: string;
  readonly write: (path: string) => Promise<void>;
  readonly read: (path: string) => Promise<Told>;
}

/**
 * Promise: a file that goes with what was found of the same is written once, and read for whoever asks again. One that cannot be read is
 * written anew. Undefined where nothing can be kept.
 */
export async function keptBeside<Told>(
  { dataDir }: Pick<ReadSpace, 'dataDir'>,
  inputs: LookInputs,
  { ending, write, read: readFrom }: KeptFile<Told>,
): Promise<Told | undefined> {
  if (inputs.program === undefined) return undefined;
  const folder = join(dataDir, FOLDER);
  const path = join(folder, `${keyOf(inputs)}.${ending}`);
  if (existsSync(path)) {
    try {
      return await readFrom(path);
    } catch (failure) {
      if (!isOfFile(failure)) throw failure;
      await rm(path, { force: true, recursive: true }).catch(() => undefined);
    }
  }
  return (await putAside(folder, path, write)) ? readFrom(path) : undefined;
}

/** False where the question was broken off or the machine is short of something: then the file may be whole. */
function isOfFile(failure: unknown): boolean {
  return !(failure instanceof OperationError) || failure.code === 'damaged-file' || failure.code === 'read-only';
}

function keyOf({ snapshot, rules, span, program }: LookInputs): string {
  const hash = createHash('sha256');
  const say = (...words: readonly string[]): void => void hash.update(`${JSON.stringify(words)}\n`);
  say(program ?? '', span.first, span.last, ...[span.from, span.until, span.now].map((time) => time.toISOString()));
  say(JSON.stringify(rules, (_, value: unknown) => (value instanceof Map ? [...value] : value)));
  for (const { table, unit, file } of snapshot.derived) say('derived', table, unit, file?.contentHash ?? '');
  for (const { table, name, priority, observedAt, files } of snapshot.batches)
    say('batch', table, name, String(priority), observedAt, ...files.map(({ contentHash }) => contentHash));
  return hash.digest('hex').slice(0, 32);
}

type KeptFinding = ReturnType<typeof written>;

async function readKept(path: string): Promise<readonly Finding[] | undefined> {
  try {
    return (JSON.parse(await readFile(path, 'utf8')) as readonly KeptFinding[]).map(read);
  } catch {
    // Not there, or not whole: then it is worked out.
    return undefined;
  }
}

async function writeKept(folder: string, path: string, found: readonly Finding[]): Promise<void> {
  await putAside(folder, path, async (aside) => writeFile(aside, JSON.stringify(found.map(written))));
}

/** To have kept it is a favour to the next question; what stops it is said by whatever has to write. */
async function putAside(folder: string, path: string, write: (aside: string) => Promise<void>): Promise<boolean> {
  const aside = `${path}.${process.pid}.aside`;
  try {
    await mkdir(folder, { recursive: true });
    await write(aside);
    await rename(aside, path);
    for (const old of await tooMany(folder)) await rm(join(folder, old), { force: true });
    return true;
  } catch {
    await rm(aside, { force: true }).catch(() => undefined);
    return false;
  }
}

/** All but the newest, those a killed process left aside included. */
async function tooMany(folder: string): Promise<readonly string[]> {
  const aged = (await readdir(folder)).map(async (name) => ({ name, at: (await stat(join(folder, name))).mtimeMs }));
  return (await Promise.all(aged))
    .toSorted((a, b) => b.at - a.at)
    .slice(KEPT_MAX)
    .map(({ name }) => name);
}

/** JSON has no whole numbers of this size, and no times. */
function written(finding: Finding) {
  const { cashUsdMicros, capacityUnits } = finding;
  const text = (amount: bigint | null): string | null => (amount === null ? null : String(amount));
  return {
    ...finding,
    firstSeenAt: finding.firstSeenAt.toISOString(),
    liveSince: finding.liveSince?.toISOString() ?? null,
    usdMicros: text(finding.usdMicros),
    cashUsdMicros: { low: String(cashUsdMicros.low), high: String(cashUsdMicros.high) },
    capacityUnits: { low: String(capacityUnits.low), high: String(capacityUnits.high) },
    cashIfRentedUsdMicros: String(finding.cashIfRentedUsdMicros),
    gpuUnits: String(finding.gpuUnits),
    usdMicrosPerHour: text(finding.usdMicrosPerHour),
  };
}

function read(kept: KeptFinding): Finding {
  const { cashUsdMicros, capacityUnits } = kept;
  const amount = (text: string | null): bigint | null => (text === null ? null : BigInt(text));
  return {
    ...kept,
    firstSeenAt: new Date(kept.firstSeenAt),
    liveSince: kept.liveSince === null ? null : new Date(kept.liveSince),
    usdMicros: amount(kept.usdMicros),
    cashUsdMicros: { low: BigInt(cashUsdMicros.low), high: BigInt(cashUsdMicros.high) },
    capacityUnits: { low: BigInt(capacityUnits.low), high: BigInt(capacityUnits.high) },
    cashIfRentedUsdMicros: BigInt(kept.cashIfRentedUsdMicros),
    gpuUnits: BigInt(kept.gpuUnits),
    usdMicrosPerHour: amount(kept.usdMicrosPerHour),
  };
}
