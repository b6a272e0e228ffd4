import { z } from 'zod';

/** What the doctor says. Apart from its route, since the pages read its type and know nothing of sources. */
export const Doctor = z.object({
  sources: z.array(
    z.looseObject({
      name: z.string(),
      kind: z.string(),
      reads: z.string(),
      state: z.enum(['ok', 'partial', 'down']),
      says: z.string(),
      todo: z.string().nullable(),
      tookMs: z.number(),
      advice: z.array(z.object({ missing: z.string(), sharpens: z.string(), todo: z.string() })),
    }),
  ),
  places: z.array(
    z.object({
      what: z.string(),
      state: z.enum(['ok', 'attention', 'wrong']),
      says: z.string(),
      todo: z.string().nullable(),
    }),
  ),
  notRead: z.array(z.unknown()),
});
export type DoctorReply = z.infer<typeof Doctor>;
