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
  },
});
