import type { Finding, MoneyKind } from '../../facts/finding.ts';
import type { Settled, SettledPart } from '../../waste/settle.ts';
import type { DetectorClaim } from './ask-detectors.ts';
import { isHeld, nodeDayKey, rateKey } from './claimed-money.ts';

type Range = { readonly low: bigint; readonly high: bigint };
type Money = Pick<Finding, 'kind' | 'usdMicros' | 'cashUsdMicros' | 'capacityUnits' | 'gpuUnits' | 'usdMicrosPerHour'>;

const NOTHING: Range = { low: 0n, high: 0n };
const WHOLE = 1000n;

/**
 * Question: of which kind is a finding's money, and how much of it can be reached?
 *
 * Cash is what the bill would fall by: at most all of it, at least what stands on machines that nobody else holds anything of on that
 * day, for a machine in use is paid for whole. Where no bill falls it is capacity, in GPU time.
 */
export function moneyOf(
  settled: Settled<DetectorClaim>,
  pairsOnNode: ReadonlyMap<string, number>,
  rates: ReadonlyMap<string, bigint>,
): Money {
  const { placed, parts } = settled;
  const { claim, by } = placed;
  const paid = parts.filter(({ marginalUsdMicros }) => (marginalUsdMicros ?? 0n) > 0n);
  const cash = paid.reduce((sum, part) => sum + (part.marginalUsdMicros ?? 0n), 0n);
  const freed = freedParts(paid, pairsOnNode).reduce((sum, part) => sum + (part.marginalUsdMicros ?? 0n), 0n);
  const units = parts.reduce((sum, part) => ((part.marginalUsdMicros ?? 0n) > 0n ? sum : sum + part.gpuUnits), 0n);
  const kind = kindOf(settled, cash);
  const { lowPermille = 1000, highPermille = 1000 } = claim.reachable ?? {};
  const range = (low: bigint, high: bigint): Range => ({
    low: (low * BigInt(lowPermille)) / WHOLE,
    high: (high * BigInt(highPermille)) / WHOLE,
  });
  const isReachable = kind === 'cash' || kind === 'capacity';
  return {
    kind,
    usdMicros: kind === 'question' ? null : settled.usdMicros,
    cashUsdMicros: isReachable ? range(freed, cash) : NOTHING,
    capacityUnits: isReachable && by.category !== 'stranded' ? range(units, units) : NOTHING,
    gpuUnits: settled.gpuUnits,
    usdMicrosPerHour: claim.liveSince === undefined ? null : rateOf(parts, rates),
  };
}

function kindOf({ placed, parts }: Settled<DetectorClaim>, cash: bigint): MoneyKind {
  if (placed.claim.isQuestion) return 'question';
  if (parts.every(({ cell }) => cell.category === 'unknown') && placed.category === 'unknown') return 'unknown';
  if (placed.by.factor === 'price' && placed.category === 'computing') return 'price-avoided';
  return cash > 0n ? 'cash' : 'capacity';
}

/** Parts on machines of which everything that is held that day is the finding's own. */
function freedParts(parts: readonly SettledPart[], pairsOnNode: ReadonlyMap<string, number>): SettledPart[] {
  const own = new Map<string, Set<string>>();
  for (const { cell } of parts.filter((part) => isHeld(part.cell.category) && part.cell.deviceId !== null)) {
    const node = nodeDayKey(cell.day, cell.nodeId ?? '');
    const pairs = own.get(node) ?? new Set();
    own.set(node, pairs.add(rateKey(cell.subject, cell.deviceId, true)));
  }
  return parts.filter(({ cell }) => {
    if (cell.nodeId === null) return true;
    const node = nodeDayKey(cell.day, cell.nodeId);
    return (pairsOnNode.get(node) ?? 0) === (own.get(node)?.size ?? 0);
  });
}

/** What an hour of all it holds costs now; null where nothing has a price. */
function rateOf(parts: readonly SettledPart[], rates: ReadonlyMap<string, bigint>): bigint | null {
  const keys = new Set(parts.map(({ cell }) => rateKey(cell.subject, cell.deviceId, isHeld(cell.category))));
  const known = [...keys].flatMap((key) => rates.get(key) ?? []);
  return known.length === 0 ? null : known.reduce((a, b) => a + b, 0n);
}
