import { afterEach, expect, test } from 'vitest';
import type { FleetFolder } from '../../test/fleet-folder.ts';
import { fleetFolder } from '../../test/fleet-folder.ts';
import { SMALL_FLEET } from '../../test/small-fleet.ts';
import { ledgerHash } from './ledger-hash.ts';
import { withReader } from './workspace.ts';

const fleets: FleetFolder[] = [];
const made = async (files: Readonly<Record<string, string>>): Promise<FleetFolder> => {
  const fleet = await fleetFolder(files);
  fleets.push(fleet);
  return fleet;
};
const hashOf = (fleet: FleetFolder) => withReader(fleet.dataDir, ledgerHash);
afterEach(async () => {
  for (const fleet of fleets.splice(0)) await fleet.remove();
});

test('the same facts give the same hash, in whatever order and batches they came, and how often', async () => {
  const straight = await made(SMALL_FLEET);
  const backwards = await made(Object.fromEntries(Object.entries(SMALL_FLEET).toReversed()));
  await backwards.import(SMALL_FLEET);
  const [header = '', ...lines] = (SMALL_FLEET['samples'] ?? '').trimEnd().split('\n');
  const inHalves = await made({
    ...SMALL_FLEET,
    samples: [header, ...lines.slice(10)].join('\n'),
    'samples 2': [header, ...lines.slice(0, 20)].join('\n'),
  });
  const want = await hashOf(straight);
  expect(want.hash).toMatch(/^[0-9a-f]{64}$/);
  expect(want.days.map(({ day }) => day)).toEqual(['2026-03-02']);
  expect(await hashOf(backwards)).toEqual(want);
  expect(await hashOf(inHalves)).toEqual(want);
});

test('it changes with an amount, an owner, and what a device did, and comes back with them', async () => {
  const fleet = await made(SMALL_FLEET);
  const { hash } = await hashOf(fleet);
  for (const [table, before, after] of [
    ['charges', '-0.25', '-0.26'],
    ['allocations', 'vision', 'audio'],
    ['samples', 'a1-0,2026-03-02T09:50:00Z,600,0', 'a1-0,2026-03-02T09:50:00Z,600,10'],
  ] as const) {
    const text = SMALL_FLEET[table] ?? '';
    expect(text).toContain(before);
    await fleet.import({ [table]: text.replace(before, after) });
    expect((await hashOf(fleet)).hash, table).not.toBe(hash);
    await fleet.import({ [table]: text });
    expect((await hashOf(fleet)).hash, table).toBe(hash);
  }
});
