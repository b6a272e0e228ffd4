import { describe, expect, it } from 'vitest';
import { allocationLines, deviceLines, FACT_HEADERS, nodeLines, waitingLines } from './fact-lines.ts';
import {
  attemptOf,
  cellsOf,
  DAY_S,
  daysOf,
  FROM,
  machineOf,
  poolOf,
  providerOf,
  scopeOf,
  spanFrom,
  worldOf,
} from './money/hand-made-days.ts';
import type { Attempt, Job, Node, Waiting } from './organisation.ts';
import type { Pool } from './world/world-schema.ts';

const SCOPE = scopeOf(2);
const HOUR_S = 3600;
const working = { parts: [{ reason: 'stepping', permille: 1000 }] } as const;

/** Rows of the two days, by the names of their columns. */
function rowsOf(table: 'nodes' | 'devices' | 'allocations', nodes: readonly Node[], attempts: readonly Attempt[] = []) {
  const lines = { nodes: nodeLines, devices: deviceLines, allocations: allocationLines }[table];
  const days = daysOf(
    worldOf(
      [providerOf()],
      nodes.map(({ pool }) => pool),
    ),
    SCOPE,
    nodes,
    attempts,
  );
  return days.map((day) => [...lines(day)].map((line) => cellsOf(FACT_HEADERS[table], line)));
}

const only = (names: readonly string[]) => (row: Readonly<Record<string, string>>) =>
  names
    .map((name) => row[name])
    .join(' ')
    .trimEnd();

describe('machines', () => {
  it('are told once, on the day they appear, a row for each state, and only the last may end', () => {
    const broken = machineOf(poolOf(), 'a', {
      states: [
        [FROM + HOUR_S, 'down'],
        [FROM + DAY_S, 'up'],
      ],
    });
    const gone = machineOf(poolOf(), 'b', { from: FROM + 60, until: FROM + 2 * HOUR_S });
    const late = machineOf(poolOf(), 'c', { from: FROM + DAY_S });
    const rows = rowsOf('nodes', [broken, gone, late]);
    expect(rows.map((day) => day.map(only(['node_id', 'state', 'present_from', 'present_until'])))).toEqual([
      [
        'a up 2026-10-29T00:00:00Z',
        'a down 2026-10-29T01:00:00Z',
        'a up 2026-10-30T00:00:00Z',
        'b up 2026-10-29T00:01:00Z 2026-10-29T02:00:00Z',
      ],
      ['c up 2026-10-30T00:00:00Z'],
    ]);
  });

  it('have the columns of their pool and provider, and of the future nothing is told', () => {
    const node = machineOf(poolOf({ cpus_per_gpu: 12 }), 'a', {
      until: SCOPE.until,
      states: [[SCOPE.until + HOUR_S, 'down']],
    });
    expect(rowsOf('nodes', [node])[0]).toEqual([
      {
        node_id: 'a',
        present_from: '2026-10-29T00:00:00Z',
        present_until: '',
        resource_id: 'i-a',
        provider: 'Cloud',
        billing_account: 'C-1',
        region: 'north-1',
        instance_type: 'big.2',
        purchase: 'on-demand',
        cluster: 'atlas',
        gpu_count: '2',
        vcpu: '24',
        memory_bytes: '206158430208',
        state: 'up',
        model: 'NVIDIA H100 80GB HBM3',
        tags: '{"team":"nlp"}',
      },
    ]);
  });

  it('one owns have no provider, and those without tags no empty ones', () => {
    const node = machineOf(poolOf({ purchase: 'owned', tags: {} }), 'a');
    expect(rowsOf('nodes', [node])[0]![0]).toMatchObject({
      resource_id: '',
      provider: '',
      billing_account: '',
      tags: '',
    });
  });

  it('have a row for each GPU and each slice', () => {
    const node = machineOf(poolOf({ gpus_per_node: 1, sharing: 'mig' }), 'a', {
      until: FROM + HOUR_S,
      slices: [31_500, 7875],
    });
    const columns = ['device_id', 'kind', 'parent_device_id', 'share_units', 'present_until'];
    expect(rowsOf('devices', [node])[0]!.map(only(columns))).toEqual([
      'GPU-a-0 gpu  63000 2026-10-29T01:00:00Z',
      'MIG-a-0-0 mig GPU-a-0 31500 2026-10-29T01:00:00Z',
      'MIG-a-0-1 mig GPU-a-0 7875 2026-10-29T01:00:00Z',
    ]);
  });
});

describe('holdings', () => {
  const held = (pool: Partial<Pool>, job: Partial<Job> = {}, hours = 2) => {
    const node = machineOf(poolOf(pool), 'a');
    const attempt = attemptOf('j1', node.devices, [spanFrom(FROM, FROM + hours * HOUR_S, working)]);
    return rowsOf('allocations', [node], [{ ...attempt, job: { ...attempt.job, ...job } }])[0]!;
  };

  it('are told once, a row for each device, with their place on the machine', () => {
    const [a, b] = [machineOf(poolOf(), 'a'), machineOf(poolOf(), 'b')];
    const devices = [b.devices[1]!, a.devices[1]!, b.devices[0]!];
    const job = attemptOf('j1', devices, [spanFrom(FROM + DAY_S - HOUR_S, FROM + DAY_S + HOUR_S, working)]);
    expect(rowsOf('allocations', [a, b], [job]).map((day) => day.map(only(['node_id', 'slot', 'device_id'])))).toEqual([
      ['a 0 GPU-a-1', 'b 0 GPU-b-0', 'b 1 GPU-b-1'],
      [],
    ]);
  });

  it('that go on when the window ends are open, and the list was drawn up then', () => {
    const open = { held_until: '', outcome: 'running', observed_at: '2026-10-31T00:00:00Z' };
    expect(held({}, {}, 49)[0]).toMatchObject(open);
    expect(held({}, {}, 48)[0]).toMatchObject({ ...open, held_until: '2026-10-31T00:00:00Z', outcome: 'completed' });
  });

  it('of machines nobody keeps a list of are not told', () => {
    expect(held({ scheduler: 'none' })).toEqual([]);
  });

  const whose: Record<string, { pool: Partial<Pool>; tagged: boolean; want: object }> = {
    'Slurm tells an account': {
      pool: { scheduler: 'slurm' },
      tagged: true,
      want: { source: 'slurm', account: 'nlp', namespace: '', labels: '{"class":"training"}' },
    },
    'or none, where nobody was asked for one': {
      pool: { scheduler: 'slurm' },
      tagged: false,
      want: { account: '', namespace: '', labels: '' },
    },
    'Kubernetes a namespace and labels': {
      pool: { scheduler: 'kubernetes' },
      tagged: true,
      want: { source: 'kubernetes', account: '', namespace: 'nlp', labels: '{"team":"nlp","class":"training"}' },
    },
    'or a namespace that says nothing': {
      pool: { scheduler: 'kubernetes' },
      tagged: false,
      want: { account: '', namespace: 'default', labels: '' },
    },
  };
  it.each(Object.entries(whose))('%s', (_, { pool, tagged, want }) => {
    const world = worldOf([], []);
    const training = world.habits.find((habit) => habit.kind === 'training' && habit.class === 'training')!;
    expect(held(pool, { tagged, habit: training })[0]).toMatchObject({ user_name: 'ada', ...want });
  });

  it('say how they have their devices', () => {
    expect(held({ sharing: 'time-slice' })[0]).toMatchObject({ isolation: 'time-slice', gpu_count: '1' });
    expect(held({})[0]).toMatchObject({ isolation: 'whole', cpu_millis: '8000', attempt: '0', workload_name: 'j1' });
    const cut = machineOf(poolOf({ gpus_per_node: 1, sharing: 'mig' }), 'a', { slices: [7875] });
    const job = attemptOf('j1', [cut.devices[1]!], [spanFrom(FROM, FROM + HOUR_S, working)]);
    expect(rowsOf('allocations', [cut], [job])[0]![0]).toMatchObject({ isolation: 'mig', device_id: 'MIG-a-0-0' });
  });
});

describe('who waits', () => {
  const { job } = attemptOf('j1', machineOf(poolOf(), 'a').devices, [spanFrom(FROM, FROM + HOUR_S, working)]);
  const asks = (id: string, scheduler: Pool['scheduler'], hour: number, pool = poolOf({ scheduler })): Waiting => ({
    job: { ...job, id, pool, gpus: 16, name: `run-${id}` },
    askedAt: FROM + hour * HOUR_S,
  });
  const told = (waiting: readonly Waiting[]) =>
    daysOf(worldOf([providerOf()], [poolOf()]), SCOPE, []).map((day) =>
      [...waitingLines({ ...day, waiting })].map((line) => cellsOf(FACT_HEADERS.waiting, line)),
    );

  it('is told when the window ends, with what they asked for', () => {
    expect(told([asks('7', 'slurm', 30)])).toEqual([
      [],
      [
        {
          source: 'slurm',
          allocation_id: '7',
          submitted_at: '2026-10-30T06:00:00Z',
          observed_at: '2026-10-31T00:00:00Z',
          gpu_count: '16',
          model: 'NVIDIA H100 80GB HBM3',
          held_back_by: 'Resources',
          cluster: 'atlas',
          namespace: '',
          account: 'nlp',
          user_name: 'ada',
          workload_kind: 'Job',
          workload_name: 'run-7',
          labels: '{"class":"training"}',
        },
      ],
    ]);
  });

  it('waits in Slurm for machines or for who is first, and in Kubernetes because nothing fits', () => {
    const [slurm, other] = [poolOf(), poolOf({ name: 'other' })];
    const waiting = [
      asks('1', 'slurm', 1, slurm),
      asks('2', 'slurm', 2, slurm),
      asks('3', 'slurm', 3, other),
      asks('4', 'kubernetes', 4),
      asks('5', 'none', 5),
    ];
    expect(told(waiting)[1]!.map(only(['allocation_id', 'held_back_by']))).toEqual([
      '1 Resources',
      '2 Priority',
      '3 Resources',
      '4 Unschedulable',
    ]);
  });
});
