import { COMPONENT_PRICES } from '../facts/component-price.ts';
import type { ComponentPrice } from '../facts/component-price.ts';
import { dayOf } from '../lake/calendar.ts';
import { nanosOf } from '../ledger/machine-part.ts';
import { namesModel } from '../ledger/model-name.ts';
import { quote } from '../lake/engine.ts';
import type { MachineParts } from '../report/explanation.ts';
import type { ReadSpace } from './workspace.ts';

const MEBIBYTE = 1_048_576n;
const MEBIBYTES_PER_GIB = 1024n;

interface MachineRow {
  readonly model: string | null;
  readonly gpus: bigint;
  readonly vcpu: bigint | null;
  readonly memoryBytes: bigint | null;
}

/**
 * Question: what do the parts of a GPU machine cost by themselves, by which list?
 *
 * The ledger divides a machine's price by these, so only their ratio counts; this says where the ratio comes from. Undefined where
 * the machine is not divided: its size is unknown, or nobody fitted prices for its GPU.
 *
 * Reads: presence.
 */
export async function machineParts(
  space: ReadSpace,
  nodeId: string,
  at: Date,
  prices: readonly ComponentPrice[] = COMPONENT_PRICES,
): Promise<MachineParts | undefined> {
  const day = dayOf(at);
  const [machine] = await space.ask<MachineRow>({
    tables: [{ table: 'presence', first: day, last: day }],
    params: { nodeId, at },
    sql: `
      SELECT model, CASE WHEN node_gpus > 0 THEN node_gpus ELSE roots END AS gpus, vcpu, memory_bytes AS "memoryBytes"
      FROM (SELECT p.*, (SELECT count(DISTINCT root_device_id) FROM presence WHERE node_id = $nodeId) AS roots
            FROM presence p WHERE p.node_id = $nodeId) there
      ORDER BY CASE WHEN from_at <= $at AND until_at > $at THEN 0 ELSE 1 END, is_slice, from_at, device_id LIMIT 1`,
  });
  if (machine?.model == null || machine.vcpu === null || machine.memoryBytes === null) return undefined;
  const { model, gpus, vcpu, memoryBytes } = machine;
  const price = await priceOf(space, model, prices);
  if (price === undefined) return undefined;
  const mebibytes = memoryBytes / MEBIBYTE;
  const memoryNanos = mebibytes * nanosOf(price.usdPerMemoryGibHour);
  return {
    nodeId,
    model,
    parts: [
      { part: 'gpu', quantity: gpus, usdNanosPerHour: gpus * nanosOf(price.usdPerGpuHour) },
      { part: 'cpu', quantity: vcpu, usdNanosPerHour: vcpu * nanosOf(price.usdPerVcpuHour) },
      { part: 'memory', quantity: mebibytes, usdNanosPerHour: memoryNanos / MEBIBYTES_PER_GIB },
    ],
    asOf: price.asOf,
    source: price.source,
  };
}

/** The price that says most about a model, found by the ledger's own words. */
async function priceOf(
  space: ReadSpace,
  model: string,
  prices: readonly ComponentPrice[],
): Promise<ComponentPrice | undefined> {
  if (prices.length === 0) return undefined;
  const rows = prices.map((price, place) => `(${place}, ${quote(price.model)})`).join(', ');
  const [best] = await space.ask<{ place: number }>({
    tables: [],
    params: { model },
    sql: `SELECT p.place FROM (VALUES ${rows}) AS p(place, model) WHERE ${namesModel('$model', 'p.model')}
          ORDER BY length(p.model) DESC, p.model LIMIT 1`,
  });
  return best === undefined ? undefined : prices[best.place];
}
