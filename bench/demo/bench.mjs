/**
 * The benchmark of the demo: `npm run bench:demo -- [parts]`, parts being any of
 *
 * start      the build and `bursar demo` with its defaults, as `npm start` makes them: wall, CPU, memory
 * truth      bill, rates, truth and ledger of both worlds agree to the micro; what computes; the same seed, the same ledger
 * published  jobs and serving beside published data; what is not in ../shared/data is skipped with a word
 * large      10,000 GPUs × 30 days as files: CPU by sample, and memory that does not grow with the window (9 GB of disk)
 *
 * Prints Markdown for docs/BENCHMARKS.md. `--world FILE` puts a world of one's own beside the published data.
 */
import { parseArgs } from 'node:util';
import { large, start } from './cost.mjs';
import { publishedJobs } from './published-jobs.mjs';
import { publishedServing } from './published-serving.mjs';
import { truth } from './truth.mjs';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { world: { type: 'string', default: 'unmanaged' } },
});
/** @type {Record<string, (() => Promise<string>)[]>} */
const PARTS = {
  start: [start],
  truth: [truth],
  published: [() => publishedJobs(options.world), () => publishedServing(options.world)],
  large: [large],
};

const asked = positionals.flatMap((word) => word.split(','));
const unknown = asked.filter((name) => !Object.hasOwn(PARTS, name));
if (unknown.length > 0) throw new Error(`no part ${unknown.join(', ')}; there are ${Object.keys(PARTS).join(', ')}`);
for (const name of asked.length === 0 ? Object.keys(PARTS) : asked) {
  for (const part of PARTS[name] ?? []) console.log(`${await part()}\n`);
}
