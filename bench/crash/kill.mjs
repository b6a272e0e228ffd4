// npm run bench:crash -- [KILLS] [SEED]: kills the writer 200 times and says what each kill hit.
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';

// Vite loads the program, because the oldest Node we support runs no TypeScript.
await runnerImport(fileURLToPath(new URL('kills.ts', import.meta.url)), { configFile: false, logLevel: 'error' });
