import { defineConfig } from 'vitest/config';

/** Tests of the deployed stacks. They share these, and the accounts in their secret: one file runs after the other. */
export default defineConfig({
  test: {
    include: ['test/acceptance/**/*.test.ts', 'test/deploy/*.deployed.ts'],
    globalSetup: ['./test/deploy/global-deployment.ts'],
    testTimeout: 120_000,
    hookTimeout: 240_000,
    fileParallelism: false,
    expect: { poll: { timeout: 60_000 } },
  },
});
