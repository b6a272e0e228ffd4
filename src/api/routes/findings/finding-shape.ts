import { z } from 'zod';
import { Instant, Micros } from '../question.ts';

export const FINDING_STATES = ['open', 'accepted', 'back', 'exempt', 'dismissed', 'fixed'] as const;

export const MicrosRange = z.object({ low: Micros, high: Micros });
export const SecondsRange = z.object({ low: z.number(), high: z.number() });

/** One thing to do, as `bursar findings --json` tells it. */
export const FindingShape = z.object({
  id: z.string().nullable().meta({ description: 'F-12; null where the folder cannot be written to' }),
  key: z.string().meta({ description: 'Detector and what it is about: what keeps the number' }),
  detector: z.string(),
  category: z.string().meta({ description: 'The place of the waterfall its money is in' }),
  factor: z.enum(['price', 'utilisation', 'efficiency']),
  state: z.enum(FINDING_STATES),
  exemptUntil: z.string().nullable(),
  stateReason: z.string().nullable(),
  firstSeenAt: Instant,
  team: z.string().nullable().meta({ description: 'Null: the platform’s' }),
  user: z.string().nullable(),
  assignedTo: z.string().nullable(),
  subject: z.string().nullable(),
  what: z.string(),
  because: z.array(z.string()),
  fix: z.array(z.string()).meta({ description: 'What to paste, line by line; empty where the fix is not a command' }),
  unless: z.string().meta({ description: 'What would change its mind' }),
  basis: z.enum(['measured', 'modelled', 'assumed']),
  blastRadius: z.number().int().min(0).max(5),
  blast: z.string(),
  effort: z.string(),
  kind: z.enum(['cash', 'capacity', 'price-avoided', 'unknown', 'question']).meta({ description: 'Never added' }),
  usdMicros: Micros.nullable().meta({ description: 'What it cost in the window; null where it has no price' }),
  cashUsdMicros: MicrosRange.meta({ description: 'What the bill would have fallen by: at least, at most' }),
  capacityGpuSeconds: SecondsRange.meta({ description: 'GPU time others can use where no bill falls' }),
  cashIfRentedUsdMicros: Micros.meta({
    description: 'Cash at most if machines of which nobody says how they are bought are rented; in no sum of cash',
  }),
  gpuSeconds: z.number(),
  liveSince: Instant.nullable(),
  usdMicrosPerHour: Micros.nullable(),
  spark: z.array(z.number().nullable()),
  subjectsOfOthers: z
    .number()
    .int()
    .optional()
    .meta({ description: 'Where a team is asked about: so many more are not its own; nothing here is of them' }),
});

export const FindingChangeShape = z.object({
  at: z.string(),
  by: z.string().nullable().meta({ description: 'Null where the data said so' }),
  change: z.string(),
  detail: z.string().nullable(),
});

/** What is kept of a finding beside what the data say now. */
export const FindingRecordShape = z.object({
  id: z.string(),
  key: z.string(),
  what: z.string(),
  state: z.enum(FINDING_STATES),
  exemptUntil: z.string().nullable(),
  stateReason: z.string().nullable(),
  by: z.string().nullable(),
  assignedTo: z.string().nullable(),
  firstSeenAt: z.string(),
  lastSeenAt: z.string(),
});
