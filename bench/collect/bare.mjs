/**
 * What a bare client costs that asks for the same samples and throws the bytes away:
 *
 *   node bench/collect/bare.mjs http|fetch|gzip URL UNTIL_MS RANGE_S METRIC…
 *
 * http   node:http, as little as Node can do
 * fetch  fetch() and its body, as people write it; asked not to compress, so that the bytes are those Bursar reads
 * gzip   fetch() as it comes: it asks for gzip and unpacks it
 *
 * Says bytes and CPU seconds of the whole process as JSON.
 */
import { request } from 'node:http';

const [way, url, untilMs, rangeS, ...metrics] = process.argv.slice(2);
const begun = performance.now();
let bytes = 0;

/** @param {string} metric */
const form = (metric) =>
  new URLSearchParams({ query: `${metric}[${rangeS}s]`, time: ((Number(untilMs) - 1) / 1000).toFixed(3) });

/** @param {string} metric @returns {Promise<void>} */
const byHttp = (metric) =>
  new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', 'accept-encoding': 'identity' };
    const asked = request(`${url}/api/v1/query`, { method: 'POST', headers }, (answer) => {
      answer.on('data', (/** @type {Buffer} */ chunk) => (bytes += chunk.length));
      answer.on('end', resolve);
      answer.on('error', reject);
    });
    asked.on('error', reject);
    asked.end(form(metric).toString());
  });

/** @param {string} metric */
async function byFetch(metric) {
  /** @type {Record<string, string>} */
  const headers = way === 'gzip' ? {} : { 'accept-encoding': 'identity' };
  const answer = await fetch(`${url}/api/v1/query`, { method: 'POST', headers, body: form(metric) });
  for await (const chunk of answer.body ?? []) bytes += chunk.length;
}

for (const metric of metrics) await (way === 'http' ? byHttp(metric) : byFetch(metric));
const { user, system } = process.cpuUsage();
console.log(
  JSON.stringify({
    bytes,
    cpuSeconds: (user + system) / 1e6,
    wallSeconds: (performance.now() - begun) / 1000,
    peakRssMib: Math.round(process.resourceUsage().maxRSS / 1024),
  }),
);
