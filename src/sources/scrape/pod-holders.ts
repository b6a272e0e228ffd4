import type { SeenHolder } from '../gpu-metrics/holder-stays.ts';
import type { GpuReading } from '../gpu-metrics/gpu-reading.ts';

/**
 * Who holds which GPU, as far as exporters name pods? For fleets whose API server is out of reach.
 *
 * The id of a pod is its uid where the exporter gives one: what the API server says of the same pod then takes the place of this.
 */
export function podHolders(readings: readonly GpuReading[], cluster: string | undefined): SeenHolder[] {
  return readings.flatMap(({ deviceId, nodeId, mig, pods = [] }) =>
    pods.map(({ namespace, name, uid }) => ({
      id: uid ?? `${namespace}/${name}`,
      deviceId,
      nodeId,
      columns: {
        source: 'kubernetes',
        isolation: pods.length > 1 ? 'time-slice' : mig === undefined ? 'whole' : 'mig',
        ...(cluster !== undefined && { cluster }),
        namespace,
        workload_kind: 'Pod',
        workload_name: name,
      },
    })),
  );
}
