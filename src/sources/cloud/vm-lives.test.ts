import { describe, expect, it } from 'vitest';
import { cursorOf, readCursor } from './cloud-cursor.ts';
import { ownerOf } from './owner.ts';
import { allocationRow, nodeRow } from './vm.ts';
import type { CloudVm, VmUser } from './vm.ts';
import { compareLists, NO_MEMORY, vmFacts } from './vm-lives.ts';
import type { VmMemory } from './vm-lives.ts';

const at = (hour: number): Date => new Date(Date.UTC(2026, 10, 16, hour));
const box = (from: Date, until?: Date): CloudVm => ({
  cloud: 'aws',
  id: 'i-1',
  resourceId: 'i-1',
  region: 'us-east-1',
  instanceType: 'p5.48xlarge',
  gpus: { model: 'H100', count: 8 },
  from,
  tags: {},
  ...(until !== undefined && { until }),
});
const seen = (vm: CloudVm, hour: number): VmMemory => ({ open: [{ vm, seenAt: at(hour) }], told: {} });

interface Case {
  readonly memory: VmMemory;
  readonly listed: readonly CloudVm[];
  readonly refused?: boolean;
  /** Hours: first and last of each life that is open, with when it was seen, and of each that has ended. */
  readonly open: readonly (readonly [from: number, seen: number])[];
  readonly ended: readonly (readonly [from: number, until: number])[];
}

const cases: Record<string, Case> = {
  'a machine that runs is open': { memory: NO_MEMORY, listed: [box(at(8))], open: [[8, 12]], ended: [] },
  'one that still runs stays open, seen again': {
    memory: seen(box(at(8)), 9),
    listed: [box(at(8))],
    open: [[8, 12]],
    ended: [],
  },
  'stopped: it ended when AWS says': {
    memory: seen(box(at(8)), 9),
    listed: [box(at(8), at(11))],
    open: [],
    ended: [[8, 11]],
  },
  'gone from the list: it ran when it was last seen, no second more is claimed': {
    memory: seen(box(at(8)), 9),
    listed: [],
    open: [],
    ended: [[8, 9]],
  },
  'its region did not answer: it is neither seen nor ended': {
    memory: seen(box(at(8)), 9),
    listed: [],
    refused: true,
    open: [[8, 9]],
    ended: [],
  },
  'stopped and started between two polls: two lives': {
    memory: seen(box(at(8)), 9),
    listed: [box(at(11))],
    open: [[11, 12]],
    ended: [[8, 9]],
  },
  'listed as stopped on first contact: its last run was paid for': {
    memory: NO_MEMORY,
    listed: [box(at(8), at(10))],
    open: [],
    ended: [[8, 10]],
  },
};

describe('lives of machines, from list to list', () => {
  it.each(Object.entries(cases))('%s', (_, { memory, listed, refused = false, open, ended }) => {
    const change = compareLists(memory, listed, at(12), () => !refused);
    expect(change.memory.open.map(({ vm, seenAt }) => [vm.from, seenAt])).toEqual(open.map((hours) => hours.map(at)));
    expect(change.ended.map(({ from, until }) => [from, until])).toEqual(ended.map((hours) => hours.map(at)));
  });

  it('an end is told once, though a stopped machine stays in the list for months', () => {
    const first = compareLists(seen(box(at(8)), 9), [box(at(8), at(11))], at(12), () => true);
    const again = compareLists(first.memory, [box(at(8), at(11))], at(13), () => true);
    expect([first.ended.length, again.ended.length]).toEqual([1, 0]);
    const nextLife = compareLists(again.memory, [box(at(14), at(15))], at(16), () => true);
    expect(nextLife.ended).toHaveLength(1);
  });

  it('remembers through JSON', () => {
    const { memory } = compareLists(NO_MEMORY, [box(at(8)), { ...box(at(7), at(8)), id: 'i-2' }], at(12), () => true);
    const read = readCursor(JSON.parse(JSON.stringify(cursorOf(memory, { activity: { until: 'x' } }))));
    expect(read).toEqual({ memory, rest: { activity: { until: 'x' } } });
  });

  const strange: Record<string, unknown> = {
    nothing: undefined,
    'another shape': { shape: 99, memory: { open: [], told: {} } },
    'no list': { shape: 1, memory: {} },
    'no time': { shape: 1, memory: { open: [{ vm: { from: 'soon' }, seenAt: 'x' }], told: {} } },
    text: 'cursor',
  };
  it.each(Object.entries(strange))('a cursor that is %s is none', (_, cursor) => {
    expect(readCursor(cursor).memory).toEqual(NO_MEMORY);
  });

  it('what runs is told whole, what has ended goes to its day', () => {
    const change = compareLists(seen(box(at(8)), 9), [{ ...box(at(10)), id: 'i-2' }], at(12), () => true);
    const facts = vmFacts(change, { cluster: 'aws', pollS: 300 });
    expect(facts.map(({ table, batch, mode, rows }) => [table, batch, mode, rows.length])).toEqual([
      ['node', 'nodes/open', 'replace', 1],
      ['allocation', 'open', 'replace', 1],
      ['node', 'nodes/ended/2026-11-16', 'extend', 1],
      ['allocation', 'ended/2026-11-16', 'extend', 1],
    ]);
  });
});

describe('rows of a machine', () => {
  const vm: CloudVm = {
    ...box(at(8)),
    vcpu: 192,
    user: { name: 'mchen', from: 'tag Owner' },
    tags: { Team: 'nlp', Env: 'prod', Name: 'train' },
  };

  it('labels are understood however people spell them, and what was written stays', () => {
    const row = allocationRow(vm, { cluster: 'aws', observedAt: at(12), pollS: 300 });
    expect(row['labels']).toEqual({
      Team: 'nlp',
      team: 'nlp',
      Env: 'prod',
      environment: 'prod',
      Name: 'train',
      'bursar:user-from': 'tag Owner',
    });
    expect(row).toMatchObject({
      source: 'aws',
      user_name: 'mchen',
      gpu_count: 8,
      cpu_millis: 192_000,
      workload_kind: 'VM',
    });
  });

  it('a row that has not changed is the same row at the next poll', () => {
    expect(nodeRow(vm, 'aws')).not.toHaveProperty('observed_at');
  });
});

const owners: Record<string, { tags: Record<string, string>; want: VmUser | undefined }> = {
  'the owner goes before who created it': {
    tags: { 'created-by': 'bot', Owner: 'mchen' },
    want: { name: 'mchen', from: 'tag Owner' },
  },
  'however it is spelt': { tags: { 'Created By': 'mchen' }, want: { name: 'mchen', from: 'tag Created By' } },
  'what AWS wrote, where people wrote nothing': {
    tags: { 'aws:createdBy': 'IAMUser:AIDA1:mchen' },
    want: { name: 'mchen', from: 'tag aws:createdBy' },
  },
  'an empty tag is none': { tags: { owner: ' ' }, want: undefined },
  'no tag': { tags: { Name: 'owner' }, want: undefined },
};

describe('whose a machine is', () => {
  it.each(Object.entries(owners))('%s', (_, { tags, want }) => {
    expect(ownerOf(tags)).toEqual(want);
  });
});
