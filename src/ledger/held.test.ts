import { describe, expect, test } from 'vitest';
import { stagesOn } from '../../test/stage-on.ts';
import type { Row } from '../../test/stage-on.ts';
import { handedDay } from './handed-day.ts';
import { handed } from './handed.ts';
import { held } from './held.ts';

const DAY = '2026-03-02';
const at = (hour: number): string => `${DAY} ${String(hour).padStart(2, '0')}:00:00`;
const LAB = '\u001flab\u001f';

/** From eight to nine, on a machine. */
const gpu = (device_id: string, node_id: string | null, cluster: string | null = null): Row => ({
  day: DAY,
  device_id,
  root_device_id: device_id,
  node_id,
  is_slice: false,
  capacity_units: 63_000,
  from_at: at(8),
  until_at: at(9),
  cluster,
  state: 'up',
});
/** A job that is over by the time that is asked for: what it names is all that is left of it. */
const job = (names: Row): Row => ({
  day: DAY,
  held_from: at(6),
  held_until: at(7),
  node_id: '',
  gpu_count: 1,
  ...names,
});
const machine = (node_id: string, cluster: string | null = null): Row => ({
  node_id,
  cluster,
  present_from: '1970-01-01 00:00:00',
});
const EMPTY = 'unallocated empty';
const UNKNOWN = 'held by nobody knows whom';

interface Case {
  readonly jobs: readonly Row[];
  readonly spoken: string;
  readonly gpus: readonly Row[];
  readonly devices?: readonly Row[];
  /** Where they are not those of the GPUs, one row each. */
  readonly nodes?: readonly Row[];
  readonly inferred?: readonly Row[];
  readonly want: Readonly<Record<string, string>>;
}

const cases: Readonly<Record<string, Case>> = {
  'jobs on one machine of no cluster say nothing of another, whatever cluster they name': {
    jobs: [job({ node_id: 'norda', cluster: 'lab' })],
    spoken: LAB,
    gpus: [gpu('a', 'norda'), gpu('b', 'boxb')],
    want: { a: EMPTY, b: UNKNOWN },
  },
  'nor do jobs that name no cluster': {
    jobs: [job({ node_id: 'norda' })],
    spoken: '*',
    gpus: [gpu('a', 'norda'), gpu('b', 'boxb')],
    want: { a: EMPTY, b: UNKNOWN },
  },
  'those speak for every cluster that has a name': {
    jobs: [job({ node_id: 'norda' })],
    spoken: '*',
    gpus: [gpu('a', 'norda'), gpu('b', 'boxb', 'lab')],
    want: { a: EMPTY, b: EMPTY },
  },
  'a job of the cluster speaks for machines of it that no job named': {
    jobs: [job({ node_id: 'norda', cluster: 'lab' })],
    spoken: LAB,
    gpus: [gpu('a', 'norda', 'lab'), gpu('b', 'boxb', 'lab'), gpu('c', 'deskc', 'other')],
    want: { a: EMPTY, b: EMPTY, c: UNKNOWN },
  },
  'a job without GPUs has been there as well': {
    jobs: [job({ node_id: 'norda', cluster: 'lab', gpu_count: 0 })],
    spoken: LAB,
    gpus: [gpu('a', 'norda')],
    want: { a: EMPTY },
  },
  'a job that names a device only was on the machine the device sits in': {
    jobs: [job({ device_id: 'a', cluster: 'lab' })],
    spoken: LAB,
    devices: [
      { device_id: 'a', node_id: 'norda', present_from: '1970-01-01 00:00:00' },
      { device_id: 'b', node_id: 'boxb', present_from: '1970-01-01 00:00:00' },
    ],
    gpus: [gpu('a', 'norda'), gpu('a2', 'norda'), gpu('b', 'boxb')],
    want: { a: EMPTY, a2: EMPTY, b: UNKNOWN },
  },
  'a machine that came into a cluster later was handed out before that too': {
    jobs: [job({ node_id: 'norda', cluster: 'lab' })],
    spoken: LAB,
    nodes: [machine('norda'), { ...machine('norda', 'lab'), present_from: '2026-03-03 00:00:00' }, machine('boxb')],
    gpus: [gpu('a', 'norda'), gpu('b', 'boxb')],
    want: { a: EMPTY, b: UNKNOWN },
  },
  'a machine that no inventory lists, and of which samples or jobs tell': {
    jobs: [job({ node_id: 'norda', cluster: 'lab' })],
    spoken: LAB,
    nodes: [],
    inferred: ['norda', 'boxb'].map((node_id) => ({
      device_id: `${node_id}-0`,
      node_id,
      from_at: at(6),
      until_at: at(9),
    })),
    gpus: [gpu('norda-0', 'norda'), gpu('boxb-0', 'boxb')],
    want: { 'norda-0': EMPTY, 'boxb-0': UNKNOWN },
  },
  'of devices on no machine those that a job named, or that are a job’s own': {
    jobs: [job({ device_id: 'a', cluster: 'lab' })],
    spoken: LAB,
    gpus: [gpu('a', null), gpu('b', null), gpu('held:slurm/1/0/0/0', null)],
    want: { a: EMPTY, b: UNKNOWN, 'held:slurm/1/0/0/0': EMPTY },
  },
};

describe('what nobody holds is free only if somebody who hands it out could have said so', () => {
  test.each(Object.entries(cases))('%s', async (_, { jobs, spoken, gpus, devices = [], nodes, inferred, want }) => {
    const listed = new Map(gpus.map((each) => [each['node_id'], each['cluster']]));
    const rows = await stagesOn(
      [handedDay, handed, held],
      {
        allocation: jobs,
        node:
          nodes ??
          [...listed].flatMap(([id, cluster]) =>
            typeof id === 'string' ? [machine(id, cluster as string | null)] : [],
          ),
        device: devices,
        inferred:
          inferred ??
          gpus
            .filter((each) => each['node_id'] === null)
            .map(({ device_id = null }) => ({ device_id, from_at: at(6), until_at: at(9) })),
        presence: gpus,
        holding: [],
      },
      { spoken, heard: '' },
    );
    const told = rows.map((row) => [
      row['device_id'],
      row['disposition'] === 'held' ? UNKNOWN : `${String(row['disposition'])} ${String(row['reason'])}`,
    ]);
    expect(Object.fromEntries(told)).toEqual(want);
  });
});
