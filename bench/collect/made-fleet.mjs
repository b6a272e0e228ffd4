/** A fleet as dcgm-exporter shows it: labels of real exporters, made-up values, the same on every machine. */

export const METRICS = [
  'DCGM_FI_PROF_GR_ENGINE_ACTIVE',
  'DCGM_FI_PROF_SM_ACTIVE',
  'DCGM_FI_PROF_PIPE_TENSOR_ACTIVE',
  'DCGM_FI_PROF_DRAM_ACTIVE',
  'DCGM_FI_DEV_GPU_UTIL',
  'DCGM_FI_DEV_FB_USED',
  'DCGM_FI_DEV_POWER_USAGE',
  'DCGM_FI_PROF_PCIE_TX_BYTES',
  'DCGM_FI_PROF_PCIE_RX_BYTES',
  'DCGM_FI_DEV_XID_ERRORS',
];

/** A small generator of our own: figures must not differ between machines. @param {number} seed */
function chance(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** @param {string} metric @param {number} share of the time the GPU works */
function reading(metric, share) {
  if (metric.endsWith('XID_ERRORS')) return 0;
  if (metric.endsWith('GPU_UTIL')) return Math.round(share * 100);
  if (metric.endsWith('FB_USED')) return Math.round(2000 + share * 70_000);
  if (metric.endsWith('POWER_USAGE')) return Math.round((70 + share * 600) * 1000) / 1000;
  if (metric.endsWith('BYTES')) return Math.round(share * 3e9);
  return Math.round(share * 1e6) / 1e6;
}

/** @param {number} gpu */
export function deviceId(gpu) {
  const hex = (Math.imul(gpu + 1, 2_654_435_761) >>> 0).toString(16).padStart(8, '0');
  return `GPU-${hex}-5d1a-4c1e-8000-${gpu.toString(16).padStart(12, '0')}`;
}

/** @param {number} gpu @param {string} metric @param {string} pod */
function labelsOf(gpu, metric, pod) {
  const node = Math.floor(gpu / 8);
  return {
    __name__: metric,
    DCGM_FI_DRIVER_VERSION: '550.90.07',
    Hostname: `gpu-${String(node).padStart(4, '0')}`,
    UUID: deviceId(gpu),
    container: 'dcgm-exporter',
    device: `nvidia${gpu % 8}`,
    endpoint: 'metrics',
    exported_container: 'main',
    exported_namespace: `team-${node % 12}`,
    exported_pod: pod,
    gpu: String(gpu % 8),
    instance: `10.4.${node >> 8}.${node % 256}:9400`,
    job: 'dcgm-exporter',
    modelName: 'NVIDIA H100 80GB HBM3',
    namespace: 'gpu-operator',
    pci_bus_id: `00000000:${(16 + (gpu % 8)).toString(16)}:00.0`,
    pod: `dcgm-exporter-${node}`,
    service: 'dcgm-exporter',
  };
}

/**
 * @typedef {{ gpus: number, metrics?: readonly string[], fromMs: number, untilMs: number, stepMs: number, pod?: number }} Fleet
 *   pod: the number of the pod that has each GPU in this time; with another number the series are others, and every
 *   second pod does nothing
 * @param {Fleet} fleet
 * @returns {Generator<import('./remote-write.mjs').WrittenSeries>}
 */
export function* madeFleet({ gpus, metrics = METRICS, fromMs, untilMs, stepMs, pod = 0 }) {
  for (let gpu = 0; gpu < gpus; gpu += 1) {
    for (const metric of metrics) {
      const next = chance(gpu * 1000 + pod);
      const isBusy = (gpu + pod) % 2 === 0;
      // Targets are scraped at their own moment within the interval, to the millisecond.
      const first = fromMs + ((Math.floor(gpu / 8) * 7919) % stepMs);
      const count = Math.ceil((untilMs - first) / stepMs);
      const timesMs = new Float64Array(count);
      const values = new Float64Array(count);
      for (let place = 0; place < count; place += 1) {
        timesMs[place] = first + place * stepMs;
        values[place] = reading(metric, next() * (isBusy ? 1 : 0.01));
      }
      yield { labels: labelsOf(gpu, metric, `job-${gpu}-${pod}`), timesMs, values };
    }
  }
}
