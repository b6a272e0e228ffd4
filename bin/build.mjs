/** Bundles the program into dist. By the bundler's API and not its command, which prints a hundred lines before the first screen. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown } from 'rolldown';

/** A bundle that carries other people's code carries their licences too. @type {import('rolldown').Plugin} */
const thirdPartyLicenses = {
  name: 'third-party-licenses',
  generateBundle() {
    /** @type {Map<string, string>} */
    const packages = new Map();
    for (const id of this.getModuleIds()) {
      const match = /^(.*[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+))[\\/]/.exec(id);
      if (match?.[1] !== undefined && match[2] !== undefined) packages.set(match[2], match[1]);
    }
    const texts = [...packages]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([name, folder]) => {
        const file = existsSync(folder) ? readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry)) : undefined;
        return file === undefined ? [] : [`${name}\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`];
      });
    this.emitFile({ type: 'asset', fileName: 'third-party-licenses.txt', source: texts.join('\n----\n\n') });
  },
};

const bundle = await rolldown({
  input: { main: 'src/cli/main.ts' },
  platform: 'node',
  // Native bindings find their binaries beside their own package, so they stay outside.
  external: [/^@duckdb\//, '@photostructure/sqlite'],
  plugins: [thirdPartyLicenses],
  logLevel: 'warn',
});
await bundle.write({
  dir: 'dist',
  format: 'esm',
  cleanDir: true,
  entryFileNames: '[name].js',
  chunkFileNames: '[name]-[hash].js',
});
await bundle.close();
