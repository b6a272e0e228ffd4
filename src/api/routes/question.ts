import { z } from 'zod';

/** Micro-dollars as text: JSON has no whole numbers beyond 2⁵³. Null where nothing of it has a price. */
export const Micros = z.string().regex(/^-?\d+$/);
export const Instant = z.iso.datetime();

export const Window = z.string().default('30d').meta({
  description: '30d, today, lastweek, lastmonth, 2026-11, 2026-11-01, all or FROM/UNTIL; UTC',
});
export const AsOf = z.iso
  .datetime()
  .optional()
  .meta({ description: 'See it as at this moment, for example 2026-11-01T00:00:00Z' });
export const Filter = z.string().optional().meta({ description: 'cluster=a,team=nlp|asr; team= is what has no team' });
export const Team = z
  .string()
  .min(1, 'name one, or leave it out')
  .optional()
  .meta({ description: 'Only this team; what has no team is asked for with filter=team=, where there is a filter' });
export const NoParams = z.object({});

export const Span = z.object({ from: Instant, until: Instant });
/** The window of the same elapsed length that ends where this one begins. */
export const Before = Span.extend({
  isKnown: z.boolean().meta({ description: 'Whether the facts reach back all of it' }),
});
/** A sum: null money where nothing of it has a price. */
export const Sum = z.object({
  usdMicros: Micros.nullable(),
  gpuSeconds: z.number(),
  unpricedSeconds: z.number(),
});
export const MicrosRange = z.object({ low: Micros, high: Micros });
export const SecondsRange = z.object({ low: z.number(), high: z.number() });
