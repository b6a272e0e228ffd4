import { posix } from 'node:path';
import { OperationError } from '../../facts/operation-error.ts';
import type { ExportManifest } from '../../sources/bills/export-manifest.ts';
import { readManifest } from '../../sources/bills/export-manifest.ts';

/** A file or object of a place that exports are delivered to. */
export interface StoredFile {
  /** Below the place, with forward slashes. */
  readonly key: string;
  readonly bytes: number;
  readonly modifiedAt: Date;
}

/** Where exports lie: a folder, or a prefix of a bucket. */
export interface ExportStore {
  /** As the person named it. */
  readonly place: string;
  list(): Promise<readonly StoredFile[]>;
  text(file: StoredFile): Promise<string>;
  /** A path on this machine from which it can be read. */
  fetch(file: StoredFile): Promise<string>;
}

/** Files that are one delivery, and what its manifest promises about them. */
export interface FoundExport {
  readonly name: string;
  readonly store: ExportStore;
  readonly files: readonly StoredFile[];
  readonly manifest?: ExportManifest;
  /** Earlier runs of the same month that lie beside it. */
  readonly superseded: readonly string[];
}

interface FoundManifest {
  readonly file: StoredFile;
  readonly manifest: ExportManifest;
}

const MANIFEST_BYTES_MAX = 20_000_000;
const DATA = /\.(csv|tsv|txt|parquet|pq|csv\.gz|tsv\.gz|json|jsonl|ndjson|jsonl\.gz|json\.gz|gz)$/i;
const JSON_FILE = /\.json$/i;

/**
 * Question: which deliveries lie here, and which files is each made of?
 *
 * Manifests decide where there are any: the newest run of each export and month is taken, earlier ones are named. A run that lacks
 * one of its files is refused whole. Without manifests every file of data is taken, each as itself.
 */
export async function findExports(
  store: ExportStore,
): Promise<{ exports: readonly FoundExport[]; notes: readonly string[] }> {
  const files = await store.list();
  const manifests = await manifestsIn(store, files);
  const data = files.filter(({ key }) => DATA.test(key) && !manifests.some(({ file }) => file.key === key));
  if (manifests.length === 0) {
    const plain = data.filter(({ key }) => !JSON_FILE.test(key) || data.length === 1);
    if (plain.length === 0) throw nothingFound(store, files.length);
    return { exports: plain.map((file) => ({ name: file.key, store, files: [file], superseded: [] })), notes: [] };
  }
  const claims = claimsOf(manifests, data);
  const found = newestRuns(manifests).map(({ chosen, older }) => ({
    name:
      chosen.manifest.exportName + (chosen.manifest.month === undefined ? '' : ` ${chosen.manifest.month.slice(0, 7)}`),
    store,
    manifest: chosen.manifest,
    files: partsOf(chosen, data, store, claims),
    superseded: older.map(({ file, manifest }) => `${file.key} (${manifest.run})`),
  }));
  const strangers = data.filter(({ key }) => !claims.has(key) && !JSON_FILE.test(key));
  const notes =
    strangers.length === 0
      ? []
      : [`${store.place}: no manifest names ${strangers.map(({ key }) => key).join(', ')}: left out`];
  return { exports: found, notes };
}

async function manifestsIn(store: ExportStore, files: readonly StoredFile[]): Promise<FoundManifest[]> {
  const found: FoundManifest[] = [];
  for (const file of files) {
    if (!JSON_FILE.test(file.key) || file.bytes > MANIFEST_BYTES_MAX) continue;
    const manifest = readManifest(await store.text(file), file.key);
    if (manifest !== undefined) found.push({ file, manifest });
    else if (/manifest\.json$/i.test(file.key)) {
      throw new OperationError('bad-manifest', `${file.key} is not a manifest of an export`, {
        hint: 'Was it cut off? Copy it again; AWS and Azure write one beside each delivery.',
      });
    }
  }
  return found;
}

function newestRuns(manifests: readonly FoundManifest[]): { chosen: FoundManifest; older: FoundManifest[] }[] {
  const groups = new Map<string, FoundManifest[]>();
  for (const each of manifests) {
    const key = `${each.manifest.exportName}\n${each.manifest.month ?? each.manifest.run}`;
    groups.set(key, [...(groups.get(key) ?? []), each]);
  }
  return [...groups.values()].map((group) => {
    const [chosen, ...rest] = group.toSorted(byNewest);
    if (chosen === undefined) throw new Error('a group without a manifest');
    // The report's folder has a copy of the manifest of its newest assembly.
    return { chosen, older: rest.filter(({ manifest }) => manifest.run !== chosen.manifest.run) };
  });
}

function byNewest(left: FoundManifest, right: FoundManifest): number {
  const time = ({ file, manifest }: FoundManifest): string => manifest.runAt ?? file.modifiedAt.toISOString();
  const isOutside = ({ file, manifest }: FoundManifest): boolean => !file.key.includes(manifest.run);
  if (isOutside(left) !== isOutside(right) && left.manifest.runAt === undefined) return isOutside(left) ? -1 : 1;
  return time(left) < time(right) ? 1 : time(left) > time(right) ? -1 : 0;
}

/**
 * The file a manifest means by a key, and how many folders of the key its path repeats: a manifest names keys of the bucket, and the
 * copy of a folder may have only the end of them.
 */
function fileFor(
  key: string,
  manifestKey: string,
  data: readonly StoredFile[],
): { stored: StoredFile; dropped: number; agrees: number } | undefined {
  const segments = key
    .replace(/^[a-z0-9]+:\/\/[^/]+\//i, '')
    .split('/')
    .filter((part) => part !== '');
  for (let at = 0; at < segments.length; at += 1) {
    const suffix = segments.slice(at).join('/');
    const fitting = data.filter(({ key: candidate }) => `/${candidate}`.endsWith(`/${suffix}`));
    const beside = fitting.find((each) => posix.dirname(each.key) === posix.dirname(manifestKey));
    const stored = fitting.length === 1 ? fitting[0] : (beside ?? fitting[0]);
    if (stored !== undefined) return { stored, dropped: at, agrees: segments.length - at };
  }
  return undefined;
}

type Claims = ReadonlyMap<string, number>;

/** For each file the most that any manifest agrees with its path. Parts of all runs have the same names: less than that is another run's. */
function claimsOf(manifests: readonly FoundManifest[], data: readonly StoredFile[]): Claims {
  const claims = new Map<string, number>();
  for (const { file, manifest } of manifests) {
    for (const { key } of manifest.parts) {
      const match = fileFor(key, file.key, data);
      if (match === undefined) continue;
      claims.set(match.stored.key, Math.max(claims.get(match.stored.key) ?? 0, match.agrees));
    }
  }
  return claims;
}

function partsOf(
  { file, manifest }: FoundManifest,
  data: readonly StoredFile[],
  store: ExportStore,
  claims: Claims,
): StoredFile[] {
  const matches = manifest.parts.map((part) => ({ part, match: fileFor(part.key, file.key, data) }));
  // Whoever copies a delivery cuts the same folders off all its keys: a part found further down lies in another delivery.
  const dropped = Math.min(...matches.flatMap(({ match }) => match?.dropped ?? []));
  const found = matches.map(({ part, match }) => ({
    part,
    stored: match?.dropped === dropped && match.agrees === claims.get(match.stored.key) ? match.stored : undefined,
  }));
  const missing = found.filter(({ stored }) => stored === undefined).map(({ part }) => part.key);
  const refuse = (code: string, what: string): OperationError =>
    new OperationError(code, `${store.place}: ${file.key} ${what}; nothing was taken`, {
      hint: 'The delivery is not whole: copy it again, or wait until it is written.',
    });
  if (missing.length > 0) throw refuse('missing-part', `names ${missing.join(', ')}, which is not there`);
  const parts = found.flatMap(({ stored }) => stored ?? []);
  const twice = parts.find(({ key }, index) => parts.findIndex((other) => other.key === key) < index);
  if (twice !== undefined) throw refuse('part-twice', `names ${twice.key} twice, and its rows count once`);
  for (const { part, stored } of found) {
    if (part.bytes !== undefined && stored !== undefined && part.bytes !== stored.bytes) {
      throw refuse('manifest-mismatch', `says ${stored.key} has ${part.bytes} bytes, and it has ${stored.bytes}`);
    }
  }
  const bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
  if (manifest.bytes !== undefined && manifest.bytes !== bytes) {
    throw refuse('manifest-mismatch', `says its files have ${manifest.bytes} bytes, and they have ${bytes}`);
  }
  return parts;
}

function nothingFound(store: ExportStore, files: number): OperationError {
  return new OperationError('no-bills', `${store.place} holds no bill${files === 0 ? ': it is empty' : ''}`, {
    hint: 'CSV, gzipped CSV, JSON lines and Parquet are read, and folders with the manifests of AWS and Azure exports.',
  });
}
