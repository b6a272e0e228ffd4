import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OperationError } from '../../../facts/operation-error.ts';
import { allocationRow, nodeRow } from '../vm.ts';
import type { VmList } from '../vm.ts';
import { AZ, readAzList } from './az-list.ts';
import { GCLOUD, readGcloudList } from './gcloud-list.ts';
import { readList } from './list-file.ts';

const runs = Number(process.env['FUZZ_RUNS'] ?? 10_000);
const sample = (name: string): string =>
  readFileSync(fileURLToPath(new URL(`samples/${name}`, import.meta.url)), 'utf8');

/** Everything that must hold of any list, however strange. */
function expectSane(list: VmList): void {
  expect(list.vms.length + list.skipped.reduce((sum, { count }) => sum + count, 0)).toBe(list.listed);
  expect(new Set(list.vms.map(({ id, from }) => `${id} ${from.toISOString()}`)).size).toBe(list.vms.length);
  for (const vm of list.vms) {
    expect(vm.gpus.count).toBeGreaterThan(0);
    expect(vm.gpus.count).toBeLessThan(1025);
    expect(vm.until === undefined || vm.until > vm.from).toBe(true);
    nodeRow(vm, 'c');
    allocationRow(vm, { cluster: 'c', observedAt: new Date(0), pollS: 1 });
  }
}

/** The list, or an empty one where the parser said in words what is wrong, and what to do. */
function listOrWords(read: () => VmList): VmList {
  try {
    return read();
  } catch (failure) {
    if (!(failure instanceof OperationError) || failure.hint === undefined) throw failure;
    return { vms: [], skipped: [], notes: [], listed: 0 };
  }
}

const parsers = [
  ['gcloud', GCLOUD, readGcloudList, sample('gcloud-instances.json')],
  ['az', AZ, readAzList, sample('az-vm-list-d.json')],
] as const;

describe.each(parsers)('%s', (_, made, read, good) => {
  it('any JSON in place of any field: an error in words, or a list that adds up', () => {
    const entries = JSON.parse(good) as Record<string, unknown>[];
    const keys = [...new Set(entries.flatMap((entry) => Object.keys(entry)))];
    const change = fc.tuple(fc.nat(entries.length - 1), fc.constantFrom(...keys), fc.jsonValue({ maxDepth: 3 }));
    fc.assert(
      fc.property(fc.array(change, { maxLength: 4 }), fc.array(fc.jsonValue(), { maxLength: 2 }), (changes, more) => {
        const strange = entries.map((entry) => ({ ...entry }));
        for (const [index, key, value] of changes) Object.assign(strange[index] ?? {}, { [key]: value });
        const list = listOrWords(() => read([...strange, ...more]));
        expect(list.vms.length).toBeLessThanOrEqual(list.listed);
        expectSane(list);
      }),
      { numRuns: runs },
    );
  });

  it('bytes that were cut, overwritten or doubled: an error in words, or a list', () => {
    const bytes = Buffer.from(good);
    const damage = fc.tuple(fc.nat(bytes.length - 1), fc.nat(40), fc.uint8Array({ maxLength: 6 }));
    fc.assert(
      fc.property(damage, fc.nat(bytes.length), ([at, gone, put], end) => {
        const damaged = Buffer.concat([bytes.subarray(0, at), put, bytes.subarray(at + gone)]).subarray(0, end + 40);
        const list = listOrWords(() => read(readList(damaged, 'x', made)));
        expect(list.vms.length).toBeLessThanOrEqual(list.listed);
        expectSane(list);
      }),
      { numRuns: runs },
    );
  });
});
