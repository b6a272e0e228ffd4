import type { RateConfig } from '../config/source-config.ts';
import type { WriteSpace } from '../workspace.ts';
import { writeHaul } from './write-haul.ts';

/** Above what sources and imports say: a rate the user wrote down by hand is meant. */
const RATE_PRIORITY = 50;

/** Keeps rates the user stated under one name; the same name replaces them, none at all takes them back. */
export async function keepRates(
  space: WriteSpace,
  from: { readonly name: string; readonly reads: string },
  rates: readonly RateConfig[],
): Promise<void> {
  const rows = rates.map(({ model, node, usdPerGpuHour, from: validFrom, until }) => ({
    model,
    node_id: node,
    usd_per_gpu_hour: usdPerGpuHour,
    valid_from: validFrom,
    valid_until: until,
    rate_source: from.reads,
  }));
  const before = space.manifest
    .snapshot()
    .batches.some(({ table, name }) => table === 'rate' && name === `${from.name}/rates`);
  if (rows.length === 0 && !before) return;
  await writeHaul(
    space,
    { ...from, priority: RATE_PRIORITY },
    {
      facts: [{ table: 'rate', batch: 'rates', mode: 'replace', rows }],
    },
  );
}
