// node bench/waste/all-findings.mjs DATA_DIR: see all-findings.ts.
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';

// Vite loads the program, because the oldest Node we support runs no TypeScript.
await runnerImport(fileURLToPath(new URL('all-findings.ts', import.meta.url)), {
  configFile: false,
  logLevel: 'error',
});
