/**
 * What the same hour costs Bursar, bundled by bench.mjs:
 *
 *   node product.mjs pull|write URL FROM_MS UNTIL_MS [DATA_DIR]
 *
 * pull   from the Prometheus to blocks of samples
 * write  and on into a data folder, checked, sorted and committed, by the collector of `bursar collect`
 *
 * Says rows and CPU seconds of the whole process as JSON.
 */
import { collectOnce } from '../../src/app/collect/collect.ts';
import { prometheusSource } from '../../src/sources/prometheus/prometheus-source.ts';

const [way, url = '', fromMs, untilMs, dataDir = ''] = process.argv.slice(2);
// Twenty minutes later: late samples are in, and the hour is read once.
const now = new Date(Number(untilMs) + 20 * 60_000);
const since = new Date(Number(fromMs));
const source = prometheusSource({ name: 'bench', url, podLabels: false });
const { signal } = new AbortController();
const progress = (): void => undefined;
const begun = performance.now();
let rows = 0;
if (way === 'write') {
  const { sources } = await collectOnce({ dataDir, sources: [source], now: () => now, since, signal, progress });
  const [outcome] = sources;
  if (outcome?.state !== 'ok') throw new Error(outcome?.record.error?.message ?? 'nothing was collected');
  rows = outcome.record.rows.gpu_sample ?? 0;
} else {
  for await (const haul of source.pull(undefined, { now, since, signal, progress })) {
    rows += (haul.samples ?? []).reduce((sum, block) => sum + block.rows, 0);
  }
}
const { user, system } = process.cpuUsage();
console.log(
  JSON.stringify({
    rows,
    cpuSeconds: (user + system) / 1e6,
    wallSeconds: (performance.now() - begun) / 1000,
    peakRssMib: Math.round(process.resourceUsage().maxRSS / 1024),
  }),
);
