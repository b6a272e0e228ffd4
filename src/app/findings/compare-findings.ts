import type { Finding } from '../../facts/finding.ts';

type Ranked = Pick<
  Finding,
  'key' | 'kind' | 'blastRadius' | 'usdMicros' | 'gpuUnits' | 'cashUsdMicros' | 'capacityUnits'
>;

/**
 * Question: what comes first? What can be done before what cannot be known and what is only asked; safe first, then what most can be
 * reached of, then the dearest: a commitment that nobody can give back before it ends costs much and is nothing for today.
 */
export function compareFindings(a: Ranked, b: Ranked): number {
  return (
    placeOf(a) - placeOf(b) ||
    a.blastRadius - b.blastRadius ||
    descending(reachUsdMicros(a), reachUsdMicros(b)) ||
    descending(a.usdMicros ?? -1n, b.usdMicros ?? -1n) ||
    descending(a.gpuUnits, b.gpuUnits) ||
    (a.key < b.key ? -1 : 1)
  );
}

const placeOf = ({ kind }: Ranked): number => (kind === 'question' ? 2 : kind === 'unknown' ? 1 : 0);

/** The bill's fall, or the price of the time others could have: whichever is more; the two are never added. */
function reachUsdMicros({ usdMicros, gpuUnits, cashUsdMicros, capacityUnits }: Ranked): bigint {
  const time = usdMicros === null || gpuUnits <= 0n ? 0n : (usdMicros * capacityUnits.high) / gpuUnits;
  return time > cashUsdMicros.high ? time : cashUsdMicros.high;
}

const descending = (a: bigint, b: bigint): number => (a === b ? 0 : a > b ? -1 : 1);
