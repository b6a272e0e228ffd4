import type { ComponentPrice, NodeRow } from '../organisation.ts';
import { bestFit, nanosOf } from './prices.ts';

const MEBIBYTE = 2n ** 20n;

/** Nano-dollars an hour by which a root's price is divided into the GPU and its host; null where it is not. */
export function partWeights(
  prices: readonly ComponentPrice[],
  node: NodeRow | undefined,
  model: string | null,
  gpus: number,
): { gpu: bigint; host: bigint } | null {
  const price = bestFit(prices, model);
  if (price === undefined || node?.vcpu == null || node.memory_bytes === null || gpus === 0) return null;
  const mebibytes = BigInt(node.memory_bytes) / MEBIBYTE;
  const whole =
    BigInt(node.vcpu) * nanosOf(price.usdPerVcpuHour) * 1024n + mebibytes * nanosOf(price.usdPerMemoryGibHour);
  const host = whole / (BigInt(gpus) * 1024n);
  return host === 0n ? null : { gpu: nanosOf(price.usdPerGpuHour), host };
}
