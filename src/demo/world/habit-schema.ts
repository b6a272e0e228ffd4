import { z } from 'zod';
import { count, decimal, percent, spread, text } from './field.ts';

/** What every habit says: whose it is and where it runs. */
const common = {
  name: text('What its jobs are called; a number is added.'),
  team: text('Which of the teams above.'),
  pool: text('Which of the pools above.'),
  kernel: text('Which of the kernels above.'),
  untagged_percent: percent('Jobs that carry no team: no label, no account, a namespace that says nothing.'),
};

/** Jobs that ask, wait, run and end, and how many of them there are. */
const asking = {
  load_percent: z
    .number()
    .min(0)
    .max(1000)
    .describe('GPU-hours it asks for, of all the pool has; the habits of a pool together may ask for at most 130.'),
};

const training = z.strictObject({
  kind: z.literal('training').describe('Runs that step, wait, checkpoint, fail and restart.'),
  ...common,
  ...asking,
  class: z.enum(['training', 'batch']).describe('The class label of its jobs.'),
  gpus: z
    .record(z.string().regex(/^[1-9]\d*$/, 'a number of GPUs'), count('Weight.'))
    .describe('How many GPUs a run asks for, and how often against the others.'),
  hours: spread('Hours of work a run has, were nothing to go wrong or wait.'),
  startup_minutes: spread('Minutes until its first step.'),
  step_ms: count('Milliseconds one step computes.', 1),
  cpus_per_gpu: spread('CPU cores a run asks for beside each GPU.'),
  cpu_ms_per_step: count('Milliseconds of one CPU core it takes to load the batch of one GPU’s step.'),
  storage_ms_per_step: count('Milliseconds the storage needs to deliver that batch, however many cores wait for it.'),
  all_reduce_ms: count('Milliseconds to exchange gradients within a machine; four times that between machines.'),
  checkpoint_minutes: count('Minutes between checkpoints; 0: it writes none.'),
  checkpoint_s: count('Seconds it stands still to write one.'),
  validation_hours: decimal('Hours of stepping between validations; 0: none.'),
  validation_minutes: spread('Minutes a validation computes on the CPU while its GPUs wait.'),
  fails_early_percent: percent('Runs that die in their first minutes of a mistake in code or configuration.'),
  early_minutes: spread('Minutes until such a run dies.'),
  gpu_days_between_crashes: decimal('GPU-days a run computes on average before it crashes; 0: never.'),
  retries: count('How often a crashed run is started again before it is given up.', 0, 1000),
  cancelled_percent: percent('Runs somebody stops half-way.'),
  stays_percent: percent('Finished runs whose pods or session stay.'),
  stays_hours: spread('Hours they stay.'),
  touches_fewer_percent: percent('Runs of several GPUs that use only the first of them, a quarter.'),
});

const sweep = z.strictObject({
  kind: z.literal('sweep').describe('Many trials of one thing, one of which wins.'),
  ...common,
  ...asking,
  trials: spread('Trials of a sweep.'),
  gpus_per_trial: count('GPUs of a trial.', 1),
  hours: spread('Hours of a trial that runs to its end.'),
  startup_minutes: spread('Minutes until the first step of a trial.'),
  step_ms: count('Milliseconds one step computes.', 1),
  load_ms: count('Milliseconds the loader needs for the batch of one step.'),
  winners_percent: percent('Trials worth their end; the others had fallen behind a third of the way.'),
  stopped_early_percent: percent('Losers that are stopped once they have fallen behind.'),
});

const notebook = z.strictObject({
  kind: z.literal('notebook').describe('Sessions in which people try things.'),
  ...common,
  ...asking,
  gpus: count('GPUs of a session.', 1),
  burst_minutes: spread('Minutes something runs.'),
  pause_minutes: spread('Minutes somebody reads or writes before the next.'),
  days_used: spread('Working days a session is used for.'),
  closed_at_night_percent: percent('Evenings on which it is shut down, to be started again in the morning.'),
  forgotten_percent: percent('Sessions nobody closes after their last use.'),
  forgotten_days: spread('Days a forgotten one lives on.'),
  stopped_idle_hours: decimal('Hours without activity after which the platform stops a session; 0: never.'),
});

const serving = z.strictObject({
  kind: z.literal('serving').describe('Replicas that answer requests, or wait for them.'),
  ...common,
  share_percent: percent('GPUs of the pool its replicas may fill.'),
  purpose: z
    .enum(['traffic', 'standby', 'abandoned'])
    .describe('traffic: it is called; standby: kept warm for a failover; abandoned: nobody calls it any more.'),
  requests_by_hour: z
    .array(count('Weight of one hour.'))
    .length(24)
    .describe('Requests in each UTC hour, from midnight on, against the others.'),
  weekend_percent: percent('Requests on a weekend day, of those on a working day.'),
  request_s: decimal('Seconds a replica is busy with one request.'),
  batch: count('Requests a replica works on at once at best.', 1),
  peak_load_percent: percent('How full its replicas are in the busiest hour.'),
  burst: spread('How far the traffic of a minute departs from that of its hour: 1 is not at all.'),
  autoscaled: z.boolean().describe('Whether replicas come and go with the traffic.'),
  days_between_rollouts: decimal('Days between new versions, which replace every replica; 0: never.'),
});

const box = z.strictObject({
  kind: z.literal('box').describe('Somebody’s own machine, on while it is paid for.'),
  ...common,
  share_percent: percent('Machines of the pool that belong to such people.'),
  burst_minutes: spread('Minutes something runs.'),
  pause_minutes: spread('Minutes somebody reads or writes before the next.'),
  used_days_percent: percent('Working days on which it is used.'),
  forgotten_percent: percent('Machines whose owner has moved on to other work.'),
});

/** What people and services do with GPUs, one kind of doing at a time. */
export const habit = z.discriminatedUnion('kind', [training, sweep, notebook, serving, box]);

export type Habit = z.infer<typeof habit>;
export type Training = z.infer<typeof training>;
export type Sweep = z.infer<typeof sweep>;
export type Notebook = z.infer<typeof notebook>;
export type Serving = z.infer<typeof serving>;
export type Box = z.infer<typeof box>;
