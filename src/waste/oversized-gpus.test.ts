import { expect, test } from 'vitest';
import { claimsOn } from '../../test/claims-on.ts';
import { oversizedGpus } from './oversized-gpus.ts';

/** Runs of ten hours, all alike but for the last, which may have a larger peak. */
interface Runs {
  readonly runs?: number;
  readonly model?: string;
  readonly manner?: string;
  readonly gpus?: number;
  readonly memoryMib?: number | null;
  readonly lastMib?: number;
  readonly sm?: number | null;
  readonly tensor?: number | null;
  readonly gap?: number;
  readonly unknown?: number;
  readonly isShared?: boolean;
  /** One more GPU of each run, of which only this is known. */
  readonly other?: { readonly sm: number | null; readonly tensor: number | null };
}

function fleet({
  runs = 6,
  model = 'NVIDIA A100-SXM4-80GB',
  manner = 'job',
  gpus = 1,
  memoryMib = 9000,
  lastMib,
  sm = 150,
  tensor = 0,
  gap = 0,
  unknown = 0,
  isShared = false,
  other,
}: Runs): Parameters<typeof claimsOn>[1] {
  const ids = Array.from({ length: runs }, (_, n) => n);
  const day = '2026-03-02';
  return {
    stint_day: ids.flatMap((id) =>
      Array.from({ length: other === undefined ? gpus : gpus + 1 }, (_, gpu) => ({
        day,
        subject: `job slurm/${id}/0`,
        source: 'slurm',
        allocation_id: `${id}`,
        attempt: 0,
        node_id: 'n',
        device_id: `d${gpu}`,
        root_device_id: `d${gpu}`,
        manner,
        held_from: `${day} 00:00:00`,
        held_until: `${day} 10:00:00`,
        held_since: `${day} 00:00:00`,
        held_s: 36_000,
        computing_s: 36_000 - unknown * 36,
        idle_s: 0,
        unknown_s: unknown * 36,
        gap_s: gap * 36,
        pause_s: 0,
        exchange_s: 0,
        units: 36_000 * (isShared ? 31_500 : 63_000),
        fb_used_mib_max: id === runs - 1 && lastMib !== undefined ? lastMib : memoryMib,
        sm_permille: gpu < gpus ? sm : (other?.sm ?? null),
        tensor_permille: gpu < gpus ? tensor : (other?.tensor ?? null),
        engine_permille: 1000 - gap,
      })),
    ),
    subject: ids.map((id) => ({
      day,
      subject: `job slurm/${id}/0`,
      what: 'job',
      account: 'research',
      workload_stem: 'tabular-0',
    })),
    subject_day: ids.map((id) => ({
      day,
      subject: `job slurm/${id}/0`,
      allocation_id: `${id}`,
      device_id: 'd0',
      model,
      category: 'computing',
    })),
  };
}

const SILENT: Readonly<Record<string, Runs>> = {
  'a server, which takes the memory it is given': { manner: 'serving' },
  'a notebook': { manner: 'interactive' },
  'four runs, which may be unusual': { runs: 4 },
  'work of which one run needed more memory': { lastMib: 40_000 },
  'work that pre-allocates the memory': { memoryMib: 75_000 },
  'work that keeps the SMs busy': { sm: 600 },
  'work on the tensor pipe': { tensor: 200 },
  'work that waits: it is starved, not small': { gap: 400 },
  'a GPU that has few smaller ones': { model: 'Tesla T4', memoryMib: 1000 },
  'a GPU nobody knows the memory of': { model: 'Zorg' },
  'sensors that were away': { unknown: 200 },
  'GPUs without profiling fields': { sm: null },
  'runs half of whose time has no SM activity: the rest says nothing about it': { other: { sm: null, tensor: null } },
  'memory that was not measured': { memoryMib: null },
  'a GPU that is shared already': { isShared: true },
};

test.each(Object.entries(SILENT))('asks nothing of %s', async (_, runs) => {
  expect(await claimsOn(oversizedGpus, fleet(runs))).toEqual([]);
});

test('asks about small work on a large GPU, with the trial to run, and claims nothing', async () => {
  const [claim, ...others] = await claimsOn(oversizedGpus, fleet({}));
  expect(others).toEqual([]);
  expect(claim).toMatchObject({
    what: 'does tabular on A100-80GB need a GPU that large? 6 runs',
    isQuestion: true,
    takes: [],
  });
  expect(claim?.fix[0]).toBe(
    '# one run on L4 or a 1g.20gb slice of its own model, at the same batch size; compare cost for a step: bursar receipt JOB',
  );
});

test('the last moment of a run, in which no sample came, does not take the memory of its day away', async () => {
  const told = fleet({});
  const moment = { day: '2026-03-03', held_from: '2026-03-03 00:00:00', held_until: '2026-03-03 00:00:20' };
  const seconds = { held_s: 20, computing_s: 20, gap_s: 0, units: 20 * 63_000 };
  const after = told.stint_day?.map((row) => ({ ...row, ...moment, ...seconds, fb_used_mib_max: null })) ?? [];
  const claims = await claimsOn(oversizedGpus, { ...told, stint_day: [...(told.stint_day ?? []), ...after] });
  expect(claims.map(({ what }) => what)).toEqual(['does tabular on A100-80GB need a GPU that large? 6 runs']);
});

test('asks about jobs of several GPUs apart, and offers them no slice', async () => {
  const [claim] = await claimsOn(oversizedGpus, fleet({ gpus: 4 }));
  expect(claim?.what).toBe('does tabular on A100-80GB need a GPU that large? 6 runs, jobs of several GPUs');
  expect(claim?.fix[0]).not.toContain('slice');
});

test('says of the tensor pipe only what was measured', async () => {
  const because = async (runs: Runs) => (await claimsOn(oversizedGpus, fleet(runs)))[0]?.because.join(' ');
  expect(await because({ tensor: 30 })).toContain('the tensor pipe 3 %');
  // Of the time that carries it, not of all of it.
  expect(await because({ tensor: 40, other: { sm: 150, tensor: null } })).toContain('the tensor pipe 4 %');
  const unknown = await because({ tensor: null });
  expect(unknown).not.toContain('0 %');
  expect(unknown).toContain('The tensor pipe was not measured');
});
