import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig, type Plugin } from 'rolldown';

/** A bundle that carries other people's code carries their licences too. */
const thirdPartyLicenses: Plugin = {
  name: 'third-party-licenses',
  generateBundle() {
    const packages = new Map<string, string>();
    for (const id of this.getModuleIds()) {
      const match = /^(.*[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+))[\\/]/.exec(id);
      if (match?.[1] !== undefined && match[2] !== undefined) packages.set(match[2], match[1]);
    }
    const texts = [...packages].toSorted().flatMap(([name, folder]) => {
      const file = existsSync(folder) ? readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry)) : undefined;
      return file === undefined ? [] : [`${name}\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`];
    });
    this.emitFile({ type: 'asset', fileName: 'third-party-licenses.txt', source: texts.join('\n----\n\n') });
  },
};

export default defineConfig({
  input: { main: 'src/cli/main.ts' },
  platform: 'node',
  // Native bindings find their binaries beside their own package, so they stay outside.
  external: [/^@duckdb\//, '@photostructure/sqlite'],
  plugins: [thirdPartyLicenses],
  logLevel: 'warn',
  output: {
    dir: 'dist',
    format: 'esm',
    cleanDir: true,
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
  },
});
