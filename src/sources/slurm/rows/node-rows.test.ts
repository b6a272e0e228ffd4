import { describe, expect, it } from 'vitest';
import type { NodeEvent, SlurmNode } from '../parse/slurm-node.ts';
import { nodeStateWords } from '../parse/slurm-node.ts';
import { nodeRows } from './node-rows.ts';

const HOUR = 3600;
const BASE = Date.parse('2026-11-16T00:00:00Z') / 1000;
const NOW = BASE + 10 * HOUR;
const node = (states: string, more: Partial<SlurmNode> = {}): SlurmNode => ({
  name: 'g1',
  states: nodeStateWords(states),
  gpus: 8,
  models: ['h100'],
  partitions: ['train'],
  features: [],
  ...more,
});
const event = (from: number, until: number | undefined, state = 'DOWN'): NodeEvent => ({
  node: 'g1',
  from: BASE + from * HOUR,
  ...(until !== undefined && { until: BASE + until * HOUR }),
  states: nodeStateWords(state),
});
const told = (made: SlurmNode, events: readonly NodeEvent[], since?: number) =>
  nodeRows([made], events, {
    now: NOW,
    cluster: 'train',
    seenSince: () => BASE + 9 * HOUR,
    presentSince: () => (since === undefined ? undefined : BASE + since * HOUR),
  }).rows.map((row) => [hour(row['present_from']), hour(row['present_until']), row['state']]);
const hour = (time: unknown) => (time instanceof Date ? (time.getTime() / 1000 - BASE) / HOUR : undefined);

describe('states of a machine over time', () => {
  const cases: Record<string, { node: SlurmNode; events?: readonly NodeEvent[]; since?: number; want: unknown[] }> = {
    'always up': { node: node('IDLE'), want: [[undefined, undefined, 'up']] },
    'down for two hours': {
      node: node('IDLE'),
      events: [event(2, 4)],
      want: [
        [undefined, 2, 'up'],
        [2, 4, 'down'],
        [4, undefined, 'up'],
      ],
    },
    'drained, and still so': {
      node: node('IDLE+DRAIN'),
      events: [event(2, undefined, 'IDLE+DRAIN')],
      want: [
        [undefined, 2, 'up'],
        [2, undefined, 'drained'],
      ],
    },
    'out of service since its reason was given': {
      node: node('DOWN', { reasonSince: BASE + 5 * HOUR }),
      want: [
        [undefined, 5, 'up'],
        [5, undefined, 'down'],
      ],
    },
    'nobody knows since when: since it was first seen so': {
      node: node('DOWN'),
      want: [
        [undefined, 9, 'up'],
        [9, undefined, 'down'],
      ],
    },
    'back again, and the database has not heard of it': {
      node: node('IDLE'),
      events: [event(8, undefined)],
      want: [
        [undefined, 8, 'up'],
        [8, 10, 'down'],
        [10, undefined, 'up'],
      ],
    },
    'two outages that overlap': {
      node: node('IDLE'),
      events: [event(2, 5), event(3, 4), event(4, 6, 'DRAIN')],
      want: [
        [undefined, 2, 'up'],
        [2, 5, 'down'],
        [5, 6, 'drained'],
        [6, undefined, 'up'],
      ],
    },
    'an outage of no length': { node: node('IDLE'), events: [event(2, 2)], want: [[undefined, undefined, 'up']] },
    'one that came while we looked': { node: node('IDLE'), since: 3, want: [[3, undefined, 'up']] },
    'one that came, and failed': {
      node: node('IDLE'),
      events: [event(4, 5)],
      since: 3,
      want: [
        [3, 4, 'up'],
        [4, 5, 'down'],
        [5, undefined, 'up'],
      ],
    },
    'switched off: not there': { node: node('IDLE+CLOUD+POWERED_DOWN'), want: [] },
  };
  it.each(Object.entries(cases))('%s', (_, { node: made, events = [], since, want }) =>
    expect(told(made, events, since)).toEqual(want),
  );
});

it('says what the machine has, and counts those that are not there', () => {
  const { rows, skipped } = nodeRows([node('IDLE', { cpus: 96, memoryMib: 1000 }), node('idle~', { name: 'g2' })], [], {
    now: NOW,
    cluster: 'train',
    seenSince: () => NOW,
    presentSince: () => undefined,
  });
  expect(rows).toEqual([
    {
      node_id: 'g1',
      cluster: 'train',
      gpu_count: 8,
      vcpu: 96,
      memory_bytes: 1000 * 1024 ** 2,
      state: 'up',
      presence: 'inventory',
      model: 'h100',
      tags: { partition: 'train' },
    },
  ]);
  expect(skipped).toEqual([expect.objectContaining({ count: 1, example: 'g2' })]);
});
