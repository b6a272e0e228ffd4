import type { Span, Seconds } from './timeline.ts';
import type { Habit } from './world/habit-schema.ts';
import type { Gpu, Pool, Team, World } from './world/world-schema.ts';

/** What was asked for on the command line, beside the world. */
export interface Scope {
  readonly seed: number;
  readonly gpus: number;
  readonly from: Seconds;
  readonly until: Seconds;
  readonly stepS: number;
}

/** A part of a GPU that can be handed out by itself: the whole, or a MIG slice. */
export interface Device {
  readonly id: string;
  readonly node: Node;
  /** Place among the devices of its node, parents before their slices. */
  readonly index: number;
  readonly parent?: Device;
  readonly migProfile?: string;
  /** Of a whole GPU's 63,000. */
  readonly shareUnits: number;
  /** Whether it is cut into slices, so that only they are handed out. */
  readonly isCut: boolean;
  readonly gpu: Gpu;
}

export type NodeState = 'up' | 'down' | 'drained';

/** A machine with its whole fate, drawn when it appears: what will break is known to the world, not to its people. */
export interface Node {
  readonly id: string;
  readonly resourceId: string;
  readonly pool: Pool;
  readonly presentFrom: Seconds;
  /** Past the end of the window for what stays. */
  readonly presentUntil: Seconds;
  /** Without gaps from presentFrom to presentUntil. */
  readonly states: readonly { readonly from: Seconds; readonly until: Seconds; readonly state: NodeState }[];
  readonly devices: readonly Device[];
}

/** Something somebody asked for. */
export interface Job {
  /** Slurm's job id, a pod's uid, a machine's name. */
  readonly id: string;
  readonly habit: Habit;
  readonly team: Team;
  readonly pool: Pool;
  readonly user: string;
  readonly name: string;
  readonly gpus: number;
  readonly submittedAt: Seconds;
  /** Whether it carries its team. */
  readonly tagged: boolean;
  /** Which trial of its sweep, which replica of its service; 0 of 1 otherwise. */
  readonly place: { readonly index: number; readonly of: number };
  /** Names of its own stream of draws. */
  readonly key: readonly (string | number)[];
}

export type Outcome = 'completed' | 'failed' | 'cancelled' | 'preempted' | 'node-fail' | 'out-of-memory' | 'running';

/** Devices of an attempt that do the same at the same time. */
export interface DeviceGroup {
  readonly devices: readonly Device[];
  /** Without gaps from the attempt's `from` to its `until`. */
  readonly spans: readonly Span[];
}

/** One life of a job on machines. Everything that will happen in it is known when it begins. */
export interface Attempt {
  readonly job: Job;
  /** 0 for the first life. */
  readonly number: number;
  readonly from: Seconds;
  /** When this life was asked for; unknown of those that ran already when the window began. */
  readonly askedAt?: Seconds;
  /** May lie past the end of the window: then it is still running there. */
  readonly until: Seconds;
  readonly outcome: Outcome;
  readonly cpusPerGpu: number;
  readonly groups: readonly DeviceGroup[];
}

/** A job that has asked for GPUs, for its first life or another one, and has none yet. */
export interface Waiting {
  readonly job: Job;
  readonly askedAt: Seconds;
}

/** What a job will do with the GPUs it was given, and whether it asks again afterwards. */
export interface Course {
  readonly until: Seconds;
  readonly outcome: Outcome;
  readonly cpusPerGpu: number;
  /** Spans of each device, in the order of the devices given; devices may share one list. */
  readonly spansOfDevice: readonly (readonly Span[])[];
  /** When it asks for GPUs again (a retry, a notebook reopened in the morning); absent when it is over. */
  readonly asksAgainAt?: Seconds;
  /** Work done and kept so far, carried to the next life. */
  readonly progress: Progress;
}

export interface Progress {
  /** Seconds of work (or working days of a session) that need not be done again. */
  readonly done: number;
  readonly crashes: number;
}

export const NO_PROGRESS: Progress = { done: 0, crashes: 0 };

/** What a course is drawn from. */
export interface CourseRequest {
  readonly world: World;
  readonly scope: Scope;
  readonly job: Job;
  readonly number: number;
  readonly progress: Progress;
  readonly from: Seconds;
  readonly devices: readonly Device[];
  /** When the first of its machines breaks or is taken away; Infinity if none is. */
  readonly machineLost: { readonly at: Seconds; readonly by: 'preempted' | 'node-fail' };
}

/** One day of the organisation: everything that facts, bill and truth of the day are made from. */
export interface OrganisationDay {
  readonly world: World;
  readonly scope: Scope;
  readonly from: Seconds;
  readonly until: Seconds;
  /** Machines that are there for some of the day, by id. */
  readonly nodes: readonly Node[];
  /** Attempts that begin in the day, by begin. */
  readonly begun: readonly Attempt[];
  /** Attempts on each device that overlap the day, by begin. */
  readonly onDevice: ReadonlyMap<Device, readonly Holding[]>;
  /** Who waits when the day is over; of each pool those who asked first come first. */
  readonly waiting: readonly Waiting[];
}

export interface Holding {
  readonly attempt: Attempt;
  readonly spans: readonly Span[];
}
