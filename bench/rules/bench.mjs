/**
 * The benchmark of rules: `npm run bench:rules -- [parts]`, parts being any of
 *
 * demo   rules suggest on the demo, both worlds, three seeds: what stays unattributed, and whether the truth agrees
 * year   CPU of `bursar spend` right after a rule was edited, 10,000 GPUs × 365 days (made up, see made-year.ts)
 *
 * Prints Markdown for docs/BENCHMARKS.md.
 */
import { demo } from './demo.mjs';
import { year } from './year.mjs';

/** @type {Record<string, () => Promise<string>>} */
const PARTS = { demo, year };
const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !Object.hasOwn(PARTS, name));
if (unknown.length > 0) throw new Error(`no part ${unknown.join(', ')}; there are ${Object.keys(PARTS).join(', ')}`);
for (const name of asked.length === 0 ? Object.keys(PARTS) : asked) console.log(`${await PARTS[name]?.()}\n`);
