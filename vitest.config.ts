import { existsSync } from 'node:fs';
import { defineConfig } from 'vitest/config';

const clusterSetup = './test/support/global-cluster.ts';

/** Suites that measure how long others wait, or in which leases run out by real time. They run alone, after all the others. */
const quiet = [
  'test/acceptance/flood.test.ts',
  'test/acceptance/overload.test.ts',
  'test/lab/laboratory.test.ts',
];

export default defineConfig({
  test: {
    globalSetup: existsSync(clusterSetup) ? [clusterSetup] : [],
    testTimeout: 60_000,
    hookTimeout: 180_000,
    maxWorkers: 2,
    // A hang is to be caught, not a machine that is busy.
    expect: { poll: { timeout: 20_000 } },
    projects: [
      {
        extends: true,
        test: { name: 'all', include: ['test/**/*.test.ts'], exclude: quiet, sequence: { groupOrder: 0 } },
      },
      { extends: true, test: { name: 'quiet', include: quiet, maxWorkers: 1, sequence: { groupOrder: 1 } } },
    ],
  },
});
