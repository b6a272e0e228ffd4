import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { csv, fleetFolder } from '../../test/fleet-folder.ts';
import type { FleetFolder } from '../../test/fleet-folder.ts';
import { SMALL_FLEET } from '../../test/small-fleet.ts';
import { receipt } from './receipt.ts';
import { withReader } from './workspace.ts';

const clock = new Date('2026-11-01T00:00:00Z');

/** Jobs called nightly: 1 of nlp with two lives, 2 of asr after it, then 3 and 4 at the same time. Two sources have a job 9. */
const NAMESAKES = csv(`
  source|allocation_id|attempt|node_id|device_id|held_from|held_until|gpu_count|cluster|account|workload_name
  slurm |1|0|a1|a1-0|2026-03-02T08:00:00Z|2026-03-02T08:30:00Z|1|a|nlp|nightly
  slurm |1|1|a1|a1-0|2026-03-02T09:00:00Z|2026-03-02T10:00:00Z|1|a|nlp|nightly
  slurm |2|0|a1|a1-0|2026-03-02T10:00:00Z|2026-03-02T11:00:00Z|1|a|asr|nightly
  slurm |3|0|a1|a1-0|2026-03-02T11:00:00Z|2026-03-02T12:00:00Z|1|a|nlp|nightly
  slurm |4|0|a1|a1-1|2026-03-02T11:30:00Z|2026-03-02T12:00:00Z|1|a|asr|nightly
  slurm |9|0|a2|a2-0|2026-03-02T08:00:00Z|2026-03-02T09:00:00Z|1|a|nlp|one
  kube  |9|0|a2|a2-1|2026-03-02T08:00:00Z|2026-03-02T09:00:00Z|1|a|asr|other`);

/** Each row of work is of a unit of its own, by which it is told. */
const WORK = csv(`
  source |work_id|unit|window_from|window_until|quantity|allocation_id|run
  trainer|w1|first life   |2026-03-02T08:00:00Z|2026-03-02T08:30:00Z|1| |nightly
  trainer|w2|between lives|2026-03-02T08:30:00Z|2026-03-02T09:00:00Z|1| |nightly
  trainer|w3|as one ends  |2026-03-02T10:00:00Z|                    |1| |nightly
  trainer|w4|over two jobs|2026-03-02T09:30:00Z|2026-03-02T10:30:00Z|1| |nightly
  trainer|w5|second job   |2026-03-02T10:00:00Z|2026-03-02T11:00:00Z|1| |nightly
  trainer|w6|third alone  |2026-03-02T11:10:00Z|                    |1| |nightly
  trainer|w7|both at once |2026-03-02T11:40:00Z|                    |1| |nightly
  trainer|w8|by its id    |2026-03-02T08:05:00Z|                    |1|2|nightly
  trainer|w9|of either    |2026-03-02T08:10:00Z|                    |1|9|
  trainer|wa|of one source|2026-03-02T08:10:00Z|                    |1|slurm/9|`);

const cases: Record<string, { id: string; want: readonly string[] }> = {
  'of its own lives, up to their last second': { id: '1', want: ['as one ends', 'first life'] },
  'of the same name later is its own, and what names it whenever': { id: '2', want: ['by its id', 'second job'] },
  'while nobody else of its name ran': { id: '3', want: ['third alone'] },
  "that another of its name may have done is nobody's": { id: '4', want: [] },
  'of an id of two sources, where it says which': { id: 'slurm/9', want: ['of one source'] },
  'of the other source is none': { id: 'kube/9', want: [] },
};

describe('the work on a receipt is that', () => {
  let fleet: FleetFolder;
  beforeAll(async () => {
    fleet = await fleetFolder({ ...SMALL_FLEET, allocations: NAMESAKES, work: WORK });
  });
  afterAll(() => fleet.remove());

  it.each(Object.entries(cases))('%s', async (_, { id, want }) => {
    const { work } = await withReader(fleet.dataDir, (space) => receipt(space, { id, clock }));
    expect(work.map(({ unit }) => unit)).toEqual(want);
  });
});
