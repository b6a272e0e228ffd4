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

/** Between texts that come in one: no name has it. */
const SEPARATOR = '\u001f';

/**
 * The texts of an array as one, in SQL, and what makes them many again. A list is fetched text by text: tens of thousands of subjects
 * cost more to fetch than to find.
 */
export const textsInOne = (array: string): string => `array_join(${array}, chr(${SEPARATOR.charCodeAt(0)}))`;
export const sqlTexts = z.string().transform((text): readonly string[] => text.split(SEPARATOR));
