import { z } from 'zod';

/** The kinds of fields of a world file. Each takes the sentence that says what the field means. */
export const text = (sentence: string) => z.string().min(1).describe(sentence);

export const percent = (sentence: string) => z.number().min(0).max(100).describe(sentence);

export const permille = (sentence: string) => z.number().int().min(0).max(1000).describe(sentence);

export const count = (sentence: string, least = 0, most = 100_000_000) =>
  z.number().int().min(least).max(most).describe(sentence);

export const decimal = (sentence: string, most = 1_000_000) => z.number().min(0).max(most).describe(sentence);

/** p50 is the value half of them stay below, p0 the least and p100 the greatest. */
export const quantiles = z
  .strictObject({
    p0: z.number().min(0).describe('The least.'),
    p10: z.number().min(0).describe('10 of 100 stay below.'),
    p50: z.number().min(0).describe('Half stay below.'),
    p90: z.number().min(0).describe('90 of 100 stay below.'),
    p99: z.number().min(0).describe('99 of 100 stay below.'),
    p100: z.number().min(0).describe('The greatest.'),
  })
  .refine(({ p0, p10, p50, p90, p99, p100 }) => p0 <= p10 && p10 <= p50 && p50 <= p90 && p90 <= p99 && p99 <= p100, {
    message: 'must not fall from p0 to p100',
  });

export const spread = (sentence: string) =>
  quantiles.describe(`${sentence} Half of them stay below p50, 90 of 100 below p90; p0 is the least, p100 the most.`);

/** Six numbers that are read as one: the sentence stands above all of them. */
export function isSpread(schema: z.ZodType): schema is typeof quantiles {
  return schema instanceof z.ZodObject && Object.keys(schema.shape).join() === Object.keys(quantiles.shape).join();
}
