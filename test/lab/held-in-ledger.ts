import { withReader } from '../../src/app/workspace.ts';

/** What the ledger says of a pod on a device. */
export interface LedgerHolding {
  readonly uid: string;
  readonly deviceId: string;
  readonly heldS: number;
  /** Seconds times the share of a GPU, in 63,000ths. */
  readonly units: number;
  readonly computingS: number;
  readonly idleS: number;
}

/** Question: how long did each pod hold each device, and what was done in that time, by the ledger of a folder from a day on? */
export async function heldInLedger(dataDir: string, firstDay: string): Promise<readonly LedgerHolding[]> {
  return withReader(dataDir, (space) =>
    space.ask<LedgerHolding>({
      tables: [{ table: 'gpu_hour', first: firstDay }],
      sql: `
        SELECT allocation_id AS "uid", device_id AS "deviceId", CAST(sum(held_s) AS DOUBLE) AS "heldS",
               CAST(sum(units) AS DOUBLE) AS "units", CAST(sum(computing_s) AS DOUBLE) AS "computingS",
               CAST(sum(idle_s) AS DOUBLE) AS "idleS"
        FROM gpu_hour WHERE source = 'kubernetes' GROUP BY allocation_id, device_id`,
    }),
  );
}

/** The first day of which samples were read: a look that is cut short leaves the older ones out. */
export async function firstSampledDay(dataDir: string): Promise<string> {
  return withReader(dataDir, async ({ snapshot }) => {
    const samples = snapshot.batches.filter(({ table }) => table === 'gpu_sample');
    return samples.flatMap(({ files }) => files.map(({ partition }) => partition)).toSorted()[0] ?? '';
  });
}
