// npm run lab:exporter -- [OPTIONS]: the oldest Node we support runs no TypeScript, so the program is bundled first.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';

const repository = fileURLToPath(new URL('../../', import.meta.url));
const cache = join(repository, 'node_modules', '.cache');
mkdirSync(cache, { recursive: true });
const folder = mkdtempSync(join(cache, 'lab-exporter-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(0));

const bundle = await rolldown({
  input: { main: join(repository, 'lab/exporter/main.ts') },
  platform: 'node',
  logLevel: 'warn',
});
await bundle.write({ dir: folder, format: 'esm', entryFileNames: '[name].mjs', chunkFileNames: '[name]-[hash].mjs' });
await bundle.close();
await import(pathToFileURL(join(folder, 'main.mjs')).href);
