/**
 * Makes the built-in component prices anew: `npm run fit:components` fits them from the price catalogs of ../shared/data and prints
 * the rows of `src/facts/component-price.ts`; with `--write` it puts them there.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { BENCH_DATA, bursar } from '../demo/run.mjs';

export const CATALOGS = fileURLToPath(
  new URL('../../../shared/data/prices/skypilot-catalog-2026-08-22', import.meta.url),
);
const TABLE = fileURLToPath(new URL('../../src/facts/component-price.ts', import.meta.url));
const ROWS = /(const FIT_ROWS[^=]*= )\[[\s\S]*?\n\];/;

/**
 * @typedef {{ model: string, usdPerGpuHour: string, usdPerVcpuHour: string, usdPerMemoryGibHour: string }} FittedRow
 * @returns {Promise<{ asOf: string, offers: number, providers: string[], models: FittedRow[] }>}
 */
async function fitCatalogs() {
  const data = join(BENCH_DATA, 'components');
  rmSync(data, { recursive: true, force: true });
  try {
    await bursar(['import', 'prices', CATALOGS, '--data', data]);
    return JSON.parse(await bursar(['prices', 'fit', '--data', data, '--json']));
  } finally {
    rmSync(data, { recursive: true, force: true });
  }
}

async function main() {
  if (!existsSync(CATALOGS)) {
    console.log(`nothing to fit from: there are no price catalogs at ${CATALOGS}`);
    return;
  }
  const fit = await fitCatalogs();
  const rows = fit.models.map(
    (row) => `  ['${row.model}', '${row.usdPerGpuHour}', '${row.usdPerVcpuHour}', '${row.usdPerMemoryGibHour}'],`,
  );
  console.log(`// ${fit.offers} offers of ${fit.providers.length} providers, ${fit.asOf}\n${rows.join('\n')}`);
  if (process.argv.includes('--write')) {
    const text = readFileSync(TABLE, 'utf8');
    writeFileSync(TABLE, text.replace(ROWS, `$1[\n${rows.join('\n')}\n];`));
  }
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) await main();
