import { z } from 'zod';

/** A whole number of a query's answer, small enough to count with: seconds, samples, permille. */
export const sqlCount = z.bigint().transform(Number);

/** A TIMESTAMP of a query's answer, `2026-11-01 10:00:00`, UTC. */
export const sqlTime = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}/)
  .transform((text) => new Date(`${text.replace(' ', 'T')}Z`));

/** A DATE of a query's answer, `2026-11-01`. */
export const sqlDay = z.string().regex(/^\d{4}-\d{2}-\d{2}$/);
