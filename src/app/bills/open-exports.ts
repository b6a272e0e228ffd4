import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import { chargeTable } from '../../facts/charge.ts';
import { OperationError } from '../../facts/operation-error.ts';
import type { ReadOptions, ReadPart } from '../../sources/files/incoming-part.ts';
import { readPart } from '../../sources/files/incoming-part.ts';
import type { Ask } from '../../sources/files/read-file.ts';
import { takeInput } from '../import-input.ts';
import type { FoundExport } from './find-exports.ts';

/** An export whose files are open, with what is to be said about it. */
export interface OpenedExport {
  readonly label: string;
  readonly format: string;
  readonly found: FoundExport;
  readonly parts: readonly ReadPart[];
  readonly notes: readonly string[];
  readonly ignoredColumns: readonly string[];
  readonly superseded: readonly string[];
}

/**
 * Opens the files of every export. Files without a manifest that lie in one folder and have the same columns are parts of one
 * delivery, as exports without manifests come.
 */
export async function openExports(
  found: readonly FoundExport[],
  workDir: string,
  reading: ReadOptions,
  ask: Ask,
  onProgress?: (what: string) => void,
): Promise<{ exports: readonly OpenedExport[]; notes: readonly string[] }> {
  const groups = new Map<string, { found: FoundExport; parts: ReadPart[]; labels: string[] }>();
  let index = 0;
  for (const each of found) {
    for (const file of each.files) {
      const label = labelOf(each, file.key);
      onProgress?.(`opening ${label}`);
      const path = await each.store.fetch(file);
      const input = { ...(await takeInput(path, workDir, index, process.stdin)), label, isPiped: false };
      index += 1;
      const key = each.manifest === undefined ? undefined : `${each.store.place}\n${each.name}`;
      const ordinal = key === undefined ? undefined : groups.get(key)?.parts.length;
      const part = await readPart(chargeTable, input, ordinal ?? 0, reading, ask);
      const group = key ?? looseKey(each, file.key, part);
      const known = groups.get(group);
      if (known === undefined) groups.set(group, { found: each, parts: [part], labels: [label] });
      else {
        known.labels.push(label);
        known.parts.push(
          ordinal === undefined ? await readPart(chargeTable, input, known.parts.length, reading, ask) : part,
        );
      }
    }
  }
  return leaveOutActual([...groups.values()].map(openedOf));
}

function labelOf({ store }: FoundExport, key: string): string {
  if (store.place.endsWith(key)) return store.place;
  return `${store.place.replace(/\/+$/, '')}/${key}`;
}

function looseKey({ store }: FoundExport, key: string, { part, bill, notUnderstood }: ReadPart): string {
  const columns = [...part.origins.values()].map(({ source }) => source);
  const signature = createHash('sha256')
    .update(JSON.stringify([bill?.format, columns, notUnderstood.map(({ name }) => name)]))
    .digest('hex');
  return `${posix.dirname(labelOf({ store, name: '', files: [], superseded: [] }, key))}\n${signature}`;
}

function openedOf({
  found,
  parts,
  labels,
}: {
  found: FoundExport;
  parts: readonly ReadPart[];
  labels: readonly string[];
}): OpenedExport {
  const formats = [...new Set(parts.map(({ bill }) => bill?.format ?? 'charges'))];
  const [first = ''] = labels;
  return {
    label:
      found.manifest === undefined
        ? labels.length === 1
          ? first
          : `${first} and ${labels.length - 1} more`
        : `${found.store.place}: ${found.name}`,
    format: formats.join(' and '),
    found,
    parts,
    notes: [...new Set(parts.flatMap(({ bill }) => bill?.notes ?? []))],
    ignoredColumns: [...new Set(parts.flatMap(({ notUnderstood }) => notUnderstood.map(({ name }) => name)))],
    superseded: found.superseded,
  };
}

/** Actual and amortised exports of Azure tell the same money twice: together only the amortised one is taken. */
function leaveOutActual(exports: readonly OpenedExport[]): {
  exports: readonly OpenedExport[];
  notes: readonly string[];
} {
  const basisOf = ({ found, parts }: OpenedExport): string | undefined =>
    found.manifest?.basis ?? parts[0]?.bill?.basis;
  const monthOf = ({ found }: OpenedExport): string | undefined => found.manifest?.month;
  const amortised = exports.filter((each) => basisOf(each) === 'amortised');
  const isTold = (each: OpenedExport): boolean =>
    basisOf(each) === 'actual' && amortised.some((other) => monthOf(other) === monthOf(each));
  const kept = exports.filter((each) => !isTold(each));
  if (kept.length === 0)
    throw new OperationError('no-bills', 'there is no bill to add', { hint: 'Name a file or a folder.' });
  return {
    exports: kept,
    notes: exports
      .filter(isTold)
      .map(({ label }) => `${label}: left out, the amortised export beside it tells the same money`),
  };
}
