import type { Finding, MoneyKind } from '../../facts/finding.ts';
import type { DetectorClaim } from './ask-detectors.ts';
import type { Settled } from './settle-claims.ts';

type Range = { readonly low: bigint; readonly high: bigint };
type Money = Pick<
  Finding,
  'kind' | 'usdMicros' | 'cashUsdMicros' | 'capacityUnits' | 'cashIfRentedUsdMicros' | 'gpuUnits' | 'usdMicrosPerHour'
>;

const NOTHING: Range = { low: 0n, high: 0n };
const WHOLE = 1000n;

/**
 * Question: of which kind is a finding's money, and how much of it can be reached?
 *
 * Cash is what the bill would fall by: at most all of it, at least what stands on machines that nobody else holds anything of on that
 * day, for a machine in use is paid for whole. Where no bill falls, or nobody knows whether one does, it is capacity, in GPU time. A finding may have both, each in its own
 * figure; it is called what at least half of it is.
 */
export function moneyOf(settled: Settled<DetectorClaim>): Money {
  const { claim, by } = settled.placed;
  const { usdMicros, gpuUnits, cashUsdMicros, freedUsdMicros, unpaidUnits, unsaidUsdMicros, usdMicrosPerHour } =
    settled.sum;
  const kind = kindOf(settled);
  const { lowPermille = 1000, highPermille = 1000 } = claim.reachable ?? {};
  const range = (low: bigint, high: bigint): Range => ({
    low: (low * BigInt(lowPermille)) / WHOLE,
    high: (high * BigInt(highPermille)) / WHOLE,
  });
  const isReachable = kind === 'cash' || kind === 'capacity';
  return {
    kind,
    usdMicros: kind === 'question' ? null : usdMicros,
    cashUsdMicros: isReachable ? (cashElsewhere(claim) ?? range(freedUsdMicros, cashUsdMicros)) : NOTHING,
    capacityUnits: isReachable && by.category !== 'stranded' ? range(unpaidUnits, unpaidUnits) : NOTHING,
    cashIfRentedUsdMicros: isReachable ? range(0n, unsaidUsdMicros).high : 0n,
    gpuUnits,
    usdMicrosPerHour: claim.liveSince === undefined ? null : usdMicrosPerHour,
  };
}

/** What falls is others' rent; what is claimed is spent either way, and has no cash of its own. */
function cashElsewhere({ cashElsewhere: cash }: DetectorClaim['claim']): Range | undefined {
  return cash === undefined ? undefined : { low: cash.lowUsdMicros, high: cash.highUsdMicros };
}

function kindOf({ placed, sum }: Settled<DetectorClaim>): MoneyKind {
  if (placed.claim.isQuestion) return 'question';
  if (sum.isUnknown && placed.category === 'unknown') return 'unknown';
  if (placed.by.factor === 'price' && placed.category === 'computing') return 'price-avoided';
  return sum.cashUsdMicros > 0n && sum.cashUsdMicros * 2n >= (sum.usdMicros ?? 0n) ? 'cash' : 'capacity';
}
