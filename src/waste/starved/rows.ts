import { z } from 'zod';
import { sqlCount, sqlTexts } from '../../facts/sql-row.ts';

export const StarvedOptions = z.object({
  // A well-fed run loses a few percent to gaps, evaluation and checkpoints; below 15 % a change is not worth an afternoon.
  sharePermilleMin: z.number().int().default(150),
  // Pauses, of the held time of such a kind: less is part of any run.
  pausePermilleMin: z.number().int().default(50),
  // Exchange likewise, and less of it: traffic between machines is not seen, so that what is seen is the least there was.
  exchangePermilleMin: z.number().int().default(30),
  // Gaps likewise: between kernels, and between batches, some percent are lost in the healthiest run.
  gapPermilleMin: z.number().int().default(100),
  // Gaps of the time computed that no comparison of runs explains: launching small kernels alone leaves up to a fifth of an engine, so less
  // says nothing about input.
  unexplainedPermilleMin: z.number().int().default(200),
  // SMs at work, of the time the engine is: kernels that leave four tenths of them out are small, and gaps may be between them.
  smallKernelsPermilleMax: z.number().int().default(600),
  // GPU-hours waited in the window that make it worth trying something.
  gpuHoursMin: z.number().int().default(10),
  // Of the held time; beyond it the sensors were away too long for a verdict.
  unknownPermilleMax: z.number().int().default(50),
  // Gaps that differ by less are the same: batches differ, and so do hours.
  flatPermille: z.number().int().default(50),
  // By so much more must runs wait that lack something, before the lack is the cause.
  effectPermilleMin: z.number().int().default(100),
});
export type StarvedOptions = z.infer<typeof StarvedOptions>;

/** Attempts of one kind on one model with as many cores for each GPU, on one machine or several. */
export const Level = z.object({
  home: z.string(),
  stem: z.string().nullable(),
  model: z.string().nullable(),
  source: z.string(),
  cores: sqlCount.nullable(),
  coresThere: sqlCount.nullable(),
  isSpread: z.boolean(),
  runs: sqlCount,
  heldS: sqlCount,
  /** Only of attempts whose gaps could be measured. */
  computingS: sqlCount,
  gapS: sqlCount,
  pauseS: sqlCount,
  exchangeS: sqlCount,
  /** Permille of engine and SM activity, each times the seconds computed, where both were measured. */
  engineActivity: sqlCount,
  smActivity: sqlCount,
  /** Those that waited, longest first. */
  subjects: sqlTexts.nullable(),
});
export type Level = z.infer<typeof Level>;

/** Pauses of one kind and model: at the begin, the recorded time of a checkpoint, short ones, long ones. */
export const Pauses = z.object({
  home: z.string(),
  stem: z.string().nullable(),
  model: z.string().nullable(),
  place: z.enum(['start', 'saving', 'short', 'long']),
  pauses: sqlCount,
  /** Those of them that are what a pause had beyond its recorded checkpoint. */
  beyond: sqlCount,
  runs: sqlCount,
  deviceS: sqlCount,
  /** The middle one. */
  lengthS: sqlCount,
  computedBetweenS: sqlCount,
});
export type Pauses = z.infer<typeof Pauses>;

/** Milliseconds of a step in the middle run of a kind and in its best tenth. */
export const Steps = z.object({
  home: z.string(),
  stem: z.string().nullable(),
  model: z.string().nullable(),
  runs: sqlCount,
  middleMs: sqlCount,
  bestMs: sqlCount,
});
export type Steps = z.infer<typeof Steps>;

/** A day of a kind. */
export const KindDay = z.object({
  home: z.string(),
  stem: z.string().nullable(),
  model: z.string().nullable(),
  day: z.string(),
  atWorkS: sqlCount,
  knownS: sqlCount,
});
export type KindDay = z.infer<typeof KindDay>;
