// npm run bench:collect -- kill [KILLS] [SEED]: kills the collector 200 times and compares ledgers.
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';

// Vite loads the program, because the oldest Node we support runs no TypeScript.
await runnerImport(fileURLToPath(new URL('kills.ts', import.meta.url)), { configFile: false, logLevel: 'error' });
