import { OperationError } from '../../facts/operation-error.ts';

export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

export interface RateLimit {
  /** Counts one request of `who`; refused with `too-many-requests` beyond the rate. */
  take(who: string): void;
}

const KNOWN_MAX = 10_000;

/** So many requests at once, and then so many a second, for each who asks. */
export function rateLimit({ perSecond, burst }: Rate, nowMs: () => number): RateLimit {
  const buckets = new Map<string, { left: number; atMs: number }>();
  const bucketOf = (who: string): { left: number; atMs: number } => {
    const atMs = nowMs();
    const known = buckets.get(who) ?? { left: burst, atMs };
    const left = Math.min(burst, known.left + ((atMs - known.atMs) / 1000) * perSecond);
    const bucket = { left, atMs };
    buckets.delete(who);
    buckets.set(who, bucket);
    const [oldest] = buckets.keys();
    if (buckets.size > KNOWN_MAX && oldest !== undefined) buckets.delete(oldest);
    return bucket;
  };
  return {
    take(who) {
      const bucket = bucketOf(who);
      if (bucket.left < 1) {
        throw new OperationError('too-many-requests', 'too many requests in a short time', {
          hint: 'Ask again in a few seconds.',
        });
      }
      bucket.left -= 1;
    },
  };
}
