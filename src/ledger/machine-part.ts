import type { ComponentPrice } from '../facts/component-price.ts';

const NANOS_PER_USD = 1_000_000_000n;
const NANO_DIGITS = 9;

/** A price per hour in whole nano-dollars; digits beyond the ninth are cut off. */
export function nanosOf(usd: string): bigint {
  const [whole = '0', fraction = ''] = usd.split('.');
  return BigInt(whole) * NANOS_PER_USD + BigInt(fraction.slice(0, NANO_DIGITS).padEnd(NANO_DIGITS, '0'));
}

/** The fit as rows of (model, gpu, vcpu, GiB of memory), in nano-dollars an hour; without rows where nothing is fitted. */
export function componentPriceRows(prices: readonly ComponentPrice[]): string {
  const rows = prices.map(
    ({ model, usdPerGpuHour, usdPerVcpuHour, usdPerMemoryGibHour }) =>
      `('${model.replaceAll("'", "''")}', CAST(${nanosOf(usdPerGpuHour)} AS BIGINT), ` +
      `CAST(${nanosOf(usdPerVcpuHour)} AS BIGINT), CAST(${nanosOf(usdPerMemoryGibHour)} AS BIGINT))`,
  );
  const none = `('', CAST(0 AS BIGINT), CAST(0 AS BIGINT), CAST(0 AS BIGINT))`;
  return `
    SELECT * FROM (VALUES ${rows.length > 0 ? rows.join(', ') : none})
      AS v(model, gpu_nanos, vcpu_nanos, memory_gib_nanos)${rows.length > 0 ? '' : ' WHERE FALSE'}`;
}

/** What the host of one of a machine's GPUs weighs beside it. Memory counts in MiB, so that the product stays within 64 bits. */
export const hostNanos = (row: { machine: string; price: string; gpus: string }): string => {
  const { machine, price, gpus } = row;
  const mebibytes = `CAST((${machine}.memory_bytes - ${machine}.memory_bytes % 1048576) / 1048576 AS BIGINT)`;
  const whole = `(${machine}.vcpu * ${price}.vcpu_nanos * 1024 + ${mebibytes} * ${price}.memory_gib_nanos)`;
  const base = `(${gpus} * 1024)`;
  return `CAST((${whole} - ${whole} % ${base}) / ${base} AS BIGINT)`;
};

/**
 * The first of two parts, `split` by weights in nano-dollars. Their product leaves 64 bits for a GPU-hour of more than $100; such
 * rows take the slow way, as in `splitMoney`.
 */
export const gpuPart = (total: string, gpu: string, host: string): string => {
  const upTo = (amount: string): string =>
    `CAST((${amount} * ${gpu} - (${amount} * ${gpu}) % (${gpu} + ${host})) / (${gpu} + ${host}) AS BIGINT)`;
  return `CASE WHEN ${total} BETWEEN -100000000 AND 100000000 AND ${gpu} + ${host} < 90000000000 THEN ${upTo(total)}
               ELSE ${upTo(`CAST(${total} AS DECIMAL(38,0))`)} END`;
};
