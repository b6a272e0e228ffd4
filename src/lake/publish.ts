import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { DerivedUnit } from '../facts/manifest.ts';
import type { Stage } from '../facts/stage.ts';
import type { OnStep } from './durable-file.ts';
import { PUBLISH_ASIDE, publishLink } from './durable-file.ts';

/** What a derivation changed, and what there is after it. */
export interface Publication {
  readonly dataDir: string;
  readonly stages: readonly Stage[];
  /** The ledger before and after: see `factsMark`. */
  readonly markBefore: string | undefined;
  readonly mark: string;
  readonly changed: readonly DerivedUnit[];
  readonly dropped: readonly { readonly table: string; readonly unit: string }[];
  readonly units: (table: string) => readonly DerivedUnit[];
  readonly onStep?: OnStep | undefined;
}

/**
 * Gives other engines one file a day under a name that stays: `tables/<table>/day=…/data.parquet`.
 *
 * That comes after the commit, so a crash can fall between: `tables/_published` says which ledger the names are of, and
 * if that is not the one before this, all of them are given anew.
 */
export async function publish(publication: Publication): Promise<void> {
  const { dataDir, markBefore, mark, changed, dropped, onStep } = publication;
  const published = await publishedMark(dataDir);
  if (published === markBefore) {
    for (const unit of changed) await publishUnit(publication, unit);
    for (const { table, unit } of dropped) await rm(folderOf(dataDir, table, unit), { recursive: true, force: true });
  } else {
    await publishAll(publication);
  }
  if (published === mark) return;
  onStep?.('publish mark');
  await mkdir(join(dataDir, 'tables'), { recursive: true });
  const aside = join(dataDir, 'tables', PUBLISH_ASIDE);
  await writeFile(aside, `${mark}\n`);
  await rename(aside, markPath(dataDir));
}

async function publishUnit(
  { dataDir, stages, onStep }: Publication,
  { table, unit, file }: DerivedUnit,
): Promise<void> {
  if (!stages.some(({ name }) => name === table)) return;
  onStep?.('publish');
  const folder = folderOf(dataDir, table, unit);
  if (file === null) await rm(folder, { recursive: true, force: true });
  else await publishLink(resolve(dataDir, file.path), join(folder, 'data.parquet'));
}

async function publishAll(publication: Publication): Promise<void> {
  for (const { name } of publication.stages) {
    const units = publication.units(name);
    for (const unit of units) await publishUnit(publication, unit);
    const wanted = new Set(units.map(({ unit }) => folderName(unit)));
    const folder = join(publication.dataDir, 'tables', name);
    for (const entry of await readdir(folder).catch(ifMissing([]))) {
      if (!wanted.has(entry)) await rm(join(folder, entry), { recursive: true, force: true });
    }
  }
}

function folderName(unit: string): string {
  return /^\d{4}-\d{2}-\d{2}$/.test(unit) ? `day=${unit}` : encodeURIComponent(unit);
}

function folderOf(dataDir: string, table: string, unit: string): string {
  return resolve(dataDir, 'tables', table, folderName(unit));
}

function markPath(dataDir: string): string {
  return join(dataDir, 'tables', '_published');
}

async function publishedMark(dataDir: string): Promise<string | undefined> {
  const text = await readFile(markPath(dataDir), 'utf8').catch(ifMissing(undefined));
  return text?.trim();
}

function ifMissing<Value>(value: Value): (failure: unknown) => Value {
  return (failure) => {
    if (failure instanceof Error && 'code' in failure && failure.code === 'ENOENT') return value;
    throw failure;
  };
}
