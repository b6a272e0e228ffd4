import { describe, expect, it } from 'vitest';
import type { FreeGpus, WaitingWork } from '../../report/queue-page.ts';
import { isModel, placesFor } from './places.ts';

const work = (gpus: number, more: Partial<WaitingWork> = {}): WaitingWork => ({
  source: 'slurm',
  allocationId: '1',
  parts: 1,
  gpus,
  gpusOfOnePart: gpus,
  model: null,
  heldBackBy: null,
  cluster: null,
  team: null,
  user: null,
  name: null,
  since: new Date(0),
  waitedSeconds: 60,
  ...more,
});

const node = (nodeId: string, empty: number, idle: number, more: Partial<FreeGpus> = {}): FreeGpus => ({
  nodeId,
  model: 'NVIDIA H100 80GB HBM3',
  cluster: 'a',
  region: 'north',
  size: 8,
  empty,
  idle,
  holders: [],
  ...more,
});

/** The machines, or how near it comes: what one machine has for it, or how many of its machines are free. */
type Want = { on: string[]; empty: number; idle: number } | { onOne: number } | { fit: string } | undefined;

const cases: Record<string, { waiting: WaitingWork[]; free: FreeGpus[]; want: Want[] }> = {
  'an empty machine before an idle one': {
    waiting: [work(2)],
    free: [node('n1', 0, 2), node('n2', 2, 0)],
    want: [{ on: ['n2'], empty: 2, idle: 0 }],
  },
  'what is idle counts where nothing is empty': {
    waiting: [work(2)],
    free: [node('n1', 1, 1)],
    want: [{ on: ['n1'], empty: 1, idle: 1 }],
  },
  'eight GPUs on two machines are no place for a job of eight': {
    waiting: [work(8)],
    free: [node('n1', 5, 0), node('n2', 3, 0)],
    want: [{ onOne: 5 }],
  },
  'a job larger than a machine takes whole ones': {
    waiting: [work(16)],
    free: [node('n1', 8, 0), node('n2', 0, 8)],
    want: [{ on: ['n1', 'n2'], empty: 8, idle: 8 }],
  },
  'no GPU is offered twice, and the longest waiting comes first': {
    waiting: [work(4), work(4)],
    free: [node('n1', 4, 0)],
    want: [{ on: ['n1'], empty: 4, idle: 0 }, undefined],
  },
  'what the first cannot use in full is there for the next': {
    waiting: [work(16), work(8)],
    free: [node('n1', 8, 0)],
    want: [{ fit: '1 of 2' }, { on: ['n1'], empty: 8, idle: 0 }],
  },
  'machines of one region, though another has more that are empty': {
    waiting: [work(16)],
    free: [node('n1', 8, 0), node('s1', 8, 0, { region: 'south' }), node('n2', 0, 8)],
    want: [{ on: ['n1', 'n2'], empty: 8, idle: 8 }],
  },
  'in two regions there is no room for a job of two machines': {
    waiting: [work(16)],
    free: [node('n1', 8, 0), node('s1', 8, 0, { region: 'south' })],
    want: [{ fit: '1 of 2' }],
  },
  'where machines have four GPUs, a job of eight takes two of them': {
    waiting: [work(8)],
    free: [node('n1', 4, 0, { size: 4 }), node('n2', 4, 0, { size: 4 })],
    want: [{ on: ['n1', 'n2'], empty: 8, idle: 0 }],
  },
  'where the fewest have to be asked': {
    waiting: [work(2)],
    free: [node('n1', 0, 2), node('n2', 1, 3)],
    want: [{ on: ['n2'], empty: 1, idle: 1 }],
  },
  'the machine that has the least to spare': {
    waiting: [work(2)],
    free: [node('n1', 8, 0), node('n2', 3, 0)],
    want: [{ on: ['n2'], empty: 2, idle: 0 }],
  },
  'a job that asks for a model waits for it': {
    waiting: [work(1, { model: 'A100' }), work(1, { model: 'h100' })],
    free: [node('n1', 2, 0)],
    want: [undefined, { on: ['n1'], empty: 1, idle: 0 }],
  },
  'another cluster is out of reach': {
    waiting: [work(1, { cluster: 'b' })],
    free: [node('n1', 2, 0)],
    want: [undefined],
  },
  'pods of one workload take what each of them needs': {
    waiting: [work(4, { parts: 2, gpusOfOnePart: 2 })],
    free: [node('n1', 2, 0), node('n2', 2, 0)],
    want: [{ on: ['n1', 'n2'], empty: 4, idle: 0 }],
  },
  'of five pods three find a place': {
    waiting: [work(10, { parts: 5, gpusOfOnePart: 2 })],
    free: [node('n1', 5, 0), node('n2', 2, 0)],
    want: [{ fit: '3 of 5' }],
  },
};

describe('where those who wait could start', () => {
  it.each(Object.entries(cases))('%s', (_, { waiting, free, want }) => {
    const got = placesFor(waiting, free).map((place): Want => {
      if (place === undefined) return undefined;
      if (place.complete) return { on: place.nodes.toSorted(), empty: place.empty, idle: place.idle };
      return place.partsNeeded === 1
        ? { onOne: place.onOneNode }
        : { fit: `${place.partsFit} of ${place.partsNeeded}` };
    });
    expect(got).toEqual(want);
  });

  it('answers for a fleet of ten thousand and a queue of thousands', () => {
    const free = Array.from({ length: 1250 }, (_, index) => node(`n${index}`, index % 5, index % 3));
    const waiting = Array.from({ length: 3000 }, (_, index) => work(1 + (index % 24)));
    const places = placesFor(waiting, free);
    const given = places.reduce((sum, place) => sum + (place?.empty ?? 0) + (place?.idle ?? 0), 0);
    expect(given).toBeLessThanOrEqual(free.reduce((sum, each) => sum + each.empty + each.idle, 0));
    const small = waiting.flatMap(({ gpus }, index) => (gpus === 1 ? [places[index]?.complete] : []));
    expect(small.filter((isPlaced) => isPlaced !== true)).toEqual([]);
  });
});

const models: Record<string, { listed: string | null; asked: string | null; want: boolean }> = {
  'any model serves who asks for none': { listed: 'NVIDIA L4', asked: null, want: true },
  'a GPU of unknown model serves nobody who names one': { listed: null, asked: 'h100', want: false },
  'Slurm calls it by its type': { listed: 'NVIDIA H100 80GB HBM3', asked: 'h100', want: true },
  'a driver, a label and a catalog call one card differently': {
    listed: 'NVIDIA A100-SXM4-80GB',
    asked: 'a100_80gb',
    want: true,
  },
  'an L40 is no L4': { listed: 'NVIDIA L40', asked: 'L4', want: false },
  'a slice is not a whole GPU': {
    listed: 'NVIDIA A100-SXM4-80GB',
    asked: 'NVIDIA-A100-SXM4-80GB-MIG-1g.10gb',
    want: false,
  },
};

describe('the model somebody asks for', () => {
  it.each(Object.entries(models))('%s', (_, { listed, asked, want }) => expect(isModel(listed, asked)).toBe(want));
});
