// node bench/rules/make-year.mjs DATA_DIR [DAYS]: see made-year.ts.
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';

// Vite loads the program, because the oldest Node we support runs no TypeScript.
await runnerImport(fileURLToPath(new URL('made-year.ts', import.meta.url)), { configFile: false, logLevel: 'error' });
