import { STEPS } from '../../steps.ts';
import type { Step } from '../../steps.ts';

interface Amount {
  readonly category: string;
  readonly usdMicros: string | null;
}

/** One step of the fall: its bar from `left` to `right`, as shares of what was paid. */
export interface Fallen {
  readonly step: Step;
  readonly left: number;
  readonly right: number;
  readonly usdMicros: string | null;
}

/** Each dollar falls once: every bar begins where the one above it ends, and what computed is what remains. */
export function fallOf(amounts: readonly Amount[]): Fallen[] {
  const of = (category: string): string | null =>
    amounts.find((amount) => amount.category === category)?.usdMicros ?? null;
  const total = amounts.reduce((sum, { usdMicros }) => sum + BigInt(usdMicros ?? '0'), 0n);
  const share = (micros: bigint): number => (total <= 0n ? 0 : Number((micros * 1_000_000n) / total) / 1e6);
  let rest = total;
  return STEPS.map((step) => {
    const usdMicros = of(step.category);
    const right = share(rest);
    rest -= BigInt(usdMicros ?? '0');
    const isLast = step.category === 'computing';
    const left = isLast ? 0 : share(rest);
    // Credits can make a step negative: it is drawn as the line it stands at.
    return { step, usdMicros, left: Math.min(left, right), right: Math.max(left, right) };
  });
}
