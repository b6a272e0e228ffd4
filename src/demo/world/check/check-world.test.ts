import { describe, expect, it } from 'vitest';
import { checkWorld } from './check-world.ts';
import { PRESETS } from '../presets.ts';
import { pathText } from '../../../facts/yaml/file-problem.ts';
import type { Box, Habit, Notebook, Serving, Sweep, Training } from '../habit-schema.ts';
import { worldSchema, type Gpu, type Pool, type Provider, type World } from '../world-schema.ts';

const NOTHING = { p0: 0, p10: 0, p50: 0, p90: 0, p99: 0, p100: 0 };

const { unmanaged } = PRESETS;

const card = (memory_mib: number, full_w: number): Gpu => ({
  model: `a card of ${memory_mib} MiB`,
  memory_mib,
  rest_w: 9,
  held_w: 9,
  full_w,
  pcie_mb_s: 63_000,
  nvlink_mb_s: 0,
});

const billing = (name: string, currency: string, usd_per_unit: number): Provider => ({
  ...unmanaged.providers[0]!,
  name,
  currency,
  usd_per_unit,
});

const owned: Omit<Pool, 'name' | 'share_percent' | 'gpu'> = {
  cluster: 'atlas',
  scheduler: 'slurm',
  gpus_per_node: 8,
  cpus_per_gpu: 16,
  instance_type: 'eight-cards',
  region: 'berlin',
  purchase: 'owned',
  price_per_gpu_hour: 1.35,
  list_price_per_gpu_hour: 3.43,
  sharing: 'whole',
  placement: 'spread',
  days_between_failures: 60,
  hours_broken: { p0: 1, p10: 2, p50: 9, p90: 40, p99: 120, p100: 200 },
  drained_percent: 1,
  tags: {},
};
const rented = { ...owned, scheduler: 'kubernetes', provider: 'AWS', purchase: 'on-demand' } as const;
const spot = {
  ...rented,
  purchase: 'spot',
  spot_hours_between_interruptions: 30,
  spot_hours_until_replaced: { p0: 0.1, p10: 0.2, p50: 0.5, p90: 4, p99: 12, p100: 24 },
} as const;

const pools: Pool[] = [
  { ...rented, name: 'train-h100', share_percent: 20, gpu: 'h100', purchase: 'committed', commitment_used_percent: 96 },
  { ...rented, name: 'rent-h100', share_percent: 10, gpu: 'h100' },
  { ...owned, name: 'train-a100', share_percent: 20, gpu: 'a100-80' },
  { ...spot, name: 'spot-a100', share_percent: 10, gpu: 'a100-40' },
  {
    ...rented,
    name: 'mig-a100',
    share_percent: 5,
    gpu: 'a100-80',
    sharing: 'mig',
    mig_profiles: ['3g.40gb', '2g.20gb'],
  },
  { ...rented, name: 'serve-l4', share_percent: 15, gpu: 'l4' },
  { ...rented, name: 'dev-t4', share_percent: 8, gpu: 't4', sharing: 'time-slice', time_slices: 4 },
  { ...rented, name: 'vm-l4', share_percent: 8, gpu: 'l4', scheduler: 'none', provider: 'Polar Compute' },
  { ...rented, name: 'legacy-t4', share_percent: 4, gpu: 't4' },
];

/** Any habit of the kind: whatever a case depends on is set anew below. */
function some<Kind extends Habit['kind']>(kind: Kind): Extract<Habit, { kind: Kind }> {
  type Wanted = Extract<Habit, { kind: Kind }>;
  return { ...unmanaged.habits.find((one): one is Wanted => one.kind === kind)!, team: 'nlp', kernel: 'llm-training' };
}

const habits: Habit[] = [
  { ...some('training'), name: 'llm-pretrain', pool: 'train-h100', load_percent: 60 },
  { ...some('training'), name: 'finetune-eight', pool: 'train-h100', load_percent: 16 },
  { ...some('sweep'), name: 'asr-sweep', pool: 'train-a100', load_percent: 10 },
  { ...some('notebook'), name: 'interactive', pool: 'train-h100', load_percent: 16 },
  { ...some('serving'), name: 'chat-api', pool: 'serve-l4', share_percent: 48, purpose: 'traffic' },
  { ...some('serving'), name: 'embeddings', pool: 'serve-l4', share_percent: 22, purpose: 'traffic' },
  { ...some('serving'), name: 'chat-standby', pool: 'serve-l4', share_percent: 10, purpose: 'standby' },
  { ...some('box'), name: 'workstation', pool: 'vm-l4', share_percent: 100 },
];

/** A world of its own, so that the numbers of the presets can be tuned. */
const smallWorld: World = {
  ...unmanaged,
  name: 'small',
  gpus: {
    h100: card(81_559, 700),
    'a100-80': card(81_920, 400),
    'a100-40': card(40_960, 400),
    l4: card(23_034, 72),
    t4: card(15_360, 70),
  },
  kernels: Object.fromEntries(
    ['llm-training', 'small-training', 'llm-serving'].map((name) => [name, Object.values(unmanaged.kernels)[0]!]),
  ),
  providers: [billing('AWS', 'USD', 1), billing('Polar Compute', 'EUR', 1.085)],
  pools,
  teams: [
    { name: 'nlp', users: ['mchen', 'ada'], utc_offset_hours: -8 },
    { name: 'vision', users: ['lena', 'jsmit', 'pkowalski'], utc_offset_hours: 1 },
    { name: 'asr', users: ['yuki'], utc_offset_hours: 9 },
  ],
  calendar: { ...unmanaged.calendar, day_begins_hour: 9, day_ends_hour: 18 },
  habits,
};

const pool = (world: World, name: string): Pool => world.pools.find((one) => one.name === name)!;
const training = (world: World) => world.habits.find((one): one is Training => one.kind === 'training')!;
const sweep = (world: World) => world.habits.find((one): one is Sweep => one.kind === 'sweep')!;
const notebook = (world: World) => world.habits.find((one): one is Notebook => one.kind === 'notebook')!;
const serving = (world: World) => world.habits.find((one): one is Serving => one.kind === 'serving')!;
const box = (world: World) => world.habits.find((one): one is Box => one.kind === 'box')!;

interface Case {
  readonly change: (world: World) => void;
  readonly want: readonly string[];
}

const cases: Record<string, Case> = {
  'nothing is wrong': { change: () => undefined, want: [] },
  'a habit of a team that left': {
    change: (world) => void (training(world).team = 'npl'),
    want: ['habits[0].team: there is no team "npl"; there are nlp, vision, asr'],
  },
  'a kernel misspelt': {
    change: (world) => void (training(world).kernel = 'llm-trainin'),
    want: [
      'habits[0].kernel: there is no kernel "llm-trainin"; there are llm-training, small-training, llm-serving; nearest: llm-training',
    ],
  },
  'a card nobody has': {
    change: (world) => void (pool(world, 'train-h100').gpu = 'h200'),
    want: ['pools[0].gpu: there is no gpu "h200"; there are h100, a100-80, a100-40, l4, t4; nearest: h100'],
  },
  'a name every object has is still not a card': {
    change: (world) => void (pool(world, 'train-h100').gpu = 'constructor'),
    want: ['pools[0].gpu: there is no gpu "constructor"; there are h100, a100-80, a100-40, l4, t4'],
  },
  'a provider misspelt': {
    change: (world) => void (pool(world, 'vm-l4').provider = 'Polar Computing'),
    want: [
      'pools[7].provider: there is no provider "Polar Computing"; there are AWS, Polar Compute; nearest: Polar Compute',
    ],
  },
  'two pools of one name': {
    change: (world) => void world.pools.push({ ...pool(world, 'dev-t4'), share_percent: 0 }),
    want: ['pools[9].name: the name "dev-t4" is taken by pools[6]'],
  },
  'two habits of one name': {
    change: (world) => void (world.habits[1]!.name = world.habits[0]!.name),
    want: ['habits[1].name: the name "llm-pretrain" is taken by habits[0]'],
  },
  'two teams and two providers of one name': {
    change: (world) => {
      world.teams.push(world.teams[0]!);
      world.providers.push(world.providers[0]!);
    },
    want: [
      'providers[2].name: the name "AWS" is taken by providers[0]',
      'teams[3].name: the name "nlp" is taken by teams[0]',
    ],
  },
  'somebody listed twice in a team': {
    change: (world) => void world.teams[1]!.users.push('lena'),
    want: ['teams[1].users[3]: the login "lena" stands twice'],
  },
  'pools that are not all of the fleet': {
    change: (world) => void (pool(world, 'legacy-t4').share_percent = 3.5),
    want: ['pools: the pools’ share_percent must add up to 100, but add up to 99.5'],
  },
  'thirds that add up to a hundred nearly': {
    change: (world) => {
      for (const one of world.pools) one.share_percent = 100 / 9;
    },
    want: [],
  },
  'a bill for what is owned': {
    change: (world) => void (pool(world, 'train-a100').provider = 'AWS'),
    want: ['pools[2].provider: nobody bills what is owned, but is "AWS"'],
  },
  'rented from nobody': {
    change: (world) => void delete pool(world, 'rent-h100').provider,
    want: ['pools[1].provider: is missing: machines bought on-demand are billed by somebody'],
  },
  'a commitment of unknown use': {
    change: (world) => void delete pool(world, 'train-h100').commitment_used_percent,
    want: ['pools[0].commitment_used_percent: is missing, and purchase committed needs it'],
  },
  'a commitment nobody uses would be endless': {
    change: (world) => void (pool(world, 'train-h100').commitment_used_percent = 0),
    want: ['pools[0].commitment_used_percent: must be at least 1 for purchase committed, but is 0'],
  },
  'spot machines of unknown life': {
    change: (world) => {
      delete pool(world, 'spot-a100').spot_hours_between_interruptions;
      delete pool(world, 'spot-a100').spot_hours_until_replaced;
    },
    want: [
      'pools[3].spot_hours_between_interruptions: is missing, and purchase spot needs it',
      'pools[3].spot_hours_until_replaced: is missing, and purchase spot needs it',
    ],
  },
  'spot machines that are gone at once': {
    change: (world) => void (pool(world, 'spot-a100').spot_hours_between_interruptions = 0),
    want: ['pools[3].spot_hours_between_interruptions: must be more than 0 for purchase spot, but is 0'],
  },
  'machines that break at once': {
    change: (world) => void (pool(world, 'dev-t4').days_between_failures = 0),
    want: ['pools[6].days_between_failures: must be more than 0, but is 0'],
  },
  'time slices without a number': {
    change: (world) => void delete pool(world, 'dev-t4').time_slices,
    want: ['pools[6].time_slices: is missing, and sharing time-slice needs it'],
  },
  'cut into no slices': {
    change: (world) => void (pool(world, 'mig-a100').mig_profiles = []),
    want: ['pools[4].mig_profiles: is missing or empty, and sharing mig needs it'],
  },
  'slices that do not fit': {
    change: (world) => void (pool(world, 'mig-a100').mig_profiles = ['3g.40gb', '3g.40gb', '1g.10gb']),
    want: [
      'pools[4].mig_profiles: 3g.40gb, 3g.40gb, 1g.10gb do not fit one GPU: they take 9 of 8 slots of memory and 7 of 7 of compute',
    ],
  },
  'eight slices of memory, but only seven of compute': {
    change: (world) => void (pool(world, 'mig-a100').mig_profiles = Array<'1g.10gb'>(8).fill('1g.10gb')),
    want: [
      'pools[4].mig_profiles: 1g.10gb, 1g.10gb, 1g.10gb, 1g.10gb, 1g.10gb, 1g.10gb, 1g.10gb, 1g.10gb do not fit one GPU: they take 8 of 8 slots of memory and 8 of 7 of compute',
    ],
  },
  'the whole card, cut': {
    change: (world) => void (pool(world, 'mig-a100').mig_profiles = ['3g.40gb', '3g.40gb']),
    want: [],
  },
  'slices of the smaller card': {
    change: (world) => void (pool(world, 'mig-a100').mig_profiles = ['3g.20gb', '2g.20gb']),
    want: ['pools[4].mig_profiles[0]: 3g.20gb is no slice of a GPU of 81920 MiB'],
  },
  'slices of the smaller card, on it': {
    change: (world) => Object.assign(pool(world, 'mig-a100'), { gpu: 'a100-40', mig_profiles: ['3g.20gb', '1g.5gb'] }),
    want: [],
  },
  'a price of seven decimals': {
    change: (world) => void (pool(world, 'rent-h100').price_per_gpu_hour = 6.8800001),
    want: ['pools[1].price_per_gpu_hour: must have at most 6 decimals in USD, but is 6.8800001'],
  },
  'a price of six': { change: (world) => void (pool(world, 'rent-h100').price_per_gpu_hour = 6.880001), want: [] },
  'a price in euros beyond the cent': {
    change: (world) => void (pool(world, 'vm-l4').list_price_per_gpu_hour = 0.745),
    want: ['pools[7].list_price_per_gpu_hour: must have at most 2 decimals in EUR, but is 0.745'],
  },
  'a rate of five decimals': {
    change: (world) => void (world.providers[1]!.usd_per_unit = 1.08512),
    want: ['providers[1].usd_per_unit: must have at most 4 decimals, but is 1.08512'],
  },
  'money worth nothing, and a dollar worth two': {
    change: (world) => {
      world.providers[0]!.usd_per_unit = 2;
      world.providers[1]!.usd_per_unit = 0;
    },
    want: [
      'providers[0].usd_per_unit: must be 1 for USD, but is 2',
      'providers[1].usd_per_unit: must be more than 0, but is 0',
    ],
  },
  'a card that draws as much at rest': {
    change: (world) => void (world.gpus['l4']!.rest_w = 72),
    want: ['gpus.l4.rest_w: must be less than full_w 72, but is 72'],
  },
  'cards that draw less while they are held than empty, or as much as at work': {
    change: (world) => {
      world.gpus['l4']!.held_w = 8;
      world.gpus['t4']!.held_w = 70;
    },
    want: [
      'gpus.l4.held_w: must be from rest_w 9 to less than full_w 72, but is 8',
      'gpus.t4.held_w: must be from rest_w 9 to less than full_w 70, but is 70',
    ],
  },
  'people who go home before they come': {
    change: (world) => void (world.calendar.day_ends_hour = 9),
    want: ['calendar.day_ends_hour: must come after day_begins_hour 9, but is 9'],
  },
  'nobody ever submits': {
    change: (world) => void world.calendar.submissions_by_hour.fill(0),
    want: ['calendar.submissions_by_hour: must have an hour with a weight above 0'],
  },
  'a box in a cluster': {
    change: (world) => Object.assign(box(world), { pool: 'dev-t4', share_percent: 1 }),
    want: ['habits[7].pool: a box is a plain machine, but dev-t4 has the scheduler kubernetes'],
  },
  'a notebook on plain machines': {
    change: (world) => Object.assign(notebook(world), { pool: 'vm-l4' }),
    want: ['habits[3].pool: vm-l4 has no scheduler, so that only boxes can be there, but this is notebook'],
  },
  'exactly as much as may be asked for': { change: (world) => void (training(world).load_percent = 98), want: [] },
  'a little more': {
    change: (world) => void (training(world).load_percent = 98.5),
    want: [
      'habits[0].load_percent: more jobs than anyone could run: the habits of pool train-h100 ask for 130.5 % of its GPU-hours (llm-pretrain 98.5, finetune-eight 16, interactive 16); at most 130',
    ],
  },
  'replicas count too': {
    change: (world) => Object.assign(notebook(world), { pool: 'serve-l4', load_percent: 60 }),
    want: [
      'habits[3].load_percent: more jobs than anyone could run: the habits of pool serve-l4 ask for 140 % of its GPU-hours (interactive 60, chat-api 48, embeddings 22, chat-standby 10); at most 130',
    ],
  },
  'runs that take no time': {
    change: (world) => void (training(world).hours = NOTHING),
    want: ['habits[0].hours: must be at least 0.02 on average, but is 0'],
  },
  'sweeps of nothing': {
    change: (world) => Object.assign(sweep(world), { hours: NOTHING, trials: NOTHING }),
    want: [
      'habits[2].hours: must be at least 0.02 on average, but is 0',
      'habits[2].trials.p50: must be at least 1, but is 0',
    ],
  },
  'sessions of no bursts and no pauses': {
    change: (world) =>
      Object.assign(notebook(world), { burst_minutes: NOTHING, pause_minutes: NOTHING, days_used: NOTHING }),
    want: [
      'habits[3].burst_minutes.p50: must be at least 0.1, but is 0',
      'habits[3].pause_minutes.p50: must be at least 0.1, but is 0',
      'habits[3].days_used.p50: must be at least 0.1, but is 0',
    ],
  },
  'a box of no pauses': {
    change: (world) => Object.assign(box(world), { pause_minutes: NOTHING }),
    want: ['habits[7].pause_minutes.p50: must be at least 0.1, but is 0'],
  },
  'validations without end': {
    change: (world) => void (training(world).validation_hours = 0.001),
    want: ['habits[0].validation_hours: must be 0 or at least 0.1, but is 0.001'],
  },
  'runs of no size': {
    change: (world) => void (training(world).gpus = { '8': 0 }),
    want: ['habits[0].gpus: must have a size with a weight above 0'],
  },
  'a service nobody calls says so by its purpose': {
    change: (world) => Object.assign(serving(world), { requests_by_hour: Array(24).fill(0), request_s: 0 }),
    want: [
      'habits[4].requests_by_hour: must have an hour with requests, or nobody calls it',
      'habits[4].request_s: must be more than 0, but is 0',
    ],
  },
  'a standby needs no requests': {
    change: (world) => Object.assign(serving(world), { purpose: 'standby', requests_by_hour: Array(24).fill(0) }),
    want: [],
  },
};

describe('what a schema cannot say', () => {
  it('begins with a world the schema is content with', () => {
    expect(worldSchema.safeParse(smallWorld).error).toBeUndefined();
  });

  it.each(Object.entries(cases))('%s', (_, { change, want }) => {
    const world = structuredClone(smallWorld);
    change(world);
    expect(checkWorld(world).map(({ path, what }) => `${pathText(path)}: ${what}`)).toEqual(want);
  });
});
