import { chanceOf } from '../chance.ts';
import type { Device, Job } from '../organisation.ts';
import type { Training } from '../world/habit-schema.ts';
import { coresBeside } from './cores.ts';
import { paceOf, type Pace } from './pace.ts';

/** What is settled about a run when it is submitted, and the same in each of its lives. */
export interface TrainingRun {
  readonly workS: number;
  readonly cpusPerGpu: number;
  readonly failsEarly: boolean;
  /** Seconds of work after which somebody stops it; Infinity: nobody does. */
  readonly cancelledAtWorkS: number;
  readonly touchesFewer: boolean;
}

/** Below this a run that uses a quarter of its GPUs is not worth telling apart. */
const FEWEST_TO_TOUCH_FEWER = 4;

export function trainingRun(job: Job, habit: Training): TrainingRun {
  const chance = chanceOf(...job.key, 'run');
  const workS = Math.max(1, Math.round(chance.from(habit.hours) * 3600));
  // Nobody gets more cores than the machine has.
  const gpusOnMachine = Math.min(job.gpus, job.pool.gpus_per_node);
  const coresMost = Math.max(1, Math.floor((job.pool.cpus_per_gpu * job.pool.gpus_per_node) / gpusOnMachine));
  const cpusPerGpu = Math.min(coresMost, Math.max(1, Math.round(chance.from(habit.cpus_per_gpu))));
  const failsEarly = chance.happens(habit.fails_early_percent);
  const isCancelled = chance.happens(habit.cancelled_percent);
  const cancelledAt = Math.max(1, Math.round(workS * (0.1 + 0.8 * chance.fraction())));
  return {
    workS,
    cpusPerGpu,
    failsEarly,
    cancelledAtWorkS: isCancelled && cancelledAt < workS ? cancelledAt : Infinity,
    touchesFewer: chance.happens(habit.touches_fewer_percent) && job.gpus >= FEWEST_TO_TOUCH_FEWER,
  };
}

/** The run on these devices: of a GPU it shares it gets no more cores than its part, however many it asks for. */
export function onDevices(run: TrainingRun, devices: readonly Device[]): TrainingRun {
  if (devices.every(({ node }) => node.pool.sharing === 'whole')) return run;
  return { ...run, cpusPerGpu: Math.min(run.cpusPerGpu, coresBeside(devices)) };
}

/** How many of its devices it puts work on: the first ones. */
export function touchedCount({ touchesFewer }: TrainingRun, devices: readonly Device[]): number {
  return touchesFewer ? Math.max(1, Math.floor(devices.length / 4)) : devices.length;
}

/** The pace on these devices: its cores feed the loader, and gradients take four times as long between machines. */
export function trainingPace({ cpusPerGpu }: TrainingRun, habit: Training, touched: readonly Device[]): Pace {
  const machines = new Set(touched.map(({ node }) => node.id)).size;
  const allReduceMs = touched.length === 1 ? 0 : habit.all_reduce_ms * (machines === 1 ? 1 : 4);
  const loadMs = Math.max(habit.cpu_ms_per_step / cpusPerGpu, habit.storage_ms_per_step);
  return paceOf({ stepMs: habit.step_ms, allReduceMs, loadMs });
}
