import { expect, it } from 'vitest';
import { csv, fleetFolder } from '../../../test/fleet-folder.ts';
import { ledgerWindow } from '../window.ts';
import { withReader } from '../workspace.ts';
import { fleetGpus } from './find-findings.ts';

it('a GPU in slices is one GPU, and one that has gone is none', async () => {
  const fleet = await fleetFolder({
    nodes: csv(`node_id|present_from|present_until|cluster|gpu_count|model
      n1|2026-03-02T00:00:00Z|2026-03-03T00:00:00Z|c|2|A100
      n2|2026-03-02T00:00:00Z|2026-03-02T09:00:00Z|c|1|A100`),
    devices: csv(`device_id|node_id|present_from|present_until|parent_device_id|kind|model|mig_profile
      g0|n1|2026-03-02T00:00:00Z|2026-03-03T00:00:00Z||gpu|A100|
      g0-a|n1|2026-03-02T00:00:00Z|2026-03-03T00:00:00Z|g0|mig|A100|3g.20gb
      g0-b|n1|2026-03-02T00:00:00Z|2026-03-03T00:00:00Z|g0|mig|A100|2g.10gb
      g1|n1|2026-03-02T00:00:00Z|2026-03-03T00:00:00Z||gpu|A100|
      g2|n2|2026-03-02T00:00:00Z|2026-03-02T09:00:00Z||gpu|A100|`),
    rates: csv(`model|from|usd_per_gpu_hour|source\nA100|2026-03-01T00:00:00Z|2.00|contract`),
  });
  try {
    await withReader(fleet.dataDir, async (space) => {
      const window = ledgerWindow('2026-03-02', new Date('2026-03-03T00:00:00Z'), space.scope);
      expect(await fleetGpus(space, window)).toBe(2);
    });
  } finally {
    await fleet.remove();
  }
});
