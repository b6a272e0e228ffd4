import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: [
      'src/**/*.test.ts',
      'web/src/**/*.test.ts',
      'test/**/*.test.ts',
      'bench/**/*.test.ts',
      'lab/**/*.test.ts',
    ],
    // Real engines on a busy machine: a slow answer is not a wrong one.
    // Two at a time also on two cores: half of them wait for real servers.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
