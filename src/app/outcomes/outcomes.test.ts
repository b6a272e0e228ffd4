import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { csv, fleetFolder } from '../../../test/fleet-folder.ts';
import type { FleetFolder } from '../../../test/fleet-folder.ts';
import { ledgerWindow } from '../window.ts';
import { withReader } from '../workspace.ts';
import { outcomes } from './outcomes.ts';

const NOW = new Date('2026-03-05T00:00:00Z');
const at = (day: number, hour = 0): string => `2026-03-0${day}T${String(hour).padStart(2, '0')}:00:00Z`;

/** GPUs at $10 an hour: a service of three days with a second replica on the third, whose traffic does not grow, and two jobs that have CPUs too. */
let fleet: FleetFolder;
beforeAll(async () => {
  fleet = await fleetFolder({
    nodes: csv(`
      node_id|present_from|present_until|cluster|gpu_count|model
      ${['s1', 's2', 'g1'].map((node) => `${node}|${at(2)}|${at(5)}|k|1|H100`).join('\n')}`),
    rates: csv(`
      model|usd_per_gpu_hour
      H100|10.00`),
    allocations: csv(`
      source|allocation_id|node_id|held_from|held_until|gpu_count|cluster|namespace|workload_kind|workload_name|outcome|labels
      kube |chat-1|s1|${at(2)}   |${at(5)}    |1|k|web|Deployment|chat|         |{"class": "inference"}
      kube |chat-2|s2|${at(4)}   |${at(5)}    |1|k|web|Deployment|chat|         |{"class": "inference"}
      slurm|7     |g1|${at(3, 6)}|${at(3, 8)} |1|k|lab|Job       |fit |completed|{"class": "training"}
      slurm|7     |c1|${at(3)}   |${at(3, 12)}|0|k|lab|Job       |fit |completed|{"class": "training"}
      slurm|8     |g1|${at(3, 8)}|${at(3, 9)} |1|k|lab|Job       |prep|failed   |{"class": "training"}
      slurm|8     |c1|${at(3, 9)}|${at(3, 10)}|0|k|lab|Job       |prep|completed|{"class": "training"}`),
    work: csv(`
      source|work_id|unit|window_from|window_until|quantity|allocation_id|model_name
      vllm|w1|token|${at(2)}|${at(3)}|2000|chat-1|chat-8b
      vllm|w1|token|${at(3)}|${at(4)}|1000|chat-1|chat-8b
      vllm|w1|token|${at(4)}|${at(5)}|500 |chat-1|chat-8b
      vllm|w2|token|${at(4)}|${at(5)}|500 |chat-2|chat-8b`),
  });
}, 120_000);
afterAll(() => fleet.remove());

const told = (window: string) =>
  withReader(fleet.dataDir, (space) =>
    outcomes(space, { window: ledgerWindow(window, NOW, space.scope), now: NOW, by: 'run' }),
  );

describe('outcomes', () => {
  it.each([
    { name: 'there is an alarm where the day before is known', window: '2026-03-04', want: ['chat-8b'] },
    { name: 'there is none where the facts begin within the days before', window: '2026-03-03/2026-03-05', want: [] },
  ])('$name', async ({ window, want }) => {
    const { rows, alarms } = await told(window);
    const [served] = rows.filter(({ unit }) => unit === 'token');
    // The figures of before are the same kind in both: dearer now, with the same traffic or less.
    expect(served?.now.paid.usdMicros).toBeGreaterThan((served?.before?.paid.usdMicros ?? 0n) + 200_000_000n);
    expect(served?.now.quantityMillionths).toBeLessThanOrEqual(served?.before?.quantityMillionths ?? 0n);
    expect(alarms.map(({ name }) => name)).toEqual(want);
  });

  it('a run is finished, and as long, as what it did with GPUs', async () => {
    const { runs } = await told('2026-03-03');
    expect(runs.map(({ name, now }) => [name, now.runs, now.medianRunSeconds])).toEqual([['fit', 1, 7200]]);
  });
});
