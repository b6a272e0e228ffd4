import { textOf } from '../../facts/source.ts';
import type { FactRow, FactRows, HolderHint } from '../../facts/source.ts';
import type { SourceStore, UnnamedHolder } from '../../facts/source-record.ts';
import type { WriteSpace } from '../workspace.ts';
import { askedBindings, withDevices } from './holder-devices.ts';
import { writeHaul } from './write-haul.ts';

/** Telemetry that has not named a device after this long will not. */
const PATIENCE_MS = 8 * 86_400_000;

/** Keeps holdings of which some GPU has no name yet, to be asked again when telemetry has come further. */
export function keepUnnamed(
  { sources }: { readonly sources: SourceStore },
  source: string,
  asked: readonly FactRows[],
  resolved: readonly FactRows[],
): void {
  const holders = asked.flatMap((facts) => {
    // What is replaced at every poll is asked again at the next one.
    if (facts.mode === 'replace') return [];
    const rows = resolved.find(({ table, batch }) => table === facts.table && batch === facts.batch)?.rows ?? [];
    const unnamed = new Set(rows.filter(isUnnamed).map(lifeOf));
    return facts.rows.flatMap((row, index) => {
      const hint = facts.hints?.[index];
      if (hint === undefined || !unnamed.has(lifeOf(row))) return [];
      const named = rows.filter((each) => lifeOf(each) === lifeOf(row) && !isUnnamed(each)).length;
      return [{ source, batch: facts.batch, row: plain(row), hint, named }];
    });
  });
  if (holders.length > 0) sources.keepUnnamed(holders);
}

function isUnnamed(row: FactRow): boolean {
  return Number(row['gpu_count'] ?? 1) > 0 && typeof row['device_id'] !== 'string';
}

function lifeOf(row: FactRow): string {
  return ['source', 'allocation_id', 'attempt', 'node_id'].map((column) => textOf(row, column)).join('\u001f');
}

function plain(row: FactRow): FactRow {
  return JSON.parse(
    JSON.stringify(row, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value)),
  ) as FactRow;
}

/** Names the devices of holdings that had to wait for telemetry. A newer `observed_at` lets the named rows win. */
export async function nameWaitingHolders(space: WriteSpace, now: Date): Promise<void> {
  const waiting = space.sources.unnamed();
  const done: UnnamedHolder[] = waiting.filter(({ row }) => isTooOld(row, now));
  const further: UnnamedHolder[] = [];
  for (const [key, holders] of byBatch(waiting.filter((each) => !done.includes(each)))) {
    const [source = '', batch = ''] = key.split('\u001f');
    const facts: FactRows = {
      table: 'allocation',
      batch,
      mode: 'extend',
      rows: holders.map(({ row }) => ({ ...row, observed_at: now })),
      hints: holders.map(({ hint }): HolderHint => hint),
    };
    const known = space.sources.bindings(askedBindings([facts]));
    const record = space.sources.records().find(({ name }) => name === source);
    const before = space.manifest
      .snapshot()
      .batches.find(({ table, name }) => table === 'allocation' && name === `${source}/${batch}`);
    if (known.length === 0 || record === undefined || before === undefined) continue;
    const named = holders.flatMap((holder, index) => {
      const one = withDevices({ ...facts, rows: [facts.rows[index] ?? {}], hints: [holder.hint] }, known);
      const count = one.rows.filter((row) => !isUnnamed(row)).length;
      if (!one.rows.some(isUnnamed)) done.push(holder);
      else if (count > holder.named) further.push({ ...holder, named: count });
      else return [];
      return one.rows;
    });
    if (named.length === 0) continue;
    const as = { name: source, reads: record.reads, priority: before.priority };
    await writeHaul(space, as, { facts: [{ table: 'allocation', batch, mode: 'extend', rows: named }] });
  }
  if (further.length > 0) space.sources.keepUnnamed(further);
  if (done.length > 0) space.sources.forgetUnnamed(done);
}

function isTooOld(row: FactRow, now: Date): boolean {
  const ended = Date.parse(textOf(row, 'held_until') || textOf(row, 'observed_at'));
  return Number.isNaN(ended) || now.getTime() - ended > PATIENCE_MS;
}

function byBatch(holders: readonly UnnamedHolder[]): Map<string, UnnamedHolder[]> {
  const groups = new Map<string, UnnamedHolder[]>();
  for (const holder of holders) {
    const key = `${holder.source}\u001f${holder.batch}`;
    groups.set(key, [...(groups.get(key) ?? []), holder]);
  }
  return groups;
}
