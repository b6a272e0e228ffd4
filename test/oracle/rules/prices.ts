import type {
  AcceleratorName,
  Bill,
  ComponentPrice,
  ListPrice,
  NodeRow,
  Organisation,
  RateRow,
} from '../organisation.ts';
import { catalogNanos } from './catalog.ts';
import { ONE, decimal } from '../decimal.ts';
import { sortedBy } from '../order.ts';
import { shortName } from './provider.ts';

export interface Price {
  readonly nanosPerHour: bigint;
  /** Someone said so, as opposed to Bursar's own list. */
  readonly stated: boolean;
}

const NANOS_OF_DECIMAL = ONE / 1_000_000_000n;

const isOfAnyModel = (row: RateRow): boolean => row.model === null || row.model === '' || row.model === '*';

/** A rate holds to its end; without one, until a newer one of the same model and node begins. */
function validUntil(org: Organisation, rate: RateRow): number {
  const newer = org.rates
    .filter((row) => row.model === rate.model && row.node_id === rate.node_id && row.valid_from > rate.valid_from)
    .map((row) => row.valid_from);
  return rate.valid_until ?? Math.min(Infinity, ...newer);
}

/** The rates in force at a time, the newest first. */
export function ratesInForce(org: Organisation, hour: number): RateRow[] {
  const inForce = org.rates.filter((row) => row.valid_from <= hour && hour < validUntil(org, row));
  return sortedBy(inForce, (row) => [-row.valid_from]);
}

/** The one whose model says most about the listed model: the longest, then the first in the alphabet. */
export function bestFit<T extends { readonly model: string | null }>(
  rows: readonly T[],
  listed: string | null,
): T | undefined {
  if (listed === null) return undefined;
  const words = (text: string): string => ` ${text.toLowerCase().replaceAll(/[-_/().,]/g, ' ')} `;
  const fitting = rows.filter((row) => words(listed).includes(words(row.model ?? '')));
  return sortedBy(fitting, (row) => [-(row.model ?? '').length, row.model ?? ''])[0];
}

export const nanosOf = (usd: string): bigint => decimal(usd) / NANOS_OF_DECIMAL;

/** What Bursar knows without being told. */
export interface BuiltIn {
  readonly listPrices: readonly ListPrice[];
  readonly acceleratorNames: readonly AcceleratorName[];
  readonly componentPrices: readonly ComponentPrice[];
}

/** What a price is asked for: a GPU, and what is said of its machine. */
export interface Priced {
  readonly node_id: string | null;
  readonly node: NodeRow | undefined;
  readonly model: string | null;
  /** The GPUs the machine's price is of. */
  readonly gpus: number;
}

/** The price of an hour of a GPU at the hour's start, or null where nobody knows one. */
export function priceOf(
  org: Organisation,
  { listPrices, acceleratorNames }: BuiltIn,
  { node_id, node, model, gpus }: Priced,
  hour: number,
): Price | null {
  const rates = ratesInForce(org, hour);
  const anywhere = rates.filter((row) => row.node_id === null);
  const rate =
    rates.find((row) => row.node_id !== null && row.node_id === node_id) ??
    bestFit(
      anywhere.filter((row) => !isOfAnyModel(row)),
      model,
    ) ??
    anywhere.find(isOfAnyModel);
  if (rate !== undefined) return { nanosPerHour: nanosOf(rate.usd_per_gpu_hour), stated: true };
  const accelerator = bestFit(
    acceleratorNames.map(({ name, id }) => ({ model: name, id })),
    model,
  )?.id;
  const catalog = catalogNanos(org, node, accelerator, gpus, hour);
  if (catalog !== null) return { nanosPerHour: catalog, stated: false };
  const listed = bestFit(listPrices, model);
  return listed === undefined ? null : { nanosPerHour: nanosOf(listed.usdPerGpuHour), stated: false };
}

/** The bills that come from where the node is paid for. */
export function billsOfNode(bills: readonly Bill[], node: NodeRow | undefined): Bill[] {
  return bills.filter(
    (bill) =>
      node?.provider != null &&
      shortName(node.provider) === shortName(bill.provider) &&
      (node.billing_account === null || node.billing_account === bill.billing_account),
  );
}

export function microsOf(nanosPerHour: bigint, seconds: number): bigint {
  return (nanosPerHour * BigInt(seconds) + 1_800_000n) / 3_600_000n;
}
