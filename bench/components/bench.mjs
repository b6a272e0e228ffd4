/**
 * How much of a GPU machine's price is its GPUs': by our component prices, by OpenCost's documented defaults, and by the market's
 * own lists. `npm run bench:components` prints the table of docs/component-prices.md.
 */
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { BENCH_DATA, bursar } from '../demo/run.mjs';
import { CATALOGS } from './fit.mjs';

/** opencost/opencost, configs/default.json and configs/aws.json: a node's price is split by these, GPUs counted (pkg/costmodel/costmodel.go). */
const OPENCOST = { gpu: 0.95, vcpu: 0.031611, memoryGib: 0.004237 };

/** Of Google Cloud, us-central1, because it lists GPUs and hosts apart; of AWS, us-east-1, which lists only whole machines. */
const MACHINES = [
  { node: '8×H100', provider: 'gcp', type: 'a3-highgpu-8g', model: 'H100', gpus: 8, vcpu: 208, memoryGib: 1872 },
  { node: '8×H100', provider: 'aws', type: 'p5.48xlarge', model: 'H100', gpus: 8, vcpu: 192, memoryGib: 2048 },
  { node: '8×A100 40 GB', provider: 'gcp', type: 'a2-highgpu-8g', model: 'A100', gpus: 8, vcpu: 96, memoryGib: 680 },
  { node: '8×A100 40 GB', provider: 'aws', type: 'p4d.24xlarge', model: 'A100', gpus: 8, vcpu: 96, memoryGib: 1152 },
  {
    node: '8×A100 80 GB',
    provider: 'gcp',
    type: 'a2-ultragpu-8g',
    model: 'A100-80GB',
    gpus: 8,
    vcpu: 96,
    memoryGib: 1360,
  },
  { node: '1×T4', provider: 'gcp', type: 'n1-standard-4', model: 'T4', gpus: 1, vcpu: 4, memoryGib: 15 },
  { node: '1×T4', provider: 'aws', type: 'g4dn.xlarge', model: 'T4', gpus: 1, vcpu: 4, memoryGib: 16 },
  { node: '1×L4', provider: 'gcp', type: 'g2-standard-4', model: 'L4', gpus: 1, vcpu: 4, memoryGib: 16 },
  { node: '1×L4', provider: 'aws', type: 'g6.xlarge', model: 'L4', gpus: 1, vcpu: 4, memoryGib: 16 },
];
const REGIONS = { gcp: 'us-central1', aws: 'us-east-1' };
/** Two machines of AWS that differ in memory alone say what a vCPU and a GiB cost there: 4 vCPU, 16 and 32 GiB. */
const AWS_HOSTS = { vcpu: 4, small: { type: 'm6i.xlarge', gib: 16 }, large: { type: 'r6i.xlarge', gib: 32 } };
const AT = '2026-08-23';

/** @typedef {{ gpu: number, vcpu: number, memoryGib: number }} Parts */

/** @param {(typeof MACHINES)[number]} machine @param {Parts} prices @returns {Parts} shares of the machine */
function split({ gpus, vcpu, memoryGib }, prices) {
  const parts = { gpu: gpus * prices.gpu, vcpu: vcpu * prices.vcpu, memoryGib: memoryGib * prices.memoryGib };
  const sum = parts.gpu + parts.vcpu + parts.memoryGib;
  return { gpu: parts.gpu / sum, vcpu: parts.vcpu / sum, memoryGib: parts.memoryGib / sum };
}

const percent = (/** @type {number} */ share) => `${Math.round(share * 100)} %`;
const three = (/** @type {Parts} */ { gpu, vcpu, memoryGib }) => [gpu, vcpu, memoryGib].map(percent).join(' / ');

/** @param {string} data @param {readonly string[]} flags @returns {Promise<any>} */
const prices = async (data, flags) =>
  JSON.parse(await bursar(['prices', ...flags, '--data', data, '--as-of', AT, '--limit', '1000', '--json']));

/** @param {string} data @param {keyof typeof REGIONS} provider @param {readonly string[]} flags @param {(offer: any) => boolean} isMeant */
async function listed(data, provider, flags, isMeant) {
  const all = [...flags, '--provider', provider, '--region', REGIONS[provider], '--purchase', 'on-demand'];
  const { offers } = await prices(data, all);
  const found = offers.find(isMeant);
  if (found === undefined) throw new Error(`no price of ${flags.join(' ')} at ${provider}`);
  return Number(found.usdNanosPerHour) / 1e9;
}

/** @param {string} data @param {(typeof MACHINES)[number]} machine @returns {Promise<{ usd: number, gpuShare: number, how: string }>} */
async function market(data, { provider, type, model, gpus, vcpu, memoryGib }) {
  if (provider === 'gcp') {
    const host = await listed(data, 'gcp', ['--type', type], () => true);
    const isBare = (/** @type {any} */ offer) =>
      offer.covers === 'accelerator' && Number(offer.acceleratorCount) === gpus && offer.accelerator === model;
    const bare = await listed(data, 'gcp', ['--model', model], isBare);
    return {
      usd: host + bare,
      gpuShare: bare / (host + bare),
      how: `$${bare.toFixed(2)} GPUs + $${host.toFixed(2)} host, listed apart`,
    };
  }
  const whole = await listed(data, 'aws', ['--type', type], () => true);
  const { small, large } = AWS_HOSTS;
  const [less, more] = [
    await listed(data, 'aws', ['--type', small.type], () => true),
    await listed(data, 'aws', ['--type', large.type], () => true),
  ];
  const gib = (more - less) / (large.gib - small.gib);
  const host = vcpu * ((less - small.gib * gib) / AWS_HOSTS.vcpu) + memoryGib * gib;
  return {
    usd: whole,
    gpuShare: 1 - host / whole,
    how: `$${whole.toFixed(2)} less a host at ${small.type} and ${large.type} prices`,
  };
}

async function main() {
  const data = join(BENCH_DATA, 'components');
  rmSync(data, { recursive: true, force: true });
  await bursar(['import', 'prices', CATALOGS, '--data', data]);
  /** @type {{ model: string, usdPerGpuHour: string, usdPerVcpuHour: string, usdPerMemoryGibHour: string, asOf: string }[]} */
  const ours = JSON.parse(await bursar(['prices', 'components', '--json']));
  console.log(
    '| node | machine | OpenCost default, GPU / CPU / RAM | ours, GPU / CPU / RAM | market, GPU | of that |\n|---|---|---|---|---|---|',
  );
  const off = { opencost: /** @type {number[]} */ ([]), ours: /** @type {number[]} */ ([]) };
  for (const machine of MACHINES) {
    const row = ours.find(({ model }) => model === machine.model);
    if (row === undefined) throw new Error(`no component price of ${machine.model}`);
    const fitted = {
      gpu: Number(row.usdPerGpuHour),
      vcpu: Number(row.usdPerVcpuHour),
      memoryGib: Number(row.usdPerMemoryGibHour),
    };
    const { gpuShare, how } = await market(data, machine);
    off.opencost.push(Math.abs(split(machine, OPENCOST).gpu - gpuShare));
    off.ours.push(Math.abs(split(machine, fitted).gpu - gpuShare));
    const cells = [
      machine.node,
      `${machine.provider} ${machine.type}`,
      three(split(machine, OPENCOST)),
      three(split(machine, fitted)),
      percent(gpuShare),
      how,
    ];
    console.log(`| ${cells.join(' | ')} |`);
  }
  const points = (/** @type {number[]} */ all) =>
    `${Math.round((all.reduce((a, b) => a + b, 0) / all.length) * 100)} points in the mean, ${Math.round(Math.max(...all) * 100)} at most`;
  console.log(`\nOff the market's GPU share: OpenCost's default ${points(off.opencost)}; ours ${points(off.ours)}.`);
  rmSync(data, { recursive: true, force: true });
}

if (existsSync(CATALOGS)) await main();
else console.log(`skipped: there are no price catalogs at ${CATALOGS}`);
