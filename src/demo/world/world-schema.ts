import { z } from 'zod';
import { habit } from './habit-schema.ts';
import { count, decimal, percent, permille, quantiles, spread, text } from './field.ts';

export type Quantiles = z.infer<typeof quantiles>;

/** More than a GPU-hour or a unit of any currency is worth; beyond it a bill outgrows what is counted exactly. */
export const DOLLARS_MAX = 10_000;

/** Where a reason's money belongs. `arguable`: sensible people disagree, so no tool is right or wrong about it. */
export const TRUE_CATEGORIES = [
  'computing',
  'starved',
  'idle',
  'lost',
  'unallocated',
  'stranded',
  'beside',
  'unknown',
  'arguable',
] as const;

/** Why a second or a dollar was spent: the event that spent it, never a threshold. */
export const REASONS = {
  stepping: 'a training or batch step computed, and its result was kept',
  'waiting-for-data': 'the step was done before the loader had the next batch',
  'all-reduce': 'GPUs waited for the gradients of the others',
  checkpointing: 'the run stood still to write a checkpoint',
  'starting-up': 'the image was pulled, the data staged, the model built',
  'validating-on-cpu': 'metrics were computed on the CPU while the GPUs waited',
  'lost-since-checkpoint': 'a run crashed, and what it did after its last checkpoint was done again',
  'failed-early': 'a run ended by a mistake in its code or configuration within its first minutes',
  'failed-for-good': 'a run crashed and was given up, so nothing it did was used',
  preempted: 'the machine was taken away, and what was done after the last checkpoint was done again',
  'cancelled-work': 'somebody stopped the run half-way',
  'finished-still-holding': 'the work was done, and its pods or its session stayed',
  'never-touched': 'the job asked for these GPUs and put nothing on them',
  'sweep-loser': 'a trial ran to its end long after it had fallen behind',
  debugging: 'somebody ran something in a notebook, a shell or on a development machine',
  thinking: 'somebody was there, and read or wrote between two runs',
  'left-overnight': 'somebody went home, left it on, and came back to it',
  forgotten: 'somebody went away and did not come back to it',
  serving: 'a replica answered requests',
  'between-requests': 'a replica that the traffic of the hour needs had none in flight',
  'sized-for-peak': 'a replica more than the traffic of the hour needs',
  standby: 'a replica kept warm in case another region fails',
  abandoned: 'a service nobody calls any more, of people who have left',
  empty: 'a GPU that was up and that nobody asked for, or that fitted nobody',
  down: 'the machine was broken',
  drained: 'the machine was taken out of service by its operators',
  'mig-rest': 'the part of a GPU that its slices leave over',
  'commitment-unused': 'paid for by a commitment, and no machine used it',
  'unlisted-machine': 'a GPU machine on the bill that no inventory knows',
  storage: 'volumes and buckets',
  egress: 'data sent out',
  support: 'the support plan',
  tax: 'tax',
  credit: 'a credit of the provider',
} as const;

export type Reason = keyof typeof REASONS;
export type TrueCategory = (typeof TRUE_CATEGORIES)[number];

const gpu = z.strictObject({
  model: text('The name the driver gives it.'),
  memory_mib: count('Device memory, in MiB.'),
  rest_w: count('Watts it draws when nothing runs.'),
  held_w: count('Watts it draws when nothing runs and somebody holds memory: a context keeps the clocks up.'),
  full_w: count('Watts it draws at full work.'),
  pcie_mb_s: count('Megabytes a second PCIe carries at most, both ways.'),
  nvlink_mb_s: count('Megabytes a second NVLink carries at most, both ways; 0 where there is none.'),
});

/** What sensors would see while nothing but this work ran on the GPU. */
const kernel = z.strictObject({
  engine_permille: permille('Share of time its engine is active.'),
  sm_permille: permille('Share of time its SMs are active.'),
  tensor_permille: permille('Share of time its tensor pipe is active.'),
  dram_permille: permille('Share of time its memory is read or written.'),
  util_permille: permille('Share of time some kernel is resident, which is what nvidia-smi calls utilisation.'),
  power_permille: permille('Power above rest, of what lies between rest and full.'),
  memory_permille: permille('Device memory it fills.'),
  pcie_permille: permille('PCIe traffic, of the most it carries.'),
  nvlink_permille: permille('NVLink traffic, of the most it carries.'),
});

const provider = z.strictObject({
  name: text('As the bill says it (FOCUS ProviderName).'),
  account: text('As the bill says it (FOCUS BillingAccountId).'),
  currency: z
    .string()
    .regex(/^[A-Z]{3}$/, 'three capital letters, like USD')
    .describe('ISO 4217 code of its bills.'),
  usd_per_unit: decimal(
    'What one unit of that currency is worth in US dollars, at most four decimals; 1 for USD.',
    DOLLARS_MAX,
  ),
  bills_by: z.enum(['hour', 'day']).describe('How long one row of its bill is.'),
  storage_percent: percent('Storage, as a share of what its GPU machines cost that day.'),
  egress_percent: percent('Data sent out, as a share of what its GPU machines cost that day.'),
  support_percent: percent('Support plan, as a share of everything else on the month’s bill.'),
  tax_percent: percent('Tax, as a share of everything else on the month’s bill.'),
  credit_percent: percent('Credit it grants, as a share of what its GPU machines cost in the month.'),
  corrected_hours: count(
    'Rows a month that were charged twice at first and then corrected by a negative row.',
    0,
    1000,
  ),
  reissued: z.boolean().describe('Whether it sends a first bill without the last three days, and the full one later.'),
  unlisted_percent: percent(
    'GPU machines on its bill that no inventory knows, as a share of what the known ones cost.',
  ),
});

const pool = z.strictObject({
  name: text('What habits call it; part of the names of its machines.'),
  cluster: text('The cluster it belongs to.'),
  scheduler: z
    .enum(['slurm', 'kubernetes', 'none'])
    .describe(
      'Who hands its GPUs out; none: plain machines that people log in to, of which nobody keeps a list of holders.',
    ),
  share_percent: percent('Its part of the GPUs of the fleet; the pools add up to 100.'),
  gpu: text('Which of the gpus above.'),
  gpus_per_node: count('GPUs in each machine.', 1, 1000),
  cpus_per_gpu: count('CPU cores beside each GPU.', 1),
  instance_type: text('The machine type.'),
  provider: text('Which of the providers above; left out for hardware one owns.').optional(),
  region: text('Where (FOCUS RegionId).'),
  purchase: z.enum(['on-demand', 'spot', 'committed', 'owned']).describe('How its machines are bought.'),
  price_per_gpu_hour: decimal(
    'What a GPU-hour costs, with its part of the host, in the provider’s currency: on demand, by commitment, by spot on average, or the stated rate of owned hardware.',
    DOLLARS_MAX,
  ),
  list_price_per_gpu_hour: decimal('What it costs on demand, without commitment or spot.', DOLLARS_MAX),
  commitment_used_percent: percent(
    'For committed pools: how much of what was committed has machines; the rest is paid and unused.',
  ).optional(),
  spot_hours_between_interruptions: decimal(
    'For spot pools: hours a machine lasts on average before it is taken away.',
  ).optional(),
  spot_hours_until_replaced: spread('For spot pools: hours until another takes its place.').optional(),
  sharing: z.enum(['whole', 'mig', 'time-slice']).describe('How its GPUs are handed out.'),
  mig_profiles: z
    .array(z.enum(['1g.10gb', '2g.20gb', '3g.40gb', '1g.5gb', '2g.10gb', '3g.20gb']))
    .describe('For mig: the slices each GPU is cut into.')
    .optional(),
  time_slices: count('For time-slice: how many pods may share a GPU.', 1, 32).optional(),
  placement: z.enum(['pack', 'spread']).describe('Whether small jobs fill machines up or are spread over empty ones.'),
  days_between_failures: decimal('Days a machine lasts on average before it breaks.'),
  hours_broken: spread('Hours a broken machine is down.'),
  drained_percent: percent('Machines out of service at any time, because somebody looks at them.'),
  tags: z.record(z.string(), z.string()).describe('Tags of its machines.'),
});

const team = z.strictObject({
  name: text('The team.'),
  users: z.array(text('A login.')).min(1).describe('Its people; a larger fleet has more of them, numbered.'),
  utc_offset_hours: z.number().int().min(-12).max(14).describe('Hours its clocks are ahead of UTC.'),
});

const hourly = z.array(count('Weight of one hour.')).length(24);

const calendar = z.strictObject({
  day_begins_hour: z.number().int().min(0).max(23).describe('Local hour people begin to work.'),
  day_ends_hour: z.number().int().min(1).max(24).describe('Local hour they go home.'),
  submissions_by_hour: hourly.describe(
    'How many jobs people submit in each local hour, from midnight on, against the others.',
  ),
  weekend_submissions_percent: percent('Submissions on a weekend day, of those on a working day.'),
});

const sensors = z.strictObject({
  noise_permille: permille('How far a reading may be off, either way.'),
  missing_permille: permille('Samples that are lost.'),
  blank_percent: percent('Machines whose driver sends blanks now and then.'),
  blank_permille: permille('Values such a driver sends as a blank, a number near 2^63 that means nothing.'),
  dead_exporter_percent: percent('Machines whose exporter dies once in the window.'),
  dead_exporter: spread('Hours it stays dead.'),
  no_profiling_percent: percent('Machines without profiling fields: utilisation, memory and power only.'),
  clock_off_percent: percent('Machines whose clock is off.'),
  clock_off_s: z
    .number()
    .int()
    .min(-3600)
    .max(3600)
    .describe('Seconds by which such a clock is ahead; negative: behind.'),
  two_exporters_percent: percent(
    'Machines with a second exporter, which reads utilisation, memory and power half a step later.',
  ),
  profiler_sessions: decimal(
    'How often in 30 days somebody runs a profiler on a machine, which zeroes the profiling fields of everybody else.',
  ),
  profiler_minutes: spread('Minutes such a session lasts.'),
  xid_per_gpu_year: decimal(
    'Errors (XID) a GPU reports in a year, apart from those that break the machine; the last one stays in its gauge.',
  ),
  throttled_percent: percent('Machines that run hot and slow down.'),
});

/**
 * A made-up organisation: what it has, what its people do, what its sensors see and what it is billed. Every number
 * has its sentence here, once: the printed world, the JSON Schema and the errors all take it from this file.
 */
export const worldSchema = z.strictObject({
  name: text('What this world is called.'),
  gpus: z.record(z.string(), gpu).describe('GPU models.'),
  kernels: z.record(z.string(), kernel).describe('Kinds of work, as sensors see them at full pace.'),
  providers: z.array(provider).describe('Who sends bills.'),
  pools: z.array(pool).min(1).describe('Machines of one kind, bought and handed out in one way.'),
  teams: z.array(team).min(1).describe('Who works here.'),
  calendar: calendar.describe('When people work.'),
  habits: z.array(habit).describe('What people and services do with GPUs.'),
  sensors: sensors.describe('What the instruments get wrong.'),
  reasons: z
    .strictObject(
      Object.fromEntries(
        Object.entries(REASONS).map(([reason, sentence]) => [reason, z.enum(TRUE_CATEGORIES).describe(`${sentence}.`)]),
      ) as Record<Reason, z.ZodEnum<{ [Name in TrueCategory]: Name }>>,
    )
    .describe(
      'Where the money of each reason belongs: an opinion, and yours to change. Arguable is a category of its own.',
    ),
});

export type World = z.infer<typeof worldSchema>;
export type Pool = World['pools'][number];
export type Provider = World['providers'][number];
export type Team = World['teams'][number];
export type Gpu = World['gpus'][string];
export type Kernel = World['kernels'][string];
