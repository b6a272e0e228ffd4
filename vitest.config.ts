import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'bench/**/*.test.ts', 'lab/**/*.test.ts'],
    // Real engines on a busy machine: a slow answer is not a wrong one.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
