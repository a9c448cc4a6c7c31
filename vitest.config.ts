import { existsSync } from 'node:fs';
import { defineConfig } from 'vitest/config';

const clusterSetup = './test/support/global-cluster.ts';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: existsSync(clusterSetup) ? [clusterSetup] : [],
    testTimeout: 60_000,
    hookTimeout: 180_000,
    maxWorkers: 2,
    // A hang is to be caught, not a machine that is busy.
    expect: { poll: { timeout: 20_000 } },
  },
});
